//! The events of the run so far, and the transitions that the slices of each property took on them.
//!
//! Events are kept in blocks of a fixed size, as ids and plain values. The oldest block is reused once the limit is
//! reached. A long run therefore takes no more memory than a short one, and adding an event allocates nothing, unless a slice
//! has variables with long strings or collections.

use invigil_check::{PathStep, RenderedValue, ReportedEvent, Variable};
use invigil_expr::compare::ValueReader;
use invigil_expr::heap::Heap;
use invigil_expr::text::TextArenas;
use invigil_expr::value::Value;
use invigil_monitor::automaton::{Automaton, Branch, StateId};
use invigil_monitor::event::{Event, EventBatch, EventCatalog, EventMeta};
use invigil_monitor::interactive::Change;
use invigil_monitor::slices::{SliceId, SliceTable};
use invigil_trace::TracePosition;
use std::collections::VecDeque;
use std::ops::RangeInclusive;

/// Number of events in a block.
const BLOCK: usize = 1024;
/// Number of steps of a path that are reported.
const MAX_PATH: usize = 50;
/// Number of bytes after which a long string or a collection is truncated.
const MAX_RENDERED: usize = 500;

/// A past event.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryEvent {
    /// The event.
    pub event: ReportedEvent,
    /// Its thread.
    pub thread: u32,
    /// The transitions that were taken on it.
    pub steps: Vec<HistoryStep>,
}

/// A transition that a slice took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryStep {
    /// The position of the property.
    pub property: usize,
    /// The slice.
    pub slice: SliceId,
    /// The branch of the transition.
    pub branch: Branch,
    /// The state that was left.
    pub from: String,
    /// The state that was entered.
    pub to: String,
}

#[derive(Clone, Copy)]
struct Step {
    /// The position of the event in its block.
    event: u32,
    /// The position of the environment after the step.
    env: u32,
    slice: SliceId,
    property: u16,
    from: StateId,
    to: StateId,
    /// `None` for the creation of a slice.
    branch: Option<Branch>,
    /// Whether the environment is known; that of a slice which was dropped immediately is not.
    has_env: bool,
}

#[derive(Default)]
struct Block {
    batch: EventBatch,
    threads: Vec<u32>,
    steps: Vec<Step>,
    /// The variables; unset if they are in `rendered`.
    envs: Vec<Value>,
    /// Long strings and collections, which do not outlive the event otherwise, with their positions in `envs`.
    rendered: Vec<(u32, RenderedValue)>,
}

impl Block {
    fn clear(&mut self) {
        self.batch.clear();
        self.threads.clear();
        self.steps.clear();
        self.envs.clear();
        self.rendered.clear();
    }

    /// Keeps only the first `events` events.
    fn truncate(&mut self, events: usize) {
        self.batch.truncate(events);
        self.threads.truncate(events);
        let kept = self.steps.partition_point(|step| (step.event as usize) < events);
        if let Some(first) = self.steps.get(kept) {
            self.envs.truncate(first.env as usize);
            let rendered = self.rendered.partition_point(|(at, _)| *at < first.env);
            self.rendered.truncate(rendered);
        }
        self.steps.truncate(kept);
    }
}

pub(crate) struct History {
    blocks: VecDeque<Block>,
    max_blocks: usize,
    /// The number of events before the first kept one.
    dropped: u64,
    /// The number of all events so far.
    count: u64,
}

impl History {
    pub(crate) fn new(events: usize) -> History {
        // One block more, because the oldest is dropped as a whole.
        let max_blocks = events.div_ceil(BLOCK).max(1) + 1;
        History { blocks: VecDeque::new(), max_blocks, dropped: 0, count: 0 }
    }

    /// The number of events.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The numbers of the events that are kept.
    pub(crate) fn retained(&self) -> RangeInclusive<u64> {
        self.dropped + 1..=self.count
    }

