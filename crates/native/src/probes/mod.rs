//! Probes: instrumentation without stops, and monitors embedded in the target.
//!
//! A trap takes two context switches, about ten microseconds. A probe is a jump to a few instructions in the target
//! and takes nanoseconds. It calls `invigil-probe`, a library that the debugger maps into the target
//! ([`host_proxy`]). Every site of an event has a trap, and also a jump where one fits ([`placement`]). While the
//! target runs freely with embedded monitors, the jumps replace the traps ([`jumps`]). A site keeps its trap if no
//! jump fits, or if it has a breakpoint too: then the debugger reads the parameters and steps the embedded monitors.
//!
//! A function may end with a tail call: there are probes at the jump and at the return site ([`tail_calls`]).
//!
//! While events are only recorded, no monitor is embedded, and probes pass the events to the debugger
//! ([`recording`]).
//!
//! **Invariant:** while the target is stopped, there are traps only: the prompt, steps, checkpoints and breakpoints
//! know nothing of probes.

pub(crate) mod agent;
mod branch_targets;
mod call_handover;
mod capture;
mod drain_dead_target;
mod fast_path_check;
mod host_proxy;
mod image;
pub(crate) mod jumps;
mod placement;
pub(crate) mod quiesce;
mod recording;
mod report;
mod shared_ring;
mod tail_calls;
pub(crate) mod trampoline;

pub use recording::{RecordingOptions, RecordingResult, RecordingSink};

use invigil_monitor::embedded::ReplayLog;
use invigil_monitor::event::{EventBatch, EventSet};
use invigil_target::HostProxy;
use std::collections::BTreeMap;
use trampoline::NotPatchable;

/// Name of the library's memory in the table of mappings.
pub(crate) const MAPPED_AS: &str = "/memfd:invigil-probe";

/// How events are observed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProbeMode {
    /// By probes, and by traps where no probe fits.
    #[default]
    Inline,
    /// By traps.
    Trap,
}

/// The debugger's state of probes and embedded monitors.
#[derive(Default)]
pub(crate) struct ProbeManager {
    pub(crate) mode: ProbeMode,
    /// Why there are no probes although they are enabled.
    pub(crate) error: Option<String>,
    /// What the library's host of monitors has loaded.
    pub(crate) host: HostProxy,
    /// Whether the probes are in use: the monitors are embedded, or will be when the target is resumed, or events are
    /// recorded.
    pub(crate) are_probes_used: bool,
    /// The recording, if events are recorded instead of reported.
    recording: Option<recording::ActiveRecording>,
    /// Whether the agent tracks calls from their entries.
    tracks_entries: bool,
    tail_calls: tail_calls::TailCalls,
    /// Number of sites that were sent to the agent.
    known_sites: u32,
    /// Events to which a reaction is due, while another stop is reported first: a thread waits to report them.
    pending_events: Option<EventBatch>,
    /// The replay log, if it was fetched before the session asked for it.
    fetched_log: Option<ReplayLog>,
    /// Memory for trampolines.
    arenas: Vec<placement::TrampolineArena>,
    /// Why sites have no jump.
    pub(crate) not_patchable: BTreeMap<u32, NotPatchable>,
    /// Number of event traps when the placement of probes was last decided; zero if it must be decided again.
    trap_count_at_placement: usize,
    /// Whether that placement produced any jump.
    any_jump: bool,
    /// Events the session needs, while all events are instrumented for the embedded monitors.
    pub(crate) needed_events: Option<EventSet>,
}

impl ProbeManager {
    /// Whether the events to which a reaction is due were fetched.
    pub(crate) fn has_fetched_reaction(&self) -> bool {
        self.fetched_log.as_ref().is_some_and(|log| log.due > 0)
    }
}
