//! The text format from a recogniser to a checker:
//!
//! ```text
//! recognised 1
//! event NAME
//! condition NAME
//! begin
//! MS EVENT EVENT(VALUE, …) CONDITION=true CONDITION=undefined
//! end COUNT
//! ```

use super::literal;
use super::snapshots::excerpt;
use crate::byte_queue::{CUT_OFF, Line, LineReader, TOO_LONG};
use crate::bytes::MAGIC;
use crate::error::{InputError, InputPosition};
use crate::format::ReadProgress;
use invigil_monitor::mac::{EventGroup, Interface, Truth};
use std::collections::HashMap;
use std::fmt::Write as _;

/// The first line of a stream.
const HEADER: &str = "recognised 1";

#[derive(Clone, Copy, Debug)]
enum NameRef {
    Event(u32),
    Condition(u32),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum StreamStage {
    #[default]
    Header,
    Names,
    Instants,
    Ended,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct TextGroupReader {
    lines: LineReader,
    stage: StreamStage,
    interface: Interface,
    numbers: HashMap<String, NameRef>,
    instants: u64,
    failed: bool,
    ended: bool,
}

impl TextGroupReader {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.lines.push(bytes);
    }

    pub(crate) fn end(&mut self) {
        self.ended = true;
        self.lines.end();
    }

    pub(crate) fn interface(&self) -> Option<&Interface> {
        matches!(self.stage, StreamStage::Instants | StreamStage::Ended).then_some(&self.interface)
    }

    pub(crate) fn next(&mut self, group: &mut EventGroup) -> Result<Option<ReadProgress>, InputError> {
        loop {
            if self.failed {
                return Ok(None);
            }
            let (is_magic, line) = match self.lines.next() {
                Line::None if self.ended && self.stage != StreamStage::Ended => {
                    return self.fail(
                        "the stream is not complete: it has no `end`; the recogniser was stopped, or the connection was lost",
                    );
                }
                Line::None => return Ok(None),
                Line::TooLong => return self.line_error(TOO_LONG.to_owned()),
                Line::CutOff => return self.line_error(CUT_OFF.to_owned()),
                Line::Whole(line) => {
                    (line.starts_with(&MAGIC), String::from_utf8(line.to_vec()).unwrap_or_default())
                }
            };
            let line = line.trim();
            if self.stage == StreamStage::Header && line != HEADER {
                let hint = if is_magic { "; this is the byte format: `--format bytes`" } else { "" };
                return self.fail(format!("the stream of a recogniser starts with `{HEADER}`{hint}"));
            }
            match self.parse_line(line, group) {
                Ok(Some(progress)) => return Ok(Some(progress)),
                Ok(None) => {}
                Err(message) => return self.line_error(format!("{message}: {}", excerpt(line))),
            }
        }
    }

    fn line_error(&mut self, message: String) -> Result<Option<ReadProgress>, InputError> {
        Err(InputError { position: InputPosition::Line(self.lines.number()), message, is_fatal: false })
    }

    fn fail(&mut self, message: impl Into<String>) -> Result<Option<ReadProgress>, InputError> {
        self.failed = true;
        Err(InputError {
            position: InputPosition::Line(self.lines.number()),
            message: message.into(),
            is_fatal: true,
        })
    }

    fn parse_line(&mut self, line: &str, group: &mut EventGroup) -> Result<Option<ReadProgress>, String> {
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match (self.stage, word) {
            (StreamStage::Header, _) => self.stage = StreamStage::Names,
            (StreamStage::Names, "begin") => {
                self.stage = StreamStage::Instants;
                return Ok(Some(ReadProgress::Names));
            }
            (StreamStage::Names, "event" | "condition") => self.declare_name(word == "event", rest.trim())?,
            (StreamStage::Names, _) => {
                return Err("names come first: `event NAME`, `condition NAME`, then `begin`".into());
            }
            (StreamStage::Instants, "end") => {
                self.stage = StreamStage::Ended;
                let count: u64 =
                    rest.trim().parse().map_err(|_| "`end` is followed by a count".to_owned())?;
                if count != self.instants {
                    let read = self.instants;
                    return Err(format!("{count} instants were sent, but {read} could be read"));
                }
                return Ok(Some(ReadProgress::End));
            }
            (StreamStage::Instants, _) => {
                let time =
                    word.parse().map_err(|_| format!("`{}` is not a time in milliseconds", excerpt(word)))?;
                group.begin(time);
                self.items(rest.trim_start(), group)?;
                self.instants += 1;
                return Ok(Some(ReadProgress::Instant));
            }
            (StreamStage::Ended, _) => return Err("unexpected line after `end`".to_owned()),
        }
        Ok(None)
    }

    fn declare_name(&mut self, is_event: bool, name: &str) -> Result<(), String> {
        if name.is_empty() || name.contains(|c: char| c.is_whitespace() || "()=,#".contains(c)) {
            return Err("this is not a name".to_owned());
        }
        let names = if is_event { &mut self.interface.events } else { &mut self.interface.conditions };
        let number = names.len() as u32;
        let name_ref = if is_event { NameRef::Event(number) } else { NameRef::Condition(number) };
        if self.numbers.contains_key(name) {
            return Err(format!("`{name}` is declared twice"));
        }
        self.numbers.insert(name.to_owned(), name_ref);
        names.push(name.to_owned());
        Ok(())
    }

    fn items(&self, mut rest: &str, group: &mut EventGroup) -> Result<(), String> {
        while !rest.is_empty() {
            let end = rest.find(|c: char| c.is_whitespace() || "(=".contains(c)).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            rest = match (self.numbers.get(name), after.as_bytes().first()) {
                (None, _) => return Err(format!("`{}` is neither an event nor a condition", excerpt(name))),
                (Some(NameRef::Condition(number)), Some(b'=')) => {
                    let (word, after) = literal::split(&after[1..]);
                    let all = [Truth::True, Truth::False, Truth::Undefined];
                    let Some(truth) = all.into_iter().find(|truth| truth.word() == word) else {
                        return Err(format!("`{name}` becomes `true`, `false` or `undefined`"));
                    };
                    group.condition(*number, truth);
                    after
                }
                (Some(NameRef::Condition(_)), _) => {
                    return Err(format!("`{name}` is a condition: write `{name}=true`"));
                }
                (Some(NameRef::Event(number)), Some(b'(')) => {
                    group.event(*number);
                    self.values(&after[1..], group)?
                }
                (Some(NameRef::Event(_)), Some(b'=')) => {
                    return Err(format!("`{name}` is an event, which has no truth value"));
                }
                (Some(NameRef::Event(number)), _) => {
                    group.event(*number);
                    after
                }
            };
            let trimmed = rest.trim_start();
            if trimmed.len() == rest.len() && !rest.is_empty() {
                return Err("a blank is missing".to_owned());
            }
            rest = trimmed;
        }
        Ok(())
    }

    fn values<'l>(&self, mut rest: &'l str, group: &mut EventGroup) -> Result<&'l str, String> {
        loop {
            let (word, after) = literal::split(rest.trim_start());
            group.value(literal::parse_typed(word)?.value());
            rest = after.trim_start();
            match rest.split_at_checked(1) {
                Some((",", after)) => rest = after,
                Some((")", after)) => return Ok(after),
                _ => return Err("a `)` is missing".to_owned()),
            }
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct TextGroupWriter {
    interface: Interface,
    instants: u64,
}

impl TextGroupWriter {
    /// Starts a stream with the names.
    pub(crate) fn new(interface: &Interface, out: &mut Vec<u8>) -> TextGroupWriter {
        let mut text = format!("{HEADER}\n");
        for (word, names) in [("event", &interface.events), ("condition", &interface.conditions)] {
            names.iter().for_each(|name| text.extend([word, " ", name, "\n"]));
        }
        text.push_str("begin\n");
        out.extend(text.into_bytes());
        TextGroupWriter { interface: interface.clone(), instants: 0 }
    }

    pub(crate) fn write(&mut self, group: &EventGroup, out: &mut Vec<u8>) {
        let mut line = group.time().to_string();
        for event in group.events() {
            let Some(name) = self.interface.events.get(event.event as usize) else { continue };
            line.push(' ');
            line.push_str(name);
            for (at, value) in event.values().enumerate() {
                line.push_str(if at == 0 { "(" } else { ", " });
                literal::write_typed(&mut line, value);
            }
            if event.values().len() > 0 {
                line.push(')');
            }
        }
        for (condition, truth) in group.conditions() {
            let Some(name) = self.interface.conditions.get(*condition as usize) else { continue };
            let _ = write!(line, " {name}={truth}");
        }
        line.push('\n');
        out.extend(line.into_bytes());
        self.instants += 1;
    }

    /// Appends the end mark.
    pub(crate) fn finish(&self, out: &mut Vec<u8>) {
        out.extend(format!("end {}\n", self.instants).into_bytes());
    }
}
