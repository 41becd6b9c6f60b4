//! Stepping: a property processes one event in all slices that it concerns.
//!
//! An event binds some slice parameters. All slices with the same values for these are updated. If there is
//! none, a slice is created: a copy of the most specific slice that agrees with the event, extended by the
//! event's values. Of two that bind equally many parameters, the one with parameters declared earlier is
//! copied. The event is then evaluated in the copy.

use crate::automaton::{Automaton, Branch, CompiledEffect, MAX_SLICE_PARAMS, StateId};
use crate::decision::{DecisionEdge, DecisionTest, holds};
use crate::event::{Event, EventBatch, EventId, EventSet};
use crate::fast_path::FastOutcome;
use crate::observer::{Observer, TransitionTaken};
use crate::slices::{Keys, SliceId, SliceTable, canonical};
use crate::verdict::{MonitorFault, Verdict};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::{ControlFlow, Range};
use invigil_expr::compare::ValueReader;
use invigil_expr::fault::{EvalResult, Fault};
use invigil_expr::machine::{Frame, Host, Machine};
use invigil_expr::program::CodeId;
use invigil_expr::text::TextArenas;
use invigil_expr::value::Value;

/// A monitor: follows the events of a subject and returns a verdict after each.
///
/// All mutable data is in its `State`, which is plain data: cloned for checkpoints, compared and hashed in
/// products with models. `Scratch` is working memory without meaning between events.
pub trait Monitor {
    /// The state.
    type State: Clone + Eq + core::hash::Hash;
    /// Working memory.
    type Scratch: Default;

    /// The state before the first event.
    fn start<O: Observer>(&self, scratch: &mut Self::Scratch, observer: &mut O) -> Self::State;

    /// The events that can change the state. A subject need not report any other.
    fn needed_events(&self, state: &Self::State) -> EventSet;

    /// Whether an event is among the [`needed_events`](Monitor::needed_events).
    fn needs_event(&self, state: &Self::State, event_id: EventId) -> bool;

    /// Steps on an event. `None` if the event does not concern the monitor.
    fn step<O: Observer>(
        &self,
        state: &mut Self::State,
        scratch: &mut Self::Scratch,
        event: &Event<'_>,
        observer: &mut O,
    ) -> Option<Verdict>;
}

/// Working memory for stepping property automata.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    machine: Machine,
    touched: Vec<u32>,
}

/// The index of the first parameter in `params` that the event lacks.
#[inline(always)]
fn missing(params: &[u16], event: &Event<'_>) -> Option<usize> {
    let lacks = |at: &&u16| event.params.get(usize::from(**at)).is_none_or(|value| value.is_unset());
    params.iter().find(lacks).map(|at| usize::from(*at))
}

/// Prefetch distance in events.
const AHEAD: usize = 12;
/// Size of the ring buffer for prefetched events; a power of two above `AHEAD`.
const RING: usize = 16;

/// Adapter from an observer to a host of blocks.
struct ObserverHost<'a, O>(&'a mut O);

impl<O: Observer> Host for ObserverHost<'_, O> {
    fn wants_output(&self) -> bool {
        self.0.wants_output()
    }

    fn print(&mut self, line: &str) {
        self.0.print(line);
    }

    fn call(&mut self, _: usize, args: &[Value], view: ValueReader<'_>) -> EvalResult<Value> {
        let mut command = String::new();
        args.iter().try_for_each(|arg| view.write_str(&mut command, *arg))?;
        self.0.command(command);
        Ok(Value::NONE)
    }
}

impl Monitor for Automaton {
    type State = SliceTable;
    type Scratch = Scratch;

    fn start<O: Observer>(&self, scratch: &mut Scratch, observer: &mut O) -> SliceTable {
        let mut slices = SliceTable::new(self);
        let root = slices.copy_slice(None, self.initial, 0, &[]);
        slices.enter(self, self.initial);
        let event = Event { id: EventId(u32::MAX), params: &[], text: "" };
        let mut stepping =
            Stepping { automaton: self, slices: &mut slices, scratch, event: &event, observer };
        stepping.guarded(|stepping| {
            if let Some(code) = stepping.automaton.initialization {
                stepping.run(root, code)?;
            }
            stepping.observer.slice_created(stepping.slices, SliceId(root));
            let initial = stepping.automaton.state_info[usize::from(stepping.automaton.initial)];
            if let Some(action) = initial.action {
                stepping.run(root, action)?;
            }
            Ok(initial.verdict)
        });
        slices
    }

