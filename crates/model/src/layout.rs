//! Layout of variables in the words of a configuration.
//!
//! A value is stored as its difference from the smallest one, in as many bits as the range needs. No element crosses a
//! word boundary. Array elements occupy 1, 2, 4, 8, 16, 32 or 64 bits each, contiguously, so that the position of an
//! element follows from its index by a shift. Unused bits are 0, so equal configurations have equal words.

use crate::variable::Variable;

/// Position of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The first bit of the first element, counted from the least significant bit of the first word.
    pub bit: u32,
    /// The bits of an element: 0 if the domain has one value. For an array, a power of two or 0.
    pub width: u32,
    /// The value that is stored as 0.
    pub low: i64,
}

impl Slot {
    /// The word with an element, and the bit at which it starts.
    pub fn at(&self, index: u32) -> (usize, u32) {
        let bit = u64::from(self.bit) + u64::from(index) * u64::from(self.width);
        ((bit / 64) as usize, (bit % 64) as u32)
    }

    /// A mask with the bits of an element, starting at bit 0.
    pub fn mask(&self) -> u64 {
        mask(self.width)
    }

    /// Reads an element.
    ///
    /// ```
    /// use invigil_model::layout::Slot;
    /// let slot = Slot { bit: 4, width: 2, low: -1 };
    /// assert_eq!(slot.read(&[0b11_0000], 0), 2);
    /// ```
    pub fn read(&self, words: &[u64], index: u32) -> i64 {
        if self.width == 0 {
            return self.low;
        }
        let (word, bit) = self.at(index);
        self.low.wrapping_add((words[word] >> bit & self.mask()) as i64)
    }

    /// Writes a value of its range to an element.
    ///
    /// ```
    /// use invigil_model::layout::Slot;
    /// let (slot, mut words) = (Slot { bit: 4, width: 2, low: -1 }, [0]);
    /// slot.write(&mut words, 0, 2);
    /// assert_eq!(words, [0b11_0000]);
    /// ```
    pub fn write(&self, words: &mut [u64], index: u32, value: i64) {
        if self.width == 0 {
            return;
        }
        let (word, bit) = self.at(index);
        let stored = value.wrapping_sub(self.low) as u64 & self.mask();
        words[word] = words[word] & !(self.mask() << bit) | stored << bit;
    }
}

/// The positions of all variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The position of each variable.
    pub slots: Vec<Slot>,
    /// The number of words of a configuration: at least one.
    pub words: usize,
    /// The number of unused bits at the most significant end of the last word.
    pub spare: u32,
}

/// Maximum number of words of a configuration.
pub const MAX_WORDS: usize = 1 << 12;

impl Layout {
    /// Computes the layout of variables; `None` if they need more than [`MAX_WORDS`].
    ///
    /// Wide variables are placed first, so that few bits are lost at word boundaries.
    pub fn of(variables: &[Variable]) -> Option<Layout> {
        let widths: Vec<u32> = variables.iter().map(width).collect();
        let mut order: Vec<usize> = (0..variables.len()).collect();
        order.sort_by_key(|&at| {
            (core::cmp::Reverse(variables[at].length.is_some()), core::cmp::Reverse(widths[at]))
        });
        let mut slots = vec![Slot { bit: 0, width: 0, low: 0 }; variables.len()];
        // A scalar is placed in the first word with enough free bits.
        let mut used: Vec<u32> = Vec::new();
        for at in order {
            let (variable, width) = (&variables[at], widths[at]);
            let bits = u64::from(variable.elements()) * u64::from(width);
            let bit = match variable.length {
                _ if bits == 0 => 0,
                None => match used.iter().position(|taken| taken + width <= 64) {
                    Some(word) => {
                        used[word] += width;
                        word as u64 * 64 + u64::from(used[word] - width)
                    }
                    None => {
                        used.push(width);
                        (used.len() as u64 - 1) * 64
                    }
                },
                Some(_) => place_array(&mut used, bits, width)?,
            };
            if used.len() > MAX_WORDS {
                return None;
            }
            slots[at] = Slot { bit: bit as u32, width, low: variable.domain.range().0 };
        }
        let spare = 64 - used.last().copied().unwrap_or(0);
        Some(Layout { slots, words: used.len().max(1), spare })
    }
}

/// Places an array after the last one, at a multiple of its element width. Returns its first bit.
fn place_array(used: &mut Vec<u32>, bits: u64, width: u32) -> Option<u64> {
    let start = match used.last() {
        None | Some(64) => used.len() as u64 * 64,
        Some(&taken) => (used.len() as u64 - 1) * 64 + u64::from(taken.next_multiple_of(width)),
    };
    let end = start.checked_add(bits)?;
    let words = usize::try_from(end.div_ceil(64)).ok().filter(|words| *words <= MAX_WORDS)?;
    // Everything before the end is used up, including gaps.
    used.iter_mut().for_each(|taken| *taken = 64);
    used.resize(words, 64);
    if let Some(last) = used.last_mut() {
        *last = (end - (words as u64 - 1) * 64) as u32;
    }
    Some(start)
}

/// The number of bits of an element.
fn width(variable: &Variable) -> u32 {
    let (low, high) = variable.domain.range();
    let span = high.wrapping_sub(low) as u64;
    let bits = 64 - span.leading_zeros();
    match variable.length {
        Some(_) if bits > 0 => bits.next_power_of_two(),
        _ => bits,
    }
}

/// A mask of `width` bits.
pub fn mask(width: u32) -> u64 {
    u64::MAX.checked_shr(64 - width).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variable::Domain;
    use proptest::prelude::*;

    fn variables() -> impl Strategy<Value = Vec<Variable>> {
        let one = (0..7_u32, any::<i32>(), prop_oneof![Just(None), (1..40_u32).prop_map(Some)]).prop_map(
            |(size, low, length)| {
                let low = i64::from(low);
                let high = low + [0, 1, 2, 255, 1000, 1 << 33, i64::MAX >> 1][size as usize];
                let initial = vec![low; length.unwrap_or(1) as usize];
                let domain = Domain::Integer { low, high };
                Variable { name: "v".to_owned(), domain, length, initial, is_hidden: false }
            },
        );
        proptest::collection::vec(one, 0..12)
    }

    proptest! {
        #[test]
        fn slot_write_changes_only_its_bits(variables in variables(), seed: u64) {
            let layout = Layout::of(&variables).unwrap();
            let mut words = vec![0; layout.words];
            let mut random = seed;
            let mut kept = Vec::new();
            for (variable, slot) in variables.iter().zip(&layout.slots) {
                for index in 0..variable.elements() {
                    random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                    let (low, high) = variable.domain.range();
                    let value = low + ((random >> 1) as i64) % (high - low + 1).max(1);
                    slot.write(&mut words, index, value);
                    let (word, bit) = slot.at(index);
                    prop_assert!(slot.width == 0 || (bit + slot.width <= 64 && word < layout.words));
                    kept.push((*slot, index, value));
                }
            }
            for (slot, index, value) in &kept {
                prop_assert_eq!(slot.read(&words, *index), *value);
            }
            for (slot, index, _) in &kept {
                slot.write(&mut words, *index, slot.low);
            }
            prop_assert!(words.iter().all(|word| *word == 0), "unused bits are 0");
        }
    }
}
