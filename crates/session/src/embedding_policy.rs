//! Decides whether embedding monitors in the target is worthwhile.
//!
//! Uploading the monitors and reading back their log takes time proportional to their state. If nearly every event
//! needs a reaction, a stop per event is cheaper.

/// Minimum number of events between two stops for which a run is not short.
const MIN_EVENTS: u64 = 32;
/// Number of short runs in a row after which the monitors step in the session.
const MAX_SHORT_RUNS: u32 = 4;
/// Number of events after which the monitors are then embedded again.
const PAUSE: u64 = 4096;

#[derive(Debug, Default)]
pub(crate) struct EmbeddingPolicy {
    /// Number of short runs in a row.
    short_runs: u32,
    /// Number of the event after which embedding is tried again.
    retry_at: u64,
}

impl EmbeddingPolicy {
    /// Records a run with this many events; `last` is the number of the last one.
    pub(crate) fn record_run(&mut self, events: u64, last: u64) {
        self.short_runs = if events < MIN_EVENTS { self.short_runs + 1 } else { 0 };
        if self.short_runs >= MAX_SHORT_RUNS {
            (self.short_runs, self.retry_at) = (0, last + PAUSE);
        }
    }

    /// Whether monitors may be embedded after this event.
    pub(crate) fn allows_embedding(&self, event: u64) -> bool {
        event >= self.retry_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_runs_suspend_embedding_for_a_while() {
        let mut policy = EmbeddingPolicy::default();
        let mut event = 0;
        for _ in 0..MAX_SHORT_RUNS {
            assert!(policy.allows_embedding(event));
            event += 1;
            policy.record_run(1, event);
        }
        assert!(!policy.allows_embedding(event) && !policy.allows_embedding(event + PAUSE - 1));
        assert!(policy.allows_embedding(event + PAUSE));
        policy.record_run(MIN_EVENTS, event + PAUSE + MIN_EVENTS);
        assert!(policy.allows_embedding(event + PAUSE + MIN_EVENTS));
    }
}
