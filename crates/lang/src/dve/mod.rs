//! DVE, the language of DiVinE's models, among them the BEEM benchmark.
//!
//! ```text
//! byte turn;
//! channel hello;
//! channel {byte} post[2];
//!
//! process A {
//!     byte x = 1;
//!     state idle, busy;
//!     init idle;
//!     trans
//!         idle -> busy { guard turn == 0; sync hello!x; effect turn = 1; },
//!         busy -> idle { sync post!x + 1; };
//! }
//! process B {
//!     byte y;
//!     state a, b;
//!     init a;
//!     assert b: y < 10;
//!     trans
//!         a -> b { sync hello?y; },
//!         b -> a { sync post?y; effect turn = 0; };
//! }
//! system async;
//! ```
//!
//! # What becomes of it
//!
//! - A process has its location in a variable of its own name (`A`), which holds the names of its states; its
//!   variables are called `A.x`. For each state there is a predicate: `A.busy` holds while `A` is there. The buffer
//!   of a channel is the array `post` (`post.1`, `post.2`, … if each message has several values) and the variable
//!   `post.length`; what is not used of it is 0.
//! - An action is called `A: idle → busy` for people, or `A: idle → busy, B: a → b (hello)` for a rendez-vous. Its
//!   *event*, by which properties know it, is the name of the channel for a rendez-vous (`hello`), `post.send` and
//!   `post.receive` for a buffered channel, and else the state that is entered: `A.busy`. What is sent is the
//!   event's parameter `value` (`value1`, `value2`, … if there are several).
//! - Actions are numbered process by process, and in the order of the file there. A rendez-vous belongs to the
//!   process that sends.
//! - Assertions are claims that always hold. The property process is a claim that no execution is accepted by it: it
//!   is no process of the model.
//!
//! # Rules that are easily missed
//!
//! They are those of DiVinE's own interpreter, by which the published numbers were found.
//!
//! - `and` and `or` bind equally strongly, and so do `&`, `|` and `^`: all group to the left.
//! - In a rendez-vous, the values are stored first, then the receiver's effects happen, then the sender's. That the
//!   effects of both change one global variable is a fault.
//! - While a process is in a committed state, only processes in committed states move. For a rendez-vous both must
//!   be in one.
//! - `byte` is 0 to 255, `int` is -32768 to 32767. A value beyond that is a fault, unless [`Options::wraps`].
//! - In `system sync` every process takes a transition in each step, all of them looking at the state before the
//!   step.
//! - The values of an array may be too many if the rest of them is 0: published models do this.

mod actions;
mod ast;
mod claims;
mod expressions;
mod lower;
mod operators;
mod parser;
mod scan;
mod together;
mod transitions;
mod variables;

use crate::model::Loaded;
use invigil_expr::diag::{Diagnostic, SourceId};

/// How to take what the language leaves open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether a value that a variable cannot hold loses its upper bits, instead of being a fault.
    pub wraps: bool,
}

/// Reads the model in `text`, the contents of the file known as `source`.
///
/// There is a model if no error is among the diagnostics.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::dve::{Options, load};
///
/// let text = "byte n; process P { state a, b; init a; trans a -> b { effect n = 1; }; } system async;";
/// let (loaded, problems) = load(SourceId(0), text, &Options::default());
/// assert!(problems.is_empty());
/// assert_eq!(loaded.unwrap().model.action(0).name, "P: a → b");
///
/// let wrong = text.replace("n = 1", "m = 1");
/// let (_, problems) = load(SourceId(0), &wrong, &Options::default());
/// assert_eq!(problems[0].help.as_deref(), Some("did you mean `n`?"));
/// ```
pub fn load(source: SourceId, text: &str, options: &Options) -> (Option<Loaded>, Vec<Diagnostic>) {
    let (file, mut problems) = parser::parse(source, text);
    // Names are not looked at in a file of which parts could not be read: most complaints would be consequences.
    if problems.iter().any(Diagnostic::is_error) {
        return (None, problems);
    }
    let loaded = lower::lower(&file, text, options, &mut problems);
    let is_usable = !problems.iter().any(Diagnostic::is_error);
    (loaded.filter(|_| is_usable), problems)
}
