//! Events that are dealt with in the shortest way.

use crate::capture::{Capture, General, Ready};
use crate::message::Site;
use alloc::vec::Vec;
use invigil_monitor::event::SymbolId;

/// Events with no more parameters go the shortest way.
const FEWER: usize = 3;

/// What is done with an event of this kind. How many numbers there are is known where this is compiled: there is no loop over them.
pub(crate) trait Deed {
    /// Does it, or nothing at all; which of the two.
    fn done<const N: usize>(self, symbol: SymbolId, numbers: [i64; N]) -> bool;
}

/// An event that carries a few whole numbers that are easy to get.
#[derive(Clone)]
pub(crate) struct Short {
    symbol: SymbolId,
    count: usize,
    ready: [Ready; FEWER],
}

impl Short {
    /// The one event of a site, if it is of this kind.
    pub(crate) fn of(site: &Site) -> Option<Short> {
        let [told] = &site[..] else { return None };
        let ready: Option<Vec<Ready>> = told.captures.iter().map(Capture::ready).collect();
        let ready = ready.filter(|ready| ready.len() <= FEWER)?;
        let count = ready.len();
        let ready = core::array::from_fn(|n| ready.get(n).copied().unwrap_or_default());
        Some(Short { symbol: told.symbol, count, ready })
    }

    /// Has something done with the numbers of a thread, if they are all there, and gives whether it was.
    #[inline(always)]
    pub(crate) fn with(&self, general: &General, thread: u32, deed: impl Deed) -> bool {
        match self.count {
            0 => deed.done(self.symbol, []),
            1 => self.take::<1>(general, thread).is_some_and(|numbers| deed.done(self.symbol, numbers)),
            2 => self.take::<2>(general, thread).is_some_and(|numbers| deed.done(self.symbol, numbers)),
            _ => self.take::<FEWER>(general, thread).is_some_and(|numbers| deed.done(self.symbol, numbers)),
        }
    }

    #[inline(always)]
    fn take<const N: usize>(&self, general: &General, thread: u32) -> Option<[i64; N]> {
        let mut taken = [0; N];
        for (number, ready) in taken.iter_mut().zip(&self.ready) {
            *number = ready.take(general, thread)?;
        }
        Some(taken)
    }
}
