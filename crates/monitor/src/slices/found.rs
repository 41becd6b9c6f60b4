//! How slices are found: by the values that they give to slice parameters.

use super::{NOBODY, SliceId, Slices};
use crate::automaton::{MAX_SLICE_PARAMS, Mask};
use crate::index::Index;
use alloc::vec::Vec;
use invigil_expr::compare::{View, mix};
use invigil_expr::fault::Budget;
use invigil_expr::value::Value;

/// The slices that bind at least some set of parameters, by the values they give to those.
#[derive(Clone, Debug)]
pub(super) struct Cover {
    mask: Mask,
    index: Index,
    /// Slices with the same values, chained: previous and next. Only kept when there can be several.
    links: Vec<[u32; 2]>,
}

impl Cover {
    /// No slices yet.
    pub(super) fn new(mask: Mask) -> Cover {
        Cover { mask, index: Index::default(), links: Vec::new() }
    }

    /// The bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.index.bytes() + self.links.capacity() * size_of::<[u32; 2]>()
    }
}

/// The values of some slice parameters, without an allocation.
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

/// A value as a slice knows it: a float that is a whole number is that number.
#[inline]
pub(crate) fn canonical(value: Value) -> Value {
    match value.as_float() {
        // Beyond 63 bits a float that looks whole is not that integer.
        Some(f) if f == (f as i64) as f64 && f > -9.2e18 && f < 9.2e18 => Value::int(f as i64),
        _ => value,
    }
}

#[inline]
fn hash_one(view: View<'_>, value: Value) -> u64 {
    if value.is_inline() {
        let (low, high) = value.bits();
        return mix(low, high);
    }
    // Keys are strings or plain values: this never runs out.
    view.hash(value, &mut Budget::new(u64::MAX)).unwrap_or(0)
}

#[inline]
fn same(view: View<'_>, mine: Value, theirs: Value) -> bool {
    if mine.bits() == theirs.bits() && mine.is_inline() {
        return true;
    }
    !mine.is_inline() && !theirs.is_inline() && view.str(&mine) == view.str(&theirs)
}

impl Slices {
    /// The slice with exactly this binding: a value for every slice parameter, unset where it has none.
    pub fn find(&self, binding: &[Value], text: &str) -> Option<SliceId> {
        let bound = binding.iter().enumerate().fold(0, |m, (i, v)| m | Mask::from(!v.is_unset()) << i);
        if bound == 0 {
            return self.root();
        }
        let cover = self.covers.iter().position(|cover| cover.mask == bound)?;
        let keys = Keys::collect(binding.iter().filter(|v| !v.is_unset()).map(|v| canonical(*v)));
        self.exact(cover, &keys, text).map(SliceId)
    }

    #[inline]
    fn hash_keys(&self, keys: &[Value], text: &str) -> u64 {
        let view = self.view(text);
        match keys {
            [key] => hash_one(view, *key),
            keys => keys.iter().fold(0, |hash, key| mix(hash, hash_one(view, *key))),
        }
    }

    /// The values that a slice gives to the parameters in `mask`.
    pub(super) fn keys_of(&self, slice: u32, mask: Mask) -> impl Iterator<Item = Value> {
        let keys = self.records.keys(slice);
        keys.iter().enumerate().filter(move |(bit, _)| mask & 1 << bit != 0).map(|(_, key)| *key)
    }

    /// The first of the slices that bind a cover's parameters to `keys`.
    #[inline]
    pub(crate) fn first(&self, cover: usize, keys: &[Value], text: &str) -> Option<u32> {
        let Cover { mask, index, .. } = &self.covers[cover];
        let view = self.view(text);
        let hash = self.hash_keys(keys, text);
        index.find(hash, |slice| self.keys_of(slice, *mask).zip(keys).all(|(a, b)| same(view, a, *b)))
    }

