//! The record being scanned: its fields and the ranges of their text.
//!
//! The scanners of the formats fill a [`Record`]. At the end of the line, [`Record::finish`] looks up the event,
//! converts only the needed parameters, and appends the event to the block.

use crate::block::EventBlock;
use crate::convert::{self, ConversionError, Raw};
use crate::line_errors::shortened;
use crate::line_fault::{self, Issue, LineFault};
use crate::name_table::NONE;
use crate::number::{self, Form};
use crate::schema::{EVENT, KIND, ParamLookup, Schema, TIME};
use invigil_expr::value::Value;
use invigil_monitor::event::{EventId, EventKind, EventMeta, ParamType};
use std::cell::Cell;

/// Lexical form of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Shape {
    /// Text without quotes and escapes.
    Text,
    /// An integer, whose value is in the slot.
    Int,
    /// An integer that exceeds 64 bits.
    BigInt,
    /// A decimal number with few digits, which are in the slot.
    Decimal,
    /// Any other number.
    Float,
    True,
    False,
    Null,
    /// A list or an object, as JSON text.
    Nested,
}

/// A field of the record: the range of its text, and its value if it is a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) word: u64,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Generation of the record to which the slot belongs.
    record: u32,
    pub(crate) shape: Shape,
    pub(crate) scale: u8,
    /// Whether the shape is only a guess: a CSV cell may also be read as text.
    pub(crate) cell: bool,
}

const VACANT: Slot = Slot { word: 0, start: 0, end: 0, record: 0, shape: Shape::Null, scale: 0, cell: false };

/// The fields of the current record.
pub(crate) struct Record {
    pub(crate) schema: Schema,
    slots: Vec<Slot>,
    number: u32,
    /// Unescaped text. It is appended to the text of the block, so its positions start after that.
    extra: String,
    /// Buffer for the parameters of an event.
    values: Cell<Vec<Value>>,
    strict: bool,
}

impl Record {
    /// Creates a record with the fields of `schema`. In strict mode, an event with a value of the wrong type is
    /// dropped.
    pub(crate) fn new(schema: Schema, strict: bool) -> Record {
        let slots = vec![VACANT; schema.fields()];
        Record { schema, slots, number: 0, extra: String::new(), values: Cell::default(), strict }
    }

    /// Starts a new text.
    pub(crate) fn restart(&mut self) {
        self.slots.fill(VACANT);
        self.number = 0;
        self.extra.clear();
    }

    /// Starts a new record, in which no field is set.
    #[inline(always)]
    pub(crate) fn begin(&mut self) {
        self.number += 1;
    }

    /// Sets a field if a property reads it. If a field is set twice, the later value counts.
    #[inline(always)]
    pub(crate) fn set(&mut self, field: u32, shape: Shape, start: usize, end: usize) {
        self.put(field, (start, end), (shape, 0, 0), false);
    }

    /// Sets a field to a number.
    #[inline(always)]
    pub(crate) fn set_number(&mut self, field: u32, at: (usize, usize), form: Form) {
        self.put(field, at, number_shape(form), false);
    }

    /// Sets a field to a cell. An unquoted cell may be a number or a truth value.
    #[inline(always)]
    pub(crate) fn set_cell(&mut self, field: u32, text: &[u8], at: (usize, usize), quoted: bool) {
        if field != NONE {
            let shape = if quoted { (Shape::Text, 0, 0) } else { guess_shape(text, at) };
            self.put(field, at, shape, true);
        }
    }

    #[inline(always)]
    fn put(&mut self, field: u32, at: (usize, usize), (shape, word, scale): (Shape, u64, u8), cell: bool) {
        if let Some(slot) = self.slots.get_mut(field as usize) {
            let (start, end) = (at.0 as u32, at.1 as u32);
            *slot = Slot { word, start, end, record: self.number, shape, scale, cell };
        }
    }

    /// Sets a field to text that does not occur verbatim in the block.
    pub(crate) fn set_owned(&mut self, field: u32, text: &str, value: &str, cell: bool) {
        if field == NONE {
            return;
        }
        let start = text.len() + self.extra.len();
        self.extra.push_str(value);
        self.put(field, (start, start + value.len()), (Shape::Text, 0, 0), cell);
    }

    #[inline(always)]
    fn get(&self, field: u32) -> Option<&Slot> {
        self.slots.get(field as usize).filter(|slot| slot.record == self.number)
    }

