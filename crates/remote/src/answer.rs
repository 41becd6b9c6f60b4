//! Reading answers. Nothing here remembers anything, and any line at all is a value or an error.

use crate::failure::Reason;
use crate::json::{append, words};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// An answer, not yet looked into.
pub(crate) struct Answer<'a> {
    fields: BTreeMap<String, &'a RawValue>,
}

/// A configuration as it stands in an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// One that both sides know.
    Number(u64),
    /// Its one JSON text.
    Value(String),
    /// None: the action went wrong, in these words.
    Fault(String),
}

/// What a remote semantics says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hello {
    pub name: String,
    pub can: Vec<String>,
    pub cache: Option<u64>,
    pub batch: Option<usize>,
}

/// How much of an answer that cannot be read is shown.
const SHOWN: usize = 60;

fn unreadable(why: String, line: &[u8]) -> Reason {
    let begin = String::from_utf8_lossy(&line[..line.len().min(SHOWN)]);
    let more = if line.len() > SHOWN { "…" } else { "" };
    Reason::Unreadable(why, format!("{}{more}", begin.escape_debug()))
}

/// Reads the answer to the request of that number, as far as the request does not matter, and then by `read`.
pub(crate) fn read<T>(
    line: &[u8],
    asked: u64,
    read: impl FnOnce(&Answer<'_>) -> Result<T, Reading>,
) -> Result<T, Reason> {
    let text = std::str::from_utf8(line).map_err(|error| {
        unreadable(format!("it is not UTF-8 from byte {} on", error.valid_up_to() + 1), line)
    })?;
    let fields = serde_json::from_str(text).map_err(|error| unreadable(words(error), line))?;
    let answer = Answer { fields };
    let answered: u64 = answer.field("id").map_err(|why| unreadable(why, line))?;
    if answered != asked {
        return Err(Reason::Misplaced { asked, answered });
    }
    if answer.fields.contains_key("error") {
        return Err(Reason::Refused(answer.field("error").map_err(|why| unreadable(why, line))?));
    }
    read(&answer).map_err(|reading| match reading {
        Reading::Mistake(why) => unreadable(why, line),
        Reading::Version(version) => Reason::Version(version),
    })
}

/// Why an answer that is one is not as it must be.
pub(crate) enum Reading {
    Mistake(String),
    Version(u64),
}

impl From<String> for Reading {
    fn from(why: String) -> Reading {
        Reading::Mistake(why)
    }
}

impl<'a> Answer<'a> {
    fn field<T: serde::Deserialize<'a>>(&self, name: &str) -> Result<T, String> {
        let field = self.fields.get(name).ok_or_else(|| format!("the field `{name}` is missing"))?;
        serde_json::from_str(field.get()).map_err(|error| format!("in the field `{name}`: {}", words(error)))
    }

    fn optional<T: serde::Deserialize<'a>>(&self, name: &str) -> Result<Option<T>, String> {
        if self.fields.contains_key(name) { self.field(name) } else { Ok(None) }
    }

    /// A field with one element for each of `count` that were asked for.
    fn each<T: serde::Deserialize<'a>>(&self, name: &str, count: usize) -> Result<Vec<T>, String> {
        let elements: Vec<T> = self.field(name)?;
        if elements.len() != count {
            return Err(format!("the field `{name}` must have {count} elements, and has {}", elements.len()));
        }
        Ok(elements)
    }

    pub(crate) fn hello(&self) -> Result<Hello, Reading> {
        let version: u64 = self.field("protocol")?;
        if version != crate::PROTOCOL {
            return Err(Reading::Version(version));
        }
        Ok(Hello {
            name: self.field("name")?,
            can: self.optional("can")?.unwrap_or_default(),
            cache: self.optional("cache")?,
            batch: self.optional("batch")?,
        })
    }

    pub(crate) fn configs(&self) -> Result<Vec<Place>, String> {
        places(self.field("configs")?)
    }

    pub(crate) fn actions(&self, count: usize) -> Result<Vec<Vec<String>>, String> {
        let actions: Vec<Vec<&RawValue>> = self.each("actions", count)?;
        actions.into_iter().map(|actions| actions.into_iter().map(text).collect()).collect()
    }

    pub(crate) fn targets(&self, count: usize) -> Result<Vec<Vec<Place>>, String> {
        self.each("targets", count)?.into_iter().map(places).collect()
    }

    pub(crate) fn steps(&self, count: usize) -> Result<Vec<Vec<(String, Place)>>, String> {
        let steps: Vec<Vec<(&RawValue, &RawValue)>> = self.each("steps", count)?;
        let step = |(action, target)| Ok((text(action)?, place(target)?));
        steps.into_iter().map(|steps| steps.into_iter().map(step).collect()).collect()
    }

    /// The values of an expression: true, false, or the words why there is none.
    pub(crate) fn values(&self, count: usize) -> Result<Vec<Result<bool, String>>, String> {
        let values: Vec<&RawValue> = self.each("values", count)?;
        let value = |value: &RawValue| match value.get() {
            "true" => Ok(Ok(true)),
            "false" => Ok(Ok(false)),
            text => labelled(text, "error").map(Err),
        };
        values.into_iter().map(value).collect()
    }

    pub(crate) fn accepting(&self, count: usize) -> Result<Vec<bool>, String> {
        self.each("accepting", count)
    }

    /// The named parts of configurations.
    pub(crate) fn fields(&self, count: usize) -> Result<Vec<Vec<(String, String)>>, String> {
        self.each("configs", count)
    }

    /// Actions in words.
    pub(crate) fn phrases(&self, count: usize) -> Result<Vec<String>, String> {
        self.each("actions", count)
    }
}

