//! The laws of the operators, on random finite semantics that are non-deterministic in all three places.

mod automaton;
mod interleaving;
mod lifting;
mod policies;
mod product;
mod simple_operators;
mod table;
