//! The debugger's side of the monitors that are embedded in the virtual machine.

use crate::target::JavaTarget;
use invigil_jvm_agent::protocol::{Answer, LoggedEvent, Request, WireReplayLog};
use invigil_jvm_agent::values::value;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::embedded::{EmbeddedMonitor, EvictedCounts};
use invigil_monitor::event::{EventBatch, EventId, EventMeta, EventSet};
use invigil_monitor::mac::ScriptPlan;
use invigil_monitor::slices::SliceTable;
use invigil_session::target::{ReplayLog, TargetError, TargetResult};
use std::sync::Arc;

/// The debugger's view of the embedded monitors.
#[derive(Default)]
pub(crate) struct HostProxy {
    /// The automata that the agent has.
    automata: Vec<Arc<Automaton>>,
    /// Whether the monitors step in the agent: embedded and not frozen.
    pub(crate) monitors_step_in_agent: bool,
    /// Whether the agent observes all events, rather than only those that are needed at present.
    pub(crate) observes_all: bool,
    /// Whether the agent's host is frozen.
    pub(crate) frozen: bool,
    /// Replay log that the agent sent when the program exited.
    pub(crate) final_log: Option<WireReplayLog>,
    /// Events after `final_log` that need a reaction and that the agent could not send before the program ended.
    pub(crate) unsent_events: Vec<LoggedEvent>,
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
        let has_automata = monitors.len() == self.host.automata.len()
            && monitors
                .iter()
                .zip(&self.host.automata)
                .all(|(monitor, automaton)| Arc::ptr_eq(&monitor.automaton, automaton));
        if !has_automata {
            let properties = monitors.iter().map(|monitor| {
                let parts: &invigil_monitor::automaton::AutomatonDef = &monitor.automaton;
                encoded(parts)
            });
            let properties = properties.collect::<TargetResult<_>>()?;
            self.request(&Request::LoadProperties { properties })?;
            self.host.automata = monitors.iter().map(|monitor| Arc::clone(&monitor.automaton)).collect();
        }
        if !std::mem::replace(&mut self.host.observes_all, true) {
            self.activate_events(true)?;
        }
        let states = monitors.iter().map(|monitor| monitor.slices.save()).collect();
        let reaction_masks = monitors.iter().map(|monitor| monitor.reactions.clone()).collect();
        self.request(&Request::EmbedMonitors { states, reaction_masks })?;
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
        let log = if self.link.is_some() {
            self.host.frozen = true;
            match self.request(&Request::TakeReplayLog) {
                Ok(Answer::ReplayLog { log }) => log.or_else(|| self.host.final_log.take()),
                Ok(_) => return Err(malformed_log()),
                // The program has ended in the meantime.
                Err(TargetError::Ended(_)) => self.host.final_log.take(),
                Err(error) => return Err(error),
            }
        } else {
            self.host.final_log.take()
        };
        log.map(|mut log| {
            self.add_dead_objects(std::mem::take(&mut log.dead));
            self.decode_log(log)
        })
        .transpose()
    }

    /// Fills the batch with the events that the agent could not send before the program ended. Returns whether there are
    /// any.
    pub(crate) fn deliver_unsent_events(&mut self) -> bool {
        let unsent = std::mem::take(&mut self.host.unsent_events);
        let Some(first) = unsent.first() else { return false };
        (self.current, self.frame) = (first.thread, 0);
        self.batch.clear();
        append_events(&mut self.batch, &unsent);
        true
    }

    /// Decodes a replay log.
    fn decode_log(&self, log: WireReplayLog) -> TargetResult<ReplayLog> {
        let automata = &self.host.automata;
        let counts = [log.base.len(), log.evicted_steps.len(), log.evicted_slices.len()];
        if counts != [automata.len(); 3] {
            return Err(malformed_log());
        }
        let base = automata.iter().zip(&log.base);
        let base =
            base.map(|(automaton, state)| SliceTable::load(automaton, state).ok_or_else(malformed_log));
        let mut events = EventBatch::default();
        append_events(&mut events, &log.events);
        let counted = log.evicted_steps.iter().zip(&log.evicted_slices);
        Ok(ReplayLog {
            evicted_events: log.evicted_events,
            evicted: counted
                .map(|(steps, created)| EvictedCounts { steps: *steps, created: *created })
                .collect(),
            base: base.collect::<TargetResult<_>>()?,
            scripts: Vec::new(),
            events,
            threads: log.events.iter().map(|event| event.thread).collect(),
        })
    }
}

/// Appends logged events to a batch.
fn append_events(batch: &mut EventBatch, logged: &[LoggedEvent]) {
    for event in logged {
        let values: Vec<_> = event.values.iter().map(|wire_value| value(wire_value, batch)).collect();
        batch.push(EventId(event.event), &values, EventMeta { time: event.time, line: 0 });
    }
}

fn encoded(data: &impl serde::Serialize) -> TargetResult<Vec<u8>> {
    postcard::to_allocvec(data)
        .map_err(|error| TargetError::Control(format!("cannot encode data for the agent: {error}")))
}
