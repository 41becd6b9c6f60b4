//! Values as bytes, independent of a heap: for comparing and hashing states in different heaps.
//!
//! **Invariant:** the bytes contain everything that a program can observe of a value, including the order of
//! the elements of a set. No program can distinguish two values with the same bytes.

use crate::compare::ValueReader;
use crate::heap::ObjectKind;
use crate::value::{Tag, Value};
use alloc::vec::Vec;

impl ValueReader<'_> {
    /// Appends the encoding of a value.
    pub fn encode(&self, value: Value, out: &mut Vec<u8>) {
        if let Some(text) = self.str(&value) {
            out.push(Tag::Short as u8);
            out.extend((text.len() as u32).to_le_bytes());
            out.extend(text.as_bytes());
            return;
        }
        let Some(object) = value.as_object() else {
            let (low, high) = value.bits();
            out.push(low as u8);
            out.extend(high.to_le_bytes());
            return;
        };
        let kind = self.heap.kind(object);
        out.push(Tag::Object as u8 + kind as u8);
        out.extend(((self.heap.len(object) - self.heap.aux(object)) as u32).to_le_bytes());
        match kind {
            ObjectKind::Set | ObjectKind::Dict => {
                for entry in self.entries(object) {
                    self.encode(self.key(object, entry), out);
                    if kind == ObjectKind::Dict {
                        self.encode(self.entry_value(object, entry), out);
                    }
                }
            }
            _ => (0..self.heap.len(object)).for_each(|i| self.encode(self.heap.item(object, i), out)),
        }
    }
}
