//! Monitors that step where the events happen, inside the watched process, and call for someone only when there is
//! something to react to.
//!
//! Whoever then takes over must know what the properties have come to, and how. So the last events are kept, and the state
//! of the monitors before the first of them: stepping these again, elsewhere, leads to the same state by the same way.
//! Nothing else of the past is needed, and nothing but plain data crosses.
//!
//! Scripts (PEDL and MEDL) may step here, too: what they find are events for the properties. Those are not kept, as whoever
//! takes over has the scripts find them again.

mod gone;
mod lanes;
mod scripted;
mod tape;

pub use lanes::{LANES, Lane};

use crate::automaton::{Automaton, StateId};
use crate::event::{Batch, Event, Stamp, SymbolId};
use crate::mac::Remembered;
use crate::observer::{Observer, Taken};
use crate::slices::{SliceId, Slices};
use crate::step::{Monitor, Scratch};
use crate::swift::{Sliced, Stepped, Swift};
use crate::verdict::Verdict;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use invigil_expr::value::Value;
use lanes::Dealt;
use scripted::Scripted;
use tape::Tape;

/// Someone reacts when a slice enters the state.
pub const ENTERING: u8 = 1;
/// Someone reacts when a slice leaves the state.
pub const LEAVING: u8 = 2;

/// At least so many events are kept, once there were as many.
const BLOCK: usize = 4096;
/// So many parameters need no memory of their own.
const FEW: usize = 8;
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
    /// What scripts remembered, and how many events they had found.
    scripts: Vec<Remembered>,
    found: u64,
    events: Tape,
    /// Objects that slices were for, and that are no more since.
    gone: Vec<i64>,
}

impl Block {
    fn new(inmates: &[Inmate], unseen: &[Unseen], scripted: &Scripted) -> Block {
        Block {
            before: inmates.iter().map(|inmate| inmate.slices.clone()).collect(),
            unseen: unseen.to_vec(),
            scripts: scripted.scripts.remembered(),
            found: scripted.count,
            events: Tape::default(),
            gone: Vec::new(),
        }
    }
}

/// The past as far as it is kept; see the module.
#[derive(Debug)]
pub struct Past<'a> {
    /// How many events came before those that are kept, since the monitors were put here, with those that scripts found.
    pub unseen_events: u64,
    /// What those did, per property.
    pub unseen: &'a [Unseen],
    /// Where each property stood before the first event that is kept.
    pub before: &'a [Slices],
    /// What each pair of scripts remembered then.
    pub scripts: &'a [Remembered],
    /// The events that are kept, the last of them the one that someone is to react to. What scripts found is not among them.
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
    tables: Tables,
    /// For each, the table that knows what to do with one of its slices, if there is one.
    sliced: Vec<Option<Sliced>>,
    /// For each event, the properties that may do something on it.
    concerned: Vec<Vec<usize>>,
    scratch: Scratch,
    /// What happened since the monitors were put here.
    so_far: Vec<Unseen>,
    /// How many events came before those of the newer block.
    before: u64,
    older: Option<Block>,
    newer: Block,
    /// How many events go into a block.
    room: usize,
    dealt: Dealt,
    scripted: Scripted,
}

impl Inside {
    /// The monitors step here from now on.
    pub fn new(inmates: Vec<Inmate>) -> Inside {
        let so_far = vec![Unseen::default(); inmates.len()];
        let scripted = Scripted::default();
        let newer = Block::new(&inmates, &so_far, &scripted);
        let swift = inmates.iter().map(|inmate| {
            let mut swift = Swift::new(&inmate.automaton, &inmate.concern)?;
            swift.load(&inmate.slices);
            Some(swift)
        });
        let tables = Tables::new(swift.collect());
        let sliced = inmates.iter().map(|inmate| Sliced::new(&inmate.automaton, &inmate.concern)).collect();
        let symbols = inmates.iter().map(|inmate| inmate.automaton.plans.len()).max().unwrap_or_default();
        let concerned = (0..symbols).map(|symbol| {
            let is_concerned = |(_, inmate): &(usize, &Inmate)| {
                let plan = inmate.automaton.plans.get(symbol);
                plan.is_some_and(|plan| !plan.by_state.is_empty() || plan.mask != 0)
            };
            inmates.iter().enumerate().filter(is_concerned).map(|(at, _)| at).collect()
        });
        let concerned = concerned.collect();
        let mut inside = Inside {
            inmates,
            tables,
            sliced,
            concerned,
            scratch: Scratch::default(),
            so_far,
            before: 0,
            older: None,
            newer,
            room: 0,
            dealt: Dealt::default(),
            scripted,
        };
        inside.room = inside.block();
        inside
    }

