//! Decentralized monitoring: what is to hold is spread over the components of a system, each of which sees only its own part,
//! and still there is one sound verdict.
//!
//! A [`System`](system::System) has components with the propositions that each observes. A monitor runs an
//! [`Automaton`](automaton::Automaton) whose labels speak of them, and of what other monitors say. What is known of its run
//! is an [`Encoding`](encoding::Encoding). An [`algorithm`] makes monitors of a specification and lets them talk.

pub mod algorithm;
pub mod automaton;
mod bits;
pub mod encoding;
pub mod expression;
pub mod measure;
pub mod memory;
pub mod network;
pub mod simulate;
pub mod spec;
pub mod system;
pub mod text;
