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

/// What the debugger knows about the embedded monitors.
#[derive(Default)]
pub(crate) struct HostProxy {
    /// The automata that the agent has.
    automata: Vec<Arc<Automaton>>,
    /// Whether the monitors are embedded.
    pub(crate) used: bool,
    /// Whether the agent reports all events, rather than only those that are needed at present.
    pub(crate) receives_all: bool,
    /// Whether the agent's host is frozen.
    pub(crate) frozen: bool,
    /// The replay log until the program's end.
    pub(crate) last: Option<WireReplayLog>,
    /// Later events, which still need a reaction.
    pub(crate) due: Vec<LoggedEvent>,
    /// The input events of embedded scripts.
    pub(crate) scripts: EventSet,
    /// Their plans, until they have been sent.
    plans: Vec<ScriptPlan>,
}

fn malformed_log() -> TargetError {
    TargetError::Control("malformed replay log from the agent".to_owned())
}

impl JavaTarget {
    /// Embeds scripts: the session receives the events that they derive. Must be called before the session starts.
    pub(crate) fn set_scripts(&mut self, plans: Vec<ScriptPlan>) {
        for plan in &plans {
            let inputs = plan.inputs.iter().map(|(symbol, _)| *symbol);
            inputs.for_each(|symbol| self.host.scripts.insert(symbol));
        }
        self.host.plans = plans;
    }

    /// Sends the scripts, unless that has been done.
    pub(crate) fn send_scripts(&mut self) -> TargetResult {
        let plans = std::mem::take(&mut self.host.plans);
        if !plans.is_empty() {
            let plans = plans.iter().map(encoded).collect::<TargetResult<_>>()?;
            self.request(&Request::LoadScripts { plans })?;
        }
        Ok(())
    }

    /// Uploads the states of the properties, and the properties themselves if the agent does not have them.
    pub(crate) fn upload_monitors(&mut self, monitors: &[EmbeddedMonitor]) -> TargetResult {
        let known = monitors.len() == self.host.automata.len()
            && monitors
                .iter()
                .zip(&self.host.automata)
                .all(|(inmate, known)| Arc::ptr_eq(&inmate.automaton, known));
        if !known {
            let properties = monitors.iter().map(|inmate| {
                let parts: &invigil_monitor::automaton::AutomatonDef = &inmate.automaton;
                encoded(parts)
            });
            let properties = properties.collect::<TargetResult<_>>()?;
            self.request(&Request::LoadProperties { properties })?;
            self.host.automata = monitors.iter().map(|inmate| Arc::clone(&inmate.automaton)).collect();
        }
        if !std::mem::replace(&mut self.host.receives_all, true) {
            self.activate_plans(true)?;
        }
        let states = monitors.iter().map(|inmate| inmate.slices.save()).collect();
        let reaction_masks = monitors.iter().map(|inmate| inmate.reactions.clone()).collect();
        self.request(&Request::EmbedMonitors { states, reaction_masks })?;
        (self.host.used, self.host.frozen) = (true, false);
        Ok(())
    }

    /// Called before the program continues. If the monitors were not embedded again, they step in the session from now
    /// on.
    pub(crate) fn resume_host(&mut self) -> TargetResult {
        if std::mem::take(&mut self.host.frozen) {
            self.host.used = false;
            self.request(&Request::RemoveMonitors)?;
            if std::mem::take(&mut self.host.receives_all) {
                self.activate_plans(false)?;
            }
        }
        Ok(())
    }

    /// The replay log of the embedded monitors, if there are any.
    pub(crate) fn take_replay_log(&mut self) -> TargetResult<Option<ReplayLog>> {
        if !std::mem::take(&mut self.host.used) {
            return Ok(None);
        }
        let past = if self.link.is_some() {
            self.host.frozen = true;
            match self.request(&Request::TakeReplayLog) {
                Ok(Answer::ReplayLog { log }) => log.or_else(|| self.host.last.take()),
                Ok(_) => return Err(malformed_log()),
                // The program has ended in the meantime.
                Err(TargetError::Ended(_)) => self.host.last.take(),
                Err(error) => return Err(error),
            }
        } else {
            self.host.last.take()
        };
        past.map(|mut past| {
            self.add_dead_objects(std::mem::take(&mut past.dead));
            self.decode_log(past)
        })
        .transpose()
    }

    /// Makes the events that the program could no longer send before it ended. Returns whether there are any.
    pub(crate) fn make_due_events(&mut self) -> bool {
        let due = std::mem::take(&mut self.host.due);
        let Some(first) = due.first() else { return false };
        (self.current, self.frame) = (first.thread, 0);
        self.batch.clear();
        add(&mut self.batch, &due);
        true
    }

    /// Decodes a replay log.
    fn decode_log(&self, past: WireReplayLog) -> TargetResult<ReplayLog> {
        let automata = &self.host.automata;
        let counts = [past.base.len(), past.evicted_steps.len(), past.evicted_slices.len()];
        if counts != [automata.len(); 3] {
            return Err(malformed_log());
        }
        let before = automata.iter().zip(&past.base);
        let before =
            before.map(|(automaton, state)| SliceTable::load(automaton, state).ok_or_else(malformed_log));
        let mut events = EventBatch::default();
        add(&mut events, &past.events);
        let counted = past.evicted_steps.iter().zip(&past.evicted_slices);
        Ok(ReplayLog {
            evicted_events: past.evicted_events,
            evicted: counted
                .map(|(steps, created)| EvictedCounts { steps: *steps, created: *created })
                .collect(),
            base: before.collect::<TargetResult<_>>()?,
            scripts: Vec::new(),
            events,
            threads: past.events.iter().map(|event| event.thread).collect(),
        })
    }
}

/// Appends logged events to a batch.
fn add(events: &mut EventBatch, reported: &[LoggedEvent]) {
    for event in reported {
        let values: Vec<_> = event.values.iter().map(|datum| value(datum, events)).collect();
        events.push(EventId(event.event), &values, EventMeta { time: event.time, line: 0 });
    }
}

fn encoded(what: &impl serde::Serialize) -> TargetResult<Vec<u8>> {
    postcard::to_allocvec(what)
        .map_err(|error| TargetError::Control(format!("cannot encode a property for the agent: {error}")))
}
