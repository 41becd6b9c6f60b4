//! Linear temporal logic with past: formulae, small automata, exact monitors.
//!
//! Implemented here because no Rust library translates or monitors LTL, and Spot is C++ under the GPL.
//!
//! A [`Logic`] owns the data that all algorithms share: the formulae with their atoms, and the labels of automata, which
//! are Boolean functions of the same atoms.
//!
//! ```text
//! text ─▶ syntax ─▶ Formula ─▶ simplify ─┬─▶ translate ─▶ Automaton ─▶ HOA, never claim, DOT, analysis
//!         patterns ◀──┘                  ├─▶ monitor ─▶ Moore<Truth> ────────────┐
//!                                        ├─▶ finite ──▶ Moore<bool> ─────────────┼─▶ TransitionTable
//!                                        │   both ────▶ Moore<FourValuedTruth> ──┘
//!                                        └─▶ PastMonitor (only past operators)
//! ```
//!
//! | module | contents |
//! | --- | --- |
//! | [`formula`] | hash-consed formulae, normal forms, printing |
//! | [`syntax`] | parser, formatter and diagnostics of formulae and of files with definitions |
//! | [`patterns`] | specification patterns: sentences in English for formulae |
//! | `simplify` | rewriting by Boolean laws, by temporal laws and by language |
//! | [`analysis`] | satisfiability, equivalence, class in the temporal hierarchy, stutter invariance |
//! | [`label`] | Boolean functions on the edges of automata, as binary decision diagrams |
//! | [`automaton`] | transition-based generalised Büchi automata: reduction, products, determinisation, text formats |
//! | `translate` | the tableau that turns a formula into an automaton |
//! | [`monitor`], `finite` | monitors for prefixes of infinite words, and for finite words |
//! | [`moore`] | Moore machines and their verdicts: minimisation, products, shortest words |
//! | [`table`], [`past`] | execution of monitors: transition tables, and bit-parallel past operators |
//! | [`word`] | letters and lassos, and the reference semantics of all operators |
//!
//! # Invariants
//!
//! - Equal formulae have equal numbers, and equal Boolean functions are equal labels. Both belong to one [`Logic`].
//! - Monitors of equivalent formulae are equal, state by state.
//! - Every construction that can blow up is limited by the [`Budget`] and fails with [`TooLarge`]. Without a time limit,
//!   the result depends on the formula and the budget only.
//! - [`word::Lasso::satisfies`] is the semantics; all automata and monitors are tested against it.
//!
//! # Example
//!
//! ```
//! use invigil_ltl::moore::Truth;
//! use invigil_ltl::{Budget, Logic};
//!
//! let mut logic = Logic::new(Budget::default());
//! let formula = logic.parse("G (request -> F grant) & G !error")?;
//!
//! let automaton = logic.translate(formula)?;
//! let word = automaton.accepting_word(&logic.labels).expect("the formula is satisfiable");
//! assert!(word.satisfies(&logic.formulae, formula));
//!
//! // Only the safety part can be refuted by a prefix.
//! let monitor = logic.monitor(formula)?;
//! assert_eq!(monitor.outputs, [Truth::Unknown, Truth::False]);
//! assert_eq!(monitor.bad_prefix(&logic.labels).map(|prefix| prefix.len()), Some(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Labels are compared and hashed by identity; only their reference counts are mutable.
#![allow(clippy::mutable_key_type)]

pub mod analysis;
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
