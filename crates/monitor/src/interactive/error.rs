//! Errors of the inspection interface: unknown names, and values that cannot be stored.

use super::CheckpointId;
use crate::slices::SliceId;
use alloc::string::String;
use core::fmt;
use invigil_expr::diag::nearest;

/// Error of an operation on an [`InteractiveMonitor`](super::InteractiveMonitor). Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MonitorError {
    /// There is no slice with this number.
    NoSlice(SliceId),
    /// The root slice was removed.
    NoRoot,
    /// There is no state with this name.
    NoState {
        /// The name.
        name: String,
        /// The most similar state.
        near: Option<String>,
    },
    /// There is no variable with this name.
    NoVariable {
        /// The name.
        name: String,
        /// The most similar variable.
        near: Option<String>,
    },
    /// The variable has no value.
    NoValue(String),
    /// The value is too large, or not an inline value.
    BadValue(String),
    /// There is no checkpoint with this number.
    NoCheckpoint(CheckpointId),
}

impl MonitorError {
    pub(super) fn no_state<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> MonitorError {
        MonitorError::NoState { name: name.into(), near: nearest(name, known).map(String::from) }
    }

    pub(super) fn no_variable(name: &str, known: &[String]) -> MonitorError {
        let near = nearest(name, known.iter().map(String::as_str));
        MonitorError::NoVariable { name: name.into(), near: near.map(String::from) }
    }
}

impl fmt::Display for MonitorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MonitorError::NoSlice(slice) => write!(f, "there is no slice {}", slice.0 + 1),
            MonitorError::NoRoot => f.write_str("the root slice reached a final state and was dropped"),
            MonitorError::NoState { name, near } => no_such(f, "state", name, near),
            MonitorError::NoVariable { name, near } => no_such(f, "variable", name, near),
            MonitorError::NoValue(name) => write!(f, "`{name}` has no value yet"),
            MonitorError::BadValue(name) => write!(f, "`{name}` cannot get this value"),
            MonitorError::NoCheckpoint(id) => write!(f, "there is no checkpoint {}", id.0),
        }
    }
}

fn no_such(f: &mut fmt::Formatter<'_>, noun: &str, name: &str, near: &Option<String>) -> fmt::Result {
    write!(f, "there is no {noun} `{name}`")?;
    match near {
        Some(near) => write!(f, ": did you mean `{near}`?"),
        None => Ok(()),
    }
}

impl core::error::Error for MonitorError {}
