//! Debug information of programs compiled by the tests.

// Helpers: compiled programs, stopped processes.
mod common;
// The expression language: parsing, printing, evaluation.
mod expressions;
// Functions by name and by address in C, C++ and Rust.
mod functions;
// Opening valid, unsuitable, corrupted and separate files.
mod open;
// Source lines and macros.
mod source_lines;
// Stacks of real processes.
mod unwinding;
// Values of C programs.
mod values_c;
// Values of C++ programs.
mod values_cpp;
// Arguments at entry, results at exit, prepared extractions.
mod values_entry;
// Values of Rust programs.
mod values_rust;