fn text(value: &RawValue) -> Result<String, String> {
    let mut out = String::with_capacity(value.get().len());
    append(value, 0, &mut out)?;
    Ok(out)
}

fn places(values: Vec<&RawValue>) -> Result<Vec<Place>, String> {
    values.into_iter().map(place).collect()
}

fn place(value: &RawValue) -> Result<Place, String> {
    let written = value.get();
    match written.as_bytes().first() {
        Some(b'[') => match *serde_json::from_str::<Vec<&RawValue>>(written).map_err(words)? {
            [value] => text(value).map(Place::Value),
            _ => Err(format!(
                "a configuration by value is an array of one element, and not `{}`",
                brief(written)
            )),
        },
        Some(b'{') => labelled(written, "fault").map(Place::Fault),
        _ => serde_json::from_str(written).map(Place::Number).map_err(|_| {
            format!("a configuration is a number, or an array of one element, and not `{}`", brief(written))
        }),
    }
}

/// The text in an object that has it as its field `label`.
fn labelled(written: &str, label: &str) -> Result<String, String> {
    let mut fields: BTreeMap<String, String> = serde_json::from_str(written).unwrap_or_default();
    fields
        .remove(label)
        .ok_or_else(|| format!("`{}` stands where only {{\"{label}\":\"…\"}} may", brief(written)))
}

fn brief(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(line: &[u8]) -> [Result<(), Reason>; 8] {
        fn ask<T>(line: &[u8], by: impl Fn(&Answer<'_>) -> Result<T, String>) -> Result<(), Reason> {
            read(line, 1, |answer| by(answer).map(|_| ()).map_err(Reading::from))
        }
        [
            read(line, 1, |answer| answer.hello().map(|_| ())),
            ask(line, |answer| answer.configs()),
            ask(line, |answer| answer.actions(1)),
            ask(line, |answer| answer.targets(1)),
            ask(line, |answer| answer.steps(1)),
            ask(line, |answer| answer.values(1)),
            ask(line, |answer| answer.fields(1)),
            ask(line, |answer| answer.accepting(1)),
        ]
    }

    const ANSWERS: [&str; 8] = [
        r#"{"id":1,"protocol":1,"name":"lamp","can":["steps"],"cache":9,"batch":7}"#,
        r#"{"id":1,"configs":[0,[{"on":true}],{"fault":"broken"}]}"#,
        r#"{"id":1,"actions":[["press",{"floor":2}]]}"#,
        r#"{"id":1,"targets":[[0,["x"]]]}"#,
        r#"{"id":1,"steps":[[["press",[7]],[1,2]]]}"#,
        r#"{"id":1,"values":[{"error":"no such name"}]}"#,
        r#"{"id":1,"configs":[[["x","1"],["y","2"]]]}"#,
        r#"{"id":1,"accepting":[true]}"#,
    ];

    #[test]
    fn answers_are_read() {
        for (at, answer) in ANSWERS.iter().enumerate() {
            assert_eq!(all(answer.as_bytes())[at], Ok(()), "{answer}");
        }
        let steps = read(ANSWERS[4].as_bytes(), 1, |answer| Ok(answer.steps(1)?)).unwrap();
        assert_eq!(steps, [[("\"press\"".into(), Place::Value("7".into())), ("1".into(), Place::Number(2))]]);
    }

    #[test]
    fn mistakes_are_named() {
        let told = |line: &[u8], at: usize| format!("{:?}", all(line)[at].clone().unwrap_err());
        assert!(told(b"hello", 0).contains("expected"));
        assert!(told(b"\xff\xfe", 0).contains("not UTF-8"));
        assert!(told(br#"{"id":1}"#, 1).contains("`configs` is missing"));
        assert!(told(br#"{"id":1,"steps":[]}"#, 4).contains("must have 1 elements, and has 0"));
        assert!(told(br#"{"id":1,"configs":[[1,2]]}"#, 1).contains("array of one element"));
        assert!(told(br#"{"id":1,"configs":[-1]}"#, 1).contains("and not `-1`"));
        assert!(told(br#"{"id":1,"values":["yes"]}"#, 5).contains("error"));
        assert_eq!(all(br#"{"id":2}"#)[0], Err(Reason::Misplaced { asked: 1, answered: 2 }));
        assert_eq!(all(br#"{"id":1,"error":"why"}"#)[0], Err(Reason::Refused("why".into())));
        assert_eq!(all(br#"{"id":1,"protocol":2}"#)[0], Err(Reason::Version(2)));
    }

    const SIGNS: &[u8] = br#"[]{}",:0123456789-.e"#;

    proptest! {
        #[test]
        fn any_bytes_are_an_answer_or_an_error(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = all(&line);
        }

        /// Answers that are nearly right: a few bytes changed, left out, or doubled.
        #[test]
        fn damaged_answers_are_an_answer_or_an_error(
            which in 0..ANSWERS.len(),
            damage in prop::collection::vec((any::<prop::sample::Index>(), 0..3, any::<u8>()), 1..6),
        ) {
            let mut line = ANSWERS[which].as_bytes().to_vec();
            for (place, kind, byte) in damage {
                let at = place.index(line.len());
                match kind {
                    0 => line[at] = SIGNS[usize::from(byte) % SIGNS.len()],
                    1 if line.len() > 1 => drop(line.remove(at)),
                    _ => line.insert(at, line[at]),
                }
            }
            let _ = all(&line);
        }
    }
}
