//! Two machines side by side.

use super::{Moore, Verdict};
use crate::automaton::State;
use crate::label::{Label, Labels};
use crate::{Budget, TooLarge};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

/// A pair of states, or what it says if that is final: then it no longer matters where it came from.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Pair<Output> {
    Running(State, State),
    Decided(Output),
}

impl<Output: Verdict> Moore<Output> {
    /// The smallest machine that says what the two together say.
    ///
    /// # Errors
    /// If it grows beyond the budget.
    pub fn product<Other: Verdict, Both: Verdict>(
        &self,
        other: &Moore<Other>,
        labels: &Labels,
        budget: &Budget,
        say: impl Fn(Output, Other) -> Both,
    ) -> Result<Moore<Both>, TooLarge> {
        let said = |one: State, two: State| say(self.outputs[one as usize], other.outputs[two as usize]);
        let pair = |one: State, two: State| match said(one, two) {
            output if output.is_final() => Pair::Decided(output),
            _ => Pair::Running(one, two),
        };
        let mut pairs: IndexSet<Pair<Both>, FxBuildHasher> = IndexSet::default();
        pairs.insert(pair(self.initial, other.initial));
        let (mut outputs, mut all, mut count) = (Vec::new(), Vec::new(), 0);
        while let Some(next) = pairs.get_index(all.len()).copied() {
            let mut edges: IndexMap<State, Label, FxBuildHasher> = IndexMap::default();
            match next {
                Pair::Decided(output) => {
                    outputs.push(output);
                    edges.insert(all.len() as State, labels.top());
                }
                Pair::Running(one, two) => {
                    outputs.push(said(one, two));
                    for (first, to) in &self.edges[one as usize] {
                        for (second, too) in &other.edges[two as usize] {
                            let both = labels.and(first, second)?;
                            if !both.is_false() {
                                let target = pairs.insert_full(pair(*to, *too)).0 as State;
                                let label = edges.entry(target).or_insert_with(|| labels.bottom());
                                *label = labels.or(label, &both)?;
                            }
                        }
                    }
                }
            }
            count += edges.len();
            Budget::allows("states of a monitor", pairs.len(), budget.states)?;
            Budget::allows("edges of a monitor", count, budget.edges)?;
            all.push(edges.into_iter().map(|(target, label)| (label, target)).collect());
        }
        Moore { initial: 0, outputs, edges: all }.minimise(labels)
    }
}
