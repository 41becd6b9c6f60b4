//! Embedded monitors: they step in the thread in which an event occurs, before the program continues.
//!
//! The debugger embeds the properties before it lets the program run, and fetches them back with their replay log when
//! the program is stopped. Until then only this host knows what has happened. When a reaction is due, the host is
//! frozen: threads with further events block until the debugger resumes it.
//!
//! Scripts (PEDL and MEDL) stay here permanently: the debugger receives the events that they derive.

use crate::agent::Agent;
use crate::biased_lock::{BiasedLock, Guard};
use crate::protocol::{DeadObjectIds, Notification, SubscriptionId, WireReplayLog, WireValue};
use crate::values::{value, wire_value};
use invigil_expr::value::Value;
use invigil_monitor::automaton::AutomatonDef;
use invigil_monitor::embedded::{EmbeddedMonitors, LoadedAutomata, MonitorUpload};
use invigil_monitor::event::{Event, EventBatch, EventId, EventMeta};
use invigil_monitor::mac::{ScriptPlan, Scripts};
use invigil_monitor::slices;
use std::time::Duration;

/// Maximum number of values of an event on the fast path.
pub(crate) const MAX_FAST_ARGS: usize = 4;
/// Events on the fast path have no time of their own.
const NO_TIME: EventMeta = EventMeta { time: f64::NAN, line: 0 };

/// The host of the embedded monitors.
#[derive(Default)]
pub(crate) struct MonitorHost(BiasedLock<HostState>);

#[derive(Default)]
struct HostState {
    automata: LoadedAutomata,
    monitors: Option<EmbeddedMonitors>,
    /// Whether a reaction is due: no event is processed until the debugger resumes the host.
    frozen: bool,
    /// Number of events at the end of the log for which a reaction is due; they are also sent.
    due_events: usize,
    /// Whether these were sent.
    is_forwarded: bool,
    scripts: Scripts,
    /// Buffer for the events that scripts derive.
    derived: EventBatch,
    /// The last thread on the fast path: its identity and its number.
    last_thread: (usize, u32),
    /// The identity of that thread if its next event may be stepped with the biased lock alone. Reset by every other
    /// access.
    biased_thread: usize,
}

/// Result of processing events.
pub(crate) enum HostOutcome {
    /// The monitors have handled them.
    Handled,
    /// These have to be sent to the debugger.
    Forward(Vec<Notification>),
}

/// Result of processing an event on the fast path. Fits into registers.
pub(crate) enum FastOutcome {
    /// The monitors have handled it.
    Handled,
    /// It has to be processed on the slow path.
    Unhandled,
    /// These have to be sent to the debugger, for this thread.
    Forward(Box<(Vec<Notification>, u32)>),
}

/// The event of a notification; breakpoints have none.
fn event_of(notification: &Notification) -> Option<EventId> {
    match notification.id {
        SubscriptionId::Event { number } => Some(EventId(number)),
        SubscriptionId::Breakpoint { .. } => None,
    }
}

impl MonitorHost {
    /// Loads the properties, each encoded as its definition. Returns whether some have slices.
    pub(crate) fn load_automata(&self, properties: &[Vec<u8>]) -> Result<bool, String> {
        let definitions =
            properties.iter().map(|bytes| postcard::from_bytes(bytes).map_err(|error| error.to_string()));
        let definitions: Vec<AutomatonDef> = definitions.collect::<Result<_, String>>()?;
        let has_slices = definitions.iter().any(|definition| !definition.slice_on.is_empty());
        self.lock(0).automata = LoadedAutomata::compile(definitions);
        Ok(has_slices)
    }

    /// Loads the scripts, each encoded as its plan. Returns the events that report the time, with their periods in
    /// milliseconds.
    pub(crate) fn install_scripts(&self, plans: &[Vec<u8>]) -> Result<Vec<(EventId, u32)>, String> {
        let plans = plans.iter().map(|bytes| postcard::from_bytes(bytes).map_err(|error| error.to_string()));
        let plans: Vec<ScriptPlan> = plans.collect::<Result<_, String>>()?;
        self.lock(0).scripts = Scripts::new(&plans)?;
        Ok(plans.iter().filter_map(|plan| plan.tick).collect())
    }

    /// Embeds the properties with the states in an encoded [`MonitorUpload`].
    pub(crate) fn embed(&self, upload: &[u8], now: Duration) -> Result<(), String> {
        let upload: MonitorUpload = postcard::from_bytes(upload).map_err(|error| error.to_string())?;
        let mut host = self.lock(0);
        let embedded = upload.monitors(&host.automata).ok_or("the state of a property is malformed")?;
        host.monitors = Some(EmbeddedMonitors::new(embedded));
        // Until the first tick.
        host.scripts.advance_clock(now.as_millis() as i64);
        (host.frozen, host.due_events) = (false, 0);
        Ok(())
    }

