//! The debugger's side of a host of embedded monitors.

use invigil_monitor::automaton::AutomatonDef;
use invigil_monitor::embedded::{EmbeddedMonitor, EncodedReplayLog, HostRequest, LoadedAutomata, ReplayLog};
use invigil_monitor::event::EventId;
use invigil_monitor::mac::ScriptPlan;

/// What a [host](invigil_monitor::embedded::MonitorHost) inside a target has loaded, so that it is sent only once.
///
/// ```
/// use invigil_monitor::mac::ScriptPlan;
/// use invigil_target::HostProxy;
///
/// let mut host = HostProxy::default();
/// host.set_scripts(vec![ScriptPlan::default()]);
/// assert_eq!(host.load_requests(&[]).len(), 1);
/// host.confirm_loaded(&[]);
/// assert!(host.load_requests(&[]).is_empty());
/// ```
#[derive(Debug, Default)]
pub struct HostProxy {
    automata: LoadedAutomata,
    scripts: Vec<ScriptPlan>,
    has_scripts: bool,
}

impl HostProxy {
    /// Sets the scripts that are embedded with the monitors.
    pub fn set_scripts(&mut self, plans: Vec<ScriptPlan>) {
        (self.scripts, self.has_scripts) = (plans, false);
    }

    /// Whether the scripts derive this event.
    pub fn is_derived(&self, event: EventId) -> bool {
        self.scripts.iter().any(|plan| plan.outputs.all().any(|output| output == event))
    }

    /// Records that the host is new and has nothing loaded.
    pub fn forget_loaded(&mut self) {
        (self.automata, self.has_scripts) = (LoadedAutomata::new(), false);
    }

    /// The requests that load what the host still lacks before these monitors are uploaded.
    pub fn load_requests(&self, monitors: &[EmbeddedMonitor]) -> Vec<HostRequest> {
        let mut requests = Vec::new();
        if !self.automata.are_of(monitors) {
            let definitions = monitors.iter().map(|monitor| AutomatonDef::clone(&monitor.automaton));
            requests.push(HostRequest::LoadAutomata(definitions.collect()));
        }
        if !self.has_scripts && !self.scripts.is_empty() {
            requests.push(HostRequest::LoadScripts(self.scripts.clone()));
        }
        requests
    }

    /// Records that the host has carried out [these requests](HostProxy::load_requests).
    pub fn confirm_loaded(&mut self, monitors: &[EmbeddedMonitor]) {
        (self.automata, self.has_scripts) = (LoadedAutomata::of(monitors), true);
    }

    /// Decodes a replay log of the host. `None` if it is malformed.
    pub fn decode(&self, log: EncodedReplayLog) -> Option<ReplayLog> {
        log.decode(&self.automata)
    }
}
