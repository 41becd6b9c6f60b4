//! Java programs that really run.

// Script actions that call methods or trigger scenarios.
mod actions;
// Breakpoints and stepping.
mod breakpoints;
// Helpers: compiles the programs, runs them, logs their events.
mod common;
// Embedded monitors see all threads in one order.
mod embedded_monitors;
// Method and field events.
mod events;
// Reading and changing a stopped program.
mod inspection;
// Resolution of names, and messages about unknown ones.
mod names;
// A second debugger on the same program.
mod other_debuggers;
// PEDL and MEDL on live programs.
mod scripts;
// Slices of collected objects are dropped.
mod slice_collection;
// Program exits, and what happens to programs when the debugger exits.
mod termination;
// Instrumentation is invisible to reflection.
mod transparency;
