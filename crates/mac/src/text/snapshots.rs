//! The text format from a filter to a recogniser:
//!
//! ```text
//! update NAME VALUE [@MS]
//! change NAME VALUE [@MS]
//! start NAME(VALUE, …) [@MS]
//! end NAME(VALUE, …) [-> VALUE] [@MS]
//! gone NAME[, NAME…] [@MS]
//! tick [MS]
//! ```

use super::literal;
use crate::byte_queue::{CUT_OFF, Line, LineReader, TOO_LONG};
use crate::entities::{Entity, EntityTable, MonitoredId};
use crate::error::{FormatError, InputError, InputPosition};
use crate::snapshot::{OwnedSnapshot, OwnedValue, TimedSnapshot};
use invigil_monitor::mac::{MethodId, Snapshot, Type, VariableId};
use std::fmt::Write as _;

#[derive(Clone, Debug)]
pub(crate) struct TextSnapshotReader {
    entities: EntityTable,
    period: Option<i64>,
    lines: LineReader,
    time: i64,
}

impl TextSnapshotReader {
    pub(crate) fn new(entities: EntityTable, period: Option<i64>) -> TextSnapshotReader {
        TextSnapshotReader { entities, period, lines: LineReader::default(), time: 0 }
    }

    pub(crate) fn lines(&mut self) -> &mut LineReader {
        &mut self.lines
    }

    pub(crate) fn next(&mut self) -> Result<Option<TimedSnapshot>, InputError> {
        loop {
            let read = match self.lines.next() {
                Line::None => return Ok(None),
                Line::TooLong => Err(TOO_LONG.to_owned()),
                Line::CutOff => Err(CUT_OFF.to_owned()),
                Line::Whole(line) => match std::str::from_utf8(line) {
                    Err(_) => {
                        Err("the line is not UTF-8 text; is this the byte format? `--format bytes`"
                            .to_owned())
                    }
                    Ok(line) => {
                        let line = line.trim();
                        if line.is_empty() || line.starts_with('#') {
                            continue;
                        }
                        let parser =
                            LineParser { entities: &self.entities, period: self.period, now: self.time };
                        parser.parse(line).map_err(|message| format!("{message}: {}", excerpt(line)))
                    }
                },
            };
            return match read {
                Ok(timed) => {
                    self.time = timed.time;
                    Ok(Some(timed))
                }
                Err(message) => {
                    let position = InputPosition::Line(self.lines.number());
                    Err(InputError { position, message, is_fatal: false })
                }
            };
        }
    }
}

/// The start of a line, for messages.
pub(super) fn excerpt(line: &str) -> String {
    let mut shown: String = line.chars().take(60).map(|c| if c.is_control() { '·' } else { c }).collect();
    if line.chars().nth(60).is_some() {
        shown.push('…');
    }
    shown
}

struct LineParser<'a> {
    entities: &'a EntityTable,
    period: Option<i64>,
    now: i64,
}

