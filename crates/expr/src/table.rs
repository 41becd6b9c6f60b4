//! Sets and dicts: entries in the order they came, and an index once there are more than a few.
//!
//! A removed entry leaves a hole (an unset key); when a table grows or half of it is holes, it is written
//! anew without them. The index is an open-addressed array of entry numbers behind the entries.

use crate::compare::View;
use crate::fault::{Budget, Fault, FaultKind, Run};
use crate::heap::{HEADER, Heap, Kind};
use crate::value::{Tag, Value};
use crate::work::Work;

/// Tables of up to this many entries are searched from end to end.
const SMALL: usize = 8;
/// An index slot that points to no entry.
const VACANT: u32 = u32::MAX;

fn entry_words(kind: Kind) -> usize {
    if kind == Kind::Dict { 4 } else { 2 }
}

/// How many entries fit into `room` words, the index included.
fn capacity(kind: Kind, room: usize) -> usize {
    let words = entry_words(kind);
    if room / words <= SMALL { room / words } else { (room / (words + 1)).max(SMALL) }
}

/// The words that `entries` entries need, the index included.
fn words_for(kind: Kind, entries: usize) -> usize {
    entries * (entry_words(kind) + usize::from(entries > SMALL))
}

impl View<'_> {
    /// The numbers of a table's entries, holes left out.
    pub(crate) fn entries(&self, table: u32) -> impl Iterator<Item = usize> + use<'_> {
        (0..self.heap.len(table)).filter(move |entry| !self.key(table, *entry).is_unset())
    }

    pub(crate) fn key(&self, table: u32, entry: usize) -> Value {
        self.heap.key(table, entry)
    }

    /// The value of a dict's entry.
    pub(crate) fn entry_value(&self, table: u32, entry: usize) -> Value {
        self.heap.load(table, 4 * entry + 2)
    }

    /// The entry that holds `key`.
    pub(crate) fn find(&self, table: u32, key: Value, budget: &mut Budget) -> Run<Option<usize>> {
        let heap = self.heap;
        let index = heap.index(table);
        if index.len == 0 {
            budget.spend(1)?;
            for entry in self.entries(table) {
                if self.equal(self.key(table, entry), key, budget)? {
                    return Ok(Some(entry));
                }
            }
            return Ok(None);
        }
        let mut slot = index.start(self.hash(key, budget)?);
        loop {
            match heap.slot(index, slot) {
                VACANT => return Ok(None),
                entry if self.equal(self.key(table, entry as usize), key, budget)? => {
                    return Ok(Some(entry as usize));
                }
                _ => slot = index.next(slot),
            }
        }
    }
}

/// Where a table's index is: word of its first slot, and the number of slots (two a word).
#[derive(Clone, Copy)]
struct Index {
    word: usize,
    len: usize,
}

impl Index {
    fn start(self, hash: u64) -> usize {
        (((hash >> 32) * self.len as u64) >> 32) as usize
    }

    fn next(self, slot: usize) -> usize {
        if slot + 1 == self.len { 0 } else { slot + 1 }
    }
}

impl Heap {
    fn index(&self, table: u32) -> Index {
        let kind = self.kind(table);
        let capacity = capacity(kind, self.room(table));
        let len = if capacity > SMALL { 2 * capacity } else { 0 };
        Index { word: table as usize + HEADER + capacity * entry_words(kind), len }
    }

    fn slot(&self, index: Index, slot: usize) -> u32 {
        (self.words[index.word + slot / 2] >> (slot % 2 * 32)) as u32
    }

    fn set_slot(&mut self, index: Index, slot: usize, entry: u32) {
        let word = &mut self.words[index.word + slot / 2];
        let shift = slot % 2 * 32;
        *word = *word & !(0xffff_ffff << shift) | u64::from(entry) << shift;
    }

    pub(crate) fn key(&self, table: u32, entry: usize) -> Value {
        self.load(table, entry * entry_words(self.kind(table)))
    }

    /// An empty set or dict with room for some entries.
    pub(crate) fn new_table(&mut self, kind: Kind, entries: usize) -> Run<u32> {
        let table = self.allocate(kind, words_for(kind, entries))?;
        let index = self.index(table);
        for word in 0..index.len / 2 {
            self.words[index.word + word] = u64::MAX;
        }
        Ok(table)
    }
}

