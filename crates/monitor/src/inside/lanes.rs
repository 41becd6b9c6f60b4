//! Several threads that step one property at once, each about a slice of its own.
//!
//! Events about different slices of a property need no order among each other. So there are *lanes*: the slices are dealt out among
//! them by their key, and whoever has a lane may follow events about its slices, if no more is to be done than what the
//! [table](crate::swift) knows. Each lane keeps its own events, with the time by the processor's clock, until somebody needs all of the
//! property: that one takes all lanes, and [closes](Inside::close) them. Then the events lie in their order among the others, and
//! the property stands as if there had been no lanes.
#![allow(unsafe_code)]

use super::Inside;
use super::tape::{head, integers};
use crate::event::SymbolId;
use crate::index;
use crate::records::{Grid, Head};
use crate::swift::{Sliced, Stepped};
use alloc::vec;
use alloc::vec::Vec;
use core::slice;
use invigil_expr::compare::mix;
use invigil_expr::value::{Tag, Value};

/// How many lanes there are.
pub const LANES: usize = 16;
/// The words of events that a lane has room for.
const ROOM: usize = 1 << 10;
/// Words of an event before its parameters: the time, the thread, and what the tape begins with.
const FRONT: usize = 3;
/// With the thread: a transition was taken.
const TAKEN: u64 = 1 << 63;

/// What tells slices apart, made of the value of the slice parameter.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    bits: (u64, u64),
    hash: u64,
}

impl Key {
    /// That of an integer.
    #[inline(always)]
    pub fn new(value: i64) -> Key {
        let bits = Value::int(value).bits();
        Key { bits, hash: mix(bits.0, bits.1) }
    }

    /// The number of the lane that its slice is in.
    #[inline(always)]
    pub fn lane(&self) -> usize {
        self.hash as usize % LANES
    }
}

/// Where everything about the slices of a property lies while lanes are open.
#[derive(Clone, Copy, Debug)]
struct View {
    slots: *const u64,
    slot_count: usize,
    grid: Grid,
    sliced: *const Sliced,
}

/// A part of a property's slices; see the module.
#[derive(Debug)]
pub struct Lane {
    view: Option<View>,
    /// The number of this one.
    number: usize,
    words: Vec<u64>,
    used: usize,
    /// The time of the last event.
    last: u64,
    /// How many more slices are in each state than when the lane was opened.
    more: Vec<i32>,
}

// SAFETY: what a view points to is the property's, which is where the lane is used: see `Lane::step`.
unsafe impl Send for Lane {}

impl Default for Lane {
    fn default() -> Lane {
        Lane::new()
    }
}

impl Lane {
    /// One that is closed.
    pub const fn new() -> Lane {
        Lane { view: None, number: 0, words: Vec::new(), used: 0, last: 0, more: Vec::new() }
    }

    /// Follows an event whose parameters are integers, at a time by the processor's clock. False if the lane is closed, or more is
    /// to be done than it can: then nothing was done.
    ///
    /// # Safety
    /// Since the lane was opened, nobody has used the [`Inside`] whose it is, but for other lanes of it.
    #[inline(always)]
    pub unsafe fn step(
        &mut self,
        key: &Key,
        symbol: SymbolId,
        params: &[i64],
        (thread, now): (u32, u64),
    ) -> bool {
        let Some(view) = &self.view else { return false };
        let end = self.used + FRONT + params.len();
        let Some([time, who, first, others @ ..]) = self.words.get_mut(self.used..end) else { return false };
        if key.lane() != self.number {
            return false;
        }
        // SAFETY: by the contract nobody changes what the view points to, but for lanes, and each of those only its own slices.
        let stepped = unsafe { view.step(key, symbol, params, &mut self.more) };
        let taken = match stepped {
            Stepped::Taken => TAKEN,
            Stepped::Stayed => 0,
            // Whether others wait for it is known to nobody here.
            Stepped::Unwanted | Stepped::Unknown => return false,
        };
        // What one slice sees keeps its order, whatever the clock says.
        self.last = now.max(self.last);
        *time = self.last;
        *who = taken | u64::from(thread);
        *first = head(symbol, params);
        crate::few::copy(others, params, |param| param as u64);
        self.used = end;
        true
    }
}

