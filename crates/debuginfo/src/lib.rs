//! What a binary tells about itself: functions, lines, frames, variables, types and values.
//!
//! An [`image::Image`] is one ELF file with its debug information. A [`program::Program`] says which images are
//! mapped where in a process, and answers in addresses of that process: functions by name, lines, inlined
//! copies, macros. Given the registers of a stopped thread and its [`machine::Memory`], it unwinds the stack
//! into [`unwinding::Frame`]s. Files are untrusted: damaged ones give less, never a panic.

mod code;
mod functions;
pub mod image;
mod inlining;
mod lines;
pub mod machine;
pub mod macros;
mod names;
pub mod problem;
pub mod program;
pub mod symbols;
pub mod unwinding;
pub mod value;
