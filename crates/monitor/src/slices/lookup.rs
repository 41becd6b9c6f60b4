//! Lookup of slices by the values of slice parameters.

use super::{NO_SLICE, SliceId, SliceTable};
use crate::automaton::{MAX_SLICE_PARAMS, ParamMask};
use crate::index::Index;
use alloc::vec::Vec;
use invigil_expr::compare::{ValueReader, mix};
use invigil_expr::fault::Budget;
use invigil_expr::value::Value;

/// Index of the slices that bind at least the parameters in a mask, by their values.
#[derive(Clone, Debug)]
pub(super) struct BindingIndex {
    mask: ParamMask,
    index: Index,
    /// Chains of slices with equal values: previous and next. Only used if there can be several.
    links: Vec<[u32; 2]>,
}

impl BindingIndex {
    /// An empty index.
    pub(super) fn new(mask: ParamMask) -> BindingIndex {
        BindingIndex { mask, index: Index::default(), links: Vec::new() }
    }

    /// The memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.index.bytes() + self.links.capacity() * size_of::<[u32; 2]>()
    }
}

/// Values of slice parameters, without an allocation.
pub(crate) struct Keys {
    values: [Value; MAX_SLICE_PARAMS],
    len: usize,
}

impl Keys {
    pub(crate) fn collect(values: impl Iterator<Item = Value>) -> Keys {
        let mut keys = Keys { values: [Value::UNSET; MAX_SLICE_PARAMS], len: 0 };
        for (slot, value) in keys.values.iter_mut().zip(values) {
            *slot = value;
            keys.len += 1;
        }
        keys
    }
}

impl core::ops::Deref for Keys {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.values[..self.len]
    }
}

/// The canonical form of a key: an integral float becomes an integer.
#[inline]
pub(crate) fn canonical(value: Value) -> Value {
    match value.as_float() {
        // Beyond 63 bits an integral float is not converted exactly.
        Some(f) if f == (f as i64) as f64 && f > -9.2e18 && f < 9.2e18 => Value::int(f as i64),
        _ => value,
    }
}

#[inline]
fn hash_one(view: ValueReader<'_>, value: Value) -> u64 {
    if value.is_inline() {
        let (low, high) = value.bits();
        return mix(low, high);
    }
    // Keys are strings or inline values: the budget is never exhausted.
    view.hash(value, &mut Budget::new(u64::MAX)).unwrap_or(0)
}

#[inline]
fn same_value(view: ValueReader<'_>, mine: Value, theirs: Value) -> bool {
    if mine.bits() == theirs.bits() && mine.is_inline() {
        return true;
    }
    !mine.is_inline() && !theirs.is_inline() && view.str(&mine) == view.str(&theirs)
}

impl SliceTable {
    /// The slice with exactly this binding; unset values are unbound parameters.
    pub fn find(&self, binding: &[Value], text: &str) -> Option<SliceId> {
        let bound = binding.iter().enumerate().fold(0, |m, (i, v)| m | ParamMask::from(!v.is_unset()) << i);
        if bound == 0 {
            return self.root();
        }
        let mask_index = self.binding_indexes.iter().position(|index| index.mask == bound)?;
        let keys = Keys::collect(binding.iter().filter(|v| !v.is_unset()).map(|v| canonical(*v)));
        self.exact(mask_index, &keys, text).map(SliceId)
    }

    #[inline]
    fn hash_keys(&self, keys: &[Value], text: &str) -> u64 {
        let view = self.view(text);
        match keys {
            [key] => hash_one(view, *key),
            keys => keys.iter().fold(0, |hash, key| mix(hash, hash_one(view, *key))),
        }
    }

    /// The values of a slice for the parameters in `mask`.
    pub(super) fn keys_of(&self, slice: u32, mask: ParamMask) -> impl Iterator<Item = Value> {
        let keys = self.records.keys(slice);
        keys.iter().enumerate().filter(move |(bit, _)| mask & 1 << bit != 0).map(|(_, key)| *key)
    }

    /// The first slice that binds at least the parameters of a mask to `keys`. `mask_index` is an index into
    /// `Automaton::masks`, here and below.
    #[inline]
    pub(crate) fn first(&self, mask_index: usize, keys: &[Value], text: &str) -> Option<u32> {
        let BindingIndex { mask, index, .. } = &self.binding_indexes[mask_index];
        let view = self.view(text);
        let hash = self.hash_keys(keys, text);
        index.find(hash, |slice| self.keys_of(slice, *mask).zip(keys).all(|(a, b)| same_value(view, a, *b)))
    }

