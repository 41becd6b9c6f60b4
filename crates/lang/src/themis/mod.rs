//! Specifications in the XML of THEMIS: `<specification>`s with a class and setters, `@id` for other ones, and templates.
//!
//! ```text
//! <specifications>
//!   <specification id="light" class="uga.corse.themis.monitoring.specifications.SpecLTL">
//!     <setLTL><![CDATA[office_light]]></setLTL>
//!   </specification>
//!   <specification id="root" class="uga.corse.themis.monitoring.specifications.SpecLTL">
//!     <setLTL><![CDATA[[] (office_switch -> X(@light U !office_switch))]]></setLTL>
//!   </specification>
//! </specifications>
//! ```
//!
//! The format says nothing about components. Where nobody else does, they follow from what is written: if all propositions are
//! a letter and a number, the letter is the component (as in its traces, `0-a.trace`); else what one monitor speaks of is
//! observed by one component.

mod components;
mod expand;

use crate::decent::{self, Draft, DraftBody, DraftMonitor, Loaded, MAX_PROBLEMS, Text, lower, tell};
use expand::{Raw, raw};
use invigil_decent::system::System;
use invigil_expr::diag::{Diagnostic, SourceId, Span};
use invigil_ltl::syntax::Tree;
use roxmltree::{Document, ParsingOptions};

/// A file longer than this is surely something else.
const MAX_BYTES: usize = 4 << 20;

/// More elements, texts and comments than this no specification has. How deep they lie in each other does not matter: nothing
/// here goes down by recursion, nor does the reader of XML.
const MAX_NODES: u32 = 200_000;

/// Reads a specification; `system` says who observes what, if it is known. There is a specification if there is no error among
/// the diagnostics.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::themis;
///
/// let text = r#"<specifications>
///   <specification id="root" class="a.b.SpecLTL"><setLTL>[](a0 -&gt; @other)</setLTL></specification>
///   <specification id="other" class="a.b.SpecLTL"><setLTL>b0</setLTL></specification>
/// </specifications>"#;
/// let (loaded, problems) = themis::load(SourceId(0), text, None);
/// assert!(problems.is_empty());
/// assert_eq!(loaded.unwrap().specification.system.components().len(), 2);
/// ```
pub fn load(source: SourceId, text: &str, system: Option<&System>) -> (Option<Loaded>, Vec<Diagnostic>) {
    let here = Span::new(source, 0, 0);
    if text.len() > MAX_BYTES {
        let problem = Diagnostic::error(here, "this file is too long for a specification");
        return (None, vec![problem.help("a specification may have 4 MiB")]);
    }
    // A document type can define entities that grow without end; a specification needs none.
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = match Document::parse_with_options(text, options) {
        Ok(document) => document,
        Err(error) => return (None, vec![unreadable(source, text, &error)]),
    };
    let mut problems = Vec::new();
    let raw = raw(source, text, &document, &mut problems);
    let mut draft = Draft::new(source);
    draft.monitors = raw.into_iter().filter_map(|raw| monitor(raw, &mut problems)).collect();
    match system {
        Some(system) => draft.system = Some(system.clone()),
        None => draft.components = components::inferred(&draft.monitors),
    }
    let loaded = lower(draft, &mut problems);
    problems.truncate(MAX_PROBLEMS);
    (loaded.filter(|_| !problems.iter().any(Diagnostic::is_error)), problems)
}

fn unreadable(source: SourceId, text: &str, error: &roxmltree::Error) -> Diagnostic {
    let place = error.pos();
    let line =
        text.split_inclusive('\n').take(place.row.saturating_sub(1) as usize).map(str::len).sum::<usize>();
    let rest = &text[line..];
    let column =
        rest.char_indices().nth(place.col.saturating_sub(1) as usize).map_or(rest.len(), |(at, _)| at);
    let start = line + column;
    let length = text[start..].chars().next().map_or(0, char::len_utf8);
    let span = Span::new(source, start as u32, (start + length) as u32);
    match error {
        roxmltree::Error::DtdDetected => Diagnostic::error(span, "a specification has no document type")
            .help("take `<!DOCTYPE …>` away: entities are not read"),
        roxmltree::Error::NodesLimitReached => {
            Diagnostic::error(span, format!("there are more than {MAX_NODES} elements and texts"))
        }
        _ => {
            // The place is shown by the caret.
            let words = error.to_string();
            let words = words.rsplit_once(" at ").map_or(words.as_str(), |(words, _)| words);
            Diagnostic::error(span, format!("this is no XML: {words}"))
        }
    }
}

/// The monitor of a specification, if its class is known.
fn monitor(raw: Raw, problems: &mut Vec<Diagnostic>) -> Option<DraftMonitor> {
    let class = raw.class.as_str();
    let simple = class.rsplit('.').next().unwrap_or(class);
    if simple != "SpecLTL" {
        let whole = raw.class.span(0..class.len());
        let problem =
            Diagnostic::error(whole, format!("specifications of the class `{simple}` cannot be read"));
        let help =
            "`SpecLTL` can, with <setLTL>; what something else says can be a black box in a `.dec` file";
        tell(problems, problem.help(help));
        return None;
    }
    let mut formula: Option<&Text> = None;
    for (setter, span, value) in &raw.setters {
        if setter != "setLTL" {
            let problem = Diagnostic::error(*span, format!("the class `{simple}` has no `{setter}`"));
            tell(problems, decent::nearest_help(problem, setter, ["setLTL"].into_iter()));
        } else if formula.replace(value).is_some() {
            tell(problems, Diagnostic::error(*span, "the formula is set twice").help("keep one of them"));
        }
    }
    let span = raw.id.span(0..raw.id.as_str().len());
    let Some(text) = formula else {
        let problem =
            Diagnostic::error(span, format!("the specification `{}` has no formula", raw.id.as_str()));
        tell(problems, problem.help("write: <setLTL><![CDATA[formula]]></setLTL>"));
        return None;
    };
    match Tree::parse(text.as_str()) {
        Ok(tree) => Some(DraftMonitor {
            name: raw.id.as_str().to_owned(),
            span,
            at: None,
            body: DraftBody::Read(tree, text.clone()),
        }),
        Err(mistake) => {
            tell(problems, decent::wrong(text, &mistake));
            None
        }
    }
}
