//! Strings outside the heap: those of the current event and those of the program.

use crate::fault::EvalResult;
use crate::heap::{Heap, ObjectKind};
use crate::value::{Tag, Value};

/// The texts that strings may refer to while a block runs.
#[derive(Clone, Copy, Debug)]
pub struct TextArenas<'a> {
    /// The text of the current event.
    pub event: &'a str,
    /// The constant pool of the program.
    pub pool: &'a str,
}

impl<'a> TextArenas<'a> {
    /// No texts, for values that are inline or in a heap.
    pub const NONE: TextArenas<'static> = TextArenas { event: "", pool: "" };

    /// The text of a string; `None` if `value` is not a string.
    #[inline]
    pub fn str<'b>(self, heap: &'b Heap, value: &'b Value) -> Option<&'b str>
    where
        'a: 'b,
    {
        let part = |text: &'a str, (start, len): (u32, u32)| {
            text.get(start as usize..start as usize + len as usize).unwrap_or("")
        };
        match value.tag() {
            Tag::Short => value.as_short(),
            Tag::Text => value.as_text().map(|at| part(self.event, at)),
            Tag::Pool => value.as_pool().map(|at| part(self.pool, at)),
            Tag::Object => heap.object_of(*value, ObjectKind::Str).map(|object| heap.str(object)),
            _ => None,
        }
    }

    /// Makes a value independent of the texts: copies a string outside the heap into it.
    #[inline]
    pub fn own(self, heap: &mut Heap, value: Value) -> EvalResult<Value> {
        match value.tag() {
            Tag::Text | Tag::Pool => {
                let text = if value.is(Tag::Text) { self.event } else { self.pool };
                let (start, len) = value.as_text().or(value.as_pool()).unwrap_or((0, 0));
                heap.new_str(text.get(start as usize..start as usize + len as usize).unwrap_or(""))
            }
            _ => Ok(value),
        }
    }
}
