//! Syntax errors in formulae.

use std::fmt;
use std::ops::Range;

/// Error in the text of a formula: a syntax error, or a formula that exceeds the budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The message, in one line: "expected a formula, found `)`".
    pub message: String,
    /// The position, as a byte range of the text.
    pub span: Range<usize>,
    /// The tokens that would have been valid at this position.
    pub expected: Vec<String>,
    /// How to fix it.
    pub hint: Option<String>,
}

impl SyntaxError {
    pub(crate) fn new(message: impl Into<String>, span: Range<usize>) -> SyntaxError {
        SyntaxError { message: message.into(), span, expected: Vec::new(), hint: None }
    }

    pub(crate) fn expected(expected: &[&str], found: &str, span: Range<usize>) -> SyntaxError {
        let expected: Vec<String> = expected.iter().map(|token| (*token).to_owned()).collect();
        let alternatives = match expected.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => "nothing".to_owned(),
        };
        SyntaxError { message: format!("expected {alternatives}, found {found}"), span, expected, hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> SyntaxError {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SyntaxError {}
