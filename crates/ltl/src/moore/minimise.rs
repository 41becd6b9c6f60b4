//! Minimisation: partition refinement with symbolic labels, and a canonical numbering of the states.

use super::{Moore, Verdict};
use crate::TooLarge;
use crate::automaton::State;
use crate::label::{Label, Labels};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Letters that lead to each block of states, sorted by block.
type Signature = Vec<(u32, Label)>;

impl<Output: Verdict> Moore<Output> {
    /// Computes the minimal equivalent machine. Equivalent machines become equal.
    ///
    /// # Errors
    /// Fails if the labels outgrow the budget.
    pub fn minimise(&self, labels: &Labels) -> Result<Moore<Output>, TooLarge> {
        let blocks = self.blocks(labels)?;
        self.quotient(labels, &blocks)
    }

    /// Returns the block of each state. States in the same block are equivalent.
    fn blocks(&self, labels: &Labels) -> Result<Vec<u32>, TooLarge> {
        let mut outputs: IndexMap<Output, (), FxBuildHasher> = IndexMap::default();
        let mut block: Vec<u32> =
            self.outputs.iter().map(|output| outputs.insert_full(*output, ()).0 as u32).collect();
        let mut members: Vec<Vec<State>> = vec![Vec::new(); outputs.len()];
        for (state, block) in block.iter().enumerate() {
            members[*block as usize].push(state as State);
        }
        let mut predecessors: Vec<Vec<State>> = vec![Vec::new(); self.states()];
        for (state, edges) in self.edges.iter().enumerate() {
            for (_, target) in edges {
                predecessors[*target as usize].push(state as State);
            }
        }
        // States with a successor that has changed its block. The other states of a block have the same signature, so one of
        // them represents all.
        let mut dirty: Vec<bool> = vec![true; self.states()];
        let mut open: Vec<u32> = (0..members.len() as u32).collect();
        while let Some(at) = open.pop() {
            let states = std::mem::take(&mut members[at as usize]);
            let mut groups: IndexMap<Signature, Vec<State>, FxBuildHasher> = IndexMap::default();
            let mut rest = Vec::new();
            for state in &states {
                if std::mem::take(&mut dirty[*state as usize]) {
                    groups.entry(self.signature(labels, *state, &block)?).or_default().push(*state);
                } else {
                    rest.push(*state);
                }
            }
            if let Some(one) = rest.first() {
                groups.entry(self.signature(labels, *one, &block)?).or_default().append(&mut rest);
            }
            let mut groups: Vec<Vec<State>> = groups.into_values().collect();
            // The largest group keeps the number of the block, so that the fewest states change.
            let largest = (0..groups.len()).rev().max_by_key(|at| groups[*at].len());
            if let Some(largest) = largest {
                members[at as usize] = groups.swap_remove(largest);
            }
            let mut changed = Vec::new();
            for group in groups {
                for state in &group {
                    block[*state as usize] = members.len() as u32;
                }
                changed.extend_from_slice(&group);
                members.push(group);
            }
            for state in changed {
                for source in &predecessors[state as usize] {
                    if !std::mem::replace(&mut dirty[*source as usize], true) {
                        open.push(block[*source as usize]);
                    }
                }
            }
        }
        Ok(block)
    }

    fn signature(&self, labels: &Labels, state: State, block: &[u32]) -> Result<Signature, TooLarge> {
        let mut all: FxHashMap<u32, Label> = FxHashMap::default();
        for (label, target) in &self.edges[state as usize] {
            let into = all.entry(block[*target as usize]).or_insert_with(|| labels.bottom());
            *into = labels.or(into, label)?;
        }
        let mut all: Signature = all.into_iter().collect();
        all.sort_unstable_by_key(|(block, _)| *block);
        Ok(all)
    }

    /// Returns the machine of the reachable blocks, numbered in breadth-first order by their least letters.
    fn quotient(&self, labels: &Labels, block: &[u32]) -> Result<Moore<Output>, TooLarge> {
        let mut numbers: IndexMap<u32, State, FxBuildHasher> = IndexMap::default();
        numbers.insert(block[self.initial as usize], self.initial);
        let mut successors = Vec::new();
        while let Some((_, state)) = numbers.get_index(successors.len()) {
            let state = *state;
            let mut edges = Vec::new();
            for (block, label) in self.signature(labels, state, block)? {
                edges.push((labels.least_letter(&label), block, label));
            }
            edges.sort_unstable_by(|one, other| one.0.cmp(&other.0));
            for (_, target, _) in &edges {
                if !numbers.contains_key(target) {
                    let member = self.member(state, *target, block);
                    numbers.insert(*target, member);
                }
            }
            successors.push(edges);
        }
        let number = |block: &u32| numbers.get_index_of(block).unwrap_or_default() as State;
        let edges = successors.iter().map(|edges| {
            let mut edges: Vec<(Label, State)> =
                edges.iter().map(|(_, target, label)| (label.clone(), number(target))).collect();
            edges.sort_unstable_by_key(|(_, target)| *target);
            edges
        });
        Ok(Moore {
            initial: 0,
            edges: edges.collect(),
            outputs: numbers.values().map(|state| self.outputs[*state as usize]).collect(),
        })
    }

    /// Returns a successor of a state in a block.
    fn member(&self, state: State, target_block: u32, block: &[u32]) -> State {
        let mut targets = self.edges[state as usize].iter().map(|(_, target)| *target);
        targets.find(|target| block[*target as usize] == target_block).unwrap_or(state)
    }
}
