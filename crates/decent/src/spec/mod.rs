//! Decentralized specifications [EH18 §6]: named monitors over the propositions of their own components and the
//! verdicts of other monitors.
//!
//! A [`Specification`] holds what users write. It compiles to a [`Network`] of automata on components, or to a list of
//! [`SpecDiagnostic`]s.
//!
//! | module | contents |
//! | --- | --- |
//! | [`monitorability`] | whether a verdict remains possible after every observation |
//! | [`placement`] | compatibility: whether the monitors fit the links of the system |
//! | [`reference`](mod@reference) | reference semantics |
//! | [`flatten`] | a network as one exact automaton |
//! | [`equivalence`] | comparison of two specifications |
//! | [`split`] | synthesis of a specification from a formula |

mod automaton_spec;
mod build;
pub mod diagnostic;
pub mod equivalence;
pub mod flatten;
mod graph;
pub mod monitorability;
pub mod placement;
pub mod reference;
pub mod split;

pub use automaton_spec::{AutomatonSpec, EdgeSpec, StateSpec};
pub use diagnostic::SpecDiagnostic;

use crate::memory::Atom;
use crate::network::Network;
use crate::system::{ComponentId, MonitorId, PropositionId, System};
use indexmap::IndexMap;
use invigil_ltl::formula::Proposition;
use invigil_ltl::syntax::SyntaxTree;

/// Named monitors and the system that they observe.
///
/// ```
/// use invigil_decent::spec::{MonitorBody, Specification};
/// use invigil_decent::system::System;
/// use invigil_ltl::Budget;
/// use invigil_ltl::syntax::SyntaxTree;
///
/// let mut system = System::default();
/// let (switch, bulb) = (system.component("switch")?, system.component("bulb")?);
/// system.proposition(switch, "pressed")?;
/// system.proposition(bulb, "lit")?;
/// let mut specification = Specification::new(system);
/// specification.add("on", MonitorBody::Formula(SyntaxTree::parse("lit").unwrap()), None).unwrap();
/// let follows = SyntaxTree::parse("G(pressed -> X(@on U !pressed))").unwrap();
/// let follows = specification.add("follows", MonitorBody::Formula(follows), None).unwrap();
/// specification.root = Some(follows);
/// // No components are given: they follow from the propositions.
/// let network = specification.network(Budget::default()).unwrap();
/// assert_eq!((network.monitor(follows).at, network.depth(follows)), (switch, 1));
/// # Ok::<(), invigil_decent::system::SystemError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Specification {
    /// The system.
    pub system: System,
    /// The monitor whose verdict is the verdict of the specification.
    pub root: Option<MonitorId>,
    monitors: IndexMap<String, MonitorSpec>,
}

/// Monitor of a specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorSpec {
    /// Its property.
    pub body: MonitorBody,
    /// Its component, if given.
    pub at: Option<ComponentId>,
}

/// Property of a monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MonitorBody {
    /// Formula. Names are propositions; `@name` is the verdict of another monitor.
    Formula(SyntaxTree),
    /// Automaton, state by state.
    Automaton(AutomatonSpec),
    /// Opaque monitor: a property (`.prop`), a script (`.medl`) or a program that eventually decides every instant. Its
    /// verdicts are observed as a proposition where it runs.
    BlackBox {
        /// File that contains it.
        file: String,
    },
}

impl Specification {
    /// Creates a specification without monitors.
    pub fn new(system: System) -> Specification {
        Specification { system, ..Specification::default() }
    }

    /// Adds a monitor. The verdict of a black box becomes a proposition of its component, named like the monitor with a
    /// leading `@`.
    ///
    /// # Errors
    /// Fails if the name is taken, or if a black box has no component.
    pub fn add(
        &mut self,
        name: &str,
        body: MonitorBody,
        at: Option<ComponentId>,
    ) -> Result<MonitorId, SpecDiagnostic> {
        let id = MonitorId(self.monitors.len() as u32);
        if let Some(first) = self.find(name) {
            return Err(
                SpecDiagnostic::new(first, format!("duplicate monitor `{name}`")).help("rename one of them")
            );
        }
        if let MonitorBody::BlackBox { .. } = body {
            let Some(at) = at else {
                let diagnostic =
                    SpecDiagnostic::new(id, format!("no component is given for the black box `{name}`"));
                return Err(diagnostic.help(format!("write: {name} @ component = black box …")));
            };
            let proposition = self.system.proposition(at, &box_proposition(name));
            proposition.map_err(|error| SpecDiagnostic::new(id, error.to_string()))?;
        }
        self.monitors.insert(name.to_owned(), MonitorSpec { body, at });
        Ok(id)
    }

