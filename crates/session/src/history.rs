//! The events of the run so far, and what each property made of them.
//!
//! Events are kept in blocks of a fixed number, as they came: symbol numbers and plain values. The oldest
//! block is used again when there are more than is asked for, so a long run takes no more memory than a short
//! one, and noting an event allocates nothing.

use invigil_check::{Happening, PathStep, Shown, Variable, happening};
use invigil_expr::compare::View;
use invigil_expr::heap::Heap;
use invigil_expr::text::Texts;
use invigil_expr::value::Value;
use invigil_monitor::automaton::{Automaton, Branch, StateId};
use invigil_monitor::event::{Batch, Catalog, Event, Stamp};
use invigil_monitor::slices::{SliceId, Slices};
use invigil_monitor::watch::Change;
use invigil_trace::Place;
use std::collections::VecDeque;
use std::ops::RangeInclusive;

/// How many events a block holds.
const BLOCK: usize = 1024;
/// How many steps of a path are told.
const TOLD: usize = 50;

/// An event of the past.
#[derive(Clone, Debug, PartialEq)]
pub struct Past {
    /// What happened.
    pub event: Happening,
    /// The thread in which it did.
    pub thread: u32,
    /// The transitions that were taken on it.
    pub steps: Vec<PastStep>,
}

/// A transition that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastStep {
    /// The property, by its position.
    pub property: usize,
    /// The slice that took it.
    pub slice: SliceId,
    /// Which end of the transition.
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
    /// Where the environment after it starts.
    env: u32,
    slice: SliceId,
    property: u16,
    from: StateId,
    to: StateId,
    /// `None` for the beginning of a slice.
    branch: Option<Branch>,
    /// Whether the environment is known: that of a slice which was forgotten at once is not.
    has_env: bool,
}

#[derive(Default)]
struct Block {
    batch: Batch,
    threads: Vec<u32>,
    steps: Vec<Step>,
    envs: Vec<Value>,
}

impl Block {
    fn clear(&mut self) {
        self.batch.clear();
        self.threads.clear();
        self.steps.clear();
        self.envs.clear();
    }

    /// Keeps the first `events` events only.
    fn truncate(&mut self, events: usize) {
        self.batch.truncate(events);
        self.threads.truncate(events);
        let kept = self.steps.partition_point(|step| (step.event as usize) < events);
        if let Some(first) = self.steps.get(kept) {
            self.envs.truncate(first.env as usize);
        }
        self.steps.truncate(kept);
    }
}

pub(crate) struct History {
    blocks: VecDeque<Block>,
    /// How many blocks there may be.
    limit: usize,
    /// How many events happened before the first that is kept.
    before: u64,
    /// How many events happened in all.
    count: u64,
}

/// What outlasts the event: values that lie in its text or in a heap do not.
fn kept(value: Value) -> Value {
    if value.is_inline() { value } else { Value::UNSET }
}

impl History {
    pub(crate) fn new(events: usize) -> History {
        // One more than asked for, because the oldest goes as a whole.
        let limit = events.div_ceil(BLOCK).max(1) + 1;
        History { blocks: VecDeque::new(), limit, before: 0, count: 0 }
    }

    /// How many events there were.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The numbers of the events that are remembered.
    pub(crate) fn kept(&self) -> RangeInclusive<u64> {
        self.before + 1..=self.count
    }

    /// Notes an event; gives its number, counted from one.
    pub(crate) fn push(&mut self, event: &Event<'_>, stamp: Stamp, thread: u32) -> u64 {
        if self.blocks.back().is_none_or(|block| block.batch.len() >= BLOCK) {
            self.add_block();
        }
        self.count += 1;
        if let Some(block) = self.blocks.back_mut() {
            block.batch.push_copy(event, stamp);
            block.threads.push(thread);
        }
        self.count
    }

    fn add_block(&mut self) {
        let mut block = Block::default();
        if self.blocks.len() >= self.limit
            && let Some(oldest) = self.blocks.pop_front()
        {
            self.before += oldest.batch.len() as u64;
            block = oldest;
            block.clear();
        }
        self.blocks.push_back(block);
    }

    /// Notes what happened to a slice on the last event.
    #[inline]
    pub(crate) fn note(&mut self, property: usize, slices: &Slices, change: &Change) {
        let Some(block) = self.blocks.back_mut() else { return };
        let event = (block.batch.len() - 1) as u32;
        let env = block.envs.len() as u32;
        let property = property as u16;
        let (slice, model, from, to, branch) = match *change {
            Change::Created(slice) => {
                // It begins as a copy of its parent, and may have been changed since by a guard.
                let model = slices.parent(slice).unwrap_or(slice);
                let state = if slices.contains(model) { slices.state(model) } else { 0 };
                (slice, model, state, state, None)
            }
            Change::Taken(taken) => (taken.slice, taken.slice, taken.from, taken.to, Some(taken.branch)),
            Change::Forgotten { .. } => return,
        };
        let has_env = slices.contains(model);
        block.steps.push(Step { event, env, slice, property, from, to, branch, has_env });
        if has_env {
            block.envs.extend(slices.env(model).iter().map(|value| kept(*value)));
        }
    }

