//! What a formula says, in words.
//!
//! Most properties that people write are a few patterns (absence, existence, universality, precedence,
//! response and some more) in one of five scopes, as Dwyer, Avrunin and Corbett found. A formula that is one of
//! them, with any formulae in the places of the atoms, gets a sentence that says just that. Other small
//! formulae get one that follows their operators.

mod matching;
mod normal;
mod phrases;
mod table;
mod words;

use crate::formula::{Formula, Formulae, Node};
use std::fmt;

/// The patterns. Where two or more formulae are concerned, their order is that of the sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pattern {
    /// Something never holds.
    Absence,
    /// Something holds at some instant.
    Existence,
    /// Something holds at most twice, each time for as long as it likes.
    BoundedExistence,
    /// Something always holds.
    Universality,
    /// Something does not hold before something else has.
    Precedence,
    /// Something is followed by something else.
    Response,
    /// Something does not hold before two others have, one after the other.
    PrecedenceChain,
    /// Two things do not hold one after the other before something else has.
    ChainPrecedence,
    /// Two things, one after the other, are followed by something else.
    ChainResponse,
    /// Something is followed by two others, one after the other.
    ResponseChain,
    /// The same, and between the two something does not hold.
    ConstrainedResponseChain,
    /// Something holds again and again.
    Recurrence,
    /// From some instant on something always holds.
    Persistence,
}

/// The instants for which a pattern speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// All of them.
    Globally,
    /// Those before something first holds, if it ever does.
    Before,
    /// Those from the instant on at which something first holds.
    After,
    /// Those from something to something else, which comes.
    Between,
    /// The same, whether or not the end comes.
    AfterUntil,
}

/// A sentence about a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// The pattern and its scope, if the formula is one.
    pub pattern: Option<(Pattern, Scope)>,
    /// The sentence, with formulae in backquotes.
    pub text: String,
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Larger formulae than this get no sentence: nobody would read it.
const LARGEST: usize = 100;

/// The most sentences for the parts of a conjunction.
const MOST_SENTENCES: usize = 6;

/// What a formula says, unless it is too large for a sentence.
///
/// ```
/// use invigil_ltl::{Budget, Logic, patterns};
/// let mut logic = Logic::new(Budget::default());
/// let formula = logic.parse("G(open & !close & F close -> ((write -> !close U (ack & !close)) U close))").unwrap();
/// let sentence = patterns::describe(&logic.formulae, formula).unwrap();
/// assert_eq!(sentence.text, "Between `open` and `close`, `write` is always answered by `ack`.");
/// ```
pub fn describe(formulae: &Formulae, formula: Formula) -> Option<Sentence> {
    if formulae.within(formula).len() > LARGEST {
        return None;
    }
    if let Some(sentence) = matching::sentence(formulae, formula) {
        return Some(sentence);
    }
    let parts: Vec<Formula> = match formulae.node(formula) {
        Node::And(parts) if parts.len() <= MOST_SENTENCES => parts.to_vec(),
        _ => vec![formula],
    };
    let said: Option<Vec<String>> = parts
        .iter()
        .map(|part| match matching::sentence(formulae, *part) {
            Some(sentence) => Some(sentence.text),
            None => words::sentence(formulae, *part),
        })
        .collect();
    Some(Sentence { pattern: None, text: said?.join(" ") })
}