impl LineParser<'_> {
    fn parse(&self, line: &str) -> Result<TimedSnapshot, String> {
        let (verb, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim_start();
        let (snapshot, rest) = match verb {
            "tick" => return self.tick(rest),
            "update" => {
                let (variable, value, rest) = self.assignment(rest)?;
                (OwnedSnapshot::Update(variable, value), rest)
            }
            // Another value without an assignment.
            "change" => {
                let (variable, value, rest) = self.assignment(rest)?;
                (OwnedSnapshot::Changed(variable, value), rest)
            }
            "start" => {
                let (method, arguments, rest) = self.call(rest)?;
                (OwnedSnapshot::Start(method.0, arguments), rest)
            }
            "end" => {
                let ((method, ty), arguments, rest) = self.call(rest)?;
                let (result, rest) = match rest.strip_prefix("->") {
                    Some(rest) => parse_value(rest.trim_start(), ty, "the method has no monitored result")?,
                    None => (OwnedValue::UNDEFINED, rest),
                };
                (OwnedSnapshot::End(method, arguments, result), rest)
            }
            "gone" => self.gone(rest)?,
            _ => {
                return Err(format!(
                    "`{}` is none of `update`, `change`, `start`, `end`, `gone` and `tick`",
                    excerpt(verb)
                ));
            }
        };
        let rest = rest.trim();
        let time = match rest.strip_prefix('@') {
            Some(time) => parse_milliseconds(time)?,
            None if rest.is_empty() => self.now,
            None => return Err(format!("`{}` is unexpected; a time is written `@1500`", excerpt(rest))),
        };
        Ok(TimedSnapshot { time, snapshot })
    }

    fn tick(&self, rest: &str) -> Result<TimedSnapshot, String> {
        let rest = rest.trim();
        let time = match (rest.strip_prefix('@').unwrap_or(rest), self.period) {
            ("", Some(period)) => self.now.saturating_add(period),
            ("", None) => {
                return Err(
                    "the length of a tick is unknown; write the time after `tick`, or add `timestamp 100;` to the script"
                        .into(),
                );
            }
            (time, _) => parse_milliseconds(time)?,
        };
        Ok(TimedSnapshot { time, snapshot: OwnedSnapshot::Tick })
    }

    fn assignment<'l>(&self, rest: &'l str) -> Result<(VariableId, OwnedValue, &'l str), String> {
        let (name, rest) = split_name(rest);
        let (variable, ty) = self.variable(name)?;
        let (value, rest) = parse_value(rest, ty, "")?;
        Ok((variable, value, rest))
    }

    fn variable(&self, name: &str) -> Result<(VariableId, Option<Type>), String> {
        let entity = self.entities.find(name)?;
        match entity.id {
            MonitoredId::Variable(variable) => Ok((variable, entity.ty)),
            MonitoredId::Method(_) => Err(format!("`{name}` is a method; report its `start` and `end`")),
        }
    }

    fn gone<'l>(&self, rest: &'l str) -> Result<(OwnedSnapshot, &'l str), String> {
        let (names, time) = rest.split_at(rest.find('@').unwrap_or(rest.len()));
        let mut variables = Vec::new();
        let mut rest = names.trim();
        loop {
            let (name, others) = split_name(rest);
            let name = name.strip_suffix(',').unwrap_or(name);
            variables.push(self.variable(name)?.0);
            rest = others.trim_start_matches([',', ' ', '\t']);
            if rest.is_empty() {
                return Ok((OwnedSnapshot::Invalidated(variables), time));
            }
        }
    }

    /// Parses `NAME(VALUE, …)`, `NAME(TYPE, …)(VALUE, …)` or just `NAME`.
    #[expect(clippy::type_complexity)]
    fn call<'l>(
        &self,
        rest: &'l str,
    ) -> Result<((MethodId, Option<Type>), Vec<OwnedValue>, &'l str), String> {
        let (call, after) = split_name(rest);
        let lists = list_starts(call);
        let (entity, arguments) = match lists.as_slice() {
            [] => (self.entities.find(call)?, "()"),
            [.., types, values] if call[..*values].ends_with(')') && *types < *values => {
                (self.entities.find(&call[..*values])?, &call[*values..])
            }
            [.., values] => (self.entities.find(&call[..*values])?, &call[*values..]),
        };
        let MonitoredId::Method(method) = entity.id else {
            return Err(format!("`{}` is a variable; report its `update`", entity.name));
        };
        let arguments = self.arguments(entity, arguments)?;
        Ok(((method, entity.ty), arguments, after.trim_start()))
    }

    fn arguments(&self, entity: &Entity, list: &str) -> Result<Vec<OwnedValue>, String> {
        let mut out = Vec::new();
        let mut rest = list[1..].trim_start();
        while !rest.starts_with(')') {
            if rest.is_empty() {
                return Err("a `)` is missing".to_owned());
            }
            let Some(ty) = entity.parameters.get(out.len()) else {
                let count = entity.parameters.len();
                return Err(format!(
                    "`{}` has {count} parameters, but more arguments were given",
                    entity.name
                ));
            };
            let (argument, others) =
                parse_value(rest, *ty, "write an argument that is an object as `undefined`")?;
            out.push(argument);
            rest = others.trim_start();
            rest = match rest.strip_prefix(',') {
                Some(others) => others.trim_start(),
                None if rest.is_empty() || rest.starts_with(')') => rest,
                None => return Err("arguments are separated by commas".to_owned()),
            };
        }
        Ok(out)
    }
}

