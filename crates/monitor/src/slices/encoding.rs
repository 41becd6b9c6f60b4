//! Slice tables as bytes, to transfer them to another process.

use super::{NO_SLICE, SliceTable};
use crate::automaton::{Automaton, ParamMask, StateId};
use crate::records::Head;
use crate::verdict::MonitorFault;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use invigil_expr::diag::{SourceId, Span};
use invigil_expr::value::Value;

/// Reads from the front of a byte slice.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn u8(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.take(2)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }
}

fn put(out: &mut Vec<u8>, number: usize) {
    out.extend((number as u32).to_le_bytes());
}

impl SliceTable {
    /// Encodes the state of the property. Slices keep their numbers.
    pub fn save(&self) -> Vec<u8> {
        let mut out = vec![u8::from(self.violated), u8::from(self.failure.is_some())];
        if let Some(fault) = &self.failure {
            let span = fault.span.unwrap_or_default();
            out.push(u8::from(fault.span.is_some()));
            [span.source.0, span.start, span.end].iter().for_each(|part| put(&mut out, *part as usize));
            put(&mut out, fault.message.len());
            out.extend(fault.message.as_bytes());
        }
        self.collected.iter().for_each(|count| out.extend(count.to_le_bytes()));
        put(&mut out, self.records.len());
        put(&mut out, self.free.len());
        self.free.iter().for_each(|slice| put(&mut out, *slice as usize));
        let view = self.view("");
        for slice in self.iter() {
            let head = self.records.head(slice.0);
            put(&mut out, slice.0 as usize);
            put(&mut out, head.parent as usize);
            out.extend(head.state.to_le_bytes());
            out.extend([head.bound, head.dead]);
            let values = self.binding(slice).iter().chain(self.env(slice));
            values.for_each(|value| view.encode(*value, &mut out));
        }
        out
    }

    /// Decodes a [saved](SliceTable::save) state of `automaton`; `None` if the bytes are malformed.
    ///
    /// The bytes are not trusted: every decoded table can be stepped.
    pub fn load(automaton: &Automaton, bytes: &[u8]) -> Option<SliceTable> {
        let mut slices = SliceTable::new(automaton);
        let mut reader = Reader(bytes);
        slices.violated = reader.u8()? != 0;
        if reader.u8()? != 0 {
            slices.failure = Some(fault(&mut reader)?);
        }
        for count in &mut slices.collected {
            *count = reader.u64()?;
        }
        let (len, free) = (reader.u32()?, reader.u32()?);
        // Each slice takes at least one byte: reject counts beyond the input before allocating.
        if (len as usize).max(free as usize) > bytes.len() || free > len {
            return None;
        }
        let mut is_free = vec![false; len as usize];
        for _ in 0..len {
            let slice = slices.records.push();
            slices
                .records
                .set_head(slice, Head { state: 0, bound: 0, dead: 0, alive: false, parent: NO_SLICE });
        }
        for _ in 0..free {
            let slice = reader.u32()?;
            if core::mem::replace(is_free.get_mut(slice as usize)?, true) {
                return None;
            }
            slices.free.push(slice);
        }
        for slice in (0..len).filter(|slice| !is_free[*slice as usize]) {
            slices.load_slice(automaton, slice, &mut reader)?;
        }
        slices.heap.sweep();
        reader.0.is_empty().then_some(slices)
    }

    fn load_slice(&mut self, automaton: &Automaton, slice: u32, reader: &mut Reader<'_>) -> Option<()> {
        let (number, parent) = (reader.u32()?, reader.u32()?);
        let state: StateId = reader.u16()?;
        let (bound, dead): (ParamMask, ParamMask) = (reader.u8()?, reader.u8()?);
        let is_known = parent == NO_SLICE || (parent as usize) < self.records.len();
        if number != slice || !is_known || dead & !bound != 0 || usize::from(state) >= automaton.states.len()
        {
            return None;
        }
        self.records.set_head(slice, Head { state, bound, dead, alive: true, parent });
        for at in 0..self.key_count + automaton.env.len() {
            let value = self.heap.decode(&mut reader.0)?;
            // A key is an inline value or a string, and bound if and only if the head specifies it.
            if at < self.key_count && (value.is_unset() == (bound & 1 << at != 0) || !self.is_key(value)) {
                return None;
            }
            self.heap.retain(value);
            self.records.contents_mut(slice)[at] = value;
        }
        if usize::from(bound) >> self.key_count != 0 {
            return None;
        }
        if bound != 0 {
            self.insert_into_index(slice);
        } else if self.root == NO_SLICE {
            self.root = slice;
        } else {
            return None;
        }
        self.live += 1;
        self.enter(automaton, state);
        Some(())
    }

    fn is_key(&self, value: Value) -> bool {
        value.is_inline() || self.view("").str(&value).is_some()
    }
}

fn fault(reader: &mut Reader<'_>) -> Option<MonitorFault> {
    let has_span = reader.u8()? != 0;
    let span = Span { source: SourceId(reader.u32()?), start: reader.u32()?, end: reader.u32()? };
    let len = reader.u32()? as usize;
    let message: String = core::str::from_utf8(reader.take(len)?).ok()?.to_string();
    Some(MonitorFault { message, span: has_span.then_some(span) })
}
