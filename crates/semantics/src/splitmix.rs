//! Deterministic pseudo-random numbers.

/// SplitMix64 generator (Steele, Lea and Flood, 2014): the same numbers for the same seed on every machine.
///
/// Hand-written because the numbers are part of results (a reported seed reproduces a run), and `rand` may change its
/// generators between versions.
///
/// ```
/// use invigil_semantics::SplitMix64;
/// assert_eq!(SplitMix64::new(7).below(100), SplitMix64::new(7).below(100));
/// ```
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Creates a generator. Different seeds give different sequences.
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// Draws a number.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Draws a number less than `bound`, uniformly up to one part in 2^64/`bound`; zero if `bound` is zero.
    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        // The high half of the product.
        ((u128::from(self.draw()) * bound as u128) >> 64) as usize
    }

    /// State from which the next number is drawn: the seed of a generator that continues this one.
    pub(crate) fn state(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::SplitMix64;

    #[test]
    fn splitmix64_draws_the_published_sequence() {
        let mut random = SplitMix64::new(1_234_567);
        assert_eq!(
            [random.draw(), random.draw(), random.draw()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }
}
