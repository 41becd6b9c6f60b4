//! Suggestions for misspelt names: one rule for every "did you mean".
//!
//! Hand-written because `strsim` needs `std`, which Invigil's agents inside targets do without.
//!
//! A candidate is near a misspelt name if few letters must be inserted, deleted, replaced or swapped with a neighbour:
//! at most a third of the misspelt name's letters, but one is always allowed. Case is ignored. A candidate that has no
//! letter in common with the misspelt name is never near it.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::vec::Vec;

/// Returns the candidate nearest to a name, the first of several, if one is near enough for a suggestion.
///
/// ```
/// use invigil_suggest::nearest;
/// assert_eq!(nearest("redy", ["init", "ready"]), Some("ready"));
/// assert_eq!(nearest("Raedy", ["init", "ready"]), Some("ready"));
/// assert_eq!(nearest("xyzzy", ["init", "ready"]), None);
/// ```
pub fn nearest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = MisspeltName::new(wanted);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if let Some(distance) = wanted.distance(candidate)
            && best.is_none_or(|(least, _)| distance < least)
        {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Returns the candidates that are near a name, the nearest first and equally near ones in alphabetical order, without
/// duplicates.
///
/// ```
/// use invigil_suggest::all_near;
/// assert_eq!(all_near("queue_psuh", ["queue_pop", "main", "queue_push"]), ["queue_push", "queue_pop"]);
/// ```
pub fn all_near<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = MisspeltName::new(wanted);
    let candidates = candidates.into_iter();
    let mut near: Vec<(usize, &str)> =
        candidates.filter_map(|candidate| Some((wanted.distance(candidate)?, candidate))).collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Maximum length in letters of a name that is compared: the cost is the product of both lengths.
const MAX_LETTERS: usize = 128;

/// A name that does not exist, in lower case.
struct MisspeltName {
    letters: Vec<char>,
    /// Maximum distance of a near name.
    limit: usize,
}

impl MisspeltName {
    fn new(name: &str) -> MisspeltName {
        let letters: Vec<char> = lower_case(name).collect();
        let limit = (letters.len() / 3).max(1);
        MisspeltName { letters, limit }
    }

    /// Returns the distance of a candidate, if it is near: the optimal string alignment.
    fn distance(&self, candidate: &str) -> Option<usize> {
        let wanted = &self.letters;
        let candidate: Vec<char> = lower_case(candidate).take(MAX_LETTERS + 1).collect();
        let longer = candidate.len().max(wanted.len());
        if longer > MAX_LETTERS || candidate.len().abs_diff(wanted.len()) > self.limit {
            return None;
        }
        // Rows of the distances between prefixes of both names: the one before the last, the last, the current one.
        let mut before_last: Vec<usize> = Vec::new();
        let mut last: Vec<usize> = (0..=wanted.len()).collect();
        for (row, letter) in candidate.iter().enumerate() {
            let mut current = Vec::with_capacity(last.len());
            current.push(row + 1);
            for (column, other) in wanted.iter().enumerate() {
                let replaced = last[column] + usize::from(other != letter);
                let mut best = replaced.min(last[column + 1] + 1).min(current[column] + 1);
                if row > 0 && column > 0 && candidate[row - 1] == *other && wanted[column - 1] == *letter {
                    best = best.min(before_last[column - 1] + 1);
                }
                current.push(best);
            }
            if current.iter().all(|distance| *distance > self.limit) {
                return None;
            }
            before_last = core::mem::replace(&mut last, current);
        }
        last.last().copied().filter(|distance| *distance <= self.limit && *distance < longer)
    }
}

fn lower_case(name: &str) -> impl Iterator<Item = char> {
    name.chars().flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_finds_one_changed_letter_of_each_sort() {
        for wrong in ["quueue", "queu", "qveue", "uqeue", "QUEUE"] {
            assert_eq!(nearest(wrong, ["quay", "queue", "x"]), Some("queue"), "{wrong}");
        }
    }

    #[test]
    fn nearest_of_two_equally_near_names_is_the_first() {
        assert_eq!(nearest("pup", ["push", "pop", "pip"]), Some("pop"));
    }

    #[test]
    fn names_without_a_common_letter_are_not_near() {
        assert_eq!(nearest("a", ["b"]), None);
        assert_eq!(nearest("x", ["queue", "size"]), None);
        assert_eq!(nearest("", ["", "a"]), None);
        assert!(all_near("something_else", ["queue_push", "main"]).is_empty());
    }

    #[test]
    fn very_long_names_are_not_compared() {
        let long = "a".repeat(MAX_LETTERS + 1);
        assert_eq!(nearest(&long, [long.as_str()]), None);
    }
}