    /// Replaces the body of a monitor. References to it remain valid.
    pub fn replace(&mut self, id: MonitorId, body: MonitorBody) {
        if let Some((_, monitor)) = self.monitors.get_index_mut(id.index()) {
            monitor.body = body;
        }
    }

    /// Returns the monitor with this name.
    pub fn find(&self, name: &str) -> Option<MonitorId> {
        self.monitors.get_index_of(name).map(|at| MonitorId(at as u32))
    }

    /// Returns the name of a monitor.
    pub fn name(&self, id: MonitorId) -> &str {
        self.monitors.get_index(id.index()).map_or("", |(name, _)| name)
    }

    /// Returns a monitor.
    pub fn monitor(&self, id: MonitorId) -> &MonitorSpec {
        &self.monitors[id.index()]
    }

    /// Returns all monitors.
    pub fn monitors(&self) -> impl ExactSizeIterator<Item = MonitorId> + use<> {
        (0..self.monitors.len() as u32).map(MonitorId)
    }

    /// Returns the propositions and monitors that a monitor refers to, sorted. Unknown names are omitted.
    pub fn atoms(&self, id: MonitorId) -> Vec<Atom> {
        let mut atoms: Vec<Atom> = match &self.monitor(id).body {
            MonitorBody::Formula(tree) => tree.atoms().filter_map(|(name, _)| self.meaning(name)).collect(),
            MonitorBody::Automaton(automaton) => {
                let trees = automaton.labels().flat_map(SyntaxTree::atoms);
                trees.filter_map(|(name, _)| self.meaning(name)).collect()
            }
            MonitorBody::BlackBox { .. } => self.box_atom(id).into_iter().collect(),
        };
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    /// Returns the propositions that a monitor depends on, directly or through other monitors.
    pub fn observed(&self, id: MonitorId) -> Vec<PropositionId> {
        let (mut found, mut open) = (Vec::new(), vec![id]);
        let mut seen = vec![false; self.monitors.len()];
        seen[id.index()] = true;
        while let Some(next) = open.pop() {
            for atom in self.atoms(next) {
                match atom {
                    Atom::Observed(proposition) => found.push(proposition),
                    Atom::Verdict(other) if !std::mem::replace(&mut seen[other.index()], true) => {
                        open.push(other)
                    }
                    Atom::Verdict(_) => {}
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Resolves a name in a formula.
    fn meaning(&self, name: &Proposition) -> Option<Atom> {
        match name {
            Proposition::Name(name) => self.system.find_proposition(name).map(Atom::Observed),
            Proposition::Monitor(name) => self.find(name).map(Atom::Verdict),
            Proposition::Expression(_) | Proposition::Fresh(_) => None,
        }
    }

    /// Returns the atom for the verdict of a black box.
    fn box_atom(&self, id: MonitorId) -> Option<Atom> {
        self.system.find_proposition(&box_proposition(self.name(id))).map(Atom::Observed)
    }
}

/// Returns the name of the proposition for the verdicts of a black box.
fn box_proposition(name: &str) -> String {
    format!("@{name}")
}

impl Network {
    /// Returns the length of the longest chain of references from a monitor: 0 without references, [`u32::MAX`] on a
    /// cycle.
    pub fn depth(&self, id: MonitorId) -> u32 {
        graph::depths(&self.graph())[id.index()].unwrap_or(u32::MAX)
    }

    /// Returns the references of each monitor.
    fn graph(&self) -> Vec<Vec<usize>> {
        let ids = (0..self.monitors.len() as u32).map(MonitorId);
        ids.map(|id| self.references(id).into_iter().map(MonitorId::index).collect()).collect()
    }
}
