//! Automata on infinite words: transition-based generalised Büchi automata.

mod accepts;
mod attempt;
mod degeneralise;
mod determinise;
mod dot;
mod empty;
mod game;
pub mod hoa;
mod letters;
mod marks;
mod meeting;
pub mod never;
pub mod parity;
mod product;
mod prune;
mod quotient;
mod reduce;
pub mod scc;
mod simulation;
mod text;
mod trim;
mod weak;
pub(crate) mod word;

pub(crate) use reduce::tidy;
pub use reduce::{buchi, reduce};

use crate::label::Label;

/// A state, by its number.
pub type State = u32;

/// Which acceptance sets an edge is in, one bit for each.
pub type Marks = u64;

/// The most acceptance sets.
pub const MAX_SETS: u32 = Marks::BITS;

/// An edge. It may be taken at every letter at which its label is true.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// The letters; there is at least one.
    pub label: Label,
    /// The acceptance sets that it is in.
    pub marks: Marks,
    /// Where it leads.
    pub target: State,
}

/// An automaton. A word is accepted if some run on it takes edges of each acceptance set for ever. With no
/// sets at all every infinite run will do.
///
/// A *Büchi automaton with marks on states* is one with a single set in which the edges of a state are all in
/// it or all outside: see [`Automaton::is_state_based`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automaton {
    /// Where runs begin.
    pub initial: State,
    /// The edges of each state.
    pub edges: Vec<Vec<Edge>>,
    /// The number of acceptance sets; at most [`MAX_SETS`].
    pub sets: u32,
}

impl Automaton {
    /// The automaton that accepts nothing.
    pub fn empty() -> Automaton {
        Automaton { initial: 0, edges: vec![Vec::new()], sets: 0 }
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.edges.len()
    }

    /// The number of edges.
    pub fn edge_count(&self) -> usize {
        self.edges.iter().map(Vec::len).sum()
    }

    /// All marks there are.
    pub fn all_marks(&self) -> Marks {
        all_marks(self.sets)
    }

    /// Whether the edges of each state are in the same acceptance sets.
    pub fn is_state_based(&self) -> bool {
        self.edges.iter().all(|edges| edges.windows(2).all(|pair| pair[0].marks == pair[1].marks))
    }
}

/// All marks of that many acceptance sets.
pub(crate) fn all_marks(sets: u32) -> Marks {
    Marks::MAX.checked_shr(MAX_SETS - sets).unwrap_or(0)
}
