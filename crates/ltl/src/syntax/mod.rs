//! The language of formulae: parser, formatter and syntax errors.
//!
//! | | |
//! | --- | --- |
//! | atoms | `request`, `ns::push`, `#exit`; any name in quotes: `'next'`; an expression over the subject: `"q->size <= 3"`; another formula or monitor: `@id` |
//! | constants | `true` `1` `⊤`, `false` `0` `⊥` |
//! | Boolean | `!a` `~a` `not a`; `a & b` `&&` `/\` `*` `and`; `a \| b` `\|\|` `\/` `+` `or`; `a xor b` `^`; `a -> b` `=>` `implies`; `a <-> b` `<=>` `iff`; and `¬ ∧ ∨ ⊕ → ⇒ ↔ ⇔` |
//! | future | `X a` next, `F a` `<>a` `◇a` eventually, `G a` `[]a` `□a` always; `a U b` until, `a W b` weak until, `a R b` `a V b` release, `a M b` strong release |
//! | past | `Y a` at the previous position, `Z a` the same if it exists, `O a` once, `H a` always so far; `a S b` since, `a T b` triggered |
//! | bounds | `X[3] a`; `F[2,5] a` `F[2:5]` `F[2..5]`; `F<=5 a` `F<5 a` `F>=2 a` `F[2,inf] a`; `a U[2,5] b` `a U<=5 b`; with all future and past operators |
//! | keywords | `always`, `never`, `eventually!`, `next`, `until!` (strong), `until` (weak, as in PSL), `release`, `once`, `historically`, `since` … |
//!
//! Precedence, from tight to loose: unary operators; `U R W M S T`; `&`; `xor`; `|`; `->` and `<->`. Binary operators are
//! right-associative, except `&`, `xor` and `|`. Single capital letters such as `G` are operators; `GFa` is a name. Keywords
//! such as `release` are operators only where an operator can be: in `F release`, it is an event.
//!
//! A bound counts positions from the current one: `F<=3 a` is about four positions. `a U[2,5] b` requires `a` also at the
//! positions before the bound. At the end of a finite word, `F[2,5] a` requires a position that exists, and `G[2,5] a`
//! ignores those that do not; likewise for past operators at the start.
//!
//! Comments start with `//`, or with `#` that is not part of a name, and end with the line. For files with several
//! formulae, see [`Formulae::parse_file`].

mod bounded;
mod error;
mod file;
mod format;
mod lower;
mod parse;
mod scan;
mod spelling;
mod tree;

pub use error::SyntaxError;
pub use file::{Definition, Name};
pub use format::format;
pub use spelling::separate_operators;
pub use tree::SyntaxTree;

pub(crate) use spelling::is_name;
use spelling::{Binary, Unary};
pub(crate) use tree::atom;

use crate::Logic;
use crate::formula::{Formula, Formulae};

impl SyntaxTree {
    /// Parses a formula.
    ///
    /// # Errors
    /// Fails if the text is not a formula.
    pub fn parse(text: &str) -> Result<SyntaxTree, SyntaxError> {
        parse::parse(&scan::scan(text).tokens, text, text.len())
    }
}

impl Formulae {
    /// Parses and lowers a formula. On failure, nothing is added.
    ///
    /// # Errors
    /// Fails if the text is not a formula, or if there are too many formulae.
    pub fn parse(&mut self, text: &str) -> Result<Formula, SyntaxError> {
        let tree = SyntaxTree::parse(text)?;
        self.lower(&tree)
    }

    /// Lowers a syntax tree to a formula. On failure, nothing is added.
    ///
    /// # Errors
    /// Fails if there are too many formulae.
    pub fn lower(&mut self, tree: &SyntaxTree) -> Result<Formula, SyntaxError> {
        self.transaction(|formulae| lower::Lowering::new(formulae).formula(tree, |_| None))
    }

    /// Parses a file of definitions `name = formula`. A definition may span several lines, and a semicolon may follow it. A
    /// single formula needs no name.
    ///
    /// `@name` refers to the formula with that name, which may be defined before or after the reference.
    ///
    /// ```
    /// use invigil_ltl::{Budget, Logic};
    /// let mut formulae = Logic::new(Budget::default()).formulae;
    /// let file = "light = on U !switch     # until it is switched off\nroom = G(switch -> X @light)";
    /// let room = &formulae.parse_file(file).unwrap()[1];
    /// assert_eq!(formulae.show(room.formula).to_string(), "G(switch -> X(on U !switch))");
    /// ```
    ///
    /// # Errors
    /// Returns all errors.
    pub fn parse_file(&mut self, text: &str) -> Result<Vec<Definition>, Vec<SyntaxError>> {
        self.transaction(|formulae| file::parse_file(formulae, text))
    }
}

impl Logic {
    /// Parses a formula.
    ///
    /// ```
    /// use invigil_ltl::{Budget, Logic};
    /// let mut logic = Logic::new(Budget::default());
    /// let response = logic.parse("G(request -> F<=2 grant)").unwrap();
    /// assert_eq!(logic.formulae.show(response).to_string(), "G(request -> F[0,2] grant)");
    /// let error = logic.parse("G(request -> )").unwrap_err();
    /// assert_eq!(error.to_string(), "expected a formula, found `)`");
    /// assert_eq!(error.span, 13..14);
    /// ```
    ///
    /// # Errors
    /// Fails if the text is not a formula, or if there are too many formulae.
    pub fn parse(&mut self, text: &str) -> Result<Formula, SyntaxError> {
        self.formulae.parse(text)
    }

    /// Parses a file of definitions; see [`Formulae::parse_file`].
    ///
    /// # Errors
    /// Returns all errors.
    pub fn parse_file(&mut self, text: &str) -> Result<Vec<Definition>, Vec<SyntaxError>> {
        self.formulae.parse_file(text)
    }
}
