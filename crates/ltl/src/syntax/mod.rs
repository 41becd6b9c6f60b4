//! The language in which formulae are written.
//!
//! | | |
//! | --- | --- |
//! | atoms | `request`, `ns::push`, `#exit`; any name in quotes: `'next'`; an expression over the subject: `"q->size <= 3"`; another formula or monitor: `@id` |
//! | constants | `true` `1` `⊤`, `false` `0` `⊥` |
//! | Boolean | `!a` `~a` `not a`; `a & b` `&&` `/\` `*` `and`; `a \| b` `\|\|` `\/` `+` `or`; `a xor b` `^`; `a -> b` `=>` `implies`; `a <-> b` `<=>` `iff`; and `¬ ∧ ∨ ⊕ → ⇒ ↔ ⇔` |
//! | future | `X a` next, `F a` `<>a` `◇a` eventually, `G a` `[]a` `□a` always; `a U b` until, `a W b` weak until, `a R b` `a V b` release, `a M b` strong release |
//! | past | `Y a` at the instant before, `Z a` the same if there is one, `O a` once, `H a` always before; `a S b` since, `a T b` triggered |
//! | bounds | `X[3] a`; `F[2,5] a` `F[2:5]` `F[2..5]`; `F<=5 a` `F<5 a` `F>=2 a` `F[2,inf] a`; `a U[2,5] b` `a U<=5 b`; with all operators of future and past |
//! | words | `always`, `never`, `eventually!`, `next`, `until!` (strong), `until` (weak, as in PSL), `release`, `once`, `historically`, `since` … |
//!
//! From tight to loose: what stands before its operand; `U R W M S T`; `&`; `xor`; `|`; `->` and `<->`. Those
//! of two operands group to the right, but for `&`, `xor` and `|`. Single capital letters with a meaning are
//! operators; `GFa` is a name. Words are operators only where one makes sense, so that `F release` looks for
//! the event `release`.
//!
//! A bound counts instants from now: `F<=3 a` looks at four, now and three more. Until the bound's begin the
//! left operand of `a U[2,5] b` must hold, too. At the end of a finite word `F[2,5] a` looks for an instant
//! that exists, and `G[2,5] a` is content with those that do; the same at the beginning for the past.
//!
//! Comments go from `//`, or from `#` without a name after it, to the end of the line. Several formulae in one
//! text: see [`Formulae::parse_file`].

mod bounded;
mod file;
mod format;
mod lower;
mod mistake;
mod parse;
mod scan;
mod tree;
mod words;

pub use file::{Definition, Name};
pub use format::format;
pub use mistake::Mistake;
pub use tree::Tree;
pub use words::unglued;

pub(crate) use tree::atom;
pub(crate) use words::is_name;
use words::{Binary, Unary};

use crate::Logic;
use crate::formula::{Formula, Formulae};

impl Tree {
    /// Reads a formula and leaves it as it was written.
    ///
    /// # Errors
    /// If the text is no formula.
    pub fn parse(text: &str) -> Result<Tree, Mistake> {
        parse::parse(&scan::scan(text).tokens, text, text.len())
    }
}

impl Formulae {
    /// Reads a formula. If it cannot be read, nothing is added.
    ///
    /// # Errors
    /// If the text is no formula, or if there would be too many formulae.
    pub fn parse(&mut self, text: &str) -> Result<Formula, Mistake> {
        let tree = Tree::parse(text)?;
        self.make(&tree)
    }

    /// The formula that was written. If there is no room for it, nothing is added.
    ///
    /// # Errors
    /// If there would be too many formulae.
    pub fn make(&mut self, tree: &Tree) -> Result<Formula, Mistake> {
        self.all_or_nothing(|formulae| lower::Lower::new(formulae).formula(tree, |_| None))
    }

    /// Reads formulae with names: `name = formula`, one after the other, each as many lines as it needs. A
    /// semicolon may stand between them. A single formula needs no name.
    ///
    /// `@name` in one formula stands for the formula of that name, wherever in the file it is.
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
    /// All mistakes that were found.
    pub fn parse_file(&mut self, text: &str) -> Result<Vec<Definition>, Vec<Mistake>> {
        self.all_or_nothing(|formulae| file::read(formulae, text))
    }
}

impl Logic {
    /// Reads a formula.
    ///
    /// ```
    /// use invigil_ltl::{Budget, Logic};
    /// let mut logic = Logic::new(Budget::default());
    /// let response = logic.parse("G(request -> F<=2 grant)").unwrap();
    /// assert_eq!(logic.formulae.show(response).to_string(), "G(request -> F[0,2] grant)");
    /// let mistake = logic.parse("G(request -> )").unwrap_err();
    /// assert_eq!(mistake.to_string(), "expected a formula, found `)`");
    /// assert_eq!(mistake.span, 13..14);
    /// ```
    ///
    /// # Errors
    /// If the text is no formula, or if there would be too many formulae.
    pub fn parse(&mut self, text: &str) -> Result<Formula, Mistake> {
        self.formulae.parse(text)
    }

    /// Reads formulae with names: see [`Formulae::parse_file`].
    ///
    /// # Errors
    /// All mistakes that were found.
    pub fn parse_file(&mut self, text: &str) -> Result<Vec<Definition>, Vec<Mistake>> {
        self.formulae.parse_file(text)
    }
}
