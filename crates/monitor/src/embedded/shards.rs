//! Shards: several threads step one property concurrently, each on its own slices.
//!
//! Events of different slices commute. A *shard* belongs to one thread or a few; a slice belongs to the shard
//! that uses it first. The holder of a shard steps its slices as far as the [integer table](crate::int_table)
//! applies, and logs the events with timestamps of the processor's clock. When a thread needs the whole
//! property, or a slice of another shard, it takes all shards and [closes](EmbeddedMonitors::close_shards)
//! them. Closing merges the logs by time.
//!
//! **Invariant:** after closing, the state is the one that stepping all events in the merged order gives.
#![allow(unsafe_code)]

use super::EmbeddedMonitors;
use super::event_log::{first_word, param_words};
use crate::event::EventId;
use crate::index;
use crate::int_table::{SlicedIntTable, TableStep};
use crate::records::{Head, RecordPointers};
use alloc::vec::Vec;
use core::slice;
use core::sync::atomic::AtomicU8;
use core::sync::atomic::Ordering::Relaxed;
use invigil_expr::compare::mix;
use invigil_expr::value::Value;

/// The number of shards.
pub const SHARD_COUNT: usize = 16;
/// The capacity of a shard's log in words.
const SHARD_WORDS: usize = 1 << 13;
/// Words of an event before its parameters: time, thread, and the first word of the event log.
const HEADER_WORDS: usize = 3;
/// Flag in the word of the thread: a transition was taken.
const TAKEN: u64 = 1 << 63;

/// Owner of slices that belong to no shard.
const NO_OWNER: u8 = u8::MAX;
/// Number of closes after which the benefit of shards is evaluated.
const MIN_CLOSES: u64 = 256;
/// Minimum number of events per close for shards to pay off.
const MIN_EVENTS_PER_CLOSE: u64 = 16;

/// Owners of the slices, and usage statistics.
#[derive(Debug, Default)]
pub(super) struct ShardMap {
    /// For each slice, the number of its shard.
    owners: Vec<AtomicU8>,
    /// The number of closes, and of events stepped in shards.
    closed: u64,
    followed: u64,
}

/// Pointers to the slice table while shards are open.
#[derive(Clone, Copy, Debug)]
struct ShardView {
    slots: *const u64,
    slot_count: usize,
    records: RecordPointers,
    owners: *const AtomicU8,
    sliced: *const SlicedIntTable,
}

/// State of one shard; see the module.
#[derive(Debug)]
pub struct Shard {
    view: Option<ShardView>,
    /// The number of this shard.
    number: u8,
    /// A slice of another shard that an event needed here.
    contested: Option<u32>,
    words: Vec<u64>,
    used: usize,
    /// Whether the shard was used: only then it gets memory for its log.
    used_before: bool,
    /// The time of the last event.
    last: u64,
    /// Per state, the change of the number of slices since the shard was opened.
    count_deltas: Vec<i32>,
}

// SAFETY: the view points into the monitors that the shard belongs to; see the contract of `Shard::step`.
unsafe impl Send for Shard {}

impl Default for Shard {
    fn default() -> Shard {
        Shard::new()
    }
}

impl Shard {
    /// A closed shard.
    pub const fn new() -> Shard {
        Shard {
            view: None,
            number: 0,
            contested: None,
            words: Vec::new(),
            used: 0,
            used_before: false,
            last: 0,
            count_deltas: Vec::new(),
        }
    }

    /// Steps on an event with integer parameters, one of which is the slice parameter.
    ///
    /// Returns false if the shard is closed or the event needs the general path; nothing has been changed then.
    /// `now` is a timestamp of the processor's clock.
    ///
    /// # Safety
    /// Since the shard was opened, the [`EmbeddedMonitors`] that it belongs to have only been used through
    /// their shards.
    #[inline(always)]
    pub unsafe fn step(
        &mut self,
        key: i64,
        event_id: EventId,
        params: &[i64],
        (thread, now): (u32, u64),
    ) -> bool {
        let Some(view) = self.view else { return false };
        let end = self.used + HEADER_WORDS + params.len();
        if end > self.words.len() {
            self.used_before = true;
            return false;
        }
        // SAFETY: by the contract, only shards change what the view points to, and each of them only its own
        // slices.
        let stepped = unsafe { view.step(key, event_id, params, self) };
        let Some([time, who, first, others @ ..]) = self.words.get_mut(self.used..end) else { return false };
        let taken = match stepped {
            TableStep::Taken => TAKEN,
            TableStep::Stayed => 0,
            // Other shards may need the event; that is unknown here.
            TableStep::NotNeeded | TableStep::Unknown => return false,
        };
        // Events of one slice keep their order even if the clock goes backwards.
        self.last = now.max(self.last);
        *time = self.last;
        *who = taken | u64::from(thread);
        *first = first_word(event_id, params);
        crate::short_copy::copy(others, params, |param| param as u64);
        self.used = end;
        true
    }
}

