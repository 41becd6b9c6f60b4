//! Automata of monitors as plain data that can be serialized.

mod machine;

pub use machine::{Machine, MachineError};

use crate::memory::Atom;
use invigil_ltl::formula::Proposition;
use invigil_ltl::label::{Label, Variable};
use invigil_ltl::moore::{Moore, Truth};
use invigil_ltl::{Logic, TooLarge};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Index of a state.
pub type State = u32;

/// Conjunction of literals, such as `a & !b`. Sorted by atom; each atom occurs once.
pub type Cube = Vec<(Atom, bool)>;

/// Deterministic, complete Moore automaton.
///
/// The labels of the edges out of a state are mutually exclusive, and exactly one of them holds for each observation.
/// No two edges lead to the same state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Automaton {
    /// State before the first observation.
    pub initial: State,
    /// Verdict of each state.
    pub verdicts: Vec<Truth>,
    /// Edges out of each state.
    pub edges: Vec<Vec<Edge>>,
}

/// Edge of an automaton, taken if one of its cubes holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// Target state.
    pub to: State,
    /// Irredundant sum of products. A single empty cube always holds.
    pub cubes: Vec<Cube>,
}

/// Reason why a formula has no automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AutomatonError {
    /// The automaton exceeds the budget.
    TooLarge(TooLarge),
    /// The formula contains a proposition that the system does not have.
    Unknown(Proposition),
}

impl fmt::Display for AutomatonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AutomatonError::TooLarge(too_large) => too_large.fmt(f),
            AutomatonError::Unknown(name) => write!(f, "unknown proposition `{name}`"),
        }
    }
}

impl std::error::Error for AutomatonError {}

impl From<TooLarge> for AutomatonError {
    fn from(too_large: TooLarge) -> AutomatonError {
        AutomatonError::TooLarge(too_large)
    }
}

impl Automaton {
    /// Converts the monitor of a formula to plain data. `atom` resolves propositions.
    ///
    /// ```
    /// use invigil_decent::automaton::Automaton;
    /// use invigil_decent::memory::Atom;
    /// use invigil_decent::system::PropositionId;
    /// use invigil_ltl::{Budget, Logic};
    ///
    /// let mut logic = Logic::new(Budget::default());
    /// let formula = logic.parse("F on").unwrap();
    /// let machine = logic.monitor(formula)?;
    /// let automaton = Automaton::of(&logic, &machine, |_| Some(Atom::Observed(PropositionId(0))))?;
    /// assert_eq!(automaton.verdicts.len(), 2);
    /// # Ok::<(), invigil_decent::automaton::AutomatonError>(())
    /// ```
    ///
    /// # Errors
    /// Fails if a proposition cannot be resolved or a label has too many products.
    pub fn of(
        logic: &Logic,
        moore: &Moore<Truth>,
        atom: impl Fn(&Proposition) -> Option<Atom>,
    ) -> Result<Automaton, AutomatonError> {
        let edges = moore.edges.iter().map(|edges| {
            let edge =
                |(label, to): &(Label, State)| Ok(Edge { to: *to, cubes: cubes(logic, label, &atom)? });
            edges.iter().map(edge).collect()
        });
        let edges = edges.collect::<Result<_, AutomatonError>>()?;
        Ok(Automaton { initial: moore.initial, verdicts: moore.outputs.clone(), edges })
    }

    /// Returns the atoms in the labels, sorted.
    pub fn atoms(&self) -> Vec<Atom> {
        let cubes = self.edges.iter().flatten().flat_map(|edge| &edge.cubes);
        let mut atoms: Vec<Atom> = cubes.flatten().map(|(atom, _)| *atom).collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    /// Returns the verdict of a state.
    pub fn verdict(&self, state: State) -> Truth {
        self.verdicts[state as usize]
    }

    /// Returns the successor of a state, or the state itself if a value that is needed to choose an edge is missing.
    pub fn next(&self, state: State, value: impl Fn(Atom) -> Option<bool>) -> State {
        let holds = |cube: &Cube| cube.iter().all(|(atom, expected)| value(*atom) == Some(*expected));
        let edges = &self.edges[state as usize];
        edges.iter().find(|edge| edge.cubes.iter().any(holds)).map_or(state, |edge| edge.to)
    }
}

fn cubes(
    logic: &Logic,
    label: &Label,
    atom: &impl Fn(&Proposition) -> Option<Atom>,
) -> Result<Vec<Cube>, AutomatonError> {
    let mut cubes = Vec::new();
    for product in logic.labels.cubes(label)? {
        let mut cube = Cube::new();
        for (variable, value) in product {
            // Labels of monitors contain only atoms; helper variables are internal to the algorithms that create them.
            let Variable::Atom(known) = variable else { continue };
            let name = logic.formulae.proposition(known);
            cube.push((atom(name).ok_or_else(|| AutomatonError::Unknown(name.clone()))?, value));
        }
        cube.sort_unstable();
        cubes.push(cube);
    }
    Ok(cubes)
}