fn parse_milliseconds(text: &str) -> Result<i64, String> {
    text.trim().parse().map_err(|_| format!("`{}` is not a time in whole milliseconds", excerpt(text)))
}

/// Parses a value; also returns the rest. `error_without_type` is the error for a value other than `undefined` if there
/// is no type.
fn parse_value<'l>(
    text: &'l str,
    ty: Option<Type>,
    error_without_type: &str,
) -> Result<(OwnedValue, &'l str), String> {
    let (word, rest) = literal::split(text);
    match ty {
        _ if word.is_empty() => Err("a value is missing".to_owned()),
        Some(ty) => Ok((literal::parse_as(word, ty)?, rest)),
        None if word == "undefined" => Ok((OwnedValue::UNDEFINED, rest)),
        None => Err(error_without_type.to_owned()),
    }
}

/// Splits off a name with its bracketed lists.
fn split_name(text: &str) -> (&str, &str) {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(c) = text[at..].chars().next() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '"' | '\'' if depth > 0 => {
                at += literal::split(&text[at..]).0.len();
                continue;
            }
            c if c.is_whitespace() && depth == 0 => break,
            _ => {}
        }
        at += c.len_utf8();
    }
    (&text[..at], text[at..].trim_start())
}

/// The positions of the bracketed lists of a call.
fn list_starts(call: &str) -> Vec<usize> {
    let (mut depth, mut at, mut found) = (0_usize, 0, Vec::new());
    while let Some(c) = call[at..].chars().next() {
        match c {
            '(' => {
                if depth == 0 {
                    found.push(at);
                }
                depth += 1;
            }
            ')' => depth = depth.saturating_sub(1),
            '"' | '\'' if depth > 0 => {
                at += literal::split(&call[at..]).0.len();
                continue;
            }
            _ => {}
        }
        at += c.len_utf8();
    }
    found
}

#[derive(Clone, Debug)]
pub(crate) struct TextSnapshotWriter {
    entities: EntityTable,
    time: i64,
}

impl TextSnapshotWriter {
    pub(crate) fn new(entities: EntityTable) -> TextSnapshotWriter {
        TextSnapshotWriter { entities, time: 0 }
    }

    pub(crate) fn write(
        &mut self,
        snapshot: Snapshot<'_>,
        time: i64,
        out: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        let mut line = String::new();
        let name = |id| {
            let entity = self.entities.get(id);
            entity
                .map(|entity| entity.name.as_str())
                .ok_or_else(|| FormatError("the script does not monitor this".into()))
        };
        let list = |line: &mut String, values: &[_]| {
            line.push('(');
            for (at, value) in values.iter().enumerate() {
                line.push_str(if at == 0 { "" } else { ", " });
                literal::write_value(line, *value);
            }
            line.push(')');
        };
        match snapshot {
            Snapshot::Update(variable, value) => {
                // Writing to a string cannot fail.
                let _ = write!(line, "update {} ", name(MonitoredId::Variable(variable))?);
                literal::write_value(&mut line, value);
            }
            Snapshot::Changed(variable, value) => {
                let _ = write!(line, "change {} ", name(MonitoredId::Variable(variable))?);
                literal::write_value(&mut line, value);
            }
            Snapshot::Start(method, arguments) => {
                let _ = write!(line, "start {}", name(MonitoredId::Method(method))?);
                list(&mut line, arguments);
            }
            Snapshot::End(method, arguments, result) => {
                let _ = write!(line, "end {}", name(MonitoredId::Method(method))?);
                list(&mut line, arguments);
                if result.ty().is_some() {
                    line.push_str(" -> ");
                    literal::write_value(&mut line, result);
                }
            }
            Snapshot::Invalidated(variables) => {
                line.push_str("gone ");
                for (at, variable) in variables.iter().enumerate() {
                    line.push_str(if at == 0 { "" } else { ", " });
                    line.push_str(name(MonitoredId::Variable(*variable))?);
                }
            }
            Snapshot::Tick => {
                let _ = write!(line, "tick {time}");
            }
        }
        if time != self.time && !matches!(snapshot, Snapshot::Tick) {
            let _ = write!(line, " @{time}");
        }
        self.time = time;
        line.push('\n');
        out.extend(line.into_bytes());
        Ok(())
    }
}
