//! How a property follows the execution: one event at a time, in every slice that it concerns.
//!
//! An event binds some of the slice parameters. Every slice that gives those the same values is updated. If
//! there is none, one is created: a copy, with the event's values added, of the most specific slice that
//! agrees with the event in all that it binds (of two that bind as many, the one that binds the parameters
//! declared earlier), and the event is evaluated in the copy.

use crate::automaton::{Automaton, Branch, Exit, MAX_SLICE_PARAMS, StateId};
use crate::decision::{Next, Test, holds};
use crate::event::{Batch, Event, EventSet, SymbolId};
use crate::observer::{Observer, Taken};
use crate::quick::Outcome;
use crate::slices::{Keys, SliceId, Slices, canonical};
use crate::verdict::{Failure, Verdict};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::{ControlFlow, Range};
use invigil_expr::compare::View;
use invigil_expr::fault::{Fault, Run};
use invigil_expr::machine::{Frame, Host, Machine};
use invigil_expr::program::CodeId;
use invigil_expr::text::Texts;
use invigil_expr::value::Value;

/// A monitor: it follows a subject's events and says after each what it thinks.
///
/// All that changes is in its `State`, which is plain data: cloned for a checkpoint, compared and hashed in
/// a product with a model. `Scratch` is working memory that means nothing between events.
pub trait Monitor {
    /// What it remembers.
    type State: Clone + Eq + core::hash::Hash;
    /// Working memory.
    type Scratch: Default;

    /// The state before any event.
    fn start<O: Observer>(&self, scratch: &mut Self::Scratch, observer: &mut O) -> Self::State;

    /// The events that can change anything now: a subject need not report any other.
    fn needs(&self, state: &Self::State) -> EventSet;

    /// Whether `symbol` is among [`needs`](Monitor::needs).
    fn wants(&self, state: &Self::State, symbol: SymbolId) -> bool;

    /// Follows one event. `None` if it does not concern the monitor.
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

/// The first of some parameters that an event lacks.
#[inline(always)]
fn missing(params: &[u16], event: &Event<'_>) -> Option<usize> {
    let lacks = |at: &&u16| event.params.get(usize::from(**at)).is_none_or(|value| value.is_unset());
    params.iter().find(lacks).map(|at| usize::from(*at))
}

/// How many events ahead of its step the memory is asked for a slice.
const AHEAD: usize = 12;
/// Room for what is known of those events.
const RING: usize = 16;

/// Gives what blocks print to the observer.
struct Listening<'a, O>(&'a mut O);

impl<O: Observer> Host for Listening<'_, O> {
    fn printing(&self) -> bool {
        self.0.printing()
    }

    fn print(&mut self, line: &str) {
        self.0.print(line);
    }

    fn call(&mut self, _: usize, args: &[Value], view: View<'_>) -> Run<Value> {
        let mut command = String::new();
        args.iter().try_for_each(|arg| view.write_str(&mut command, *arg))?;
        self.0.command(command);
        Ok(Value::NONE)
    }
}

impl Monitor for Automaton {
    type State = Slices;
    type Scratch = Scratch;

    fn start<O: Observer>(&self, scratch: &mut Scratch, observer: &mut O) -> Slices {
        let mut slices = Slices::new(self);
        let root = slices.copy(None, self.initial, 0, &[]);
        slices.enter(self, self.initial);
        let event = Event { symbol: SymbolId(u32::MAX), params: &[], text: "" };
        let mut stepping =
            Stepping { automaton: self, slices: &mut slices, scratch, event: &event, observer };
        stepping.guarded(|stepping| {
            if let Some(code) = stepping.automaton.initialization {
                stepping.run(root, code)?;
            }
            stepping.observer.created(stepping.slices, SliceId(root));
            let initial = stepping.automaton.entries[usize::from(stepping.automaton.initial)];
            if let Some(action) = initial.action {
                stepping.run(root, action)?;
            }
            Ok(initial.verdict)
        });
        slices
    }

    fn needs(&self, state: &Slices) -> EventSet {
        if state.failure.is_some() { EventSet::default() } else { state.needs() }
    }

    #[inline]
    fn wants(&self, state: &Slices, symbol: SymbolId) -> bool {
        state.failure.is_none() && state.wants(symbol)
    }

    #[inline]
    fn step<O: Observer>(
        &self,
        slices: &mut Slices,
        scratch: &mut Scratch,
        event: &Event<'_>,
        observer: &mut O,
    ) -> Option<Verdict> {
        self.step_on(slices, scratch, event, observer, None)
    }
}

