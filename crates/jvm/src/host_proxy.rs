//! The debugger's side of the monitors that are embedded in the virtual machine.

use crate::target::JavaTarget;
use invigil_jvm_agent::protocol::{Answer, Request, WireReplayLog};
use invigil_monitor::automaton::AutomatonDef;
use invigil_monitor::embedded::{
    EmbeddedMonitor, EncodedReplayLog, LoadedAutomata, MonitorUpload, ReplayLog,
};
use invigil_monitor::event::{EventBatch, EventSet};
use invigil_monitor::mac::ScriptPlan;
use invigil_target::{TargetError, TargetResult};

/// The debugger's view of the embedded monitors.
#[derive(Default)]
pub(crate) struct HostProxy {
    /// The automata that the agent has.
    automata: LoadedAutomata,
    /// Whether the monitors step in the agent: embedded and not frozen.
    pub(crate) monitors_step_in_agent: bool,
    /// Whether the agent observes all events, rather than only those that are needed at present.
    pub(crate) observes_all: bool,
    /// Whether the agent's host is frozen.
    pub(crate) frozen: bool,
    /// Replay log that the agent sent when the program exited.
    final_log: Option<TargetResult<ReplayLog>>,
    /// Events after `final_log` that need a reaction and that the agent could not send before the program ended, with their
    /// thread.
    unsent_events: Option<(EventBatch, u32)>,
    /// The input events of embedded scripts.
    pub(crate) script_inputs: EventSet,
    /// Plans of the scripts, until they have been sent.
    script_plans: Vec<ScriptPlan>,
}

fn malformed_log() -> TargetError {
    TargetError::Control("malformed replay log from the agent".to_owned())
}

impl JavaTarget {
    /// Stores scripts for [`send_scripts`](JavaTarget::send_scripts): the session receives the events that they derive. Must be
    /// called before the session starts.
    pub(crate) fn set_scripts(&mut self, plans: Vec<ScriptPlan>) {
        for plan in &plans {
            let inputs = plan.inputs.iter().map(|(event, _)| *event);
            inputs.for_each(|event| self.host.script_inputs.insert(event));
        }
        self.host.script_plans = plans;
    }

    /// Sends the scripts, unless that has been done.
    pub(crate) fn send_scripts(&mut self) -> TargetResult {
        let plans = std::mem::take(&mut self.host.script_plans);
        if !plans.is_empty() {
            let plans = plans.iter().map(encoded).collect::<TargetResult<_>>()?;
            self.request(&Request::LoadScripts { plans })?;
        }
        Ok(())
    }

    /// Uploads the states of the monitors, and their automata if the agent does not have them.
    pub(crate) fn upload_monitors(&mut self, monitors: &[EmbeddedMonitor]) -> TargetResult {
        if !self.host.automata.are_of(monitors) {
            let properties = monitors.iter().map(|monitor| encoded::<AutomatonDef>(&monitor.automaton));
            let properties = properties.collect::<TargetResult<_>>()?;
            self.request(&Request::LoadProperties { properties })?;
            self.host.automata = LoadedAutomata::of(monitors);
        }
        if !std::mem::replace(&mut self.host.observes_all, true) {
            self.activate_events(true)?;
        }
        let upload = encoded(&MonitorUpload::new(monitors, &[]))?;
        self.request(&Request::EmbedMonitors { upload })?;
        (self.host.monitors_step_in_agent, self.host.frozen) = (true, false);
        Ok(())
    }

    /// Removes frozen monitors from the agent before the program resumes, unless they were embedded again; from then on
    /// they step in the session.
    pub(crate) fn remove_frozen_monitors(&mut self) -> TargetResult {
        if std::mem::take(&mut self.host.frozen) {
            self.host.monitors_step_in_agent = false;
            self.request(&Request::RemoveMonitors)?;
            if std::mem::take(&mut self.host.observes_all) {
                self.activate_events(false)?;
            }
        }
        Ok(())
    }

    /// Freezes the agent's monitors and takes their replay log. `None` if none are embedded.
    pub(crate) fn take_replay_log(&mut self) -> TargetResult<Option<ReplayLog>> {
        if !std::mem::take(&mut self.host.monitors_step_in_agent) {
            return Ok(None);
        }
        if self.link.is_none() {
            return self.host.final_log.take().transpose();
        }
        self.host.frozen = true;
        match self.request(&Request::TakeReplayLog) {
            Ok(Answer::ReplayLog { log: Some(log) }) => {
                let mut log = self.decode_log(log)?;
                // The thread in which they occurred sends them.
                log.remove_due_events();
                Ok(Some(log))
            }
            // The program may have ended in the meantime.
            Ok(Answer::ReplayLog { log: None }) | Err(TargetError::Ended(_)) => {
                self.host.final_log.take().transpose()
            }
            Ok(_) => Err(malformed_log()),
            Err(error) => Err(error),
        }
    }

    /// Stores the replay log that the agent sent when the program exited.
    pub(crate) fn store_final_log(&mut self, log: Option<WireReplayLog>) {
        let mut log = log.map(|log| self.decode_log(log));
        self.host.unsent_events = None;
        if let Some(Ok(log)) = &mut log {
            self.host.unsent_events = log.due_events();
            log.remove_due_events();
        }
        self.host.final_log = log;
    }

    /// Fails, once, if the agent sent a replay log at the exit that cannot be decoded: the last events are unknown.
    pub(crate) fn check_final_log(&mut self) -> TargetResult {
        match self.host.final_log.take_if(|log| log.is_err()) {
            Some(Err(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Fills the batch with the events that the agent could not send before the program ended. Returns whether there are
    /// any.
    pub(crate) fn deliver_unsent_events(&mut self) -> bool {
        let Some((events, thread)) = self.host.unsent_events.take() else { return false };
        (self.current, self.frame) = (thread, 0);
        self.batch = events;
        true
    }

    fn decode_log(&mut self, log: WireReplayLog) -> TargetResult<ReplayLog> {
        self.add_dead_objects(log.dead);
        let encoded: EncodedReplayLog = postcard::from_bytes(&log.log).map_err(|_| malformed_log())?;
        encoded.decode(&self.host.automata).ok_or_else(malformed_log)
    }
}

fn encoded<T: serde::Serialize>(data: &T) -> TargetResult<Vec<u8>> {
    postcard::to_allocvec(data)
        .map_err(|error| TargetError::Control(format!("cannot encode data for the agent: {error}")))
}
