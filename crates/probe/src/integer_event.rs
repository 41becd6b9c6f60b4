//! Events with few integer parameters, which take the fast path.

use crate::capture::{Capture, GeneralRegisters, IntCapture};
use crate::message::SiteEvents;
use alloc::vec::Vec;
use invigil_monitor::event::EventId;

/// Largest number of parameters on the fast path.
const MAX_FAST_INTS: usize = 3;

/// Consumer of such an event. The number of parameters is a constant, so there is no loop over them.
pub(crate) trait EventSink {
    /// Consumes the event, or does nothing and returns false.
    fn accept<const N: usize>(self, event: EventId, numbers: [i64; N]) -> bool;
}

/// An event whose parameters are a few integers that need one load each.
#[derive(Clone)]
pub(crate) struct IntegerEvent {
    event: EventId,
    count: usize,
    captures: [IntCapture; MAX_FAST_INTS],
}

impl IntegerEvent {
    /// Returns the only event of a site, if it is of this kind.
    pub(crate) fn of(site: &SiteEvents) -> Option<IntegerEvent> {
        let [event] = &site[..] else { return None };
        let captures: Option<Vec<IntCapture>> = event.captures.iter().map(Capture::int_capture).collect();
        let captures = captures.filter(|captures| captures.len() <= MAX_FAST_INTS)?;
        let count = captures.len();
        let captures = core::array::from_fn(|n| captures.get(n).copied().unwrap_or_default());
        Some(IntegerEvent { event: event.event, count, captures })
    }

    /// Reads the parameters and passes the event to `sink`. Returns false, having done nothing, if a parameter cannot
    /// be read or the sink rejects the event.
    #[inline(always)]
    pub(crate) fn deliver(&self, general: &GeneralRegisters, thread: u32, sink: impl EventSink) -> bool {
        match self.count {
            0 => sink.accept(self.event, []),
            1 => self.take::<1>(general, thread).is_some_and(|numbers| sink.accept(self.event, numbers)),
            2 => self.take::<2>(general, thread).is_some_and(|numbers| sink.accept(self.event, numbers)),
            _ => self
                .take::<MAX_FAST_INTS>(general, thread)
                .is_some_and(|numbers| sink.accept(self.event, numbers)),
        }
    }

    #[inline(always)]
    fn take<const N: usize>(&self, general: &GeneralRegisters, thread: u32) -> Option<[i64; N]> {
        let mut taken = [0; N];
        for (number, capture) in taken.iter_mut().zip(&self.captures) {
            *number = capture.take(general, thread)?;
        }
        Some(taken)
    }
}
