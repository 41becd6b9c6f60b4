//! Monitorability: whether a verdict remains possible after every observation.
//!
//! The criterion of [EH18 §6] (no cyclic references, and every state of every automaton reaches a final one) is
//! sufficient but structural: it treats monitors as independent although they may contradict each other, and does
//! not apply to cycles. So monitorability is decided on the [flattened](super::flatten) automaton, which is exact. The
//! structural criterion is the fallback if that is too large.

use super::flatten::flatten;
use super::graph;
use crate::automaton::Automaton;
use crate::network::Network;
use crate::system::{MonitorId, PropositionId, System};
use invigil_ltl::monitor::monitorability;
use invigil_ltl::moore::Truth;
use invigil_ltl::word::Letter;
use invigil_ltl::{Budget, Logic, TooLarge};

/// Observations of successive instants: the propositions that hold; all others do not.
pub type Prefix = Vec<Vec<PropositionId>>;

/// Monitorability of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Monitorability {
    /// Every monitor can reach a verdict after every observation.
    Always,
    /// No references form a cycle, and every automaton is monitorable. Contradictions between monitors were not checked
    /// because of the given limit.
    ByStructure(TooLarge),
    /// A monitor cannot reach a verdict after some observations.
    NotMonitorable {
        /// The monitor.
        monitor: MonitorId,
        /// A shortest such prefix; `None` if only the structure was checked.
        after: Option<Prefix>,
    },
    /// References form a cycle, and the exact check exceeds a limit.
    Undecided {
        /// The monitors on the cycle.
        cycle: Vec<MonitorId>,
        /// The exceeded limit.
        limit: TooLarge,
    },
}

impl Automaton {
    /// Returns for each state whether it can reach a state with a final verdict.
    ///
    /// ```
    /// use invigil_decent::automaton::{Automaton, Edge};
    /// use invigil_ltl::moore::Truth;
    ///
    /// // A state that never has a verdict.
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
    /// Decides monitorability for every monitor that the root needs.
    pub fn monitorability(&self, system: &System, budget: Budget) -> Monitorability {
        let needed = self.needed();
        let too_large = match self.find_not_monitorable(system, budget, &needed) {
            Ok(found) => return found.unwrap_or(Monitorability::Always),
            Err(too_large) => too_large,
        };
        let edges = self.graph();
        let cycle = graph::components(&edges).into_iter().find(|component| {
            graph::is_cycle(&edges, component) && needed.contains(&MonitorId(component[0] as u32))
        });
        if let Some(cycle) = cycle {
            let cycle = cycle.into_iter().map(|at| MonitorId(at as u32)).collect();
            return Monitorability::Undecided { cycle, limit: too_large };
        }
        let is_monitorable =
            |id: &MonitorId| self.monitor(*id).automaton.monitorable().iter().all(|reaches| *reaches);
        match needed.into_iter().find(|id| !is_monitorable(id)) {
            Some(monitor) => Monitorability::NotMonitorable { monitor, after: None },
            None => Monitorability::ByStructure(too_large),
        }
    }

    /// Returns the root and all monitors that it refers to, transitively; referenced monitors first where there are no
    /// cycles.
    fn needed(&self) -> Vec<MonitorId> {
        let edges = self.graph();
        let mut is_needed = vec![false; edges.len()];
        let mut open = vec![self.root.index()];
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut is_needed[at], true) {
                open.extend_from_slice(&edges[at]);
            }
        }
        let order = graph::components(&edges).into_iter().flatten();
        order.filter(|at| is_needed[*at]).map(|at| MonitorId(at as u32)).collect()
    }

    /// Returns a monitor that is not monitorable, with a prefix that shows it.
    fn find_not_monitorable(
        &self,
        system: &System,
        budget: Budget,
        needed: &[MonitorId],
    ) -> Result<Option<Monitorability>, TooLarge> {
        let mut logic = Logic::new(budget);
        for id in needed {
            let machine = flatten(&mut logic, system, self, *id)?;
            if let Some(after) = monitorability(&machine, &logic.labels).ugly_prefix {
                let after = after.iter().map(|letter| observations(&logic, system, letter)).collect();
                return Ok(Some(Monitorability::NotMonitorable { monitor: *id, after: Some(after) }));
            }
        }
        Ok(None)
    }
}

/// Returns the propositions that hold at a letter.
pub(super) fn observations(logic: &Logic, system: &System, letter: &Letter) -> Vec<PropositionId> {
    let holds = |proposition: &PropositionId| {
        let name = system.proposition_name(*proposition);
        let mut atoms = logic.formulae.atoms();
        atoms.any(|(atom, known)| {
            matches!(known, invigil_ltl::formula::Proposition::Name(known) if known == name)
                && letter.has(atom)
        })
    };
    system.propositions().filter(holds).collect()
}
