//! What the atoms of a formula say of events.

use super::paths;
use crate::prop;
use crate::prop::ast::EventPattern;
use crate::reading::scan::SPECIAL_EVENTS;
use invigil_expr::compile::{Block, Snippet};
use invigil_expr::diag::{Diagnostic, Span};
use invigil_ltl::formula::{Atom, Proposition};
use invigil_monitor::event::{ANY, Kind, Param, STATE, Source};

/// An atom with the place where it first stands.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) atom: Atom,
    pub(super) proposition: Proposition,
    pub(super) span: Span,
    /// Where the text of an expression begins in the file, if it stands there letter by letter.
    pub(super) inside: Option<u32>,
}

/// The atoms of a formula, sorted by what they are about.
#[derive(Default)]
pub(super) struct Atoms {
    /// Those that hold at the events of a name.
    pub(super) events: Vec<EventAtom>,
    /// Those that hold where an expression is true.
    pub(super) conditions: Vec<Condition>,
}

/// An atom that holds at the events of a name.
pub(super) struct EventAtom {
    pub(super) atom: Atom,
    pub(super) name: String,
    pub(super) kind: Kind,
    /// The parameters that it says where to find.
    pub(super) params: Vec<Param>,
    /// The field that says in a table of states whether it holds.
    pub(super) field: String,
}

/// An atom that holds where an expression is true.
pub(super) struct Condition {
    pub(super) atom: Atom,
    pub(super) block: Block,
    /// The names that it reads, with the parameter that each is if no event says otherwise.
    pub(super) reads: Vec<(String, Param)>,
}

impl Atoms {
    /// Sorts the atoms. Mistakes in them are added to `diagnostics`.
    pub(super) fn new(placed: &[Placed], diagnostics: &mut Vec<Diagnostic>) -> Atoms {
        let mut atoms = Atoms::default();
        for placed in placed {
            match &placed.proposition {
                Proposition::Name(name) => atoms.events.extend(event(placed, name, diagnostics)),
                // No expression begins with such a word and a name.
                Proposition::Expression(text) if says_kind(text) => {
                    atoms.events.extend(event(placed, text, diagnostics));
                }
                Proposition::Expression(text) => {
                    atoms.conditions.extend(condition(placed, text, diagnostics));
                }
                Proposition::Monitor(name) => diagnostics.push(
                    Diagnostic::error(placed.span, format!("there is no formula `{name}`"))
                        .label("referred to here")
                        .help("`@NAME` stands for another formula of the same file: `NAME = FORMULA`"),
                ),
                // Algorithms add such; no one writes them.
                Proposition::Fresh(_) => {}
            }
        }
        atoms
    }
}

/// Words before the name of an event.
const WORDS: [&str; 7] = ["before", "after", "event", "call", "read", "write", "access"];

/// Whether a text says what kind of event it means: `after queue_pop`.
pub(super) fn says_kind(text: &str) -> bool {
    let begins_name = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || "_#/.~\"".contains(c));
    let split = text.trim().split_once(char::is_whitespace);
    split.is_some_and(|(first, rest)| WORDS.contains(&first) && begins_name(rest.trim_start()))
}

/// The event that a name stands for, in formulae and wherever else events are observed by their names: `queue_push`, `after
/// queue_pop`, `write s`. Parameters are left out.
///
/// ```
/// use invigil_lang::ltl::event_named;
/// use invigil_monitor::event::Kind;
/// assert_eq!(event_named("queue_push"), ("queue_push".to_owned(), Kind::Before));
/// assert_eq!(event_named("after queue_pop"), ("queue_pop".to_owned(), Kind::After));
/// ```
pub fn event_named(name: &str) -> (String, Kind) {
    let pattern = if says_kind(name) { prop::event(name).0 } else { None };
    pattern.map_or_else(
        || (name.to_owned(), Kind::implied_by(name)),
        |EventPattern { kind, name, .. }| (name.text, kind),
    )
}

/// Events that formulae are given without naming them.
const RESERVED: [&str; 2] = [ANY, STATE];

fn reserved(placed: &Placed, name: &str) -> Diagnostic {
    Diagnostic::error(placed.span, format!("`{name}` is no event that a formula can name"))
        .label("used here as a name")
        .help("`true` holds at every instant; a formula that names no event is about every event of a trace")
}

fn event(placed: &Placed, name: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<EventAtom> {
    if !says_kind(name) && !name.contains('(') {
        if RESERVED.contains(&name) {
            diagnostics.push(reserved(placed, name));
            return None;
        }
        return Some(EventAtom {
            atom: placed.atom,
            name: name.to_owned(),
            kind: Kind::implied_by(name),
            params: Vec::new(),
            field: name.to_owned(),
        });
    }
    let (pattern, problems) = prop::event(name);
    // Their places are in a text that the user did not write.
    diagnostics.extend(problems.into_iter().map(|problem| Diagnostic { span: placed.span, ..problem }));
    let EventPattern { kind, name, params, .. } = pattern?;
    if RESERVED.contains(&name.text.as_str()) {
        diagnostics.push(reserved(placed, &name.text));
        return None;
    }
    let params: Vec<Param> = params
        .into_iter()
        .map(|param| Param { source: param.source, name: param.name.text, ty: param.ty.map(|(ty, _)| ty) })
        .collect();
    let field = match kind {
        kind if kind == Kind::implied_by(&name.text) => name.text.clone(),
        kind => format!("{} {}", kind.word(), name.text),
    };
    Some(EventAtom { atom: placed.atom, name: name.text, kind, params, field })
}

fn condition(placed: &Placed, text: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<Condition> {
    let source = placed.span.source;
    let locate = |at: u32| placed.inside.map_or(placed.span.start, |inside| inside + at);
    let plain = match paths::plain(text) {
        Ok(plain) => plain,
        Err(part) => {
            let span = Span::new(source, locate(part.start as u32), locate(part.end as u32));
            let words = "`#` begins a comment: the rest of the expression would not count";
            let help = match SPECIAL_EVENTS.iter().find(|event| text[part.clone()] == format!("#{event}")) {
                Some(event) => format!("the event is written without quotes: #{event}"),
                None => {
                    "the parameters that every event has are `#thread`, `#time` and `#program`".to_owned()
                }
            };
            diagnostics.push(Diagnostic::error(span, words).help(help));
            return None;
        }
    };
    const RETURN: &str = "return ";
    let in_file = |at: u32| {
        let at = (at as usize).saturating_sub(RETURN.len());
        locate(plain.places.get(at).copied().unwrap_or(text.len() as u32))
    };
    let text = format!("{RETURN}{}", plain.text);
    let snippet = Snippet { source, text: &text, locate: &in_file };
    let block = Block::parse(snippet, diagnostics)?;
    let reads = block.reads.keys().map(|name| {
        let path = plain.paths.iter().find(|(known, _)| known == name);
        (name.clone(), path.map_or_else(|| named(name), |(_, param)| param.clone()))
    });
    Some(Condition { atom: placed.atom, reads: reads.collect(), block })
}

/// The parameter that a name stands for: `ret` is what a function returns, `arg1` its first argument.
pub(super) fn named(name: &str) -> Param {
    let position = name.strip_prefix("arg").and_then(|digits| digits.parse().ok());
    let source = match (name, position) {
        ("ret", _) => Source::Ret,
        (_, Some(position @ 1..)) => Source::Arg(position),
        _ => Source::Name(name.to_owned()),
    };
    Param { source, name: name.to_owned(), ty: None }
}
