//! Reads functions, lines, frames, variables, types and values from the debug information of a program.
//!
//! An [`image::Image`] is one ELF file with its debug information. A [`program::Program`] knows which images are mapped
//! where in a process and answers in addresses of that process: functions by name, lines, inlined instances, macros.
//! Given the registers of a stopped thread and its [`machine::Memory`], it unwinds the stack into
//! [`unwinding::Frame`]s. A [`value::Scope`] evaluates expressions in such a frame; a [`value::Extractor`] prepares one
//! value for reading it at every event.
//!
//! | module | contents |
//! | --- | --- |
//! | [`image`] | ELF file: segments, sections, DWARF units, separate debug files |
//! | [`program`] | mapped images: functions, lines, inlining in addresses of the process |
//! | [`symbols`], [`macros`] | symbol tables; macros of C and C++ |
//! | [`machine`] | registers and memory of a stopped thread |
//! | [`unwinding`] | the call stack |
//! | [`value`] | types, variables, expressions, extraction |
//!
//! Invariants: files are untrusted, so malformed ones yield less information but never a panic. Each part of a file is
//! read when it is first needed and kept for the life of the process.

mod code;
pub mod error;
mod functions;
pub mod image;
mod inlining;
mod lines;
pub mod machine;
pub mod macros;
mod names;
pub mod program;
pub mod symbols;
pub mod unwinding;
pub mod value;
