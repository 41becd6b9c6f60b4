//! The user's mapping of names in a log.

/// How names in a log are interpreted. Names of events and actions may contain `*` as a wildcard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameMapping {
    /// Pairs of a name in the log and its meaning in the model: an event or action; a parameter or variable; or
    /// `before.` and a variable, for its value before the step. A field that is mapped to an empty name is not read.
    pub map: Vec<(String, String)>,
    /// Events of the log that are skipped.
    pub ignore: Vec<String>,
    /// Events of the log that may leave the model unchanged.
    pub stutter: Vec<String>,
    /// Events or actions of the model that may happen without a record.
    pub hidden: Vec<String>,
    /// If not empty, the events or actions of the model that are logged. All others are hidden.
    pub logged: Vec<String>,
}

/// A name in [`NameMapping`] that the model does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownNameError {
    /// The error message.
    pub message: String,
    /// The unknown name.
    pub name: String,
    /// The known names.
    pub known: Vec<String>,
}

impl core::fmt::Display for UnknownNameError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for UnknownNameError {}

/// Whether a name matches a pattern, in which `*` stands for any text.
pub(crate) fn matches_pattern(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn star_in_pattern_matches_any_text() {
        for (pattern, name, expected) in [
            ("push", "push", true),
            ("push", "pushed", false),
            ("push*", "pushed", true),
            ("*", "", true),
            ("*", "any", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b", "ab", true),
            ("a*ba", "aba", true),
            ("ab*ba", "aba", false),
            ("*x*", "abc", false),
        ] {
            assert_eq!(matches_pattern(pattern, name), expected, "{pattern} {name}");
        }
    }
}
