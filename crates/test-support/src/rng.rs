//! The generator of random cases.

use std::cell::Cell;

/// SplitMix64 (Steele, Lea and Flood, 2014): the same numbers for the same seed on every machine.
///
/// It draws through a shared reference, so that the closures that build a case can share it.
#[derive(Clone, Debug)]
pub struct Rng(Cell<u64>);

/// Integers that [`Rng::below`] draws.
pub trait Bound: Copy {
    #[doc(hidden)]
    fn widen(self) -> u64;
    #[doc(hidden)]
    fn narrow(number: u64) -> Self;
}

macro_rules! bounds {
    ($($integer:ty)*) => {
        $(impl Bound for $integer {
            fn widen(self) -> u64 {
                u64::try_from(self).expect("the bound is not negative")
            }

            fn narrow(number: u64) -> Self {
                number as Self
            }
        })*
    };
}

bounds!(u8 u16 u32 u64 usize i32 i64);

impl Rng {
    /// A generator; each seed has a sequence of its own.
    pub fn new(seed: u64) -> Rng {
        Rng(Cell::new(seed))
    }

    /// The next number.
    pub fn next_u64(&self) -> u64 {
        let state = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to below `bound`; 0 if the bound is 0.
    pub fn below<N: Bound>(&self, bound: N) -> N {
        N::narrow(self.next_u64() % bound.widen().max(1))
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&self, low: i64, high: i64) -> i64 {
        let count = (high.wrapping_sub(low) as u64).wrapping_add(1);
        low.wrapping_add(self.below(count) as i64)
    }

    /// Whether an event with probability 1/`chances` happens.
    pub fn one_in<N: Bound>(&self, chances: N) -> bool {
        self.below(chances).widen() == 0
    }

    /// Whether an event with this probability in percent happens.
    pub fn percent(&self, probability: u32) -> bool {
        self.below(100u32) < probability
    }

    /// A random Boolean.
    pub fn flip(&self) -> bool {
        self.one_in(2)
    }

    /// One of several items.
    pub fn pick<T: Clone>(&self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }

    /// Shuffles items.
    pub fn shuffle<T>(&self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

/// The number of random cases: `full`, multiplied by the factor `INVIGIL_CASES` if that is set.
///
/// `scripts/test` sets a factor below 1, `scripts/test long` leaves it at 1. A few cases always remain.
///
/// ```
/// let repetitions = invigil_test_support::cases(20_000);
/// assert!(repetitions >= 16);
/// ```
///
/// # Panics
/// If the variable is not a number.
pub fn cases<N: Bound>(full: N) -> N {
    let full = full.widen();
    N::narrow(scaled(full, 1.0).max(full.min(FEWEST)))
}

/// Minimum number of times that random cases must reach a situation: `full` with all cases; with fewer, half the
/// proportional number, to allow for chance.
///
/// ```
/// assert!(invigil_test_support::at_least(1000) <= invigil_test_support::cases(1000));
/// ```
///
/// # Panics
/// If `INVIGIL_CASES` is not a number.
pub fn at_least<N: Bound>(full: N) -> N {
    N::narrow(scaled(full.widen(), 0.5))
}

/// `full`, multiplied by `INVIGIL_CASES` and, if that is below 1, by `share`.
fn scaled(full: u64, share: f64) -> u64 {
    let Ok(factor) = std::env::var("INVIGIL_CASES") else { return full };
    let factor: f64 = factor.parse().unwrap_or_else(|_| panic!("INVIGIL_CASES is `{factor}`, not a number"));
    (full as f64 * if factor < 1.0 { factor * share } else { factor }) as u64
}

/// The number of cases that remain with the smallest factor.
const FEWEST: u64 = 16;