impl ShardView {
    /// # Safety
    /// Only shards change what the view points to, and each of them only its own slices.
    #[inline(always)]
    unsafe fn step(&self, key: i64, event_id: EventId, params: &[i64], shard: &mut Shard) -> TableStep {
        // SAFETY: both are valid and are not changed while shards are open.
        let (sliced, slots) = unsafe { (&*self.sliced, slice::from_raw_parts(self.slots, self.slot_count)) };
        let bits = Value::int(key).bits();
        // SAFETY: numbers in the index are those of records; keys do not change.
        let is_it = |slice: u32| unsafe { *self.records.record(slice).add(1) }.bits() == bits;
        let Some(number) = index::find(slots, mix(bits.0, bits.1), is_it) else { return TableStep::Unknown };
        // SAFETY: there is an owner for each record.
        let owner = unsafe { &*self.owners.add(number as usize) };
        let known = owner.load(Relaxed);
        let is_mine = known == shard.number
            || known == NO_OWNER && owner.compare_exchange(NO_OWNER, shard.number, Relaxed, Relaxed).is_ok();
        if !is_mine {
            shard.contested = Some(number);
            return TableStep::Unknown;
        }
        let record = self.records.record(number);
        // SAFETY: the record belongs to a slice of this shard, which no other thread accesses. Head and key
        // precede the environment.
        let (head, env) =
            unsafe { (&mut *record, slice::from_raw_parts_mut(record.add(2), self.records.env_len)) };
        let known = Head::unpack(*head);
        let (stepped, to) = sliced.step_slice(event_id, known.state, params, env);
        if stepped == TableStep::Taken && known.state != to {
            *head = Head { state: to, ..known }.pack();
            for (state, by) in [(known.state, -1), (to, 1)] {
                if let Some(delta) = shard.count_deltas.get_mut(usize::from(state)) {
                    *delta += by;
                }
            }
        }
        stepped
    }
}

impl EmbeddedMonitors {
    /// Per event, the index of the parameter with the slice parameter, if shards are possible.
    pub fn shard_keys(&self) -> Option<Vec<Option<u16>>> {
        let ([Some(sliced)], [_]) = (&self.sliced[..], &self.monitors[..]) else { return None };
        Some(sliced.keys.clone())
    }

    /// Opens all shards, if there is a single property with one slice parameter.
    ///
    /// The monitors must not be used until the shards are closed. Returns false, and opens none, if shards have
    /// not paid off.
    pub fn open_shards<'a>(&mut self, shards: impl Iterator<Item = &'a mut Shard>) -> bool {
        if self.shard_map.closed > MIN_CLOSES
            && self.shard_map.closed * MIN_EVENTS_PER_CLOSE > self.shard_map.followed
        {
            return false;
        }
        let ([Some(sliced)], [monitor]) = (&self.sliced[..], &mut self.monitors[..]) else { return false };
        let slices = &mut monitor.slices;
        let Some(slots) = slices.slots().filter(|_| slices.failure.is_none()) else { return false };
        let (slots, slot_count) = (slots.as_ptr(), slots.len());
        let owners = &mut self.shard_map.owners;
        owners.resize_with(slices.records.len(), || AtomicU8::new(NO_OWNER));
        let (records, owners) = (slices.records.pointers(), owners.as_ptr());
        let states = monitor.automaton.states.len();
        for (shard, number) in shards.zip(0..NO_OWNER) {
            if shard.used_before {
                shard.words.resize(SHARD_WORDS, 0);
            }
            shard.count_deltas.resize(states, 0);
            shard.view = Some(ShardView { slots, slot_count, records, owners, sliced });
            shard.number = number;
        }
        true
    }

    /// Closes all shards and merges their events.
    ///
    /// The target may be killed at any point: all expensive work precedes the commit.
    pub fn close_shards<'a>(&mut self, shards: impl Iterator<Item = &'a mut Shard>) {
        let [monitor] = &mut self.monitors[..] else { return };
        let mut shards: Vec<&mut Shard> = shards.collect();
        // Each shard is sorted: the earliest event is the first of one of them.
        let mut all: Vec<&[u64]> = shards.iter().map(|shard| &shard.words[..shard.used]).collect();
        all.retain(|words| !words.is_empty());
        let mut draft = self.newer.events.draft();
        let mut count = 0;
        while let Some(earliest) = all.iter_mut().min_by_key(|words| words.first().copied()) {
            let [_, who, first, rest @ ..] = *earliest else { break };
            let (params, later) = rest.split_at(param_words(*first).min(rest.len()));
            draft.put(*who as u32, *first, params.iter().copied(), *who & TAKEN != 0);
            count += 1;
            *earliest = later;
            if later.is_empty() {
                all.retain(|words| !words.is_empty());
            }
        }
        draft.commit();
        for shard in &mut shards {
            (shard.view, shard.used) = (None, 0);
        }
        for shard in shards {
            if let Some(owner) =
                shard.contested.take().and_then(|slice| self.shard_map.owners.get_mut(slice as usize))
            {
                *owner.get_mut() = NO_OWNER;
            }
            for (state, delta) in shard.count_deltas.iter_mut().enumerate() {
                monitor.slices.adjust_count(&monitor.automaton, state as u16, core::mem::take(delta));
            }
        }
        let ShardMap { closed, followed, .. } = &mut self.shard_map;
        (*closed, *followed) = (*closed + 1, *followed + count);
        if *closed > 4 * MIN_CLOSES {
            // Give recent statistics more weight.
            (*closed, *followed) = (*closed / 2, *followed / 2);
        }
    }
}
