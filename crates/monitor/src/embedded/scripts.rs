//! Scripts beside embedded monitors: they derive events for the properties.

use super::{EmbeddedMonitors, LogSegment};
use crate::event::{Event, EventBatch, EventId, EventMeta};
use crate::mac::Scripts;

/// The scripts, and the events that they derive.
#[derive(Debug, Default)]
pub(super) struct EmbeddedScripts {
    pub(super) scripts: Scripts,
    /// The events derived from the current event.
    derived: EventBatch,
    /// The number of derived events.
    pub(super) derived_count: u64,
}

impl EmbeddedMonitors {
    /// Adds scripts in their current state. Must be called before the first event.
    #[must_use]
    pub fn with_scripts(mut self, scripts: Scripts) -> EmbeddedMonitors {
        self.scripts.scripts = scripts;
        self.newer = LogSegment::new(&self.monitors, &self.counts, &self.scripts);
        self
    }

    /// Advances the clock of the scripts to at least this time, for a host whose events have no time of their own. Must be
    /// called before the first event.
    pub fn advance_script_clock(&mut self, milliseconds: i64) {
        self.scripts.scripts.advance_clock(milliseconds);
        self.newer.scripts = self.scripts.scripts.state();
    }

    /// Whether the scripts follow an event.
    #[inline]
    pub fn scripts_follow(&self, event_id: EventId) -> bool {
        self.scripts.scripts.needs_event(event_id)
    }

    /// Like [`step`](EmbeddedMonitors::step), for an event that scripts may follow.
    ///
    /// If they do, the event is logged even if no property needs it. The properties step on it first, and then
    /// on the events derived from it.
    pub fn step_with_scripts(&mut self, event: &Event<'_>, meta: EventMeta, thread: u32) -> bool {
        if !self.scripts_follow(event.id) {
            return self.step(event, meta, thread);
        }
        if self.newer.events.len() >= self.segment_len {
            self.rotate_log();
        }
        self.newer.events.push(event, meta, thread);
        let mut reacts = self.step_all(event);
        let mut derived = core::mem::take(&mut self.scripts.derived);
        derived.clear();
        self.scripts.scripts.derive(event, meta, &mut derived);
        for at in 0..derived.len() {
            reacts |= self.step_all(&derived.event(at));
        }
        self.scripts.derived_count += derived.len() as u64;
        self.scripts.derived = derived;
        reacts
    }
}
