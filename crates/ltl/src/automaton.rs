//! Automata on infinite words: transition-based generalised Büchi automata.
//!
//! | modules | contents |
//! | --- | --- |
//! | `scc`, `emptiness`, `accepts`, `accepting_run` | components, emptiness, membership, accepting words |
//! | `product`, `determinism`, [`parity`], `weak` | Boolean operations and determinisation |
//! | `reduce` | the reductions below, repeated until none applies |
//! | `trim`, `marks`, `quotient`, `prune` | reductions that preserve the language |
//! | `simulation`, `game`, `label_index` | simulation relations, computed as games |
//! | `speculative`, `quotient_product` | reductions that are applied if a check shows that the language is preserved |
//! | `degeneralise` | several acceptance sets to one |
//! | [`hoa`], [`never_claim`], `dot`, `notation` | text formats |

pub(crate) mod accepting_run;
mod accepts;
mod degeneralise;
mod determinism;
mod dot;
mod emptiness;
mod game;
pub mod hoa;
mod label_index;
mod marks;
pub mod never_claim;
mod notation;
pub mod parity;
mod product;
mod prune;
mod quotient;
mod quotient_product;
mod reduce;
pub mod scc;
mod simulation;
mod speculative;
mod trim;
mod weak;

pub(crate) use reduce::reduce_once;
pub use reduce::{buchi, reduce};

use crate::label::Label;

/// Number of a state.
pub type State = u32;

/// Acceptance sets of an edge, as a bit set.
pub type Marks = u64;

/// Maximum number of acceptance sets.
pub const MAX_SETS: u32 = Marks::BITS;

/// Edge of an automaton. It can be taken at every letter that satisfies its label.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// Letters of the edge; at least one.
    pub label: Label,
    /// Acceptance sets that contain the edge.
    pub marks: Marks,
    /// Target state.
    pub target: State,
}

/// Transition-based generalised Büchi automaton.
///
/// A run is accepting if it takes edges of every acceptance set infinitely often. Without acceptance sets every infinite
/// run is accepting.
///
/// A *state-based Büchi automaton* has a single acceptance set that contains all edges of a state or none of them: see
/// [`Automaton::is_state_based`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automaton {
    /// Initial state.
    pub initial: State,
    /// Edges of each state.
    pub edges: Vec<Vec<Edge>>,
    /// Number of acceptance sets; at most [`MAX_SETS`].
    pub sets: u32,
}

impl Automaton {
    /// Returns the automaton of the empty language.
    pub fn empty() -> Automaton {
        Automaton { initial: 0, edges: vec![Vec::new()], sets: 0 }
    }

    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.edges.len()
    }

    /// Returns the number of edges.
    pub fn edge_count(&self) -> usize {
        self.edges.iter().map(Vec::len).sum()
    }

    /// Returns the marks of all acceptance sets.
    pub fn all_marks(&self) -> Marks {
        all_marks(self.sets)
    }

    /// Whether the edges of each state are in the same acceptance sets.
    pub fn is_state_based(&self) -> bool {
        self.edges.iter().all(|edges| edges.windows(2).all(|pair| pair[0].marks == pair[1].marks))
    }
}

/// Returns the marks of the first `sets` acceptance sets.
pub(crate) fn all_marks(sets: u32) -> Marks {
    Marks::MAX.checked_shr(MAX_SETS - sets).unwrap_or(0)
}
