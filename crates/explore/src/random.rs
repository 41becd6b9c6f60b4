//! Numbers by chance, the same for the same seed.

/// SplitMix64 (Steele, Lea and Flood, 2014).
///
/// ```
/// use invigil_explore::Random;
/// assert_eq!(Random::new(7).below(100), Random::new(7).below(100));
/// ```
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator; each seed gives numbers of its own.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number less than `bound`; zero if that is zero.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.draw()) * bound as u128) >> 64) as usize
    }
}
