//! Never claims: Büchi automata in Promela, for the model checker SPIN.

use super::notation::Notation;
use super::{Automaton, State};
use crate::formula::{Atom, Proposition};
use crate::{Logic, TooLarge};
use std::fmt::{self, Write};

/// Reason why an automaton has no never claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NeverClaimError {
    /// The automaton is not a state-based Büchi automaton.
    NotBuchi,
    /// Promela cannot express the proposition.
    Proposition(String),
    /// A label has too many products.
    TooLarge(TooLarge),
}

impl fmt::Display for NeverClaimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NeverClaimError::NotBuchi => f.write_str(
                "a never claim needs a Büchi automaton with marks on states; make it one with `buchi`",
            ),
            NeverClaimError::Proposition(name) => {
                write!(f, "`{name}` means nothing in a never claim; use names or expressions of Promela")
            }
            NeverClaimError::TooLarge(too_large) => too_large.fmt(f),
        }
    }
}

impl std::error::Error for NeverClaimError {}

impl From<TooLarge> for NeverClaimError {
    fn from(too_large: TooLarge) -> NeverClaimError {
        NeverClaimError::TooLarge(too_large)
    }
}

/// Whether a name is an identifier of Promela, or a path to a field.
fn is_identifier(name: &str) -> bool {
    name.split('.').all(|part| {
        part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && part.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    })
}

impl Automaton {
    /// Formats a state-based Büchi automaton as a never claim: SPIN searches for an execution that the automaton accepts.
    ///
    /// # Errors
    /// Fails if the automaton is not a state-based Büchi automaton, or if Promela cannot express its labels.
    pub fn to_never_claim(&self, logic: &Logic, name: Option<&str>) -> Result<String, NeverClaimError> {
        if self.sets > 1 || !self.is_state_based() {
            return Err(NeverClaimError::NotBuchi);
        }
        for atom in self.atoms(logic) {
            let proposition = logic.formulae.proposition(atom);
            let is_readable = match proposition {
                Proposition::Name(name) => is_identifier(name),
                Proposition::Expression(_) => true,
                Proposition::Monitor(_) | Proposition::Fresh(_) => false,
            };
            if !is_readable {
                return Err(NeverClaimError::Proposition(proposition.to_string()));
            }
        }
        let atom = |atom: Atom| match logic.formulae.proposition(atom) {
            Proposition::Expression(text) => format!("({text})"),
            other => other.to_string(),
        };
        let notation = Notation { top: "true", bottom: "false", and: " && ", or: " || ", atom: &atom };
        let title = name.map(|name| format!(" /* {} */", name.replace("*/", "* /").replace('\n', " ")));
        let mut text = format!("never {{{}\n", title.unwrap_or_default());
        // SPIN starts at the first state; the accepting sink is last.
        let mut order: Vec<State> = (0..self.states() as State).collect();
        order.sort_by_key(|state| *state != self.initial);
        if self.accepts_all(self.initial) {
            order.clear();
        }
        for state in order.iter().copied().filter(|state| !self.accepts_all(*state)) {
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "{}:", self.state_label(state));
            let edges = &self.edges[state as usize];
            text.push_str(if edges.is_empty() { "  false;\n" } else { "  if\n" });
            for edge in edges {
                let label = notation.format(&logic.labels, &edge.label)?;
                let _ = writeln!(text, "  :: ({label}) -> goto {}", self.state_label(edge.target));
            }
            text.push_str(if edges.is_empty() { "" } else { "  fi;\n" });
        }
        if (0..self.states() as State).any(|state| self.accepts_all(state)) {
            text.push_str("accept_all:\n  skip\n");
        }
        text.push_str("}\n");
        Ok(text)
    }

    /// Whether a state accepts every word, by an accepting loop for all letters.
    fn accepts_all(&self, state: State) -> bool {
        self.is_accepting(state)
            && self.edges[state as usize].iter().any(|edge| edge.target == state && edge.label.is_true())
    }

    fn is_accepting(&self, state: State) -> bool {
        self.sets == 0 || self.edges[state as usize].iter().any(|edge| edge.marks != 0)
    }

    /// Returns the label of a state. SPIN recognises accepting states by the prefix `accept`.
    fn state_label(&self, state: State) -> String {
        let accepting = if self.is_accepting(state) { "accept" } else { "T0" };
        match (self.accepts_all(state), state == self.initial) {
            (true, _) => "accept_all".to_owned(),
            (false, true) => format!("{accepting}_init"),
            (false, false) => format!("{accepting}_S{state}"),
        }
    }
}