impl Automaton {
    /// Follows a run of events, leaving out those that no slice wants. After each event that was followed,
    /// `after` is told its position and the verdict, and may break off; the position after the last event
    /// that was looked at is returned.
    ///
    /// Faster than so many [`step`](Monitor::step)s, because the memory is asked for slices some events
    /// before they are needed.
    #[inline]
    pub fn run<O: Observer>(
        &self,
        slices: &mut Slices,
        scratch: &mut Scratch,
        batch: &Batch,
        range: Range<usize>,
        observer: &mut O,
        mut after: impl FnMut(&mut O, &Slices, usize, Option<Verdict>) -> ControlFlow<()>,
    ) -> usize {
        // What is known of the events to come, by their number: first the hash, then most likely the slice.
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
                    hash => slices.guess(hash),
                };
            }
            let event = batch.event(at);
            if self.wants(slices, event.symbol) {
                let verdict = self.step_on(slices, scratch, &event, observer, guesses[at % RING]);
                if after(observer, slices, at, verdict).is_break() {
                    return at + 1;
                }
            }
        }
        range.end
    }

    /// The hash by which a coming event's slice will be looked up, if there is one slice parameter.
    #[inline(always)]
    fn look_ahead(&self, slices: &Slices, event: &Event<'_>) -> u64 {
        let plan = self.plans.get(event.symbol.0 as usize);
        let key = plan.and_then(|plan| event.params.get(usize::from(plan.single?)));
        key.map_or(0, |key| slices.look_ahead(*key))
    }

    /// Follows one event; `guess` is the slice that it most likely concerns.
    #[inline(always)]
    fn step_on<O: Observer>(
        &self,
        slices: &mut Slices,
        scratch: &mut Scratch,
        event: &Event<'_>,
        observer: &mut O,
        guess: Option<SliceId>,
    ) -> Option<Verdict> {
        let plan = self.plans.get(event.symbol.0 as usize)?;
        if slices.failure.is_some() {
            return Some(Verdict::Error);
        }
        if let Some(at) = missing(&plan.keys, event) {
            observer.incomplete(at);
            return None;
        }
        let mut stepping = Stepping { automaton: self, slices, scratch, event, observer };
        stepping.guarded(|stepping| stepping.follow(guess))
    }

    /// Puts a slice into another state, as a person may ask.
    pub fn set_state(&self, slices: &mut Slices, slice: SliceId, state: StateId) {
        slices.set_state(self, slice, state);
    }
}

/// An end of a transition on which a slice leaves its state.
struct Way {
    /// The transition.
    number: u32,
    branch: Branch,
    exit: Exit,
}

/// One event on its way through the slices.
struct Stepping<'a, 'e, O> {
    automaton: &'a Automaton,
    slices: &'a mut Slices,
    scratch: &'a mut Scratch,
    event: &'a Event<'e>,
    observer: &'a mut O,
}

impl<O: Observer> Stepping<'_, '_, O> {
    /// Runs a part of the step; a fault in it ends the monitor.
    #[inline]
    fn guarded(&mut self, part: impl FnOnce(&mut Self) -> Run<Verdict>) -> Option<Verdict> {
        let outcome = part(self);
        self.slices.heap.sweep();
        Some(outcome.unwrap_or_else(|fault| self.fail(*fault)))
    }

    #[cold]
    fn fail(&mut self, fault: Fault) -> Verdict {
        self.slices.failure = Some(Failure { message: fault.message, span: fault.span });
        Verdict::Error
    }

    #[inline]
    fn follow(&mut self, guess: Option<SliceId>) -> Run<Verdict> {
        let plan = &self.automaton.plans[self.event.symbol.0 as usize];
        if plan.mask == 0 {
            return match self.slices.root() {
                Some(SliceId(root)) if self.slices.len() == 1 => self.evaluate_quickly(root),
                _ => self.everywhere(),
            };
        }
        if let Some(at) = plan.single {
            let key = canonical(self.event.params[usize::from(at)]);
            return match self.slices.single(key, self.event.text, guess) {
                Some(slice) => self.evaluate_quickly(slice),
                None => self.create_lazily(key),
            };
        }
        self.follow_several()
    }

