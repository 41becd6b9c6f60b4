//! Events of a subject, as monitors receive them.
//!
//! The properties of a session share one [`EventCatalog`]: all events that some property mentions, with all
//! parameters that some property reads. A subject extracts what the catalog declares. An [`Event`] carries the
//! id of its [`EventDecl`] and the declared parameters in order, so that no name is looked up at run time.

use crate::predefined_event::PredefinedEvent;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use invigil_expr::value::{SHORT_STRING, Value};

/// Kind of an event: what happens, and at which moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EventKind {
    /// A function is called, a line is reached, a system call is made, or a signal arrives. Also the kind of events of
    /// a trace that specify none.
    Before,
    /// A function returns.
    After,
    /// A variable was read.
    Read,
    /// A variable was written.
    Write,
    /// A variable was read or written.
    Access,
    /// A variable is about to be read.
    BeforeRead,
    /// A variable is about to be written.
    BeforeWrite,
    /// A variable is about to be read or written.
    BeforeAccess,
    /// A program joined the session.
    Join,
    /// A program left the session.
    Leave,
    /// A unit of time passed.
    Tick,
}

impl EventKind {
    /// All kinds, with their words in traces.
    pub const WORDS: [(EventKind, &'static str); 11] = [
        (EventKind::Before, "before"),
        (EventKind::After, "after"),
        (EventKind::Read, "read"),
        (EventKind::Write, "write"),
        (EventKind::Access, "access"),
        (EventKind::BeforeRead, "before-read"),
        (EventKind::BeforeWrite, "before-write"),
        (EventKind::BeforeAccess, "before-access"),
        (EventKind::Join, "join"),
        (EventKind::Leave, "leave"),
        (EventKind::Tick, "tick"),
    ];

    /// The kind with this word in traces.
    ///
    /// ```
    /// use invigil_monitor::event::EventKind;
    /// assert_eq!(EventKind::from_word("after"), Some(EventKind::After));
    /// ```
    pub fn from_word(word: &str) -> Option<EventKind> {
        EventKind::WORDS.iter().find(|(_, w)| *w == word).map(|(kind, _)| *kind)
    }

    /// The word for this kind in traces.
    pub fn word(self) -> &'static str {
        EventKind::WORDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }

    /// The kind of an event of a trace that specifies none.
    ///
    /// `#join`, `#leave` and `#tick` have their own kinds; all other events are [`EventKind::Before`].
    pub fn implied_by(name: &str) -> EventKind {
        match PredefinedEvent::from_name(name) {
            Some(PredefinedEvent::Join) => EventKind::Join,
            Some(PredefinedEvent::Leave) => EventKind::Leave,
            Some(PredefinedEvent::Tick) => EventKind::Tick,
            Some(
                PredefinedEvent::Signal
                | PredefinedEvent::Fork
                | PredefinedEvent::Exec
                | PredefinedEvent::Exit
                | PredefinedEvent::Thread
                | PredefinedEvent::ThreadExit,
            )
            | None => EventKind::Before,
        }
    }
}

/// The event of a record of a trace that names none: a state of the subject. Its parameters are fields of the
/// record.
pub const STATE_EVENT: &str = "#state";

/// The event that stands for every event of a trace. Its parameters are fields of the record, including
/// `event`, the name.
pub const ANY_EVENT: &str = "#any";

/// Source of a parameter.
///
/// Displayed as in a property: `queue`, `arg 1`, `*p`, `#thread`. The field of a trace has this name, or that
/// of the parameter in the property.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ParamSource {
    /// A variable, argument or field with this name.
    Name(String),
    /// The argument at this position, from one.
    Arg(u32),
    /// The value that a function returns or that an access reads or writes.
    Ret,
    /// The value that a pointer points to.
    Deref(Box<ParamSource>),
    /// The address of a variable.
    Address(Box<ParamSource>),
    /// A source in the frame of the caller.
    InCaller(Box<ParamSource>),
    /// The program in which the event occurred (`#ecid` or `#program`).
    Program,
    /// The thread in which the event occurred (`#thread`).
    Thread,
    /// The time of the event (`#time`).
    Time,
    /// An expression of the target's language, such as `q->size`; quoted in a property.
    Expression(String),
}

