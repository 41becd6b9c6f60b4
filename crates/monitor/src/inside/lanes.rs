//! Several threads that step one property at once, each about slices of its own.
//!
//! Events about different slices of a property need no order among each other. So there are *lanes*, one for each thread or for a few of
//! them. A slice is the lane's in which it is touched first. Whoever has that lane may follow events about it, if no more is to be
//! done than what the [table](crate::swift) knows. Each lane keeps its own events, with the time by the processor's clock, until somebody
//! needs all of the property, or a slice of another lane: that one takes all lanes, and [closes](Inside::close) them. Then the
//! events lie in their order among the others, and the property stands as if there had been no lanes.
#![allow(unsafe_code)]

use super::Inside;
use super::tape::{head, integers};
use crate::event::SymbolId;
use crate::index;
use crate::records::{Grid, Head};
use crate::swift::{Sliced, Stepped};
use alloc::vec::Vec;
use core::slice;
use core::sync::atomic::AtomicU8;
use core::sync::atomic::Ordering::Relaxed;
use invigil_expr::compare::mix;
use invigil_expr::value::Value;

/// How many lanes there are.
pub const LANES: usize = 16;
/// The words of events that a lane has room for.
const ROOM: usize = 1 << 13;
/// Words of an event before its parameters: the time, the thread, and what the tape begins with.
const FRONT: usize = 3;
/// With the thread: a transition was taken.
const TAKEN: u64 = 1 << 63;

/// A slice that is no lane's.
const NOBODY: u8 = u8::MAX;
/// Lanes are closed at least so often before it is asked whether they are worth it.
const CLOSED_OFTEN: u64 = 256;
/// So many events must go through lanes for each time that they are closed.
const WORTH: u64 = 16;

/// Whose the slices are, and what came of lanes so far.
#[derive(Debug, Default)]
pub(super) struct Dealt {
    /// For each slice, the number of its lane.
    owners: Vec<AtomicU8>,
    /// How often lanes were closed, and how many events went through them.
    closed: u64,
    followed: u64,
}

/// Where everything about the slices of a property lies while lanes are open.
#[derive(Clone, Copy, Debug)]
struct View {
    slots: *const u64,
    slot_count: usize,
    grid: Grid,
    owners: *const AtomicU8,
    sliced: *const Sliced,
}

/// What a thread needs to step; see the module.
#[derive(Debug)]
pub struct Lane {
    view: Option<View>,
    /// The number of this one.
    number: u8,
    /// A slice of another lane that someone wanted here.
    wanted: Option<u32>,
    words: Vec<u64>,
    used: usize,
    /// Whether someone came here: only then there is room for events.
    needed: bool,
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
        Lane {
            view: None,
            number: 0,
            wanted: None,
            words: Vec::new(),
            used: 0,
            needed: false,
            last: 0,
            more: Vec::new(),
        }
    }

    /// Follows an event whose parameters are integers, one of which is the key of its slice, in a thread, at a time by the
    /// processor's clock. False if the lane is closed, or more is to be done than it can: then nothing was done.
    ///
    /// # Safety
    /// Since the lane was opened, nobody has used the [`Inside`] whose it is, but for other lanes of it.
    #[inline(always)]
    pub unsafe fn step(
        &mut self,
        key: i64,
        symbol: SymbolId,
        params: &[i64],
        (thread, now): (u32, u64),
    ) -> bool {
        let Some(view) = self.view else { return false };
        let end = self.used + FRONT + params.len();
        if end > self.words.len() {
            self.needed = true;
            return false;
        }
        // SAFETY: by the contract nobody changes what the view points to, but for lanes, and each of those only its own slices.
        let stepped = unsafe { view.step(key, symbol, params, self) };
        let Some([time, who, first, others @ ..]) = self.words.get_mut(self.used..end) else { return false };
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
    /// Nobody changes what it points to, but for lanes, and each of those only its own slices.
    #[inline(always)]
    unsafe fn step(&self, key: i64, symbol: SymbolId, params: &[i64], lane: &mut Lane) -> Stepped {
        // SAFETY: it is there, and does not change.
        let (sliced, slots) = unsafe { (&*self.sliced, slice::from_raw_parts(self.slots, self.slot_count)) };
        let bits = Value::int(key).bits();
        // SAFETY: a number in the index is that of a record; keys do not change.
        let is_it = |slice: u32| unsafe { *self.grid.record(slice).add(1) }.bits() == bits;
        let Some(number) = index::find(slots, mix(bits.0, bits.1), is_it) else { return Stepped::Unknown };
        // SAFETY: there is one for each record.
        let owner = unsafe { &*self.owners.add(number as usize) };
        let known = owner.load(Relaxed);
        let is_mine = known == lane.number
            || known == NOBODY && owner.compare_exchange(NOBODY, lane.number, Relaxed, Relaxed).is_ok();
        if !is_mine {
            lane.wanted = Some(number);
            return Stepped::Unknown;
        }
        let record = self.grid.record(number);
        // SAFETY: the record is of this lane's slice, which nobody else looks at; behind its head and its key is its environment.
        let (head, env) = unsafe { (&mut *record, slice::from_raw_parts_mut(record.add(2), self.grid.env)) };
        let known = Head::unpack(*head);
        let (stepped, to) = sliced.follow(symbol, known.state, params, env);
        if stepped == Stepped::Taken && known.state != to {
            *head = Head { state: to, ..known }.pack();
            for (state, by) in [(known.state, -1), (to, 1)] {
                if let Some(more) = lane.more.get_mut(usize::from(state)) {
                    *more += by;
                }
            }
        }
        stepped
    }
}

