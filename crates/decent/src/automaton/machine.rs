//! An automaton made ready to run: its labels as bit masks.

use super::{Automaton, Cube, Edge, State};
use crate::bits;
use crate::memory::Atom;
use invigil_ltl::moore::Truth;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// An automaton made ready to run. Copies are cheap and share everything; what is written down or sent is the
/// [`Automaton`] alone.
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
    /// Words that the atoms take, and the states.
    atom_words: usize,
    state_words: usize,
    /// The edges of all states, one state after the other, and where those of each state are.
    edges: Vec<Way>,
    out: Vec<Range<u32>>,
    /// The cubes of all edges: the atoms that each speaks of, then their values.
    cubes: Vec<u64>,
    /// The states that say false, and those that say true.
    finals: [Vec<u64>; 2],
}

/// An edge: where it leads, and where its cubes are.
#[derive(Debug)]
struct Way {
    to: State,
    cubes: Range<u32>,
}

/// Why an automaton cannot run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// There is no such state.
    NoState {
        /// The one that is named.
        state: State,
        /// How many there are.
        count: usize,
    },
    /// There are not as many lists of edges as verdicts.
    Uneven {
        /// The lists of edges.
        edges: usize,
        /// The verdicts.
        verdicts: usize,
    },
    /// It is larger than can be numbered.
    TooLarge,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::NoState { state, count } => write!(f, "state {state} does not exist: there are {count}"),
            Flaw::Uneven { edges, verdicts } => {
                write!(f, "{edges} states have edges, but {verdicts} have a verdict")
            }
            Flaw::TooLarge => f.write_str("the automaton is larger than can be numbered"),
        }
    }
}

impl std::error::Error for Flaw {}

impl Machine {
    /// Makes it ready.
    ///
    /// # Errors
    /// If it names states that it does not have.
    pub fn new(automaton: Automaton) -> Result<Machine, Flaw> {
        let count = automaton.verdicts.len();
        if automaton.edges.len() != count {
            return Err(Flaw::Uneven { edges: automaton.edges.len(), verdicts: count });
        }
        let named = automaton.edges.iter().flatten().map(|edge| edge.to);
        if let Some(state) = named.chain([automaton.initial]).find(|state| *state as usize >= count) {
            return Err(Flaw::NoState { state, count });
        }
        let atoms = automaton.atoms();
        let (atom_words, state_words) = (bits::words(atoms.len()), bits::words(count));
        let mut made = Compiled {
            finals: [Truth::False, Truth::True].map(|verdict| saying(&automaton, verdict)),
            automaton: Automaton { initial: 0, verdicts: Vec::new(), edges: Vec::new() },
            atoms,
            atom_words,
            state_words,
            edges: Vec::new(),
            out: Vec::with_capacity(count),
            cubes: Vec::new(),
        };
        for edges in &automaton.edges {
            let from = number(made.edges.len())?;
            for edge in edges {
                made.add(edge)?;
            }
            made.out.push(from..number(made.edges.len())?);
        }
        made.automaton = automaton;
        Ok(Machine(Arc::new(made)))
    }

    /// The atoms that its labels speak of, sorted.
    pub fn atoms(&self) -> &[Atom] {
        &self.0.atoms
    }

    /// How many states it has.
    pub fn states(&self) -> usize {
        self.0.out.len()
    }

    /// How many words a set of atoms takes.
    pub(crate) fn atom_words(&self) -> usize {
        self.0.atom_words
    }

    /// How many words a set of states takes.
    pub(crate) fn state_words(&self) -> usize {
        self.0.state_words
    }

    /// Adds to `found` the states that follow a state when the known atoms have these values.
    pub(crate) fn follow(&self, state: usize, known: &[u64], values: &[u64], found: &mut [u64]) {
        for way in self.ways(state) {
            let to = way.to as usize;
            if !bits::has(found, to) && self.is_open(way, known, values) {
                bits::put(found, to);
            }
        }
    }