impl fmt::Display for ParamSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamSource::Name(name) => f.write_str(name),
            ParamSource::Arg(i) => write!(f, "arg {i}"),
            ParamSource::Ret => f.write_str("ret"),
            ParamSource::Deref(of) => write!(f, "*{of}"),
            ParamSource::Address(of) => write!(f, "&{of}"),
            ParamSource::InCaller(of) => write!(f, "^{of}"),
            ParamSource::Program => f.write_str("#program"),
            ParamSource::Thread => f.write_str("#thread"),
            ParamSource::Time => f.write_str("#time"),
            ParamSource::Expression(words) => f.write_str(words),
        }
    }
}

/// Type that a property requires of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParamType {
    /// An integer, a pointer or an address.
    Int,
    /// A floating-point number; integers are converted.
    Float,
    /// `true` or `false`.
    Bool,
    /// Text.
    Str,
}

impl ParamType {
    /// All types, with the words for them in properties.
    pub const WORDS: [(ParamType, &'static [&'static str]); 4] = [
        (ParamType::Int, &["int", "long", "pointer", "ptr"]),
        (ParamType::Float, &["float", "double"]),
        (ParamType::Bool, &["bool", "boolean"]),
        (ParamType::Str, &["str", "string", "char"]),
    ];

    /// The type with this word in properties.
    ///
    /// ```
    /// use invigil_monitor::event::ParamType;
    /// assert_eq!(ParamType::from_word("int"), Some(ParamType::Int));
    /// ```
    pub fn from_word(word: &str) -> Option<ParamType> {
        ParamType::WORDS.iter().find(|(_, words)| words.contains(&word)).map(|(ty, _)| *ty)
    }

    /// The preferred word.
    pub fn word(self) -> &'static str {
        ParamType::WORDS.iter().find(|(ty, _)| *ty == self).map_or("", |(_, words)| words[0])
    }
}

/// Declaration of a parameter of an event.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Param {
    /// The source of its value.
    pub source: ParamSource,
    /// Its name in the property.
    pub name: String,
    /// The required type, if the property specifies one.
    pub ty: Option<ParamType>,
}

impl Param {
    /// The field names of this parameter in a record; the first one that exists is used.
    ///
    /// These are the reserved field of the source, or else the source as written in the property and the name
    /// of the parameter.
    ///
    /// ```
    /// use invigil_monitor::event::{Param, ParamSource};
    /// let first = Param { source: ParamSource::Arg(1), name: "q".into(), ty: None };
    /// assert_eq!(first.fields(), ["arg 1", "q"]);
    /// let thread = Param { source: ParamSource::Thread, name: "t".into(), ty: None };
    /// assert_eq!(thread.fields(), ["thread"]);
    /// ```
    pub fn fields(&self) -> Vec<String> {
        let reserved = match self.source {
            ParamSource::Program => "program",
            ParamSource::Thread => "thread",
            ParamSource::Time => "time",
            _ => {
                let mut names = alloc::vec![self.source.to_string()];
                if self.name != names[0] {
                    names.push(self.name.clone());
                }
                return names;
            }
        };
        alloc::vec![reserved.to_owned()]
    }
}

/// Declaration of an event that some property mentions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventDecl {
    /// The name of the function, variable or event.
    pub name: String,
    /// The kind.
    pub kind: EventKind,
    /// The parameters to extract, in the order of [`Event::params`].
    pub params: Vec<Param>,
}

impl fmt::Display for EventDecl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            EventKind::Before | EventKind::Join | EventKind::Leave | EventKind::Tick => {
                f.write_str(&self.name)
            }
            kind => write!(f, "{} {}", kind.word(), self.name),
        }
    }
}

/// Index of an [`EventDecl`] in the [`EventCatalog`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EventId(pub u32);

