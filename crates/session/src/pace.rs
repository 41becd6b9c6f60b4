//! Whether it is worth while to have monitors step inside the program.
//!
//! To put them there and to catch up costs as much as they remember. Where someone reacts to nearly every event, it is cheaper
//! to be told each.

/// Fewer events between two reactions are few.
const FEW: u64 = 32;
/// After so many times with few events the monitors step outside,
const TIMES: u32 = 4;
/// and after so many events it is tried again.
const BREAK: u64 = 4096;

#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// How many times in a row there were few events.
    slow: u32,
    /// The event after which it is tried again.
    until: u64,
}

impl Pace {
    /// So many events happened inside; the last of them has this number.
    pub(crate) fn ran(&mut self, events: u64, last: u64) {
        self.slow = if events < FEW { self.slow + 1 } else { 0 };
        if self.slow >= TIMES {
            (self.slow, self.until) = (0, last + BREAK);
        }
    }

    /// Whether monitors may step inside after this event.
    pub(crate) fn is_worth(&self, event: u64) -> bool {
        event >= self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_reacts_to_every_event_is_told_each_for_a_while() {
        let mut pace = Pace::default();
        let mut event = 0;
        for _ in 0..TIMES {
            assert!(pace.is_worth(event));
            event += 1;
            pace.ran(1, event);
        }
        assert!(!pace.is_worth(event) && !pace.is_worth(event + BREAK - 1));
        assert!(pace.is_worth(event + BREAK));
        pace.ran(FEW, event + BREAK + FEW);
        assert!(pace.is_worth(event + BREAK + FEW));
    }
}
