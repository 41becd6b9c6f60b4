//! PEDL, the Primitive Event Definition Language: the monitored entities of a target, and the events and conditions
//! derived from them (`docs/mac.md`).
//!
//! ```text
//! MonScr RailroadCrossing
//!     export event OpenGate, CloseGate;
//!     export condition Gate_Down;
//!
//!     monmeth void Control.open();
//!     monmeth void Control.close();
//!     monobj int Control.gatePos;
//!
//!     event OpenGate = startM(Control.open());
//!     event CloseGate = startM(Control.close());
//!     condition Gate_Down = Control.gatePos == Control.GATE_DOWN;
//! End
//! ```
//!
//! [`parse`] parses a script. [`lower()`] resolves its names, checks its types and returns it as
//! [`invigil_monitor::mac::ScriptDef`] with the list of monitored entities. The language knows nothing about the target:
//! the caller supplies constants such as `Control.GATE_DOWN`.
//!
//! # Grammar
//!
//! ```text
//! script      = "MonScr" [ name ] { statement [ ";" ] } "End"
//! statement   = "export" ( "event" | "condition" ) name { "," name }
//!             | "timestamp" number [ "ms" | "s" ] | "multithread" | "deltavalue" | "valueabstract"
//!             | "monobj" type watched [ scope ] | "monmeth" [ type | "void" ] watched [ scope ]
//!             | ( "event" | "condition" ) name "=" expression
//! watched     = [ name ( "<-" | "<->" ) ] path { "," [ name ( "<-" | "<->" ) ] path }
//! scope       = [ "not" ] "in" path
//! path        = part { ( "." | "::" ) part }
//! part        = name [ "(" [ type { "," type } ] ")" ]
//! type        = ( "boolean" | "char" | "byte" | "short" | "int" | "long" | "float" | "double" | "String" | class ) { "[" "]" }
//! ```
//!
//! Expressions are those of Java, extended by `update(x)`, `startM(f)`, `endM(f)`, `IOM(f)`, `InM(f)`, `start(c)`,
//! `end(c)`, `e when c`, `defined(c)`, `time(e)`, `value(e, i)` and `c => d`.

pub mod ast;
mod entity;
mod lower;
mod parser;
mod type_mismatches;

pub use entity::{Entity, EntityId, EntityRef};
pub(crate) use lower::exports;
pub use lower::{Constant, MonitoringScript, ScriptExport, constants, lower};
pub use parser::{format, parse};
pub use type_mismatches::type_mismatches;
