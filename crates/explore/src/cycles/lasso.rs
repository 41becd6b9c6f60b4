//! A short accepted execution, once it is known where one is.

use super::acceptance::Acceptance;
use super::components::{Component, Edge};
use super::graph::Graph;
use crate::limits::Pulse;
use crate::path::Path;
use crate::space::{IDLE, Space};
use std::collections::{HashMap, HashSet, VecDeque};

/// Where an accepted execution can stay.
pub(super) struct Ring {
    component: Component,
    /// Its steps may not have one of these marks.
    avoid: u64,
}

impl Ring {
    /// An accepted component. Where it is known early, there may be other steps between its configurations than those
    /// whose marks it has: those that would ask for more are left aside.
    pub(super) fn new(component: Component, accepted: &Acceptance) -> Ring {
        Ring { avoid: accepted.absent(component.marks), component }
    }
}

/// A step with the action that makes it.
#[derive(Clone, Copy)]
struct Step {
    source: u32,
    action: u32,
    edge: Edge,
}

impl Step {
    fn is_like(&self, other: &Step) -> bool {
        let parts = |step: &Step| (step.source, step.action, step.edge.target);
        parts(self) == parts(other)
    }
}

impl<S: Space, P: Pulse> Graph<'_, S, P> {
    /// A shortest way from one of `starts` to a step of which `is_goal` is true, that one included, through steps of
    /// which `is_way` is true.
    fn way(
        &mut self,
        starts: &[u32],
        is_way: impl Fn(&Edge) -> bool,
        is_goal: impl Fn(&Step) -> bool,
    ) -> Option<Vec<Step>> {
        let mut from: HashMap<u32, Option<Step>> = starts.iter().map(|start| (*start, None)).collect();
        let mut open: VecDeque<u32> = starts.iter().copied().collect();
        while let Some(source) = open.pop_front() {
            let mut found = None;
            self.again(source, |taken, edge| {
                let step = Step { source, action: taken.action, edge };
                if found.is_some() || !is_way(&edge) {
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
                let mut way = vec![last];
                let mut at = source;
                while let Some(Some(step)) = from.get(&at) {
                    way.push(*step);
                    at = step.source;
                }
                way.reverse();
                return Some(way);
            }
        }
        None
    }

    /// An execution that gets to the ring on the shortest way through what has been met, and goes round in it.
    pub(super) fn lasso(&mut self, accepted: &Acceptance, ring: &Ring) -> Option<Path> {
        let inside: HashSet<u32> = ring.component.states.iter().copied().collect();
        let is_inside = |edge: &Edge| edge.marks & ring.avoid == 0 && inside.contains(&edge.target);
        let starts = self.starts.clone();
        let mut prefix = Vec::new();
        let entry = match starts.iter().find(|start| inside.contains(start)) {
            Some(start) => *start,
            None => {
                prefix = self.way(&starts, |_| true, |step| inside.contains(&step.edge.target))?;
                prefix.last()?.edge.target
            }
        };
        let needed = accepted.needed(ring.component.marks);
        let mut round = Vec::new();
        let mut missing = needed;
        let mut at = entry;
        while missing != 0 {
            let mut way = self.way(&[at], is_inside, |step| step.edge.marks & missing != 0)?;
            if round.is_empty() {
                // The way to the first step that counts need not be repeated.
                let first = way.pop()?;
                prefix.append(&mut way);
                way.push(first);
            }
            at = way.last()?.edge.target;
            missing = way.iter().fold(missing, |missing, step| missing & !step.edge.marks);
            round.append(&mut way);
        }
        let anchor = round.first().map_or(entry, |step: &Step| step.source);
        if round.is_empty() || at != anchor {
            round.extend(self.way(&[at], is_inside, |step| step.edge.target == anchor)?);
        }
        // A way into the ring that is a part of it need not be gone twice.
        let backwards = prefix.iter().rev().zip(round.iter().rev().cycle());
        let twice = backwards.take_while(|(before, inside)| before.is_like(inside)).count();
        prefix.truncate(prefix.len() - twice);
        let turn = twice.checked_rem(round.len()).unwrap_or(0);
        round.rotate_right(turn);
        Some(self.path(&prefix, &round))
    }

    fn path(&self, prefix: &[Step], round: &[Step]) -> Path {
        let first = prefix.iter().chain(round).next().map_or(0, |step| step.source);
        let mut path = Path::at(self.state(first));
        let (last, before) = match round.split_last() {
            Some((last, before)) => (Some(last), before),
            None => (None, round),
        };
        for step in prefix.iter().chain(before) {
            path.states.push(self.state(step.edge.target).into());
            path.actions.push(step.action);
        }
        path.back = last.map(|step| (prefix.len(), (step.action != IDLE).then_some(step.action)));
        path
    }
}
