//! The record being scanned: its fields and the ranges of their text.
//!
//! The scanners of the formats fill a [`Record`]. At the end of the line, [`Record::finish`] looks up the event,
//! converts only the needed parameters, and appends the event to the block.

use crate::block::EventBlock;
use crate::convert::{self, ConversionError, FieldText};
use crate::line_error_kind::{self, LineErrorKind, ScanError};
use crate::line_errors::shortened;
use crate::name_table::NONE;
use crate::number::{self, NumberForm};
use crate::schema::{EVENT, KIND, ParamLookup, Schema, TIME};
use invigil_expr::value::Value;
use invigil_monitor::event::{EventId, EventKind, EventMeta, ParamType};
use std::cell::Cell;

/// Type of a field, by its notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum FieldType {
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
    /// No value, in the notation of the format.
    Null,
    /// A list or an object, as JSON text.
    Nested,
}

/// A field of the record: the range of its text, and its value if it is a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// The value of an integer, or the digits of a decimal number.
    pub(crate) digits: u64,
    /// Range of the text, in the text of the block or in the decoded text after it.
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Generation of the record for which the slot was set.
    generation: u32,
    pub(crate) field_type: FieldType,
    /// Number of fraction digits of a decimal number.
    pub(crate) scale: u8,
    /// Whether the value may also be read as another type: a CSV cell is text where text is required, and a quoted number
    /// is a number where a number is required.
    pub(crate) is_convertible: bool,
}

const VACANT: Slot = Slot {
    digits: 0,
    start: 0,
    end: 0,
    generation: 0,
    field_type: FieldType::Null,
    scale: 0,
    is_convertible: false,
};

/// The fields of the current record.
pub(crate) struct Record {
    pub(crate) schema: Schema,
    slots: Vec<Slot>,
    /// Number of this record in the text; slots of other generations are unset.
    generation: u32,
    /// Unescaped text. It is appended to the text of the block, so its positions start after that.
    decoded: String,
    /// Buffer for the parameters of an event.
    values: Cell<Vec<Value>>,
    strict: bool,
}

impl Record {
    /// Creates a record with the fields of `schema`. In strict mode, an event with a value of the wrong type is
    /// dropped.
    pub(crate) fn new(schema: Schema, strict: bool) -> Record {
        let slots = vec![VACANT; schema.field_count()];
        Record { schema, slots, generation: 0, decoded: String::new(), values: Cell::default(), strict }
    }

    /// Starts a new chunk.
    pub(crate) fn begin_chunk(&mut self) {
        self.slots.fill(VACANT);
        self.generation = 0;
        self.decoded.clear();
    }

    /// Starts a new record, in which no field is set.
    #[inline(always)]
    pub(crate) fn begin(&mut self) {
        self.generation += 1;
    }

    /// Sets a field if a property reads it. If a field is set twice, the later value counts.
    #[inline(always)]
    pub(crate) fn set(&mut self, field: u32, field_type: FieldType, start: usize, end: usize) {
        self.put(field, (start, end), (field_type, 0, 0), false);
    }

    /// Sets a field to a number.
    #[inline(always)]
    pub(crate) fn set_number(&mut self, field: u32, at: (usize, usize), form: NumberForm) {
        self.put(field, at, number_type(form), false);
    }

    /// Sets a field to a cell. An unquoted cell may be a number or a truth value.
    #[inline(always)]
    pub(crate) fn set_cell(&mut self, field: u32, text: &[u8], at: (usize, usize), quoted: bool) {
        if field != NONE {
            let field_type = if quoted { (FieldType::Text, 0, 0) } else { guess_type(text, at) };
            self.put(field, at, field_type, true);
        }
    }

    #[inline(always)]
    fn put(
        &mut self,
        field: u32,
        at: (usize, usize),
        (field_type, digits, scale): (FieldType, u64, u8),
        is_convertible: bool,
    ) {
        if let Some(slot) = self.slots.get_mut(field as usize) {
            let (start, end) = (at.0 as u32, at.1 as u32);
            *slot =
                Slot { digits, start, end, generation: self.generation, field_type, scale, is_convertible };
        }
    }

