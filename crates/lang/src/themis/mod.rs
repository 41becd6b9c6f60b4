//! Specifications in the XML format of THEMIS: `<specification>`s with setters, `@id` references, templates.
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
//! The format does not define components. Unless they are given, they are inferred: if all propositions are a letter
//! and a number, the letter is the component (as in its trace files, `0-a.trace`); otherwise all propositions of a
//! monitor belong to one component.

mod components;
mod expand;

use crate::decent::{
    self, LoadedSpecification, MAX_DIAGNOSTICS, RawBody, RawMonitor, RawSpecification, Text, lower, report,
};
use expand::XmlSpecification;
use invigil_decent::system::System;
use invigil_expr::diag::{Diagnostic, SourceId, Span};
use invigil_ltl::syntax::SyntaxTree;
use roxmltree::{Document, ParsingOptions};

/// Longer files are rejected: they are probably not specifications.
const MAX_BYTES: usize = 4 << 20;

/// The maximum number of elements, texts and comments. Nesting needs no limit: neither this module nor the XML
/// parser is recursive.
const MAX_NODES: u32 = 200_000;

/// Loads a specification; `system` defines the components, if known. Returns a specification if there is no error
/// among the diagnostics.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::themis;
///
/// let text = r#"<specifications>
///   <specification id="root" class="a.b.SpecLTL"><setLTL>[](a0 -&gt; @other)</setLTL></specification>
///   <specification id="other" class="a.b.SpecLTL"><setLTL>b0</setLTL></specification>
/// </specifications>"#;
/// let (loaded, diagnostics) = themis::load(SourceId(0), text, None);
/// assert!(diagnostics.is_empty());
/// assert_eq!(loaded.unwrap().specification.system.components().len(), 2);
/// ```
pub fn load(
    source: SourceId,
    text: &str,
    system: Option<&System>,
) -> (Option<LoadedSpecification>, Vec<Diagnostic>) {
    let here = Span::new(source, 0, 0);
    if text.len() > MAX_BYTES {
        let diagnostic = Diagnostic::error(here, "the file is too large for a specification");
        return (None, vec![diagnostic.help("the limit is 4 MiB")]);
    }
    // A document type can define entities that expand without bound; a specification needs none.
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = match Document::parse_with_options(text, options) {
        Ok(document) => document,
        Err(error) => return (None, vec![unreadable(source, text, &error)]),
    };
    let mut diagnostics = Vec::new();
    let specifications = expand::specifications(source, text, &document, &mut diagnostics);
    let mut raw = RawSpecification::new(source);
    raw.monitors = specifications.into_iter().filter_map(|raw| monitor(raw, &mut diagnostics)).collect();
    match system {
        Some(system) => raw.system = Some(system.clone()),
        None => raw.components = components::infer(&raw.monitors),
    }
    let loaded = lower(raw, &mut diagnostics);
    diagnostics.truncate(MAX_DIAGNOSTICS);
    (loaded.filter(|_| !diagnostics.iter().any(Diagnostic::is_error)), diagnostics)
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
        roxmltree::Error::DtdDetected => Diagnostic::error(span, "document types are not supported")
            .help("remove `<!DOCTYPE …>`: entities are not expanded"),
        roxmltree::Error::NodesLimitReached => {
            Diagnostic::error(span, format!("more than {MAX_NODES} elements and texts"))
        }
        _ => {
            // The caret shows the position.
            let message = error.to_string();
            let message = message.rsplit_once(" at ").map_or(message.as_str(), |(message, _)| message);
            Diagnostic::error(span, format!("invalid XML: {message}"))
        }
    }
}

/// Parses the monitor of a specification, if its class is supported.
fn monitor(raw: XmlSpecification, diagnostics: &mut Vec<Diagnostic>) -> Option<RawMonitor> {
    let class = raw.class.as_str();
    let simple = class.rsplit('.').next().unwrap_or(class);
    if simple != "SpecLTL" {
        let whole = raw.class.span(0..class.len());
        let diagnostic =
            Diagnostic::error(whole, format!("specifications of the class `{simple}` are not supported"));
        let help = "use `SpecLTL` with <setLTL>; other monitors can be black boxes in a `.dec` file";
        report(diagnostics, diagnostic.help(help));
        return None;
    }
    let mut formula: Option<&Text> = None;
    for (setter, span, value) in &raw.setters {
        if setter != "setLTL" {
            let diagnostic = Diagnostic::error(*span, format!("the class `{simple}` has no `{setter}`"));
            report(diagnostics, decent::nearest_help(diagnostic, setter, ["setLTL"].into_iter()));
        } else if formula.replace(value).is_some() {
            report(diagnostics, Diagnostic::error(*span, "duplicate formula").help("keep one of them"));
        }
    }
    let span = raw.id.span(0..raw.id.as_str().len());
    let Some(text) = formula else {
        let diagnostic =
            Diagnostic::error(span, format!("the specification `{}` has no formula", raw.id.as_str()));
        report(diagnostics, diagnostic.help("write: <setLTL><![CDATA[formula]]></setLTL>"));
        return None;
    };
    match SyntaxTree::parse(text.as_str()) {
        Ok(tree) => Some(RawMonitor {
            name: raw.id.as_str().to_owned(),
            span,
            component: None,
            body: RawBody::ParsedFormula(tree, text.clone()),
        }),
        Err(error) => {
            report(diagnostics, decent::syntax_diagnostic(text, &error));
            None
        }
    }
}
