//! The second reading: how the slices that were violated came to be so.
//!
//! Keeping the path of every slice would cost memory for millions of slices that nobody asks about. So a
//! trace that can be read again is read again, up to the last violation that is told, and only the slices in
//! question are written down.

use crate::finding::{self, Binding, Finding, PathStep};
use crate::history::TOLD;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::Catalog;
use invigil_monitor::observer::{Observer, Taken};
use invigil_monitor::slices::{SliceId, Slices};
use invigil_monitor::{Monitor, Scratch};
use invigil_trace::Block;
use std::collections::VecDeque;

/// A slice in question: the steps since it last began, as many as are told.
struct Target {
    slice: Vec<Binding>,
    path: VecDeque<PathStep>,
    untold: u64,
}

impl Target {
    fn push(&mut self, step: PathStep) {
        if self.path.len() == TOLD {
            self.path.pop_front();
            self.untold += 1;
        }
        self.path.push_back(step);
    }
}

/// Notes the steps of the slices in question during one event.
struct Trail<'a> {
    automaton: &'a Automaton,
    targets: &'a mut [Target],
    /// For each slice, its target plus one.
    watched: &'a mut Vec<u32>,
    fresh: Vec<(usize, PathStep)>,
}

impl Trail<'_> {
    fn step(&self, slices: &Slices, slice: SliceId, taken: Option<Taken>) -> PathStep {
        let state = &self.automaton.states[usize::from(slices.state(slice))];
        PathStep {
            event: None,
            branch: taken.map(|taken| taken.branch),
            state: state.name.clone(),
            verdict: state.verdict,
            env: finding::env(self.automaton, slices, slice),
        }
    }
}

impl Observer for Trail<'_> {
    fn created(&mut self, slices: &Slices, slice: SliceId) {
        let binding = finding::binding(self.automaton, slices, slice);
        let target = self.targets.iter().position(|target| target.slice == binding);
        let number = slice.0 as usize;
        self.watched.resize(self.watched.len().max(number + 1), 0);
        self.watched[number] = target.map_or(0, |target| target as u32 + 1);
        if let Some(target) = target {
            // The slice begins as a copy of its parent, and may have been changed since by a guard.
            let step = self.step(slices, slices.parent(slice).unwrap_or(slice), None);
            let target = &mut self.targets[target];
            target.path.clear();
            target.untold = 0;
            target.push(step);
        }
    }

    #[inline]
    fn taken(&mut self, slices: &Slices, taken: Taken) {
        let watched = self.watched.get(taken.slice.0 as usize).copied().unwrap_or(0);
        if watched > 0 {
            let step = self.step(slices, taken.slice, Some(taken));
            self.fresh.push((watched as usize - 1, step));
        }
    }
}

/// One property during the second reading.
pub(crate) struct Replay<'a> {
    property: usize,
    automaton: &'a Automaton,
    catalog: &'a Catalog,
    slices: Slices,
    scratch: Scratch,
    targets: Vec<Target>,
    watched: Vec<u32>,
    last: u64,
}

impl<'a> Replay<'a> {
    /// Prepares to follow the slices of `property` that `findings` tell of; `None` if there are none.
    pub(crate) fn new(
        property: usize,
        automaton: &'a Automaton,
        catalog: &'a Catalog,
        findings: &[Finding],
    ) -> Option<Replay<'a>> {
        let mut targets: Vec<Target> = Vec::new();
        let mut last = 0;
        for finding in findings.iter().filter(|finding| finding.property == property) {
            last = match &finding.event {
                Some(event) => last.max(event.index),
                None if finding.at_end => u64::MAX,
                None => continue,
            };
            if !targets.iter().any(|target| target.slice == finding.slice) {
                targets.push(Target { slice: finding.slice.clone(), path: VecDeque::new(), untold: 0 });
            }
        }
        if targets.is_empty() {
            return None;
        }
        let (mut scratch, mut watched) = (Scratch::default(), Vec::new());
        let mut trail = Trail { automaton, targets: &mut targets, watched: &mut watched, fresh: Vec::new() };
        let slices = automaton.start(&mut scratch, &mut trail);
        Some(Replay { property, automaton, catalog, slices, scratch, targets, watched, last })
    }

    /// The number of the last event that matters.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// Fills in the paths of the findings that are about the end.
    pub(crate) fn end(&self, findings: &mut [Finding]) {
        let at_end = findings.iter_mut().filter(|found| found.property == self.property && found.at_end);
        for finding in at_end {
            let target = self.targets.iter().find(|target| target.slice == finding.slice);
            if let Some(target) = target {
                finding.path = target.path.iter().cloned().collect();
                finding.untold = Some(target.untold);
            }
        }
    }

    /// Follows a block, and fills in the paths of the findings that lie in it.
    pub(crate) fn follow(&mut self, block: &Block, before: u64, findings: &mut [Finding]) {
        for at in 0..block.batch.len() {
            let index = before + block.number(at);
            if index > self.last {
                return;
            }
            let event = block.batch.event(at);
            if !self.automaton.wants(&self.slices, event.symbol) {
                continue;
            }
            let mut trail = Trail {
                automaton: self.automaton,
                targets: &mut self.targets,
                watched: &mut self.watched,
                fresh: Vec::new(),
            };
            self.automaton.step(&mut self.slices, &mut self.scratch, &event, &mut trail);
            let fresh = trail.fresh;
            for (target, mut step) in fresh {
                let (time, place) = (block.batch.stamp(at).time, block.place(at));
                let happening = finding::happening(self.catalog, &event, index, time, place);
                step.event = Some(happening);
                let target = &mut self.targets[target];
                let state = step.state.clone();
                target.push(step);
                for finding in findings.iter_mut() {
                    let is_this = finding.property == self.property
                        && finding.slice == target.slice
                        && finding.event.as_ref().is_some_and(|event| event.index == index)
                        // A record may be several events, and so several steps.
                        && finding.untold.is_none()
                        && finding.to == state;
                    if is_this {
                        finding.path = target.path.iter().cloned().collect();
                        finding.untold = Some(target.untold);
                    }
                }
            }
        }
    }
}
