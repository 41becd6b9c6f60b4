//! The session over a scripted program.

mod back;
mod checkpoints;
mod common;
mod failures;
mod fake;
mod inside;
mod monitors;
mod past;
mod scenarios;
