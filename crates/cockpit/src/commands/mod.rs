//! The commands, by topic.

mod data;
mod files;
mod help;
pub(crate) mod info;
mod list;
mod methods;
mod points;
mod properties;
mod running;
mod session;
mod stack;
mod time;

pub(crate) use methods::METHODS;

use crate::command::{Command, Scene};
use crate::desk::Desk;
use crate::workshop::Loaded;
use invigil_check::report::Style;
use invigil_session::{Commander, Session};
use std::rc::Rc;

/// All commands, by topic.
pub(crate) const TABLES: &[&[Command]] = &[
    running::TABLE,
    points::TABLE,
    stack::TABLE,
    list::TABLE,
    data::TABLE,
    info::TABLE,
    properties::TABLE,
    methods::TABLE,
    time::TABLE,
    files::TABLE,
    session::TABLE,
    help::TABLE,
];

/// Runs commands for blocks that call `debugger(command)`.
pub(crate) struct BlockCommands {
    desk: Desk,
}

impl BlockCommands {
    pub(crate) fn new(loaded: Rc<Loaded>) -> BlockCommands {
        BlockCommands { desk: Desk::new(loaded, Style::default()) }
    }
}

impl Commander for BlockCommands {
    fn command(&mut self, session: &mut Session, command: &str) -> Result<String, String> {
        let said = crate::command::run(&mut Scene { session, desk: &mut self.desk }, command)?;
        Ok(said.trim_end().to_owned())
    }
}

/// A number, with a message that says what it is for.
fn number<T: std::str::FromStr>(word: &str, what: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("`{word}` is not {what}: give a number"))
}

/// The number that a command may have, or else one.
fn times(rest: &str) -> Result<u64, String> {
    match rest {
        "" => Ok(1),
        word => match number(word, "how often")? {
            0 => Err("once is the least".to_owned()),
            times => Ok(times),
        },
    }
}

/// Refuses words where there should be none.
fn nothing(rest: &str, command: &str) -> Result<(), String> {
    if rest.is_empty() { Ok(()) } else { Err(format!("`{command}` takes nothing behind it, not `{rest}`")) }
}

/// Refuses a command that lacks what it needs.
fn needed<'a>(rest: &'a str, what: &str) -> Result<&'a str, String> {
    if rest.is_empty() { Err(format!("say {what}")) } else { Ok(rest) }
}
