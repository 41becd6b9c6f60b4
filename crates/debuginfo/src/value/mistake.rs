//! What is wrong with an expression, in words.

use std::fmt;

/// What is wrong with an expression: where, why, and what could be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The byte position in the text of the expression.
    pub at: usize,
    /// What is wrong.
    pub message: String,
    /// What could be done, if anything is known.
    pub remedy: Option<String>,
}

impl Mistake {
    /// A mistake at a position.
    pub(crate) fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), remedy: None }
    }

    /// With a remedy.
    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// With the nearest of the names that would have been possible, if one is near.
    pub(crate) fn nearest<'a>(self, wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Self {
        match nearest(wrong, names) {
            Some(near) => self.remedy(format!("did you mean `{near}`?")),
            None => self,
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.remedy {
            Some(remedy) => write!(f, "; {remedy}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Mistake {}

/// The name most like a wrong one, if it differs in few letters.
fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = wrong.chars().count();
    let allowed = (length / 3).clamp(1, 3);
    names
        .into_iter()
        .filter(|name| name.chars().count().abs_diff(length) <= allowed)
        .map(|name| (distance(wrong, name), name))
        .filter(|&(distance, name)| distance <= allowed && distance < name.chars().count())
        .min()
        .map(|(_, name)| name)
}

/// How many letters must be changed, added or left out to make one word of another.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(!x.eq_ignore_ascii_case(y));
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        assert_eq!(nearest("quueue", ["queue", "quay", "x"]), Some("queue"));
        assert_eq!(nearest("x", ["queue", "size"]), None);
        assert_eq!(nearest("a", ["b"]), None, "one letter is not like another");
        assert_eq!(nearest("count", ["Count"]), Some("Count"));
    }
}
