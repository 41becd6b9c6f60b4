//! The semantic interface, and the operators that compose what speaks it.
//!
//! A subject — a model, a recorded trace, a live process — shows itself through three questions, each of
//! which may have several answers: where can it start ([`Semantics::initial`]), what can it do here
//! ([`Semantics::actions`]), and where does that lead ([`Semantics::execute`]). The interface *describes*
//! steps and never takes them by itself, so that a debugger, a monitor and a model checker can stand
//! between the description and the execution. The interface is that of G∀min∃, with the gaps closed that
//! its definition leaves open.
//!
//! # A model in ten lines
//!
//! ```
//! use invigil_semantics::{Language, Semantics};
//!
//! /// A counter that may count up to three, or be reset to zero or one.
//! struct Counter;
//!
//! impl Language for Counter {
//!     type Config = u8;
//!     type Action = &'static str;
//! }
//!
//! impl Semantics for Counter {
//!     fn initial(&self) -> impl IntoIterator<Item = u8> {
//!         [0]
//!     }
//!     fn actions(&self, at: &u8) -> impl IntoIterator<Item = &'static str> {
//!         if *at < 3 { vec!["up", "reset"] } else { vec!["reset"] }
//!     }
//!     fn execute(&self, at: &u8, action: &&'static str) -> impl IntoIterator<Item = u8> {
//!         if *action == "up" { vec![at + 1] } else { vec![0, 1] }
//!     }
//! }
//!
//! // The simplest controller: take the first step on offer, again and again.
//! let mut at = Counter.initial().into_iter().next().unwrap();
//! for _ in 0..3 {
//!     (_, at) = Counter.steps(&at).into_iter().next().unwrap();
//! }
//! assert_eq!(at, 3);
//! ```
//!
//! # Composition
//!
//! Every operator takes a semantics and gives a semantics. [`Compose`] offers them as methods, to be read
//! from the subject outwards:
//!
//! | operator | gives |
//! | --- | --- |
//! | [`Filter`] | the subject under a policy that forbids some of its actions; a scheduler is a policy that leaves at most one |
//! | [`Interleave`] | two subjects side by side, with or without shared variables |
//! | [`Product`] | a subject watched by a property, a [`Dependent`] semantics that reads the subject's steps |
//! | [`Stutter`] | the subject, idling for ever where it is deadlocked |
//! | [`PreInitialised`] | the subject, started elsewhere |
//! | [`ToTransitionRelation`] | the subject with its actions forgotten, for algorithms on plain graphs |
//!
//! What a subject can say about itself survives composition: its expressions ([`Evaluate`]), its
//! acceptance ([`Accepting`]) and its description for people ([`Describe`]) are lifted by each operator.
//!
//! # Sets and order
//!
//! The answers are sets in the mathematics and sequences in the code. An implementation gives each element
//! once and always in the same order, because a policy may break ties by order and must be deterministic;
//! operators preserve both.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod binding;
mod breakpoint;
mod compose;
mod dependent;
mod describe;
mod either;
mod filter;
mod interleave;
mod observe;
mod policy;
mod preinitialised;
mod product;
mod ready_filters;
mod ready_schedulers;
mod semantics;
mod step;
mod stutter;
mod transition_relation;

pub use binding::{Binding, Independent};
pub use breakpoint::{Breakpoint, BreakpointState};
pub use compose::Compose;
pub use dependent::Dependent;
pub use describe::{Describe, Field, Fields};
pub use either::Either;
pub use filter::Filter;
pub use interleave::Interleave;
pub use observe::{Accepting, Evaluate};
pub use policy::{FilteringPolicy, Only, Schedule, SchedulingPolicy};
pub use preinitialised::PreInitialised;
pub use product::{Product, ProductAction};
pub use ready_filters::{Keep, ReactiveHypothesis};
pub use ready_schedulers::{FixedPriority, RoundRobin, SeededRandom};
pub use semantics::{Language, Semantics};
pub use step::{Step, StepOf, StepRef};
pub use stutter::Stutter;
pub use transition_relation::{ToTransitionRelation, TransitionRelation};
