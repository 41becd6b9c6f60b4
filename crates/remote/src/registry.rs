//! The numbered configurations and actions.

use crate::reply::ConfigRef;
use indexmap::IndexSet;
use std::collections::HashMap;

/// The number of a configuration of one remote subject.
///
/// ```
/// # use invigil_remote::{Address, RemoteOptions, Remote};
/// # let script = r#"read a; echo '{"id":1,"protocol":1,"name":"lamp"}'; read a"#;
/// let lamp = Remote::start(&Address::command(["sh", "-c", script]), RemoteOptions::default())?;
/// let config = lamp.config(r#"{"on": true}"#).unwrap();
/// assert_eq!(lamp.text(config).unwrap(), r#"{"on":true}"#);
/// assert_eq!(lamp.config(r#"{ "on":true }"#).unwrap(), config);
/// # Ok::<(), invigil_remote::RemoteError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RemoteConfig(pub(crate) u64);

impl RemoteConfig {
    /// The number, as a word of a [`StateSpace`](invigil_explore::StateSpace).
    pub fn number(self) -> u64 {
        self.0
    }
}

/// The number of an action of one remote subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RemoteAction(pub(crate) u32);

impl RemoteAction {
    /// The number.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// Prefix of the reason of a fault, which takes the place of a configuration. No JSON text starts with it.
const FAULT_MARK: char = '!';

/// All known configurations and actions, and the configurations that currently have a number in the protocol.
#[derive(Default)]
pub(crate) struct Registry {
    configs: IndexSet<Box<str>>,
    actions: IndexSet<Box<str>>,
    /// Configurations by their number in the protocol.
    numbered: Vec<RemoteConfig>,
    numbers: HashMap<RemoteConfig, u64>,
    /// Whether configurations are sent by value, because the other side stores none.
    pub is_by_value: bool,
}

impl Registry {
    pub(crate) fn config(&mut self, text: String) -> RemoteConfig {
        RemoteConfig(self.configs.insert_full(text.into()).0 as u64)
    }

    pub(crate) fn contains(&self, config: RemoteConfig) -> bool {
        config.0 < self.configs.len() as u64
    }

    fn raw(&self, config: RemoteConfig) -> Option<&str> {
        usize::try_from(config.0).ok().and_then(|at| self.configs.get_index(at)).map(|text| &**text)
    }

    /// The JSON text of a configuration; none for a fault.
    pub(crate) fn text(&self, config: RemoteConfig) -> Option<&str> {
        self.raw(config).filter(|text| !text.starts_with(FAULT_MARK))
    }

    /// The reason of the fault, if the configuration stands for one.
    pub(crate) fn fault(&self, config: RemoteConfig) -> Option<&str> {
        self.raw(config)?.strip_prefix(FAULT_MARK)
    }

    pub(crate) fn action(&mut self, text: String) -> Result<RemoteAction, String> {
        let number = self.actions.insert_full(text.into()).0;
        u32::try_from(number).map(RemoteAction).map_err(|_| "there are too many different actions".to_owned())
    }

    pub(crate) fn action_text(&self, action: RemoteAction) -> Option<&str> {
        self.actions.get_index(action.0 as usize).map(|text| &**text)
    }

    /// The number of protocol numbers in use.
    pub(crate) fn count(&self) -> u64 {
        self.numbered.len() as u64
    }

    /// Clears the numbering.
    pub(crate) fn clear_numbers(&mut self) {
        self.numbered.clear();
        self.numbers.clear();
    }

    /// The configuration that a reply refers to. Values are numbered in the order of their occurrence.
    pub(crate) fn resolve(&mut self, reference: ConfigRef) -> Result<RemoteConfig, String> {
        match reference {
            ConfigRef::Number(number) => usize::try_from(number)
                .ok()
                .and_then(|at| self.numbered.get(at).copied())
                .ok_or_else(|| format!("no configuration has the number {number}")),
            ConfigRef::Value(text) => {
                let config = self.config(text);
                self.assign_number(config);
                Ok(config)
            }
            ConfigRef::Fault(why) => Ok(self.config(format!("{FAULT_MARK}{why}"))),
        }
    }

    /// Assigns the next protocol number, unless configurations are sent by value.
    fn assign_number(&mut self, config: RemoteConfig) {
        if !self.is_by_value {
            self.numbers.insert(config, self.count());
            self.numbered.push(config);
        }
    }

    /// Writes a configuration into a request: its number, or else its value, which gets a number.
    pub(crate) fn write(&mut self, config: RemoteConfig, out: &mut String) {
        match self.numbers.get(&config) {
            Some(number) => out.push_str(&number.to_string()),
            None => {
                out.push('[');
                out.push_str(self.text(config).unwrap_or("null"));
                out.push(']');
                self.assign_number(config);
            }
        }
    }
}
