//! Temporal formulae as properties: connects `invigil-ltl` to events.
//!
//! ```
//! use invigil_expr::diag::SourceId;
//! use invigil_lang::ltl;
//! use invigil_monitor::event::{EventCatalog, Event, EventKind};
//! use invigil_monitor::verdict::Verdict;
//! use invigil_monitor::interactive::InteractiveMonitor;
//! use std::sync::Arc;
//!
//! let text = "ltl:G(open -> X !open)";
//! let argument = ltl::FormulaArgument::parse(text).unwrap();
//! let options = argument.options(SourceId(0), text);
//! let (properties, _) = ltl::parse(SourceId(0), text, argument.formula, options);
//! let mut catalog = EventCatalog::default();
//! let (automaton, _) = properties[0].lower(&[], &mut catalog);
//!
//! let mut watch = InteractiveMonitor::new(Arc::new(automaton.unwrap()));
//! let open = Event { id: catalog.find("open", EventKind::Before).unwrap(), params: &[], text: "" };
//! assert_eq!(watch.apply(&open).verdict, Some(Verdict::Undecided));
//! assert_eq!(watch.apply(&open).verdict, Some(Verdict::NonAccepting));
//! ```
//!
//! `docs/ltl.md` defines the positions of a trace, and the meaning of names and expressions at them.

mod argument;
mod atoms;
mod decision_diagram;
pub mod explain;
mod graph;
mod labels;
mod lower;
mod names;
mod paths;
mod property;
mod state_output;

pub use invigil_ltl::syntax::separate_operators;

pub use argument::{FormulaArgument, TraceSemantics};
pub use atoms::event_named;
pub use graph::graph;
pub(crate) use property::syntax_diagnostic;
pub use property::{BUDGET, FormulaOptions, Property, format, parse};
