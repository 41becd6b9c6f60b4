//! Linear temporal logic: formulae, the smallest automata for them that we can find, and exact monitors.
//!
//! Hand-written because no Rust library translates or monitors LTL; Spot is C++ under the GPL.
//!
//! A [`Logic`] holds everything that belongs together: the names of atoms, the formulae made of them
//! ([`formula`]), and the Boolean labels of automata ([`label`]). From a formula one gets an automaton on
//! infinite words ([`automaton`]) or a monitor for the words that grow while one watches.
//!
//! Everything that can grow beyond reason does so under a [`Budget`], and ends with [`TooLarge`] instead of
//! eating the machine.

// Labels are compared and hashed by identity; what changes inside them is the count of their users.
#![allow(clippy::mutable_key_type)]

pub mod automaton;
mod budget;
mod finite;
pub mod formula;
pub mod label;
mod logic;
pub mod monitor;
pub mod moore;
pub mod past;
pub mod patterns;
pub mod questions;
mod simplify;
pub mod syntax;
pub mod table;
mod translate;
pub mod word;

pub use budget::{Budget, TooLarge};
pub use formula::{Atom, Formula};
pub use label::Label;
pub use logic::Logic;
pub use simplify::Effort;
