//! Events: what happens in a subject, as the monitors see it.
//!
//! The properties of a session agree on one [`Catalog`]: every event that some property mentions, with every
//! parameter that some property reads. A subject asks the catalog what to extract; an [`Event`] then carries
//! the number of its [`Symbol`] and just those parameters, in the symbol's order. Nothing is looked up by
//! name while events flow.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use invigil_expr::value::{SHORT_STRING, Value};

/// At which moment of what kind of action an event happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A function is about to run; also every event of a trace that says nothing else.
    Before,
    /// A function is about to return.
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
    /// Time passed.
    Tick,
}

impl Kind {
    /// All kinds, with the word for each in traces.
    pub const WORDS: [(Kind, &'static str); 11] = [
        (Kind::Before, "before"),
        (Kind::After, "after"),
        (Kind::Read, "read"),
        (Kind::Write, "write"),
        (Kind::Access, "access"),
        (Kind::BeforeRead, "before-read"),
        (Kind::BeforeWrite, "before-write"),
        (Kind::BeforeAccess, "before-access"),
        (Kind::Join, "join"),
        (Kind::Leave, "leave"),
        (Kind::Tick, "tick"),
    ];

    /// The kind that a trace calls `word`.
    ///
    /// ```
    /// use invigil_monitor::event::Kind;
    /// assert_eq!(Kind::from_word("after"), Some(Kind::After));
    /// ```
    pub fn from_word(word: &str) -> Option<Kind> {
        Kind::WORDS.iter().find(|(_, w)| *w == word).map(|(kind, _)| *kind)
    }

    /// The word for this kind in traces.
    pub fn word(self) -> &'static str {
        Kind::WORDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }

    /// The kind of an event whose record gives none: `#join`, `#leave` and `#tick` are their own kinds,
    /// everything else is [`Kind::Before`].
    pub fn implied_by(name: &str) -> Kind {
        match name {
            "#join" => Kind::Join,
            "#leave" => Kind::Leave,
            "#tick" => Kind::Tick,
            _ => Kind::Before,
        }
    }
}

/// The event that a record of a trace stands for which names none: it shows a state of the subject. Its
/// parameters are fields of the record.
pub const STATE: &str = "#state";

/// The event that every event of a trace is besides what its name says. Its parameters are fields of the
/// record, of which `event` is the name.
pub const ANY: &str = "#any";

/// Where the value of a parameter comes from.
///
/// Displayed as it is written in a property: `queue`, `arg 1`, `*p`, `#thread`. A trace may use that text, or
/// the parameter's name in the property, as the name of the field.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// A variable, argument or field of that name.
    Name(String),
    /// The argument at this position, counted from one.
    Arg(u32),
    /// The value that a function returns, or that an access reads or writes.
    Ret,
    /// What a pointer points to.
    Deref(Box<Source>),
    /// The address of a variable.
    Address(Box<Source>),
    /// The same in the caller's frame.
    Outer(Box<Source>),
    /// The program that the event happened in (`#ecid` or `#program`).
    Program,
    /// The thread that the event happened in (`#thread`).
    Thread,
    /// The time of the event (`#time`).
    Time,
    /// An expression of the program's language, such as `q->size`; a property has it in quotes.
    Expression(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Name(name) => f.write_str(name),
            Source::Arg(i) => write!(f, "arg {i}"),
            Source::Ret => f.write_str("ret"),
            Source::Deref(of) => write!(f, "*{of}"),
            Source::Address(of) => write!(f, "&{of}"),
            Source::Outer(of) => write!(f, "^{of}"),
            Source::Program => f.write_str("#program"),
            Source::Thread => f.write_str("#thread"),
            Source::Time => f.write_str("#time"),
            Source::Expression(words) => f.write_str(words),
        }
    }
}

/// The type that a property demands of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// An integer, a pointer or an address.
    Int,
    /// A number with a fraction; integers are converted.
    Float,
    /// `true` or `false`.
    Bool,
    /// Text.
    Str,
}

impl Type {
    /// All types, with the words a property may use for each.
    pub const WORDS: [(Type, &'static [&'static str]); 4] = [
        (Type::Int, &["int", "long", "pointer", "ptr"]),
        (Type::Float, &["float", "double"]),
        (Type::Bool, &["bool", "boolean"]),
        (Type::Str, &["str", "string", "char"]),
    ];

    /// The type that a property calls `word`.
    ///
    /// ```
    /// use invigil_monitor::event::Type;
    /// assert_eq!(Type::from_word("int"), Some(Type::Int));
    /// ```
    pub fn from_word(word: &str) -> Option<Type> {
        Type::WORDS.iter().find(|(_, words)| words.contains(&word)).map(|(ty, _)| *ty)
    }

    /// The usual word for this type.
    pub fn word(self) -> &'static str {
        Type::WORDS.iter().find(|(ty, _)| *ty == self).map_or("", |(_, words)| words[0])
    }
}

