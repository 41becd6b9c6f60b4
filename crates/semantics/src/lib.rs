//! The semantic interface and the operators that compose its implementations.
//!
//! A subject is a model, a recorded run or a remote program. It answers three questions, each possibly with
//! several answers: where can an execution start ([`Semantics::initial`]), which actions are enabled
//! ([`Semantics::actions`]), and where does an action lead ([`Semantics::execute`]). The interface *describes*
//! steps and never takes one. A debugger, a monitor or a model checker therefore decides which of the
//! described steps are executed. The interface is that of G∀min∃; the cases that its definition leaves open
//! are defined here.
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
//! Every operator maps a semantics to a semantics. [`Compose`] provides them as methods, so that a
//! composition reads from the subject outwards:
//!
//! | operator | result |
//! | --- | --- |
//! | [`Filter`] | the subject under a policy that forbids some of its actions; a scheduler is a policy that leaves at most one |
//! | [`Interleave`] | the asynchronous composition of two subjects, with or without shared variables |
//! | [`Product`] | the synchronous composition of a subject and a property, a [`Dependent`] semantics that reads its steps |
//! | [`Stutter`] | the subject with an idle loop in each deadlock |
//! | [`PreInitialised`] | the subject with other initial configurations |
//! | [`ToTransitionRelation`] | the subject without its actions, for algorithms on plain graphs |
//!
//! Each operator lifts the optional interfaces of its operands: expressions ([`Evaluate`]), acceptance
//! ([`Accepting`]) and textual descriptions ([`Describe`]).
//!
//! # Sets and order
//!
//! The answers are sets in the theory and sequences in the code. **Invariant:** an implementation returns
//! each element once and always in the same order, because policies may break ties by order and must be
//! deterministic. Operators preserve both.
//!
//! # Modules
//!
//! | modules | contents |
//! | --- | --- |
//! | `semantics`, `step`, `dependent`, `observe`, `describe`, `policy`, `binding` | the interfaces |
//! | `compose`, `filter`, `interleave`, `product`, `stutter`, `preinitialised`, `transition_relation` | the operators |
//! | `breakpoint`, `filters`, `schedulers` | ready-made properties and policies |
//! | `either`, `splitmix` | values of one of two parts; pseudo-random numbers |

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
mod filters;
mod interleave;
mod observe;
mod policy;
mod preinitialised;
mod product;
mod schedulers;
mod semantics;
mod splitmix;
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
pub use filters::{Keep, ReactiveHypothesis};
pub use interleave::Interleave;
pub use observe::{Accepting, Evaluate};
pub use policy::{AsFilter, FilteringPolicy, Only, SchedulingPolicy};
pub use preinitialised::PreInitialised;
pub use product::{Product, ProductAction};
pub use schedulers::{FixedPriority, RoundRobin, SeededRandom};
pub use semantics::{Language, Semantics};
pub use splitmix::SplitMix64;
pub use step::{Step, StepOf, StepRef};
pub use stutter::Stutter;
pub use transition_relation::{ToTransitionRelation, TransitionRelation};
