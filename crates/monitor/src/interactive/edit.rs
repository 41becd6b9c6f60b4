//! Changing states and variables of a property.

use super::{InteractiveMonitor, MonitorError};
use crate::slices::SliceId;
use alloc::vec::Vec;
use invigil_expr::value::Value;

/// A value that the user assigns to a variable.
#[derive(Clone, Copy, Debug)]
pub enum UserValue<'a> {
    /// A number, a Boolean, `None` or a short string.
    Plain(Value),
    /// A string of any length.
    Text(&'a str),
}

impl From<Value> for UserValue<'_> {
    fn from(value: Value) -> Self {
        UserValue::Plain(value)
    }
}

impl From<i64> for UserValue<'_> {
    fn from(value: i64) -> Self {
        UserValue::Plain(Value::int(value))
    }
}

impl<'a> From<&'a str> for UserValue<'a> {
    fn from(text: &'a str) -> Self {
        UserValue::Text(text)
    }
}

impl InteractiveMonitor {
    /// Sets the state of the root slice (`set_current_state`).
    ///
    /// # Errors
    /// If there is no such state, or the root slice was removed.
    pub fn set_current_state(&mut self, state: &str) -> Result<(), MonitorError> {
        let root = self.slices().root().ok_or(MonitorError::NoRoot)?;
        self.set_state(root, state)
    }

    /// Sets the state of a slice.
    ///
    /// # Errors
    /// If there is no such slice or state.
    pub fn set_state(&mut self, slice: SliceId, state: &str) -> Result<(), MonitorError> {
        self.check_slice(slice)?;
        let Some(state) = self.automaton.state_named(state) else {
            return Err(MonitorError::no_state(state, self.states()));
        };
        self.automaton.set_state(&mut self.state.slices, slice, state);
        self.state.log.previous_states.retain(|(other, _)| *other != slice);
        Ok(())
    }

    /// Sets a variable of a slice (`set_env_value`).
    ///
    /// # Errors
    /// If there is no such slice or variable, or the value cannot be stored.
    pub fn set_env_value<'v>(
        &mut self,
        slice: SliceId,
        key: &str,
        value: impl Into<UserValue<'v>>,
    ) -> Result<(), MonitorError> {
        self.set_env(slice, &[(key, value.into())])
    }

    /// Sets several variables of a slice (`set_env_dict`). The others are unchanged: blocks rely on all
    /// initialized variables.
    ///
    /// # Errors
    /// If there is no such slice or variable, or a value cannot be stored; nothing is changed then.
    pub fn set_env(&mut self, slice: SliceId, values: &[(&str, UserValue<'_>)]) -> Result<(), MonitorError> {
        self.check_slice(slice)?;
        let variables = values.iter().map(|(key, _)| self.variable(key)).collect::<Result<Vec<_>, _>>()?;
        let slices = &mut self.state.slices;
        let mut new_values = Vec::new();
        for (key, user_value) in values {
            let value = match user_value {
                UserValue::Plain(value) => {
                    Some(*value).filter(|value| value.is_inline() && !value.is_unset())
                }
                UserValue::Text(text) => slices.heap.new_str(text).ok(),
            };
            match value {
                Some(value) => new_values.push(value),
                None => {
                    // Free the strings created for earlier values.
                    slices.heap.sweep();
                    return Err(MonitorError::BadValue((*key).into()));
                }
            }
        }
        for (variable, value) in variables.into_iter().zip(new_values) {
            slices.set_env(slice, variable, value);
        }
        slices.heap.sweep();
        Ok(())
    }
}
