//! Never claims: a Büchi automaton as SPIN's model checker reads it.

use super::text::Notation;
use super::{Automaton, State};
use crate::formula::{Atom, Proposition};
use crate::{Logic, TooLarge};
use std::fmt::{self, Write};

/// Why there is no never claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The automaton has several acceptance sets, or marks on edges.
    NotBuchi,
    /// SPIN has no such proposition.
    Proposition(String),
    /// A label is too large to be written.
    TooLarge(TooLarge),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::NotBuchi => f.write_str(
                "a never claim needs a Büchi automaton with marks on states; make it one with `buchi`",
            ),
            Refused::Proposition(name) => {
                write!(f, "`{name}` means nothing in a never claim; use names or expressions of Promela")
            }
            Refused::TooLarge(too_large) => too_large.fmt(f),
        }
    }
}

impl std::error::Error for Refused {}

impl From<TooLarge> for Refused {
    fn from(too_large: TooLarge) -> Refused {
        Refused::TooLarge(too_large)
    }
}

/// Whether Promela can have such a name, also one within a structure.
fn is_identifier(name: &str) -> bool {
    name.split('.').all(|part| {
        part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && part.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    })
}

impl Automaton {
    /// A never claim: SPIN looks for a run of the model that this automaton accepts. It must be a Büchi automaton
    /// with marks on states, or one whose runs are all accepting.
    ///
    /// # Errors
    /// If it is not, or if it has labels that SPIN cannot read.
    pub fn never(&self, logic: &Logic, name: Option<&str>) -> Result<String, Refused> {
        if self.sets > 1 || !self.is_state_based() {
            return Err(Refused::NotBuchi);
        }
        for atom in self.atoms(logic) {
            let proposition = logic.formulae.proposition(atom);
            let is_readable = match proposition {
                Proposition::Name(name) => is_identifier(name),
                Proposition::Expression(_) => true,
                Proposition::Monitor(_) | Proposition::Fresh(_) => false,
            };
            if !is_readable {
                return Err(Refused::Proposition(proposition.to_string()));
            }
        }
        let atom = |atom: Atom| match logic.formulae.proposition(atom) {
            Proposition::Expression(text) => format!("({text})"),
            other => other.to_string(),
        };
        let notation = Notation { yes: "true", no: "false", and: " && ", or: " || ", atom: &atom };
        let title = name.map(|name| format!(" /* {} */", name.replace("*/", "* /").replace('\n', " ")));
        let mut text = format!("never {{{}\n", title.unwrap_or_default());
        // The claim begins where it is read first, and what accepts everything is at its end.
        let mut order: Vec<State> = (0..self.states() as State).collect();
        order.sort_by_key(|state| *state != self.initial);
        if self.accepts_all(self.initial) {
            order.clear();
        }
        for state in order.iter().copied().filter(|state| !self.accepts_all(*state)) {
            // A String never refuses to be written to.
            let _ = writeln!(text, "{}:", self.place(state));
            let edges = &self.edges[state as usize];
            text.push_str(if edges.is_empty() { "  false;\n" } else { "  if\n" });
            for edge in edges {
                let label = notation.write(&logic.labels, &edge.label)?;
                let _ = writeln!(text, "  :: ({label}) -> goto {}", self.place(edge.target));
            }
            text.push_str(if edges.is_empty() { "" } else { "  fi;\n" });
        }
        if (0..self.states() as State).any(|state| self.accepts_all(state)) {
            text.push_str("accept_all:\n  skip\n");
        }
        text.push_str("}\n");
        Ok(text)
    }

    /// Whether a run that comes to a state accepts, whatever follows, because it can stay there.
    fn accepts_all(&self, state: State) -> bool {
        self.is_accepting(state)
            && self.edges[state as usize].iter().any(|edge| edge.target == state && edge.label.is_true())
    }

    fn is_accepting(&self, state: State) -> bool {
        self.sets == 0 || self.edges[state as usize].iter().any(|edge| edge.marks != 0)
    }

    /// The name of a state: SPIN knows accepting ones by theirs.
    fn place(&self, state: State) -> String {
        let accepting = if self.is_accepting(state) { "accept" } else { "T0" };
        match (self.accepts_all(state), state == self.initial) {
            (true, _) => "accept_all".to_owned(),
            (false, true) => format!("{accepting}_init"),
            (false, false) => format!("{accepting}_S{state}"),
        }
    }
}
