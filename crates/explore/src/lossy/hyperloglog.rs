//! HyperLogLog sketch: estimates the number of different configurations in little memory (Flajolet, Fusy, Gandouet and
//! Meunier, 2007).

use crate::hash::hash_seeded;

/// Number of hash bits that select a register. The standard error is 1.04 / √registers, that is 0.8 %.
const INDEX_BITS: u32 = 14;

#[derive(Clone)]
pub(super) struct HyperLogLog {
    /// For each register, the maximum number of leading zeros in the rest of the hash, plus one.
    registers: Vec<u8>,
}

impl Default for HyperLogLog {
    fn default() -> HyperLogLog {
        HyperLogLog { registers: vec![0; 1 << INDEX_BITS] }
    }
}

impl HyperLogLog {
    /// Adds a configuration. All sketches use the same hash function, which no search uses.
    pub(super) fn add(&mut self, state: &[u64]) {
        let hash = hash_seeded(state, 0x5ced_0c0d_e5ca_1ab1);
        let zeros = (hash << INDEX_BITS).leading_zeros().min(64 - INDEX_BITS) as u8 + 1;
        let register = &mut self.registers[(hash >> (64 - INDEX_BITS)) as usize];
        *register = zeros.max(*register);
    }

    /// Adds all configurations of another sketch.
    pub(super) fn merge(&mut self, other: &HyperLogLog) {
        for (mine, theirs) in self.registers.iter_mut().zip(&other.registers) {
            *mine = (*theirs).max(*mine);
        }
    }

    /// The estimated number of different configurations.
    pub(super) fn estimate(&self) -> f64 {
        let count = self.registers.len() as f64;
        let sum: f64 = self.registers.iter().map(|zeros| 0.5f64.powi(i32::from(*zeros))).sum();
        let raw = 0.7213 / (1.0 + 1.079 / count) * count * count / sum;
        let empty = self.registers.iter().filter(|zeros| **zeros == 0).count();
        // For few configurations, the number of empty registers is a better estimator.
        if raw <= 2.5 * count && empty > 0 { count * (count / empty as f64).ln() } else { raw }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_within_a_few_percent() {
        for count in [0u64, 1, 100, 5000, 60_000, 1_000_000] {
            let (mut low, mut high) = (HyperLogLog::default(), HyperLogLog::default());
            for number in 0..count {
                // Half of the configurations are in both sketches.
                if number < 3 * count / 4 {
                    low.add(&[number, 3]);
                }
                if number >= count / 4 {
                    high.add(&[number, 3]);
                }
            }
            low.merge(&high);
            let error = (low.estimate() - count as f64).abs();
            assert!(error <= 0.04 * count as f64, "{count}: {}", low.estimate());
        }
    }
}
