//! The published byte format from a recogniser to a checker (appendix B).
//!
//! The names come first, in a layout of Invigil, since the publication sends a serialised Java object: `MaC`, a byte 1,
//! the number of conditions in two bytes, and each condition's number in one byte and its name; then the events in the
//! same way. Conditions and events share the numbers from -128 to 127: conditions start at 0, events follow, and -128
//! follows 127.
//!
//! The groups follow: the time in eight bytes, four counts of one byte each (events, conditions that become true, false
//! and undefined), and their bodies in this order.

use super::{CUT_OFF, Cursor, ReadError, values};
use crate::byte_queue::ByteQueue;
use crate::error::{FormatError, InputError, InputPosition, USE_LINES};
use crate::format::ReadProgress;
use crate::snapshot::OwnedValue;
use invigil_monitor::mac::{EventGroup, Interface, Truth, Value};
use std::collections::HashMap;

/// The start of a stream.
pub(crate) const MAGIC: [u8; 4] = *b"MaC\x01";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameRef {
    Event(u32),
    Condition(u32),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ByteGroupReader {
    queue: ByteQueue,
    interface: Option<Interface>,
    numbers: HashMap<u8, NameRef>,
    failed: bool,
}

impl ByteGroupReader {
    pub(crate) fn queue(&mut self) -> &mut ByteQueue {
        &mut self.queue
    }

    pub(crate) fn interface(&self) -> Option<&Interface> {
        self.interface.as_ref()
    }

    pub(crate) fn next(&mut self, group: &mut EventGroup) -> Result<Option<ReadProgress>, InputError> {
        if self.failed || self.queue.rest().is_empty() {
            return match self.queue.is_ended() && !self.failed && self.interface.is_none() {
                true => self.fail(self.queue.offset(), CUT_OFF.to_owned()),
                false => Ok(None),
            };
        }
        let mut cursor = Cursor::new(self.queue.rest());
        let read = match self.interface {
            None => read_names(&mut cursor).map(|(interface, numbers)| {
                (self.interface, self.numbers) = (Some(interface), numbers);
                ReadProgress::Names
            }),
            Some(_) => read_group(&mut cursor, &self.numbers, group).map(|()| ReadProgress::Instant),
        };
        let at = cursor.at;
        match read {
            Ok(progress) => {
                self.queue.advance(at);
                Ok(Some(progress))
            }
            Err(ReadError::Incomplete) if !self.queue.is_ended() => Ok(None),
            Err(ReadError::Incomplete) => self.fail(self.queue.offset(), CUT_OFF.to_owned()),
            Err(ReadError::Invalid(message)) => self.fail(self.queue.offset() + at as u64, message),
        }
    }

    fn fail(&mut self, at: u64, message: String) -> Result<Option<ReadProgress>, InputError> {
        self.failed = true;
        Err(InputError { position: InputPosition::Byte(at), message, is_fatal: true })
    }
}

fn read_names(from: &mut Cursor<'_>) -> Result<(Interface, HashMap<u8, NameRef>), ReadError> {
    for expected in MAGIC {
        if from.byte()? != expected {
            return Err(ReadError::Invalid(
                "this is not the byte format of a recogniser; try `--format lines`".to_owned(),
            ));
        }
    }
    let mut numbers = HashMap::new();
    let mut names = |name_ref: fn(u32) -> NameRef| -> Result<Vec<String>, ReadError> {
        let count = u16::from_be_bytes(from.array()?);
        let mut names = Vec::new();
        for at in 0..count.into() {
            let number = from.byte()?;
            names.push(values::read_text(from)?);
            if numbers.insert(number, name_ref(at)).is_some() {
                return Err(ReadError::Invalid(format!("the number {} is used for two names", number as i8)));
            }
        }
        Ok(names)
    };
    let conditions = names(NameRef::Condition)?;
    let events = names(NameRef::Event)?;
    Ok((Interface { events, conditions }, numbers))
}

fn read_group(
    from: &mut Cursor<'_>,
    numbers: &HashMap<u8, NameRef>,
    group: &mut EventGroup,
) -> Result<(), ReadError> {
    group.begin(i64::from_be_bytes(from.array()?));
    let [event_count, condition_counts @ ..] = from.array::<4>()?;
    for _ in 0..event_count {
        match numbers.get(&from.byte()?) {
            Some(NameRef::Event(event)) => group.event(*event),
            _ => return Err(ReadError::Invalid("the number does not belong to an event".to_owned())),
        }
        let code = from.byte()?;
        if code == values::NO_VALUE {
            continue;
        }
        let Some(ty) = values::type_of_code(code) else {
            return Err(ReadError::Invalid(format!("{code} is not the code of a type")));
        };
        let value: OwnedValue = values::read(from, ty)?;
        group.value(value.value());
    }
    for (count, truth) in condition_counts.into_iter().zip([Truth::True, Truth::False, Truth::Undefined]) {
        for _ in 0..count {
            match numbers.get(&from.byte()?) {
                Some(NameRef::Condition(condition)) => group.condition(*condition, truth),
                _ => return Err(ReadError::Invalid("the number does not belong to a condition".to_owned())),
            }
        }
    }
    Ok(())
}

#[derive(Clone, Debug)]
pub(crate) struct ByteGroupWriter {
    conditions: u32,
}

impl ByteGroupWriter {
    /// Starts a stream with the names.
    pub(crate) fn new(interface: &Interface, out: &mut Vec<u8>) -> Result<ByteGroupWriter, FormatError> {
        let count = interface.events.len() + interface.conditions.len();
        if count > 256 {
            return Err(FormatError(format!(
                "the script exports {count} events and conditions, but the byte format has numbers for 256; {USE_LINES}"
            )));
        }
        let writer = ByteGroupWriter { conditions: interface.conditions.len() as u32 };
        out.extend(MAGIC);
        for (names, first) in [(&interface.conditions, 0), (&interface.events, writer.conditions)] {
            out.extend((names.len() as u16).to_be_bytes());
            for (at, name) in (first..).zip(names) {
                out.push(at as u8);
                values::write_text(out, name)?;
            }
        }
        Ok(writer)
    }

    /// Appends a group, or nothing if the format cannot represent it.
    pub(crate) fn write(&self, group: &EventGroup, out: &mut Vec<u8>) -> Result<(), FormatError> {
        let start = out.len();
        let written = self.group(group, out);
        if written.is_err() {
            out.truncate(start);
        }
        written
    }

    fn group(&self, group: &EventGroup, out: &mut Vec<u8>) -> Result<(), FormatError> {
        let truths = [Truth::True, Truth::False, Truth::Undefined];
        let conditions_with = |truth: Truth| group.conditions().iter().filter(move |(_, now)| *now == truth);
        let count = |count: usize, noun: &str| {
            u8::try_from(count).map_err(|_| {
                FormatError(format!(
                    "{count} {noun} at one instant, but the byte format supports 255; {USE_LINES}"
                ))
            })
        };
        out.extend(group.time().to_be_bytes());
        out.push(count(group.events().len(), "events")?);
        for truth in truths {
            out.push(count(conditions_with(truth).count(), "conditions that change")?);
        }
        for event in group.events() {
            out.push((self.conditions + event.event) as u8);
            let mut values = event.values();
            let value = values.next().unwrap_or(Value::Undefined);
            if values.next().is_some() {
                return Err(FormatError(format!(
                    "an event carries several values, but the byte format supports one; {USE_LINES}"
                )));
            }
            out.push(value.ty().map_or(values::NO_VALUE, values::type_code));
            values::write(out, value)?;
        }
        for truth in truths {
            out.extend(conditions_with(truth).map(|(condition, _)| *condition as u8));
        }
        Ok(())
    }
}
