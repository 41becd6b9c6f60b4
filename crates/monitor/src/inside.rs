//! Monitors that step where the events happen, inside the watched process, and call for someone only when there is
//! something to react to.
//!
//! Whoever then takes over must know what the properties have come to, and how. So the last events are kept, and the state
//! of the monitors before the first of them: stepping these again, elsewhere, leads to the same state by the same way.
//! Nothing else of the past is needed, and nothing but plain data crosses.

mod gone;
mod tape;

use crate::automaton::{Automaton, StateId};
use crate::event::{Batch, Event, Stamp, SymbolId};
use crate::observer::{Observer, Taken};
use crate::slices::{SliceId, Slices};
use crate::step::{Monitor, Scratch};
use crate::swift::{Stepped, Swift};
use crate::verdict::Verdict;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use invigil_expr::value::Value;
use tape::Tape;

/// Someone reacts when a slice enters the state.
pub const ENTERING: u8 = 1;
/// Someone reacts when a slice leaves the state.
pub const LEAVING: u8 = 2;

/// At least so many events are kept, once there were as many.
const BLOCK: usize = 4096;
/// Bytes of the monitors' state for each event that is kept: copying the state must not cost more than stepping.
const BYTES: usize = 32;

/// A property, where it stands, and what about it someone reacts to.
#[derive(Clone, Debug)]
pub struct Inmate {
    /// The property.
    pub automaton: Arc<Automaton>,
    /// Where it stands.
    pub slices: Slices,
    /// For each state, [`ENTERING`] and [`LEAVING`].
    pub concern: Vec<u8>,
}

/// What happened to a property on events that are not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unseen {
    /// The transitions that were taken.
    pub steps: u64,
    /// The slices that came into being.
    pub created: u64,
}

/// Some events, and where the monitors stood before the first.
#[derive(Clone, Debug)]
struct Block {
    before: Vec<Slices>,
    unseen: Vec<Unseen>,
    events: Tape,
    /// Objects that slices were for, and that are no more since.
    gone: Vec<i64>,
}

impl Block {
    fn new(inmates: &[Inmate], unseen: &[Unseen]) -> Block {
        Block {
            before: inmates.iter().map(|inmate| inmate.slices.clone()).collect(),
            unseen: unseen.to_vec(),
            events: Tape::default(),
            gone: Vec::new(),
        }
    }
}

/// The past as far as it is kept; see the module.
#[derive(Debug)]
pub struct Past<'a> {
    /// How many events came before those that are kept, since the monitors were put here.
    pub unseen_events: u64,
    /// What those did, per property.
    pub unseen: &'a [Unseen],
    /// Where each property stood before the first event that is kept.
    pub before: &'a [Slices],
    /// The events that are kept, the last of them the one that someone is to react to.
    pub events: Batch,
    /// The thread of each.
    pub threads: Vec<u32>,
    /// The objects that slices were for, and that are no more since then.
    pub gone: Vec<i64>,
}

/// Monitors inside a watched process; see the module.
///
/// ```
/// # use invigil_monitor::automaton::{Automaton, End, Parts, State, Transition, AtEnd};
/// # use invigil_monitor::event::{Event, Stamp, SymbolId};
/// # use invigil_monitor::inside::{ENTERING, Inmate, Inside};
/// # use invigil_monitor::observer::Unobserved;
/// # use invigil_monitor::verdict::Verdict;
/// # use invigil_monitor::{Monitor, Scratch};
/// # use std::sync::Arc;
/// # let state = |name: &str, verdict| State {
/// #     name: name.into(), verdict, is_final: false, action: None, at_end: AtEnd::Nothing, span: Default::default(),
/// # };
/// # let to = |from, symbol| Transition {
/// #     from, symbol: SymbolId(symbol), guard: None, success: Some(End { target: Some(1 - from), ..End::default() }),
/// #     failure: None, reads: vec![], condition: None, span: Default::default(),
/// # };
/// // `open` and `close` in turn, and someone wants to know when it is open.
/// let parts = Parts {
///     states: vec![state("closed", Verdict::Accepting), state("open", Verdict::Accepting)],
///     transitions: vec![to(0, 0), to(1, 1)],
///     ..Parts::default()
/// };
/// let automaton = Arc::new(Automaton::new(parts));
/// let slices = automaton.start(&mut Scratch::default(), &mut Unobserved);
/// let mut inside = Inside::new(vec![Inmate { automaton, slices, concern: vec![0, ENTERING] }]);
/// let stamp = Stamp { time: f64::NAN, line: 0 };
/// let mut happens = |symbol| inside.step(&Event { symbol: SymbolId(symbol), params: &[], text: "" }, stamp, 1);
/// assert!(!happens(1));
/// assert!(happens(0));
/// ```
#[derive(Debug)]
pub struct Inside {
    inmates: Vec<Inmate>,
    /// For each, the table that may be ahead of it, if there is one.
    swift: Vec<Option<Swift>>,
    scratch: Scratch,
    /// What happened since the monitors were put here.
    so_far: Vec<Unseen>,
    /// How many events came before those of the newer block.
    before: u64,
    older: Option<Block>,
    newer: Block,
    /// How many events go into a block.
    room: usize,
}

