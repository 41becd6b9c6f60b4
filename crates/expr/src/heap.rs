//! Heap of large values: long strings, lists, tuples, sets and dicts.
//!
//! The heap is one array of words. An object is identified by its index in the array, and objects refer to
//! each other by index, so that a heap can be copied, saved and restored as bytes. Values have no identity: an
//! object may be shared by several variables, and a change to a shared object is applied to a copy.
//!
//! Reference counting is deferred. Only lasting references are counted: variables of the environment, keys of
//! slices and elements of other objects; registers of a machine are not. Objects without lasting references
//! are listed, and [`Heap::sweep`], called when no register is in use, frees the listed objects whose count is
//! still zero.

use crate::fault::{EvalResult, Fault, FaultKind};
use crate::value::{Tag, Value};
use alloc::vec::Vec;

/// Type of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ObjectKind {
    /// A string longer than a value holds.
    Str = 1,
    /// A list.
    List = 2,
    /// A tuple.
    Tuple = 3,
    /// A set.
    Set = 4,
    /// A dict.
    Dict = 5,
}

/// Maximum nesting of values, which bounds the stack of recursive functions.
pub const MAX_DEPTH: u8 = 64;
/// Maximum size of an object in words: 16 MiB.
const MAX_WORDS: usize = 1 << 21;
/// Words of the header before the payload of an object.
pub(crate) const HEADER: usize = 2;
/// Number of size classes; an object of a class has `4 << class` words.
const CLASSES: usize = 20;

/// An array of objects; see the module.
#[derive(Clone, Debug)]
pub struct Heap {
    pub(crate) words: Vec<u64>,
    /// Per size class, the first free object plus one. The first word of a free object links to the next.
    free: [u32; CLASSES],
    /// The listed objects: see the module.
    uncounted: Vec<u32>,
    limit: usize,
}

impl Default for Heap {
    fn default() -> Heap {
        Heap::with_limit(Heap::DEFAULT_LIMIT)
    }
}

/// The unpacked first header word: kind, size class, depth, whether listed, and reference count.
#[derive(Clone, Copy)]
struct Header {
    kind: u8,
    class: u8,
    depth: u8,
    listed: bool,
    count: u32,
}

impl Header {
    #[inline]
    fn unpack(word: u64) -> Header {
        Header {
            kind: word as u8,
            class: (word >> 8) as u8,
            depth: (word >> 16) as u8,
            listed: word >> 24 & 1 != 0,
            count: (word >> 32) as u32,
        }
    }

    #[inline]
    fn pack(self) -> u64 {
        u64::from(self.kind)
            | u64::from(self.class) << 8
            | u64::from(self.depth) << 16
            | u64::from(self.listed) << 24
            | u64::from(self.count) << 32
    }
}

impl Heap {
    /// Default limit in bytes.
    pub const DEFAULT_LIMIT: usize = 4 << 30;

    /// A heap of at most `bytes` bytes.
    pub fn with_limit(bytes: usize) -> Heap {
        Heap { words: Vec::new(), free: [0; CLASSES], uncounted: Vec::new(), limit: bytes / 8 }
    }

    /// The allocated bytes, including free objects.
    pub fn bytes(&self) -> usize {
        self.words.capacity() * 8
    }

    // ---- objects -----------------------------------------------------------------------------------

    /// Allocates an uncounted object with at least `payload` words of payload.
    pub(crate) fn allocate(&mut self, kind: ObjectKind, payload: usize) -> EvalResult<u32> {
        let total = payload + HEADER;
        if total > MAX_WORDS {
            return Err(Fault::new(FaultKind::Limit, "value too large: the limit is 16 MiB"));
        }
        let class = (total.div_ceil(4).next_power_of_two()).trailing_zeros() as usize;
        let object = match self.free[class] {
            0 => {
                let object = self.words.len();
                if object + (4 << class) > self.limit.min(u32::MAX as usize) {
                    return Err(Fault::new(FaultKind::Limit, "the monitor's memory is full"));
                }
                self.words.resize(object + (4 << class), 0);
                object as u32
            }
            first => {
                self.free[class] = self.words[first as usize - 1] as u32;
                first - 1
            }
        };
        let header = Header { kind: kind as u8, class: class as u8, depth: 1, listed: true, count: 0 };
        self.words[object as usize] = header.pack();
        self.words[object as usize + 1] = 0;
        self.uncounted.push(object);
        Ok(object)
    }

