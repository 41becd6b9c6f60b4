//! The property language: automata that read the events of a program.
//!
//! A property says on which parameters it is sliced, what it remembers, and what its states do with each
//! event. Conditions and updates are blocks of Python:
//!
//! ```text
//! slice on queue
//!
//! initialization { N = 0 }
//!
//! state init accepting {
//!     transition {
//!         before event queue_push(queue, arg 2 as value: int) { return N < 16 }
//!         success { N = N + 1 } init
//!         failure sink
//!     }
//! }
//!
//! state sink non-accepting sink_reached()
//! ```
//!
//! [`parse`] reads a property, [`format`](format()) prints it in one style, and [`picture`] draws an
//! automaton.
//!
//! # Grammar
//!
//! ```text
//! property    = { "slice" "on" name { "," name } | "initialization" block | state }
//! state       = "state" name { "accepting" | "non-accepting" | "final" | action | import } [ body ]
//! body        = "{" { transition | import } "}"
//! import      = "import" "transitions" "from" "state" name
//! transition  = "transition" "{" event [ block ] [ "success" end ] [ "failure" end ] "}"
//! end         = [ block ] [ action ] [ name ]        (at least one of them)
//! event       = [ "before" | "after" ] ( "event" | "call" ) [ "call" | "read" | "write" | "access" ]
//!               event-name [ "(" [ param { "," param } ] ")" ]
//! event-name  = name { ( "." | "::" ) name } | file ":" line | '"' any text '"'
//!             | "syscall:" name | "#join" | "#leave" | "#tick" | "#signal" | "#fork" | "#exec" | "#exit"
//!             | "#thread" | "#thread_exit"
//! param       = source { "as" name | ":" type }
//! source      = { "*" | "&" | "^" } ( name | "arg" number | "ret"
//!             | "#ecid" | "#program" | "#thread" | "#time" | '"' expression '"' )
//! action      = name "(" arguments ")"
//! block       = "{" Python "}"
//! ```
//!
//! No word is reserved: a state may be called `final` and a parameter `state`. A comment runs from `#` to the
//! end of the line; only where an event or a parameter can stand is `#join`, or `#ecid` and its like, read as
//! what it says.

pub mod ast;
pub mod explain;
mod format;
pub mod lower;
mod parser;
pub mod picture;

pub use ast::Property;
pub use format::format;
pub(crate) use parser::event;
pub use parser::parse;
