//! A small generator of numbers (xorshift), the same on every machine.

pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    pub(crate) fn flip(&mut self) -> bool {
        self.below(2) == 0
    }

    /// Any order.
    pub(crate) fn shuffle<Item>(&mut self, items: &mut [Item]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

/// How many random cases: so many, or as many as `INVIGIL_CASES` says.
pub(crate) fn cases(usual: u64) -> std::ops::Range<u64> {
    let asked = std::env::var("INVIGIL_CASES").ok().and_then(|count| count.parse().ok());
    0..asked.unwrap_or(usual)
}
