//! Errors in expressions.

use invigil_suggest::nearest;
use std::fmt;

/// Error in an expression: position, message and remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// Byte offset in the text of the expression.
    pub at: usize,
    /// The message.
    pub message: String,
    /// The suggested remedy, if there is one.
    pub remedy: Option<String>,
}

impl ExpressionError {
    /// Creates an error without a remedy.
    pub(crate) fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), remedy: None }
    }

    /// Adds a remedy.
    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Suggests the most similar of the possible names, if one is similar enough.
    pub(crate) fn nearest<'a>(self, wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Self {
        match nearest(wrong, names) {
            Some(near) => self.remedy(format!("did you mean `{near}`?")),
            None => self,
        }
    }
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.remedy {
            Some(remedy) => write!(f, "; {remedy}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ExpressionError {}