    fn needed_events(&self, state: &SliceTable) -> EventSet {
        if state.failure.is_some() { EventSet::default() } else { state.needed_events() }
    }

    #[inline]
    fn needs_event(&self, state: &SliceTable, event_id: EventId) -> bool {
        state.failure.is_none() && state.needs_event(event_id)
    }

    #[inline]
    fn step<O: Observer>(
        &self,
        slices: &mut SliceTable,
        scratch: &mut Scratch,
        event: &Event<'_>,
        observer: &mut O,
    ) -> Option<Verdict> {
        self.step_with_guess(slices, scratch, event, observer, None)
    }
}

impl Automaton {
    /// Steps on a sequence of events and skips those that no slice needs.
    ///
    /// `after` is called with the index and verdict of each event that was stepped, and may stop the loop.
    /// Returns the index after the last event processed. Faster than separate [`step`](Monitor::step)s, because
    /// slices are prefetched.
    #[inline]
    pub fn run<O: Observer>(
        &self,
        slices: &mut SliceTable,
        scratch: &mut Scratch,
        batch: &EventBatch,
        range: Range<usize>,
        observer: &mut O,
        mut after: impl FnMut(&mut O, &SliceTable, usize, Option<Verdict>) -> ControlFlow<()>,
    ) -> usize {
        // Per event in the ring buffer: first its hash, later the likely slice.
        let mut hashes = [0; RING];
        let mut guesses = [None; RING];
        let is_sliced = !self.slice_on.is_empty();
        for at in range.clone() {
            if is_sliced {
                let (far, near) = (at + AHEAD, at + AHEAD / 2);
                if far < range.end {
                    hashes[far % RING] = self.look_ahead(slices, &batch.event(far));
                }
                guesses[near % RING] = match hashes[near % RING] {
                    0 => None,
                    hash => slices.prefetch_slice(hash),
                };
            }
            let event = batch.event(at);
            if self.needs_event(slices, event.id) {
                let verdict = self.step_with_guess(slices, scratch, &event, observer, guesses[at % RING]);
                if after(observer, slices, at, verdict).is_break() {
                    return at + 1;
                }
            }
        }
        range.end
    }

    /// The hash of the slice of a coming event, if there is one slice parameter.
    #[inline(always)]
    fn look_ahead(&self, slices: &SliceTable, event: &Event<'_>) -> u64 {
        let dispatch = self.dispatch_table.get(event.id.0 as usize);
        let key = dispatch.and_then(|dispatch| event.params.get(usize::from(dispatch.single?)));
        key.map_or(0, |key| slices.prefetch_hash(*key))
    }

    /// Steps on one event; `guess` is the slice that it most likely concerns.
    #[inline(always)]
    fn step_with_guess<O: Observer>(
        &self,
        slices: &mut SliceTable,
        scratch: &mut Scratch,
        event: &Event<'_>,
        observer: &mut O,
        guess: Option<SliceId>,
    ) -> Option<Verdict> {
        let dispatch = self.dispatch_table.get(event.id.0 as usize)?;
        if slices.failure.is_some() {
            return Some(Verdict::Error);
        }
        if let Some(at) = missing(&dispatch.keys, event) {
            observer.event_skipped(at);
            return None;
        }
        let mut stepping = Stepping { automaton: self, slices, scratch, event, observer };
        stepping.guarded(|stepping| stepping.process(guess))
    }

    /// Sets the state of a slice, on request of the user.
    pub fn set_state(&self, slices: &mut SliceTable, slice: SliceId, state: StateId) {
        slices.set_state(self, slice, state);
    }
}

/// A branch by which a slice leaves its state.
struct LeavingBranch {
    /// The transition.
    number: u32,
    branch: Branch,
    effect: CompiledEffect,
}

/// Processing of one event.
struct Stepping<'a, 'e, O> {
    automaton: &'a Automaton,
    slices: &'a mut SliceTable,
    scratch: &'a mut Scratch,
    event: &'a Event<'e>,
    observer: &'a mut O,
}

