//! Strings that are not in the heap: those of the event at hand, and those of the program.

use crate::fault::Run;
use crate::heap::{Heap, Kind};
use crate::value::{Tag, Value};

/// The texts that values may point into while a block runs.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'a> {
    /// The text of the event at hand.
    pub event: &'a str,
    /// The text of the program.
    pub pool: &'a str,
}

impl<'a> Texts<'a> {
    /// No texts: enough for values that are inline or in a heap.
    pub const NONE: Texts<'static> = Texts { event: "", pool: "" };

    /// The characters of a string, wherever they lie; `None` if `value` is no string.
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
            Tag::Object => heap.object_of(*value, Kind::Str).map(|object| heap.str(object)),
            _ => None,
        }
    }

    /// The same value in a form that outlasts the texts: a string that lies in one is copied to the heap.
    #[inline]
    pub fn own(self, heap: &mut Heap, value: Value) -> Run<Value> {
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
