//! The published byte format from a filter to a recogniser (appendix A).
//!
//! A snapshot is a number and a value. The numbers 10 to 127 are entities in the order of the script; a negative number
//! means that the value is a difference to the previous one; 1 and 2 mean that one or several periods have passed. The
//! value of a method is 0 at its start and 1 at its end: arguments and results are not sent.

use super::{CUT_OFF, Cursor, ReadError, values};
use crate::byte_queue::ByteQueue;
use crate::entities::{EntityTable, MonitoredId};
use crate::error::{FormatError, InputError, InputPosition, USE_LINES};
use crate::snapshot::{OwnedSnapshot, OwnedValue, TimedSnapshot};
use invigil_monitor::mac::{Snapshot, Type, Value, VariableId};
use std::collections::HashMap;

const TICK: u8 = 1;
const TICKS: u8 = 2;

/// The last value of each variable that was sent; both sides keep it as the base of differences.
type LastValues = HashMap<VariableId, Value<'static>>;

#[derive(Clone, Debug)]
pub(crate) struct ByteSnapshotReader {
    entities: EntityTable,
    period: Option<i64>,
    queue: ByteQueue,
    time: i64,
    last_values: LastValues,
    failed: bool,
}

impl ByteSnapshotReader {
    pub(crate) fn new(entities: EntityTable, period: Option<i64>) -> Result<ByteSnapshotReader, FormatError> {
        entities.check_byte_format()?;
        let (queue, last_values) = (ByteQueue::default(), LastValues::new());
        Ok(ByteSnapshotReader { entities, period, queue, time: 0, last_values, failed: false })
    }

    pub(crate) fn queue(&mut self) -> &mut ByteQueue {
        &mut self.queue
    }

    pub(crate) fn next(&mut self) -> Result<Option<TimedSnapshot>, InputError> {
        if self.failed || self.queue.rest().is_empty() {
            return Ok(None);
        }
        let mut cursor = Cursor::new(self.queue.rest());
        let read = read(&mut cursor, &self.entities, self.period, &self.last_values);
        let message = match read {
            Ok((snapshot, passed)) => {
                let length = cursor.at;
                if let OwnedSnapshot::Update(variable, OwnedValue::Plain(value)) = &snapshot {
                    self.last_values.insert(*variable, *value);
                }
                self.queue.advance(length);
                self.time = self.time.saturating_add(passed);
                return Ok(Some(TimedSnapshot { time: self.time, snapshot }));
            }
            Err(ReadError::Incomplete) if !self.queue.is_ended() => return Ok(None),
            Err(ReadError::Incomplete) => CUT_OFF.to_owned(),
            Err(ReadError::Invalid(message)) => message,
        };
        self.failed = true;
        Err(InputError { position: InputPosition::Byte(self.queue.offset()), message, is_fatal: true })
    }
}

/// Reads a snapshot and the time that has passed before it.
fn read(
    from: &mut Cursor<'_>,
    entities: &EntityTable,
    period: Option<i64>,
    last_values: &LastValues,
) -> Result<(OwnedSnapshot, i64), ReadError> {
    let number = from.byte()? as i8;
    if number == TICK as i8 || number == TICKS as i8 {
        let count = if number == TICK as i8 { 1 } else { from.byte()? };
        let Some(period) = period else {
            let message =
                "a tick occurred, but the script does not specify the period; add `timestamp 100;` to it";
            return Err(ReadError::Invalid(message.to_owned()));
        };
        return Ok((OwnedSnapshot::Tick, period.saturating_mul(count.into())));
    }
    let Some(entity) = entities.by_number(number.unsigned_abs()) else {
        let count = entities.list().len();
        return Err(ReadError::Invalid(format!(
            "unknown entity number {number}: the script monitors {count} entities, from number 10 on; \
             check that this is the script's filter and that the stream is in the byte format"
        )));
    };
    let snapshot = match entity.id {
        MonitoredId::Method(_) if number < 0 => {
            return Err(ReadError::Invalid(format!("a difference for `{}`, which is a method", entity.name)));
        }
        MonitoredId::Method(method) => match values::read_boolean(from)? {
            false => OwnedSnapshot::Start(method, Vec::new()),
            true => OwnedSnapshot::End(method, Vec::new(), OwnedValue::UNDEFINED),
        },
        MonitoredId::Variable(variable) => {
            let ty = entity.ty.unwrap_or(Type::Int);
            let value = match number < 0 {
                false => values::read(from, ty)?,
                true => OwnedValue::Plain(read_delta(from, ty, last_values.get(&variable), &entity.name)?),
            };
            OwnedSnapshot::Update(variable, value)
        }
    };
    Ok((snapshot, 0))
}

fn read_delta(
    from: &mut Cursor<'_>,
    ty: Type,
    before: Option<&Value<'static>>,
    name: &str,
) -> Result<Value<'static>, ReadError> {
    let base = before.copied().unwrap_or(Value::Undefined);
    let value = match (ty, base) {
        (Type::Long, Value::Long(old)) => {
            Value::Long(old.wrapping_add(i32::from_be_bytes(from.array()?).into()))
        }
        (Type::Int, Value::Int(old)) => Value::Int(old.wrapping_add(i8::from_be_bytes(from.array()?).into())),
        (Type::Short, Value::Short(old)) => {
            Value::Short(old.wrapping_add(i8::from_be_bytes(from.array()?).into()))
        }
        (Type::Double, Value::Double(old)) => {
            Value::Double(old + f64::from(f32::from_be_bytes(from.array()?)))
        }
        (Type::Long | Type::Int | Type::Short | Type::Double, _) => {
            return Err(ReadError::Invalid(format!("a difference for `{name}` before any value of it")));
        }
        _ => {
            return Err(ReadError::Invalid(format!(
                "a difference for `{name}`, which has type {ty}: only short, int, long and double have differences"
            )));
        }
    };
    Ok(value)
}

