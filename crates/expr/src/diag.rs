//! Where something stands in the user's files, and what to say about it.
//!
//! Every front end reports through these types, so that one renderer can point into the file with a
//! caret, and a fault at run time can name the same place as an error at load.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

/// One of the files given to the tool, by its position in [`Sources`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SourceId(pub u32);

/// A range of bytes in one source.
///
/// ```
/// use invigil_expr::diag::{SourceId, Span};
/// let guard = Span::new(SourceId(0), 4, 9);
/// let update = Span::new(SourceId(0), 20, 25);
/// assert_eq!(guard.to(update), Span::new(SourceId(0), 4, 25));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Span {
    /// The source that `start` and `end` count in.
    pub source: SourceId,
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end` of `source`.
    pub fn new(source: SourceId, start: u32, end: u32) -> Span {
        Span { source, start, end }
    }

    /// The smallest span holding both `self` and `other`, which lie in one source.
    pub fn to(self, other: Span) -> Span {
        Span { source: self.source, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// How bad a [`Diagnostic`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth a look; the input is usable.
    Warning,
    /// The input cannot be used.
    Error,
}

/// One thing to tell the user about a place in a source.
///
/// ```
/// use invigil_expr::diag::{Diagnostic, SourceId, Span};
/// let d = Diagnostic::error(Span::new(SourceId(0), 10, 14), "there is no state `redy`")
///     .label("not a state of this property")
///     .help("did you mean `ready`?");
/// assert!(d.is_error());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// The headline.
    pub message: String,
    /// Where it is.
    pub span: Span,
    /// What stands at the caret.
    pub label: String,
    /// Other places that matter, each with its own words.
    pub related: Vec<(Span, String)>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            message: message.into(),
            span,
            label: String::new(),
            related: Vec::new(),
            help: None,
        }
    }

    /// A warning at `span`.
    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message) }
    }

    /// The words beside the caret.
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// The remedy.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Another place that matters, such as an earlier declaration.
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.related.push((span, label.into()));
        self
    }

    /// Whether this makes the input unusable.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// One source: the name the user knows it by, and its text.
#[derive(Clone, Debug)]
pub struct Source {
    /// A file name, or words such as `<command line>`.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// A line and a column, both counted from one; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

/// All the sources of one run of the tool.
///
/// ```
/// use invigil_expr::diag::{Sources, Span};
/// let mut sources = Sources::default();
/// let id = sources.add("queue.prop", "slice on queue\nstate init {}\n");
/// assert_eq!(sources.describe(Span::new(id, 15, 20)), "queue.prop:2:1");
/// assert_eq!(sources.text_of(Span::new(id, 15, 20)), "state");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<Source>,
}

impl Sources {
    /// Adds a source and returns the id that spans into it carry.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> SourceId {
        self.files.push(Source { name: name.into(), text: text.into() });
        SourceId(self.files.len() as u32 - 1)
    }

    /// The source with this id, if it is one of ours.
    pub fn get(&self, id: SourceId) -> Option<&Source> {
        self.files.get(id.0 as usize)
    }

    /// Line and column of the first byte of `span`.
    pub fn place(&self, span: Span) -> Option<Place> {
        let text = &self.get(span.source)?.text;
        let before = text.get(..span.start as usize)?;
        let line_start = before.rfind('\n').map_or(0, |n| n + 1);
        Some(Place {
            line: before.bytes().filter(|b| *b == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        })
    }

    /// `file:line:column` of the first byte of `span`.
    pub fn describe(&self, span: Span) -> String {
        match (self.get(span.source), self.place(span)) {
            (Some(source), Some(place)) => {
                alloc::format!("{}:{}:{}", source.name, place.line, place.column)
            }
            (Some(source), None) => source.name.clone(),
            (None, _) => "<unknown>".to_owned(),
        }
    }

    /// The text that `span` covers; empty when it lies outside the source.
    pub fn text_of(&self, span: Span) -> &str {
        self.get(span.source)
            .and_then(|source| source.text.get(span.start as usize..span.end as usize))
            .unwrap_or("")
    }
}

/// The candidate that `wanted` was most likely meant to be, if one is near enough to suggest.
///
/// ```
/// use invigil_expr::diag::nearest;
/// assert_eq!(nearest("redy", ["init", "ready"]), Some("ready"));
/// assert_eq!(nearest("xyzzy", ["init", "ready"]), None);
/// ```
pub fn nearest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let budget = (wanted.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(wanted, candidate), candidate))
        .filter(|(d, _)| *d <= budget)
        .min_by_key(|(d, _)| *d)
        .map(|(_, candidate)| candidate)
}

/// Edits from `a` to `b` (insert, delete, replace, swap neighbours), capital letters counting as small ones.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().flat_map(char::to_lowercase).collect();
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    let mut rows: Vec<Vec<usize>> = Vec::from([(0..=b.len()).collect()]);
    for i in 1..=a.len() {
        let mut row = Vec::from([i]);
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}
