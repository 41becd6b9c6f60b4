#![forbid(unsafe_code)]
//! Where a person meets a session: the prompt, and the report when nobody is there.
//!
//! A [`Cockpit`] holds a session and takes commands: a line in, text out. It does not know a terminal, so a
//! file of commands, a block of a scenario or an editor can give them as well as a person. [`prompt`] is the
//! loop that asks a person; [`report`] tells a run when nobody is there. [`multiverse`] is the debugger for models.

mod bell;
mod cockpit;
mod command;
mod commands;
mod complete;
mod console;
mod desk;
mod graph;
pub mod multiverse;
mod opening;
pub mod prompt;
pub mod report;
mod say;
mod voice;
mod workshop;

pub use bell::Bell;
pub use cockpit::Cockpit;
pub use command::{Command, Topic, commands};
pub use complete::Completion;
pub use console::Console;
pub use opening::{Failed, Setting, format_of, pending, point_out};
pub use voice::Voice;
pub use workshop::{Files, Loaded, Role, Workshop};
