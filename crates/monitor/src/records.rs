//! Memory of the slices: one record per slice, with head, keys and environment.
//!
//! A step accesses one record, so the number of cache lines per record matters. Small records are padded so
//! that none crosses a cache line.

use crate::automaton::{ParamMask, StateId};
use crate::prefetch::prefetch;
use alloc::vec::Vec;
use core::ops::Range;
use invigil_expr::value::Value;

/// Metadata of a slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) state: StateId,
    /// The slice parameters that are bound.
    pub(crate) bound: ParamMask,
    /// The bound parameters whose objects are dead.
    pub(crate) dead: ParamMask,
    pub(crate) alive: bool,
    /// The slice it was copied from.
    pub(crate) parent: u32,
}

impl Head {
    /// Encodes the head as a value with tag `Unset`.
    pub(crate) fn pack(self) -> Value {
        let flags = u64::from(self.bound) | u64::from(self.alive) << 8 | u64::from(self.dead) << 16;
        Value::from_bits((u64::from(self.state) << 16 | flags << 32, u64::from(self.parent)))
    }

    pub(crate) fn unpack(value: Value) -> Head {
        let (low, high) = value.bits();
        Head {
            state: (low >> 16) as StateId,
            bound: (low >> 32) as ParamMask,
            alive: low >> 40 & 1 != 0,
            dead: (low >> 48) as ParamMask,
            parent: high as u32,
        }
    }
}

/// Values per cache line.
const VALUES_PER_LINE: usize = 4;

/// Addresses of the records. Valid until a record is added.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordPointers {
    first: *mut Value,
    stride: usize,
    /// The number of variables of the environment.
    pub(crate) env_len: usize,
}

impl RecordPointers {
    /// The address of the record of a slice: head, keys, environment.
    #[inline(always)]
    pub(crate) fn record(&self, slice: u32) -> *mut Value {
        self.first.wrapping_add(slice as usize * self.stride)
    }
}

/// Records of equal size, by index.
#[derive(Clone, Debug)]
pub(crate) struct Records {
    values: Vec<Value>,
    /// Index of the first record, aligned to a cache line.
    base: usize,
    stride: usize,
    key_count: usize,
    env_len: usize,
    len: usize,
}

impl Records {
    pub(crate) fn new(keys: usize, env: usize) -> Records {
        let size = 1 + keys + env;
        let stride = if size <= VALUES_PER_LINE { size.next_power_of_two() } else { size };
        Records { values: Vec::new(), base: 0, stride, key_count: keys, env_len: env, len: 0 }
    }

    /// The number of records, including those of removed slices.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn bytes(&self) -> usize {
        self.values.capacity() * size_of::<Value>()
    }

    #[inline(always)]
    fn start(&self, slice: u32) -> usize {
        self.base + slice as usize * self.stride
    }

    #[inline(always)]
    fn env_range(&self, slice: u32) -> Range<usize> {
        let start = self.start(slice) + 1 + self.key_count;
        start..start + self.env_len
    }

    #[inline(always)]
    pub(crate) fn head(&self, slice: u32) -> Head {
        Head::unpack(self.values[self.start(slice)])
    }

    pub(crate) fn set_head(&mut self, slice: u32, head: Head) {
        let start = self.start(slice);
        self.values[start] = head.pack();
    }

    #[inline(always)]
    pub(crate) fn set_state(&mut self, slice: u32, state: StateId) {
        self.set_head(slice, Head { state, ..self.head(slice) });
    }

    /// The first key; with one slice parameter the only one.
    #[inline(always)]
    pub(crate) fn key(&self, slice: u32) -> Value {
        self.values[self.start(slice) + 1]
    }

    pub(crate) fn keys(&self, slice: u32) -> &[Value] {
        let start = self.start(slice) + 1;
        &self.values[start..start + self.key_count]
    }

    pub(crate) fn env(&self, slice: u32) -> &[Value] {
        &self.values[self.env_range(slice)]
    }

    #[inline(always)]
    pub(crate) fn env_mut(&mut self, slice: u32) -> &mut [Value] {
        let range = self.env_range(slice);
        &mut self.values[range]
    }

    /// Keys and environment.
    pub(crate) fn contents_mut(&mut self, slice: u32) -> &mut [Value] {
        let start = self.start(slice) + 1;
        &mut self.values[start..start + self.key_count + self.env_len]
    }

    /// Appends an empty record.
    pub(crate) fn push(&mut self) -> u32 {
        let needed = (self.len + 1) * self.stride + VALUES_PER_LINE;
        if needed > self.values.capacity() {
            self.values.reserve(needed - self.values.len());
            self.align();
        }
        let slice = self.len as u32;
        self.values.resize(self.base + (self.len + 1) * self.stride, Value::UNSET);
        self.len += 1;
        slice
    }

    /// Aligns the records to cache lines again after a reallocation.
    fn align(&mut self) {
        let line = VALUES_PER_LINE * size_of::<Value>();
        let over = self.values.as_ptr().addr() % line / size_of::<Value>();
        let base = (VALUES_PER_LINE - over) % VALUES_PER_LINE;
        let used = self.len * self.stride;
        self.values.resize(self.base.max(base) + used, Value::UNSET);
        self.values.copy_within(self.base..self.base + used, base);
        self.base = base;
    }

    /// Copies keys and environment of `from` to `to`.
    pub(crate) fn copy(&mut self, from: u32, to: u32) {
        let (from, to) = (self.start(from) + 1, self.start(to) + 1);
        self.values.copy_within(from..from + self.key_count + self.env_len, to);
    }

    /// The addresses of the records.
    pub(crate) fn pointers(&mut self) -> RecordPointers {
        let first = self.values.as_mut_ptr().wrapping_add(self.base);
        RecordPointers { first, stride: self.stride, env_len: self.env_len }
    }

    /// Prefetches a record.
    #[inline(always)]
    pub(crate) fn prefetch(&self, slice: u32) {
        prefetch(&self.values, self.start(slice));
    }
}
