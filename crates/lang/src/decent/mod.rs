//! Decentralized specifications as people write them (`.dec`): components with what they observe, links, and monitors.
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
//! A line that is indented goes on with the one above. `docs/decentralized.md` has the whole language.

mod adapt;
mod draft;
mod expand;
mod loaded;
mod lower;
mod parser;
mod print;
mod text;

pub use loaded::Loaded;
pub use print::print;

pub(crate) use draft::{Draft, DraftBody, DraftComponent, DraftMonitor};
pub(crate) use lower::lower;
pub(crate) use parser::{nearest_help, wrong};
pub(crate) use text::Text;

use invigil_expr::diag::{Diagnostic, SourceId, Span};

/// A file longer than this is surely something else.
const MAX_BYTES: usize = 4 << 20;

/// After this many mistakes the rest is not worth telling.
pub(crate) const MAX_PROBLEMS: usize = 100;

/// Reads a specification. There is one if there is no error among the diagnostics.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::decent;
/// use invigil_ltl::Budget;
///
/// let text = "component lswitch: s\ncomponent bulb: l\non @ bulb = l\nroot @ lswitch = G(s -> X @on)\n";
/// let (loaded, problems) = decent::load(SourceId(0), text);
/// assert!(problems.is_empty());
/// let network = loaded.unwrap().network(Budget::default()).unwrap();
/// assert_eq!(network.parts.len(), 2);
///
/// let (_, problems) = decent::load(SourceId(0), "component bulb: light\nroot @ bulb = F ligth");
/// assert_eq!(problems[0].message, "no component observes `ligth`");
/// ```
pub fn load(source: SourceId, text: &str) -> (Option<Loaded>, Vec<Diagnostic>) {
    if text.len() > MAX_BYTES {
        let here = Span::new(source, 0, 0);
        let problem = Diagnostic::error(here, "this file is too long for a specification");
        return (None, vec![problem.help("a specification may have 4 MiB; is this the trace instead?")]);
    }
    let mut problems = Vec::new();
    let statements = expand::statements(source, text, &mut problems);
    let draft = parser::parse(source, statements, &mut problems);
    let loaded = lower(draft, &mut problems);
    problems.truncate(MAX_PROBLEMS);
    (loaded.filter(|_| !problems.iter().any(Diagnostic::is_error)), problems)
}

/// Adds a problem, unless it was told of the same place: a template is read as often as it is used.
pub(crate) fn tell(problems: &mut Vec<Diagnostic>, problem: Diagnostic) {
    let known = |other: &Diagnostic| other.span == problem.span && other.message == problem.message;
    if problems.len() < MAX_PROBLEMS && !problems.iter().any(known) {
        problems.push(problem);
    }
}
