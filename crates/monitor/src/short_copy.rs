//! Copy of a few words.

/// Copies the words of `from` to the start of `to`, up to its length.
///
/// Most events have at most three parameters. A call of `memcpy`, into which the compiler turns a plain loop,
/// costs more than copying these.
#[inline(always)]
pub(crate) fn copy<T: Copy, U>(to: &mut [U], from: &[T], with: impl Fn(T) -> U) {
    match (to, from) {
        (_, []) => {}
        ([a, ..], [x]) => *a = with(*x),
        ([a, b, ..], [x, y]) => (*a, *b) = (with(*x), with(*y)),
        ([a, b, c, ..], [x, y, z]) => (*a, *b, *c) = (with(*x), with(*y), with(*z)),
        (to, from) => copy_many(to, from, with),
    }
}

#[inline(never)]
fn copy_many<T: Copy, U>(to: &mut [U], from: &[T], with: impl Fn(T) -> U) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = with(*from));
}