    /// Adds to `found` the atoms whose values decide where it goes from a state, besides the known ones.
    pub(crate) fn wants(&self, state: usize, known: &[u64], values: &[u64], found: &mut [u64]) {
        // Where one way is left, it is taken.
        if self.ways(state).iter().filter(|way| self.is_open(way, known, values)).count() < 2 {
            return;
        }
        let cubes = self.ways(state).iter().flat_map(|way| self.cubes(way));
        for (mask, _) in cubes.filter(|cube| is_open(*cube, known, values)) {
            for ((found, mask), known) in found.iter_mut().zip(mask).zip(known) {
                *found |= mask & !known;
            }
        }
    }

    /// What all these states say, if it is final and there is one.
    pub(crate) fn common(&self, states: &[u64]) -> Option<Truth> {
        let [bad, good] = &self.0.finals;
        let all_in = |set: &[u64]| states.iter().zip(set).all(|(states, set)| states & !set == 0);
        match states.iter().any(|word| *word != 0) {
            true if all_in(bad) => Some(Truth::False),
            true if all_in(good) => Some(Truth::True),
            _ => None,
        }
    }

    /// Whether all these states have a final verdict, be it the same or not.
    pub(crate) fn is_final(&self, states: &[u64]) -> bool {
        let [bad, good] = &self.0.finals;
        states.iter().zip(bad).zip(good).all(|((states, bad), good)| states & !(bad | good) == 0)
    }

    fn ways(&self, state: usize) -> &[Way] {
        let Range { start, end } = self.0.out[state];
        &self.0.edges[start as usize..end as usize]
    }

    /// Whether an edge can still be taken.
    fn is_open(&self, way: &Way, known: &[u64], values: &[u64]) -> bool {
        match (known, values) {
            // Few automata speak of more atoms than fit into one word, and all time is spent here.
            ([known], [values]) => {
                let cubes = &self.0.cubes[way.cubes.start as usize..way.cubes.end as usize];
                cubes.as_chunks().0.iter().any(|[mask, wanted]| mask & known & (wanted ^ values) == 0)
            }
            _ => self.cubes(way).any(|cube| is_open(cube, known, values)),
        }
    }

    /// The cubes of an edge: atoms and their values.
    fn cubes(&self, way: &Way) -> impl Iterator<Item = (&[u64], &[u64])> {
        let words = self.0.atom_words;
        let cubes = &self.0.cubes[way.cubes.start as usize..way.cubes.end as usize];
        cubes.chunks_exact(2 * words).map(move |cube| cube.split_at(words))
    }
}

impl Compiled {
    fn add(&mut self, edge: &Edge) -> Result<(), Flaw> {
        let from = number(self.cubes.len())?;
        for cube in &edge.cubes {
            self.add_cube(cube);
        }
        self.edges.push(Way { to: edge.to, cubes: from..number(self.cubes.len())? });
        Ok(())
    }

    fn add_cube(&mut self, cube: &Cube) {
        let at = self.cubes.len();
        self.cubes.resize(at + 2 * self.atom_words, 0);
        let (mask, values) = self.cubes[at..].split_at_mut(self.atom_words);
        for (atom, value) in cube {
            // All atoms of the cubes are among the automaton's.
            let Ok(place) = self.atoms.binary_search(atom) else { continue };
            bits::put(mask, place);
            if *value {
                bits::put(values, place);
            }
        }
    }
}

/// Whether a cube can still hold.
fn is_open((mask, wanted): (&[u64], &[u64]), known: &[u64], values: &[u64]) -> bool {
    let literals = mask.iter().zip(wanted);
    literals
        .zip(known.iter().zip(values))
        .all(|((mask, wanted), (known, value))| mask & known & (wanted ^ value) == 0)
}

/// The states that say this.
fn saying(automaton: &Automaton, verdict: Truth) -> Vec<u64> {
    let mut states = vec![0; bits::words(automaton.verdicts.len())];
    for (state, _) in automaton.verdicts.iter().enumerate().filter(|(_, said)| **said == verdict) {
        bits::put(&mut states, state);
    }
    states
}

fn number(count: usize) -> Result<u32, Flaw> {
    u32::try_from(count).map_err(|_| Flaw::TooLarge)
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
    type Error = Flaw;

    fn try_from(automaton: Automaton) -> Result<Machine, Flaw> {
        Machine::new(automaton)
    }
}

impl From<Machine> for Automaton {
    fn from(machine: Machine) -> Automaton {
        Arc::try_unwrap(machine.0).map_or_else(|shared| shared.automaton.clone(), |own| own.automaton)
    }
}