    /// Adds an event and returns its number, counted from one.
    pub(crate) fn push(&mut self, event: &Event<'_>, meta: EventMeta, thread: u32) -> u64 {
        if self.blocks.back().is_none_or(|block| block.batch.len() >= BLOCK) {
            self.add_block();
        }
        self.count += 1;
        if let Some(block) = self.blocks.back_mut() {
            block.batch.push_copy(event, meta);
            block.threads.push(thread);
        }
        self.count
    }

    fn add_block(&mut self) {
        let mut block = Block::default();
        if self.blocks.len() >= self.max_blocks
            && let Some(oldest) = self.blocks.pop_front()
        {
            self.dropped += oldest.batch.len() as u64;
            block = oldest;
            block.clear();
        }
        self.blocks.push_back(block);
    }

    /// Records the creation or transition of a slice on the last event.
    #[inline]
    pub(crate) fn record_change(&mut self, property: usize, slices: &SliceTable, change: &Change) {
        let Some(block) = self.blocks.back_mut() else { return };
        let event = (block.batch.len() - 1) as u32;
        let env = block.envs.len() as u32;
        let property = property as u16;
        let (slice, source, from, to, branch) = match *change {
            Change::Created(slice) => {
                // A new slice is a copy of its parent; its own environment may already have been changed by a guard.
                let source = slices.parent(slice).unwrap_or(slice);
                let state = if slices.contains(source) { slices.state(source) } else { 0 };
                (slice, source, state, state, None)
            }
            Change::Taken(taken) => (taken.slice, taken.slice, taken.from, taken.to, Some(taken.branch)),
            Change::Dropped { .. } => return,
        };
        let has_env = slices.contains(source);
        block.steps.push(Step { event, env, slice, property, from, to, branch, has_env });
        if has_env {
            for value in slices.env(source) {
                if !value.is_inline() {
                    let at = block.envs.len() as u32;
                    let rendered = RenderedValue::within(MAX_RENDERED, &slices.values_view(), *value);
                    block.rendered.push((at, rendered));
                }
                block.envs.push(if value.is_inline() { *value } else { Value::UNSET });
            }
        }
    }

    /// Counts events that the history cannot keep. Earlier ones are dropped, so that the kept range has no gaps.
    pub(crate) fn skip(&mut self, events: u64) {
        if events > 0 {
            self.blocks.clear();
            self.count += events;
            self.dropped = self.count;
        }
    }

    /// Drops all events after number `last`.
    pub(crate) fn truncate_after(&mut self, last: u64) {
        self.count = last;
        if last <= self.dropped {
            self.blocks.clear();
            self.dropped = last;
            return;
        }
        let (block_index, position) = self.locate(last);
        self.blocks.truncate(block_index + 1);
        if let Some(block) = self.blocks.get_mut(block_index) {
            block.truncate(position + 1);
        }
    }

    /// Finds the block of a kept event, and the event's position in it.
    fn locate(&self, number: u64) -> (usize, usize) {
        let offset = (number - self.dropped - 1) as usize;
        (offset / BLOCK, offset % BLOCK)
    }

    /// Copies the events with these numbers that are still kept.
    pub(crate) fn copy(&self, numbers: RangeInclusive<u64>) -> EventBatch {
        let mut batch = EventBatch::default();
        for number in numbers.filter(|number| self.retained().contains(number)) {
            let (block, at) = self.locate(number);
            let source = &self.blocks[block].batch;
            batch.push_copy(&source.event(at), source.meta(at));
        }
        batch
    }

    /// Renders events for a report; those that are no longer kept are left out.
    pub(crate) fn events(
        &self,
        numbers: RangeInclusive<u64>,
        catalog: &EventCatalog,
        automata: &[&Automaton],
    ) -> Vec<HistoryEvent> {
        let first = *numbers.start().max(self.retained().start());
        let last = *numbers.end().min(self.retained().end());
        (first..=last).map(|number| self.event(number, catalog, automata)).collect()
    }

