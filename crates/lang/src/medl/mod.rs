//! MEDL, the Meta Event Definition Language: properties that must hold and alarms that must not occur (`docs/mac.md`).
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
//! [`parse`] parses a script. [`lower()`] resolves its names, checks its types and returns it as
//! [`invigil_monitor::mac::ScriptDef`]. If it is given the PEDL script, it checks the imports against its exports.
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
//! Expressions are those of Java, extended by `start(c)`, `end(c)`, `e when c`, `[e, f)`, `defined(c)`, `time(e)`,
//! `value(e, i)`, `c => d` (or `c -> d`) and `x'`.

pub mod ast;
mod connect;
mod lower;
mod names;
mod parser;

pub use connect::{ConnectedScripts, MethodNaming, connect, snapshots};
pub(crate) use lower::lower_with;
pub use lower::{RequirementScript, lower};
pub use parser::{format, parse};
