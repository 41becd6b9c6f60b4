//! Automata as text in the Hanoi Omega-Automata format, version 1: what other tools write, and what they read.
//!
//! Everything that describes automata of this crate is read: labels of states and of edges, implicit labels,
//! aliases, several initial states, marks on states and edges, and acceptance conditions made of `Inf`, `&` and
//! `|`. What asks for more (`Fin`, alternation) is refused with the reason.

mod acceptance;
mod body;
mod expression;
mod header;
mod propositions;
mod scan;
mod write;

use super::Automaton;
use crate::{Logic, TooLarge};
use scan::{Reader, Token};
use std::fmt;

/// What is wrong in a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The line, from one.
    pub line: usize,
    /// The column in characters, from one.
    pub column: usize,
    /// What is wrong, and what to do.
    pub what: String,
}

impl Mistake {
    fn new(text: &str, at: usize, what: String) -> Mistake {
        let before = text.get(..at).unwrap_or(text);
        let line = before.rsplit('\n').next().unwrap_or(before);
        Mistake { line: 1 + before.matches('\n').count(), column: 1 + line.chars().count(), what }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.what)
    }
}

impl std::error::Error for Mistake {}

/// Why an automaton is not read to its end.
#[derive(Debug)]
enum Stop {
    /// Its writer gave up.
    Abort,
    /// Something is wrong at an offset.
    Mistake(usize, String),
    TooLarge(TooLarge),
}

impl From<TooLarge> for Stop {
    fn from(too_large: TooLarge) -> Stop {
        Stop::TooLarge(too_large)
    }
}

impl Logic {
    /// Reads all automata of a text. Those that end with `--ABORT--` are left out.
    ///
    /// # Errors
    /// If something in the text is wrong, not supported or too large.
    ///
    /// ```
    /// use invigil_ltl::{Budget, Logic};
    /// let mut logic = Logic::new(Budget::default());
    /// let read = logic.read_hoa(
    ///     "HOA: v1 States: 1 Start: 0 AP: 1 \"a\" Acceptance: 1 Inf(0)
    ///      --BODY-- State: 0 [0] 0 {0} [!0] 0 --END--",
    /// )?;
    /// assert_eq!((read[0].states(), read[0].edge_count(), read[0].sets), (1, 2, 1));
    /// # Ok::<(), invigil_ltl::automaton::hoa::Mistake>(())
    /// ```
    pub fn read_hoa(&mut self, text: &str) -> Result<Vec<Automaton>, Mistake> {
        let mut reader = Reader::new(text);
        let mut found = Vec::new();
        loop {
            match next(&mut reader, self) {
                Ok(None) => return Ok(found),
                Ok(Some(automaton)) => found.push(automaton),
                Err(Stop::Abort) => {}
                Err(Stop::Mistake(at, what)) => return Err(Mistake::new(text, at, what)),
                Err(Stop::TooLarge(too_large)) => {
                    return Err(Mistake::new(text, reader.at(), too_large.to_string()));
                }
            }
        }
    }
}

/// The next automaton of a text, if there is one more.
fn next(reader: &mut Reader<'_>, logic: &mut Logic) -> Result<Option<Automaton>, Stop> {
    reader.advance()?;
    if *reader.token() == Token::Nothing {
        return Ok(None);
    }
    let header = header::read(reader, logic)?;
    body::read(reader, logic, &header).map(Some)
}
