//! One record while it is read: which fields it has, and where their text is.
//!
//! The formats' scanners fill a [`Record`]; when the line is at its end, [`Record::finish`] looks up the
//! event, converts the parameters that are wanted and no others, and appends the event to the block.

use crate::block::Block;
use crate::convert::{self, Misfit, Raw};
use crate::fault::{self, Fault, Issue};
use crate::number::{self, Form};
use crate::problems::shortened;
use crate::schema::{EVENT, KIND, Schema, TIME, Wanted};
use crate::words::NONE;
use invigil_expr::value::Value;
use invigil_monitor::event::{Kind, Stamp, SymbolId, Type};
use std::cell::Cell;

/// What the text of a field looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Shape {
    /// Text, without quotes and escapes.
    Text,
    /// An integer; the slot holds it.
    Int,
    /// An integer of more than 64 bits.
    BigInt,
    /// A number with few digits after the point; the slot holds them.
    Decimal,
    /// Any other number.
    Float,
    True,
    False,
    Null,
    /// A list or an object, as JSON text.
    Nested,
}

/// A field of the record: where its text is, and the number it holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) word: u64,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The record that it belongs to.
    record: u32,
    pub(crate) shape: Shape,
    pub(crate) scale: u8,
    /// Whether the shape is only what the text looks like: a cell of a CSV file is text as well.
    pub(crate) cell: bool,
}

const VACANT: Slot = Slot { word: 0, start: 0, end: 0, record: 0, shape: Shape::Null, scale: 0, cell: false };

/// The fields of the record at hand.
pub(crate) struct Record {
    pub(crate) schema: Schema,
    slots: Vec<Slot>,
    number: u32,
    /// Unescaped text: it follows the block's own, so that places in it are counted on from there.
    extra: String,
    /// Room for the values of an event.
    values: Cell<Vec<Value>>,
    strict: bool,
}

impl Record {
    /// A record of which the fields of `schema` are wanted; a strict one gives no event that lacks a value
    /// because it misfits.
    pub(crate) fn new(schema: Schema, strict: bool) -> Record {
        let slots = vec![VACANT; schema.fields()];
        Record { schema, slots, number: 0, extra: String::new(), values: Cell::default(), strict }
    }

    /// Begins a new text.
    pub(crate) fn restart(&mut self) {
        self.slots.fill(VACANT);
        self.number = 0;
        self.extra.clear();
    }

    /// Begins a new record: no field is set any more.
    #[inline(always)]
    pub(crate) fn begin(&mut self) {
        self.number += 1;
    }

    /// Sets a field, if anybody wants it; a field set twice has the later value.
    #[inline(always)]
    pub(crate) fn set(&mut self, field: u32, shape: Shape, start: usize, end: usize) {
        self.put(field, (start, end), (shape, 0, 0), false);
    }

    /// Sets a field to a number.
    #[inline(always)]
    pub(crate) fn set_number(&mut self, field: u32, at: (usize, usize), form: Form) {
        self.put(field, at, number_shape(form), false);
    }

