//! From a filter to a recogniser, as published (appendix A).
//!
//! A snapshot is a number and a value. Numbers 10 to 127 are entities in the order of the script, their negatives say
//! that the value is a difference to the one before; 1 and 2 say that one period or several have passed. Of a method,
//! the value says whether it begins (0) or ends (1): arguments and results are not sent.

use super::{CUT_OFF, Cursor, Lack, values};
use crate::entities::{Entities, Watched};
use crate::feed::Feed;
use crate::problem::{Limit, Place, Problem, USE_LINES};
use crate::taken::{Held, Taken, What};
use invigil_monitor::mac::{Snapshot, Type, Value, VariableId};
use std::collections::HashMap;

const TICK: u8 = 1;
const TICKS: u8 = 2;

/// The last value of each variable that went over the channel: both sides keep it.
type Known = HashMap<VariableId, Value<'static>>;

#[derive(Clone, Debug)]
pub(crate) struct ByteSnapshotReader {
    entities: Entities,
    period: Option<i64>,
    feed: Feed,
    time: i64,
    known: Known,
    failed: bool,
}

impl ByteSnapshotReader {
    pub(crate) fn new(entities: Entities, period: Option<i64>) -> Result<ByteSnapshotReader, Limit> {
        entities.fit_bytes()?;
        let (feed, known) = (Feed::default(), Known::new());
        Ok(ByteSnapshotReader { entities, period, feed, time: 0, known, failed: false })
    }

    pub(crate) fn feed(&mut self) -> &mut Feed {
        &mut self.feed
    }

    pub(crate) fn next(&mut self) -> Result<Option<Taken>, Problem> {
        if self.failed || self.feed.rest().is_empty() {
            return Ok(None);
        }
        let mut cursor = Cursor::new(self.feed.rest());
        let read = read(&mut cursor, &self.entities, self.period, &self.known);
        let message = match read {
            Ok((what, passed)) => {
                let length = cursor.at;
                if let What::Update(variable, Held::Plain(value)) = &what {
                    self.known.insert(*variable, *value);
                }
                self.feed.advance(length);
                self.time = self.time.saturating_add(passed);
                return Ok(Some(Taken { time: self.time, what }));
            }
            Err(Lack::More) if !self.feed.is_ended() => return Ok(None),
            Err(Lack::More) => CUT_OFF.to_owned(),
            Err(Lack::Wrong(message)) => message,
        };
        self.failed = true;
        Err(Problem { place: Place::Byte(self.feed.offset()), message, is_fatal: true })
    }
}

/// Reads a snapshot, and how much time has passed before it.
fn read(
    from: &mut Cursor<'_>,
    entities: &Entities,
    period: Option<i64>,
    known: &Known,
) -> Result<(What, i64), Lack> {
    let number = from.byte()? as i8;
    if number == TICK as i8 || number == TICKS as i8 {
        let count = if number == TICK as i8 { 1 } else { from.byte()? };
        let Some(period) = period else {
            let message =
                "a tick came, but the script does not say how long a period is; add `timestamp 100;` to it";
            return Err(Lack::Wrong(message.to_owned()));
        };
        return Ok((What::Tick, period.saturating_mul(count.into())));
    }
    let Some(entity) = entities.numbered(number.unsigned_abs()) else {
        let most = entities.list().len();
        return Err(Lack::Wrong(format!(
            "number {number} stands for nothing: the script watches {most} things, from number 10 on; \
             is this its filter, and is the stream in the byte format?"
        )));
    };
    let what = match entity.watched {
        Watched::Method(_) if number < 0 => {
            return Err(Lack::Wrong(format!("a difference for `{}`, which is a method", entity.name)));
        }
        Watched::Method(method) => match values::truth(from)? {
            false => What::Start(method, Vec::new()),
            true => What::End(method, Vec::new(), Held::UNDEFINED),
        },
        Watched::Variable(variable) => {
            let ty = entity.ty.unwrap_or(Type::Int);
            let value = match number < 0 {
                false => values::read(from, ty)?,
                true => Held::Plain(read_delta(from, ty, known.get(&variable), &entity.name)?),
            };
            What::Update(variable, value)
        }
    };
    Ok((what, 0))
}

