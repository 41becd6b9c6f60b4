//! The debugger's side of the monitors that are embedded in the virtual machine.

use crate::target::JavaTarget;
use invigil_jvm_agent::protocol::{Answer, Request, WireReplayLog};
use invigil_monitor::embedded::{
    EmbeddedMonitor, EncodedReplayLog, HostReply, HostRequest, MonitorUpload, ReplayLog,
};
use invigil_monitor::event::{EventBatch, EventId};
use invigil_monitor::mac::{ScriptPlan, ScriptState};
use invigil_target::{HostProxy, TargetError, TargetResult};

/// The debugger's view of the embedded monitors.
#[derive(Default)]
pub(crate) struct AgentHost {
    proxy: HostProxy,
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
    /// The events that report the time to scripts, with their periods in milliseconds, until they have been started.
    ticks: Vec<(EventId, u32)>,
}

fn malformed_reply() -> TargetError {
    TargetError::Control("malformed reply from the agent".to_owned())
}

fn malformed_log() -> TargetError {
    TargetError::Control("malformed replay log from the agent".to_owned())
}

impl JavaTarget {
    /// Sets the scripts that are embedded with the monitors.
    pub(crate) fn set_scripts(&mut self, plans: Vec<ScriptPlan>) {
        self.host.ticks = plans.iter().filter_map(|plan| plan.tick).collect();
        self.host.proxy.set_scripts(plans);
    }

    /// Starts the events that report the time, unless that has been done.
    pub(crate) fn start_ticks(&mut self) -> TargetResult {
        for (event, milliseconds) in std::mem::take(&mut self.host.ticks) {
            self.request(&Request::StartTicks { event: event.0, milliseconds })?;
        }
        Ok(())
    }

    /// Sends a request to the host of the embedded monitors.
    fn call_host(&mut self, request: &HostRequest) -> TargetResult<HostReply> {
        let request = postcard::to_allocvec(request).map_err(|error| {
            TargetError::Control(format!("cannot encode a request to the agent: {error}"))
        })?;
        let Answer::Host { reply, dead } = self.request(&Request::Host { request })? else {
            return Err(malformed_reply());
        };
        self.add_dead_objects(dead);
        match postcard::from_bytes(&reply) {
            Ok(HostReply::Failed(message)) => Err(TargetError::Control(message)),
            Ok(reply) => Ok(reply),
            Err(_) => Err(malformed_reply()),
        }
    }

    /// Uploads the states of the monitors and scripts, after what the agent does not have yet.
    pub(crate) fn upload_monitors(
        &mut self,
        monitors: &[EmbeddedMonitor],
        scripts: &[ScriptState],
    ) -> TargetResult {
        for request in self.host.proxy.load_requests(monitors) {
            self.call_host(&request)?;
        }
        self.host.proxy.confirm_loaded(monitors);
        if !std::mem::replace(&mut self.host.observes_all, true) {
            self.activate_events(true)?;
        }
        self.call_host(&HostRequest::Upload(MonitorUpload::new(monitors, scripts)))?;
        (self.host.monitors_step_in_agent, self.host.frozen) = (true, false);
        Ok(())
    }

    /// Removes frozen monitors from the agent before the program resumes, unless they were embedded again; from then on
    /// they step in the session.
    pub(crate) fn remove_frozen_monitors(&mut self) -> TargetResult {
        if std::mem::take(&mut self.host.frozen) {
            self.host.monitors_step_in_agent = false;
            self.call_host(&HostRequest::Remove)?;
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
        match self.call_host(&HostRequest::Drain) {
            Ok(HostReply::Drained(Some(log))) => {
                let mut log = self.decode_log(log)?;
                // The thread in which they occurred sends them.
                log.remove_due_events();
                Ok(Some(log))
            }
            // The program may have ended in the meantime.
            Ok(HostReply::Drained(None)) | Err(TargetError::Ended(_)) => {
                self.host.final_log.take().transpose()
            }
            Ok(_) => Err(malformed_reply()),
            Err(error) => Err(error),
        }
    }

    /// Stores the replay log that the agent sent when the program exited.
    pub(crate) fn store_final_log(&mut self, log: Option<WireReplayLog>) {
        let mut log = log.map(|WireReplayLog { log, dead }| {
            self.add_dead_objects(dead);
            self.decode_log(postcard::from_bytes(&log).map_err(|_| malformed_log())?)
        });
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

    fn decode_log(&self, log: EncodedReplayLog) -> TargetResult<ReplayLog> {
        self.host.proxy.decode(log).ok_or_else(malformed_log)
    }
}
