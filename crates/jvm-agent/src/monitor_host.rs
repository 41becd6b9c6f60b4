//! Embedded monitors: they step in the thread in which an event occurs, before the program continues.
//!
//! The debugger embeds the properties before it lets the program run, and fetches them back with their replay log when
//! the program is stopped. Until then only this host knows what has happened. When a reaction is due, the host is
//! frozen: threads with further events block until the debugger resumes it.

use crate::agent::Agent;
use crate::biased_lock::{BiasedLock, Guard};
use crate::protocol::{DeadObjectIds, Notification, SubscriptionId, WireReplayLog, WireValue};
use crate::values::value;
use invigil_expr::value::Value;
use invigil_monitor::embedded::{self, EmbeddedMonitors, HostReply, HostRequest, ReplayLog};
use invigil_monitor::event::{Event, EventBatch, EventId, EventMeta};
use invigil_monitor::slices;

/// Maximum number of values of an event on the fast path.
pub(crate) const MAX_FAST_ARGS: usize = 4;
/// Events on the fast path have no time of their own.
const NO_TIME: EventMeta = EventMeta { time: f64::NAN, line: 0 };

/// The host of the embedded monitors, for all threads.
#[derive(Default)]
pub(crate) struct MonitorHost(BiasedLock<HostState>);

#[derive(Default)]
struct HostState {
    host: embedded::MonitorHost,
    /// Whether the events to which a reaction is due were sent.
    is_forwarded: bool,
    /// Buffer for the values of an event.
    batch: EventBatch,
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
    /// Answers a request of the debugger, with the collected objects that had slices.
    pub(crate) fn answer(&self, agent: &Agent, request: HostRequest) -> (HostReply, DeadObjectIds) {
        if matches!(request, HostRequest::Drain) {
            // Unlike any other request, it needs the virtual machine.
            let (log, dead) = self.take_replay_log(agent).unzip();
            return (HostReply::Drained(log.map(ReplayLog::encode)), dead.unwrap_or_default());
        }
        let uploads = matches!(request, HostRequest::Upload(_));
        let mut state = self.lock(0);
        let reply = state.host.answer(request, &mut ());
        if uploads && let Some(monitors) = state.host.monitors_mut() {
            // Events on the fast path have no time. Until the first tick, this is the time for the scripts.
            monitors.advance_script_clock(agent.started_at.elapsed().as_millis() as i64);
        }
        (reply, DeadObjectIds::default())
    }

    /// Removes all monitors, automata and scripts.
    pub(crate) fn reset(&self) {
        *self.lock(0) = HostState::default();
    }

    /// Removes the embedded monitors: nothing steps any more.
    pub(crate) fn remove_monitors(&self) {
        self.lock(0).host.answer(HostRequest::Remove, &mut ());
    }

    /// The replay log since the properties were embedded. Events to which a reaction is due are in it unless they were
    /// sent. The host is frozen until the properties are embedded again.
    fn take_replay_log(&self, agent: &Agent) -> Option<(ReplayLog, DeadObjectIds)> {
        let (mut log, is_forwarded) = {
            let mut state = self.lock(0);
            (state.host.drain()?, state.is_forwarded)
        };
        if is_forwarded {
            log.remove_due_events();
        }
        let dead = agent.dead_object_ids(std::mem::take(&mut log.dead_objects));
        Some((log, dead))
    }

    /// The replay log at the end of the program.
    pub(crate) fn take_final_log(&self, agent: &Agent) -> Option<WireReplayLog> {
        let (log, dead) = self.take_replay_log(agent)?;
        // The debugger rejects an empty log as malformed, so a failure would not look like a run without events.
        Some(WireReplayLog { log: postcard::to_allocvec(&log.encode()).unwrap_or_default(), dead })
    }

    /// Notes that the events with a due reaction were sent.
    pub(crate) fn mark_forwarded(&self) {
        self.lock(0).is_forwarded = true;
    }

    /// Drops slices of collected objects, if there are many. Returns the number of slices.
    pub(crate) fn collect_slices(&self, agent: &Agent) -> usize {
        let mut state = self.lock(0);
        let Some(monitors) = state.host.monitors_mut() else { return 0 };
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
        let is_empty = self.lock(0).host.monitors_mut().is_none();
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
        let mut state = self.lock_running(agent, 0);
        let HostState { host, batch, is_forwarded, .. } = &mut *state;
        if host.is_frozen() {
            return HostOutcome::Handled;
        }
        let meta = EventMeta { time, line: 0 };
        let (events, mut reported): (Vec<_>, Vec<_>) =
            notifications.into_iter().partition(|notification| event_of(notification).is_some());
        let mut needed = vec![false; events.len()];
        let reacts = host.step_site(|monitors| {
            let mut reacts = false;
            for (notification, needed) in events.iter().zip(&mut needed) {
                let Some(id) = event_of(notification) else { continue };
                batch.clear();
                let params: Vec<Value> =
                    notification.values.iter().map(|wire_value| value(wire_value, batch)).collect();
                let before = monitors.event_count();
                let event = Event { id, params: &params, text: &batch.text };
                reacts |= monitors.step_with_scripts(&event, meta, thread);
                *needed = monitors.event_count() > before;
            }
            reacts
        });
        match reacts {
            Some(false) => {}
            Some(true) => {
                *is_forwarded = false;
                let due = events.into_iter().zip(needed).filter(|(_, needed)| *needed);
                reported.extend(due.map(|(notification, _)| notification));
            }
            // The monitors step in the session.
            None => reported.extend(events),
        }
        if reported.is_empty() { HostOutcome::Handled } else { HostOutcome::Forward(reported) }
    }

