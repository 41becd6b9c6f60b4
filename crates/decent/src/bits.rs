//! Sets of small numbers as words of bits.

/// How many words a set of so many takes. There is always one, so that nobody has to think of none.
pub(crate) fn words(count: usize) -> usize {
    count.div_ceil(64).max(1)
}

/// Whether a number is in a set.
pub(crate) fn has(set: &[u64], number: usize) -> bool {
    set[number / 64] >> (number % 64) & 1 == 1
}

/// Adds a number.
pub(crate) fn put(set: &mut [u64], number: usize) {
    set[number / 64] |= 1 << (number % 64);
}

/// How many numbers there are.
pub(crate) fn count(set: &[u64]) -> u32 {
    set.iter().map(|word| word.count_ones()).sum()
}

/// The only number, if there is one.
pub(crate) fn single(set: &[u64]) -> Option<usize> {
    if count(set) == 1 { iter(set).next() } else { None }
}

/// The numbers, the smallest first.
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