impl<O: Observer> Stepping<'_, '_, O> {
    /// Runs a part of the step. A fault ends the monitor.
    #[inline]
    fn guarded(&mut self, part: impl FnOnce(&mut Self) -> EvalResult<Verdict>) -> Option<Verdict> {
        let outcome = part(self);
        self.slices.heap.sweep();
        Some(outcome.unwrap_or_else(|fault| self.fail(*fault)))
    }

    #[cold]
    fn fail(&mut self, fault: Fault) -> Verdict {
        self.slices.failure = Some(MonitorFault { message: fault.message, span: fault.span });
        Verdict::Error
    }

    #[inline]
    fn process(&mut self, guess: Option<SliceId>) -> EvalResult<Verdict> {
        let dispatch = &self.automaton.dispatch_table[self.event.id.0 as usize];
        if dispatch.mask == 0 {
            return match self.slices.root() {
                Some(SliceId(root)) if self.slices.len() == 1 => self.evaluate_fast(root),
                _ => self.evaluate_in_all_slices(),
            };
        }
        if let Some(at) = dispatch.single {
            let key = canonical(self.event.params[usize::from(at)]);
            return match self.slices.single(key, self.event.text, guess) {
                Some(slice) => self.evaluate_fast(slice),
                None => self.create_lazily(key),
            };
        }
        self.process_several_params()
    }

    /// Processes the event in the general case: several slice parameters.
    fn process_several_params(&mut self) -> EvalResult<Verdict> {
        let automaton = self.automaton;
        let dispatch = &automaton.dispatch_table[self.event.id.0 as usize];
        let (params, text) = (self.event.params, self.event.text);
        let keys = Keys::collect(dispatch.keys.iter().map(|at| canonical(params[usize::from(*at)])));
        let mut touched = core::mem::take(&mut self.scratch.touched);
        touched.clear();
        let mut at = self.slices.first(dispatch.mask_index, &keys, text);
        while let Some(slice) = at {
            touched.push(slice);
            at = self.slices.next(dispatch.mask_index, slice);
        }
        touched.sort_unstable();
        let verdict = match touched.is_empty() {
            false => self.evaluate_all(&touched),
            true => match self.parent_for(dispatch.mask, &dispatch.parents, &keys) {
                Some(parent) => {
                    let texts = TextArenas { event: text, pool: "" };
                    let mut owned = [Value::UNSET; MAX_SLICE_PARAMS];
                    for (own, key) in owned.iter_mut().zip(keys.iter()) {
                        *own = texts.own(&mut self.slices.heap, *key)?;
                    }
                    let slice = self.slices.copy_slice(Some(parent), 0, dispatch.mask, &owned[..keys.len()]);
                    self.commit(slice);
                    self.evaluate(slice, false)
                }
                None => Ok(Verdict::Undecided),
            },
        };
        self.scratch.touched = touched;
        verdict
    }

    /// The slice that a new one with these values is copied from.
    fn parent_for(&self, mask: u8, parents: &[usize], keys: &[Value]) -> Option<u32> {
        let specific = parents.iter().find_map(|mask_index| {
            let smaller = self.automaton.masks[*mask_index];
            let bits = (0..MAX_SLICE_PARAMS).filter(|bit| mask & 1 << bit != 0);
            let shared = keys.iter().zip(bits).filter(|(_, bit)| smaller & 1 << bit != 0);
            let part = Keys::collect(shared.map(|(key, _)| *key));
            self.slices.exact(*mask_index, &part, self.event.text)
        });
        specific.or(self.slices.root().map(|root| root.0))
    }

    /// Creates a slice of a property with one slice parameter. A new slice that takes no transition would be equal to
    /// the root, so it is not kept.
    fn create_lazily(&mut self, key: Value) -> EvalResult<Verdict> {
        let Some(SliceId(root)) = self.slices.root() else { return Ok(Verdict::Undecided) };
        let state = self.slices.records.head(root).state;
        let automaton = self.automaton;
        if automaton.cell(state, self.event.id.0 as usize).compiled.is_empty() {
            return Ok(automaton.state_info[usize::from(state)].verdict);
        }
        let texts = TextArenas { event: self.event.text, pool: "" };
        let key = texts.own(&mut self.slices.heap, key)?;
        let slice = self.slices.copy_slice(Some(root), 0, 1, &[key]);
        self.evaluate(slice, true)
    }