impl Inside {
    /// For each event, the position of the slice parameter among its own, if several threads may step at once.
    pub fn keys(&self) -> Option<Vec<Option<u16>>> {
        let ([Some(sliced)], [_]) = (&self.sliced[..], &self.inmates[..]) else { return None };
        Some(sliced.keys.clone())
    }

    /// Opens the lanes, all of them, if there is one property with one slice parameter. It is not to be used until they are
    /// closed. False if they are more trouble than they are worth; they stay closed then.
    pub fn open<'a>(&mut self, lanes: impl Iterator<Item = &'a mut Lane>) -> bool {
        if self.dealt.closed > CLOSED_OFTEN && self.dealt.closed * WORTH > self.dealt.followed {
            return false;
        }
        let ([Some(sliced)], [inmate]) = (&self.sliced[..], &mut self.inmates[..]) else { return false };
        let slices = &mut inmate.slices;
        let Some(slots) = slices.slots().filter(|_| slices.failure.is_none()) else { return false };
        let (slots, slot_count) = (slots.as_ptr(), slots.len());
        let owners = &mut self.dealt.owners;
        owners.resize_with(slices.records.len(), || AtomicU8::new(NOBODY));
        let (grid, owners) = (slices.records.grid(), owners.as_ptr());
        let states = inmate.automaton.states.len();
        for (lane, number) in lanes.zip(0..NOBODY) {
            if lane.needed {
                lane.words.resize(ROOM, 0);
            }
            lane.more.resize(states, 0);
            lane.view = Some(View { slots, slot_count, grid, owners, sliced });
            lane.number = number;
        }
        true
    }

    /// Closes the lanes, all of them: what happened there has happened.
    ///
    /// The program may be killed in the middle of it: what takes long is done before anything counts.
    pub fn close<'a>(&mut self, lanes: impl Iterator<Item = &'a mut Lane>) {
        let [inmate] = &mut self.inmates[..] else { return };
        let mut lanes: Vec<&mut Lane> = lanes.collect();
        // Each lane has its events in their order: the earliest is the first of one of them.
        let mut all: Vec<&[u64]> = lanes.iter().map(|lane| &lane.words[..lane.used]).collect();
        all.retain(|words| !words.is_empty());
        let mut draft = self.newer.events.draft();
        let mut count = 0;
        while let Some(earliest) = all.iter_mut().min_by_key(|words| words.first().copied()) {
            let [_, who, first, rest @ ..] = *earliest else { break };
            let (params, later) = rest.split_at(integers(*first).min(rest.len()));
            draft.put(*who as u32, *first, params, *who & TAKEN != 0);
            count += 1;
            *earliest = later;
            if later.is_empty() {
                all.retain(|words| !words.is_empty());
            }
        }
        draft.commit();
        for lane in &mut lanes {
            (lane.view, lane.used) = (None, 0);
        }
        for lane in lanes {
            if let Some(owner) =
                lane.wanted.take().and_then(|slice| self.dealt.owners.get_mut(slice as usize))
            {
                *owner.get_mut() = NOBODY;
            }
            for (state, more) in lane.more.iter_mut().enumerate() {
                inmate.slices.gather(&inmate.automaton, state as u16, core::mem::take(more));
            }
        }
        let Dealt { closed, followed, .. } = &mut self.dealt;
        (*closed, *followed) = (*closed + 1, *followed + count);
        if *closed > 4 * CLOSED_OFTEN {
            // What was long ago counts less.
            (*closed, *followed) = (*closed / 2, *followed / 2);
        }
    }
}
