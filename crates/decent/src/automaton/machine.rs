//! Automata compiled to bit masks.

use super::{Automaton, Cube, Edge, State};
use crate::bits;
use crate::memory::Atom;
use invigil_ltl::moore::Truth;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Automaton whose labels are compiled to bit masks.
///
/// Clones share all data. Only the [`Automaton`] is serialized; deserializing compiles it again.
///
/// ```
/// use invigil_decent::automaton::{Automaton, Machine};
/// use invigil_ltl::moore::Truth;
///
/// let nowhere = Automaton { initial: 1, verdicts: vec![Truth::Unknown], edges: vec![vec![]] };
/// assert_eq!(Machine::new(nowhere).unwrap_err().to_string(), "state 1 does not exist: there are 1");
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Automaton", into = "Automaton")]
pub struct Machine(Arc<Compiled>);

#[derive(Debug)]
struct Compiled {
    automaton: Automaton,
    atoms: Vec<Atom>,
    /// Number of 64-bit words for a set of atoms, and for a set of states.
    atom_words: usize,
    state_words: usize,
    /// The edges of all states, grouped by state, and the range of each state.
    edges: Vec<CompiledEdge>,
    out: Vec<Range<u32>>,
    /// The cubes of all edges: for each cube a mask of its atoms, then their values.
    cubes: Vec<u64>,
    /// The states with verdict false, and those with verdict true.
    finals: [Vec<u64>; 2],
}

/// Edge: its target and the range of its cubes.
#[derive(Debug)]
struct CompiledEdge {
    to: State,
    cubes: Range<u32>,
}

/// Reason why an automaton is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineError {
    /// A state does not exist.
    NoState {
        /// Index of the state.
        state: State,
        /// Number of states.
        count: usize,
    },
    /// The number of edge lists differs from the number of verdicts.
    Uneven {
        /// Number of edge lists.
        edges: usize,
        /// Number of verdicts.
        verdicts: usize,
    },
    /// A count exceeds 32 bits.
    TooLarge,
}

impl fmt::Display for MachineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MachineError::NoState { state, count } => {
                write!(f, "state {state} does not exist: there are {count}")
            }
            MachineError::Uneven { edges, verdicts } => {
                write!(f, "{edges} states have edges, but {verdicts} have a verdict")
            }
            MachineError::TooLarge => f.write_str("the automaton is too large: an index exceeds 32 bits"),
        }
    }
}

impl std::error::Error for MachineError {}

impl Machine {
    /// Compiles an automaton.
    ///
    /// # Errors
    /// Fails if the automaton refers to states that it does not have.
    pub fn new(automaton: Automaton) -> Result<Machine, MachineError> {
        let count = automaton.verdicts.len();
        if automaton.edges.len() != count {
            return Err(MachineError::Uneven { edges: automaton.edges.len(), verdicts: count });
        }
        let targets = automaton.edges.iter().flatten().map(|edge| edge.to);
        if let Some(state) = targets.chain([automaton.initial]).find(|state| *state as usize >= count) {
            return Err(MachineError::NoState { state, count });
        }
        let atoms = automaton.atoms();
        let (atom_words, state_words) = (bits::word_count(atoms.len()), bits::word_count(count));
        let mut compiled = Compiled {
            finals: [Truth::False, Truth::True].map(|verdict| states_with_verdict(&automaton, verdict)),
            automaton: Automaton { initial: 0, verdicts: Vec::new(), edges: Vec::new() },
            atoms,
            atom_words,
            state_words,
            edges: Vec::new(),
            out: Vec::with_capacity(count),
            cubes: Vec::new(),
        };
        for edges in &automaton.edges {
            let from = to_u32(compiled.edges.len())?;
            for edge in edges {
                compiled.add(edge)?;
            }
            compiled.out.push(from..to_u32(compiled.edges.len())?);
        }
        compiled.automaton = automaton;
        Ok(Machine(Arc::new(compiled)))
    }

