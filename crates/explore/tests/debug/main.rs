//! The finder of breakpoints and the unified debugger.

mod finding;
mod graph;
mod infinite;
mod laws;
mod patterns;
mod violations;
mod worked;
