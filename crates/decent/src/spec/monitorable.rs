//! Whether a verdict can still come, whatever was observed.
//!
//! The document's criterion is enough, but it is about the shape alone: no circles of references, and from every state of every
//! automaton an edge after the other leads to a final one. It takes monitors for independent that may contradict each other,
//! and says nothing about circles. So all that fits is decided on the [flattened](super::flat) machine, which is exact, and
//! the criterion is for the rest.

use super::flat::flatten;
use super::graph;
use crate::automaton::Automaton;
use crate::network::Network;
use crate::system::{MonitorId, PropositionId, System};
use invigil_ltl::monitor::monitorability;
use invigil_ltl::moore::Truth;
use invigil_ltl::word::Letter;
use invigil_ltl::{Budget, Logic, TooLarge};

/// Observations of one instant after the other: what holds; what is not named does not.
pub type Prefix = Vec<Vec<PropositionId>>;

/// Whether a network is monitorable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Monitorability {
    /// Whatever was observed, every monitor can still come to a verdict.
    Always,
    /// No references in circles, and every automaton is monitorable. Whether monitors contradict each other was not looked at:
    /// it would have taken too much.
    ByShape(TooLarge),
    /// After some observations, a monitor can no longer come to a verdict.
    Blind {
        /// The monitor.
        monitor: MonitorId,
        /// One of the shortest such observations; none if only the shape of its automaton was looked at.
        after: Option<Prefix>,
    },
    /// References go in a circle, and to look at all that can happen would have taken too much.
    Undecided {
        /// The monitors of the circle.
        circle: Vec<MonitorId>,
        /// What would have been too large.
        because: TooLarge,
    },
}

impl Automaton {
    /// For each state: whether edges lead from it to a state with a final verdict, backward from those.
    ///
    /// ```
    /// use invigil_decent::automaton::{Automaton, Edge};
    /// use invigil_ltl::moore::Truth;
    ///
    /// // The document's trivial one: a state that says nothing, for ever.
    /// let stay = Edge { to: 0, cubes: vec![vec![]] };
    /// let silent = Automaton { initial: 0, verdicts: vec![Truth::Unknown], edges: vec![vec![stay]] };
    /// assert_eq!(silent.monitorable(), [false]);
    /// ```
    pub fn monitorable(&self) -> Vec<bool> {
        let mut before = vec![Vec::new(); self.verdicts.len()];
        for (state, edges) in self.edges.iter().enumerate() {
            edges.iter().for_each(|edge| before[edge.to as usize].push(state));
        }
        let mut marked: Vec<bool> = self.verdicts.iter().map(|verdict| *verdict != Truth::Unknown).collect();
        let mut open: Vec<usize> = (0..marked.len()).filter(|state| marked[*state]).collect();
        while let Some(state) = open.pop() {
            for source in &before[state] {
                if !std::mem::replace(&mut marked[*source], true) {
                    open.push(*source);
                }
            }
        }
        marked
    }
}

impl Network {
    /// Whether a verdict can still come, whatever was observed: of every monitor that the root needs.
    pub fn monitorability(&self, system: &System, budget: Budget) -> Monitorability {
        let needed = self.needed();
        let too_large = match self.blind(system, budget, &needed) {
            Ok(found) => return found.unwrap_or(Monitorability::Always),
            Err(too_large) => too_large,
        };
        let edges = self.graph();
        let circle = graph::components(&edges).into_iter().find(|component| {
            graph::is_cycle(&edges, component) && needed.contains(&MonitorId(component[0] as u32))
        });
        if let Some(circle) = circle {
            let circle = circle.into_iter().map(|at| MonitorId(at as u32)).collect();
            return Monitorability::Undecided { circle, because: too_large };
        }
        let shape = |id: &MonitorId| self.part(*id).automaton.monitorable().iter().all(|can| *can);
        match needed.into_iter().find(|id| !shape(id)) {
            Some(monitor) => Monitorability::Blind { monitor, after: None },
            None => Monitorability::ByShape(too_large),
        }
    }

    /// The root and all that it refers to, itself or through others; those that refer to none first where there are no circles.
    fn needed(&self) -> Vec<MonitorId> {
        let edges = self.graph();
        let mut wanted = vec![false; edges.len()];
        let mut open = vec![self.root.index()];
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut wanted[at], true) {
                open.extend_from_slice(&edges[at]);
            }
        }
        let order = graph::components(&edges).into_iter().flatten();
        order.filter(|at| wanted[*at]).map(|at| MonitorId(at as u32)).collect()
    }

    /// A monitor that can become blind, with the observations after which it is.
    fn blind(
        &self,
        system: &System,
        budget: Budget,
        needed: &[MonitorId],
    ) -> Result<Option<Monitorability>, TooLarge> {
        let mut logic = Logic::new(budget);
        for id in needed {
            let machine = flatten(&mut logic, system, self, *id)?;
            if let Some(after) = monitorability(&machine, &logic.labels).blind_after {
                let after = after.iter().map(|letter| observations(&logic, system, letter)).collect();
                return Ok(Some(Monitorability::Blind { monitor: *id, after: Some(after) }));
            }
        }
        Ok(None)
    }
}

/// The propositions that hold at a letter.
pub(super) fn observations(logic: &Logic, system: &System, letter: &Letter) -> Vec<PropositionId> {
    let holds = |proposition: &PropositionId| {
        let name = system.name(*proposition);
        let mut atoms = logic.formulae.atoms();
        atoms.any(|(atom, known)| {
            matches!(known, invigil_ltl::formula::Proposition::Name(known) if known == name)
                && letter.has(atom)
        })
    };
    system.propositions().filter(holds).collect()
}