    /// Removes all monitors, automata and scripts.
    pub(crate) fn reset(&self) {
        *self.lock(0) = HostState::default();
    }

    /// Removes the embedded monitors: they step in the session from now on.
    pub(crate) fn remove_monitors(&self) {
        let mut host = self.lock(0);
        (host.monitors, host.frozen, host.due_events) = (None, false, 0);
    }

    /// The replay log since the properties were embedded. Events to which a reaction is due are in it unless they were
    /// sent. The host is frozen until the properties are embedded again.
    pub(crate) fn take_replay_log(&self, agent: &Agent) -> Option<WireReplayLog> {
        let mut host = self.lock(0);
        let monitors = host.monitors.take()?;
        host.frozen = true;
        let (due, is_forwarded) = (std::mem::take(&mut host.due_events), host.is_forwarded);
        drop(host);
        let mut log = monitors.into_replay_log(due as u32);
        if is_forwarded {
            log.remove_due_events();
        }
        let dead = agent.dead_object_ids(std::mem::take(&mut log.dead_objects));
        // The debugger rejects an empty log as malformed, so a failure would not look like a run without events.
        Some(WireReplayLog { log: postcard::to_allocvec(&log.encode()).unwrap_or_default(), dead })
    }

    /// Notes that the events with a due reaction were sent.
    pub(crate) fn mark_forwarded(&self) {
        self.lock(0).is_forwarded = true;
    }

    /// Drops slices of collected objects, if there are many. Returns the number of slices.
    pub(crate) fn collect_slices(&self, agent: &Agent) -> usize {
        let mut host = self.lock(0);
        let Some(monitors) = &mut host.monitors else { return 0 };
        if agent.object_ids.waiting() >= slices::DeadObjects::collection_threshold(monitors.slice_count()) {
            let dead_objects = agent.dead_object_ids(agent.object_ids.take_dead_for_slices());
            let non_objects = dead_objects
                .integer_params
                .iter()
                .map(|(number, request_index)| (EventId(*number), *request_index as usize));
            let mut dead_objects =
                slices::DeadObjects { non_objects: non_objects.collect(), ids: dead_objects.ids };
            dead_objects.sort();
            monitors.collect_slices(&dead_objects);
        }
        monitors.slice_count()
    }

    /// The collected objects, if the monitors step in the session.
    pub(crate) fn dead_objects_for_session(&self, agent: &Agent) -> DeadObjectIds {
        let is_empty = self.lock(0).monitors.is_none();
        if is_empty {
            agent.dead_object_ids(agent.object_ids.take_dead_for_slices())
        } else {
            DeadObjectIds::default()
        }
    }

    /// Processes the events of one site in a thread.
    pub(crate) fn on_events(
        &self,
        agent: &Agent,
        notifications: Vec<Notification>,
        time: f64,
        thread: u32,
    ) -> HostOutcome {
        let mut host = self.lock_running(agent, 0);
        let host = &mut *host;
        if host.frozen {
            return HostOutcome::Handled;
        }
        let stamp = EventMeta { time, line: 0 };
        let mut batch = std::mem::take(&mut host.derived);
        batch.clear();
        let mut reported: Vec<Notification> = Vec::new();
        let mut given = EventBatch::default();
        for notification in notifications {
            let Some(event) = event_of(&notification) else {
                reported.push(notification);
                continue;
            };
            given.clear();
            let values: Vec<Value> =
                notification.values.iter().map(|wire_value| value(wire_value, &mut given)).collect();
            let event = Event { id: event, params: &values, text: &given.text };
            batch.push_copy(&event, stamp);
            host.scripts.derive(&event, stamp, &mut batch);
        }
        reported.extend(host.step(&batch, thread));
        host.derived = batch;
        if reported.is_empty() { HostOutcome::Handled } else { HostOutcome::Forward(reported) }
    }

    /// Fastest tier: steps one integer-only event in the owner of the lock, if one simple property follows it and no
    /// reaction is due. Otherwise returns false and changes nothing.
    #[inline(always)]
    pub(crate) fn step_unlocked(&self, who: usize, event: EventId, values: &[i64]) -> bool {
        let Some(mut host) = self.0.try_lock_biased(who) else { return false };
        let host = &mut *host;
        match &mut host.monitors {
            Some(monitors) if host.biased_thread == who => monitors.try_step_unsliced(event, values),
            _ => false,
        }
    }

    /// Second tier: an integer-only event in the owner of the lock, with any result.
    pub(crate) fn step_biased(&self, who: usize, event: EventId, values: &[i64]) -> FastOutcome {
        let Some(mut host) = self.0.try_lock_biased(who) else { return FastOutcome::Unhandled };
        let (known, thread) = host.last_thread;
        if host.frozen || known != who {
            return FastOutcome::Unhandled;
        }
        host.step_ints_locked(event, values, thread)
    }