impl Inside {
    /// The monitors step here from now on.
    pub fn new(inmates: Vec<Inmate>) -> Inside {
        let so_far = vec![Unseen::default(); inmates.len()];
        let newer = Block::new(&inmates, &so_far);
        let swift = inmates.iter().map(|inmate| {
            let mut swift = Swift::new(&inmate.automaton, &inmate.concern)?;
            swift.load(&inmate.slices);
            Some(swift)
        });
        let swift = swift.collect();
        let scratch = Scratch::default();
        let mut inside = Inside { inmates, swift, scratch, so_far, before: 0, older: None, newer, room: 0 };
        inside.room = inside.block();
        inside
    }

    /// Whether some property needs this event now.
    #[inline]
    pub fn wants(&self, symbol: SymbolId) -> bool {
        self.inmates.iter().zip(&self.swift).any(|(inmate, swift)| match swift {
            Some(swift) if swift.is_ahead() => swift.wants(symbol),
            _ => inmate.automaton.wants(&inmate.slices, symbol),
        })
    }

    /// Where the properties stand.
    pub fn inmates(&mut self) -> &[Inmate] {
        self.settle();
        &self.inmates
    }

    /// Brings the properties to where their tables stand.
    fn settle(&mut self) {
        for at in 0..self.inmates.len() {
            self.settle_one(at);
        }
    }

    fn settle_one(&mut self, at: usize) {
        if let Some(swift) = &mut self.swift[at] {
            let Inmate { automaton, slices, .. } = &mut self.inmates[at];
            self.so_far[at].steps += swift.store(automaton, slices);
        }
    }

    /// How many events there were since the monitors were put here.
    pub fn count(&self) -> u64 {
        self.before + self.newer.events.len() as u64
    }

    /// Steps every property. Whether someone is to react. An event that no property wants is as if it had not been.
    pub fn step(&mut self, event: &Event<'_>, stamp: Stamp, thread: u32) -> bool {
        if !self.wants(event.symbol) {
            return false;
        }
        if self.newer.events.len() >= self.room {
            self.turn_over();
        }
        self.newer.events.push(event, stamp, thread);
        (0..self.inmates.len()).fold(false, |reacts, at| self.step_one(at, event) | reacts)
    }

    /// The same for an event without a time whose parameters are all integers, which takes a few nanoseconds where a
    /// property does no more than compare and add them.
    #[inline(always)]
    pub fn step_integers(&mut self, symbol: SymbolId, params: &[i64], thread: u32) -> bool {
        // One property alone is what most people watch.
        if let [Some(swift)] = &mut self.swift[..]
            && self.newer.events.len() < self.room
        {
            match swift.step(symbol, params) {
                Stepped::Unwanted => return false,
                Stepped::Done => {
                    self.newer.events.push_integers(symbol, params, thread);
                    return false;
                }
                Stepped::Unknown => {}
            }
        }
        self.step_all(symbol, params, thread)
    }

