//! Live programs, observed by traps.

mod all_instructions;
mod breakpoints;
mod checkpoints;
mod common;
mod events;
mod function_exits;
mod hostile_programs;
mod images;
mod inspection;
mod launching;
mod parameters;
mod predefined_events;
mod stepping;
mod threads;
mod watchpoints;