    /// Evaluates an event that binds no slice parameter: it concerns all slices.
    fn evaluate_in_all_slices(&mut self) -> EvalResult<Verdict> {
        let mut touched = core::mem::take(&mut self.scratch.touched);
        touched.clear();
        touched.extend(self.slices.iter().map(|slice| slice.0));
        let verdict = self.evaluate_all(&touched);
        self.scratch.touched = touched;
        verdict
    }

    fn evaluate_all(&mut self, slices: &[u32]) -> EvalResult<Verdict> {
        let mut worst = Verdict::Accepting;
        for slice in slices {
            worst = worst.max(self.evaluate(*slice, false)?);
        }
        Ok(worst)
    }

    /// Like [`evaluate`](Stepping::evaluate), with the fast path.
    #[inline(always)]
    fn evaluate_fast(&mut self, slice: u32) -> EvalResult<Verdict> {
        let automaton = self.automaton;
        let from = self.slices.records.head(slice).state;
        let cell = automaton.cell(from, self.event.id.0 as usize);
        if let Some(first) = cell.decision {
            return self.decide(slice, false, from, first);
        }
        let Some(fast) = &cell.fast else { return self.evaluate(slice, false) };
        if fast.prints && self.observer.wants_output() || missing(&cell.required, self.event).is_some() {
            return self.evaluate(slice, false);
        }
        let env = self.slices.records.env_mut(slice);
        match fast.take(env, self.event.params) {
            FastOutcome::Taken(branch, to) => {
                if to != from {
                    self.move_to(slice, from, to);
                }
                let transition = fast.number as usize;
                self.observer.transition_taken(
                    self.slices,
                    TransitionTaken { slice: SliceId(slice), transition, branch, from, to },
                );
                Ok(automaton.state_info[usize::from(to)].verdict)
            }
            FastOutcome::Unhandled => {
                self.observer.event_unhandled(self.slices, SliceId(slice));
                Ok(automaton.state_info[usize::from(from)].verdict)
            }
            FastOutcome::Unusual => self.evaluate(slice, false),
        }
    }

    fn move_to(&mut self, slice: u32, from: StateId, to: StateId) {
        self.slices.records.set_state(slice, to);
        self.slices.move_slice(self.automaton, from, to);
    }

    /// Takes the first transition that applies. A `fresh` slice is kept only if there is one.
    #[inline(never)]
    fn evaluate(&mut self, slice: u32, fresh: bool) -> EvalResult<Verdict> {
        let automaton = self.automaton;
        let from = self.slices.records.head(slice).state;
        let cell = automaton.cell(from, self.event.id.0 as usize);
        if let Some(at) = missing(&cell.required, self.event) {
            self.observer.event_skipped(at);
            if fresh {
                self.slices.discard(slice);
            }
            return Ok(automaton.state_info[usize::from(from)].verdict);
        }
        if let Some(first) = cell.decision {
            return self.decide(slice, fresh, from, first);
        }
        for at in cell.compiled.clone() {
            let transition = &automaton.compiled[at as usize];
            let holds = match transition.guard {
                None => true,
                Some(code) => {
                    let value = match self.run(slice, code) {
                        Ok(value) => value,
                        Err(fault) => return self.end_on_fault(slice, fresh, fault),
                    };
                    if transition.is_update {
                        true
                    } else if value.is_none() {
                        continue;
                    } else {
                        value.as_bool().unwrap_or_else(|| self.slices.view(self.event.text).truth(value))
                    }
                }
            };
            let (branch, effect) = match holds {
                true => (Branch::Success, transition.success),
                false => (Branch::Failure, transition.failure),
            };
            let Some(effect) = effect else { continue };
            return self.leave(
                slice,
                fresh,
                from,
                LeavingBranch { number: transition.number, branch, effect },
            );
        }
        Ok(self.stay(slice, fresh, from))
    }

