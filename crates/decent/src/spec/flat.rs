//! A network as one machine that sees everything.
//!
//! A monitor that is referred to again and again has many runs at once, but two of them that are in the same state say the
//! same from then on. So there is one unknown for each state of each monitor: what a run that is there will say. What the root
//! will say is a function of these unknowns; an observation puts for each of them what it becomes. When the function is
//! constant, the verdict is there. The machine has a state for each function that comes up.
//!
//! In a circle of references what is unknown of an instant may remain so for ever. So there are two functions: where the root
//! is sure to say true, and where it is sure to say false.

// Labels are compared and hashed by identity; what changes inside them is the count of their users.
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

/// Where something is sure to be true, and where it is sure to be false.
type Sure = [Label; 2];

/// The smallest machine that says, after every prefix of observations, what can be known of a monitor's verdict at best.
///
/// Its letters are the names of propositions, so that it can be compared with machines of formulae of the same logic.
///
/// # Errors
/// If it grows beyond the budget of the logic.
pub fn flatten(
    logic: &mut Logic,
    system: &System,
    network: &Network,
    monitor: MonitorId,
) -> Result<Moore<Truth>, TooLarge> {
    let mut flat = Flat::new(logic, system, network)?;
    let steps = flat.steps()?;
    flat.explore(monitor, &steps)
}

struct Flat<'a> {
    logic: &'a mut Logic,
    network: &'a Network,
    /// Each proposition.
    observed: Vec<Label>,
    /// For each monitor and state: what a run that is there will say.
    says: Vec<Vec<Label>>,
    /// For each monitor the variable of its first state; the last is free.
    first: Vec<u32>,
}

