//! Parsing of replies. Stateless: every line gives a value or an error.

use crate::error::RemoteErrorKind;
use crate::json::{append_canonical, json_error};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// A reply whose fields are not parsed yet.
pub(crate) struct Reply<'a> {
    fields: BTreeMap<String, &'a RawValue>,
}

/// A configuration in a reply.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ConfigRef {
    /// The number of a configuration known to both sides.
    Number(u64),
    /// The canonical JSON text of a configuration.
    Value(String),
    /// No configuration: the reason of a fault.
    Fault(String),
}

/// The reply to `hello`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hello {
    pub name: String,
    /// The optional requests that the program answers; `can` in the reply.
    pub optional_requests: Vec<String>,
    pub cache: Option<u64>,
    pub batch: Option<usize>,
}

/// Number of bytes of a malformed reply that are shown.
const MAX_SHOWN: usize = 60;

fn malformed(why: String, line: &[u8]) -> RemoteErrorKind {
    let start = String::from_utf8_lossy(&line[..line.len().min(MAX_SHOWN)]);
    let ellipsis = if line.len() > MAX_SHOWN { "…" } else { "" };
    RemoteErrorKind::Malformed(why, format!("{}{ellipsis}", start.escape_debug()))
}

/// Checks a reply to the request with id `expected`, and parses it with `read`.
pub(crate) fn read<T>(
    line: &[u8],
    expected: u64,
    read: impl FnOnce(&Reply<'_>) -> Result<T, ReplyError>,
) -> Result<T, RemoteErrorKind> {
    let text = std::str::from_utf8(line).map_err(|error| {
        malformed(format!("it is not UTF-8 from byte {} on", error.valid_up_to() + 1), line)
    })?;
    let fields = serde_json::from_str(text).map_err(|error| malformed(json_error(error), line))?;
    let reply = Reply { fields };
    let received: u64 = reply.field("id").map_err(|why| malformed(why, line))?;
    if received != expected {
        return Err(RemoteErrorKind::WrongId { expected, received });
    }
    if reply.fields.contains_key("error") {
        return Err(RemoteErrorKind::ErrorReply(reply.field("error").map_err(|why| malformed(why, line))?));
    }
    read(&reply).map_err(|error| match error {
        ReplyError::Malformed(why) => malformed(why, line),
        ReplyError::Version(version) => RemoteErrorKind::VersionMismatch(version),
    })
}

/// Why a well-formed reply has the wrong contents.
pub(crate) enum ReplyError {
    Malformed(String),
    Version(u64),
}

impl From<String> for ReplyError {
    fn from(why: String) -> ReplyError {
        ReplyError::Malformed(why)
    }
}

impl<'a> Reply<'a> {
    fn field<T: serde::Deserialize<'a>>(&self, name: &str) -> Result<T, String> {
        let field = self.fields.get(name).ok_or_else(|| format!("the field `{name}` is missing"))?;
        serde_json::from_str(field.get())
            .map_err(|error| format!("in the field `{name}`: {}", json_error(error)))
    }

    fn optional<T: serde::Deserialize<'a>>(&self, name: &str) -> Result<Option<T>, String> {
        if self.fields.contains_key(name) { self.field(name) } else { Ok(None) }
    }

    /// A field with one element for each of the `count` requested items.
    fn each<T: serde::Deserialize<'a>>(&self, name: &str, count: usize) -> Result<Vec<T>, String> {
        let elements: Vec<T> = self.field(name)?;
        if elements.len() != count {
            return Err(format!("the field `{name}` must have {count} elements, but has {}", elements.len()));
        }
        Ok(elements)
    }

    pub(crate) fn hello(&self) -> Result<Hello, ReplyError> {
        let version: u64 = self.field("protocol")?;
        if version != crate::PROTOCOL {
            return Err(ReplyError::Version(version));
        }
        Ok(Hello {
            name: self.field("name")?,
            optional_requests: self.optional("can")?.unwrap_or_default(),
            cache: self.optional("cache")?,
            batch: self.optional("batch")?,
        })
    }

    pub(crate) fn configs(&self) -> Result<Vec<ConfigRef>, String> {
        config_refs(self.field("configs")?)
    }

    pub(crate) fn actions(&self, count: usize) -> Result<Vec<Vec<String>>, String> {
        let actions: Vec<Vec<&RawValue>> = self.each("actions", count)?;
        actions.into_iter().map(|actions| actions.into_iter().map(text).collect()).collect()
    }

    pub(crate) fn targets(&self, count: usize) -> Result<Vec<Vec<ConfigRef>>, String> {
        self.each("targets", count)?.into_iter().map(config_refs).collect()
    }

    pub(crate) fn steps(&self, count: usize) -> Result<Vec<Vec<(String, ConfigRef)>>, String> {
        let steps: Vec<Vec<(&RawValue, &RawValue)>> = self.each("steps", count)?;
        let step = |(action, target)| Ok((text(action)?, config_ref(target)?));
        steps.into_iter().map(|steps| steps.into_iter().map(step).collect()).collect()
    }

    /// The values of an expression: true, false, or the reason why there is none.
    pub(crate) fn values(&self, count: usize) -> Result<Vec<Result<bool, String>>, String> {
        let values: Vec<&RawValue> = self.each("values", count)?;
        let value = |value: &RawValue| match value.get() {
            "true" => Ok(Ok(true)),
            "false" => Ok(Ok(false)),
            text => labelled_text(text, "error").map(Err),
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

    /// Descriptions of actions.
    pub(crate) fn action_texts(&self, count: usize) -> Result<Vec<String>, String> {
        self.each("actions", count)
    }
}

fn text(value: &RawValue) -> Result<String, String> {
    let mut out = String::with_capacity(value.get().len());
    append_canonical(value, 0, &mut out)?;
    Ok(out)
}

fn config_refs(values: Vec<&RawValue>) -> Result<Vec<ConfigRef>, String> {
    values.into_iter().map(config_ref).collect()
}

fn config_ref(value: &RawValue) -> Result<ConfigRef, String> {
    let json = value.get();
    match json.as_bytes().first() {
        Some(b'[') => match *serde_json::from_str::<Vec<&RawValue>>(json).map_err(json_error)? {
            [value] => text(value).map(ConfigRef::Value),
            _ => {
                Err(format!("a configuration by value is an array of one element, not `{}`", shortened(json)))
            }
        },
        Some(b'{') => labelled_text(json, "fault").map(ConfigRef::Fault),
        _ => serde_json::from_str(json).map(ConfigRef::Number).map_err(|_| {
            format!("a configuration is a number or an array of one element, not `{}`", shortened(json))
        }),
    }
}

/// The text in an object whose only field is `label`.
fn labelled_text(json: &str, label: &str) -> Result<String, String> {
    let mut fields: BTreeMap<String, String> = serde_json::from_str(json).unwrap_or_default();
    fields.remove(label).ok_or_else(|| format!("expected {{\"{label}\":\"…\"}}, found `{}`", shortened(json)))
}

fn shortened(text: &str) -> String {
    text.chars().take(MAX_SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(line: &[u8]) -> [Result<(), RemoteErrorKind>; 8] {
        fn ask<T>(line: &[u8], by: impl Fn(&Reply<'_>) -> Result<T, String>) -> Result<(), RemoteErrorKind> {
            read(line, 1, |reply| by(reply).map(|_| ()).map_err(ReplyError::from))
        }
        [
            read(line, 1, |reply| reply.hello().map(|_| ())),
            ask(line, |reply| reply.configs()),
            ask(line, |reply| reply.actions(1)),
            ask(line, |reply| reply.targets(1)),
            ask(line, |reply| reply.steps(1)),
            ask(line, |reply| reply.values(1)),
            ask(line, |reply| reply.fields(1)),
            ask(line, |reply| reply.accepting(1)),
        ]
    }

    const REPLIES: [&str; 8] = [
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
    fn replies_are_parsed() {
        for (at, reply) in REPLIES.iter().enumerate() {
            assert_eq!(all(reply.as_bytes())[at], Ok(()), "{reply}");
        }
        let steps = read(REPLIES[4].as_bytes(), 1, |reply| Ok(reply.steps(1)?)).unwrap();
        assert_eq!(
            steps,
            [[("\"press\"".into(), ConfigRef::Value("7".into())), ("1".into(), ConfigRef::Number(2))]]
        );
    }

    #[test]
    fn malformed_replies_are_explained() {
        let reported = |line: &[u8], at: usize| format!("{:?}", all(line)[at].clone().unwrap_err());
        assert!(reported(b"hello", 0).contains("expected"));
        assert!(reported(b"\xff\xfe", 0).contains("not UTF-8"));
        assert!(reported(br#"{"id":1}"#, 1).contains("`configs` is missing"));
        assert!(reported(br#"{"id":1,"steps":[]}"#, 4).contains("must have 1 elements, but has 0"));
        assert!(reported(br#"{"id":1,"configs":[[1,2]]}"#, 1).contains("array of one element"));
        assert!(reported(br#"{"id":1,"configs":[-1]}"#, 1).contains("not `-1`"));
        assert!(reported(br#"{"id":1,"values":["yes"]}"#, 5).contains("error"));
        assert_eq!(all(br#"{"id":2}"#)[0], Err(RemoteErrorKind::WrongId { expected: 1, received: 2 }));
        assert_eq!(all(br#"{"id":1,"error":"why"}"#)[0], Err(RemoteErrorKind::ErrorReply("why".into())));
        assert_eq!(all(br#"{"id":1,"protocol":2}"#)[0], Err(RemoteErrorKind::VersionMismatch(2)));
    }

    const SIGNS: &[u8] = br#"[]{}",:0123456789-.e"#;

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = all(&line);
        }

        /// Replies with a few bytes changed, removed or duplicated.
        #[test]
        fn damaged_replies_never_panic(
            which in 0..REPLIES.len(),
            damage in prop::collection::vec((any::<prop::sample::Index>(), 0..3, any::<u8>()), 1..6),
        ) {
            let mut line = REPLIES[which].as_bytes().to_vec();
            for (index, kind, byte) in damage {
                let at = index.index(line.len());
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
