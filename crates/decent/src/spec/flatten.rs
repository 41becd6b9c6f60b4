//! Flattening: a network as one automaton over all observations.
//!
//! A referenced monitor has many concurrent runs, but runs in the same state have the same future verdict. So there is
//! one unknown per state of each monitor: the future verdict of a run in this state. The verdict of the root is a
//! Boolean function of these unknowns, and an observation substitutes each unknown by its successor. When the function
//! becomes constant, the verdict is known. The flattened automaton has a state for each reachable function.
//!
//! On a cycle of references, verdicts can stay unknown forever. So a state consists of two functions: where the root is
//! certain to be true, and where it is certain to be false.

// Labels are compared and hashed by identity; only their reference counts are mutable.
#![allow(clippy::mutable_key_type)]

use super::graph;
use crate::automaton::Cube;
use crate::memory::Atom;
use crate::network::Network;
use crate::system::{MonitorId, System};
use indexmap::{IndexMap, IndexSet};
use invigil_ltl::formula::Proposition;
use invigil_ltl::label::{Label, Substitution, Variable};
use invigil_ltl::moore::{Moore, Truth};
use invigil_ltl::{Logic, TooLarge};
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Where a verdict is certainly true, and where it is certainly false.
type Certain = [Label; 2];

/// Builds the minimal automaton with the best possible verdict of a monitor after every prefix of observations.
///
/// Its letters are named after propositions, so that it can be compared with the monitors of formulae of the same
/// logic.
///
/// # Errors
/// Fails if it exceeds the budget of the logic.
pub fn flatten(
    logic: &mut Logic,
    system: &System,
    network: &Network,
    monitor: MonitorId,
) -> Result<Moore<Truth>, TooLarge> {
    let mut flat = Flattener::new(logic, system, network)?;
    let steps = flat.steps()?;
    flat.explore(monitor, &steps)
}

struct Flattener<'a> {
    logic: &'a mut Logic,
    network: &'a Network,
    /// Label of each proposition.
    observed: Vec<Label>,
    /// For each monitor and state: the future verdict of a run in this state.
    future: Vec<Vec<Label>>,
    /// For each monitor the number of its first variable, followed by the first unused number.
    first: Vec<u32>,
}