impl<'a> Flat<'a> {
    fn new(logic: &'a mut Logic, system: &System, network: &'a Network) -> Result<Flat<'a>, TooLarge> {
        let mut observed = Vec::with_capacity(system.propositions().len());
        for proposition in system.propositions() {
            let atom = logic.formulae.atom_for(Proposition::Name(system.name(proposition).to_owned()));
            observed.push(logic.labels.atom(atom)?);
        }
        let (mut says, mut first) = (Vec::new(), vec![0]);
        for part in &network.parts {
            let begin = first.last().copied().unwrap_or_default();
            let mut states = Vec::new();
            for (at, verdict) in part.automaton.verdicts.iter().enumerate() {
                states.push(match verdict {
                    Truth::True => logic.labels.top(),
                    Truth::False => logic.labels.bottom(),
                    Truth::Unknown => logic.labels.variable(Variable::Helper(begin + at as u32))?,
                });
            }
            first.push(begin + states.len() as u32);
            says.push(states);
        }
        Ok(Flat { logic, network, observed, says, first })
    }

    /// What each unknown becomes with an observation, and the unknowns that remain so for ever.
    fn steps(&mut self) -> Result<(Substitution, Label), TooLarge> {
        let edges = self.network.graph();
        let mut now: Vec<Label> = vec![self.logic.labels.bottom(); edges.len()];
        let mut never = self.logic.labels.top();
        let free = self.first.last().copied().unwrap_or_default();
        for component in graph::components(&edges) {
            if !graph::is_cycle(&edges, &component) {
                now[component[0]] = self.begin(component[0], &now)?;
                continue;
            }
            let mut open = self.logic.labels.top();
            for monitor in &component {
                let unknown = self.logic.labels.variable(Variable::Helper(free + *monitor as u32))?;
                open = self.logic.labels.and(&open, &unknown)?;
                now[*monitor] = unknown;
            }
            self.settle(&component, &open, &mut now)?;
            never = self.logic.labels.and(&never, &open)?;
        }
        let mut pairs = Vec::new();
        for (monitor, part) in self.network.parts.iter().enumerate() {
            for (state, verdict) in part.automaton.verdicts.iter().enumerate() {
                if *verdict == Truth::Unknown {
                    let variable = Variable::Helper(self.first[monitor] + state as u32);
                    pairs.push((variable, self.step(monitor, state, &now)?));
                }
            }
        }
        Ok((self.logic.labels.substitution(&pairs)?, never))
    }

    /// What monitors in a circle say of this instant: nothing is known at first, then what follows, until nothing more does.
    fn settle(&mut self, component: &[usize], open: &Label, now: &mut [Label]) -> Result<(), TooLarge> {
        let free = self.first.last().copied().unwrap_or_default();
        loop {
            let mut changed = false;
            for monitor in component {
                let said = self.begin(*monitor, now)?;
                let [holds, fails] = self.sure(&said, open)?;
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

    /// Where a function is true whatever some variables are, and where it is false.
    fn sure(&self, function: &Label, of: &Label) -> Result<Sure, TooLarge> {
        let labels = &self.logic.labels;
        let can_fail = labels.exists(&labels.not(function)?, of)?;
        let can_hold = labels.exists(function, of)?;
        Ok([labels.not(&can_fail)?, labels.not(&can_hold)?])
    }

    /// What a run that begins with this observation will say.
    fn begin(&mut self, monitor: usize, now: &[Label]) -> Result<Label, TooLarge> {
        let initial = self.network.parts[monitor].automaton.initial as usize;
        self.step(monitor, initial, now)
    }

    /// What a run that is in a state will say, after this observation.
    fn step(&mut self, monitor: usize, state: usize, now: &[Label]) -> Result<Label, TooLarge> {
        let automaton = &self.network.parts[monitor].automaton;
        if automaton.verdicts[state] != Truth::Unknown {
            return Ok(self.says[monitor][state].clone());
        }
        let labels = &self.logic.labels;
        let mut said = labels.bottom();
        for edge in &automaton.edges[state] {
            for cube in &edge.cubes {
                let taken = self.product(cube, now, &self.says[monitor][edge.to as usize])?;
                said = labels.or(&said, &taken)?;
            }
        }
        Ok(said)
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
        (step, never): &(Substitution, Label),
    ) -> Result<Moore<Truth>, TooLarge> {
        let initial = self.network.part(monitor).automaton.initial as usize;
        let start = self.says[monitor.index()][initial].clone();
        let mut states: IndexSet<Sure, FxBuildHasher> = IndexSet::default();
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
                let after = [self.sure(&holds, never)?[0].clone(), self.sure(&fails, never)?[0].clone()];
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
                return Err(TooLarge { what: "states of a network", limit: budget.states });
            }
            if count > budget.edges {
                return Err(TooLarge { what: "edges of a network", limit: budget.edges });
            }
            all.push(edges.into_iter().map(|(target, label)| (label, target)).collect());
        }
        Moore { initial: 0, outputs, edges: all }.minimise(&self.logic.labels)
    }

    /// What is left of functions for each observation, with the observations for which it is that.
    fn split(
        &mut self,
        functions: &Sure,
        known: &mut FxHashMap<Sure, Vec<(Sure, Label)>>,
        depth: usize,
    ) -> Result<Vec<(Sure, Label)>, TooLarge> {
        if let Some(found) = known.get(functions) {
            return Ok(found.clone());
        }
        let mut support = functions.iter().flat_map(|function| self.logic.labels.support(function));
        let Some(atom) = support.find(|variable| matches!(variable, Variable::Atom(_))) else {
            return Ok(vec![(functions.clone(), self.logic.labels.top())]);
        };
        // One level for each proposition that matters.
        if depth == DEEPEST {
            return Err(TooLarge { what: "propositions in one step of a network", limit: DEEPEST });
        }
        let mut found: IndexMap<Sure, Label, FxBuildHasher> = IndexMap::default();
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
                return Err(TooLarge { what: "edges of a network", limit: self.logic.budget.edges });
            }
        }
        let found: Vec<(Sure, Label)> = found.into_iter().collect();
        known.insert(functions.clone(), found.clone());
        Ok(found)
    }
}

/// The most propositions that one step may depend on.
const DEEPEST: usize = 256;
