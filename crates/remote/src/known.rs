//! What both sides know: configurations and actions by number.

use crate::answer::Place;
use indexmap::IndexSet;
use std::collections::HashMap;

/// A configuration of a remote semantics, by its number: it means nothing to another one.
///
/// ```
/// # use invigil_remote::{Address, Options, Remote};
/// # let who = r#"read a; echo '{"id":1,"protocol":1,"name":"lamp"}'; read a"#;
/// let lamp = Remote::start(&Address::command(["sh", "-c", who]), Options::default())?;
/// let config = lamp.config(r#"{"on": true}"#).unwrap();
/// assert_eq!(lamp.text(config).unwrap(), r#"{"on":true}"#);
/// assert_eq!(lamp.config(r#"{ "on":true }"#).unwrap(), config);
/// # Ok::<(), invigil_remote::Failure>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Config(pub(crate) u64);

impl Config {
    /// The number, as a word of a [`Space`](invigil_explore::Space).
    pub fn number(self) -> u64 {
        self.0
    }
}

/// An action of a remote semantics, by its number: it means nothing to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Action(pub(crate) u32);

impl Action {
    /// The number.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// No text of JSON begins so: the words behind it say what went wrong instead of leading to a configuration.
const FAULT: char = '!';

/// All configurations and actions that were ever met, and which of them have a number on the wire now.
#[derive(Default)]
pub(crate) struct Known {
    configs: IndexSet<Box<str>>,
    actions: IndexSet<Box<str>>,
    /// By their number on the wire.
    numbered: Vec<Config>,
    numbers: HashMap<Config, u64>,
    /// Whether nothing is numbered, because the other side keeps nothing.
    pub is_by_value: bool,
}

impl Known {
    pub(crate) fn config(&mut self, text: String) -> Config {
        Config(self.configs.insert_full(text.into()).0 as u64)
    }

    pub(crate) fn has(&self, config: Config) -> bool {
        config.0 < self.configs.len() as u64
    }

    fn raw(&self, config: Config) -> Option<&str> {
        usize::try_from(config.0).ok().and_then(|at| self.configs.get_index(at)).map(|text| &**text)
    }

    /// The JSON text of a configuration; none for one that stands for something gone wrong.
    pub(crate) fn text(&self, config: Config) -> Option<&str> {
        self.raw(config).filter(|text| !text.starts_with(FAULT))
    }

    /// What went wrong, if that is what the configuration stands for.
    pub(crate) fn fault(&self, config: Config) -> Option<&str> {
        self.raw(config)?.strip_prefix(FAULT)
    }

    pub(crate) fn action(&mut self, text: String) -> Result<Action, String> {
        let number = self.actions.insert_full(text.into()).0;
        u32::try_from(number).map(Action).map_err(|_| "there are too many different actions".to_owned())
    }

    pub(crate) fn action_text(&self, action: Action) -> Option<&str> {
        self.actions.get_index(action.0 as usize).map(|text| &**text)
    }

    /// How many numbers are in use on the wire.
    pub(crate) fn count(&self) -> u64 {
        self.numbered.len() as u64
    }

    /// Begins to number anew.
    pub(crate) fn forget(&mut self) {
        self.numbered.clear();
        self.numbers.clear();
    }

    /// The configuration that stands at a place of an answer. Values are numbered as they come.
    pub(crate) fn settle(&mut self, place: Place) -> Result<Config, String> {
        match place {
            Place::Number(number) => usize::try_from(number)
                .ok()
                .and_then(|at| self.numbered.get(at).copied())
                .ok_or_else(|| format!("no configuration has the number {number}")),
            Place::Value(text) => {
                let config = self.config(text);
                self.number(config);
                Ok(config)
            }
            Place::Fault(why) => Ok(self.config(format!("{FAULT}{why}"))),
        }
    }

    fn number(&mut self, config: Config) {
        if !self.is_by_value {
            self.numbers.insert(config, self.count());
            self.numbered.push(config);
        }
    }

    /// Writes a configuration into a request: by number if it has one, else by value.
    pub(crate) fn write(&mut self, config: Config, out: &mut String) {
        match self.numbers.get(&config) {
            Some(number) => out.push_str(&number.to_string()),
            None => {
                out.push('[');
                out.push_str(self.text(config).unwrap_or("null"));
                out.push(']');
                self.number(config);
            }
        }
    }
}
