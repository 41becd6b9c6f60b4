//! Monitors and scripts that step inside a target.

use crate::error::TargetResult;
use invigil_monitor::embedded::{EmbeddedMonitor, ReplayLog};
use invigil_monitor::mac::{ScriptPlan, ScriptState};

/// Where scripts derive events from other events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptPlacement {
    /// In the session.
    InSession,
    /// Wherever the monitors step: they are embedded in the target and synchronized back together with them.
    WithMonitors,
    /// Always inside the target, which reports the derived events instead of their source events.
    InTarget,
}

/// A target in which monitors and scripts can step.
pub trait EmbeddedHost {
    /// Whether monitors can step inside the target at present. After [`embed_monitors`](EmbeddedHost::embed_monitors),
    /// [`resume`](crate::RunControl::resume) then returns [`Events`](crate::StopReason::Events) only for events that need a
    /// reaction.
    fn can_embed_monitors(&self) -> bool;

    /// Lets the properties step inside the target from their current states until it stops, and with them the scripts
    /// that are placed [with the monitors](ScriptPlacement::WithMonitors). Called before each
    /// [`resume`](crate::RunControl::resume), because the states may have changed since the last one.
    ///
    /// # Errors
    /// If the target cannot be reached.
    fn embed_monitors(&mut self, monitors: &[EmbeddedMonitor], scripts: &[ScriptState]) -> TargetResult;

    /// Accepts the scripts that derive events, before the session starts, and decides where they run.
    fn place_scripts(&mut self, scripts: &[ScriptPlan]) -> ScriptPlacement;

    /// The replay log of the embedded monitors since they were embedded, without the
    /// [`events`](crate::EventSource::events) of this stop. `None` if no monitors were embedded, or their log was lost.
    ///
    /// # Errors
    /// If the log is malformed.
    fn take_replay_log(&mut self) -> TargetResult<Option<ReplayLog>>;
}