    /// Counts events that nothing is known of. Those before them are forgotten: what is kept is without gaps.
    pub(crate) fn skip(&mut self, events: u64) {
        if events > 0 {
            self.blocks.clear();
            self.count += events;
            self.before = self.count;
        }
    }

    /// Forgets all events after number `last`.
    pub(crate) fn cut(&mut self, last: u64) {
        self.count = last;
        if last <= self.before {
            self.blocks.clear();
            self.before = last;
            return;
        }
        let (at, events) = self.find(last);
        self.blocks.truncate(at + 1);
        if let Some(block) = self.blocks.get_mut(at) {
            block.truncate(events + 1);
        }
    }

    /// The block of an event that is kept, and its position there.
    fn find(&self, number: u64) -> (usize, usize) {
        let offset = (number - self.before - 1) as usize;
        (offset / BLOCK, offset % BLOCK)
    }

    /// A copy of some events that are kept.
    pub(crate) fn copy(&self, numbers: RangeInclusive<u64>) -> Batch {
        let mut batch = Batch::default();
        for number in numbers.filter(|number| self.kept().contains(number)) {
            let (block, at) = self.find(number);
            let from = &self.blocks[block].batch;
            batch.push_copy(&from.event(at), from.stamp(at));
        }
        batch
    }

    /// Events as they are told; those that are not remembered are left out.
    pub(crate) fn events(
        &self,
        numbers: RangeInclusive<u64>,
        catalog: &Catalog,
        automata: &[&Automaton],
    ) -> Vec<Past> {
        let first = *numbers.start().max(self.kept().start());
        let last = *numbers.end().min(self.kept().end());
        (first..=last).map(|number| self.tell(number, catalog, automata)).collect()
    }

    fn tell(&self, number: u64, catalog: &Catalog, automata: &[&Automaton]) -> Past {
        let (block, at) = self.find(number);
        let block = &self.blocks[block];
        let name = |step: &Step, state| {
            automata
                .get(usize::from(step.property))
                .map_or("?", |automaton| automaton.state_name(state))
                .to_owned()
        };
        let from = block.steps.partition_point(|step| (step.event as usize) < at);
        let steps = block.steps[from..].iter().take_while(|step| step.event as usize == at);
        Past {
            event: told(&block.batch, at, number, catalog),
            thread: block.threads.get(at).copied().unwrap_or(0),
            steps: steps
                .filter_map(|step| {
                    Some(PastStep {
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

    /// How a slice came to where it is, the latest step last; and how many steps before those there were, if
    /// that is known. `origin` is where the property started.
    pub(crate) fn path(
        &self,
        property: usize,
        slice: SliceId,
        automaton: &Automaton,
        catalog: &Catalog,
        origin: &PathStep,
    ) -> (Vec<PathStep>, Option<u64>) {
        let mut path = Vec::new();
        let mut untold = 0;
        let mut number = self.count;
        for block in self.blocks.iter().rev() {
            let first = number - block.batch.len() as u64;
            for step in block.steps.iter().rev() {
                if usize::from(step.property) != property || step.slice != slice {
                    continue;
                }
                if path.len() < TOLD {
                    path.push(block.path_step(step, first, automaton, catalog));
                } else {
                    untold += 1;
                }
                if step.branch.is_none() {
                    path.reverse();
                    return (path, Some(untold));
                }
            }
            number = first;
        }
        // Only the root is as old as the property.
        let complete = self.before == 0;
        if complete && path.len() < TOLD {
            path.push(origin.clone());
        } else if complete {
            untold += 1;
        }
        path.reverse();
        (path, complete.then_some(untold))
    }
}

impl Block {
    fn path_step(&self, step: &Step, before: u64, automaton: &Automaton, catalog: &Catalog) -> PathStep {
        let state = &automaton.states[usize::from(step.to)];
        let (heap, texts) = (&Heap::default(), Texts::NONE);
        let view = View { heap, texts };
        let show = |value: Value| if value.is_unset() { Shown::unknown() } else { Shown::new(&view, value) };
        let values = self.envs.get(step.env as usize..).filter(|_| step.has_env).unwrap_or(&[]);
        let at = step.event as usize;
        PathStep {
            event: step.branch.map(|_| told(&self.batch, at, before + at as u64 + 1, catalog)),
            branch: step.branch,
            state: state.name.clone(),
            verdict: state.verdict,
            env: automaton
                .env
                .iter()
                .zip(values)
                .map(|(name, value)| Variable { name: name.clone(), value: show(*value) })
                .collect(),
        }
    }
}

/// An event of a batch, as it is told. A recording has it in the line of its number.
pub(crate) fn told(batch: &Batch, at: usize, number: u64, catalog: &Catalog) -> Happening {
    let place = Place { input: 0, line: number };
    happening(catalog, &batch.event(at), number, batch.stamp(at).time, place)
}
