//! Formulae and their automata.

// Operations on random automata.
mod automata;
// Automaton sizes against Spot and known minima.
mod automaton_sizes;
// Operators with bounds.
mod bounded_operators;
// Helpers: random formulae, words and automata.
mod common;
// Everything derived from a formula against its plain semantics.
mod differential;
// Finite words.
mod finite_words;
// The HOA format: writing, reading, diagnostics.
mod hoa;
// Adversarial texts: an answer or an error in bounded time.
mod hostile_formulae;
// Labels under a tight memory budget.
mod labels;
// Monitors against their definition, and their form.
mod monitors;
// Never claims, pictures, and SPIN as a judge.
mod never_claims;
// Past-time formulae.
mod past_operators;
// Specification patterns in words.
mod patterns;
// Printed formulae parse to themselves.
mod printing;
// Questions about formulae: satisfiability, equivalence, stuttering and so on.
mod questions;
// Reductions preserve the language.
mod reduction;
// Simplified formulae are equivalent.
mod simplification;
// Large formulae of a published smart home.
mod smart_home;
// Syntax and its diagnostics.
mod syntax;
// Transition tables run like their machines.
mod tables;
// Automata accept the models of their formulae.
mod translation;