    /// Like [`first`](SliceTable::first), for a single slice parameter.
    #[inline(always)]
    pub(crate) fn single(&self, key: Value, text: &str, guess: Option<SliceId>) -> Option<u32> {
        let index = &self.binding_indexes.first()?.index;
        let mine = |slice: u32| self.records.key(slice);
        if key.is_inline() {
            let bits = key.bits();
            // A removed slice has no key, and keys are unique.
            if let Some(SliceId(guess)) = guess
                && mine(guess).bits() == bits
            {
                return Some(guess);
            }
            return index.find(mix(bits.0, bits.1), |slice| mine(slice).bits() == bits);
        }
        let view = self.view(text);
        index.find(hash_one(view, key), |slice| same_value(view, mine(slice), key))
    }

    /// The slots of the index of [`single`](SliceTable::single).
    pub(crate) fn slots(&self) -> Option<&[u64]> {
        self.binding_indexes.first().map(|binding_index| binding_index.index.slots())
    }

    /// The next slice with the same values for the parameters of a mask.
    pub(crate) fn next(&self, mask_index: usize, slice: u32) -> Option<u32> {
        let [_, next] =
            self.binding_indexes[mask_index].links.get(slice as usize).copied().unwrap_or([NO_SLICE; 2]);
        (next != NO_SLICE).then_some(next)
    }

    /// The slice that binds exactly the parameters of a mask, to `keys`.
    pub(crate) fn exact(&self, mask_index: usize, keys: &[Value], text: &str) -> Option<u32> {
        let mask = self.binding_indexes[mask_index].mask;
        let mut at = self.first(mask_index, keys, text);
        while let Some(slice) = at {
            if self.records.head(slice).bound == mask {
                return Some(slice);
            }
            at = self.next(mask_index, slice);
        }
        None
    }

    /// Adds a slice to all indexes.
    pub(crate) fn insert_into_index(&mut self, slice: u32) {
        let bound = self.records.head(slice).bound;
        for at in 0..self.binding_indexes.len() {
            let mask = self.binding_indexes[at].mask;
            if mask & !bound != 0 {
                continue;
            }
            let keys = Keys::collect(self.keys_of(slice, mask));
            let first = if self.key_count > 1 { self.first(at, &keys, "") } else { None };
            let hash = self.hash_keys(&keys, "");
            let binding_index = &mut self.binding_indexes[at];
            if self.key_count > 1 {
                binding_index.links.resize(binding_index.links.len().max(slice as usize + 1), [NO_SLICE; 2]);
                binding_index.links[slice as usize] = [NO_SLICE, first.unwrap_or(NO_SLICE)];
            }
            match first {
                Some(first) => {
                    binding_index.links[first as usize][0] = slice;
                    binding_index.index.replace(hash, first, slice);
                }
                None => binding_index.index.insert(hash, slice),
            }
        }
    }

    /// Removes a slice from all indexes.
    pub(super) fn remove_from_index(&mut self, slice: u32) {
        let bound = self.records.head(slice).bound;
        for at in 0..self.binding_indexes.len() {
            let mask = self.binding_indexes[at].mask;
            if mask & !bound != 0 {
                continue;
            }
            let keys = Keys::collect(self.keys_of(slice, mask));
            let hash = self.hash_keys(&keys, "");
            let binding_index = &mut self.binding_indexes[at];
            let [previous, next] = binding_index.links.get(slice as usize).copied().unwrap_or([NO_SLICE; 2]);
            if next != NO_SLICE {
                binding_index.links[next as usize][0] = previous;
            }
            match (previous, next) {
                (NO_SLICE, NO_SLICE) => binding_index.index.remove(hash, slice),
                (NO_SLICE, next) => binding_index.index.replace(hash, slice, next),
                (previous, next) => binding_index.links[previous as usize][1] = next,
            }
        }
    }

    /// The hash of the only slice parameter, after prefetching its slot of the index; zero if the value is unset or not
    /// inline.
    #[inline(always)]
    pub(crate) fn prefetch_hash(&self, key: Value) -> u64 {
        if key.is_unset() || !key.is_inline() {
            return 0;
        }
        let (low, high) = canonical(key).bits();
        let hash = mix(low, high);
        if let Some(binding_index) = self.binding_indexes.first() {
            binding_index.index.prefetch(hash);
        }
        hash
    }

    /// The slice that most likely has this hash, after prefetching its record.
    #[inline(always)]
    pub(crate) fn prefetch_slice(&self, hash: u64) -> Option<SliceId> {
        let slice = self.binding_indexes.first()?.index.likely_number(hash)?;
        self.records.prefetch(slice);
        Some(SliceId(slice))
    }
}