    /// The general case: several slice parameters.
    fn follow_several(&mut self) -> Run<Verdict> {
        let automaton = self.automaton;
        let plan = &automaton.plans[self.event.symbol.0 as usize];
        let (params, text) = (self.event.params, self.event.text);
        let keys = Keys::collect(plan.keys.iter().map(|at| canonical(params[usize::from(*at)])));
        let mut touched = core::mem::take(&mut self.scratch.touched);
        touched.clear();
        let mut at = self.slices.first(plan.cover, &keys, text);
        while let Some(slice) = at {
            touched.push(slice);
            at = self.slices.next(plan.cover, slice);
        }
        touched.sort_unstable();
        let verdict = match touched.is_empty() {
            false => self.evaluate_all(&touched),
            true => match self.parent_for(plan.mask, &plan.parents, &keys) {
                Some(parent) => {
                    let texts = Texts { event: text, pool: "" };
                    let mut owned = [Value::UNSET; MAX_SLICE_PARAMS];
                    for (own, key) in owned.iter_mut().zip(keys.iter()) {
                        *own = texts.own(&mut self.slices.heap, *key)?;
                    }
                    let slice = self.slices.copy(Some(parent), 0, plan.mask, &owned[..keys.len()]);
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
        let specific = parents.iter().find_map(|cover| {
            let smaller = self.automaton.masks[*cover];
            let bits = (0..MAX_SLICE_PARAMS).filter(|bit| mask & 1 << bit != 0);
            let shared = keys.iter().zip(bits).filter(|(_, bit)| smaller & 1 << bit != 0);
            let part = Keys::collect(shared.map(|(key, _)| *key));
            self.slices.exact(*cover, &part, self.event.text)
        });
        specific.or(self.slices.root().map(|root| root.0))
    }

    /// With one slice parameter, a new slice that takes no transition is in all respects like the root it
    /// would be a copy of, and so it need not be kept.
    fn create_lazily(&mut self, key: Value) -> Run<Verdict> {
        let Some(SliceId(root)) = self.slices.root() else { return Ok(Verdict::Undecided) };
        let state = self.slices.records.head(root).state;
        let automaton = self.automaton;
        if automaton.cell(state, self.event.symbol.0 as usize).arcs.is_empty() {
            return Ok(automaton.entries[usize::from(state)].verdict);
        }
        let texts = Texts { event: self.event.text, pool: "" };
        let key = texts.own(&mut self.slices.heap, key)?;
        let slice = self.slices.copy(Some(root), 0, 1, &[key]);
        self.evaluate(slice, true)
    }

    /// An event that binds no slice parameter concerns every slice.
    fn everywhere(&mut self) -> Run<Verdict> {
        let mut touched = core::mem::take(&mut self.scratch.touched);
        touched.clear();
        touched.extend(self.slices.iter().map(|slice| slice.0));
        let verdict = self.evaluate_all(&touched);
        self.scratch.touched = touched;
        verdict
    }

    fn evaluate_all(&mut self, slices: &[u32]) -> Run<Verdict> {
        let mut worst = Verdict::Accepting;
        for slice in slices {
            worst = worst.max(self.evaluate(*slice, false)?);
        }
        Ok(worst)
    }

    /// The same as [`evaluate`](Stepping::evaluate), in one go where that can be done.
    #[inline(always)]
    fn evaluate_quickly(&mut self, slice: u32) -> Run<Verdict> {
        let automaton = self.automaton;
        let from = self.slices.records.head(slice).state;
        let cell = automaton.cell(from, self.event.symbol.0 as usize);
        if let Some(first) = cell.first {
            return self.decide(slice, false, from, first);
        }
        let Some(quick) = &cell.quick else { return self.evaluate(slice, false) };
        if quick.prints && self.observer.printing() || missing(&cell.required, self.event).is_some() {
            return self.evaluate(slice, false);
        }
        let env = self.slices.records.env_mut(slice);
        match quick.take(env, self.event.params) {
            Outcome::Taken(branch, to) => {
                if to != from {
                    self.move_to(slice, from, to);
                }
                let transition = quick.number as usize;
                self.observer
                    .taken(self.slices, Taken { slice: SliceId(slice), transition, branch, from, to });
                Ok(automaton.entries[usize::from(to)].verdict)
            }
            Outcome::Unhandled => {
                self.observer.unhandled(self.slices, SliceId(slice));
                Ok(automaton.entries[usize::from(from)].verdict)
            }
            Outcome::Unusual => self.evaluate(slice, false),
        }
    }

    fn move_to(&mut self, slice: u32, from: StateId, to: StateId) {
        self.slices.records.set_state(slice, to);
        self.slices.pass(self.automaton, from, to);
    }

    /// Takes the first transition that applies in a slice. A `fresh` slice is kept only if there is one.
    #[inline(never)]
    fn evaluate(&mut self, slice: u32, fresh: bool) -> Run<Verdict> {
        let automaton = self.automaton;
        let from = self.slices.records.head(slice).state;
        let cell = automaton.cell(from, self.event.symbol.0 as usize);
        if let Some(at) = missing(&cell.required, self.event) {
            self.observer.incomplete(at);
            if fresh {
                self.slices.discard(slice);
            }
            return Ok(automaton.entries[usize::from(from)].verdict);
        }
        if let Some(first) = cell.first {
            return self.decide(slice, fresh, from, first);
        }
        for at in cell.arcs.clone() {
            let arc = &automaton.arcs[at as usize];
            let holds = match arc.guard {
                None => true,
                Some(code) => {
                    let value = match self.run(slice, code) {
                        Ok(value) => value,
                        Err(fault) => return self.faulted(slice, fresh, fault),
                    };
                    if arc.is_update {
                        true
                    } else if value.is_none() {
                        continue;
                    } else {
                        value.as_bool().unwrap_or_else(|| self.slices.view(self.event.text).truth(value))
                    }
                }
            };
            let (branch, exit) = match holds {
                true => (Branch::Success, arc.success),
                false => (Branch::Failure, arc.failure),
            };
            let Some(exit) = exit else { continue };
            return self.leave(slice, fresh, from, Way { number: arc.number, branch, exit });
        }
        Ok(self.stay(slice, fresh, from))
    }

    /// Goes from question to question to the transition that is taken.
    fn decide(&mut self, slice: u32, fresh: bool, from: StateId, mut next: Next) -> Run<Verdict> {
        let automaton = self.automaton;
        loop {
            match next {
                Next::Stay => return Ok(self.stay(slice, fresh, from)),
                Next::Take(arc) => {
                    let arc = &automaton.arcs[arc as usize];
                    let Some(exit) = arc.success else { return Ok(self.stay(slice, fresh, from)) };
                    let way = Way { number: arc.number, branch: Branch::Success, exit };
                    return self.leave(slice, fresh, from, way);
                }
                Next::Ask(fork) => {
                    let fork = automaton.forks[fork as usize];
                    let answer = match &automaton.decisions.tests[fork.test as usize] {
                        Test::Parameter(at) => holds(self.event.params, *at),
                        Test::Block { code, reads } => match self.answer(slice, *code, reads) {
                            Ok(answer) => answer,
                            Err(fault) => return self.faulted(slice, fresh, fault),
                        },
                    };
                    next = if answer { fork.yes } else { fork.no };
                }
            }
        }
    }

    /// Whether a block returns something true; not so if the event lacks what it reads.
    fn answer(&mut self, slice: u32, code: CodeId, reads: &[usize]) -> Run<bool> {
        let lacks = |at: &&usize| self.event.params.get(**at).is_none_or(|value| value.is_unset());
        if let Some(at) = reads.iter().find(lacks) {
            self.observer.absent(*at);
            return Ok(false);
        }
        let value = self.run(slice, code)?;
        Ok(value.as_bool().unwrap_or_else(|| self.slices.view(self.event.text).truth(value)))
    }

    /// Leaves a state by the end of a transition.
    #[inline(always)]
    fn leave(&mut self, slice: u32, fresh: bool, from: StateId, way: Way) -> Run<Verdict> {
        let automaton = self.automaton;
        let Way { number, branch, exit } = way;
        if fresh {
            self.commit(slice);
        }
        let mut to = exit.target.unwrap_or(from);
        if let Some(block) = exit.block
            && let Some(state) = self.run(slice, block)?.as_int()
        {
            to = state as StateId;
        }
        if let Some(action) = exit.action {
            self.run(slice, action)?;
        }
        if to != from {
            self.move_to(slice, from, to);
        }
        let state = automaton.entries[usize::from(to)];
        if let Some(action) = state.action {
            self.run(slice, action)?;
        }
        let transition = number as usize;
        self.observer.taken(self.slices, Taken { slice: SliceId(slice), transition, branch, from, to });
        if state.is_final {
            self.observer.forgotten(self.slices, SliceId(slice));
            self.slices.forget(automaton, slice);
        }
        Ok(state.verdict)
    }

    /// No transition is taken.
    fn stay(&mut self, slice: u32, fresh: bool, from: StateId) -> Verdict {
        self.observer.unhandled(self.slices, SliceId(slice));
        if fresh {
            self.slices.discard(slice);
        }
        self.automaton.entries[usize::from(from)].verdict
    }

    /// A guard failed: the monitor ends, with the slice in which it did among the others.
    #[cold]
    fn faulted(&mut self, slice: u32, fresh: bool, fault: Box<Fault>) -> Run<Verdict> {
        if fresh {
            self.commit(slice);
        }
        Err(fault)
    }

    /// Makes a new slice one of the others.
    fn commit(&mut self, slice: u32) {
        self.slices.enlist(slice);
        let state = self.slices.records.head(slice).state;
        self.slices.enter(self.automaton, state);
        self.observer.created(self.slices, SliceId(slice));
    }

    #[inline(always)]
    fn run(&mut self, slice: u32, code: CodeId) -> Run<Value> {
        let frame = Frame {
            env: self.slices.records.env_mut(slice),
            params: self.event.params,
            text: self.event.text,
            heap: &mut self.slices.heap,
        };
        self.scratch.machine.run(&self.automaton.program, code, frame, &mut Listening(self.observer))
    }
}
