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

/// Of some names the one that was probably meant: few letters differ.
pub(crate) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Longer names than any person writes are not worth the time.
    let worth = |other: &&str| other.len().max(name.len()) <= 64;
    let near = names.filter(worth).map(|other| (distance(name, other), other)).min()?;
    (near.0 <= 1 + name.len() / 4).then_some(near.1)
}

/// How many letters must be put in, taken away or changed.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (at, left) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (to, right) in b.iter().enumerate() {
            let changed = diagonal + usize::from(left != *right);
            diagonal = row[to + 1];
            row[to + 1] = changed.min(diagonal + 1).min(row[to] + 1);
        }
    }
    row[b.len()]
}
