//! Meaning of the atoms of a formula: events and expressions.

use super::paths;
use crate::prop;
use crate::prop::ast::EventPattern;
use invigil_expr::compile::{Block, Snippet};
use invigil_expr::diag::{Diagnostic, Span};
use invigil_ltl::formula::{Atom, Proposition};
use invigil_monitor::event::{ANY_EVENT, EventKind, Param, ParamSource, STATE_EVENT};
use invigil_monitor::predefined_event::PredefinedEvent;

/// An atom with the position of its first occurrence.
#[derive(Clone, Debug)]
pub(super) struct LocatedAtom {
    pub(super) atom: Atom,
    pub(super) proposition: Proposition,
    pub(super) span: Span,
    /// The offset at which the text of an expression starts, if it is copied verbatim from the file.
    pub(super) expression_start: Option<u32>,
}

/// The atoms of a formula, by kind.
#[derive(Default)]
pub(super) struct Atoms {
    /// Atoms that name an event.
    pub(super) events: Vec<EventAtom>,
    /// Atoms that are expressions.
    pub(super) conditions: Vec<Condition>,
}

/// An atom that holds at events with a given name.
pub(super) struct EventAtom {
    pub(super) atom: Atom,
    pub(super) name: String,
    pub(super) kind: EventKind,
    /// The parameters whose source it specifies.
    pub(super) params: Vec<Param>,
    /// The record field with its value, for records that name no event.
    pub(super) field: String,
}

/// An atom that holds when an expression is true.
pub(super) struct Condition {
    pub(super) atom: Atom,
    pub(super) block: Block,
    /// The names that it reads, each with the parameter used if the event does not define one.
    pub(super) reads: Vec<(String, Param)>,
}

impl Atoms {
    /// Classifies the atoms. Errors in them are added to `diagnostics`.
    pub(super) fn new(located: &[LocatedAtom], diagnostics: &mut Vec<Diagnostic>) -> Atoms {
        let mut atoms = Atoms::default();
        for located in located {
            match &located.proposition {
                Proposition::Name(name) => atoms.events.extend(event(located, name, diagnostics)),
                // No expression starts with such a word followed by a name.
                Proposition::Expression(text) if starts_with_event_keyword(text) => {
                    atoms.events.extend(event(located, text, diagnostics));
                }
                Proposition::Expression(text) => {
                    atoms.conditions.extend(condition(located, text, diagnostics));
                }
                Proposition::Monitor(name) => diagnostics.push(
                    Diagnostic::error(located.span, format!("unknown formula `{name}`"))
                        .label("referred to here")
                        .help("`@NAME` refers to another formula of the same file: `NAME = FORMULA`"),
                ),
                // Only algorithms create these; they cannot be written.
                Proposition::Fresh(_) => {}
            }
        }
        atoms
    }
}

/// Keywords before the name of an event.
const EVENT_KEYWORDS: [&str; 7] = ["before", "after", "event", "call", "read", "write", "access"];

/// Whether a text starts with an event kind: `after queue_pop`.
pub(super) fn starts_with_event_keyword(text: &str) -> bool {
    let begins_name = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || "_#/.~\"".contains(c));
    let split = text.trim().split_once(char::is_whitespace);
    split.is_some_and(|(first, rest)| EVENT_KEYWORDS.contains(&first) && begins_name(rest.trim_start()))
}

/// Returns the event that a name denotes, in formulae and wherever events are observed by name: `queue_push`,
/// `after queue_pop`, `write s`. Parameters are ignored.
///
/// ```
/// use invigil_lang::ltl::event_named;
/// use invigil_monitor::event::EventKind;
/// assert_eq!(event_named("queue_push"), ("queue_push".to_owned(), EventKind::Before));
/// assert_eq!(event_named("after queue_pop"), ("queue_pop".to_owned(), EventKind::After));
/// ```
pub fn event_named(name: &str) -> (String, EventKind) {
    let pattern = if starts_with_event_keyword(name) { prop::event(name).0 } else { None };
    pattern.map_or_else(
        || (name.to_owned(), EventKind::implied_by(name)),
        |EventPattern { kind, name, .. }| (name.text, kind),
    )
}

