//! Scripts (PEDL and MEDL) that step in the target with the monitors.

use super::ProbeManager;
use crate::native_target::NativeTarget;
use invigil_monitor::event::EventId;
use invigil_monitor::mac::ScriptPlan;
use invigil_probe::message::Request;
use invigil_target::TargetResult;

/// The scripts, and whether the library has them.
#[derive(Default)]
pub(super) struct ScriptUpload {
    plans: Vec<ScriptPlan>,
    is_uploaded: bool,
}

impl ScriptUpload {
    /// Records that the library was mapped again and has no scripts.
    pub(super) fn forget_library(&mut self) {
        self.is_uploaded = false;
    }
}

impl ProbeManager {
    /// Sets the scripts that are embedded with the monitors.
    pub(crate) fn set_scripts(&mut self, plans: Vec<ScriptPlan>) {
        self.scripts = ScriptUpload { plans, is_uploaded: false };
    }

    /// Whether an event is derived by scripts.
    pub(super) fn is_derived_event(&self, event: EventId) -> bool {
        self.scripts.plans.iter().any(|plan| plan.outputs.all().any(|output| output == event))
    }
}

impl NativeTarget {
    /// Uploads the scripts to the library, if it does not have them.
    pub(super) fn upload_scripts(&mut self) -> TargetResult {
        let ScriptUpload { plans, is_uploaded } = &self.probes.scripts;
        if *is_uploaded || plans.is_empty() {
            return Ok(());
        }
        let plans = plans.clone();
        self.call_agent(&Request::Scripts { plans, start_time: self.started_at_nanos })?;
        // It has forgotten the sites.
        (self.probes.scripts.is_uploaded, self.probes.trap_count_at_placement) = (true, 0);
        Ok(())
    }
}