    /// Follows a decision diagram to the transition that is taken.
    fn decide(
        &mut self,
        slice: u32,
        fresh: bool,
        from: StateId,
        mut next: DecisionEdge,
    ) -> EvalResult<Verdict> {
        let automaton = self.automaton;
        loop {
            match next {
                DecisionEdge::Stay => return Ok(self.stay(slice, fresh, from)),
                DecisionEdge::Take(transition) => {
                    let transition = &automaton.compiled[transition as usize];
                    let Some(effect) = transition.success else { return Ok(self.stay(slice, fresh, from)) };
                    let leaving =
                        LeavingBranch { number: transition.number, branch: Branch::Success, effect };
                    return self.leave(slice, fresh, from, leaving);
                }
                DecisionEdge::Test(node) => {
                    let node = automaton.nodes[node as usize];
                    let answer = match &automaton.decisions.tests[node.test as usize] {
                        DecisionTest::Parameter(at) => holds(self.event.params, *at),
                        DecisionTest::Block { code, reads } => {
                            match self.evaluate_test(slice, *code, reads) {
                                Ok(answer) => answer,
                                Err(fault) => return self.end_on_fault(slice, fresh, fault),
                            }
                        }
                    };
                    next = if answer { node.yes } else { node.no };
                }
            }
        }
    }

    /// Evaluates a test block; false if the event lacks a parameter that it reads.
    fn evaluate_test(&mut self, slice: u32, code: CodeId, reads: &[usize]) -> EvalResult<bool> {
        let lacks = |at: &&usize| self.event.params.get(**at).is_none_or(|value| value.is_unset());
        if let Some(at) = reads.iter().find(lacks) {
            self.observer.guard_parameter_missing(*at);
            return Ok(false);
        }
        let value = self.run(slice, code)?;
        Ok(value.as_bool().unwrap_or_else(|| self.slices.view(self.event.text).truth(value)))
    }

    /// Takes a branch: runs its blocks and enters the target state.
    #[inline(always)]
    fn leave(
        &mut self,
        slice: u32,
        fresh: bool,
        from: StateId,
        leaving: LeavingBranch,
    ) -> EvalResult<Verdict> {
        let automaton = self.automaton;
        let LeavingBranch { number, branch, effect } = leaving;
        if fresh {
            self.commit(slice);
        }
        let mut to = effect.target.unwrap_or(from);
        if let Some(block) = effect.block
            && let Some(state) = self.run(slice, block)?.as_int()
        {
            to = state as StateId;
        }
        if let Some(action) = effect.action {
            self.run(slice, action)?;
        }
        if to != from {
            self.move_to(slice, from, to);
        }
        let state = automaton.state_info[usize::from(to)];
        if let Some(action) = state.action {
            self.run(slice, action)?;
        }
        let transition = number as usize;
        self.observer.transition_taken(
            self.slices,
            TransitionTaken { slice: SliceId(slice), transition, branch, from, to },
        );
        if state.is_final {
            self.observer.slice_dropped(self.slices, SliceId(slice));
            self.slices.remove(automaton, slice);
        }
        Ok(state.verdict)
    }

    /// Takes no transition.
    fn stay(&mut self, slice: u32, fresh: bool, from: StateId) -> Verdict {
        self.observer.event_unhandled(self.slices, SliceId(slice));
        if fresh {
            self.slices.discard(slice);
        }
        self.automaton.state_info[usize::from(from)].verdict
    }

    /// Ends the monitor because a guard raised a fault. A fresh slice is kept.
    #[cold]
    fn end_on_fault(&mut self, slice: u32, fresh: bool, fault: Box<Fault>) -> EvalResult<Verdict> {
        if fresh {
            self.commit(slice);
        }
        Err(fault)
    }

    /// Adds a fresh slice to the table.
    fn commit(&mut self, slice: u32) {
        self.slices.insert_into_index(slice);
        let state = self.slices.records.head(slice).state;
        self.slices.enter(self.automaton, state);
        self.observer.slice_created(self.slices, SliceId(slice));
    }

    #[inline(always)]
    fn run(&mut self, slice: u32, code: CodeId) -> EvalResult<Value> {
        let frame = Frame {
            env: self.slices.records.env_mut(slice),
            params: self.event.params,
            text: self.event.text,
            heap: &mut self.slices.heap,
        };
        self.scratch.machine.run(&self.automaton.program, code, frame, &mut ObserverHost(self.observer))
    }
}
