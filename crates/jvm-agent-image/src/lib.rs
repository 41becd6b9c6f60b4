//! Shared object of `invigil-jvm-agent`.
//!
//! `invigil-jvm` loads it into Java virtual machines and carries it inside the command: see its build script.

// Its exported symbols are all that this crate consists of.
extern crate invigil_jvm_agent as _;
