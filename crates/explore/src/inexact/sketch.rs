//! How many different configurations several searches have seen together, in little memory: HyperLogLog (Flajolet,
//! Fusy, Gandouet and Meunier, 2007).

use crate::hash::seeded;

/// The bits of a hash that choose a register. The standard error is 1.04 / √registers: 0.8 %.
const BITS: u32 = 14;

#[derive(Clone)]
pub(super) struct Sketch {
    /// For each, the most zeros, plus one, before a one in the rest of a hash.
    registers: Vec<u8>,
}

impl Default for Sketch {
    fn default() -> Sketch {
        Sketch { registers: vec![0; 1 << BITS] }
    }
}

impl Sketch {
    /// Adds a configuration. The hash is the same in all sketches, and none of those that searches use.
    pub(super) fn add(&mut self, state: &[u64]) {
        let hash = seeded(state, 0x5ced_0c0d_e5ca_1ab1);
        let zeros = (hash << BITS).leading_zeros().min(64 - BITS) as u8 + 1;
        let register = &mut self.registers[(hash >> (64 - BITS)) as usize];
        *register = zeros.max(*register);
    }

    /// Adds all that another has.
    pub(super) fn unite(&mut self, other: &Sketch) {
        for (mine, theirs) in self.registers.iter_mut().zip(&other.registers) {
            *mine = (*theirs).max(*mine);
        }
    }

    /// The number of different configurations, about.
    pub(super) fn estimate(&self) -> f64 {
        let count = self.registers.len() as f64;
        let sum: f64 = self.registers.iter().map(|zeros| 0.5f64.powi(i32::from(*zeros))).sum();
        let raw = 0.7213 / (1.0 + 1.079 / count) * count * count / sum;
        let empty = self.registers.iter().filter(|zeros| **zeros == 0).count();
        // Few configurations: the empty registers tell more.
        if raw <= 2.5 * count && empty > 0 { count * (count / empty as f64).ln() } else { raw }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_within_a_few_percent() {
        for count in [0u64, 1, 100, 5000, 60_000, 1_000_000] {
            let (mut low, mut high) = (Sketch::default(), Sketch::default());
            for number in 0..count {
                // Half of them in both.
                if number < 3 * count / 4 {
                    low.add(&[number, 3]);
                }
                if number >= count / 4 {
                    high.add(&[number, 3]);
                }
            }
            low.unite(&high);
            let error = (low.estimate() - count as f64).abs();
            assert!(error <= 0.04 * count as f64, "{count}: {}", low.estimate());
        }
    }
}
