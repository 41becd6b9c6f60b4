//! MEDL, the Meta Event Definition Language: what must hold, and what must never happen (`docs/mac.md`).
//!
//! ```text
//! ReqSpec SafeCrossing
//!     import event OpenGate, CloseGate;
//!     import condition Gate_Down;
//!
//!     var long lastClose;
//!
//!     property GateClosing =
//!         [CloseGate when !Gate_Down, OpenGate || start(Gate_Down)) => lastClose + 30*1000 > currentTime;
//!
//!     CloseGate -> { lastClose' = time(CloseGate); }
//! End
//! ```
//!
//! [`parse`] reads a script. [`lower()`] looks up its names, checks its types and gives it as
//! [`invigil_monitor::mac::Parts`]. It can be given the PEDL script that the imports come from, and then checks that they do.
//!
//! # Grammar
//!
//! ```text
//! script      = "ReqSpec" [ name ] { statement [ ";" ] } "End"
//! statement   = "import" ( "event" | "condition" | "action" ) imported { "," imported }
//!             | "var" type name { "," name }
//!             | ( "event" | "condition" | "property" | "alarm" ) name "=" expression
//!             | event "->" ( "{" { update ";" } "}" | update )
//! imported    = name [ "(" [ type { "," type } ] ")" ] [ "=" name "." name { "." name } "(" [ constant { "," constant } ] ")" ]
//! update      = name "'" ( "=" | ":=" ) expression | "print" expression | "invoke" name
//! ```
//!
//! Expressions are Java's, with `start(c)`, `end(c)`, `e when c`, `[e, f)`, `defined(c)`, `time(e)`, `value(e, i)`,
//! `c => d` (or `c -> d`) and `x'`.

pub mod ast;
mod lower;
mod names;
mod parser;
mod watched;

pub(crate) use lower::lower_with;
pub use lower::{Lowered, lower};
pub use parser::{format, parse};
pub use watched::{Names, Watched, snapshots, watch};
