//! Reverse execution: the nearest checkpoint before an event is restored, and the target runs from there, without
//! reactions, until the event occurs again.
//!
//! The target reaches the same state only if it behaves as before. The replayed events are therefore compared with
//! those of the original run.

use crate::history::batch_event;
use crate::outcome::RunOutcome;
use crate::session::Session;
use invigil_check::ReportedEvent;
use invigil_monitor::event::{Event, EventBatch};
use invigil_target::{ResumeMode, StopReason, TargetError, TargetResult};

/// Result of reverse execution.
#[derive(Clone, Debug, PartialEq)]
pub struct ReverseResult {
    /// The number of the event at which the target is stopped.
    pub event: u64,
    /// The checkpoint that was restored.
    pub checkpoint: u32,
    /// The first event that differs from the original run.
    pub divergence: Option<Divergence>,
    /// The outcome that stopped the target before it reached the event, if any.
    pub stopped: Option<RunOutcome>,
}

/// An event that differs from the original run.
#[derive(Clone, Debug, PartialEq)]
pub struct Divergence {
    /// The event of the original run.
    pub expected: ReportedEvent,
    /// The event of this run.
    pub found: ReportedEvent,
}

impl Session {
    /// Goes back to event `number`, or to the state before the first event with zero. The target is then stopped where
    /// the event occurs, and the monitors have processed it.
    ///
    /// # Errors
    /// If the target has no checkpoints, the event has not occurred yet, there is no checkpoint before it, or the
    /// target cannot be run.
    pub fn reverse_to(&mut self, number: u64) -> TargetResult<ReverseResult> {
        self.check_idle("go back")?;
        self.target.checkpoints()?;
        if number > self.history.count() {
            let message = format!("event {number} has not happened yet: there were {}", self.history.count());
            return Err(TargetError::Request(message));
        }
        let Some(stored) = self.checkpoints.latest_at_or_before(number) else {
            let message = format!(
                "there is no checkpoint before event {number}: take checkpoints while the program runs, or let the \
                 session take them automatically"
            );
            return Err(TargetError::Request(message));
        };
        let (checkpoint, from) = (stored.info.id, stored.info.event_count);
        let first_kept = (*self.history.retained().start()).max(from + 1);
        let expected = self.history.copy(first_kept..=number);
        self.restore_checkpoint(checkpoint)?;
        self.handling.restored = false;
        let mut result = ReverseResult { event: from, checkpoint, divergence: None, stopped: None };
        while self.history.count() < number && result.stopped.is_none() {
            result.stopped = match self.resume_without_embedding(&ResumeMode::Continue)? {
                StopReason::Events => {
                    self.replay_events(&expected, first_kept, &mut result)?;
                    None
                }
                // The owner was notified of this breakpoint in the original run.
                StopReason::Breakpoints { .. } | StopReason::Stepped { .. } => None,
                StopReason::Interrupted => Some(RunOutcome::Interrupted),
                StopReason::Signal { name, detail } => Some(RunOutcome::Signal { name, detail }),
                StopReason::Ended(ending) => Some(self.record_end(ending)),
            };
        }
        result.event = self.history.count();
        Ok(result)
    }

    /// Delivers the events of the current stop to the monitors, and compares them with the original run.
    fn replay_events(
        &mut self,
        expected: &EventBatch,
        first: u64,
        result: &mut ReverseResult,
    ) -> TargetResult {
        let mut needs_changed = false;
        self.take_events();
        for at in 0..self.batch.len() {
            needs_changed |= self.replay_event(at);
            let number = self.history.count();
            let position = number.checked_sub(first).map(|position| position as usize);
            let Some(position) = position.filter(|position| *position < expected.len()) else { continue };
            let found = &self.batch;
            if result.divergence.is_none() && !is_same_event(&expected.event(position), &found.event(at)) {
                result.divergence = Some(Divergence {
                    expected: batch_event(expected, position, number, &self.catalog),
                    found: batch_event(found, at, number, &self.catalog),
                });
            }
        }
        if needs_changed { self.update_needs() } else { Ok(()) }
    }
}

/// Whether two events have the same declaration and the same values.
fn is_same_event(a: &Event<'_>, b: &Event<'_>) -> bool {
    let text = |event: &Event<'_>, at: usize| {
        let (start, len) = event.params[at].as_text()?;
        event.text.get(start as usize..start as usize + len as usize).map(str::to_owned)
    };
    let is_same_value = |at: usize| {
        let (x, y) = (a.params[at], b.params[at]);
        if x.is_inline() || y.is_inline() { x.bits() == y.bits() } else { text(a, at) == text(b, at) }
    };
    a.id == b.id && a.params.len() == b.params.len() && (0..a.params.len()).all(is_same_value)
}