    /// Sets a field to a cell, which is a number or a truth value if it looks like one and is not quoted.
    #[inline(always)]
    pub(crate) fn set_cell(&mut self, field: u32, text: &[u8], at: (usize, usize), quoted: bool) {
        if field != NONE {
            let shape = if quoted { (Shape::Text, 0, 0) } else { looks(text, at) };
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

    /// Sets a field to text that does not stand in the block as it is.
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

    /// The text of a slot, in the block's own text or in the unescaped.
    #[inline(always)]
    fn raw<'a>(&'a self, text: &'a str, slot: &Slot) -> Raw<'a> {
        let (start, end) = (slot.start as usize, slot.end as usize);
        if end <= text.len() {
            Raw { within: text, start, end }
        } else {
            Raw { within: &self.extra, start: start - text.len(), end: end - text.len() }
        }
    }

    /// Ends the record on line `line` of the block: its event is appended, or counted as unknown.
    #[inline(always)]
    pub(crate) fn finish(&mut self, text: &str, block: &mut Block, line: u32) -> Result<(), Fault> {
        let event = match self.get(EVENT) {
            Some(slot) if slot.shape == Shape::Text || slot.cell => Some(*slot),
            Some(_) => return Err(Fault::Line("`event` is not a string".into())),
            None if self.schema.state().is_some() => None,
            None => return Err(Fault::Line("no `event`".into())),
        };
        let kind = match self.get(KIND) {
            Some(slot) if slot.shape != Shape::Null => Some(self.kind(text, slot)?),
            _ => None,
        };
        let time = match self.get(TIME) {
            Some(slot) if slot.shape == Shape::Decimal => number::decimal(slot.word as i64, slot.scale),
            Some(slot) if slot.shape != Shape::Null => match convert::float(slot, self.raw(text, slot)) {
                Ok(time) => time,
                Err(_) => return Err(Fault::Line("`time` is not a number of seconds".into())),
            },
            _ => f64::NAN,
        };
        block.clock.note(time);
        let stamp = Stamp { time, line };
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

    /// Ends a record that is no event by its name: it may be one all the same.
    #[inline(always)]
    fn finish_alone(
        &self,
        text: &str,
        block: &mut Block,
        symbol: Option<SymbolId>,
        stamp: Stamp,
    ) -> Result<(), Fault> {
        let Some(symbol) = symbol else {
            block.ignored += 1;
            return Ok(());
        };
        if self.push(text, block, symbol, self.schema.wanted(symbol), stamp).is_ok() {
            return Ok(());
        }
        self.deliver(text, block, [Some(symbol), None, None], stamp)
    }

    /// Appends an event, unless one of its values misfits.
    #[inline(always)]
    fn push(
        &self,
        text: &str,
        block: &mut Block,
        symbol: SymbolId,
        wanted: &[Wanted],
        stamp: Stamp,
    ) -> Result<(), Misfit> {
        // Of a known few, the values go from registers to their place; a copy of unknown length would wait
        // for each of them to reach memory first.
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

    /// Appends the events of a record that is out of the ordinary: it is more than one event, or lacks what
    /// misfits.
    #[inline(never)]
    fn deliver(
        &self,
        text: &str,
        block: &mut Block,
        symbols: [Option<SymbolId>; 3],
        stamp: Stamp,
    ) -> Result<(), Fault> {
        let mut told: Vec<String> = Vec::new();
        let mut events = Vec::with_capacity(symbols.len());
        for symbol in symbols.into_iter().flatten() {
            let mut values = Vec::new();
            for want in self.schema.wanted(symbol) {
                values.push(self.value(text, want).unwrap_or_else(|misfit| {
                    let message = self.misfit(text, want, misfit);
                    // Several properties may want the same of a field.
                    if !told.contains(&message) {
                        told.push(message);
                    }
                    Value::UNSET
                }));
            }
            events.push((symbol, values));
        }
        if told.is_empty() || !self.strict {
            for (number, (symbol, values)) in events.iter().enumerate() {
                if number > 0 {
                    block.again.push(block.batch.len() as u32);
                }
                block.batch.push(*symbol, values, stamp);
            }
        }
        if told.is_empty() { Ok(()) } else { Err(Fault::Values(told.join("; "))) }
    }

    /// The field that a parameter is taken from.
    #[inline(always)]
    fn slot(&self, want: &Wanted) -> Option<&Slot> {
        self.get(want.field).or_else(|| want.others.iter().find_map(|field| self.get(*field)))
    }

    /// The value of a parameter.
    #[inline(always)]
    fn value(&self, text: &str, want: &Wanted) -> Result<Value, Misfit> {
        let Some(slot) = self.slot(want) else { return Ok(Value::UNSET) };
        match (slot.shape, want.ty) {
            (Shape::Int, None | Some(Type::Int)) => Ok(Value::int(slot.word as i64)),
            (Shape::Text, None | Some(Type::Str)) => Ok(self.text(text, slot)),
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

    fn kind(&self, text: &str, slot: &Slot) -> Result<Kind, Issue> {
        let raw = self.raw(text, slot);
        let kind = self.schema.kind(raw.within.as_bytes(), raw.start, raw.end);
        kind.ok_or_else(|| format!("unknown kind `{}`", shortened(raw.text())).into())
    }

    #[cold]
    fn misfit(&self, text: &str, want: &Wanted, misfit: Misfit) -> String {
        let mut fields = std::iter::once(want.field).chain(want.others.iter().copied());
        let found = fields.find_map(|field| Some((field, self.get(field)?)));
        let (name, slot) = found.map_or(("", &VACANT), |(field, slot)| (self.schema.field_name(field), slot));
        let raw = shortened(self.raw(text, slot).text());
        let quote = if slot.shape == Shape::Text && !slot.cell { "\"" } else { "" };
        fault::misfit(name, &format!("{quote}{raw}{quote}"), want.ty, misfit)
    }

    /// Ends the text: the unescaped part goes to its place after the block's own.
    pub(crate) fn complete(&mut self, mut text: String) -> String {
        text.push_str(&self.extra);
        text
    }
}

/// A number as a shape, with what the slot holds of it.
#[inline(always)]
fn number_shape(form: Form) -> (Shape, u64, u8) {
    match form {
        Form::Int(i) => (Shape::Int, i as u64, 0),
        Form::BigInt => (Shape::BigInt, 0, 0),
        Form::Decimal { digits, scale } => (Shape::Decimal, digits as u64, scale),
        Form::Float => (Shape::Float, 0, 0),
    }
}

/// What the text of a cell looks like.
#[inline(always)]
pub(crate) fn looks(text: &[u8], (start, end): (usize, usize)) -> (Shape, u64, u8) {
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