    #[inline(never)]
    fn step_all(&mut self, symbol: SymbolId, params: &[i64], thread: u32) -> bool {
        if !self.wants(symbol) {
            return false;
        }
        if self.newer.events.len() >= self.room {
            self.turn_over();
        }
        self.newer.events.push_integers(symbol, params, thread);
        let mut reacts = false;
        for at in 0..self.swift.len() {
            let stepped =
                self.swift[at].as_mut().map_or(Stepped::Unknown, |swift| swift.step(symbol, params));
            if stepped == Stepped::Unknown {
                reacts |= self.step_generally(at, symbol, params);
            }
        }
        reacts
    }

    /// A property that has no table, or whose table does not know.
    #[inline(never)]
    fn step_generally(&mut self, at: usize, symbol: SymbolId, params: &[i64]) -> bool {
        let params: Vec<Value> = params.iter().map(|param| Value::int(*param)).collect();
        let reacts = self.step_one(at, &Event { symbol, params: &params, text: "" });
        if let Some(swift) = &mut self.swift[at] {
            swift.load(&self.inmates[at].slices);
        }
        reacts
    }

    fn step_one(&mut self, at: usize, event: &Event<'_>) -> bool {
        self.settle_one(at);
        let Inmate { automaton, slices, concern } = &mut self.inmates[at];
        // A property that ended with an error steps no more.
        if !automaton.wants(slices, event.symbol) {
            return false;
        }
        let so_far = &mut self.so_far[at];
        let mut watcher = Watcher { automaton, concern, so_far, reacts: false };
        let verdict = automaton.step(slices, &mut self.scratch, event, &mut watcher);
        watcher.reacts | (verdict == Some(Verdict::Error))
    }

    /// The events that are kept.
    pub fn past(&self) -> Past<'_> {
        let first = self.older.as_ref().unwrap_or(&self.newer);
        let (mut events, mut threads) = (Batch::default(), Vec::new());
        for block in self.older.iter().chain([&self.newer]) {
            block.events.play(&mut events, &mut threads);
        }
        Past {
            unseen_events: self.count() - events.len() as u64,
            unseen: &first.unseen,
            before: &first.before,
            events,
            threads,
            gone: self.older.iter().chain([&self.newer]).flat_map(|block| &block.gone).copied().collect(),
        }
    }

    fn block(&self) -> usize {
        let bytes: usize = self.inmates.iter().map(|inmate| inmate.slices.bytes()).sum();
        BLOCK.max(bytes / BYTES)
    }

    /// Begins a new block.
    #[cold]
    fn turn_over(&mut self) {
        self.settle();
        self.before += self.newer.events.len() as u64;
        let mut fresh = Block::new(&self.inmates, &self.so_far);
        // The memory of what is forgotten is used again.
        if let Some(Block { mut events, .. }) = self.older.take() {
            events.clear();
            fresh.events = events;
        }
        self.older = Some(core::mem::replace(&mut self.newer, fresh));
        self.room = self.block();
    }
}

/// Looks out for what someone reacts to.
struct Watcher<'a> {
    automaton: &'a Automaton,
    concern: &'a [u8],
    so_far: &'a mut Unseen,
    reacts: bool,
}

impl Observer for Watcher<'_> {
    fn printing(&self) -> bool {
        true
    }

    fn print(&mut self, _: &str) {
        self.reacts = true;
    }

    fn command(&mut self, _: String) {
        self.reacts = true;
    }

    fn created(&mut self, _: &Slices, _: SliceId) {
        self.so_far.created += 1;
    }

    #[inline]
    fn taken(&mut self, _: &Slices, taken: Taken) {
        self.so_far.steps += 1;
        let concern = |state: StateId| self.concern.get(usize::from(state)).copied().unwrap_or_default();
        let verdict = |state: StateId| self.automaton.entries[usize::from(state)].verdict;
        let is_violation = taken.from != taken.to
            && verdict(taken.to) == Verdict::NonAccepting
            && verdict(taken.from) != Verdict::NonAccepting;
        self.reacts |=
            is_violation || concern(taken.from) & LEAVING != 0 || concern(taken.to) & ENTERING != 0;
    }

    fn absent(&mut self, _: usize) {
        self.reacts = true;
    }

    fn incomplete(&mut self, _: usize) {
        self.reacts = true;
    }
}
