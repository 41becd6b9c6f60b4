//! Names that look like one that does not exist.

/// The names nearest to one, best first, at most `limit`. Names that differ too much are left out.
pub(crate) fn nearest<'n>(wanted: &str, names: impl Iterator<Item = &'n str>, limit: usize) -> Vec<String> {
    let wanted: Vec<char> = wanted.chars().flat_map(char::to_lowercase).collect();
    let most = (wanted.len() / 3).max(1);
    let mut found: Vec<(usize, &str)> = names
        .filter(|name| name.chars().count().abs_diff(wanted.len()) <= most)
        .filter_map(|name| Some((distance(&wanted, name, most)?, name)))
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().take(limit).map(|(_, name)| name.to_owned()).collect()
}

/// How many letters must be put in, left out, replaced or swapped with their neighbour; `None` if more than
/// `most`. Upper and lower case do not differ.
fn distance(wanted: &[char], name: &str, most: usize) -> Option<usize> {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=wanted.len()).collect();
    let mut previous = None;
    for (row, letter) in name.chars().flat_map(char::to_lowercase).enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in wanted.iter().enumerate() {
            let replaced = last[column] + usize::from(*other != letter);
            let mut best = replaced.min(last[column + 1] + 1).min(current[column] + 1);
            if column > 0 && previous == Some(*other) && wanted[column - 1] == letter {
                best = best.min(before_last[column - 1] + 1);
            }
            current.push(best);
        }
        if current.iter().min().is_none_or(|least| *least > most) {
            return None;
        }
        previous = Some(letter);
        before_last = std::mem::replace(&mut last, current);
    }
    last.last().copied().filter(|distance| *distance <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_are_found() {
        let names = ["queue_push", "queue_pop", "main", "queue_new"];
        assert_eq!(nearest("queue_psuh", names.into_iter(), 2), ["queue_push", "queue_pop"]);
        assert_eq!(nearest("Main", names.into_iter(), 3), ["main"]);
        assert_eq!(nearest("mian", names.into_iter(), 3), ["main"]);
        assert!(nearest("something_else", names.into_iter(), 3).is_empty());
        assert!(nearest("", names.into_iter(), 3).is_empty());
    }
}
