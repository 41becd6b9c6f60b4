//! Values as bytes that need no heap: for comparing and hashing states that live in different heaps.
//!
//! The bytes tell everything a program could find out about a value, the order of a set's elements included,
//! so two values with the same bytes can never be told apart later.

use crate::compare::View;
use crate::heap::Kind;
use crate::value::{Tag, Value};
use alloc::vec::Vec;

impl View<'_> {
    /// Appends the bytes of a value.
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
            Kind::Set | Kind::Dict => {
                for entry in self.entries(object) {
                    self.encode(self.key(object, entry), out);
                    if kind == Kind::Dict {
                        self.encode(self.entry_value(object, entry), out);
                    }
                }
            }
            _ => (0..self.heap.len(object)).for_each(|i| self.encode(self.heap.item(object, i), out)),
        }
    }
}