    #[inline]
    fn header(&self, object: u32) -> Header {
        Header::unpack(self.words[object as usize])
    }

    /// The type of an object.
    #[inline]
    pub(crate) fn kind(&self, object: u32) -> ObjectKind {
        match self.header(object).kind {
            2 => ObjectKind::List,
            3 => ObjectKind::Tuple,
            4 => ObjectKind::Set,
            5 => ObjectKind::Dict,
            _ => ObjectKind::Str,
        }
    }

    /// The number of lasting references to an object.
    pub(crate) fn count(&self, object: u32) -> u32 {
        self.header(object).count
    }

    /// The capacity of an object in words of payload.
    #[inline]
    pub(crate) fn capacity(&self, object: u32) -> usize {
        (4 << self.header(object).class) - HEADER
    }

    /// Bytes of a string, elements of a sequence, entries of a table including holes.
    #[inline]
    pub(crate) fn len(&self, object: u32) -> usize {
        self.words[object as usize + 1] as u32 as usize
    }

    #[inline]
    pub(crate) fn set_len(&mut self, object: u32, len: usize) {
        let word = &mut self.words[object as usize + 1];
        *word = *word & !0xffff_ffff | len as u64;
    }

    /// The second length of an object: the number of holes of a table.
    #[inline]
    pub(crate) fn aux(&self, object: u32) -> usize {
        (self.words[object as usize + 1] >> 32) as usize
    }

    #[inline]
    pub(crate) fn set_aux(&mut self, object: u32, aux: usize) {
        let word = &mut self.words[object as usize + 1];
        *word = *word & 0xffff_ffff | (aux as u64) << 32;
    }

    #[inline]
    pub(crate) fn load(&self, object: u32, word: usize) -> Value {
        let at = object as usize + HEADER + word;
        Value::from_bits((self.words[at], self.words[at + 1]))
    }

    /// Writes a value, which must already be counted, to the payload of an object.
    #[inline]
    pub(crate) fn put(&mut self, object: u32, word: usize, value: Value) {
        let at = object as usize + HEADER + word;
        (self.words[at], self.words[at + 1]) = value.bits();
    }

    /// Updates the depth of `object` for a new element. Faults beyond [`MAX_DEPTH`].
    pub(crate) fn deepen(&mut self, object: u32, child: Value) -> EvalResult<()> {
        let Some(child) = child.as_object() else { return Ok(()) };
        let mut depth = self.header(child).depth + 1;
        if depth > MAX_DEPTH {
            // The recorded depth is an upper bound: elements may have been removed since.
            depth = self.recompute_depth(child) + 1;
        }
        if depth > MAX_DEPTH {
            return Err(Fault::new(FaultKind::Limit, "values are nested more than 64 deep"));
        }
        let mut header = self.header(object);
        header.depth = header.depth.max(depth);
        self.words[object as usize] = header.pack();
        Ok(())
    }

    /// Recomputes and stores the depth of an object from the recorded depths of its elements.
    fn recompute_depth(&mut self, object: u32) -> u8 {
        let elements = self.value_words(object).filter_map(|word| self.load(object, word).as_object());
        let depth = elements.map(|element| self.header(element).depth).max().unwrap_or(0).saturating_add(1);
        let mut header = self.header(object);
        header.depth = depth;
        self.words[object as usize] = header.pack();
        depth
    }

    // ---- counting ----------------------------------------------------------------------------------

    /// Adds a lasting reference.
    #[inline]
    pub fn retain(&mut self, value: Value) {
        if let Some(object) = value.as_object() {
            // Cannot overflow: 2^32 references exceed the memory of a heap.
            self.words[object as usize] += 1 << 32;
        }
    }

