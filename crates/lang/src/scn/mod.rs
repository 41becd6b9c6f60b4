//! The scenario language: what to do when a property changes its state.
//!
//! ```text
//! initialization {
//!     saved = []
//! }
//!
//! on entering accepting state {
//!     saved.append(checkpoint())
//! }
//!
//! on entering non-accepting state {
//!     print("violated: " + old_state + " -> " + new_state)
//!     suspend_execution()
//! }
//! ```
//!
//! [`parse`] reads a scenario, and [`lower()`] compiles it for the properties that are watched.
//!
//! # Grammar
//!
//! ```text
//! scenario    = { "initialization" block | reaction }
//! reaction    = "on" ( "entering" | "leaving" ) which [ "of" property ] block
//! which       = "state" name | ( "accepting" | "non-accepting" | "initial" ) "state"
//! property    = name | '"' any text '"'
//! block       = "{" Python "}"
//! ```
//!
//! A comment runs from `#` to the end of the line. All blocks share their variables, which outlast them; the
//! functions that they define see those variables too.

pub mod ast;
mod functions;
mod lower;
mod parser;

pub use functions::{Function, HOST_FUNCTIONS, IMPLICIT};
pub use lower::{Reaction, Scenario, States, lower};
pub use parser::parse;

/// What happens when no scenario is given: the program is suspended where a property is violated.
pub const DEFAULT: &str = "on entering non-accepting state {\n    suspend_execution()\n}\n";
