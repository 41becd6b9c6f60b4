//! Commands of the prompt on a scripted target: effects, output and errors.

mod command_lookup;
mod common;
mod fake_target;
mod history;
mod inspection;
mod properties;
mod running;
mod sessions;
