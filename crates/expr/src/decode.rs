//! Values from bytes: the other direction of [`encode`](crate::compare::View::encode).

use crate::fault::Budget;
use crate::heap::{Heap, Kind, MAX_DEPTH};
use crate::text::Texts;
use crate::value::{Tag, Value};
use crate::work::Work;
use alloc::string::String;
use alloc::vec::Vec;

/// Takes some bytes off the front.
fn take<'a>(bytes: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(taken)
}

fn word<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    take(bytes, N)?.try_into().ok()
}

impl Heap {
    /// Takes the bytes of one value, as [`View::encode`](crate::compare::View::encode) wrote them, off the front. Whatever
    /// the value needs is built in this heap, and nothing lasting refers to it yet. None if these are not the bytes of a
    /// value, or there is no room for it.
    ///
    /// ```
    /// use invigil_expr::{compare::View, heap::Heap, text::Texts, value::Value};
    /// let (mut heap, mut bytes) = (Heap::default(), Vec::new());
    /// let name = heap.new_str("a name that is too long for a value").unwrap();
    /// View { heap: &heap, texts: Texts::NONE }.encode(name, &mut bytes);
    /// let mut other = Heap::default();
    /// let copy = other.decode(&mut &bytes[..]).unwrap();
    /// assert_eq!(Texts::NONE.str(&other, &copy), Some("a name that is too long for a value"));
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
            Some(2) => Kind::List,
            Some(3) => Kind::Tuple,
            Some(4) => Kind::Set,
            Some(5) => Kind::Dict,
            Some(_) => return None,
            None => return plain(tag, u64::from_le_bytes(word(bytes)?)),
        };
        let depth = depth.checked_sub(1)?;
        let len = u32::from_le_bytes(word(bytes)?) as usize;
        // Each takes a byte at least: what claims to be more is none.
        if len > bytes.len() {
            return None;
        }
        if !matches!(kind, Kind::Set | Kind::Dict) {
            let mut items = Vec::with_capacity(len);
            for _ in 0..len {
                items.push(self.decode_at(bytes, depth)?);
            }
            return self.new_seq(kind, &items).ok();
        }
        let mut table = self.new_table(kind, len).ok()?;
        for _ in 0..len {
            let key = self.decode_at(bytes, depth)?;
            let value = if kind == Kind::Dict { self.decode_at(bytes, depth)? } else { Value::NONE };
            let mut budget = Budget::new(u64::MAX);
            let scratch = &mut String::new();
            let mut work = Work { heap: self, texts: Texts::NONE, budget: &mut budget, scratch };
            table = work.insert(table, key, value).ok()?;
        }
        Some(Value::object(table))
    }
}

/// A value that is complete in itself.
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
