//! Reads a property, and reports every mistake in it at once.
//!
//! The language nests states, transitions and clauses, and no deeper.

mod action;
mod event;
mod property;
mod transition;

use super::ast::{EventPattern, Property};
use crate::reading::piece::{Comment, Piece};
use crate::reading::scan::Token;
use crate::reading::{Language, Parser};
use invigil_expr::diag::{Diagnostic, SourceId};

/// Reads the property in `text`, the contents of the file known as `source`.
///
/// The property is complete if there is no error among the diagnostics. Otherwise it is what could be made
/// out, good for showing but not for running.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::prop;
///
/// let text = "state init accepting { transition { event f(x) { return x > 0 } failure bad } }
///             state bad non-accepting";
/// let (property, problems) = prop::parse(SourceId(0), text);
/// assert!(problems.is_empty());
/// assert_eq!(property.states[1].name.text, "bad");
/// assert_eq!(property.states[0].transitions[0].event.params[0].name.text, "x");
/// ```
pub fn parse(source: SourceId, text: &str) -> (Property, Vec<Diagnostic>) {
    let reading = read(source, text);
    (reading.property, reading.problems)
}

/// Reads an event with its parameters that stands alone; the word `event` may be left out.
pub(crate) fn event(written: &str) -> (Option<EventPattern>, Vec<Diagnostic>) {
    let (moment, rest) = match written.trim().split_once(char::is_whitespace) {
        Some((moment @ ("before" | "after"), rest)) => (moment, rest.trim_start()),
        _ => ("", written.trim()),
    };
    let rest = match rest.split_once(char::is_whitespace) {
        Some(("event" | "call", rest)) => rest,
        _ => rest,
    };
    let text = format!("{moment} event {rest}");
    let mut parser = Parser::new(&LANGUAGE, SourceId(0), &text);
    let event = parser.event();
    if parser.problems.is_empty() && parser.at.token != Token::End {
        let problem = parser.expected("the end of the event");
        parser.report(problem);
    }
    (event.filter(|_| parser.problems.is_empty()), parser.problems)
}

/// All that reading a file gives.
pub(super) struct Reading {
    pub(super) property: Property,
    pub(super) pieces: Vec<Piece>,
    pub(super) comments: Vec<Comment>,
    pub(super) problems: Vec<Diagnostic>,
}

/// What the parser must know of properties.
static LANGUAGE: Language = Language {
    noun: "property",
    clauses: &["state", "transition", "success", "failure"],
    other_words: &[
        ("else", "failure"),
        ("otherwise", "failure"),
        ("fail", "failure"),
        ("then", "success"),
        ("on", "event"),
        ("when", "event"),
        ("use", "import"),
        ("include", "import"),
        ("init", "initialization"),
    ],
};

pub(super) fn read(source: SourceId, text: &str) -> Reading {
    let mut parser = Parser::new(&LANGUAGE, source, text);
    let property = if parser.stopped { Property::default() } else { parser.property() };
    Reading { property, pieces: parser.pieces, comments: parser.comments, problems: parser.problems }
}
