//! Hashing of states.

/// Hashes the words of a state. All bits are well mixed, so callers may use parts of the hash independently.
///
/// ```
/// assert_ne!(invigil_explore::hash(&[1, 2]), invigil_explore::hash(&[2, 1]));
/// ```
#[inline]
pub fn hash(state: &[u64]) -> u64 {
    hash_seeded(state, 0)
}

/// Hashes the words of a state with a seed; each seed selects another function.
#[inline]
pub(crate) fn hash_seeded(state: &[u64], seed: u64) -> u64 {
    // The seed must change the factor as well: otherwise it would only permute the hashes of one-word states.
    let factor = 0x9e37_79b9_7f4a_7c15 ^ seed.wrapping_mul(0xbf58_476d_1ce4_e5b9) << 1;
    let mut hash = seed ^ 0x243f_6a88_85a3_08d3;
    for word in state {
        hash = fold(hash ^ word, factor);
    }
    fold(hash, 0xd1b5_4a32_d192_ed03)
}

/// Folds the two halves of a product by xor: every bit of `left` affects every bit of the result.
#[inline]
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    (product as u64) ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Even for states that differ little, as those of models do, every part of the hash is uniformly distributed.
    #[test]
    fn hash_bits_are_uniformly_distributed() {
        let counters = (0..1u64 << 16).map(|n| vec![n]);
        let high = (0..1u64 << 16).map(|n| vec![n << 40, 7]);
        let bits = (0..1u64 << 16).map(|n| (0..4).map(|word| (n >> (4 * word) & 15) << 20).collect());
        let families: [Vec<Vec<u64>>; 3] = [counters.collect(), high.collect(), bits.collect()];
        for family in families {
            for seed in [0, 1, 99] {
                for part in 0..8 {
                    let mut counts = [0u32; 256];
                    for state in &family {
                        counts[(hash_seeded(state, seed) >> (8 * part)) as usize & 255] += 1;
                    }
                    // The expected count is 256 with a standard deviation of 16, so chi squared with 255 degrees of
                    // freedom stays below 400.
                    let squares: f64 =
                        counts.iter().map(|count| (f64::from(*count) - 256.0).powi(2) / 256.0).sum();
                    assert!(squares < 400.0, "part {part} with seed {seed}: {squares}");
                }
            }
        }
    }
}