    /// The text of a slot, in the text of the block or in the unescaped text.
    #[inline(always)]
    fn raw<'a>(&'a self, text: &'a str, slot: &Slot) -> Raw<'a> {
        let (start, end) = (slot.start as usize, slot.end as usize);
        if end <= text.len() {
            Raw { within: text, start, end }
        } else {
            Raw { within: &self.extra, start: start - text.len(), end: end - text.len() }
        }
    }

    /// Finishes the record on line `line` of the block: appends its event, or counts it as ignored.
    #[inline(always)]
    pub(crate) fn finish(&mut self, text: &str, block: &mut EventBlock, line: u32) -> Result<(), LineFault> {
        let event = match self.get(EVENT) {
            Some(slot) if slot.shape == Shape::Text || slot.cell => Some(*slot),
            Some(_) => return Err(LineFault::Line("`event` is not a string".into())),
            None if self.schema.state().is_some() => None,
            None => return Err(LineFault::Line("missing field `event`".into())),
        };
        let kind = match self.get(KIND) {
            Some(slot) if slot.shape != Shape::Null => Some(self.kind(text, slot)?),
            _ => None,
        };
        let time = match self.get(TIME) {
            Some(slot) if slot.shape == Shape::Decimal => number::decimal(slot.word as i64, slot.scale),
            Some(slot) if slot.shape != Shape::Null => match convert::float(slot, self.raw(text, slot)) {
                Ok(time) => time,
                Err(_) => return Err(LineFault::Line("`time` is not a number of seconds".into())),
            },
            _ => f64::NAN,
        };
        block.clock.note(time);
        let stamp = EventMeta { time, line };
        let Some(event) = event else {
            return self.finish_alone(text, block, self.schema.state(), stamp);
        };
        let name = self.raw(text, &event);
        let found = self.schema.symbol(name.within.as_bytes(), (name.start, name.end), kind);
        let Some((symbol, wanted, also)) = found else {
            return self.finish_alone(text, block, self.schema.any(), stamp);
        };
        let any = self.schema.any();
        if also.is_none() && any.is_none() && self.push(text, block, symbol, wanted, stamp).is_ok() {
            return Ok(());
        }
        self.deliver(text, block, [Some(symbol), also, any.filter(|any| *any != symbol)], stamp)
    }

    /// Finishes a record without a known event name, which may still be an event for some property.
    #[inline(always)]
    fn finish_alone(
        &self,
        text: &str,
        block: &mut EventBlock,
        symbol: Option<EventId>,
        stamp: EventMeta,
    ) -> Result<(), LineFault> {
        let Some(symbol) = symbol else {
            block.ignored += 1;
            return Ok(());
        };
        if self.push(text, block, symbol, self.schema.params(symbol), stamp).is_ok() {
            return Ok(());
        }
        self.deliver(text, block, [Some(symbol), None, None], stamp)
    }

    /// Appends an event if all its values can be converted.
    #[inline(always)]
    fn push(
        &self,
        text: &str,
        block: &mut EventBlock,
        symbol: EventId,
        wanted: &[ParamLookup],
        stamp: EventMeta,
    ) -> Result<(), ConversionError> {
        // With a constant length, the values are stored from registers; a copy of variable length would have to wait
        // until they are in memory.
        match wanted {
            [] => block.batch.push(symbol, &[], stamp),
            [a] => block.batch.push(symbol, &[self.value(text, a)?], stamp),
            [a, b] => block.batch.push(symbol, &[self.value(text, a)?, self.value(text, b)?], stamp),
            many => {
                let mut values = self.values.take();
                values.clear();
                for want in many {
                    values.push(self.value(text, want)?);
                }
                block.batch.push(symbol, &values, stamp);
                self.values.set(values);
            }
        }
        Ok(())
    }

