//! The languages that users write, from source text to the forms that the engines run.
//!
//! The parsers are hand-written so that they can recover from errors and suggest remedies.
//!
//! ```text
//! source text --parse--> syntax tree --lower--> automaton, script or model
//!            \______ diagnostics (span, message, help) ______/--report--> text for the user
//! ```
//!
//! A parser recovers from errors, so all errors of a file are reported together, each with its position and a remedy.
//! Lowering resolves names, checks types and compiles blocks. Languages with a `load` function do both in one call.
//!
//! | module | language | result |
//! | --- | --- | --- |
//! | [`prop`] | properties (`.prop`) | `invigil_monitor`'s `Automaton` |
//! | [`ltl`] | temporal formulae as properties | `Automaton` |
//! | [`scn`] | scenarios (`.scn`) | [`scn::Scenario`] |
//! | [`pedl`], [`medl`] | pairs of MaC scripts | [`mac::ScriptPair`] |
//! | [`model`], [`dve`] | models, also in DiVinE's language | [`model::ModelFile`] |
//! | [`decent`], [`themis`] | decentralized specifications, also in THEMIS' XML | [`decent::LoadedSpecification`] |
//! | [`block`] | blocks in Invigil's Python dialect | dedented text with a map to the file |
//! | [`report`] | | renders diagnostics |
//!
//! # Invariants
//!
//! - Input is untrusted: every text yields a result or diagnostics, never a panic. Nesting, sizes and the number of
//!   diagnostics are limited.
//! - A result without error diagnostics is complete; with errors, `lower` and `load` return none.
//! - Formatters keep every token and every comment.
//! - No module accesses files or the target. Callers supply texts, and constants of the target where scripts use them.
//!
//! # Example
//!
//! ```
//! use invigil_expr::diag::Sources;
//! use invigil_lang::{prop, report};
//!
//! let mut sources = Sources::default();
//! let file = sources.add("queue.prop", "stat init accepting {}\n");
//! let (_, diagnostics) = prop::parse(file, "stat init accepting {}\n");
//! assert!(report::render(&sources, &diagnostics, false).contains("did you mean `state`?"));
//! ```

pub mod block;
pub mod decent;
pub mod dve;
pub mod ltl;
pub mod mac;
pub mod medl;
pub mod model;
mod parsing;
pub mod pedl;
pub mod prop;
mod property_source;
mod python;
pub mod report;
pub mod scn;
pub mod themis;

pub use property_source::PropertySource;
