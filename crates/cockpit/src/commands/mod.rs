//! The commands of the live debugger, by topic.

mod breakpoints;
mod data;
mod exec;
mod files;
mod help;
mod history;
pub(crate) mod info;
mod list;
mod properties;
mod running;
mod session;
mod stack;

pub(crate) use exec::METHODS;

use crate::command::{Command, CommandContext};
use crate::repl_state::ReplState;
use crate::session_factory::LoadedFiles;
use invigil_check::report::Style;
use invigil_session::{CommandRunner, Session};
use std::rc::Rc;

/// All command tables, in the order of the help.
pub(crate) const TABLES: &[&[Command]] = &[
    running::TABLE,
    breakpoints::TABLE,
    stack::TABLE,
    list::TABLE,
    data::TABLE,
    info::TABLE,
    properties::TABLE,
    exec::TABLE,
    history::TABLE,
    files::TABLE,
    session::TABLE,
    help::TABLE,
];

/// Command interpreter for blocks that call `debugger(command)`.
pub(crate) struct BlockCommands {
    repl: ReplState,
}

impl BlockCommands {
    pub(crate) fn new(loaded: Rc<LoadedFiles>) -> BlockCommands {
        BlockCommands { repl: ReplState::new(loaded, Style::default()) }
    }
}

impl CommandRunner for BlockCommands {
    fn command(&mut self, session: &mut Session, command: &str) -> Result<String, String> {
        let context = &mut CommandContext { session, repl: &mut self.repl };
        let output = crate::command::run(context, command).map_err(|error| error.to_string())?;
        Ok(output.trim_end().to_owned())
    }
}

/// Parses a number; `what` describes the expected value.
fn number<T: std::str::FromStr>(word: &str, what: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("expected {what}, found `{word}`"))
}

/// Parses an optional repeat count; the default is 1.
fn repeat_count(rest: &str) -> Result<u64, String> {
    match rest {
        "" => Ok(1),
        word => match number(word, "a count")? {
            0 => Err("the count must be at least 1".to_owned()),
            times => Ok(times),
        },
    }
}

/// Rejects arguments of a command without parameters.
fn no_arguments(rest: &str, command: &str) -> Result<(), String> {
    if rest.is_empty() { Ok(()) } else { Err(format!("`{command}` takes no arguments; found `{rest}`")) }
}

/// Rejects a command without its required argument; `what` describes it.
fn required<'a>(rest: &'a str, what: &str) -> Result<&'a str, String> {
    if rest.is_empty() { Err(format!("missing {what}")) } else { Ok(rest) }
}
