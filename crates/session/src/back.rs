//! Going back to an earlier event: the nearest checkpoint before it is restored, and the program runs on from
//! there, without reactions, until the event happens again.
//!
//! The program is brought to the same place only if it does the same again. So the events on the way are
//! compared with those of the first time.

use crate::history::told;
use crate::outcome::Outcome;
use crate::session::Session;
use crate::subject::{Done, Resume, Stop, Trouble};
use invigil_check::Happening;
use invigil_monitor::event::{Batch, Event};

/// Where going back has led.
#[derive(Clone, Debug, PartialEq)]
pub struct Back {
    /// The number of the event at which the program stands.
    pub event: u64,
    /// The checkpoint that was restored.
    pub checkpoint: u32,
    /// The first event that was not as it had been.
    pub diverged: Option<Divergence>,
    /// What kept the program from getting there, if something did.
    pub stopped: Option<Outcome>,
}

/// An event that was not as it had been the first time.
#[derive(Clone, Debug, PartialEq)]
pub struct Divergence {
    /// The event of the first time.
    pub expected: Happening,
    /// The event of this time.
    pub found: Happening,
}

impl Session {
    /// Goes back to event `number`, or before the first with zero: the program stands where it happens, and
    /// the monitors have seen it.
    ///
    /// # Errors
    /// If the program cannot be kept, the event is yet to come, no checkpoint before it is left, or the program cannot be run.
    pub fn back(&mut self, number: u64) -> Done<Back> {
        self.check_idle("go back")?;
        if let Some(why) = self.subject.no_checkpoints() {
            return Err(Trouble::Request(why.to_owned()));
        }
        if number > self.history.count() {
            let words = format!("event {number} has not happened: there were {}", self.history.count());
            return Err(Trouble::Request(words));
        }
        let Some(kept) = self.checkpoints.before(number) else {
            let words = format!(
                "there is no checkpoint before event {number}: take some while the program runs, or let the \
                 session take them automatically"
            );
            return Err(Trouble::Request(words));
        };
        let (checkpoint, from) = (kept.info.id, kept.info.event);
        let first_kept = (*self.history.kept().start()).max(from + 1);
        let expected = self.history.copy(first_kept..=number);
        self.restore(checkpoint)?;
        self.turn.restored = false;
        let mut back = Back { event: from, checkpoint, diverged: None, stopped: None };
        while self.history.count() < number && back.stopped.is_none() {
            back.stopped = match self.resume_outside(&Resume::Continue)? {
                Stop::Events => {
                    self.follow_again(&expected, first_kept, &mut back)?;
                    None
                }
                // Who set a point has been there before.
                Stop::Points { .. } | Stop::Stepped { .. } => None,
                Stop::Interrupted => Some(Outcome::Interrupted),
                Stop::Signal { name, detail } => Some(Outcome::Signal { name, detail }),
                Stop::Ended(ending) => Some(self.ended(ending)),
            };
        }
        back.event = self.history.count();
        Ok(back)
    }

    /// Gives the events at which the program stands to the monitors, and compares them with the first time.
    fn follow_again(&mut self, expected: &Batch, first: u64, back: &mut Back) -> Done {
        let mut needs = false;
        self.take_events();
        for at in 0..self.batch.len() {
            needs |= self.follow_quietly(at);
            let number = self.history.count();
            let position = number.checked_sub(first).map(|position| position as usize);
            let Some(position) = position.filter(|position| *position < expected.len()) else { continue };
            let found = &self.batch;
            if back.diverged.is_none() && !same(&expected.event(position), &found.event(at)) {
                back.diverged = Some(Divergence {
                    expected: told(expected, position, number, &self.catalog),
                    found: told(found, at, number, &self.catalog),
                });
            }
        }
        if needs { self.update_needs() } else { Ok(()) }
    }
}

/// Whether two events are alike in what and with which values.
fn same(a: &Event<'_>, b: &Event<'_>) -> bool {
    let text = |event: &Event<'_>, at: usize| {
        let (start, len) = event.params[at].as_text()?;
        event.text.get(start as usize..start as usize + len as usize).map(str::to_owned)
    };
    let alike = |at: usize| {
        let (x, y) = (a.params[at], b.params[at]);
        if x.is_inline() || y.is_inline() { x.bits() == y.bits() } else { text(a, at) == text(b, at) }
    };
    a.symbol == b.symbol && a.params.len() == b.params.len() && (0..a.params.len()).all(alike)
}
