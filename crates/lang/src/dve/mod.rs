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
//! # Mapping to models
//!
//! - A process has its location in a variable of its own name (`A`), whose values are the names of its states; its
//!   variables are called `A.x`. For each state there is a predicate: `A.busy` is true while `A` is in it. The buffer
//!   of a channel is the array `post` (`post.1`, `post.2`, … if messages have several values) and the variable
//!   `post.length`; unused elements are 0.
//! - An action is shown as `A: idle → busy`, or as `A: idle → busy, B: a → b (hello)` for a rendezvous. Its *event*,
//!   by which properties refer to it, is the name of the channel for a rendezvous (`hello`), `post.send` and
//!   `post.receive` for a buffered channel, and otherwise the state that is entered: `A.busy`. The value sent is the
//!   event's parameter `value` (`value1`, `value2`, … if there are several).
//! - Actions are numbered process by process, in source order. A rendezvous belongs to the sending process.
//! - Assertions are claims that always hold. The property process is the claim that it accepts no execution; it is not
//!   a process of the model.
//!
//! # Semantics that are easily missed
//!
//! These rules are those of DiVinE's own interpreter, with which the published numbers were computed.
//!
//! - `and` and `or` bind equally strongly, and so do `&`, `|` and `^`: all group to the left.
//! - In a rendezvous, values are stored first, then the receiver's effects are executed, then the sender's. It is a
//!   fault if the effects of both change the same global variable.
//! - While a process is in a committed state, only processes in committed states move. In a rendezvous, both must be.
//! - `byte` is 0 to 255, `int` is -32768 to 32767. Values beyond that are a fault, unless [`Options::wraps`].
//! - In `system sync`, every process takes a transition in each step, and all of them read the state before the step.
//! - An array may have too many initial values if the excess ones are 0: published models rely on this.

mod actions;
mod ast;
mod claims;
mod expressions;
mod lower;
mod operators;
mod parser;
mod scan;
mod sync_composition;
mod transitions;
mod variables;

use crate::model::ModelFile;
use invigil_expr::diag::{Diagnostic, SourceId};

/// Choices that the language leaves open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether a value that a variable cannot hold loses its upper bits instead of raising a fault.
    pub wraps: bool,
}

/// Loads the model in `text`, the contents of the file `source`.
///
/// Returns a model if no error is among the diagnostics.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::dve::{Options, load};
///
/// let text = "byte count; process P { state a, b; init a; trans a -> b { effect count = 1; }; } system async;";
/// let (loaded, diagnostics) = load(SourceId(0), text, &Options::default());
/// assert!(diagnostics.is_empty());
/// assert_eq!(loaded.unwrap().model.action(0).name, "P: a → b");
///
/// let wrong = text.replace("count = 1", "cuont = 1");
/// let (_, diagnostics) = load(SourceId(0), &wrong, &Options::default());
/// assert_eq!(diagnostics[0].help.as_deref(), Some("did you mean `count`?"));
/// ```
pub fn load(source: SourceId, text: &str, options: &Options) -> (Option<ModelFile>, Vec<Diagnostic>) {
    let (file, mut diagnostics) = parser::parse(source, text);
    // Names are not resolved in a file with syntax errors: most further diagnostics would be consequences.
    if diagnostics.iter().any(Diagnostic::is_error) {
        return (None, diagnostics);
    }
    let loaded = lower::lower(&file, text, options, &mut diagnostics);
    let is_usable = !diagnostics.iter().any(Diagnostic::is_error);
    (loaded.filter(|_| is_usable), diagnostics)
}
