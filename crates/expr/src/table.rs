//! Sets and dicts: entries in insertion order, with an index for tables of more than a few entries.
//!
//! Hand-written because objects are indices into one array of words, which no library's table can live in.
//!
//! A removed entry leaves a hole, an unset key. A table is rebuilt without holes when it grows or half of it is
//! holes. The index is an open-addressed array of entry numbers after the entries.

use crate::compare::ValueReader;
use crate::fault::{Budget, EvalResult, Fault, FaultKind};
use crate::heap::{HEADER, Heap, ObjectKind};
use crate::operators::EvalContext;
use crate::value::{Tag, Value};

/// Tables of up to this many entries are searched linearly.
const SMALL: usize = 8;
/// An empty index slot.
const VACANT: u32 = u32::MAX;

fn entry_words(kind: ObjectKind) -> usize {
    if kind == ObjectKind::Dict { 4 } else { 2 }
}

/// The number of entries that fit into `payload` words, including the index.
fn capacity(kind: ObjectKind, payload: usize) -> usize {
    let words = entry_words(kind);
    if payload / words <= SMALL { payload / words } else { (payload / (words + 1)).max(SMALL) }
}

/// The words that `entries` entries need, including the index.
fn words_for(kind: ObjectKind, entries: usize) -> usize {
    entries * (entry_words(kind) + usize::from(entries > SMALL))
}

impl ValueReader<'_> {
    /// The indexes of the entries of a table, without holes.
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

    /// The entry with `key`.
    pub(crate) fn find(&self, table: u32, key: Value, budget: &mut Budget) -> EvalResult<Option<usize>> {
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

/// Location of a table's index: word of the first slot, and number of slots (two per word).
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
        let capacity = capacity(kind, self.capacity(table));
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

    /// Allocates an empty set or dict with capacity for `entries` entries.
    pub(crate) fn new_table(&mut self, kind: ObjectKind, entries: usize) -> EvalResult<u32> {
        let table = self.allocate(kind, words_for(kind, entries))?;
        let index = self.index(table);
        for word in 0..index.len / 2 {
            self.words[index.word + word] = u64::MAX;
        }
        Ok(table)
    }
}

/// Changes to an unshared table. A change may move the table; the functions return its new index.
impl EvalContext<'_> {
    /// Inserts `key`, with `value` for a dict, or replaces its value. Both must be owned.
    pub(crate) fn insert(&mut self, table: u32, key: Value, value: Value) -> EvalResult<u32> {
        self.check_key(key)?;
        let kind = self.heap.kind(table);
        let found = ValueReader { heap: self.heap, texts: self.texts }.find(table, key, self.budget)?;
        if let Some(entry) = found {
            if kind == ObjectKind::Dict {
                self.heap.deepen(table, value)?;
                self.heap.retain(value);
                let old = self.heap.load(table, 4 * entry + 2);
                self.heap.put(table, 4 * entry + 2, value);
                self.heap.release(old);
            }
            return Ok(table);
        }
        let table = match self.heap.len(table) < capacity(kind, self.heap.capacity(table)) {
            true => table,
            false => self.rebuild(table)?,
        };
        self.heap.retain(key);
        self.heap.retain(value);
        self.append(table, key, value)?;
        Ok(table)
    }

    /// Faults unless `key` is immutable, as in Python.
    fn check_key(&self, key: Value) -> EvalResult<()> {
        match key.tag() {
            Tag::Object => match self.heap.kind(key.as_object().unwrap_or(0)) {
                ObjectKind::Str | ObjectKind::Tuple => Ok(()),
                _ => Err(Fault::new(
                    FaultKind::Type,
                    alloc::format!(
                        "a {} cannot be a key or an element of a set",
                        ValueReader { heap: self.heap, texts: self.texts }.type_name(key)
                    ),
                )),
            },
            _ => Ok(()),
        }
    }

    /// Appends a new, already counted entry to a table with spare capacity.
    fn append(&mut self, table: u32, key: Value, value: Value) -> EvalResult<()> {
        self.heap.deepen(table, key)?;
        self.heap.deepen(table, value)?;
        let kind = self.heap.kind(table);
        let entry = self.heap.len(table);
        self.heap.put(table, entry * entry_words(kind), key);
        if kind == ObjectKind::Dict {
            self.heap.put(table, entry * 4 + 2, value);
        }
        self.heap.set_len(table, entry + 1);
        let index = self.heap.index(table);
        if index.len > 0 {
            let hash = ValueReader { heap: self.heap, texts: self.texts }.hash(key, self.budget)?;
            let mut slot = index.start(hash);
            while self.heap.slot(index, slot) != VACANT {
                slot = index.next(slot);
            }
            self.heap.set_slot(index, slot, entry as u32);
        }
        Ok(())
    }

    /// Copies the table without its holes, with capacity for at least one more entry.
    fn rebuild(&mut self, table: u32) -> EvalResult<u32> {
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
                ObjectKind::Dict => self.heap.load(table, 4 * entry + 2),
                _ => Value::UNSET,
            };
            // The old table keeps its references until it is swept.
            self.heap.retain(key);
            self.heap.retain(value);
            self.append(larger, key, value)?;
        }
        Ok(larger)
    }

    /// Removes the entry of `key`. Returns the table and the value, which is `None` for a set.
    pub(crate) fn remove(&mut self, table: u32, key: Value) -> EvalResult<Option<(u32, Value)>> {
        let found = ValueReader { heap: self.heap, texts: self.texts }.find(table, key, self.budget)?;
        let Some(entry) = found else { return Ok(None) };
        let kind = self.heap.kind(table);
        let at = entry * entry_words(kind);
        let old_key = self.heap.load(table, at);
        let mut value = Value::NONE;
        if kind == ObjectKind::Dict {
            value = self.heap.load(table, at + 2);
            self.heap.put(table, at + 2, Value::UNSET);
        }
        // The index still refers to the entry. An unset key equals no value, so searches skip the hole.
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
