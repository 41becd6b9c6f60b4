//! Memories, expressions and histories: examples, tables and propositions of EH18, and naive reference
//! implementations.

mod expressions;
mod malformed_input;
mod memory;
mod propositions;
mod published_tables;
mod reference;
mod replicas;
mod states;