    /// Third tier: an integer-only event in any thread.
    pub(crate) fn step_locked(
        &self,
        agent: &Agent,
        who: usize,
        event: EventId,
        values: &[i64],
        thread: u32,
    ) -> FastOutcome {
        let mut host = self.lock_running(agent, who);
        if host.frozen {
            return FastOutcome::Handled;
        }
        host.last_thread = (who, thread);
        host.step_ints_locked(event, values, thread)
    }

    /// Removes a thread that has ended: another thread may get the same identity.
    pub(crate) fn forget_thread(&self, who: usize) {
        let mut host = self.lock(0);
        if host.last_thread.0 == who {
            host.last_thread = (0, 0);
        }
    }

    fn lock(&self, who: usize) -> Guard<'_, HostState> {
        let mut host = self.0.lock(who);
        host.biased_thread = 0;
        host
    }

    /// Locks the host once it is not frozen, or when the connection to the debugger is closed: then nothing would resume
    /// it.
    fn lock_running(&self, agent: &Agent, who: usize) -> Guard<'_, HostState> {
        loop {
            let host = self.lock(who);
            // Once the connection to the debugger is closed, nothing would resume the host.
            if !host.frozen || agent.channel.is_closed() {
                return host;
            }
            drop(host);
            agent.channel.wait();
        }
    }
}

impl HostState {
    /// Steps an integer-only event.
    fn step_ints_locked(&mut self, event: EventId, values: &[i64], thread: u32) -> FastOutcome {
        let Some(monitors) = self.monitors.as_mut() else { return FastOutcome::Unhandled };
        if !self.scripts.is_empty() && derive(&mut self.scripts, event, values, &mut self.derived) {
            return self.step_derived(event, values, thread);
        }
        if !monitors.step_ints(event, values, thread) {
            self.biased_thread = if self.scripts.is_empty() { self.last_thread.0 } else { 0 };
            return FastOutcome::Handled;
        }
        self.biased_thread = 0;
        self.react(event, values, thread)
    }

    /// Freezes the host, because a reaction to an integer-only event is due.
    #[cold]
    fn react(&mut self, event: EventId, values: &[i64], thread: u32) -> FastOutcome {
        (self.frozen, self.due_events, self.is_forwarded) = (true, 1, false);
        let values = values.iter().map(|value| WireValue::Int { value: *value }).collect();
        let notification = Notification { id: SubscriptionId::Event { number: event.0 }, values };
        FastOutcome::Forward(Box::new((vec![notification], thread)))
    }

    /// Steps the monitors. Returns the events to send: those that properties need if a reaction is due, or all of them
    /// if no monitors are embedded.
    fn step(&mut self, batch: &EventBatch, thread: u32) -> Vec<Notification> {
        let Some(monitors) = &mut self.monitors else {
            return (0..batch.len()).map(|at| hit_of(&batch.event(at))).collect();
        };
        let mut reacts = false;
        let mut needed = Vec::new();
        for at in 0..batch.len() {
            let before = monitors.event_count();
            reacts |= monitors.step(&batch.event(at), batch.meta(at), thread);
            if monitors.event_count() > before {
                needed.push(at);
            }
        }
        if !reacts {
            return Vec::new();
        }
        (self.frozen, self.due_events, self.is_forwarded) = (true, needed.len(), false);
        needed.into_iter().map(|at| hit_of(&batch.event(at))).collect()
    }

    /// Steps an event together with those that scripts derived from it.
    #[cold]
    fn step_derived(&mut self, event: EventId, values: &[i64], thread: u32) -> FastOutcome {
        let mut batch = EventBatch::default();
        batch.push_ints(event, values, NO_TIME);
        for at in 0..self.derived.len() {
            batch.push_copy(&self.derived.event(at), self.derived.meta(at));
        }
        let reported = self.step(&batch, thread);
        if reported.is_empty() {
            FastOutcome::Handled
        } else {
            FastOutcome::Forward(Box::new((reported, thread)))
        }
    }
}

/// Passes an integer-only event to the scripts. Returns whether they derive others.
#[inline(never)]
fn derive(scripts: &mut Scripts, event: EventId, values: &[i64], found: &mut EventBatch) -> bool {
    let mut params = [Value::UNSET; MAX_FAST_ARGS];
    params.iter_mut().zip(values).for_each(|(param, value)| *param = Value::int(*value));
    let event = Event { id: event, params: &params[..values.len().min(MAX_FAST_ARGS)], text: "" };
    if !found.is_empty() {
        found.clear();
    }
    scripts.derive(&event, NO_TIME, found);
    !found.is_empty()
}

fn hit_of(event: &Event<'_>) -> Notification {
    let values = event.params.iter().map(|value| wire_value(value, event.text)).collect();
    Notification { id: SubscriptionId::Event { number: event.id.0 }, values }
}