/// The declarations of all events and parameters of a session.
///
/// ```
/// use invigil_monitor::event::{EventCatalog, EventKind, Param, ParamSource};
/// let mut catalog = EventCatalog::default();
/// let push = catalog.declare("queue_push", EventKind::Before);
/// let queue = Param { source: ParamSource::Name("queue".into()), name: "queue".into(), ty: None };
/// assert_eq!(catalog.declare_param(push, &queue), 0);
/// assert_eq!(catalog.declare_param(push, &queue), 0, "the second declaration changes nothing");
/// assert_eq!(catalog.declare("queue_push", EventKind::Before), push);
/// ```
#[derive(Clone, Debug, Default)]
pub struct EventCatalog {
    decls: Vec<EventDecl>,
}

impl EventCatalog {
    /// Returns the id of an event; declares it if it is new.
    pub fn declare(&mut self, name: &str, kind: EventKind) -> EventId {
        self.find(name, kind).unwrap_or_else(|| {
            self.decls.push(EventDecl { name: name.to_owned(), kind, params: Vec::new() });
            EventId(self.decls.len() as u32 - 1)
        })
    }

    /// The id of an event, if it is declared.
    pub fn find(&self, name: &str, kind: EventKind) -> Option<EventId> {
        let at = self.decls.iter().position(|s| s.kind == kind && s.name == name)?;
        Some(EventId(at as u32))
    }

    /// Returns the index of a parameter of an event; declares it if it is new.
    ///
    /// Two properties that read the same value under different names get two parameters, because a trace may
    /// use either name for the field.
    pub fn declare_param(&mut self, event_id: EventId, param: &Param) -> usize {
        let params = &mut self.decls[event_id.0 as usize].params;
        params.iter().position(|p| p == param).unwrap_or_else(|| {
            params.push(param.clone());
            params.len() - 1
        })
    }

    /// The declaration with this id.
    pub fn get(&self, id: EventId) -> Option<&EventDecl> {
        self.decls.get(id.0 as usize)
    }

    /// All declarations with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (EventId, &EventDecl)> {
        self.decls.iter().enumerate().map(|(i, decl)| (EventId(i as u32), decl))
    }

    /// The number of declarations.
    pub fn len(&self) -> usize {
        self.decls.len()
    }

    /// Whether no event is declared.
    pub fn is_empty(&self) -> bool {
        self.decls.is_empty()
    }
}

/// An event.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// The declaration.
    pub id: EventId,
    /// The values of the declared parameters, in order; [`Value::UNSET`] if the subject could not provide one.
    pub params: &'a [Value],
    /// The text that long string parameters refer to.
    pub text: &'a str,
}

/// Metadata of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EventMeta {
    /// The time in seconds; NaN if the subject has no clock.
    pub time: f64,
    /// The line of the record in its file, relative to the start of its batch.
    pub line: u32,
}

