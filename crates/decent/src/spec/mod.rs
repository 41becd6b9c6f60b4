//! Decentralized specifications: monitors with names, each of which speaks of what its own component observes and of what
//! other monitors say.
//!
//! A [`Specification`] is what people write. It becomes a [`Network`] of automata on components, or
//! a list of [`Problem`]s. What can be asked of it: whether a verdict can always still come ([`monitorable`]), whether it fits
//! the system ([`place`]), what it means ([`reference`](mod@reference)), whether two say the same ([`equivalent`]).
//! [`split`] makes one out of a formula.

mod build;
mod drawn;
pub mod equivalent;
pub mod flat;
mod graph;
pub mod monitorable;
pub mod place;
pub mod problem;
pub mod reference;
pub mod split;

pub use drawn::{Drawn, DrawnEdge, DrawnState};
pub use problem::Problem;

use crate::memory::Atom;
use crate::network::Network;
use crate::system::{ComponentId, MonitorId, PropositionId, System};
use indexmap::IndexMap;
use invigil_ltl::formula::Proposition;
use invigil_ltl::syntax::Tree;

/// Monitors with names, and the system that they watch.
///
/// ```
/// use invigil_decent::spec::{Body, Specification};
/// use invigil_decent::system::System;
/// use invigil_ltl::Budget;
/// use invigil_ltl::syntax::Tree;
///
/// let mut system = System::default();
/// let (switch, bulb) = (system.component("switch")?, system.component("bulb")?);
/// system.proposition(switch, "pressed")?;
/// system.proposition(bulb, "lit")?;
/// let mut specification = Specification::new(system);
/// specification.add("on", Body::Formula(Tree::parse("lit").unwrap()), None).unwrap();
/// let follows = Tree::parse("G(pressed -> X(@on U !pressed))").unwrap();
/// let follows = specification.add("follows", Body::Formula(follows), None).unwrap();
/// specification.root = Some(follows);
/// // Nobody said where they are: what they speak of does.
/// let network = specification.network(Budget::default()).unwrap();
/// assert_eq!((network.part(follows).at, network.depth(follows)), (switch, 1));
/// # Ok::<(), invigil_decent::system::Clash>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Specification {
    /// The system.
    pub system: System,
    /// The monitor whose verdict is that of the whole.
    pub root: Option<MonitorId>,
    monitors: IndexMap<String, Monitor>,
}

/// A monitor as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Monitor {
    /// What it watches for.
    pub body: Body,
    /// Where it is to run, if somebody has said so.
    pub at: Option<ComponentId>,
}

/// What a monitor watches for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A formula. Names are what is observed, `@name` is what another monitor says.
    Formula(Tree),
    /// An automaton, state by state.
    Automaton(Drawn),
    /// Something else that says true or false for every instant, sooner or later: a property (`.prop`), a script (`.medl`),
    /// a program. All that is known of it is that what it says is observed where it runs.
    BlackBox {
        /// Where it is written.
        file: String,
    },
}

impl Specification {
    /// No monitors yet.
    pub fn new(system: System) -> Specification {
        Specification { system, ..Specification::default() }
    }

    /// Adds a monitor. What a black box says becomes a proposition of its component, called like it with an `@` in front.
    ///
    /// # Errors
    /// If there is one of that name, or if it is a black box and nobody says where it runs.
    pub fn add(&mut self, name: &str, body: Body, at: Option<ComponentId>) -> Result<MonitorId, Problem> {
        let id = MonitorId(self.monitors.len() as u32);
        if let Some(first) = self.find(name) {
            return Err(
                Problem::new(first, format!("there are two monitors `{name}`")).help("rename one of them")
            );
        }
        if let Body::BlackBox { .. } = body {
            let Some(at) = at else {
                let problem = Problem::new(id, format!("nobody says where the black box `{name}` runs"));
                return Err(problem.help(format!("write: {name} @ component = black box …")));
            };
            let proposition = self.system.proposition(at, &box_proposition(name));
            proposition.map_err(|clash| Problem::new(id, clash.to_string()))?;
        }
        self.monitors.insert(name.to_owned(), Monitor { body, at });
        Ok(id)
    }

    /// Another body for a monitor that is there. What refers to it stays as it is.
    pub fn replace(&mut self, id: MonitorId, body: Body) {
        if let Some((_, monitor)) = self.monitors.get_index_mut(id.index()) {
            monitor.body = body;
        }
    }

    /// The monitor of this name.
    pub fn find(&self, name: &str) -> Option<MonitorId> {
        self.monitors.get_index_of(name).map(|at| MonitorId(at as u32))
    }

    /// What a monitor is called.
    pub fn name(&self, id: MonitorId) -> &str {
        self.monitors.get_index(id.index()).map_or("", |(name, _)| name)
    }

    /// A monitor.
    pub fn monitor(&self, id: MonitorId) -> &Monitor {
        &self.monitors[id.index()]
    }

    /// All monitors.
    pub fn monitors(&self) -> impl ExactSizeIterator<Item = MonitorId> + use<> {
        (0..self.monitors.len() as u32).map(MonitorId)
    }

    /// What a monitor speaks of, as it is written, each once: observations of its component, and other monitors.
    /// Names that mean nothing are left out.
    pub fn atoms(&self, id: MonitorId) -> Vec<Atom> {
        let mut atoms: Vec<Atom> = match &self.monitor(id).body {
            Body::Formula(tree) => tree.atoms().filter_map(|(name, _)| self.meaning(name)).collect(),
            Body::Automaton(drawn) => {
                let trees = drawn.labels().flat_map(Tree::atoms);
                trees.filter_map(|(name, _)| self.meaning(name)).collect()
            }
            Body::BlackBox { .. } => self.box_atom(id).into_iter().collect(),
        };
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    /// All that is observed for a monitor, by itself and by those that it refers to.
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

    /// What a name in a formula stands for.
    fn meaning(&self, name: &Proposition) -> Option<Atom> {
        match name {
            Proposition::Name(name) => self.system.find(name).map(Atom::Observed),
            Proposition::Monitor(name) => self.find(name).map(Atom::Verdict),
            Proposition::Expression(_) | Proposition::Fresh(_) => None,
        }
    }

    /// What a black box says, as its component observes it.
    fn box_atom(&self, id: MonitorId) -> Option<Atom> {
        self.system.find(&box_proposition(self.name(id))).map(Atom::Observed)
    }
}

/// What the verdicts of a black box are called where they are observed.
fn box_proposition(name: &str) -> String {
    format!("@{name}")
}

impl Network {
    /// How many references lie one behind the other, at most: 0 for a monitor that refers to none. A monitor on a cycle of
    /// references has no depth; [`u32::MAX`] stands for it.
    pub fn depth(&self, id: MonitorId) -> u32 {
        graph::depths(&self.graph())[id.index()].unwrap_or(u32::MAX)
    }

    /// For each monitor those that it refers to.
    fn graph(&self) -> Vec<Vec<usize>> {
        let ids = (0..self.parts.len() as u32).map(MonitorId);
        ids.map(|id| self.references(id).into_iter().map(MonitorId::index).collect()).collect()
    }
}