    /// Appends the events of a record in the general case: several events, or values that cannot be converted.
    #[inline(never)]
    fn deliver(
        &self,
        text: &str,
        block: &mut EventBlock,
        symbols: [Option<EventId>; 3],
        stamp: EventMeta,
    ) -> Result<(), LineFault> {
        let mut reported: Vec<String> = Vec::new();
        let mut events = Vec::with_capacity(symbols.len());
        for symbol in symbols.into_iter().flatten() {
            let mut values = Vec::new();
            for want in self.schema.params(symbol) {
                values.push(self.value(text, want).unwrap_or_else(|misfit| {
                    let message = self.misfit(text, want, misfit);
                    // Several properties may read the same field as the same type.
                    if !reported.contains(&message) {
                        reported.push(message);
                    }
                    Value::UNSET
                }));
            }
            events.push((symbol, values));
        }
        if reported.is_empty() || !self.strict {
            for (number, (symbol, values)) in events.iter().enumerate() {
                if number > 0 {
                    block.again.push(block.batch.len() as u32);
                }
                block.batch.push(*symbol, values, stamp);
            }
        }
        if reported.is_empty() { Ok(()) } else { Err(LineFault::Values(reported.join("; "))) }
    }

    /// The field that supplies a parameter.
    #[inline(always)]
    fn slot(&self, want: &ParamLookup) -> Option<&Slot> {
        self.get(want.field).or_else(|| want.others.iter().find_map(|field| self.get(*field)))
    }

    /// The value of a parameter.
    #[inline(always)]
    fn value(&self, text: &str, want: &ParamLookup) -> Result<Value, ConversionError> {
        let Some(slot) = self.slot(want) else { return Ok(Value::UNSET) };
        match (slot.shape, want.ty) {
            (Shape::Int, None | Some(ParamType::Int)) => Ok(Value::int(slot.word as i64)),
            (Shape::Text, None | Some(ParamType::Str)) => Ok(self.text(text, slot)),
            (_, ty) => {
                let value = convert::value(slot, self.raw(text, slot), ty)?;
                Ok(value.unwrap_or_else(|| self.text(text, slot)))
            }
        }
    }

    /// The text of a slot as a value.
    #[inline(always)]
    fn text(&self, text: &str, slot: &Slot) -> Value {
        let raw = self.raw(text, slot);
        convert::text(raw.within.as_bytes(), raw.start, raw.end - raw.start, slot.start)
    }

    fn kind(&self, text: &str, slot: &Slot) -> Result<EventKind, Issue> {
        let raw = self.raw(text, slot);
        let kind = self.schema.kind(raw.within.as_bytes(), raw.start, raw.end);
        kind.ok_or_else(|| format!("unknown kind `{}`", shortened(raw.text())).into())
    }

    #[cold]
    fn misfit(&self, text: &str, want: &ParamLookup, misfit: ConversionError) -> String {
        let mut fields = std::iter::once(want.field).chain(want.others.iter().copied());
        let found = fields.find_map(|field| Some((field, self.get(field)?)));
        let (name, slot) = found.map_or(("", &VACANT), |(field, slot)| (self.schema.field_name(field), slot));
        let raw = shortened(self.raw(text, slot).text());
        let quote = if slot.shape == Shape::Text && !slot.cell { "\"" } else { "" };
        line_fault::conversion_message(name, &format!("{quote}{raw}{quote}"), want.ty, misfit)
    }

    /// Finishes the text: appends the unescaped text to the text of the block.
    pub(crate) fn complete(&mut self, mut text: String) -> String {
        text.push_str(&self.extra);
        text
    }
}

/// Shape and slot contents of a number.
#[inline(always)]
fn number_shape(form: Form) -> (Shape, u64, u8) {
    match form {
        Form::Int(i) => (Shape::Int, i as u64, 0),
        Form::BigInt => (Shape::BigInt, 0, 0),
        Form::Decimal { digits, scale } => (Shape::Decimal, digits as u64, scale),
        Form::Float => (Shape::Float, 0, 0),
    }
}

/// Guesses the shape of a cell from its text.
#[inline(always)]
pub(crate) fn guess_shape(text: &[u8], (start, end): (usize, usize)) -> (Shape, u64, u8) {
    match text.get(start) {
        Some(b'-' | b'0'..=b'9') => match number::scan(text, start) {
            Some(number) if number.end == end => number_shape(number.form),
            _ => (Shape::Text, 0, 0),
        },
        Some(b't' | b'T' | b'f' | b'F') => match &text[start..end] {
            b"true" | b"True" => (Shape::True, 0, 0),
            b"false" | b"False" => (Shape::False, 0, 0),
            _ => (Shape::Text, 0, 0),
        },
        _ => (Shape::Text, 0, 0),
    }
}