    /// Removes a lasting reference.
    #[inline]
    pub fn release(&mut self, value: Value) {
        if let Some(object) = value.as_object() {
            self.release_object(object);
        }
    }

    fn release_object(&mut self, object: u32) {
        let mut header = self.header(object);
        header.count = header.count.saturating_sub(1);
        if header.count == 0 && !header.listed {
            header.listed = true;
            self.uncounted.push(object);
        }
        self.words[object as usize] = header.pack();
    }

    /// Frees all objects without lasting references. Must be called only when no register is in use.
    #[inline]
    pub fn sweep(&mut self) {
        if !self.uncounted.is_empty() {
            self.sweep_listed();
        }
    }

    fn sweep_listed(&mut self) {
        while let Some(object) = self.uncounted.pop() {
            let mut header = self.header(object);
            header.listed = false;
            self.words[object as usize] = header.pack();
            if header.count > 0 {
                continue;
            }
            for word in self.value_words(object) {
                let child = self.load(object, word);
                self.release(child);
            }
            self.words[object as usize] = u64::from(self.free[header.class as usize]);
            self.free[header.class as usize] = object + 1;
        }
    }

    /// The offsets of the values in the payload of an object.
    pub(crate) fn value_words(&self, object: u32) -> core::iter::StepBy<core::ops::Range<usize>> {
        let words = match self.kind(object) {
            ObjectKind::Str => 0,
            ObjectKind::List | ObjectKind::Tuple | ObjectKind::Set => 2 * self.len(object),
            ObjectKind::Dict => 4 * self.len(object),
        };
        (0..words).step_by(2)
    }

    // ---- strings and sequences ---------------------------------------------------------------------

    /// The bytes of a string object.
    fn bytes_of(&self, object: u32) -> &[u8] {
        let start = object as usize + HEADER;
        let len = self.len(object);
        let words = &self.words[start..start + len.div_ceil(8)];
        &bytemuck::cast_slice(words)[..len]
    }

    /// The text of a string object.
    pub(crate) fn str(&self, object: u32) -> &str {
        core::str::from_utf8(self.bytes_of(object)).unwrap_or("")
    }

    /// The character at byte `at` of a string object. Takes constant time.
    pub(crate) fn char_at(&self, object: u32, at: usize) -> Option<char> {
        let rest = self.bytes_of(object).get(at..)?;
        let len = match rest.first()? {
            0..0x80 => 1,
            0x80..0xe0 => 2,
            0xe0..0xf0 => 3,
            _ => 4,
        };
        core::str::from_utf8(rest.get(..len)?).ok()?.chars().next()
    }

    /// A string value.
    pub fn new_str(&mut self, s: &str) -> EvalResult<Value> {
        if let Some(short) = Value::short(s) {
            return Ok(short);
        }
        let object = self.allocate(ObjectKind::Str, s.len().div_ceil(8))?;
        let start = object as usize + HEADER;
        let words = &mut self.words[start..start + s.len().div_ceil(8)];
        bytemuck::cast_slice_mut(words)[..s.len()].copy_from_slice(s.as_bytes());
        self.set_len(object, s.len());
        Ok(Value::object(object))
    }

    /// Builds a list or tuple of values that are [owned](crate::text::TextArenas::own).
    pub(crate) fn new_seq(&mut self, kind: ObjectKind, values: &[Value]) -> EvalResult<Value> {
        let object = self.allocate(kind, 2 * values.len())?;
        for value in values {
            self.push(object, *value)?;
        }
        Ok(Value::object(object))
    }

    /// Appends to a sequence with spare capacity.
    pub(crate) fn push(&mut self, object: u32, value: Value) -> EvalResult<()> {
        self.deepen(object, value)?;
        self.retain(value);
        let len = self.len(object);
        self.put(object, 2 * len, value);
        self.set_len(object, len + 1);
        Ok(())
    }

