//! Memories, expressions and histories: the document's examples and tables, its propositions on random automata, and naive
//! twins.

mod dice;
mod expressions;
mod hostile;
mod laws;
mod memory;
mod replicas;
mod states;
mod tables;
mod world;
