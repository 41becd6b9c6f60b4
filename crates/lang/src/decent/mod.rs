//! Decentralized specifications (`.dec`): components with their propositions, links, and monitors.
//!
//! ```text
//! # A light that follows its switch.
//! component lswitch: s
//! component bulb: l
//!
//! m1 @ bulb = l
//! m0 @ lswitch = G(s -> X(@m1 U !s))
//! root m0
//! ```
//!
//! An indented line continues the previous one. `docs/decentralized.md` describes the language.

mod adapt;
mod expand;
mod loaded;
mod lower;
mod parser;
mod print;
mod raw;
mod text;

pub use loaded::LoadedSpecification;
pub use print::print;

pub(crate) use lower::lower;
pub(crate) use parser::{nearest_help, syntax_diagnostic};
pub(crate) use raw::{RawBody, RawComponent, RawMonitor, RawSpecification};
pub(crate) use text::Text;

use invigil_expr::diag::{Diagnostic, SourceId, Span};

/// Longer files are rejected: they are probably not specifications.
const MAX_BYTES: usize = 4 << 20;

/// After this many errors, no further ones are reported.
pub(crate) const MAX_DIAGNOSTICS: usize = 100;

/// Loads a specification. Returns one if there is no error among the diagnostics.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::decent;
/// use invigil_ltl::Budget;
///
/// let text = "component lswitch: s\ncomponent bulb: l\non @ bulb = l\nroot @ lswitch = G(s -> X @on)\n";
/// let (loaded, diagnostics) = decent::load(SourceId(0), text);
/// assert!(diagnostics.is_empty());
/// let network = loaded.unwrap().network(Budget::default()).unwrap();
/// assert_eq!(network.monitors.len(), 2);
///
/// let (_, diagnostics) = decent::load(SourceId(0), "component bulb: light\nroot @ bulb = F ligth");
/// assert_eq!(diagnostics[0].message, "no component observes `ligth`");
/// ```
pub fn load(source: SourceId, text: &str) -> (Option<LoadedSpecification>, Vec<Diagnostic>) {
    if text.len() > MAX_BYTES {
        let here = Span::new(source, 0, 0);
        let diagnostic = Diagnostic::error(here, "the file is too large for a specification");
        return (None, vec![diagnostic.help("the limit is 4 MiB; is this a trace?")]);
    }
    let mut diagnostics = Vec::new();
    let statements = expand::statements(source, text, &mut diagnostics);
    let raw = parser::parse(source, statements, &mut diagnostics);
    let loaded = lower(raw, &mut diagnostics);
    diagnostics.truncate(MAX_DIAGNOSTICS);
    (loaded.filter(|_| !diagnostics.iter().any(Diagnostic::is_error)), diagnostics)
}

/// Adds a diagnostic unless one exists at the same position: a template is expanded as often as it is used.
pub(crate) fn report(diagnostics: &mut Vec<Diagnostic>, diagnostic: Diagnostic) {
    let known = |other: &Diagnostic| other.span == diagnostic.span && other.message == diagnostic.message;
    if diagnostics.len() < MAX_DIAGNOSTICS && !diagnostics.iter().any(known) {
        diagnostics.push(diagnostic);
    }
}