    /// Fastest tier: steps one integer-only event in the owner of the lock, if one simple property follows it and no
    /// reaction is due. Otherwise returns false and changes nothing.
    #[inline(always)]
    pub(crate) fn step_unlocked(&self, who: usize, event: EventId, values: &[i64]) -> bool {
        let Some(mut state) = self.0.try_lock_biased(who) else { return false };
        let state = &mut *state;
        match state.host.monitors_mut() {
            Some(monitors) if state.biased_thread == who => monitors.try_step_unsliced(event, values),
            _ => false,
        }
    }

    /// Second tier: an integer-only event in the owner of the lock, with any result.
    pub(crate) fn step_biased(&self, who: usize, event: EventId, values: &[i64]) -> FastOutcome {
        let Some(mut state) = self.0.try_lock_biased(who) else { return FastOutcome::Unhandled };
        let (known, thread) = state.last_thread;
        if state.host.is_frozen() || known != who {
            return FastOutcome::Unhandled;
        }
        state.step_ints_locked(event, values, thread)
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
        let mut state = self.lock_running(agent, who);
        if state.host.is_frozen() {
            return FastOutcome::Handled;
        }
        state.last_thread = (who, thread);
        state.step_ints_locked(event, values, thread)
    }

    /// Removes a thread that has ended: another thread may get the same identity.
    pub(crate) fn forget_thread(&self, who: usize) {
        let mut state = self.lock(0);
        if state.last_thread.0 == who {
            state.last_thread = (0, 0);
        }
    }

    fn lock(&self, who: usize) -> Guard<'_, HostState> {
        let mut state = self.0.lock(who);
        state.biased_thread = 0;
        state
    }

    /// Locks the host once it is not frozen, or when the connection to the debugger is closed: then nothing would resume
    /// it.
    fn lock_running(&self, agent: &Agent, who: usize) -> Guard<'_, HostState> {
        loop {
            let state = self.lock(who);
            if !state.host.is_frozen() || agent.channel.is_closed() {
                return state;
            }
            drop(state);
            agent.channel.wait();
        }
    }
}

impl HostState {
    /// Steps an integer-only event.
    fn step_ints_locked(&mut self, event: EventId, values: &[i64], thread: u32) -> FastOutcome {
        let Some(monitors) = self.host.monitors_mut() else { return FastOutcome::Unhandled };
        if monitors.scripts_follow(event) {
            return self.step_with_scripts(event, values, thread);
        }
        let Some(reacts) = self.host.step_site(|monitors| monitors.step_ints(event, values, thread)) else {
            return FastOutcome::Unhandled;
        };
        if !reacts {
            let has_scripts = self.host.scripts().is_some();
            self.biased_thread = if has_scripts { 0 } else { self.last_thread.0 };
            return FastOutcome::Handled;
        }
        self.react(event, values, thread)
    }

    /// Forwards an integer-only event to which a reaction is due.
    #[cold]
    fn react(&mut self, event: EventId, values: &[i64], thread: u32) -> FastOutcome {
        (self.biased_thread, self.is_forwarded) = (0, false);
        let values = values.iter().map(|value| WireValue::Int { value: *value }).collect();
        let notification = Notification { id: SubscriptionId::Event { number: event.0 }, values };
        FastOutcome::Forward(Box::new((vec![notification], thread)))
    }

    /// Steps an integer-only event that scripts follow.
    #[inline(never)]
    fn step_with_scripts(&mut self, event: EventId, values: &[i64], thread: u32) -> FastOutcome {
        let mut params = [Value::UNSET; MAX_FAST_ARGS];
        params.iter_mut().zip(values).for_each(|(param, value)| *param = Value::int(*value));
        let params = &params[..values.len().min(MAX_FAST_ARGS)];
        let step = |monitors: &mut EmbeddedMonitors| {
            monitors.step_with_scripts(&Event { id: event, params, text: "" }, NO_TIME, thread)
        };
        match self.host.step_site(step) {
            None => FastOutcome::Unhandled,
            Some(false) => FastOutcome::Handled,
            Some(true) => self.react(event, values, thread),
        }
    }
}
