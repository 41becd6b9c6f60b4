//! The second reading of a trace, which collects the paths of the violated slices.
//!
//! Recording the path of every slice would need memory for millions of slices. So a trace that can be read again is
//! read a second time, up to the last reported violation, and only the paths of violated slices are recorded.

use crate::history::MAX_PATH;
use crate::violation::{self, Binding, PathStep, Violation};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::EventCatalog;
use invigil_monitor::observer::{Observer, TransitionTaken};
use invigil_monitor::slices::{SliceId, SliceTable};
use invigil_monitor::{Monitor, Scratch};
use invigil_trace::EventBlock;
use std::collections::VecDeque;

/// A violated slice, with its last steps since its creation.
struct ViolatedSlice {
    slice: Vec<Binding>,
    path: VecDeque<PathStep>,
    omitted: u64,
}

impl ViolatedSlice {
    fn push(&mut self, step: PathStep) {
        if self.path.len() == MAX_PATH {
            self.path.pop_front();
            self.omitted += 1;
        }
        self.path.push_back(step);
    }
}

/// Observer that records the steps of violated slices at one event.
struct PathObserver<'a> {
    automaton: &'a Automaton,
    targets: &'a mut [ViolatedSlice],
    /// For each slice id: index of its target plus one, or 0.
    target_of: &'a mut Vec<u32>,
    fresh: Vec<(usize, PathStep)>,
}

impl PathObserver<'_> {
    fn step(&self, slices: &SliceTable, slice: SliceId, taken: Option<TransitionTaken>) -> PathStep {
        let state = &self.automaton.states[usize::from(slices.state(slice))];
        PathStep {
            event: None,
            branch: taken.map(|taken| taken.branch),
            state: state.name.clone(),
            verdict: state.verdict,
            env: violation::env(self.automaton, slices, slice),
        }
    }
}

impl Observer for PathObserver<'_> {
    fn slice_created(&mut self, slices: &SliceTable, slice: SliceId) {
        let binding = violation::binding(self.automaton, slices, slice);
        let target = self.targets.iter().position(|target| target.slice == binding);
        let number = slice.0 as usize;
        self.target_of.resize(self.target_of.len().max(number + 1), 0);
        self.target_of[number] = target.map_or(0, |target| target as u32 + 1);
        if let Some(target) = target {
            // The slice was copied from its parent; a guard may have changed it since.
            let step = self.step(slices, slices.parent(slice).unwrap_or(slice), None);
            let target = &mut self.targets[target];
            target.path.clear();
            target.omitted = 0;
            target.push(step);
        }
    }

    #[inline]
    fn transition_taken(&mut self, slices: &SliceTable, taken: TransitionTaken) {
        let target_of = self.target_of.get(taken.slice.0 as usize).copied().unwrap_or(0);
        if target_of > 0 {
            let step = self.step(slices, taken.slice, Some(taken));
            self.fresh.push((target_of as usize - 1, step));
        }
    }
}

/// The second reading for one property.
pub(crate) struct Replay<'a> {
    property: usize,
    automaton: &'a Automaton,
    catalog: &'a EventCatalog,
    slices: SliceTable,
    scratch: Scratch,
    targets: Vec<ViolatedSlice>,
    target_of: Vec<u32>,
    last: u64,
}

impl<'a> Replay<'a> {
    /// Prepares the replay for the violations of `property`; `None` if there are none to explain.
    pub(crate) fn new(
        property: usize,
        automaton: &'a Automaton,
        catalog: &'a EventCatalog,
        findings: &[Violation],
    ) -> Option<Replay<'a>> {
        let mut targets: Vec<ViolatedSlice> = Vec::new();
        let mut last = 0;
        for finding in findings.iter().filter(|finding| finding.property == property) {
            last = match &finding.event {
                Some(event) => last.max(event.index),
                None if finding.at_end => u64::MAX,
                None => continue,
            };
            if !targets.iter().any(|target| target.slice == finding.slice) {
                targets.push(ViolatedSlice {
                    slice: finding.slice.clone(),
                    path: VecDeque::new(),
                    omitted: 0,
                });
            }
        }
        if targets.is_empty() {
            return None;
        }
        let (mut scratch, mut target_of) = (Scratch::default(), Vec::new());
        let mut observer =
            PathObserver { automaton, targets: &mut targets, target_of: &mut target_of, fresh: Vec::new() };
        let slices = automaton.start(&mut scratch, &mut observer);
        Some(Replay { property, automaton, catalog, slices, scratch, targets, target_of, last })
    }

    /// The number of the last relevant event.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// Fills in the paths of violations at the end of the trace.
    pub(crate) fn end(&self, findings: &mut [Violation]) {
        let at_end = findings.iter_mut().filter(|found| found.property == self.property && found.at_end);
        for finding in at_end {
            let target = self.targets.iter().find(|target| target.slice == finding.slice);
            if let Some(target) = target {
                finding.path = target.path.iter().cloned().collect();
                finding.omitted = Some(target.omitted);
            }
        }
    }

    /// Replays a block, and fills in the paths of the violations in it.
    pub(crate) fn follow(&mut self, block: &EventBlock, before: u64, findings: &mut [Violation]) {
        for at in 0..block.batch.len() {
            let index = before + block.record_number(at);
            if index > self.last {
                return;
            }
            let event = block.batch.event(at);
            if !self.automaton.needs_event(&self.slices, event.id) {
                continue;
            }
            let mut observer = PathObserver {
                automaton: self.automaton,
                targets: &mut self.targets,
                target_of: &mut self.target_of,
                fresh: Vec::new(),
            };
            self.automaton.step(&mut self.slices, &mut self.scratch, &event, &mut observer);
            let fresh = observer.fresh;
            for (target, mut step) in fresh {
                let (time, place) = (block.batch.meta(at).time, block.position(at));
                let reported_event = violation::reported_event(self.catalog, &event, index, time, place);
                step.event = Some(reported_event);
                let target = &mut self.targets[target];
                let state = step.state.clone();
                target.push(step);
                for finding in findings.iter_mut() {
                    let is_this = finding.property == self.property
                        && finding.slice == target.slice
                        && finding.event.as_ref().is_some_and(|event| event.index == index)
                        // A record may be several events and cause several steps.
                        && finding.omitted.is_none()
                        && finding.to == state;
                    if is_this {
                        finding.path = target.path.iter().cloned().collect();
                        finding.omitted = Some(target.omitted);
                    }
                }
            }
        }
    }
}
