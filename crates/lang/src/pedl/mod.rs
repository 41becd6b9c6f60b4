//! PEDL, the Primitive Event Definition Language: what is watched in a program, and which events and conditions are
//! made of it (`docs/mac.md`).
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
//! [`parse`] reads a script. [`lower()`] looks up its names, checks its types and gives it as
//! [`invigil_monitor::mac::Parts`], with the list of what is watched. The language does not know the program: whoever
//! does says what constants such as `Control.GATE_DOWN` are.
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
//! Expressions are Java's, with `update(x)`, `startM(f)`, `endM(f)`, `IOM(f)`, `InM(f)`, `start(c)`, `end(c)`,
//! `e when c`, `defined(c)`, `time(e)`, `value(e, i)` and `c => d`.

pub mod ast;
mod entity;
mod lower;
mod parser;

pub use entity::{Entity, Id, Place};
pub(crate) use lower::exports;
pub use lower::{Constant, Exported, Lowered, constants, lower};
pub use parser::{format, parse};
