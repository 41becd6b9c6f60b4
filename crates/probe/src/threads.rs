//! The numbers of threads, without a lock and without asking the system each time.

use crate::system;
use crate::words::INVIGIL_WORDS;
use core::arch::asm;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64};

/// So many threads are remembered, as a power of two.
const BITS: u32 = 6;
/// Numbers of threads are smaller than this power of two.
const NUMBER: u32 = 22;
/// The memory of a thread lies at a multiple of sixteen, below the middle of all addresses.
const ALIGNED: u32 = 4;
const ADDRESS: u32 = 47;

/// What tells a thread apart: where its own memory is.
#[inline]
pub fn base() -> u64 {
    let base: u64;
    // SAFETY: the tool makes sure, before it puts a probe, that the system lets programs do this.
    unsafe { asm!("rdfsbase {}", out(reg) base, options(nomem, nostack, preserves_flags)) };
    base
}

static NUMBERS: Numbers = Numbers::new();

/// The number of the thread that asks, and whose own memory is [there](base).
#[inline]
pub fn number(base: u64) -> u32 {
    NUMBERS.current(base)
}

/// Numbers of threads that were here lately. A word holds the number of a thread and most of the address of its own memory; the rest
/// of the address is told by where the word lies.
#[derive(Debug)]
struct Numbers {
    known: [AtomicU64; 1 << BITS],
    born: AtomicU32,
}

impl Numbers {
    /// None is known.
    const fn new() -> Numbers {
        Numbers { known: [const { AtomicU64::new(0) }; 1 << BITS], born: AtomicU32::new(0) }
    }

    #[inline]
    fn current(&self, base: u64) -> u32 {
        let born = INVIGIL_WORDS.born.load(Relaxed);
        if born != self.born.load(Acquire) {
            // The memory of a thread that is no more may be another's now.
            self.known.iter().for_each(|word| word.store(0, Relaxed));
            self.born.store(born, Release);
        }
        let upper = base >> (ALIGNED + BITS);
        let place = (base >> ALIGNED ^ upper ^ upper >> BITS ^ upper >> (2 * BITS)) & ((1 << BITS) - 1);
        let word = self.known[place as usize].load(Relaxed);
        if word >> NUMBER == upper && word != 0 {
            return word as u32 & ((1 << NUMBER) - 1);
        }
        let number = system::thread();
        if base.is_multiple_of(1 << ALIGNED) && base >> ADDRESS == 0 && number >> NUMBER == 0 {
            self.known[place as usize].store(upper << NUMBER | u64::from(number), Relaxed);
        }
        number
    }
}
