//! Synchronous product of machines.

use super::{Moore, Verdict};
use crate::automaton::State;
use crate::label::{Label, Labels};
use crate::{Budget, TooLarge};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

/// State of a product. Pairs with the same final verdict are one state.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Pair<Output> {
    Running(State, State),
    Decided(Output),
}

impl<Output: Verdict> Moore<Output> {
    /// Computes the minimal machine whose output combines those of the two machines.
    ///
    /// # Errors
    /// Fails if the product outgrows the budget.
    pub fn product<Other: Verdict, Both: Verdict>(
        &self,
        other: &Moore<Other>,
        labels: &Labels,
        budget: &Budget,
        combine: impl Fn(Output, Other) -> Both,
    ) -> Result<Moore<Both>, TooLarge> {
        let output =
            |one: State, two: State| combine(self.outputs[one as usize], other.outputs[two as usize]);
        let pair = |one: State, two: State| match output(one, two) {
            verdict if verdict.is_final() => Pair::Decided(verdict),
            _ => Pair::Running(one, two),
        };
        let mut pairs: IndexSet<Pair<Both>, FxBuildHasher> = IndexSet::default();
        pairs.insert(pair(self.initial, other.initial));
        let (mut outputs, mut all, mut count) = (Vec::new(), Vec::new(), 0);
        while let Some(next) = pairs.get_index(all.len()).copied() {
            let mut edges: IndexMap<State, Label, FxBuildHasher> = IndexMap::default();
            match next {
                Pair::Decided(verdict) => {
                    outputs.push(verdict);
                    edges.insert(all.len() as State, labels.top());
                }
                Pair::Running(one, two) => {
                    outputs.push(output(one, two));
                    for (first, first_target) in &self.edges[one as usize] {
                        for (second, second_target) in &other.edges[two as usize] {
                            let both = labels.and(first, second)?;
                            if !both.is_false() {
                                let target =
                                    pairs.insert_full(pair(*first_target, *second_target)).0 as State;
                                let label = edges.entry(target).or_insert_with(|| labels.bottom());
                                *label = labels.or(label, &both)?;
                            }
                        }
                    }
                }
            }
            count += edges.len();
            Budget::check("states of a monitor", pairs.len(), budget.states)?;
            Budget::check("edges of a monitor", count, budget.edges)?;
            all.push(edges.into_iter().map(|(target, label)| (label, target)).collect());
        }
        Moore { initial: 0, outputs, edges: all }.minimise(labels)
    }
}
