//! Reader and writer of the Hanoi Omega-Automata format (HOA), version 1.
//!
//! The reader accepts everything that this crate can represent: labels of states and of edges, implicit labels, aliases,
//! several initial states, marks on states and on edges, and acceptance conditions of `Inf`, `&` and `|`. Automata with `Fin`
//! or alternation are rejected with the reason.
//!
//! | module | contents |
//! | --- | --- |
//! | `scan` | tokens |
//! | `header`, `body` | the parts of an automaton before and after `--BODY--` |
//! | `expression`, `acceptance`, `propositions` | Boolean expressions, acceptance conditions, names of propositions |
//! | `write` | the writer |

mod acceptance;
mod body;
mod expression;
mod header;
mod propositions;
mod scan;
mod write;

use super::Automaton;
use crate::{Logic, TooLarge};
use scan::{Scanner, Token};
use std::fmt;

/// Error in a text in HOA format, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoaError {
    /// Line, counted from one.
    pub line: usize,
    /// Column in characters, counted from one.
    pub column: usize,
    /// Error and remedy.
    pub message: String,
}

impl HoaError {
    fn new(text: &str, at: usize, message: String) -> HoaError {
        let before = text.get(..at).unwrap_or(text);
        let line = before.rsplit('\n').next().unwrap_or(before);
        HoaError { line: 1 + before.matches('\n').count(), column: 1 + line.chars().count(), message }
    }
}

impl fmt::Display for HoaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for HoaError {}

/// Reason why reading an automaton stops.
#[derive(Debug)]
enum ReadError {
    /// The automaton ends with `--ABORT--`.
    Abort,
    /// Error at a byte offset, with its message.
    Syntax(usize, String),
    TooLarge(TooLarge),
}

impl From<TooLarge> for ReadError {
    fn from(too_large: TooLarge) -> ReadError {
        ReadError::TooLarge(too_large)
    }
}

impl Logic {
    /// Reads all automata of a text in HOA format. Aborted automata (`--ABORT--`) are skipped.
    ///
    /// # Errors
    /// Fails if the text is malformed, or an automaton is not supported or outgrows the budget.
    ///
    /// ```
    /// use invigil_ltl::{Budget, Logic};
    /// let mut logic = Logic::new(Budget::default());
    /// let read = logic.read_hoa(
    ///     "HOA: v1 States: 1 Start: 0 AP: 1 \"a\" Acceptance: 1 Inf(0)
    ///      --BODY-- State: 0 [0] 0 {0} [!0] 0 --END--",
    /// )?;
    /// assert_eq!((read[0].states(), read[0].edge_count(), read[0].sets), (1, 2, 1));
    /// # Ok::<(), invigil_ltl::automaton::hoa::HoaError>(())
    /// ```
    pub fn read_hoa(&mut self, text: &str) -> Result<Vec<Automaton>, HoaError> {
        let mut scanner = Scanner::new(text);
        let mut automata = Vec::new();
        loop {
            match read_automaton(&mut scanner, self) {
                Ok(None) => return Ok(automata),
                Ok(Some(automaton)) => automata.push(automaton),
                Err(ReadError::Abort) => {}
                Err(ReadError::Syntax(at, message)) => return Err(HoaError::new(text, at, message)),
                Err(ReadError::TooLarge(too_large)) => {
                    return Err(HoaError::new(text, scanner.at(), too_large.to_string()));
                }
            }
        }
    }
}

/// Reads the next automaton of a text, if there is one.
fn read_automaton(scanner: &mut Scanner<'_>, logic: &mut Logic) -> Result<Option<Automaton>, ReadError> {
    scanner.advance()?;
    if *scanner.token() == Token::EndOfInput {
        return Ok(None);
    }
    let header = header::read(scanner, logic)?;
    body::read(scanner, logic, &header).map(Some)
}
