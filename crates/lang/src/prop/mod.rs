//! The property language: automata over the events of a program.
//!
//! A property declares its slice parameters, its variables, and the transitions of each state. Guards and updates
//! are blocks of Python:
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
//! [`parse`] parses a property, [`lower`](mod@lower) compiles it, [`format`](format()) formats it, [`explain`]
//! summarises it, and [`picture`] draws an automaton.
//!
//! # Grammar
//!
//! ```text
//! property    = { "slice" "on" name { "," name } | "initialization" block | state }
//! state       = "state" name { "accepting" | "non-accepting" | "final" | action | import } [ body ]
//! body        = "{" { transition | import } "}"
//! import      = "import" "transitions" "from" "state" name
//! transition  = "transition" "{" event [ block ] [ "success" branch ] [ "failure" branch ] "}"
//! branch      = [ block ] [ action ] [ name ]        (at least one of them)
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
//! No word is reserved: a state may be called `final` and a parameter `state`. A comment runs from `#` to the end
//! of the line, except where an event or a parameter is expected: there `#join`, `#ecid` and so on are names.

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
