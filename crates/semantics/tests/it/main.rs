//! Laws of the operators, on random finite semantics with all three kinds of non-determinism.

// A textbook example of the three kinds of non-determinism.
mod automaton;
// Interleaving, with and without shared variables.
mod interleaving;
// Lifting of expressions, acceptance and descriptions.
mod lifting;
// Policies and the filter that applies them.
mod policies;
// The product against a brute-force oracle.
mod product;
// Stuttering, pre-initialisation, transition relations.
mod simple_operators;
// Helper: random finite semantics as tables.
mod table;
