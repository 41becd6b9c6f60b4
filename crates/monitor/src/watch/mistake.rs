//! What can be wrong with a wish: names that do not exist, and values that cannot be kept.

use super::CheckpointId;
use crate::slices::SliceId;
use alloc::string::String;
use core::fmt;
use invigil_expr::diag::nearest;

/// Why a wish was not granted. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// There is no slice of this number.
    NoSlice(SliceId),
    /// The root slice was forgotten.
    NoRoot,
    /// There is no state of this name.
    NoState {
        /// The name.
        name: String,
        /// The state that was most likely meant.
        near: Option<String>,
    },
    /// There is no variable of this name.
    NoVariable {
        /// The name.
        name: String,
        /// The variable that was most likely meant.
        near: Option<String>,
    },
    /// The variable has no value yet.
    NoValue(String),
    /// What the variable should become is too large, or not a value by itself.
    BadValue(String),
    /// There is no checkpoint of this number.
    NoCheckpoint(CheckpointId),
}

impl Mistake {
    pub(super) fn no_state<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Mistake {
        Mistake::NoState { name: name.into(), near: nearest(name, known).map(String::from) }
    }

    pub(super) fn no_variable(name: &str, known: &[String]) -> Mistake {
        let near = nearest(name, known.iter().map(String::as_str));
        Mistake::NoVariable { name: name.into(), near: near.map(String::from) }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mistake::NoSlice(slice) => write!(f, "there is no slice {}", slice.0 + 1),
            Mistake::NoRoot => f.write_str("the root slice reached a final state and is forgotten"),
            Mistake::NoState { name, near } => no_such(f, "state", name, near),
            Mistake::NoVariable { name, near } => no_such(f, "variable", name, near),
            Mistake::NoValue(name) => write!(f, "`{name}` has no value yet"),
            Mistake::BadValue(name) => write!(f, "`{name}` cannot get this value"),
            Mistake::NoCheckpoint(id) => write!(f, "there is no checkpoint {}", id.0),
        }
    }
}

fn no_such(f: &mut fmt::Formatter<'_>, what: &str, name: &str, near: &Option<String>) -> fmt::Result {
    write!(f, "there is no {what} `{name}`")?;
    match near {
        Some(near) => write!(f, ": did you mean `{near}`?"),
        None => Ok(()),
    }
}

impl core::error::Error for Mistake {}