impl<'a> Flattener<'a> {
    fn new(logic: &'a mut Logic, system: &System, network: &'a Network) -> Result<Flattener<'a>, TooLarge> {
        let mut observed = Vec::with_capacity(system.propositions().len());
        for proposition in system.propositions() {
            let atom =
                logic.formulae.atom_for(Proposition::Name(system.proposition_name(proposition).to_owned()));
            observed.push(logic.labels.atom(atom)?);
        }
        let (mut future, mut first) = (Vec::new(), vec![0]);
        for part in &network.monitors {
            let start = first.last().copied().unwrap_or_default();
            let mut states = Vec::new();
            for (at, verdict) in part.automaton.verdicts.iter().enumerate() {
                states.push(match verdict {
                    Truth::True => logic.labels.top(),
                    Truth::False => logic.labels.bottom(),
                    Truth::Unknown => logic.labels.variable(Variable::Helper(start + at as u32))?,
                });
            }
            first.push(start + states.len() as u32);
            future.push(states);
        }
        Ok(Flattener { logic, network, observed, future, first })
    }

    /// Returns the substitution for an observation, and the unknowns that can stay unknown forever.
    fn steps(&mut self) -> Result<(Substitution, Label), TooLarge> {
        let edges = self.network.graph();
        let mut now: Vec<Label> = vec![self.logic.labels.bottom(); edges.len()];
        let mut never_known = self.logic.labels.top();
        let free = self.first.last().copied().unwrap_or_default();
        for component in graph::components(&edges) {
            if !graph::is_cycle(&edges, &component) {
                now[component[0]] = self.step_from_initial(component[0], &now)?;
                continue;
            }
            let mut open = self.logic.labels.top();
            for monitor in &component {
                let unknown = self.logic.labels.variable(Variable::Helper(free + *monitor as u32))?;
                open = self.logic.labels.and(&open, &unknown)?;
                now[*monitor] = unknown;
            }
            self.solve_cycle(&component, &open, &mut now)?;
            never_known = self.logic.labels.and(&never_known, &open)?;
        }
        let mut pairs = Vec::new();
        for (monitor, part) in self.network.monitors.iter().enumerate() {
            for (state, verdict) in part.automaton.verdicts.iter().enumerate() {
                if *verdict == Truth::Unknown {
                    let variable = Variable::Helper(self.first[monitor] + state as u32);
                    pairs.push((variable, self.step(monitor, state, &now)?));
                }
            }
        }
        Ok((self.logic.labels.substitution(&pairs)?, never_known))
    }

    /// Computes the verdicts of the monitors on a cycle for this instant as a least fixed point, starting with all of
    /// them unknown.
    fn solve_cycle(&mut self, component: &[usize], open: &Label, now: &mut [Label]) -> Result<(), TooLarge> {
        let free = self.first.last().copied().unwrap_or_default();
        loop {
            let mut changed = false;
            for monitor in component {
                let expression = self.step_from_initial(*monitor, now)?;
                let [holds, fails] = self.certain(&expression, open)?;
                let unknown = self.logic.labels.variable(Variable::Helper(free + *monitor as u32))?;
                let rest = self.logic.labels.minus(&unknown, &fails)?;
                let known = self.logic.labels.or(&holds, &rest)?;
                changed |= known != now[*monitor];
                now[*monitor] = known;
            }
            if !changed {
                return Ok(());
            }
        }
    }

    /// Returns where a function is true, and where it is false, for all values of some variables.
    fn certain(&self, function: &Label, of: &Label) -> Result<Certain, TooLarge> {
        let labels = &self.logic.labels;
        let can_fail = labels.exists(&labels.not(function)?, of)?;
        let can_hold = labels.exists(function, of)?;
        Ok([labels.not(&can_fail)?, labels.not(&can_hold)?])
    }

    /// Returns the future verdict of a run that starts with this observation.
    fn step_from_initial(&mut self, monitor: usize, now: &[Label]) -> Result<Label, TooLarge> {
        let initial = self.network.monitors[monitor].automaton.initial as usize;
        self.step(monitor, initial, now)
    }

    /// Returns the future verdict of a run in a state after this observation.
    fn step(&mut self, monitor: usize, state: usize, now: &[Label]) -> Result<Label, TooLarge> {
        let automaton = &self.network.monitors[monitor].automaton;
        if automaton.verdicts[state] != Truth::Unknown {
            return Ok(self.future[monitor][state].clone());
        }
        let labels = &self.logic.labels;
        let mut expression = labels.bottom();
        for edge in &automaton.edges[state] {
            for cube in &edge.cubes {
                let taken = self.product(cube, now, &self.future[monitor][edge.to as usize])?;
                expression = labels.or(&expression, &taken)?;
            }
        }
        Ok(expression)
    }

    fn product(&self, cube: &Cube, now: &[Label], and: &Label) -> Result<Label, TooLarge> {
        let labels = &self.logic.labels;
        let mut all = and.clone();
        for (atom, value) in cube {
            let holds = match atom {
                Atom::Observed(proposition) => &self.observed[proposition.index()],
                Atom::Verdict(other) => &now[other.index()],
            };
            all = if *value { labels.and(&all, holds)? } else { labels.minus(&all, holds)? };
        }
        Ok(all)
    }

    fn explore(
        &mut self,
        monitor: MonitorId,
        (step, never_known): &(Substitution, Label),
    ) -> Result<Moore<Truth>, TooLarge> {
        let initial = self.network.monitor(monitor).automaton.initial as usize;
        let start = self.future[monitor.index()][initial].clone();
        let mut states: IndexSet<Certain, FxBuildHasher> = IndexSet::default();
        states.insert([start.clone(), self.logic.labels.not(&start)?]);
        let (mut outputs, mut all, mut count) = (Vec::new(), Vec::new(), 0);
        let mut known = FxHashMap::default();
        while let Some([holds, fails]) = states.get_index(all.len()).cloned() {
            let output = match (holds.is_true(), fails.is_true()) {
                (true, _) => Truth::True,
                (_, true) => Truth::False,
                _ => Truth::Unknown,
            };
            outputs.push(output);
            let mut edges: IndexMap<u32, Label, FxBuildHasher> = IndexMap::default();
            if output == Truth::Unknown {
                let holds = self.logic.labels.substitute(&holds, step)?;
                let fails = self.logic.labels.substitute(&fails, step)?;
                let after = [
                    self.certain(&holds, never_known)?[0].clone(),
                    self.certain(&fails, never_known)?[0].clone(),
                ];
                for (next, letters) in self.split(&after, &mut known, 0)? {
                    let target = states.insert_full(next).0 as u32;
                    edges.insert(target, letters);
                }
            } else {
                edges.insert(all.len() as u32, self.logic.labels.top());
            }
            count += edges.len();
            let budget = &self.logic.budget;
            if states.len() > budget.states {
                return Err(TooLarge { resource: "states of a network", limit: budget.states });
            }
            if count > budget.edges {
                return Err(TooLarge { resource: "edges of a network", limit: budget.edges });
            }
            all.push(edges.into_iter().map(|(target, label)| (label, target)).collect());
        }
        Moore { initial: 0, outputs, edges: all }.minimise(&self.logic.labels)
    }

    /// Returns the cofactors of functions for all observations, each with its set of observations.
    fn split(
        &mut self,
        functions: &Certain,
        known: &mut FxHashMap<Certain, Vec<(Certain, Label)>>,
        depth: usize,
    ) -> Result<Vec<(Certain, Label)>, TooLarge> {
        if let Some(found) = known.get(functions) {
            return Ok(found.clone());
        }
        let mut support = functions.iter().flat_map(|function| self.logic.labels.support(function));
        let Some(atom) = support.find(|variable| matches!(variable, Variable::Atom(_))) else {
            return Ok(vec![(functions.clone(), self.logic.labels.top())]);
        };
        // The recursion has one level per relevant proposition.
        if depth == MAX_PROPOSITIONS {
            return Err(TooLarge {
                resource: "propositions in one step of a network",
                limit: MAX_PROPOSITIONS,
            });
        }
        let mut found: IndexMap<Certain, Label, FxBuildHasher> = IndexMap::default();
        for value in [false, true] {
            let cube = self.logic.labels.cube(&[(atom, value)])?;
            let labels = &self.logic.labels;
            let side = [labels.restrict(&functions[0], &cube)?, labels.restrict(&functions[1], &cube)?];
            for (next, letters) in self.split(&side, known, depth + 1)? {
                let letters = self.logic.labels.and(&letters, &cube)?;
                let all = found.entry(next).or_insert_with(|| self.logic.labels.bottom());
                *all = self.logic.labels.or(all, &letters)?;
            }
            if found.len() > self.logic.budget.edges {
                return Err(TooLarge { resource: "edges of a network", limit: self.logic.budget.edges });
            }
        }
        let found: Vec<(Certain, Label)> = found.into_iter().collect();
        known.insert(functions.clone(), found.clone());
        Ok(found)
    }
}

/// Maximum number of propositions that one step may depend on; bounds the recursion of `split`.
const MAX_PROPOSITIONS: usize = 256;
