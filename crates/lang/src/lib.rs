//! The languages users write in.
//!
//! Each language has a module with a parser that reports every mistake at once, with its place and a remedy.
//! [`report`] shows such a list to a person.
//!
//! ```
//! use invigil_expr::diag::Sources;
//! use invigil_lang::{prop, report};
//!
//! let mut sources = Sources::default();
//! let file = sources.add("queue.prop", "stat init accepting {}\n");
//! let (_, problems) = prop::parse(file, "stat init accepting {}\n");
//! assert!(report::render(&sources, &problems, false).contains("did you mean `state`?"));
//! ```

pub mod block;
pub mod decent;
pub mod dve;
pub mod ltl;
pub mod mac;
pub mod medl;
pub mod model;
pub mod pedl;
pub mod prop;
mod python;
mod reading;
pub mod report;
pub mod scn;
pub mod themis;
mod written;

pub use written::Written;
