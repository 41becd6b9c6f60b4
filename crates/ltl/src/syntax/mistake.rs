//! What is wrong with a text.

use std::fmt;
use std::ops::Range;

/// A mistake in a formula, for the person who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// What is wrong, in one line: "expected a formula, found `)`".
    pub message: String,
    /// Where, in bytes of the text.
    pub span: Range<usize>,
    /// What could have stood there.
    pub expected: Vec<String>,
    /// A remedy.
    pub hint: Option<String>,
}

impl Mistake {
    pub(crate) fn new(message: impl Into<String>, span: Range<usize>) -> Mistake {
        Mistake { message: message.into(), span, expected: Vec::new(), hint: None }
    }

    pub(crate) fn expected(expected: &[&str], found: &str, span: Range<usize>) -> Mistake {
        let expected: Vec<String> = expected.iter().map(|what| (*what).to_owned()).collect();
        let wanted = match expected.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => "nothing".to_owned(),
        };
        Mistake { message: format!("expected {wanted}, found {found}"), span, expected, hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Mistake {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Mistake {}