    /// The same when there is one slice parameter only.
    #[inline(always)]
    pub(crate) fn single(&self, key: Value, text: &str, guess: Option<SliceId>) -> Option<u32> {
        let index = &self.covers.first()?.index;
        let mine = |slice: u32| self.records.key(slice);
        if key.is_inline() {
            let bits = key.bits();
            // A forgotten slice has no key, and no two have the same.
            if let Some(SliceId(guess)) = guess
                && mine(guess).bits() == bits
            {
                return Some(guess);
            }
            return index.find(mix(bits.0, bits.1), |slice| mine(slice).bits() == bits);
        }
        let view = self.view(text);
        index.find(hash_one(view, key), |slice| same(view, mine(slice), key))
    }

    /// Where [single](Slices::single) slices are found.
    pub(crate) fn slots(&self) -> Option<&[u64]> {
        self.covers.first().map(|cover| cover.index.slots())
    }

    /// The slice after `slice` with the same values for a cover's parameters.
    pub(crate) fn next(&self, cover: usize, slice: u32) -> Option<u32> {
        let [_, next] = self.covers[cover].links.get(slice as usize).copied().unwrap_or([NOBODY; 2]);
        (next != NOBODY).then_some(next)
    }

    /// The slice that binds just a cover's parameters, to `keys`.
    pub(crate) fn exact(&self, cover: usize, keys: &[Value], text: &str) -> Option<u32> {
        let mask = self.covers[cover].mask;
        let mut at = self.first(cover, keys, text);
        while let Some(slice) = at {
            if self.records.head(slice).bound == mask {
                return Some(slice);
            }
            at = self.next(cover, slice);
        }
        None
    }

    /// Makes a slice findable.
    pub(crate) fn enlist(&mut self, slice: u32) {
        let bound = self.records.head(slice).bound;
        for at in 0..self.covers.len() {
            let mask = self.covers[at].mask;
            if mask & !bound != 0 {
                continue;
            }
            let keys = Keys::collect(self.keys_of(slice, mask));
            let first = if self.keys > 1 { self.first(at, &keys, "") } else { None };
            let hash = self.hash_keys(&keys, "");
            let cover = &mut self.covers[at];
            if self.keys > 1 {
                cover.links.resize(cover.links.len().max(slice as usize + 1), [NOBODY; 2]);
                cover.links[slice as usize] = [NOBODY, first.unwrap_or(NOBODY)];
            }
            match first {
                Some(first) => {
                    cover.links[first as usize][0] = slice;
                    cover.index.replace(hash, first, slice);
                }
                None => cover.index.insert(hash, slice),
            }
        }
    }

    /// Makes it findable no more.
    pub(super) fn delist(&mut self, slice: u32) {
        let bound = self.records.head(slice).bound;
        for at in 0..self.covers.len() {
            let mask = self.covers[at].mask;
            if mask & !bound != 0 {
                continue;
            }
            let keys = Keys::collect(self.keys_of(slice, mask));
            let hash = self.hash_keys(&keys, "");
            let cover = &mut self.covers[at];
            let [previous, next] = cover.links.get(slice as usize).copied().unwrap_or([NOBODY; 2]);
            if next != NOBODY {
                cover.links[next as usize][0] = previous;
            }
            match (previous, next) {
                (NOBODY, NOBODY) => cover.index.remove(hash, slice),
                (NOBODY, next) => cover.index.replace(hash, slice, next),
                (previous, next) => cover.links[previous as usize][1] = next,
            }
        }
    }

    /// The hash of the value of the one slice parameter, after asking the memory for its place in the index;
    /// zero if it cannot be told.
    #[inline(always)]
    pub(crate) fn look_ahead(&self, key: Value) -> u64 {
        if key.is_unset() || !key.is_inline() {
            return 0;
        }
        let (low, high) = canonical(key).bits();
        let hash = mix(low, high);
        if let Some(cover) = self.covers.first() {
            cover.index.prefetch(hash);
        }
        hash
    }

    /// The slice that has this hash, most likely, after asking the memory for it.
    #[inline(always)]
    pub(crate) fn guess(&self, hash: u64) -> Option<SliceId> {
        let slice = self.covers.first()?.index.guess(hash)?;
        self.records.prefetch(slice);
        Some(SliceId(slice))
    }
}