    /// Sets a field to text that does not occur verbatim in the block.
    pub(crate) fn set_decoded(&mut self, field: u32, text: &str, value: &str, is_convertible: bool) {
        if field == NONE {
            return;
        }
        let start = text.len() + self.decoded.len();
        self.decoded.push_str(value);
        self.put(field, (start, start + value.len()), (FieldType::Text, 0, 0), is_convertible);
    }

    #[inline(always)]
    fn get(&self, field: u32) -> Option<&Slot> {
        self.slots.get(field as usize).filter(|slot| slot.generation == self.generation)
    }

    /// The text of a slot, in the text of the block or in the decoded text.
    #[inline(always)]
    fn raw<'a>(&'a self, text: &'a str, slot: &Slot) -> FieldText<'a> {
        let (start, end) = (slot.start as usize, slot.end as usize);
        if end <= text.len() {
            FieldText { within: text, start, end }
        } else {
            FieldText { within: &self.decoded, start: start - text.len(), end: end - text.len() }
        }
    }

    /// Finishes the record in line `line` of the block: appends its event, or counts it as ignored.
    #[inline(always)]
    pub(crate) fn finish(
        &mut self,
        text: &str,
        block: &mut EventBlock,
        line: u32,
    ) -> Result<(), LineErrorKind> {
        let event = match self.get(EVENT) {
            Some(slot) if slot.field_type == FieldType::Text || slot.is_convertible => Some(*slot),
            Some(_) => return Err(LineErrorKind::NotARecord("`event` is not a string".into())),
            None if self.schema.state_event_id().is_some() => None,
            None => return Err(LineErrorKind::NotARecord("missing field `event`".into())),
        };
        let kind = match self.get(KIND) {
            Some(slot) if slot.field_type != FieldType::Null => Some(self.kind(text, slot)?),
            _ => None,
        };
        let time = match self.get(TIME) {
            Some(slot) if slot.field_type == FieldType::Decimal => {
                number::decimal(slot.digits as i64, slot.scale)
            }
            Some(slot) if slot.field_type != FieldType::Null => {
                match convert::float(slot, self.raw(text, slot)) {
                    Ok(time) => time,
                    Err(_) => {
                        return Err(LineErrorKind::NotARecord("`time` is not a number of seconds".into()));
                    }
                }
            }
            _ => f64::NAN,
        };
        block.time_order.add(time);
        let meta = EventMeta { time, line };
        let Some(event) = event else {
            return self.finish_unmatched(text, block, self.schema.state_event_id(), meta);
        };
        let name = self.raw(text, &event);
        let found = self.schema.event(name.within.as_bytes(), (name.start, name.end), kind);
        let Some((event_id, params, access)) = found else {
            return self.finish_unmatched(text, block, self.schema.any_event_id(), meta);
        };
        let any = self.schema.any_event_id();
        if access.is_none() && any.is_none() && self.push(text, block, event_id, params, meta).is_ok() {
            return Ok(());
        }
        self.deliver(text, block, [Some(event_id), access, any.filter(|any| *any != event_id)], meta)
    }

    /// Finishes a record whose event name is missing or not in the catalog. `event_id` is `#state` or `#any`, if a
    /// property reads it.
    #[inline(always)]
    fn finish_unmatched(
        &self,
        text: &str,
        block: &mut EventBlock,
        event_id: Option<EventId>,
        meta: EventMeta,
    ) -> Result<(), LineErrorKind> {
        let Some(event_id) = event_id else {
            block.ignored += 1;
            return Ok(());
        };
        if self.push(text, block, event_id, self.schema.params(event_id), meta).is_ok() {
            return Ok(());
        }
        self.deliver(text, block, [Some(event_id), None, None], meta)
    }

