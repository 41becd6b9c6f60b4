//! Breakpoint search and the unified debugger.

mod finder;
mod graph;
mod infinite_executions;
mod laws;
mod patterns;
mod violations;
mod worked_example;
