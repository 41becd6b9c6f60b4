//! Parser of the property language, with error recovery: all errors of a file are reported together.
//!
//! Nesting is limited to states, transitions and clauses, so recursion is bounded.

mod action;
mod event;
mod property;
mod transition;

use super::ast::{EventPattern, Property};
use crate::parsing::layout_tokens::{Comment, LayoutToken};
use crate::parsing::scan::Token;
use crate::parsing::{Language, PropParser};
use invigil_expr::diag::{Diagnostic, SourceId};

/// Parses the property in `text`, the contents of the file `source`.
///
/// The property is complete if there is no error among the diagnostics. Otherwise it holds the parts that could be
/// parsed; it can be displayed but not compiled.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::prop;
///
/// let text = "state init accepting { transition { event f(x) { return x > 0 } failure bad } }
///             state bad non-accepting";
/// let (property, diagnostics) = prop::parse(SourceId(0), text);
/// assert!(diagnostics.is_empty());
/// assert_eq!(property.states[1].name.text, "bad");
/// assert_eq!(property.states[0].transitions[0].event.params[0].name.text, "x");
/// ```
pub fn parse(source: SourceId, text: &str) -> (Property, Vec<Diagnostic>) {
    let parsed = parse_with_layout(source, text);
    (parsed.property, parsed.diagnostics)
}

/// Parses a single event with its parameters; the keyword `event` is optional.
pub(crate) fn event(written: &str) -> (Option<EventPattern>, Vec<Diagnostic>) {
    let (phase, rest) = match written.trim().split_once(char::is_whitespace) {
        Some((phase @ ("before" | "after"), rest)) => (phase, rest.trim_start()),
        _ => ("", written.trim()),
    };
    let rest = match rest.split_once(char::is_whitespace) {
        Some(("event" | "call", rest)) => rest,
        _ => rest,
    };
    let text = format!("{phase} event {rest}");
    let mut parser = PropParser::new(&LANGUAGE, SourceId(0), &text);
    let event = parser.event();
    if parser.diagnostics.is_empty() && parser.at.token != Token::End {
        let diagnostic = parser.expected("the end of the event pattern");
        parser.report(diagnostic);
    }
    (event.filter(|_| parser.diagnostics.is_empty()), parser.diagnostics)
}

/// Everything the parser returns; the formatter needs tokens and comments.
pub(super) struct ParsedProperty {
    pub(super) property: Property,
    pub(super) tokens: Vec<LayoutToken>,
    pub(super) comments: Vec<Comment>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// The settings of the parser for properties.
static LANGUAGE: Language = Language {
    noun: "property",
    clauses: &["state", "transition", "success", "failure"],
    synonyms: &[
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

/// Parses a property; keeps its tokens and comments for the formatter.
pub(super) fn parse_with_layout(source: SourceId, text: &str) -> ParsedProperty {
    let mut parser = PropParser::new(&LANGUAGE, source, text);
    let property = if parser.is_stopped { Property::default() } else { parser.property() };
    ParsedProperty {
        property,
        tokens: parser.tokens,
        comments: parser.comments,
        diagnostics: parser.diagnostics,
    }
}