/// A parameter of an event, as the subject must provide it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Param {
    /// Where its value comes from.
    pub source: Source,
    /// The name that the property gives it.
    pub name: String,
    /// What the value must be, if the property says.
    pub ty: Option<Type>,
}

impl Param {
    /// The names under which a record may carry this parameter, the first found wins: the reserved field
    /// that the source stands for, the source as it is written in the property, the parameter's own name.
    ///
    /// ```
    /// use invigil_monitor::event::{Param, Source};
    /// let first = Param { source: Source::Arg(1), name: "q".into(), ty: None };
    /// assert_eq!(first.fields(), ["arg 1", "q"]);
    /// let thread = Param { source: Source::Thread, name: "t".into(), ty: None };
    /// assert_eq!(thread.fields(), ["thread"]);
    /// ```
    pub fn fields(&self) -> Vec<String> {
        let reserved = match self.source {
            Source::Program => "program",
            Source::Thread => "thread",
            Source::Time => "time",
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

/// An event that some property mentions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The function, variable or event name.
    pub name: String,
    /// The moment.
    pub kind: Kind,
    /// What must be extracted, in the order in which an [`Event`] carries it.
    pub params: Vec<Param>,
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Before | Kind::Join | Kind::Leave | Kind::Tick => f.write_str(&self.name),
            kind => write!(f, "{} {}", kind.word(), self.name),
        }
    }
}

/// A [`Symbol`] by its position in the [`Catalog`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SymbolId(pub u32);

/// Every event and parameter that the properties of a session mention.
///
/// ```
/// use invigil_monitor::event::{Catalog, Kind, Param, Source};
/// let mut catalog = Catalog::default();
/// let push = catalog.symbol("queue_push", Kind::Before);
/// let queue = Param { source: Source::Name("queue".into()), name: "queue".into(), ty: None };
/// assert_eq!(catalog.param(push, &queue), 0);
/// assert_eq!(catalog.param(push, &queue), 0, "asking twice changes nothing");
/// assert_eq!(catalog.symbol("queue_push", Kind::Before), push);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    symbols: Vec<Symbol>,
}

impl Catalog {
    /// The symbol for this event, added if it is new.
    pub fn symbol(&mut self, name: &str, kind: Kind) -> SymbolId {
        self.find(name, kind).unwrap_or_else(|| {
            self.symbols.push(Symbol { name: name.to_owned(), kind, params: Vec::new() });
            SymbolId(self.symbols.len() as u32 - 1)
        })
    }

    /// The symbol for this event, if some property mentions it.
    pub fn find(&self, name: &str, kind: Kind) -> Option<SymbolId> {
        let at = self.symbols.iter().position(|s| s.kind == kind && s.name == name)?;
        Some(SymbolId(at as u32))
    }

    /// The position of `param` among those of `symbol`, added if it is new. Two properties that take the
    /// same value under different names share one position only if the names agree too, because a trace may
    /// spell the field either way.
    pub fn param(&mut self, symbol: SymbolId, param: &Param) -> usize {
        let params = &mut self.symbols[symbol.0 as usize].params;
        params.iter().position(|p| p == param).unwrap_or_else(|| {
            params.push(param.clone());
            params.len() - 1
        })
    }

    /// The symbol with this number.
    pub fn get(&self, id: SymbolId) -> Option<&Symbol> {
        self.symbols.get(id.0 as usize)
    }

    /// All symbols with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (SymbolId, &Symbol)> {
        self.symbols.iter().enumerate().map(|(i, symbol)| (SymbolId(i as u32), symbol))
    }

    /// How many symbols there are.
    pub fn len(&self) -> usize {
        self.symbols.len()
    }

    /// Whether no property mentions any event.
    pub fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }
}

/// One thing that happened.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// What.
    pub symbol: SymbolId,
    /// The values of the symbol's parameters, in its order; [`Value::UNSET`] for one that the subject could
    /// not provide.
    pub params: &'a [Value],
    /// The text in which string parameters that are too long for a [`Value`] lie.
    pub text: &'a str,
}

/// What a subject tells of an event besides its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Stamp {
    /// When, in seconds; NaN if the subject has no clock.
    pub time: f64,
    /// The line of the record in its file, counted from zero in its batch.
    pub line: u32,
}