    /// The properties that may do something on an event.
    fn concerned(&self, symbol: SymbolId) -> &[usize] {
        self.concerned.get(symbol.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// Whether some property needs this event now.
    #[inline]
    pub fn wants(&self, symbol: SymbolId) -> bool {
        self.concerned(symbol).iter().any(|at| match self.tables.get(*at) {
            Some(swift) if swift.is_ahead() => swift.wants(symbol),
            _ => self.inmates[*at].automaton.wants(&self.inmates[*at].slices, symbol),
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
        if let Some(swift) = self.tables.get_mut(at) {
            let Inmate { automaton, slices, .. } = &mut self.inmates[at];
            swift.store(automaton, slices);
            if self.tables.is_one() {
                self.so_far[at].steps += self.newer.events.take_quick() as u64;
            }
        }
    }

    /// How many events there were since the monitors were put here, without what scripts found.
    pub fn count(&self) -> u64 {
        self.before + self.newer.events.len() as u64
    }

    /// Steps every property. Whether someone is to react. An event that no property wants is as if it had not been. One that
    /// scripts [follow](Inside::follow) goes to [`happen`](Inside::happen).
    pub fn step(&mut self, event: &Event<'_>, stamp: Stamp, thread: u32) -> bool {
        if !self.wants(event.symbol) {
            return false;
        }
        if self.newer.events.len() >= self.room {
            self.turn_over();
        }
        self.newer.events.push(event, stamp, thread);
        self.step_concerned(event)
    }

    fn step_concerned(&mut self, event: &Event<'_>) -> bool {
        let mut reacts = false;
        for nth in 0..self.concerned(event.symbol).len() {
            reacts |= self.step_one(self.concerned(event.symbol)[nth], event);
        }
        reacts
    }

    /// The same for an event without a time whose parameters are all integers, which takes a few nanoseconds where a
    /// property does no more than compare and add them.
    #[inline]
    pub fn step_integers(&mut self, symbol: SymbolId, params: &[i64], thread: u32) -> bool {
        self.expect(thread);
        !self.step_quickly(symbol, params) && self.step_slowly(symbol, params, thread)
    }

    /// The same if it takes a few nanoseconds only, and nobody is to react. False if that is not so; then nothing was done. No
    /// memory is asked for on this way. The event happens in the thread that was named last.
    #[inline(always)]
    pub fn step_quickly(&mut self, symbol: SymbolId, params: &[i64]) -> bool {
        match self.tables.alone.is_ahead() {
            true => self.step_at_once(symbol, params),
            false => self.step_slice_at_once(symbol, params),
        }
    }

    /// As [`step_at_once`](Inside::step_at_once), if the one property has slices.
    #[inline(always)]
    fn step_slice_at_once(&mut self, symbol: SymbolId, params: &[i64]) -> bool {
        let ([Some(sliced)], [inmate]) = (&self.sliced[..], &mut self.inmates[..]) else { return false };
        if !self.newer.events.prepare(symbol, params) {
            return false;
        }
        let stepped = sliced.step(&inmate.automaton, &mut inmate.slices, symbol, params);
        self.newer.events.add_if(stepped, params.len())
    }

    /// The next events happen in this thread, until another one is named.
    pub fn expect(&mut self, thread: u32) {
        self.newer.events.expect(thread);
    }

    /// The same, if no memory is needed to say so.
    #[inline(always)]
    pub fn expect_quickly(&mut self, thread: u32) -> bool {
        self.newer.events.expect_quickly(thread)
    }

    /// Steps the one property that there is, if it has a table that knows what to do, and nobody is to react. False if that is
    /// not so; then nothing was done. The event happens in the thread that was named last.
    #[inline(always)]
    pub fn step_at_once(&mut self, symbol: SymbolId, params: &[i64]) -> bool {
        // A block may become longer than it should by what there is room for.
        if !self.newer.events.prepare(symbol, params) {
            return false;
        }
        let stepped = self.tables.alone.step(symbol, params);
        self.newer.events.add_if(stepped, params.len())
    }

    /// The same in any case, for an event that did not go [quickly](Inside::step_quickly).
    #[inline(never)]
    pub fn step_slowly(&mut self, symbol: SymbolId, params: &[i64], thread: u32) -> bool {
        if !self.wants(symbol) {
            return false;
        }
        if self.newer.events.len() >= self.room {
            self.turn_over();
        }
        self.newer.events.push_integers(symbol, params, thread);
        let mut few = [Value::UNSET; FEW];
        let many: Vec<Value>;
        let values = match few.get_mut(..params.len()) {
            Some(few) => {
                few.iter_mut().zip(params).for_each(|(value, param)| *value = Value::int(*param));
                &*few
            }
            None => {
                many = params.iter().map(|param| Value::int(*param)).collect();
                &many
            }
        };
        let event = Event { symbol, params: values, text: "" };
        let mut reacts = false;
        for nth in 0..self.concerned(symbol).len() {
            let at = self.concerned(symbol)[nth];
            let Inmate { automaton, slices, .. } = &mut self.inmates[at];
            let stepped = match (&mut self.sliced[at], self.tables.get_mut(at)) {
                (Some(sliced), _) => sliced.step(automaton, slices, symbol, params),
                (None, Some(swift)) => swift.step(symbol, params),
                (None, None) => Stepped::Unknown,
            };
            self.so_far[at].steps += u64::from(stepped == Stepped::Taken);
            if stepped == Stepped::Unknown {
                // It has no table, or that does not know.
                reacts |= self.step_one(at, &event);
                if let Some(swift) = self.tables.get_mut(at) {
                    swift.load(&self.inmates[at].slices);
                }
            }
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
            unseen_events: self.count() - events.len() as u64 + first.found,
            unseen: &first.unseen,
            before: &first.before,
            scripts: &first.scripts,
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
        let mut fresh = Block::new(&self.inmates, &self.so_far, &self.scripted);
        // The memory of what is forgotten is used again.
        if let Some(Block { mut events, .. }) = self.older.take() {
            events.clear();
            fresh.events = events;
        }
        if let Some(thread) = self.newer.events.thread() {
            fresh.events.expect(thread);
        }
        self.older = Some(core::mem::replace(&mut self.newer, fresh));
        self.room = self.block();
    }
}

/// Tables of properties, by the numbers of those.
#[derive(Debug)]
struct Tables {
    /// That of the property, if there is one property. It lies here because every load on the way to it counts.
    alone: Swift,
    /// Those of the properties, if there are several.
    several: Vec<Option<Swift>>,
}

impl Tables {
    fn new(mut all: Vec<Option<Swift>>) -> Tables {
        match (all.pop(), all.is_empty()) {
            (Some(alone), true) => Tables { alone: alone.unwrap_or_default(), several: Vec::new() },
            (last, _) => {
                all.extend(last);
                Tables { alone: Swift::default(), several: all }
            }
        }
    }

    fn is_one(&self) -> bool {
        self.several.is_empty()
    }

    fn get(&self, at: usize) -> Option<&Swift> {
        if self.is_one() { Some(&self.alone) } else { self.several.get(at)?.as_ref() }
    }

    fn get_mut(&mut self, at: usize) -> Option<&mut Swift> {
        if self.is_one() { Some(&mut self.alone) } else { self.several.get_mut(at)?.as_mut() }
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