    /// Appends to an unshared list, which may move.
    pub(crate) fn append(&mut self, object: u32, value: Value) -> EvalResult<u32> {
        let len = self.len(object);
        let object = if 2 * (len + 1) > self.capacity(object) {
            let larger = self.allocate(ObjectKind::List, 2 * (len + 1))?;
            self.copy_values(object, larger, 0..len)?;
            larger
        } else {
            object
        };
        self.push(object, value)?;
        Ok(object)
    }

    /// Appends elements of one sequence to another with spare capacity.
    pub(crate) fn copy_values(
        &mut self,
        from: u32,
        to: u32,
        range: core::ops::Range<usize>,
    ) -> EvalResult<()> {
        for i in range {
            let value = self.load(from, 2 * i);
            self.push(to, value)?;
        }
        Ok(())
    }

    /// The element at `i` of a list or tuple.
    #[inline]
    pub(crate) fn item(&self, object: u32, i: usize) -> Value {
        self.load(object, 2 * i)
    }

    /// Replaces the element at `i` of an unshared list.
    pub(crate) fn set_item(&mut self, object: u32, i: usize, value: Value) -> EvalResult<()> {
        self.deepen(object, value)?;
        self.retain(value);
        let old = self.item(object, i);
        self.put(object, 2 * i, value);
        self.release(old);
        Ok(())
    }

    /// Removes the element at `i` of an unshared list.
    pub(crate) fn remove_item(&mut self, object: u32, i: usize) -> Value {
        let len = self.len(object);
        let old = self.item(object, i);
        for j in i + 1..len {
            let next = self.item(object, j);
            self.put(object, 2 * (j - 1), next);
        }
        self.set_len(object, len - 1);
        self.release(old);
        old
    }

    /// Inserts a value at `i` of an unshared list, which may move.
    pub(crate) fn insert_item(&mut self, object: u32, i: usize, value: Value) -> EvalResult<u32> {
        let object = self.append(object, value)?;
        for j in (i..self.len(object) - 1).rev() {
            let earlier = self.item(object, j);
            self.put(object, 2 * (j + 1), earlier);
        }
        self.put(object, 2 * i, value);
        Ok(object)
    }

    /// A copy of an object with the same elements.
    pub(crate) fn duplicate(&mut self, object: u32) -> EvalResult<u32> {
        let kind = self.kind(object);
        let capacity = self.capacity(object);
        let copy = self.allocate(kind, capacity)?;
        let (from, to) = (object as usize + 1, copy as usize + 1);
        self.words.copy_within(from..from + 1 + capacity, to);
        for word in self.value_words(copy) {
            let child = self.load(copy, word);
            self.retain(child);
        }
        let depth = self.header(object).depth;
        let mut header = self.header(copy);
        header.depth = depth;
        self.words[copy as usize] = header.pack();
        Ok(copy)
    }

    /// The object, if `value` is one of this kind.
    #[inline]
    pub(crate) fn object_of(&self, value: Value, kind: ObjectKind) -> Option<u32> {
        value.as_object().filter(|object| self.kind(*object) == kind)
    }

    /// The number of objects in use, for tests and measurements.
    pub fn live_objects(&self) -> usize {
        // A free object has no header: its size follows from its free list.
        let mut sizes = alloc::collections::BTreeMap::new();
        for (class, first) in self.free.iter().enumerate() {
            let mut next = *first;
            while next != 0 {
                sizes.insert(next - 1, 4usize << class);
                next = self.words[next as usize - 1] as u32;
            }
        }
        let (mut live, mut at) = (0, 0);
        while at < self.words.len() {
            match sizes.get(&(at as u32)) {
                Some(size) => at += size,
                None => {
                    live += 1;
                    at += 4 << self.header(at as u32).class;
                }
            }
        }
        live
    }
}

/// Whether a value is a string of any representation.
#[inline]
pub(crate) fn is_str(heap: &Heap, value: Value) -> bool {
    match value.tag() {
        Tag::Short | Tag::Text | Tag::Pool => true,
        Tag::Object => value.as_object().is_some_and(|o| heap.kind(o) == ObjectKind::Str),
        _ => false,
    }
}