/// A run of events in memory, in the order they happened: the form in which a recorded trace reaches the
/// monitors, a block of lines at a time.
///
/// ```
/// use invigil_expr::value::{SHORT_STRING, Value};
/// use invigil_monitor::event::{Batch, Catalog, Kind, Stamp};
/// let mut catalog = Catalog::default();
/// let pop = catalog.symbol("queue_pop", Kind::Before);
/// let mut batch = Batch::default();
/// batch.push(pop, &[Value::int(7)], Stamp { time: 0.5, line: 0 });
/// assert_eq!(batch.len(), 1);
/// assert_eq!(batch.event(0).params[0].as_int(), Some(7));
/// ```
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Batch {
    heads: Vec<Head>,
    params: Vec<Value>,
    /// The text that [`Value::text`] parameters point into.
    pub text: String,
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Head {
    symbol: SymbolId,
    params: u32,
    stamp: Stamp,
}

impl Batch {
    /// Appends an event.
    #[inline]
    pub fn push(&mut self, symbol: SymbolId, params: &[Value], stamp: Stamp) {
        self.heads.push(Head { symbol, params: self.params.len() as u32, stamp });
        self.params.extend_from_slice(params);
    }

    /// Whether it is one that was made here: parts of it that came from elsewhere may point nowhere.
    pub fn is_sound(&self) -> bool {
        let ends = self.heads.iter().skip(1).map(|head| head.params).chain([self.params.len() as u32]);
        let in_order = self
            .heads
            .iter()
            .zip(ends)
            .all(|(head, end)| head.params <= end && end as usize <= self.params.len());
        let is_there = |value: &Value| match value.as_text() {
            Some((start, length)) => {
                let (start, length) = (start as usize, length as usize);
                length > SHORT_STRING && self.text.get(start..start.saturating_add(length)).is_some()
            }
            None => value.is_inline(),
        };
        in_order && self.params.iter().all(is_there)
    }

    /// Appends an event whose parameters are integers.
    #[inline]
    pub fn push_integers(&mut self, symbol: SymbolId, params: &[i64], stamp: Stamp) {
        self.heads.push(Head { symbol, params: self.params.len() as u32, stamp });
        self.params.extend(params.iter().map(|param| Value::int(*param)));
    }

    /// How many events there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// The event at position `at`.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn event(&self, at: usize) -> Event<'_> {
        let head = self.heads[at];
        let end = self.heads.get(at + 1).map_or(self.params.len(), |next| next.params as usize);
        Event { symbol: head.symbol, params: &self.params[head.params as usize..end], text: &self.text }
    }

    /// When and where the event at position `at` was recorded.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn stamp(&self, at: usize) -> Stamp {
        self.heads[at].stamp
    }

    /// Appends a copy of an event of another batch, with its text.
    pub fn push_copy(&mut self, event: &Event<'_>, stamp: Stamp) {
        self.heads.push(Head { symbol: event.symbol, params: self.params.len() as u32, stamp });
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

    /// Keeps the first `len` events only.
    pub fn truncate(&mut self, len: usize) {
        if let Some(first) = self.heads.get(len) {
            self.params.truncate(first.params as usize);
            self.heads.truncate(len);
        }
    }

    /// Empties the batch, keeping its memory.
    pub fn clear(&mut self) {
        self.heads.clear();
        self.params.clear();
        self.text.clear();
    }
}

/// A set of symbols: the events that a monitor needs in its present state.
///
/// ```
/// use invigil_monitor::event::{EventSet, SymbolId};
/// let mut needs = EventSet::default();
/// needs.insert(SymbolId(70));
/// assert!(needs.contains(SymbolId(70)) && !needs.contains(SymbolId(6)));
/// assert_eq!(needs.iter().collect::<Vec<_>>(), [SymbolId(70)]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EventSet {
    words: Vec<u64>,
}

impl EventSet {
    /// Adds a symbol.
    pub fn insert(&mut self, id: SymbolId) {
        let word = id.0 as usize / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (id.0 % 64);
    }

    /// Whether a symbol is in the set.
    #[inline]
    pub fn contains(&self, id: SymbolId) -> bool {
        self.words.get(id.0 as usize / 64).is_some_and(|word| word & 1 << (id.0 % 64) != 0)
    }

    /// Empties the set, keeping its memory.
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

    /// The symbols in the set, in order.
    pub fn iter(&self) -> impl Iterator<Item = SymbolId> {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            (0..64).filter(move |bit| word & 1 << bit != 0).map(move |bit| SymbolId(at as u32 * 64 + bit))
        })
    }
}