/// Events of the trace reader that formulae cannot name.
const EVENTS_NOT_IN_FORMULAE: [&str; 2] = [ANY_EVENT, STATE_EVENT];

fn forbidden_event(located: &LocatedAtom, name: &str) -> Diagnostic {
    Diagnostic::error(located.span, format!("the event `{name}` cannot be used in a formula"))
        .label("predefined event")
        .help("`true` holds at every position; a formula without event names is evaluated at every event of a trace")
}

fn event(located: &LocatedAtom, name: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<EventAtom> {
    if !starts_with_event_keyword(name) && !name.contains('(') {
        if EVENTS_NOT_IN_FORMULAE.contains(&name) {
            diagnostics.push(forbidden_event(located, name));
            return None;
        }
        return Some(EventAtom {
            atom: located.atom,
            name: name.to_owned(),
            kind: EventKind::implied_by(name),
            params: Vec::new(),
            field: name.to_owned(),
        });
    }
    let (pattern, found) = prop::event(name);
    // Spans of this diagnostic refer to a text that the user did not write.
    diagnostics.extend(found.into_iter().map(|diagnostic| Diagnostic { span: located.span, ..diagnostic }));
    let EventPattern { kind, name, params, .. } = pattern?;
    if EVENTS_NOT_IN_FORMULAE.contains(&name.text.as_str()) {
        diagnostics.push(forbidden_event(located, &name.text));
        return None;
    }
    let params: Vec<Param> = params
        .into_iter()
        .map(|param| Param { source: param.source, name: param.name.text, ty: param.ty.map(|(ty, _)| ty) })
        .collect();
    let field = match kind {
        kind if kind == EventKind::implied_by(&name.text) => name.text.clone(),
        kind => format!("{} {}", kind.word(), name.text),
    };
    Some(EventAtom { atom: located.atom, name: name.text, kind, params, field })
}

fn condition(located: &LocatedAtom, text: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<Condition> {
    let source = located.span.source;
    let locate = |at: u32| located.expression_start.map_or(located.span.start, |inside| inside + at);
    let plain = match paths::replace_paths(text) {
        Ok(plain) => plain,
        Err(part) => {
            let span = Span::new(source, locate(part.start as u32), locate(part.end as u32));
            let message = "`#` starts a comment: the rest of the expression would be ignored";
            let help = match PredefinedEvent::from_name(&text[part.clone()]) {
                Some(event) => format!("write the event without quotes: #{}", event.word()),
                None => "the predefined parameters are `#thread`, `#time` and `#program`".to_owned(),
            };
            diagnostics.push(Diagnostic::error(span, message).help(help));
            return None;
        }
    };
    const RETURN: &str = "return ";
    let in_file = |at: u32| {
        let at = (at as usize).saturating_sub(RETURN.len());
        locate(plain.offsets.get(at).copied().unwrap_or(text.len() as u32))
    };
    let text = format!("{RETURN}{}", plain.text);
    let snippet = Snippet { source_id: source, text: &text, locate: &in_file };
    let block = Block::parse(snippet, diagnostics)?;
    let reads = block.reads.keys().map(|name| {
        let path = plain.paths.iter().find(|(known, _)| known == name);
        (name.clone(), path.map_or_else(|| parameter_named(name), |(_, param)| param.clone()))
    });
    Some(Condition { atom: located.atom, reads: reads.collect(), block })
}

/// Returns the parameter for a name: `ret` is the return value of a function, `arg1` its first argument.
pub(super) fn parameter_named(name: &str) -> Param {
    let position = name.strip_prefix("arg").and_then(|digits| digits.parse().ok());
    let source = match (name, position) {
        ("ret", _) => ParamSource::Ret,
        (_, Some(position @ 1..)) => ParamSource::Arg(position),
        _ => ParamSource::Name(name.to_owned()),
    };
    Param { source, name: name.to_owned(), ty: None }
}
