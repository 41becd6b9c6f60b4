//! The session over a scripted program.

mod checkpoints;
mod common;
mod embedded_monitors;
mod failures;
mod fake_target;
mod history;
mod monitors;
mod reverse;
mod scenarios;
mod scripts;
