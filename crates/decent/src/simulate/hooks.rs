//! Hooks into a simulated run.

use super::SimulationResult;
use crate::algorithm::{Monitor, NameLengths, Outbox};
use crate::system::{ComponentId, Instant, MonitorId, PropositionId};
use invigil_ltl::moore::Truth;
use std::collections::BTreeMap;

/// Names and values that describe a run, chosen by the caller.
pub type Tags = BTreeMap<String, String>;

/// A message that was sent.
#[derive(Clone, Copy)]
pub struct SentMessage<'a, M: Monitor> {
    /// Sending monitor.
    pub from: MonitorId,
    /// Receiving monitor.
    pub to: MonitorId,
    /// The message.
    pub message: &'a M::Message,
    /// State of the sending monitor.
    pub sender: &'a M,
    /// Links counted for the message: at least one, even within a component.
    pub hops: u32,
}

impl<M: Monitor> SentMessage<'_, M> {
    /// Returns its size in the normalised bytes of [EH18 §8.2.3].
    pub fn size(&self, names: &NameLengths) -> usize {
        self.sender.message_size(self.message, names)
    }
}

/// Notifications about a run, modelled on the pointcuts of [EH18 §7]. All methods default to no-ops.
///
/// ```
/// use invigil_decent::algorithm::Monitor;
/// use invigil_decent::simulate::{Hooks, SentMessage};
///
/// #[derive(Default)]
/// struct MessageCounter(u32);
///
/// impl<M: Monitor> Hooks<M> for MessageCounter {
///     fn sent(&mut self, _: &SentMessage<'_, M>) {
///         self.0 += 1;
///     }
/// }
/// ```
pub trait Hooks<M: Monitor> {
    /// A run was requested.
    fn before_start(&mut self, _tags: &Tags) {}

    /// The run starts; the monitors are ready.
    fn started(&mut self, _tags: &Tags) {}

    /// The run is over.
    fn stopped(&mut self) {}

    /// The result is about to be returned. Not called if the run fails.
    fn after_stop(&mut self, _outcome: &SimulationResult) {}

    /// A round starts.
    fn round(&mut self, _instant: Instant) {}

    /// A monitor is about to run its round. `observations` is `None` after the end of the component's trace.
    fn before_monitor_step(
        &mut self,
        _id: MonitorId,
        _component: ComponentId,
        _observations: Option<&[(PropositionId, bool)]>,
    ) {
    }

    /// A monitor has run its round: its outbox and its new state.
    fn after_monitor_step(
        &mut self,
        _id: MonitorId,
        _component: ComponentId,
        _monitor: &M,
        _out: &Outbox<M::Message>,
    ) {
    }

    /// A message was sent.
    fn sent(&mut self, _sent: &SentMessage<'_, M>) {}

    /// The first verdict of the run was reached.
    fn verdict(&mut self, _by: MonitorId, _truth: Truth, _of: Instant) {}
}

/// No hooks.
impl<M: Monitor> Hooks<M> for () {}

/// Both hooks, one after the other.
impl<M: Monitor, A: Hooks<M>, B: Hooks<M>> Hooks<M> for (A, B) {
    fn before_start(&mut self, tags: &Tags) {
        self.0.before_start(tags);
        self.1.before_start(tags);
    }

    fn started(&mut self, tags: &Tags) {
        self.0.started(tags);
        self.1.started(tags);
    }

    fn stopped(&mut self) {
        self.0.stopped();
        self.1.stopped();
    }

    fn after_stop(&mut self, outcome: &SimulationResult) {
        self.0.after_stop(outcome);
        self.1.after_stop(outcome);
    }

    fn round(&mut self, instant: Instant) {
        self.0.round(instant);
        self.1.round(instant);
    }

    fn before_monitor_step(
        &mut self,
        id: MonitorId,
        component: ComponentId,
        observations: Option<&[(PropositionId, bool)]>,
    ) {
        self.0.before_monitor_step(id, component, observations);
        self.1.before_monitor_step(id, component, observations);
    }

    fn after_monitor_step(
        &mut self,
        id: MonitorId,
        component: ComponentId,
        monitor: &M,
        out: &Outbox<M::Message>,
    ) {
        self.0.after_monitor_step(id, component, monitor, out);
        self.1.after_monitor_step(id, component, monitor, out);
    }

    fn sent(&mut self, sent: &SentMessage<'_, M>) {
        self.0.sent(sent);
        self.1.sent(sent);
    }

    fn verdict(&mut self, by: MonitorId, truth: Truth, of: Instant) {
        self.0.verdict(by, truth, of);
        self.1.verdict(by, truth, of);
    }
}
