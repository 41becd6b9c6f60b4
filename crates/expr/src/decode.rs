//! Values from bytes, the inverse of [`encode`](crate::compare::ValueReader::encode).

use crate::fault::Budget;
use crate::heap::{Heap, MAX_DEPTH, ObjectKind};
use crate::operators::EvalContext;
use crate::text::TextArenas;
use crate::value::{Tag, Value};
use alloc::string::String;
use alloc::vec::Vec;

/// Removes `len` bytes from the front.
fn take<'a>(bytes: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(taken)
}

fn word<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    take(bytes, N)?.try_into().ok()
}

impl Heap {
    /// Decodes one value from the front of `bytes`, written by
    /// [`ValueReader::encode`](crate::compare::ValueReader::encode).
    ///
    /// Large values are built in this heap, uncounted. `None` if the bytes are malformed or the heap is full.
    ///
    /// ```
    /// use invigil_expr::{compare::ValueReader, heap::Heap, text::TextArenas, value::Value};
    /// let (mut heap, mut bytes) = (Heap::default(), Vec::new());
    /// let name = heap.new_str("a name that is too long for a value").unwrap();
    /// ValueReader { heap: &heap, texts: TextArenas::NONE }.encode(name, &mut bytes);
    /// let mut other = Heap::default();
    /// let copy = other.decode(&mut &bytes[..]).unwrap();
    /// assert_eq!(TextArenas::NONE.str(&other, &copy), Some("a name that is too long for a value"));
    /// assert!(other.decode(&mut &bytes[..9]).is_none());
    /// ```
    pub fn decode(&mut self, bytes: &mut &[u8]) -> Option<Value> {
        self.decode_at(bytes, MAX_DEPTH)
    }

    fn decode_at(&mut self, bytes: &mut &[u8], depth: u8) -> Option<Value> {
        let [tag] = word(bytes)?;
        if tag == Tag::Short as u8 {
            let len = u32::from_le_bytes(word(bytes)?) as usize;
            return self.new_str(core::str::from_utf8(take(bytes, len)?).ok()?).ok();
        }
        let kind = match tag.checked_sub(Tag::Object as u8) {
            Some(2) => ObjectKind::List,
            Some(3) => ObjectKind::Tuple,
            Some(4) => ObjectKind::Set,
            Some(5) => ObjectKind::Dict,
            Some(_) => return None,
            None => return plain(tag, u64::from_le_bytes(word(bytes)?)),
        };
        let depth = depth.checked_sub(1)?;
        let len = u32::from_le_bytes(word(bytes)?) as usize;
        // Each element takes at least one byte: reject lengths beyond the input before allocating.
        if len > bytes.len() {
            return None;
        }
        if !matches!(kind, ObjectKind::Set | ObjectKind::Dict) {
            let mut items = Vec::with_capacity(len);
            for _ in 0..len {
                items.push(self.decode_at(bytes, depth)?);
            }
            return self.new_seq(kind, &items).ok();
        }
        let mut table = self.new_table(kind, len).ok()?;
        for _ in 0..len {
            let key = self.decode_at(bytes, depth)?;
            let value = if kind == ObjectKind::Dict { self.decode_at(bytes, depth)? } else { Value::NONE };
            let mut budget = Budget::new(u64::MAX);
            let scratch = &mut String::new();
            let mut context =
                EvalContext { heap: self, texts: TextArenas::NONE, budget: &mut budget, scratch };
            table = context.insert(table, key, value).ok()?;
        }
        Some(Value::object(table))
    }
}

/// Decodes an inline value.
fn plain(tag: u8, payload: u64) -> Option<Value> {
    match (tag, payload) {
        (0, _) => Some(Value::UNSET),
        (1, _) => Some(Value::NONE),
        (2, 0) => Some(Value::FALSE),
        (2, 1) => Some(Value::TRUE),
        (3, payload) => Some(Value::int(payload as i64)),
        (4, payload) => Some(Value::float(f64::from_bits(payload))),
        _ => None,
    }
}