    /// Appends an event if all its values can be converted.
    #[inline(always)]
    fn push(
        &self,
        text: &str,
        block: &mut EventBlock,
        event_id: EventId,
        params: &[ParamLookup],
        meta: EventMeta,
    ) -> Result<(), ConversionError> {
        // With a constant length, the values are stored from registers; a copy of variable length would have to wait
        // until they are in memory.
        match params {
            [] => block.batch.push_array(event_id, [], meta),
            [a] => block.batch.push_array(event_id, [self.value(text, a)?], meta),
            [a, b] => block.batch.push_array(event_id, [self.value(text, a)?, self.value(text, b)?], meta),
            many => {
                let mut values = self.values.take();
                values.clear();
                for param in many {
                    values.push(self.value(text, param)?);
                }
                block.batch.push(event_id, &values, meta);
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
        event_ids: [Option<EventId>; 3],
        meta: EventMeta,
    ) -> Result<(), LineErrorKind> {
        let mut messages: Vec<String> = Vec::new();
        let mut events = Vec::with_capacity(event_ids.len());
        for event_id in event_ids.into_iter().flatten() {
            let mut values = Vec::new();
            for param in self.schema.params(event_id) {
                values.push(self.value(text, param).unwrap_or_else(|error| {
                    let message = self.conversion_message(text, param, error);
                    // Several properties may read the same field as the same type.
                    if !messages.contains(&message) {
                        messages.push(message);
                    }
                    Value::UNSET
                }));
            }
            events.push((event_id, values));
        }
        if messages.is_empty() || !self.strict {
            for (i, (event_id, values)) in events.iter().enumerate() {
                if i > 0 {
                    block.same_record_as_previous.push(block.batch.len() as u32);
                }
                block.batch.push(*event_id, values, meta);
            }
        }
        if messages.is_empty() { Ok(()) } else { Err(LineErrorKind::Values(messages.join("; "))) }
    }

    /// The field that supplies a parameter.
    #[inline(always)]
    fn slot(&self, param: &ParamLookup) -> Option<&Slot> {
        self.get(param.field).or_else(|| param.alternatives.iter().find_map(|field| self.get(*field)))
    }

    /// The value of a parameter.
    #[inline(always)]
    fn value(&self, text: &str, param: &ParamLookup) -> Result<Value, ConversionError> {
        let Some(slot) = self.slot(param) else { return Ok(Value::UNSET) };
        match (slot.field_type, param.ty) {
            (FieldType::Int, None | Some(ParamType::Int)) => Ok(Value::int(slot.digits as i64)),
            (FieldType::Text, None | Some(ParamType::Str)) => Ok(self.text(text, slot)),
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

    fn kind(&self, text: &str, slot: &Slot) -> Result<EventKind, ScanError> {
        let raw = self.raw(text, slot);
        let kind = self.schema.kind(raw.within.as_bytes(), raw.start, raw.end);
        kind.ok_or_else(|| format!("unknown kind `{}`", shortened(raw.text())).into())
    }

    #[cold]
    fn conversion_message(&self, text: &str, param: &ParamLookup, error: ConversionError) -> String {
        let mut fields = std::iter::once(param.field).chain(param.alternatives.iter().copied());
        let used = fields.find_map(|field| Some((field, self.get(field)?)));
        let (name, slot) = used.map_or(("", &VACANT), |(field, slot)| (self.schema.field_name(field), slot));
        let raw = shortened(self.raw(text, slot).text());
        let quote = if slot.field_type == FieldType::Text && !slot.is_convertible { "\"" } else { "" };
        line_error_kind::conversion_message(name, &format!("{quote}{raw}{quote}"), param.ty, error)
    }

    /// Finishes the text: appends the decoded text to the text of the block.
    pub(crate) fn complete_text(&mut self, mut text: String) -> String {
        text.push_str(&self.decoded);
        text
    }
}

/// The field type and slot contents of a number.
#[inline(always)]
fn number_type(form: NumberForm) -> (FieldType, u64, u8) {
    match form {
        NumberForm::Int(i) => (FieldType::Int, i as u64, 0),
        NumberForm::BigInt => (FieldType::BigInt, 0, 0),
        NumberForm::Decimal { digits, scale } => (FieldType::Decimal, digits as u64, scale),
        NumberForm::Float => (FieldType::Float, 0, 0),
    }
}

/// Guesses the type of a cell from its text.
#[inline(always)]
pub(crate) fn guess_type(text: &[u8], (start, end): (usize, usize)) -> (FieldType, u64, u8) {
    match text.get(start) {
        Some(b'-' | b'0'..=b'9') => match number::scan(text, start) {
            Some(number) if number.end == end => number_type(number.form),
            _ => (FieldType::Text, 0, 0),
        },
        Some(b't' | b'T' | b'f' | b'F') => match &text[start..end] {
            b"true" | b"True" => (FieldType::True, 0, 0),
            b"false" | b"False" => (FieldType::False, 0, 0),
            _ => (FieldType::Text, 0, 0),
        },
        _ => (FieldType::Text, 0, 0),
    }
}
