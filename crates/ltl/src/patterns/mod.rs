//! English sentences for formulae, by specification patterns.
//!
//! Dwyer, Avrunin and Corbett found that most properties are instances of a few patterns (absence, existence, universality,
//! precedence, response, …) in one of five scopes. An instance of a pattern, with any formulae for its atoms, gets the
//! sentence of the pattern. Other small formulae are paraphrased operator by operator.

mod matching;
mod normal_form;
mod paraphrase;
mod sentence;
mod table;

use crate::formula::{Formula, Formulae, Node};
use std::fmt;

/// Specification pattern. The formulae of a pattern are described in the order of its sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pattern {
    /// A formula never holds.
    Absence,
    /// A formula holds at some position.
    Existence,
    /// A formula becomes true at most twice.
    BoundedExistence,
    /// A formula always holds.
    Universality,
    /// A formula does not hold before another one has held.
    Precedence,
    /// A formula is always followed by another one.
    Response,
    /// A formula does not hold before a sequence of two others has occurred.
    PrecedenceChain,
    /// A sequence of two formulae does not occur before another one has held.
    ChainPrecedence,
    /// A sequence of two formulae is always followed by another one.
    ChainResponse,
    /// A formula is always followed by a sequence of two others.
    ResponseChain,
    /// As `ResponseChain`, with a formula that does not hold during the sequence.
    ConstrainedResponseChain,
    /// A formula holds infinitely often.
    Recurrence,
    /// A formula always holds from some position on.
    Persistence,
}

/// Scope of a pattern: the positions to which it applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// All positions.
    Globally,
    /// The positions before a formula first holds, if it ever does.
    Before,
    /// All positions from the first one on at which a formula holds.
    After,
    /// The positions from one formula until another one, which must occur.
    Between,
    /// As `Between`, but the second formula need not occur.
    AfterUntil,
}

/// English sentence for a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// The pattern with its scope, if the formula matches one.
    pub pattern: Option<(Pattern, Scope)>,
    /// The sentence, with formulae in backquotes.
    pub text: String,
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Maximum number of subformulae; sentences for larger formulae would be unreadable.
const MAX_SUBFORMULAE: usize = 100;

/// Maximum number of sentences for the operands of a conjunction.
const MAX_SENTENCES: usize = 6;

/// Describes a formula in English; returns `None` if it is too large.
///
/// ```
/// use invigil_ltl::{Budget, Logic, patterns};
/// let mut logic = Logic::new(Budget::default());
/// let formula = logic.parse("G(open & !close & F close -> ((write -> !close U (ack & !close)) U close))").unwrap();
/// let sentence = patterns::describe(&logic.formulae, formula).unwrap();
/// assert_eq!(sentence.text, "Between `open` and `close`, `write` is always answered by `ack`.");
/// ```
pub fn describe(formulae: &Formulae, formula: Formula) -> Option<Sentence> {
    if formulae.subformulae(formula).len() > MAX_SUBFORMULAE {
        return None;
    }
    if let Some(sentence) = matching::pattern_sentence(formulae, formula) {
        return Some(sentence);
    }
    let parts: Vec<Formula> = match formulae.node(formula) {
        Node::And(parts) if parts.len() <= MAX_SENTENCES => parts.to_vec(),
        _ => vec![formula],
    };
    let sentences: Option<Vec<String>> = parts
        .iter()
        .map(|part| match matching::pattern_sentence(formulae, *part) {
            Some(sentence) => Some(sentence.text),
            None => paraphrase::paraphrase(formulae, *part),
        })
        .collect();
    Some(Sentence { pattern: None, text: sentences?.join(" ") })
}
