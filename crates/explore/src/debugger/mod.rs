//! The unified debugger: a subject whose actions are those of a person who debugs another subject.
//!
//! It steps, selects among several outcomes, jumps to what was seen before, and runs to a breakpoint. What it
//! remembers is up to its [`History`]: nothing ([`Traceless`]), one execution ([`Omniscient`]), or a tree of them
//! ([`Multiverse`]). As it speaks the semantic interface itself, it can be explored, watched, and debugged.
//!
//! ```
//! use invigil_explore::debugger::{Act, Debugger, Multiverse};
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
//! let mut at = debugger.begin();
//! for act in [Act::Select('?'), Act::Step("toss"), Act::Select('T'), Act::Jump(0)] {
//!     at = debugger.act(&at, &act).unwrap();
//! }
//! assert_eq!(at.current, Some('?'));
//! // Both universes can still be reached: the one that was seen by a jump, the other by a step.
//! assert!(debugger.actions(&at).into_iter().any(|act| act == Act::Jump(1)));
//! ```

mod act;
mod history;
mod multiverse;
mod rules;
mod show;

pub use act::{Act, Debugging};
pub use history::{History, Omniscient, Traceless, Visit};
pub use multiverse::Multiverse;
pub use rules::Debugger;