impl View {
    /// # Safety
    /// Nobody changes what it points to, and nobody else looks at this slice.
    #[inline(always)]
    unsafe fn step(&self, key: &Key, symbol: SymbolId, params: &[i64], more: &mut [i32]) -> Stepped {
        // SAFETY: it is there, and does not change.
        let (sliced, slots) = unsafe { (&*self.sliced, slice::from_raw_parts(self.slots, self.slot_count)) };
        // SAFETY: a number in the index is that of a record; keys do not change.
        let is_it = |slice: u32| unsafe { *self.grid.record(slice).add(1) }.bits() == key.bits;
        let Some(number) = index::find(slots, key.hash, is_it) else { return Stepped::Unknown };
        let record = self.grid.record(number);
        // SAFETY: the record is of this slice, which nobody else looks at; behind its head and its key is its environment.
        let (head, env) = unsafe { (&mut *record, slice::from_raw_parts_mut(record.add(2), self.grid.env)) };
        let known = Head::unpack(*head);
        let Some(exit) = sliced.exit_at(symbol, known.state, params, env) else { return Stepped::Unwanted };
        if exit.comes != Stepped::Taken {
            return exit.comes;
        }
        let Some(sum) = sliced.sum(exit, params, env) else { return Stepped::Unknown };
        if let Some(variable) = env.get_mut(usize::from(exit.to)) {
            if variable.is(Tag::Object) {
                return Stepped::Unknown;
            }
            *variable = Value::int(sum);
        }
        if known.state != exit.target {
            let (from, to) = (usize::from(known.state), usize::from(exit.target));
            if from >= more.len() || to >= more.len() {
                return Stepped::Unknown;
            }
            *head = Head { state: exit.target, ..known }.pack();
            more[from] -= 1;
            more[to] += 1;
        }
        Stepped::Taken
    }
}

impl Inside {
    /// For each event, the position of the slice parameter among its own, if several threads may step at once.
    pub fn keys(&self) -> Option<Vec<Option<u16>>> {
        let ([Some(sliced)], [_]) = (&self.sliced[..], &self.inmates[..]) else { return None };
        Some(sliced.keys.clone())
    }

    /// Opens the lanes, all of them, if there is one property with one slice parameter. It is not to be used until they are
    /// closed.
    pub fn open<'a>(&mut self, lanes: impl Iterator<Item = &'a mut Lane>) {
        let ([Some(sliced)], [inmate]) = (&self.sliced[..], &mut self.inmates[..]) else { return };
        let states = inmate.automaton.states.len();
        let Some(slots) = inmate.slices.slots().filter(|_| inmate.slices.failure.is_none()) else { return };
        let (slots, slot_count) = (slots.as_ptr(), slots.len());
        let view = View { slots, slot_count, grid: inmate.slices.records.grid(), sliced };
        for (number, lane) in lanes.enumerate() {
            lane.words.resize(ROOM, 0);
            if lane.more.len() != states {
                lane.more = vec![0; states];
            }
            (lane.view, lane.number) = (Some(view), number);
        }
    }

    /// Closes the lanes, all of them: what happened there has happened.
    pub fn close<'a>(&mut self, lanes: impl Iterator<Item = &'a mut Lane>) {
        let [inmate] = &mut self.inmates[..] else { return };
        let all: Vec<&mut Lane> = lanes.collect();
        self.order.clear();
        let mut lanes: Vec<&[u64]> = Vec::with_capacity(all.len());
        for (number, lane) in all.into_iter().enumerate() {
            lane.view = None;
            for (state, more) in lane.more.iter_mut().enumerate() {
                inmate.slices.gather(&inmate.automaton, state as u16, core::mem::take(more));
            }
            let words = &lane.words[..core::mem::take(&mut lane.used)];
            let mut at = 0;
            while let Some([time, _, first, ..]) = words.get(at..) {
                self.order.push((*time, number as u32, at as u32));
                at += FRONT + integers(*first);
            }
            lanes.push(words);
        }
        // Those of one lane lie one behind the other: the same time does not change their order.
        self.order.sort_unstable();
        for (_, number, at) in &self.order {
            if let Some([_, who, first, rest @ ..]) = lanes[*number as usize].get(*at as usize..) {
                let params = &rest[..integers(*first).min(rest.len())];
                self.newer.events.put(*who as u32, *first, params, *who & TAKEN != 0);
            }
        }
    }
}
