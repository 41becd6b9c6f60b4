//! What the user says about the names of a log.

/// How the names of a log are to be read. Those of events and actions may contain `*` for any text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// A name in the log, and what it is in the model: an event or an action; or a parameter, a variable, or
    /// `before.` and a variable, for its value before the step. A field that is mapped to nothing is not read.
    pub map: Vec<(String, String)>,
    /// Events of the log that say nothing about the model.
    pub ignore: Vec<String>,
    /// Events of the log that may leave the model where it is.
    pub stutter: Vec<String>,
    /// Events or actions of the model that may happen without a record.
    pub hidden: Vec<String>,
    /// If there are any: the events or actions of the model that are logged. All others are hidden.
    pub logged: Vec<String>,
}

/// Something in [`Names`] that the model does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// What is wrong.
    pub message: String,
    /// The name that is not there.
    pub name: String,
    /// The names that are.
    pub known: Vec<String>,
}

impl core::fmt::Display for Mistake {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for Mistake {}

/// Whether a name is what a pattern says, in which `*` stands for any text.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
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
    fn a_star_is_any_text() {
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
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