/// Changes to a table of which the caller holds the only reference. A change may move the table, so each
/// returns where it is now.
impl Work<'_> {
    /// Adds `key` (with `value`, to a dict), or replaces the value it had. Both are already owned.
    pub(crate) fn insert(&mut self, table: u32, key: Value, value: Value) -> Run<u32> {
        self.check_key(key)?;
        let kind = self.heap.kind(table);
        let found = View { heap: self.heap, texts: self.texts }.find(table, key, self.budget)?;
        if let Some(entry) = found {
            if kind == Kind::Dict {
                self.heap.deepen(table, value)?;
                self.heap.retain(value);
                let old = self.heap.load(table, 4 * entry + 2);
                self.heap.put(table, 4 * entry + 2, value);
                self.heap.release(old);
            }
            return Ok(table);
        }
        let table = match self.heap.len(table) < capacity(kind, self.heap.room(table)) {
            true => table,
            false => self.rebuild(table)?,
        };
        self.heap.retain(key);
        self.heap.retain(value);
        self.append(table, key, value)?;
        Ok(table)
    }

    /// Only values that cannot change may be keys, as in Python: the mistake is worth hearing of.
    fn check_key(&self, key: Value) -> Run<()> {
        match key.tag() {
            Tag::Object => match self.heap.kind(key.as_object().unwrap_or(0)) {
                Kind::Str | Kind::Tuple => Ok(()),
                _ => Err(Fault::new(
                    FaultKind::Type,
                    alloc::format!(
                        "a {} cannot be a key or an element of a set",
                        View { heap: self.heap, texts: self.texts }.type_name(key)
                    ),
                )),
            },
            _ => Ok(()),
        }
    }

    /// Adds an entry that is not there and is already counted to a table with room.
    fn append(&mut self, table: u32, key: Value, value: Value) -> Run<()> {
        self.heap.deepen(table, key)?;
        self.heap.deepen(table, value)?;
        let kind = self.heap.kind(table);
        let entry = self.heap.len(table);
        self.heap.put(table, entry * entry_words(kind), key);
        if kind == Kind::Dict {
            self.heap.put(table, entry * 4 + 2, value);
        }
        self.heap.set_len(table, entry + 1);
        let index = self.heap.index(table);
        if index.len > 0 {
            let hash = View { heap: self.heap, texts: self.texts }.hash(key, self.budget)?;
            let mut slot = index.start(hash);
            while self.heap.slot(index, slot) != VACANT {
                slot = index.next(slot);
            }
            self.heap.set_slot(index, slot, entry as u32);
        }
        Ok(())
    }

    /// The table without its holes, and with room for at least one entry more.
    fn rebuild(&mut self, table: u32) -> Run<u32> {
        let kind = self.heap.kind(table);
        let live = self.heap.len(table) - self.heap.aux(table);
        self.budget.spend(live as u64)?;
        let larger = self.heap.new_table(kind, live + live / 2 + 1)?;
        for entry in 0..self.heap.len(table) {
            let key = self.heap.key(table, entry);
            if key.is_unset() {
                continue;
            }
            let value = match kind {
                Kind::Dict => self.heap.load(table, 4 * entry + 2),
                _ => Value::UNSET,
            };
            // The old table keeps its own references until it is swept.
            self.heap.retain(key);
            self.heap.retain(value);
            self.append(larger, key, value)?;
        }
        Ok(larger)
    }

    /// Takes the entry of `key` out and returns its value (`None` for a set), if it was there.
    pub(crate) fn remove(&mut self, table: u32, key: Value) -> Run<Option<(u32, Value)>> {
        let found = View { heap: self.heap, texts: self.texts }.find(table, key, self.budget)?;
        let Some(entry) = found else { return Ok(None) };
        let kind = self.heap.kind(table);
        let at = entry * entry_words(kind);
        let old_key = self.heap.load(table, at);
        let mut value = Value::NONE;
        if kind == Kind::Dict {
            value = self.heap.load(table, at + 2);
            self.heap.put(table, at + 2, Value::UNSET);
        }
        // The index still leads here; an unset key equals nothing, so searches pass over the hole.
        self.heap.put(table, at, Value::UNSET);
        self.heap.release(old_key);
        self.heap.release(value);
        self.heap.set_aux(table, self.heap.aux(table) + 1);
        let table = match 2 * self.heap.aux(table) > self.heap.len(table) {
            true => self.rebuild(table)?,
            false => table,
        };
        Ok(Some((table, value)))
    }
}
