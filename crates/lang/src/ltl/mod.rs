//! Formulae of temporal logic as properties of events: the front door of `invigil-ltl` to what happens.
//!
//! ```
//! use invigil_expr::diag::SourceId;
//! use invigil_lang::ltl;
//! use invigil_monitor::event::{Catalog, Event, Kind};
//! use invigil_monitor::verdict::Verdict;
//! use invigil_monitor::watch::Watch;
//! use std::sync::Arc;
//!
//! let text = "ltl:G(open -> X !open)";
//! let argument = ltl::Argument::parse(text).unwrap();
//! let manner = argument.manner(SourceId(0), text);
//! let (properties, _) = ltl::parse(SourceId(0), text, argument.formula, manner);
//! let mut catalog = Catalog::default();
//! let (automaton, _) = properties[0].lower(&[], &mut catalog);
//!
//! let mut watch = Watch::new(Arc::new(automaton.unwrap()));
//! let open = Event { symbol: catalog.find("open", Kind::Before).unwrap(), params: &[], text: "" };
//! assert_eq!(watch.apply(&open).verdict, Some(Verdict::Undecided));
//! assert_eq!(watch.apply(&open).verdict, Some(Verdict::NonAccepting));
//! ```
//!
//! `docs/ltl.md` says what an instant is, and what names and expressions mean there.

mod argument;
mod atoms;
mod diagram;
mod drawing;
pub mod explain;
mod lower;
mod machine;
mod names;
mod paths;
mod property;
mod words;

pub use invigil_ltl::syntax::unglued;

pub use argument::{Argument, Reading};
pub use atoms::event_named;
pub use drawing::graph;
pub(crate) use property::diagnostic;
pub use property::{BUDGET, Manner, Property, format, parse};
