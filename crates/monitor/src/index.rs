//! Hash index of slices: open addressing, plain data, one word per slot.

use alloc::vec;
use alloc::vec::Vec;

/// A hash index of numbers. The caller distinguishes numbers with equal hashes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    /// Upper half: hash; lower half: number plus one; zero is vacant.
    slots: Vec<u64>,
    len: usize,
}

#[inline(always)]
fn tag(hash: u64) -> u64 {
    hash & 0xffff_ffff_0000_0000
}

/// The first slot to search for a hash.
#[inline(always)]
fn home(slots: &[u64], hash: u64) -> usize {
    (hash >> 32) as usize & (slots.len() - 1)
}

/// The number with this hash that satisfies `is`.
#[inline]
pub(crate) fn find(slots: &[u64], hash: u64, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
    if slots.is_empty() {
        return None;
    }
    let mut at = home(slots, hash);
    loop {
        let slot = slots[at];
        if slot == 0 {
            return None;
        }
        if tag(slot) == tag(hash) && is(slot as u32 - 1) {
            return Some(slot as u32 - 1);
        }
        at = (at + 1) & (slots.len() - 1);
    }
}

impl Index {
    #[inline(always)]
    fn home(&self, hash: u64) -> usize {
        home(&self.slots, hash)
    }

    /// The number with this hash that satisfies `is`.
    #[inline]
    pub(crate) fn find(&self, hash: u64, is: impl FnMut(u32) -> bool) -> Option<u32> {
        find(&self.slots, hash, is)
    }

    /// The slots, for [`find`].
    pub(crate) fn slots(&self) -> &[u64] {
        &self.slots
    }

    /// Adds a number.
    pub(crate) fn insert(&mut self, hash: u64, number: u32) {
        if (self.len + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        self.place(tag(hash) | u64::from(number + 1));
        self.len += 1;
    }

    fn place(&mut self, slot: u64) {
        let mut at = self.home(slot);
        while self.slots[at] != 0 {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = slot;
    }

    fn grow(&mut self) {
        let larger = vec![0; (self.slots.len() * 2).max(8)];
        for slot in core::mem::replace(&mut self.slots, larger) {
            if slot != 0 {
                self.place(slot);
            }
        }
    }

    fn position(&self, hash: u64, number: u32) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let wanted = tag(hash) | u64::from(number + 1);
        let mut at = self.home(hash);
        loop {
            match self.slots[at] {
                0 => return None,
                slot if slot == wanted => return Some(at),
                _ => at = (at + 1) & (self.slots.len() - 1),
            }
        }
    }

    /// Replaces `old` by `new`, which has the same hash.
    pub(crate) fn replace(&mut self, hash: u64, old: u32, new: u32) {
        if let Some(at) = self.position(hash, old) {
            self.slots[at] = tag(hash) | u64::from(new + 1);
        }
    }

    /// Removes a number and closes the gap, so that no search ends too early.
    pub(crate) fn remove(&mut self, hash: u64, number: u32) {
        let Some(mut gap) = self.position(hash, number) else { return };
        self.len -= 1;
        let last = self.slots.len() - 1;
        let mut at = gap;
        loop {
            at = (at + 1) & last;
            let slot = self.slots[at];
            if slot == 0 {
                break;
            }
            // A slot may move into the gap if the gap is not before its first slot.
            if (at.wrapping_sub(self.home(slot)) & last) >= (at.wrapping_sub(gap) & last) {
                self.slots[gap] = slot;
                gap = at;
            }
        }
        self.slots[gap] = 0;
    }

    pub(crate) fn bytes(&self) -> usize {
        self.slots.capacity() * 8
    }

    /// Prefetches the slot where the search for `hash` starts.
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        if !self.slots.is_empty() {
            crate::prefetch::prefetch(&self.slots, self.home(hash));
        }
    }

    /// The number that the search for `hash` most likely finds, from the first two slots.
    #[inline(always)]
    pub(crate) fn likely_number(&self, hash: u64) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let home = self.home(hash);
        let next = (home + 1) & (self.slots.len() - 1);
        let is_likely = |slot: u64| tag(slot) == tag(hash) && slot != 0;
        let slot = if is_likely(self.slots[home]) { self.slots[home] } else { self.slots[next] };
        is_likely(slot).then(|| slot as u32 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::Index;
    use alloc::collections::BTreeMap;
    use invigil_expr::compare::mix;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn index_agrees_with_hash_map(ops in proptest::collection::vec((0u64..40, any::<bool>()), 0..400)) {
            let mut index = Index::default();
            let mut map = BTreeMap::new();
            // Few distinct hashes, to force collisions.
            let hash = |key: u64| mix(key % 13, 7);
            for (number, (key, insert)) in ops.into_iter().enumerate() {
                let number = number as u32;
                match (insert, map.get(&key).copied()) {
                    (true, None) => { index.insert(hash(key), number); map.insert(key, number); }
                    (true, Some(old)) => { index.replace(hash(key), old, number); map.insert(key, number); }
                    (false, Some(old)) => { index.remove(hash(key), old); map.remove(&key); }
                    (false, None) => {}
                }
                for key in 0..40 {
                    let expected = map.get(&key).copied();
                    prop_assert_eq!(index.find(hash(key), |n| Some(n) == expected), expected);
                }
            }
        }
    }
}