    /// Returns the atoms in the labels, sorted.
    pub fn atoms(&self) -> &[Atom] {
        &self.0.atoms
    }

    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.0.out.len()
    }

    /// Returns the number of words for a set of atoms.
    pub(crate) fn atom_words(&self) -> usize {
        self.0.atom_words
    }

    /// Returns the number of words for a set of states.
    pub(crate) fn state_words(&self) -> usize {
        self.0.state_words
    }

    /// Adds the possible successors of a state to `found`, given the values of the known atoms.
    pub(crate) fn add_successors(&self, state: usize, known: &[u64], values: &[u64], found: &mut [u64]) {
        for edge in self.edges_from(state) {
            let to = edge.to as usize;
            if !bits::contains(found, to) && self.can_hold(edge, known, values) {
                bits::insert(found, to);
            }
        }
    }

    /// Adds to `found` the unknown atoms that decide which edge out of a state is taken.
    pub(crate) fn add_deciding_atoms(&self, state: usize, known: &[u64], values: &[u64], found: &mut [u64]) {
        // A single remaining edge is taken whatever is observed.
        if self.edges_from(state).iter().filter(|edge| self.can_hold(edge, known, values)).count() < 2 {
            return;
        }
        let cubes = self.edges_from(state).iter().flat_map(|edge| self.cubes(edge));
        for (mask, _) in cubes.filter(|cube| can_hold(*cube, known, values)) {
            for ((found, mask), known) in found.iter_mut().zip(mask).zip(known) {
                *found |= mask & !known;
            }
        }
    }

    /// Returns the final verdict that all given states share, if the set is not empty and there is one.
    pub(crate) fn common_verdict(&self, states: &[u64]) -> Option<Truth> {
        let [bad, good] = &self.0.finals;
        let all_in = |set: &[u64]| states.iter().zip(set).all(|(states, set)| states & !set == 0);
        match states.iter().any(|word| *word != 0) {
            true if all_in(bad) => Some(Truth::False),
            true if all_in(good) => Some(Truth::True),
            _ => None,
        }
    }

    /// Returns whether all given states have a final verdict, not necessarily the same.
    pub(crate) fn are_final(&self, states: &[u64]) -> bool {
        let [bad, good] = &self.0.finals;
        states.iter().zip(bad).zip(good).all(|((states, bad), good)| states & !(bad | good) == 0)
    }

    fn edges_from(&self, state: usize) -> &[CompiledEdge] {
        let Range { start, end } = self.0.out[state];
        &self.0.edges[start as usize..end as usize]
    }

    fn can_hold(&self, edge: &CompiledEdge, known: &[u64], values: &[u64]) -> bool {
        match (known, values) {
            // Nearly all automata have at most 64 atoms, and this is the hot path.
            ([known], [values]) => {
                let cubes = &self.0.cubes[edge.cubes.start as usize..edge.cubes.end as usize];
                cubes.as_chunks().0.iter().any(|[mask, expected]| mask & known & (expected ^ values) == 0)
            }
            _ => self.cubes(edge).any(|cube| can_hold(cube, known, values)),
        }
    }

    /// The cubes of an edge: atoms and their values.
    fn cubes(&self, edge: &CompiledEdge) -> impl Iterator<Item = (&[u64], &[u64])> {
        let words = self.0.atom_words;
        let cubes = &self.0.cubes[edge.cubes.start as usize..edge.cubes.end as usize];
        cubes.chunks_exact(2 * words).map(move |cube| cube.split_at(words))
    }
}

impl Compiled {
    fn add(&mut self, edge: &Edge) -> Result<(), MachineError> {
        let from = to_u32(self.cubes.len())?;
        for cube in &edge.cubes {
            self.add_cube(cube);
        }
        self.edges.push(CompiledEdge { to: edge.to, cubes: from..to_u32(self.cubes.len())? });
        Ok(())
    }

    fn add_cube(&mut self, cube: &Cube) {
        let at = self.cubes.len();
        self.cubes.resize(at + 2 * self.atom_words, 0);
        let (mask, values) = self.cubes[at..].split_at_mut(self.atom_words);
        for (atom, value) in cube {
            // `atoms` contains every atom of every cube.
            let Ok(index) = self.atoms.binary_search(atom) else { continue };
            bits::insert(mask, index);
            if *value {
                bits::insert(values, index);
            }
        }
    }
}

/// Returns whether a cube can still hold.
fn can_hold((mask, expected): (&[u64], &[u64]), known: &[u64], values: &[u64]) -> bool {
    let literals = mask.iter().zip(expected);
    literals
        .zip(known.iter().zip(values))
        .all(|((mask, expected), (known, value))| mask & known & (expected ^ value) == 0)
}

/// Returns the states with the given verdict.
fn states_with_verdict(automaton: &Automaton, verdict: Truth) -> Vec<u64> {
    let mut states = vec![0; bits::word_count(automaton.verdicts.len())];
    for (state, _) in automaton.verdicts.iter().enumerate().filter(|(_, output)| **output == verdict) {
        bits::insert(&mut states, state);
    }
    states
}

fn to_u32(count: usize) -> Result<u32, MachineError> {
    u32::try_from(count).map_err(|_| MachineError::TooLarge)
}

impl Deref for Machine {
    type Target = Automaton;

    fn deref(&self) -> &Automaton {
        &self.0.automaton
    }
}

impl PartialEq for Machine {
    fn eq(&self, other: &Machine) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || **self == **other
    }
}

impl Eq for Machine {}

impl TryFrom<Automaton> for Machine {
    type Error = MachineError;

    fn try_from(automaton: Automaton) -> Result<Machine, MachineError> {
        Machine::new(automaton)
    }
}

impl From<Machine> for Automaton {
    fn from(machine: Machine) -> Automaton {
        Arc::try_unwrap(machine.0).map_or_else(|shared| shared.automaton.clone(), |own| own.automaton)
    }
}
