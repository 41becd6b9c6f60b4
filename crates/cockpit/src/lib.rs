#![forbid(unsafe_code)]
//! Text front ends of the debuggers: the prompt for live programs, the prompt for models, the report of a batch run.
//!
//! A [`LiveDebugger`] owns a session and executes commands: it maps a line to text. It does not use a terminal, so
//! that commands can come from the user, a file, a block of a scenario or an editor. [`prompt`] reads
//! lines from a terminal; [`report`] renders an unattended run; [`multiverse`] is the debugger for models.
//!
//! ```text
//! line ─▶ command::run ─▶ commands::* ─▶ Session ─▶ RunOutcome ─▶ render::* ─▶ text
//! ```
//!
//! | module | contents |
//! | --- | --- |
//! | `live_debugger` | session and REPL state behind one interface |
//! | `command`, `commands`, `command_error` | the command table, parsing of a line, the commands by topic, their errors |
//! | `repl_state` | state that commands share |
//! | `start`, `session_factory` | starting a session from files and a target |
//! | `render`, `graph` | stops, stacks, sources, event history, checkpoints, the automaton as SVG |
//! | `prompt`, `complete` | line editing, history and completion |
//! | `message_sink`, `console`, `interrupt_handle` | messages while the target runs, the shared terminal, Ctrl-C |
//! | [`report`] | text and JSON report of a batch run |
//! | [`multiverse`] | the debugger for models |
//!
//! # Invariants
//!
//! - Commands never write to the terminal: they return text, or a [`CommandError`] whose text lacks the prefix `error:`.
//! - A failed restart leaves the session, or at least its list of files, as before.
//! - On exit, a target that the user attached to is detached instead of killed.

mod command;
mod command_error;
mod commands;
mod complete;
mod console;
mod graph;
mod interrupt_handle;
mod live_debugger;
mod message_sink;
pub mod multiverse;
pub mod prompt;
mod render;
mod repl_state;
pub mod report;
mod session_factory;
mod start;

pub use command::{Command, CommandTopic, commands};
pub use command_error::CommandError;
pub use complete::Completion;
pub use console::Console;
pub use interrupt_handle::InterruptHandle;
pub use live_debugger::LiveDebugger;
pub use message_sink::MessageSink;
pub use session_factory::{AutomatonRole, Files, LoadedFiles, SessionFactory};
pub use start::{
    OpenError, SessionConfig, format_from_path, missing_probes_note, pending_note, render_unresolved,
};
