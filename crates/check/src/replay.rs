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
        violations: &[Violation],
    ) -> Option<Replay<'a>> {
        let mut targets: Vec<ViolatedSlice> = Vec::new();
        let mut last = 0;
        for violation in violations.iter().filter(|violation| violation.property == property) {
            last = match &violation.event {
                Some(event) => last.max(event.index),
                None if violation.at_end => u64::MAX,
                None => continue,
            };
            if !targets.iter().any(|target| target.slice == violation.slice) {
                targets.push(ViolatedSlice {
                    slice: violation.slice.clone(),
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
    pub(crate) fn end(&self, violations: &mut [Violation]) {
        let at_end = violations.iter_mut().filter(|found| found.property == self.property && found.at_end);
        for violation in at_end {
            let target = self.targets.iter().find(|target| target.slice == violation.slice);
            if let Some(target) = target {
                violation.path = target.path.iter().cloned().collect();
                violation.omitted = Some(target.omitted);
            }
        }
    }

    /// Replays a block, and fills in the paths of the violations in it.
    pub(crate) fn follow(&mut self, block: &EventBlock, before: u64, violations: &mut [Violation]) {
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
                let (time, position) = (block.batch.meta(at).time, block.position(at));
                let reported_event = violation::reported_event(self.catalog, &event, index, time, position);
                step.event = Some(reported_event);
                let target = &mut self.targets[target];
                let state = step.state.clone();
                target.push(step);
                for violation in violations.iter_mut() {
                    let is_this = violation.property == self.property
                        && violation.slice == target.slice
                        && violation.event.as_ref().is_some_and(|event| event.index == index)
                        // A record may be several events and cause several steps.
                        && violation.omitted.is_none()
                        && violation.to == state;
                    if is_this {
                        violation.path = target.path.iter().cloned().collect();
                        violation.omitted = Some(target.omitted);
                    }
                }
            }
        }
    }
}
