//! Construction of a short accepted execution from an accepting component.

use super::acceptance::Acceptance;
use super::components::{Component, Edge};
use super::graph::Graph;
use crate::limits::ProgressListener;
use crate::path::Path;
use crate::state_space::{IDLE, StateSpace};
use std::collections::{HashMap, HashSet, VecDeque};

/// A set of configurations and steps in which an accepted execution can stay.
pub(super) struct AcceptingComponent {
    component: Component,
    /// Steps with one of these marks are excluded.
    avoid: u64,
}

impl AcceptingComponent {
    /// Wraps an accepted component. If it was found early, there may be further steps between its configurations; those
    /// that would trigger a fairness pair are excluded.
    pub(super) fn new(component: Component, accepted: &Acceptance) -> AcceptingComponent {
        AcceptingComponent { avoid: accepted.absent_triggers(component.marks), component }
    }
}

/// A step with its action.
#[derive(Clone, Copy)]
struct Step {
    source: u32,
    action: u32,
    edge: Edge,
}

impl Step {
    fn is_same_step(&self, other: &Step) -> bool {
        let parts = |step: &Step| (step.source, step.action, step.edge.target);
        parts(self) == parts(other)
    }
}

impl<S: StateSpace, P: ProgressListener> Graph<'_, S, P> {
    /// A shortest path from one of `starts`, through steps that satisfy `is_allowed`, to a step that satisfies
    /// `is_goal`, which is included.
    fn shortest_path(
        &mut self,
        starts: &[u32],
        is_allowed: impl Fn(&Edge) -> bool,
        is_goal: impl Fn(&Step) -> bool,
    ) -> Option<Vec<Step>> {
        let mut from: HashMap<u32, Option<Step>> = starts.iter().map(|start| (*start, None)).collect();
        let mut open: VecDeque<u32> = starts.iter().copied().collect();
        while let Some(source) = open.pop_front() {
            let mut found = None;
            self.revisit(source, |transition, edge| {
                let step = Step { source, action: transition.action, edge };
                if found.is_some() || !is_allowed(&edge) {
                    return;
                }
                if is_goal(&step) {
                    found = Some(step);
                } else {
                    from.entry(edge.target).or_insert_with(|| {
                        open.push_back(edge.target);
                        Some(step)
                    });
                }
            });
            if let Some(last) = found {
                let mut shortest_path = vec![last];
                let mut at = source;
                while let Some(Some(step)) = from.get(&at) {
                    shortest_path.push(*step);
                    at = step.source;
                }
                shortest_path.reverse();
                return Some(shortest_path);
            }
        }
        None
    }

    /// An execution that reaches the component on a shortest path of known configurations, and cycles in it.
    pub(super) fn lasso(&mut self, accepted: &Acceptance, component: &AcceptingComponent) -> Option<Path> {
        let inside: HashSet<u32> = component.component.states.iter().copied().collect();
        let is_inside = |edge: &Edge| edge.marks & component.avoid == 0 && inside.contains(&edge.target);
        let starts = self.starts.clone();
        let mut prefix = Vec::new();
        let entry = match starts.iter().find(|start| inside.contains(start)) {
            Some(start) => *start,
            None => {
                prefix = self.shortest_path(&starts, |_| true, |step| inside.contains(&step.edge.target))?;
                prefix.last()?.edge.target
            }
        };
        let needed = accepted.needed(component.component.marks);
        let mut cycle = Vec::new();
        let mut missing = needed;
        let mut at = entry;
        while missing != 0 {
            let mut shortest_path =
                self.shortest_path(&[at], is_inside, |step| step.edge.marks & missing != 0)?;
            if cycle.is_empty() {
                // The path to the first marked step belongs to the prefix: it need not be repeated.
                let first = shortest_path.pop()?;
                prefix.append(&mut shortest_path);
                shortest_path.push(first);
            }
            at = shortest_path.last()?.edge.target;
            missing = shortest_path.iter().fold(missing, |missing, step| missing & !step.edge.marks);
            cycle.append(&mut shortest_path);
        }
        let anchor = cycle.first().map_or(entry, |step: &Step| step.source);
        if cycle.is_empty() || at != anchor {
            cycle.extend(self.shortest_path(&[at], is_inside, |step| step.edge.target == anchor)?);
        }
        // The end of the prefix that coincides with the cycle is dropped.
        let backwards = prefix.iter().rev().zip(cycle.iter().rev().cycle());
        let overlap = backwards.take_while(|(before, inside)| before.is_same_step(inside)).count();
        prefix.truncate(prefix.len() - overlap);
        let rotation = overlap.checked_rem(cycle.len()).unwrap_or(0);
        cycle.rotate_right(rotation);
        Some(self.path(&prefix, &cycle))
    }

    fn path(&self, prefix: &[Step], cycle: &[Step]) -> Path {
        let first = prefix.iter().chain(cycle).next().map_or(0, |step| step.source);
        let mut path = Path::at(self.state(first));
        let (last, before) = match cycle.split_last() {
            Some((last, before)) => (Some(last), before),
            None => (None, cycle),
        };
        for step in prefix.iter().chain(before) {
            path.states.push(self.state(step.edge.target).into());
            path.actions.push(step.action);
        }
        path.loop_back = last.map(|step| (prefix.len(), (step.action != IDLE).then_some(step.action)));
        path
    }
}
