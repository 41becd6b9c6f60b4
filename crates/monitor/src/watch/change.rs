//! Putting a property into another state, and giving its variables other values.

use super::{Mistake, Watch};
use crate::slices::SliceId;
use alloc::vec::Vec;
use invigil_expr::value::Value;

/// A value that a person gives to a variable.
#[derive(Clone, Copy, Debug)]
pub enum Given<'a> {
    /// A number, a truth value, `None` or a short string.
    Plain(Value),
    /// A string of any length.
    Text(&'a str),
}

impl From<Value> for Given<'_> {
    fn from(value: Value) -> Self {
        Given::Plain(value)
    }
}

impl From<i64> for Given<'_> {
    fn from(value: i64) -> Self {
        Given::Plain(Value::int(value))
    }
}

impl<'a> From<&'a str> for Given<'a> {
    fn from(text: &'a str) -> Self {
        Given::Text(text)
    }
}

impl Watch {
    /// Puts the root slice into a state (`set_current_state`).
    ///
    /// # Errors
    /// If there is no such state, or no root slice any more.
    pub fn set_current_state(&mut self, state: &str) -> Result<(), Mistake> {
        let root = self.slices().root().ok_or(Mistake::NoRoot)?;
        self.set_state(root, state)
    }

    /// Puts any slice into a state.
    ///
    /// # Errors
    /// If there is no such slice or state.
    pub fn set_state(&mut self, slice: SliceId, state: &str) -> Result<(), Mistake> {
        self.check_slice(slice)?;
        let Some(state) = self.automaton.state_named(state) else {
            return Err(Mistake::no_state(state, self.states()));
        };
        self.automaton.set_state(&mut self.standing.slices, slice, state);
        self.standing.trail.came_from.retain(|(known, _)| *known != slice);
        Ok(())
    }

    /// Gives a variable of a slice another value (`set_env_value`).
    ///
    /// # Errors
    /// If there is no such slice or variable, or the value cannot be kept.
    pub fn set_env_value<'v>(
        &mut self,
        slice: SliceId,
        key: &str,
        value: impl Into<Given<'v>>,
    ) -> Result<(), Mistake> {
        self.set_env(slice, &[(key, value.into())])
    }

    /// Gives several variables of a slice other values (`set_env_dict`). Those not named keep theirs: blocks
    /// rely on every variable that was set up.
    ///
    /// # Errors
    /// If there is no such slice or variable, or a value cannot be kept; then none is changed.
    pub fn set_env(&mut self, slice: SliceId, values: &[(&str, Given<'_>)]) -> Result<(), Mistake> {
        self.check_slice(slice)?;
        let variables = values.iter().map(|(key, _)| self.variable(key)).collect::<Result<Vec<_>, _>>()?;
        let slices = &mut self.standing.slices;
        let mut kept = Vec::new();
        for (key, given) in values {
            let value = match given {
                Given::Plain(value) => Some(*value).filter(|value| value.is_inline() && !value.is_unset()),
                Given::Text(text) => slices.heap.new_str(text).ok(),
            };
            match value {
                Some(value) => kept.push(value),
                None => {
                    // What was made for the values before this one is not referred to: it goes.
                    slices.heap.sweep();
                    return Err(Mistake::BadValue((*key).into()));
                }
            }
        }
        for (variable, value) in variables.into_iter().zip(kept) {
            slices.set_env(slice, variable, value);
        }
        slices.heap.sweep();
        Ok(())
    }
}
