//! Tests of formulae, automata and monitors.

// Analyses of formulae: satisfiability, equivalence, classes, stuttering.
mod analysis;
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
// Never claims and DOT, checked by SPIN and Graphviz.
mod never_claims;
// Monitors of past-time formulae.
mod past_operators;
// Specification patterns as sentences.
mod patterns;
// Printed formulae parse to themselves.
mod printing;
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
