//! Sets of small numbers as bit vectors.

/// Returns the number of words for a set of `count` elements. At least one, so that no caller needs a case for empty
/// vectors.
pub(crate) fn word_count(count: usize) -> usize {
    count.div_ceil(64).max(1)
}

/// Returns whether the set contains a number.
pub(crate) fn contains(set: &[u64], number: usize) -> bool {
    set[number / 64] >> (number % 64) & 1 == 1
}

/// Adds a number.
pub(crate) fn insert(set: &mut [u64], number: usize) {
    set[number / 64] |= 1 << (number % 64);
}

/// Returns the number of elements.
pub(crate) fn count(set: &[u64]) -> u32 {
    set.iter().map(|word| word.count_ones()).sum()
}

/// Returns the only element, if there is exactly one.
pub(crate) fn single(set: &[u64]) -> Option<usize> {
    if count(set) == 1 { iter(set).next() } else { None }
}

/// Iterates over the elements in ascending order.
pub(crate) fn iter(set: &[u64]) -> impl Iterator<Item = usize> {
    set.iter().enumerate().flat_map(|(at, word)| {
        let mut rest = *word;
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(at * 64 + bit)
        })
    })
}