/// A sequence of events in memory.
///
/// The recorded form of events: monitors receive traces in batches of several lines.
///
/// ```
/// use invigil_expr::value::{SHORT_STRING, Value};
/// use invigil_monitor::event::{EventBatch, EventCatalog, EventKind, EventMeta};
/// let mut catalog = EventCatalog::default();
/// let pop = catalog.declare("queue_pop", EventKind::Before);
/// let mut batch = EventBatch::default();
/// batch.push(pop, &[Value::int(7)], EventMeta { time: 0.5, line: 0 });
/// assert_eq!(batch.len(), 1);
/// assert_eq!(batch.event(0).params[0].as_int(), Some(7));
/// ```
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EventBatch {
    heads: Vec<Head>,
    params: Vec<Value>,
    /// The text that [`Value::text`] parameters refer to.
    pub text: String,
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Head {
    event_id: EventId,
    /// Index of its first parameter.
    first_param: u32,
    meta: EventMeta,
}

impl EventBatch {
    /// Appends an event.
    // Called for every event of a trace: a call that is not inlined costs 5 % of `check`.
    #[inline(always)]
    pub fn push(&mut self, event_id: EventId, params: &[Value], meta: EventMeta) {
        self.heads.push(Head { event_id, first_param: self.params.len() as u32, meta });
        self.params.extend_from_slice(params);
    }

    /// Appends an event with a fixed number of parameters, which are stored from registers.
    #[inline(always)]
    pub fn push_array<const N: usize>(&mut self, event_id: EventId, params: [Value; N], meta: EventMeta) {
        self.heads.push(Head { event_id, first_param: self.params.len() as u32, meta });
        self.params.extend(params);
    }

    /// Whether all references into the batch are valid. Must be checked for batches from another process.
    pub fn is_sound(&self) -> bool {
        let ends = self.heads.iter().skip(1).map(|head| head.first_param).chain([self.params.len() as u32]);
        let in_order = self
            .heads
            .iter()
            .zip(ends)
            .all(|(head, end)| head.first_param <= end && end as usize <= self.params.len());
        let is_valid = |value: &Value| match value.as_text() {
            Some((start, length)) => {
                let (start, length) = (start as usize, length as usize);
                length > SHORT_STRING && self.text.get(start..start.saturating_add(length)).is_some()
            }
            None => value.is_inline(),
        };
        in_order && self.params.iter().all(is_valid)
    }

    /// Appends an event with integer parameters.
    #[inline]
    pub fn push_ints(&mut self, event_id: EventId, params: &[i64], meta: EventMeta) {
        self.heads.push(Head { event_id, first_param: self.params.len() as u32, meta });
        self.params.extend(params.iter().map(|param| Value::int(*param)));
    }

    /// The number of events.
    #[inline]
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    /// Whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// The event at index `at`.
    ///
    /// # Panics
    /// If `at` is out of range.
    #[inline]
    pub fn event(&self, at: usize) -> Event<'_> {
        let head = self.heads[at];
        let end = self.heads.get(at + 1).map_or(self.params.len(), |next| next.first_param as usize);
        Event { id: head.event_id, params: &self.params[head.first_param as usize..end], text: &self.text }
    }

    /// The metadata of the event at index `at`.
    ///
    /// # Panics
    /// If `at` is out of range.
    #[inline]
    pub fn meta(&self, at: usize) -> EventMeta {
        self.heads[at].meta
    }

    /// Appends a copy of an event of another batch, including its text.
    pub fn push_copy(&mut self, event: &Event<'_>, meta: EventMeta) {
        self.heads.push(Head { event_id: event.id, first_param: self.params.len() as u32, meta });
        for value in event.params {
            let copied = match value.as_text() {
                Some((start, len)) => {
                    let part = start as usize..start as usize + len as usize;
                    let at = self.text.len() as u32;
                    self.text.push_str(event.text.get(part).unwrap_or(""));
                    Value::text(at, len)
                }
                None => *value,
            };
            self.params.push(copied);
        }
    }

    /// Removes all events after the first `len`.
    pub fn truncate(&mut self, len: usize) {
        if let Some(first) = self.heads.get(len) {
            self.params.truncate(first.first_param as usize);
            self.heads.truncate(len);
        }
    }

    /// Empties the batch; keeps its memory.
    pub fn clear(&mut self) {
        self.heads.clear();
        self.params.clear();
        self.text.clear();
    }
}

/// A set of events, such as the needed events of a monitor.
///
/// ```
/// use invigil_monitor::event::{EventSet, EventId};
/// let mut needs = EventSet::default();
/// needs.insert(EventId(70));
/// assert!(needs.contains(EventId(70)) && !needs.contains(EventId(6)));
/// assert_eq!(needs.iter().collect::<Vec<_>>(), [EventId(70)]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EventSet {
    words: Vec<u64>,
}

impl EventSet {
    /// Adds an event.
    pub fn insert(&mut self, id: EventId) {
        let word = id.0 as usize / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (id.0 % 64);
    }

    /// Whether the set contains an event.
    #[inline]
    pub fn contains(&self, id: EventId) -> bool {
        self.words.get(id.0 as usize / 64).is_some_and(|word| word & 1 << (id.0 % 64) != 0)
    }

    /// Empties the set; keeps its memory.
    pub fn clear(&mut self) {
        self.words.clear();
    }

    /// Adds all of `other`.
    pub fn union(&mut self, other: &EventSet) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    /// The events in the set, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = EventId> {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            (0..64).filter(move |bit| word & 1 << bit != 0).map(move |bit| EventId(at as u32 * 64 + bit))
        })
    }
}