#[derive(Clone, Debug)]
pub(crate) struct ByteSnapshotWriter {
    entities: EntityTable,
    period: Option<i64>,
    deltas: bool,
    /// The time of the last tick that was sent.
    last_tick: Option<i64>,
    last_values: LastValues,
}

impl ByteSnapshotWriter {
    pub(crate) fn new(
        entities: EntityTable,
        period: Option<i64>,
        deltas: bool,
    ) -> Result<ByteSnapshotWriter, FormatError> {
        entities.check_byte_format()?;
        Ok(ByteSnapshotWriter { entities, period, deltas, last_tick: None, last_values: LastValues::new() })
    }

    /// Appends a snapshot, after the ticks that are due. Nothing is appended if the format cannot represent it.
    pub(crate) fn write(
        &mut self,
        snapshot: Snapshot<'_>,
        time: i64,
        out: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        let start = out.len();
        let last_tick = self.append_ticks(time, out);
        let written = self.snapshot(snapshot, out);
        match written {
            Ok(()) => self.last_tick = last_tick,
            Err(_) => out.truncate(start),
        }
        written
    }

    /// Appends the ticks that are due. Returns the time of the last one.
    fn append_ticks(&self, time: i64, out: &mut Vec<u8>) -> Option<i64> {
        let (Some(period), Some(last_tick)) = (self.period.filter(|period| *period > 0), self.last_tick)
        else {
            return Some(self.last_tick.unwrap_or(time));
        };
        let mut due = time.saturating_sub(last_tick).max(0) / period;
        let last_tick = last_tick + due * period;
        while due > 0 {
            let count = due.min(255) as u8;
            match count {
                1 => out.push(TICK),
                _ => out.extend([TICKS, count]),
            }
            due -= i64::from(count);
        }
        Some(last_tick)
    }

    fn snapshot(&mut self, snapshot: Snapshot<'_>, out: &mut Vec<u8>) -> Result<(), FormatError> {
        match snapshot {
            Snapshot::Tick => Ok(()),
            Snapshot::Start(method, _) => self.method(MonitoredId::Method(method), false, out),
            Snapshot::End(method, ..) => self.method(MonitoredId::Method(method), true, out),
            Snapshot::Update(variable, value) => self.update(variable, value, out),
            Snapshot::Changed(..) => Err(FormatError(format!(
                "the byte format cannot represent that a name refers to another object; {USE_LINES}"
            ))),
            Snapshot::Invalidated(_) => Err(FormatError(format!(
                "the byte format cannot represent that a variable is gone; {USE_LINES}"
            ))),
        }
    }

    fn method(&self, id: MonitoredId, is_end: bool, out: &mut Vec<u8>) -> Result<(), FormatError> {
        out.extend([self.number(id)?, is_end.into()]);
        Ok(())
    }

    fn number(&self, id: MonitoredId) -> Result<u8, FormatError> {
        self.entities.number(id).ok_or_else(|| FormatError("the script does not monitor this".to_owned()))
    }

    fn update(
        &mut self,
        variable: VariableId,
        value: Value<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        let number = self.number(MonitoredId::Variable(variable))?;
        if matches!(value, Value::Undefined) {
            return Err(FormatError(format!(
                "the byte format cannot represent that a variable is undefined; {USE_LINES}"
            )));
        }
        let declared = self.entities.get(MonitoredId::Variable(variable)).and_then(|entity| entity.ty);
        if value.ty() != declared {
            return Err(FormatError("the value does not have the type declared in the script".to_owned()));
        }
        let base = self.last_values.get(&variable).filter(|_| self.deltas);
        match base.and_then(|base| delta(*base, value)) {
            Some(delta) => {
                out.push((number as i8).wrapping_neg() as u8);
                values::write(out, delta)?;
            }
            None => {
                out.push(number);
                values::write(out, value)?;
            }
        }
        if let OwnedValue::Plain(value) = OwnedValue::from(value) {
            self.last_values.insert(variable, value);
        }
        Ok(())
    }
}

/// The difference between two values, if the smaller type can represent it and it gives exactly the new value.
fn delta(old: Value<'_>, new: Value<'_>) -> Option<Value<'static>> {
    match (old, new) {
        (Value::Long(old), Value::Long(new)) => {
            new.checked_sub(old).and_then(|delta| delta.try_into().ok()).map(Value::Int)
        }
        (Value::Int(old), Value::Int(new)) => {
            new.checked_sub(old).and_then(|delta| delta.try_into().ok()).map(Value::Byte)
        }
        (Value::Short(old), Value::Short(new)) => {
            new.checked_sub(old).and_then(|delta| delta.try_into().ok()).map(Value::Byte)
        }
        (Value::Double(old), Value::Double(new)) => {
            let delta = (new - old) as f32;
            ((old + f64::from(delta)).to_bits() == new.to_bits()).then_some(Value::Float(delta))
        }
        _ => None,
    }
}