    fn event(&self, number: u64, catalog: &EventCatalog, automata: &[&Automaton]) -> HistoryEvent {
        let (block, at) = self.locate(number);
        let block = &self.blocks[block];
        let name = |step: &Step, state| {
            automata
                .get(usize::from(step.property))
                .map_or("?", |automaton| automaton.state_name(state))
                .to_owned()
        };
        let first = block.steps.partition_point(|step| (step.event as usize) < at);
        let steps = block.steps[first..].iter().take_while(|step| step.event as usize == at);
        HistoryEvent {
            event: batch_event(&block.batch, at, number, catalog),
            thread: block.threads.get(at).copied().unwrap_or(0),
            steps: steps
                .filter_map(|step| {
                    Some(HistoryStep {
                        property: usize::from(step.property),
                        slice: step.slice,
                        branch: step.branch?,
                        from: name(step, step.from),
                        to: name(step, step.to),
                    })
                })
                .collect(),
        }
    }

    /// The latest steps of a slice, the last one at the end, and the number of earlier steps that are left out, if
    /// known. `origin` is the initial step of the property.
    pub(crate) fn path(
        &self,
        property: usize,
        slice: SliceId,
        automaton: &Automaton,
        catalog: &EventCatalog,
        origin: &PathStep,
    ) -> (Vec<PathStep>, Option<u64>) {
        let mut path = Vec::new();
        let mut omitted = 0;
        let mut number = self.count;
        for block in self.blocks.iter().rev() {
            let first = number - block.batch.len() as u64;
            for step in block.steps.iter().rev() {
                if usize::from(step.property) != property || step.slice != slice {
                    continue;
                }
                if path.len() < MAX_PATH {
                    path.push(block.path_step(step, first, automaton, catalog));
                } else {
                    omitted += 1;
                }
                if step.branch.is_none() {
                    path.reverse();
                    return (path, Some(omitted));
                }
            }
            number = first;
        }
        // The slice was not created within the history, so it is the root, which exists from the start.
        let complete = self.dropped == 0;
        if complete && path.len() < MAX_PATH {
            path.push(origin.clone());
        } else if complete {
            omitted += 1;
        }
        path.reverse();
        (path, complete.then_some(omitted))
    }
}

impl Block {
    fn path_step(&self, step: &Step, before: u64, automaton: &Automaton, catalog: &EventCatalog) -> PathStep {
        let state = &automaton.states[usize::from(step.to)];
        let (heap, texts) = (&Heap::default(), TextArenas::NONE);
        let view = ValueReader { heap, texts };
        let show = |at: u32, value: Value| match self.rendered.binary_search_by_key(&at, |(at, _)| *at) {
            Ok(found) => self.rendered[found].1.clone(),
            Err(_) if value.is_unset() => RenderedValue::unknown(),
            Err(_) => RenderedValue::new(&view, value),
        };
        let values = self.envs.get(step.env as usize..).filter(|_| step.has_env).unwrap_or(&[]);
        let at = step.event as usize;
        PathStep {
            event: step.branch.map(|_| batch_event(&self.batch, at, before + at as u64 + 1, catalog)),
            branch: step.branch,
            state: state.name.clone(),
            verdict: state.verdict,
            env: automaton
                .env
                .iter()
                .zip(values)
                .zip(step.env..)
                .map(|((name, value), at)| Variable { name: name.clone(), value: show(at, *value) })
                .collect(),
        }
    }
}

/// Renders an event of a batch for a report. Its position is the event number.
pub(crate) fn batch_event(
    batch: &EventBatch,
    at: usize,
    number: u64,
    catalog: &EventCatalog,
) -> ReportedEvent {
    let position = TracePosition { input: 0, line: number };
    invigil_check::reported_event(catalog, &batch.event(at), number, batch.meta(at).time, position)
}
