//! Hash table that maps names of fields and events to ids during scanning.
//!
//! A name is identified by its length and its first sixteen bytes; only longer names are compared in full. So a lookup
//! is two loads, a multiplication and one probe, without a call.

/// Id of a name that is not in the table.
pub(crate) const NONE: u32 = u32::MAX;

/// Set of names with ids, counted from 0 in insertion order.
#[derive(Clone, Debug)]
pub(crate) struct NameTable {
    names: Vec<Box<str>>,
    table: Vec<TableEntry>,
    shift: u32,
}

/// Entry of the hash table: the first bytes of a name, its length and its id.
#[derive(Clone, Copy, Debug)]
struct TableEntry {
    key: u128,
    len: u32,
    id: u32,
}

/// Result of a lookup, as a hint for the next one. Records of a trace mostly have the same fields in the same order,
/// and a well-predicted comparison is cheaper than a probe on which later instructions depend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LookupHint(TableEntry);

impl LookupHint {
    /// Hint without a result.
    pub(crate) const NEW: LookupHint = LookupHint(TableEntry { key: 0, len: NONE, id: NONE });
}

const VACANT: TableEntry = TableEntry { key: 0, len: 0, id: NONE };

impl NameTable {
    pub(crate) fn new() -> NameTable {
        NameTable { names: Vec::new(), table: vec![VACANT; 16], shift: 60 }
    }

    /// Id of `name`, which is added if it is new.
    pub(crate) fn add(&mut self, name: &str) -> u32 {
        let existing = self.find(name.as_bytes(), 0, name.len());
        if existing != NONE {
            return existing;
        }
        let id = self.names.len() as u32;
        self.names.push(name.into());
        // Load factor of at most 1/4: nearly every lookup needs a single probe.
        if self.names.len() * 4 > self.table.len() {
            self.shift -= 1;
            self.table = vec![VACANT; self.table.len() * 2];
            for id in 0..self.names.len() as u32 {
                self.insert(id);
            }
        } else {
            self.insert(id);
        }
        id
    }

    fn insert(&mut self, id: u32) {
        let name = self.names[id as usize].as_bytes();
        let key = key_of(name, 0, name.len());
        let mut at = self.home(key, name.len());
        while self.table[at].id != NONE {
            at = (at + 1) & (self.table.len() - 1);
        }
        self.table[at] = TableEntry { key, len: name.len() as u32, id };
    }

    /// Index at which the search for a name starts.
    #[inline(always)]
    fn home(&self, key: u128, len: usize) -> usize {
        let mixed = (key as u64 ^ ((key >> 64) as u64).rotate_left(29) ^ len as u64)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> self.shift) as usize
    }

    /// Id of the name at `start..end` of `text`, or [`NONE`].
    #[inline(always)]
    pub(crate) fn find(&self, text: &[u8], start: usize, end: usize) -> u32 {
        let len = end - start;
        let key = key_of(text, start, end);
        let mut at = self.home(key, len);
        loop {
            let entry = &self.table[at & (self.table.len() - 1)];
            if entry.key == key && entry.len as usize == len && entry.id != NONE {
                if len <= KEY_BYTES || self.names[entry.id as usize].as_bytes() == &text[start..end] {
                    return entry.id;
                }
            } else if entry.id == NONE {
                return NONE;
            }
            at += 1;
        }
    }

    /// Like [`find`](NameTable::find), but faster if the name is that of the hint.
    #[inline(always)]
    pub(crate) fn find_with_hint(&self, hint: &mut LookupHint, text: &[u8], start: usize, end: usize) -> u32 {
        let len = end - start;
        let key = key_of(text, start, end);
        if hint.0.key == key && hint.0.len as usize == len {
            return hint.0.id;
        }
        let id = self.find(text, start, end);
        // The key of a longer name does not identify it.
        if len <= KEY_BYTES {
            hint.0 = TableEntry { key, len: len as u32, id };
        }
        id
    }

    /// The name with this id.
    pub(crate) fn name(&self, id: u32) -> &str {
        self.names.get(id as usize).map_or("", |name| name)
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }
}

/// Number of bytes in a key.
const KEY_BYTES: usize = 16;

/// The first bytes of `text[start..end]`, padded with zeros.
#[inline(always)]
pub(crate) fn key_of(text: &[u8], start: usize, end: usize) -> u128 {
    let mask = MASKS[(end - start).min(KEY_BYTES)];
    match text.get(start..).and_then(|bytes| bytes.first_chunk()) {
        Some(bytes) => u128::from_le_bytes(*bytes) & mask,
        None => last_bytes(text, start) & mask,
    }
}

/// Masks for the given numbers of bytes.
const MASKS: [u128; KEY_BYTES + 1] = {
    let mut masks = [u128::MAX; KEY_BYTES + 1];
    let mut len = 0;
    while len < KEY_BYTES {
        masks[len] = (1 << (8 * len)) - 1;
        len += 1;
    }
    masks
};

/// The eight bytes at `at` in little-endian order, padded with zeros beyond the end.
#[inline(always)]
pub(crate) fn eight_bytes(text: &[u8], at: usize) -> u64 {
    match text.get(at..).and_then(|bytes| bytes.first_chunk()) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => last_bytes(text, at) as u64,
    }
}

/// Loads the bytes near the end of the text.
#[cold]
fn last_bytes(text: &[u8], at: usize) -> u128 {
    let rest = text.get(at..).unwrap_or_default();
    rest.iter().take(KEY_BYTES).rev().fold(0, |word, byte| word << 8 | u128::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_lengths_are_distinguished() {
        let names: Vec<String> = (0..40)
            .flat_map(|len| [format!("{}x", "a".repeat(len)), format!("b{}", "a".repeat(len))])
            .chain(["".into(), "aaaaaaaaaXaaaaaaaaa".into(), "aaaaaaaaaYaaaaaaaaa".into()])
            .collect();
        let mut table = NameTable::new();
        for name in &names {
            table.add(name);
        }
        let mut distinct = names.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(table.len(), distinct.len());
        for name in &names {
            // In the middle of a text, and at its end.
            for text in [format!("-{name}-------------"), format!("-{name}")] {
                let id = table.find(text.as_bytes(), 1, 1 + name.len());
                assert_eq!(table.name(id), name);
            }
            assert_eq!(table.find(format!("{name}?").as_bytes(), 0, name.len() + 1), NONE);
        }
    }
}
