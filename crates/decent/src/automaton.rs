//! The automaton of a monitor, as plain data that can be sent elsewhere.

mod machine;

pub use machine::{Flaw, Machine};

use crate::memory::Atom;
use invigil_ltl::formula::Proposition;
use invigil_ltl::label::{Label, Variable};
use invigil_ltl::moore::{Moore, Truth};
use invigil_ltl::{Logic, TooLarge};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A state, by its place.
pub type State = u32;

/// Atoms that are all as said: `a & !b`. Sorted by atom, each once.
pub type Cube = Vec<(Atom, bool)>;

/// A deterministic, complete automaton of Moore. Out of a state, the labels of the edges exclude each other, one of them holds
/// whatever is observed, and no two edges lead to the same state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Automaton {
    /// The state before the first observation.
    pub initial: State,
    /// What each state says.
    pub verdicts: Vec<Truth>,
    /// The edges out of each state.
    pub edges: Vec<Vec<Edge>>,
}

/// An edge: it is taken where one of the cubes holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// Where it leads.
    pub to: State,
    /// An irredundant sum of products; one empty cube holds always.
    pub cubes: Vec<Cube>,
}

/// Why there is no automaton for something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It would be too large.
    TooLarge(TooLarge),
    /// A name that means nothing here.
    Unknown(Proposition),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::TooLarge(too_large) => too_large.fmt(f),
            Refused::Unknown(name) => write!(f, "nothing is called `{name}`"),
        }
    }
}

impl std::error::Error for Refused {}

impl From<TooLarge> for Refused {
    fn from(too_large: TooLarge) -> Refused {
        Refused::TooLarge(too_large)
    }
}

impl Automaton {
    /// The monitor of a formula as plain data; `atom` says what its propositions mean.
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
    /// # Ok::<(), invigil_decent::automaton::Refused>(())
    /// ```
    ///
    /// # Errors
    /// If a proposition means nothing, or if a label has too many products.
    pub fn of(
        logic: &Logic,
        machine: &Moore<Truth>,
        atom: impl Fn(&Proposition) -> Option<Atom>,
    ) -> Result<Automaton, Refused> {
        let edges = machine.edges.iter().map(|edges| {
            let edge =
                |(label, to): &(Label, State)| Ok(Edge { to: *to, cubes: cubes(logic, label, &atom)? });
            edges.iter().map(edge).collect()
        });
        let edges = edges.collect::<Result<_, Refused>>()?;
        Ok(Automaton { initial: machine.initial, verdicts: machine.outputs.clone(), edges })
    }

    /// The atoms that its labels speak of, sorted.
    pub fn atoms(&self) -> Vec<Atom> {
        let cubes = self.edges.iter().flatten().flat_map(|edge| &edge.cubes);
        let mut atoms: Vec<Atom> = cubes.flatten().map(|(atom, _)| *atom).collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    /// What a state says.
    pub fn verdict(&self, state: State) -> Truth {
        self.verdicts[state as usize]
    }

    /// The state after an observation of all atoms that matter. Where one is missing, it stays.
    pub fn next(&self, state: State, value: impl Fn(Atom) -> Option<bool>) -> State {
        let holds = |cube: &Cube| cube.iter().all(|(atom, wanted)| value(*atom) == Some(*wanted));
        let edges = &self.edges[state as usize];
        edges.iter().find(|edge| edge.cubes.iter().any(holds)).map_or(state, |edge| edge.to)
    }
}

fn cubes(
    logic: &Logic,
    label: &Label,
    atom: &impl Fn(&Proposition) -> Option<Atom>,
) -> Result<Vec<Cube>, Refused> {
    let mut cubes = Vec::new();
    for product in logic.labels.cubes(label)? {
        let mut cube = Cube::new();
        for (variable, value) in product {
            // Monitors are over atoms alone: helpers belong to the algorithms that make them.
            let Variable::Atom(known) = variable else { continue };
            let name = logic.formulae.proposition(known);
            cube.push((atom(name).ok_or_else(|| Refused::Unknown(name.clone()))?, value));
        }
        cube.sort_unstable();
        cubes.push(cube);
    }
    Ok(cubes)
}
