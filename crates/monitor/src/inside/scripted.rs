//! Scripts that make events of events, for the properties beside them.

use super::{Block, Inside};
use crate::event::{Batch, Event, Stamp, SymbolId};
use crate::mac::Scripts;

/// Scripts, and what they find.
#[derive(Debug, Default)]
pub(super) struct Scripted {
    pub(super) scripts: Scripts,
    /// What they find on an event.
    found: Batch,
    /// How many events they have found.
    pub(super) count: u64,
}

impl Inside {
    /// The same with scripts, from where they stand. Before anything happens.
    #[must_use]
    pub fn with_scripts(mut self, scripts: Scripts) -> Inside {
        self.scripted.scripts = scripts;
        self.newer = Block::new(&self.inmates, &self.so_far, &self.scripted);
        self
    }

    /// Whether scripts must be told an event.
    #[inline]
    pub fn follow(&self, symbol: SymbolId) -> bool {
        self.scripted.scripts.follow(symbol)
    }

    /// As [`step`](Inside::step), for an event that scripts may follow. If they do, it is kept whether or not a property wants
    /// it, and the properties step with what the scripts find, after the event itself.
    pub fn happen(&mut self, event: &Event<'_>, stamp: Stamp, thread: u32) -> bool {
        if !self.follow(event.symbol) {
            return self.step(event, stamp, thread);
        }
        if self.newer.events.len() >= self.room {
            self.turn_over();
        }
        self.newer.events.push(event, stamp, thread);
        let mut reacts = self.step_concerned(event);
        let mut found = core::mem::take(&mut self.scripted.found);
        found.clear();
        self.scripted.scripts.derive(event, stamp, &mut found);
        for at in 0..found.len() {
            reacts |= self.step_concerned(&found.event(at));
        }
        self.scripted.count += found.len() as u64;
        self.scripted.found = found;
        reacts
    }
}
