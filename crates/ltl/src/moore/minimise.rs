//! The smallest machine that says the same: partition refinement with symbolic labels, and a numbering of the
//! states that depends on nothing but what the machine says.

use super::{Moore, Verdict};
use crate::TooLarge;
use crate::automaton::State;
use crate::label::{Label, Labels};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// For each block of states that can be reached with one letter: the letters. Sorted by block.
type Signature = Vec<(u32, Label)>;

impl<Output: Verdict> Moore<Output> {
    /// The smallest machine that says the same after every word. Machines that say the same become equal.
    ///
    /// # Errors
    /// If there is no room for labels.
    pub fn minimise(&self, labels: &Labels) -> Result<Moore<Output>, TooLarge> {
        let blocks = self.blocks(labels)?;
        self.quotient(labels, &blocks)
    }

    /// States in the same block say the same for ever.
    fn blocks(&self, labels: &Labels) -> Result<Vec<u32>, TooLarge> {
        let mut kinds: IndexMap<Output, (), FxBuildHasher> = IndexMap::default();
        let mut block: Vec<u32> =
            self.outputs.iter().map(|output| kinds.insert_full(*output, ()).0 as u32).collect();
        let mut members: Vec<Vec<State>> = vec![Vec::new(); kinds.len()];
        for (state, block) in block.iter().enumerate() {
            members[*block as usize].push(state as State);
        }
        let mut before: Vec<Vec<State>> = vec![Vec::new(); self.states()];
        for (state, edges) in self.edges.iter().enumerate() {
            for (_, target) in edges {
                before[*target as usize].push(state as State);
            }
        }
        // States whose successors have changed their block, by block. All others in a block agree in where
        // they lead, so one of them stands for all.
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
            // The largest keeps the number: the less changes, the less is looked at again.
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
                for source in &before[state as usize] {
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

    /// One state for each block that can be reached, numbered in the order in which the smallest letters reach
    /// them.
    fn quotient(&self, labels: &Labels, block: &[u32]) -> Result<Moore<Output>, TooLarge> {
        let mut numbers: IndexMap<u32, State, FxBuildHasher> = IndexMap::default();
        numbers.insert(block[self.initial as usize], self.initial);
        let mut found = Vec::new();
        while let Some((_, state)) = numbers.get_index(found.len()) {
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
            found.push(edges);
        }
        let number = |block: &u32| numbers.get_index_of(block).unwrap_or_default() as State;
        let edges = found.iter().map(|edges| {
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

    /// A successor of a state that is in a block.
    fn member(&self, state: State, wanted: u32, block: &[u32]) -> State {
        let mut targets = self.edges[state as usize].iter().map(|(_, target)| *target);
        targets.find(|target| block[*target as usize] == wanted).unwrap_or(state)
    }
}
