//! From a recogniser to a checker, as published (appendix B).
//!
//! First the names, in a layout of ours, because the publication sends a serialised Java object: `MaC`, a byte 1,
//! then the number of conditions in two bytes and each with its number in one byte and its name; then the events in the
//! same way. Conditions and events share the numbers from -128 to 127: conditions come first, from 0 on; after 127 comes
//! -128.
//!
//! Then groups: the time in eight bytes, four counts in a byte each (events, conditions that become true, false and
//! undefined), and the bodies in this order.

use super::{CUT_OFF, Cursor, Lack, values};
use crate::feed::Feed;
use crate::format::Said;
use crate::problem::{Limit, Place, Problem, USE_LINES};
use crate::taken::Held;
use invigil_monitor::mac::{Group, Interface, Truth, Value};
use std::collections::HashMap;

/// How the stream begins.
pub(crate) const MAGIC: [u8; 4] = *b"MaC\x01";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Event(u32),
    Condition(u32),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ByteGroupReader {
    feed: Feed,
    interface: Option<Interface>,
    numbers: HashMap<u8, Named>,
    failed: bool,
}

impl ByteGroupReader {
    pub(crate) fn feed(&mut self) -> &mut Feed {
        &mut self.feed
    }

    pub(crate) fn interface(&self) -> Option<&Interface> {
        self.interface.as_ref()
    }

    pub(crate) fn next(&mut self, group: &mut Group) -> Result<Option<Said>, Problem> {
        if self.failed || self.feed.rest().is_empty() {
            return match self.feed.is_ended() && !self.failed && self.interface.is_none() {
                true => self.fail(self.feed.offset(), CUT_OFF.to_owned()),
                false => Ok(None),
            };
        }
        let mut cursor = Cursor::new(self.feed.rest());
        let read = match self.interface {
            None => read_names(&mut cursor).map(|(interface, numbers)| {
                (self.interface, self.numbers) = (Some(interface), numbers);
                Said::Names
            }),
            Some(_) => read_group(&mut cursor, &self.numbers, group).map(|()| Said::Instant),
        };
        let at = cursor.at;
        match read {
            Ok(said) => {
                self.feed.advance(at);
                Ok(Some(said))
            }
            Err(Lack::More) if !self.feed.is_ended() => Ok(None),
            Err(Lack::More) => self.fail(self.feed.offset(), CUT_OFF.to_owned()),
            Err(Lack::Wrong(message)) => self.fail(self.feed.offset() + at as u64, message),
        }
    }

    fn fail(&mut self, at: u64, message: String) -> Result<Option<Said>, Problem> {
        self.failed = true;
        Err(Problem { place: Place::Byte(at), message, is_fatal: true })
    }
}

fn read_names(from: &mut Cursor<'_>) -> Result<(Interface, HashMap<u8, Named>), Lack> {
    for expected in MAGIC {
        if from.byte()? != expected {
            return Err(Lack::Wrong(
                "this is not the byte format of a recogniser; try `--format lines`".to_owned(),
            ));
        }
    }
    let mut numbers = HashMap::new();
    let mut names = |make: fn(u32) -> Named| -> Result<Vec<String>, Lack> {
        let count = u16::from_be_bytes(from.array()?);
        let mut names = Vec::new();
        for at in 0..count.into() {
            let number = from.byte()?;
            names.push(values::read_text(from)?);
            if numbers.insert(number, make(at)).is_some() {
                return Err(Lack::Wrong(format!("the number {} is given to two names", number as i8)));
            }
        }
        Ok(names)
    };
    let conditions = names(Named::Condition)?;
    let events = names(Named::Event)?;
    Ok((Interface { events, conditions }, numbers))
}

fn read_group(from: &mut Cursor<'_>, numbers: &HashMap<u8, Named>, group: &mut Group) -> Result<(), Lack> {
    group.begin(i64::from_be_bytes(from.array()?));
    let [events, becoming @ ..] = from.array::<4>()?;
    for _ in 0..events {
        match numbers.get(&from.byte()?) {
            Some(Named::Event(event)) => group.event(*event),
            _ => return Err(Lack::Wrong("a number that is no event's".to_owned())),
        }
        let code = from.byte()?;
        if code == values::NOTHING {
            continue;
        }
        let Some(ty) = values::coded(code) else {
            return Err(Lack::Wrong(format!("{code} is no type of a value")));
        };
        let value: Held = values::read(from, ty)?;
        group.value(value.value());
    }
    for (count, truth) in becoming.into_iter().zip([Truth::True, Truth::False, Truth::Undefined]) {
        for _ in 0..count {
            match numbers.get(&from.byte()?) {
                Some(Named::Condition(condition)) => group.condition(*condition, truth),
                _ => return Err(Lack::Wrong("a number that is no condition's".to_owned())),
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
    /// Appends the names.
    pub(crate) fn new(interface: &Interface, out: &mut Vec<u8>) -> Result<ByteGroupWriter, Limit> {
        let count = interface.events.len() + interface.conditions.len();
        if count > 256 {
            return Err(Limit(format!(
                "the script exports {count} events and conditions, and the byte format has numbers for 256; {USE_LINES}"
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

    /// Appends a group; nothing if it does not fit.
    pub(crate) fn write(&self, group: &Group, out: &mut Vec<u8>) -> Result<(), Limit> {
        let start = out.len();
        let written = self.group(group, out);
        if written.is_err() {
            out.truncate(start);
        }
        written
    }

    fn group(&self, group: &Group, out: &mut Vec<u8>) -> Result<(), Limit> {
        let becoming = [Truth::True, Truth::False, Truth::Undefined];
        let of = |truth: Truth| group.conditions().iter().filter(move |(_, now)| *now == truth);
        let count = |count: usize, what: &str| {
            u8::try_from(count).map_err(|_| {
                Limit(format!(
                    "{count} {what} at one instant, and the byte format has room for 255; {USE_LINES}"
                ))
            })
        };
        out.extend(group.time().to_be_bytes());
        out.push(count(group.events().len(), "events")?);
        for truth in becoming {
            out.push(count(of(truth).count(), "conditions that change")?);
        }
        for event in group.events() {
            out.push((self.conditions + event.event) as u8);
            let mut values = event.values();
            let value = values.next().unwrap_or(Value::Undefined);
            if values.next().is_some() {
                return Err(Limit(format!(
                    "an event carries several values, and the byte format has room for one; {USE_LINES}"
                )));
            }
            out.push(value.ty().map_or(values::NOTHING, values::code));
            values::write(out, value)?;
        }
        for truth in becoming {
            out.extend(of(truth).map(|(condition, _)| *condition as u8));
        }
        Ok(())
    }
}
