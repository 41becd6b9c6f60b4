//! The unified debugger: a subject whose actions are those of a user who debugs another subject.
//!
//! It steps, selects one of several outcomes, jumps to earlier configurations, and runs to a breakpoint. Its
//! [`History`] determines the kind of debugger: nothing ([`NoHistory`]), one execution ([`Omniscient`]), or a tree of
//! executions ([`Multiverse`]). Since the debugger implements the semantic interface itself, it can be explored,
//! monitored and debugged.
//!
//! ```
//! use invigil_explore::debugger::{DebugAction, Debugger, Multiverse};
//! use invigil_semantics::Semantics;
//! # use invigil_semantics::Language;
//! # struct Coin;
//! # impl Language for Coin { type Config = char; type Action = &'static str; }
//! # impl Semantics for Coin {
//! #     fn initial(&self) -> impl IntoIterator<Item = char> { ['?'] }
//! #     fn actions(&self, at: &char) -> impl IntoIterator<Item = &'static str> { (*at == '?').then_some("toss") }
//! #     fn execute(&self, _: &char, _: &&'static str) -> impl IntoIterator<Item = char> { ['H', 'T'] }
//! # }
//! let debugger: Debugger<'_, Coin, Multiverse<char, &str>> = Debugger::new(&Coin);
//! let mut at = debugger.initial_config();
//! for act in [DebugAction::Select('?'), DebugAction::Step("toss"), DebugAction::Select('T'), DebugAction::Jump(0)] {
//!     at = debugger.act(&at, &act).unwrap();
//! }
//! assert_eq!(at.current, Some('?'));
//! // Both universes can still be reached: the one that was seen by a jump, the other by a step.
//! assert!(debugger.actions(&at).into_iter().any(|act| act == DebugAction::Jump(1)));
//! ```

mod action;
mod describe;
mod history;
mod multiverse;
mod semantics;

pub use action::{DebugAction, DebugConfig};
pub use history::{History, NoHistory, Omniscient, Visit};
pub use multiverse::Multiverse;
pub use semantics::Debugger;