fn read_delta(
    from: &mut Cursor<'_>,
    ty: Type,
    before: Option<&Value<'static>>,
    name: &str,
) -> Result<Value<'static>, Lack> {
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
            return Err(Lack::Wrong(format!("a difference for `{name}` before any value of it")));
        }
        _ => return Err(Lack::Wrong(format!("a difference for `{name}`, which is a {ty}: those have none"))),
    };
    Ok(value)
}

#[derive(Clone, Debug)]
pub(crate) struct ByteSnapshotWriter {
    entities: Entities,
    period: Option<i64>,
    deltas: bool,
    /// When the last tick was sent.
    ticked: Option<i64>,
    known: Known,
}

impl ByteSnapshotWriter {
    pub(crate) fn new(
        entities: Entities,
        period: Option<i64>,
        deltas: bool,
    ) -> Result<ByteSnapshotWriter, Limit> {
        entities.fit_bytes()?;
        Ok(ByteSnapshotWriter { entities, period, deltas, ticked: None, known: Known::new() })
    }

    /// Appends a snapshot, and ticks before it if periods have passed. Nothing is appended if it cannot be said.
    pub(crate) fn write(&mut self, what: Snapshot<'_>, time: i64, out: &mut Vec<u8>) -> Result<(), Limit> {
        let start = out.len();
        let ticked = self.ticks(time, out);
        let written = self.snapshot(what, out);
        match written {
            Ok(()) => self.ticked = ticked,
            Err(_) => out.truncate(start),
        }
        written
    }

    /// Appends ticks up to a time; gives when the last one was due.
    fn ticks(&self, time: i64, out: &mut Vec<u8>) -> Option<i64> {
        let (Some(period), Some(ticked)) = (self.period.filter(|period| *period > 0), self.ticked) else {
            return Some(self.ticked.unwrap_or(time));
        };
        let mut due = time.saturating_sub(ticked).max(0) / period;
        let ticked = ticked + due * period;
        while due > 0 {
            let count = due.min(255) as u8;
            match count {
                1 => out.push(TICK),
                _ => out.extend([TICKS, count]),
            }
            due -= i64::from(count);
        }
        Some(ticked)
    }

    fn snapshot(&mut self, what: Snapshot<'_>, out: &mut Vec<u8>) -> Result<(), Limit> {
        match what {
            Snapshot::Tick => Ok(()),
            Snapshot::Start(method, _) => self.method(Watched::Method(method), false, out),
            Snapshot::End(method, ..) => self.method(Watched::Method(method), true, out),
            Snapshot::Update(variable, value) => self.update(variable, value, out),
            Snapshot::Changed(..) => Err(Limit(format!(
                "the byte format cannot say that a name means another object; {USE_LINES}"
            ))),
            Snapshot::Gone(_) => {
                Err(Limit(format!("the byte format cannot say that a variable is gone; {USE_LINES}")))
            }
        }
    }

    fn method(&self, watched: Watched, ends: bool, out: &mut Vec<u8>) -> Result<(), Limit> {
        out.extend([self.number(watched)?, ends.into()]);
        Ok(())
    }

    fn number(&self, watched: Watched) -> Result<u8, Limit> {
        self.entities
            .number(watched)
            .ok_or_else(|| Limit("this is nothing that the script watches".to_owned()))
    }

    fn update(&mut self, variable: VariableId, value: Value<'_>, out: &mut Vec<u8>) -> Result<(), Limit> {
        let number = self.number(Watched::Variable(variable))?;
        if matches!(value, Value::Undefined) {
            return Err(Limit(format!(
                "the byte format cannot say that a variable is undefined; {USE_LINES}"
            )));
        }
        let wanted = self.entities.get(Watched::Variable(variable)).and_then(|entity| entity.ty);
        if value.ty() != wanted {
            return Err(Limit("the value is not of the type that the script says".to_owned()));
        }
        let base = self.known.get(&variable).filter(|_| self.deltas);
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
        if let Held::Plain(value) = Held::from(value) {
            self.known.insert(variable, value);
        }
        Ok(())
    }
}

/// The difference between two values, if it fits into the smaller type and gives exactly the new value.
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
