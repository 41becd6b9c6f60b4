//! Names to numbers: the lookup of field and event names while records are scanned.
//!
//! A name is known by its length and its first sixteen bytes; only a longer one is compared in full. So a
//! lookup is two loads, a multiplication and one probe, with no call.

/// The number of a name that is not in the table.
pub(crate) const NONE: u32 = u32::MAX;

/// A set of names, each with its number, counted from zero in the order of adding.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    names: Vec<Box<str>>,
    table: Vec<Entry>,
    shift: u32,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    start: u128,
    len: u32,
    id: u32,
}

/// What a lookup found, for the next one: records of a trace have their fields in the same order, mostly, and
/// a comparison that comes out as always costs less than a probe, whose result everything after it waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hint(Entry);

impl Hint {
    /// Found nothing yet.
    pub(crate) const NEW: Hint = Hint(Entry { start: 0, len: NONE, id: NONE });
}

const VACANT: Entry = Entry { start: 0, len: 0, id: NONE };

impl Words {
    pub(crate) fn new() -> Words {
        Words { names: Vec::new(), table: vec![VACANT; 16], shift: 60 }
    }

    /// The number of `name`, which is added if it is new.
    pub(crate) fn add(&mut self, name: &str) -> u32 {
        let known = self.find(name.as_bytes(), 0, name.len());
        if known != NONE {
            return known;
        }
        let id = self.names.len() as u32;
        self.names.push(name.into());
        // A quarter full at most: nearly every probe is the last one.
        if self.names.len() * 4 > self.table.len() {
            self.shift -= 1;
            self.table = vec![VACANT; self.table.len() * 2];
            for id in 0..self.names.len() as u32 {
                self.place(id);
            }
        } else {
            self.place(id);
        }
        id
    }

    fn place(&mut self, id: u32) {
        let name = self.names[id as usize].as_bytes();
        let start = beginning(name, 0, name.len());
        let mut at = self.home(start, name.len());
        while self.table[at].id != NONE {
            at = (at + 1) & (self.table.len() - 1);
        }
        self.table[at] = Entry { start, len: name.len() as u32, id };
    }

    #[inline(always)]
    fn home(&self, start: u128, len: usize) -> usize {
        let mixed = (start as u64 ^ ((start >> 64) as u64).rotate_left(29) ^ len as u64)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> self.shift) as usize
    }

    /// The number of the name at `start..end` of `text`, or [`NONE`].
    #[inline(always)]
    pub(crate) fn find(&self, text: &[u8], start: usize, end: usize) -> u32 {
        let len = end - start;
        let key = beginning(text, start, end);
        let mut at = self.home(key, len);
        loop {
            let entry = &self.table[at & (self.table.len() - 1)];
            if entry.start == key && entry.len as usize == len && entry.id != NONE {
                if len <= LOADED || self.names[entry.id as usize].as_bytes() == &text[start..end] {
                    return entry.id;
                }
            } else if entry.id == NONE {
                return NONE;
            }
            at += 1;
        }
    }

    /// The same, faster if the name is the one that the hint was left at.
    #[inline(always)]
    pub(crate) fn find_again(&self, hint: &mut Hint, text: &[u8], start: usize, end: usize) -> u32 {
        let len = end - start;
        let key = beginning(text, start, end);
        if hint.0.start == key && hint.0.len as usize == len {
            return hint.0.id;
        }
        let id = self.find(text, start, end);
        // Of a longer name the beginning does not say all.
        if len <= LOADED {
            hint.0 = Entry { start: key, len: len as u32, id };
        }
        id
    }

    /// The name with this number.
    pub(crate) fn name(&self, id: u32) -> &str {
        self.names.get(id as usize).map_or("", |name| name)
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }
}

/// How much of a name is looked at in one go.
const LOADED: usize = 16;

/// The first bytes of `text[start..end]`, followed by zeros.
#[inline(always)]
pub(crate) fn beginning(text: &[u8], start: usize, end: usize) -> u128 {
    let kept = MASKS[(end - start).min(LOADED)];
    match text.get(start..).and_then(|bytes| bytes.first_chunk()) {
        Some(bytes) => u128::from_le_bytes(*bytes) & kept,
        None => last_bytes(text, start) & kept,
    }
}

/// The bits of that many bytes.
const MASKS: [u128; LOADED + 1] = {
    let mut masks = [u128::MAX; LOADED + 1];
    let mut len = 0;
    while len < LOADED {
        masks[len] = (1 << (8 * len)) - 1;
        len += 1;
    }
    masks
};

/// The eight bytes at `at`, the first in the lowest place; zeros stand for those beyond the end.
#[inline(always)]
pub(crate) fn eight_bytes(text: &[u8], at: usize) -> u64 {
    match text.get(at..).and_then(|bytes| bytes.first_chunk()) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => last_bytes(text, at) as u64,
    }
}

/// The same near the end of the text.
#[cold]
fn last_bytes(text: &[u8], at: usize) -> u128 {
    let rest = text.get(at..).unwrap_or_default();
    rest.iter().take(LOADED).rev().fold(0, |word, byte| word << 8 | u128::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_lengths_are_told_apart() {
        let names: Vec<String> = (0..40)
            .flat_map(|len| [format!("{}x", "a".repeat(len)), format!("b{}", "a".repeat(len))])
            .chain(["".into(), "aaaaaaaaaXaaaaaaaaa".into(), "aaaaaaaaaYaaaaaaaaa".into()])
            .collect();
        let mut words = Words::new();
        for name in &names {
            words.add(name);
        }
        let mut distinct = names.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(words.len(), distinct.len());
        for name in &names {
            // In the middle of a text, and right at its end.
            for text in [format!("-{name}-------------"), format!("-{name}")] {
                let id = words.find(text.as_bytes(), 1, 1 + name.len());
                assert_eq!(words.name(id), name);
            }
            assert_eq!(words.find(format!("{name}?").as_bytes(), 0, name.len() + 1), NONE);
        }
    }
}
