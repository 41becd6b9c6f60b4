//! Monitors and scripts that step inside a target.

use crate::error::TargetResult;
use invigil_monitor::embedded::{EmbeddedMonitor, ReplayLog};
use invigil_monitor::mac::{ScriptPlan, ScriptState};

/// A target in which monitors and scripts can step.
pub trait EmbeddedHost {
    /// Whether monitors can step inside the target at present. After [`embed_monitors`](EmbeddedHost::embed_monitors),
    /// [`resume`](crate::RunControl::resume) then returns [`Events`](crate::StopReason::Events) only for events that need a
    /// reaction.
    fn can_embed_monitors(&self) -> bool;

    /// Lets the properties and the scripts step inside the target from their current states until it stops. Called before
    /// each [`resume`](crate::RunControl::resume), because the states may have changed since the last one.
    ///
    /// # Errors
    /// If the target cannot be reached.
    fn embed_monitors(&mut self, monitors: &[EmbeddedMonitor], scripts: &[ScriptState]) -> TargetResult;

    /// Sets the scripts that derive events wherever the monitors step. Called before the session starts.
    fn set_scripts(&mut self, scripts: &[ScriptPlan]);

    /// The replay log of the embedded monitors since they were embedded, without the
    /// [`events`](crate::EventSource::events) of this stop. `None` if no monitors were embedded, or their log was lost.
    ///
    /// # Errors
    /// If the log is malformed.
    fn take_replay_log(&mut self) -> TargetResult<Option<ReplayLog>>;
}
