//! Positions in the user's files, and diagnostics about them.
//!
//! All front ends report through these types, so that one renderer marks the position in the file. Run-time
//! faults carry the same positions as load-time errors.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
pub use invigil_suggest::nearest;

/// Index of a source in [`Sources`].
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

    /// The smallest span that contains `self` and `other`, which must be in the same source.
    pub fn to(self, other: Span) -> Span {
        Span { source: self.source, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// Severity of a [`Diagnostic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The input is usable.
    Warning,
    /// The input cannot be used.
    Error,
}

/// An error or warning about a position in a source.
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
    /// The message.
    pub message: String,
    /// The position.
    pub span: Span,
    /// The text at the caret.
    pub label: String,
    /// Related positions, each with a label.
    pub related: Vec<(Span, String)>,
    /// The remedy.
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

    /// Sets the text at the caret.
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// Sets the remedy.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Adds a related position, such as an earlier declaration.
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.related.push((span, label.into()));
        self
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// A source: its name and text.
#[derive(Clone, Debug)]
pub struct Source {
    /// A file name, or a description such as `<command line>`.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// A line and a column, counted from one. Columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineColumn {
    /// The line, from one.
    pub line: usize,
    /// The character in the line, from one.
    pub column: usize,
}

/// All sources of one invocation.
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

    /// The source with this id.
    pub fn get(&self, id: SourceId) -> Option<&Source> {
        self.files.get(id.0 as usize)
    }

    /// Line and column of the first byte of `span`.
    pub fn line_column(&self, span: Span) -> Option<LineColumn> {
        let text = &self.get(span.source)?.text;
        let before = text.get(..span.start as usize)?;
        let line_start = before.rfind('\n').map_or(0, |n| n + 1);
        Some(LineColumn {
            line: before.bytes().filter(|b| *b == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        })
    }

    /// `file:line:column` of the first byte of `span`.
    pub fn describe(&self, span: Span) -> String {
        match (self.get(span.source), self.line_column(span)) {
            (Some(source), Some(position)) => {
                alloc::format!("{}:{}:{}", source.name, position.line, position.column)
            }
            (Some(source), None) => source.name.clone(),
            (None, _) => "<unknown>".to_owned(),
        }
    }

    /// The text of `span`; empty if the span is outside the source.
    pub fn text_of(&self, span: Span) -> &str {
        self.get(span.source)
            .and_then(|source| source.text.get(span.start as usize..span.end as usize))
            .unwrap_or("")
    }
}
