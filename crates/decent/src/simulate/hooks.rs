//! Where one can look on while a run goes.

use super::Outcome;
use crate::algorithm::{Monitor, Names, Outbox};
use crate::system::{ComponentId, Instant, MonitorId, PropositionId};
use invigil_ltl::moore::Truth;
use std::collections::BTreeMap;

/// What is known of a run beforehand: names and values, as one likes.
pub type Tags = BTreeMap<String, String>;

/// A message that was sent.
#[derive(Clone, Copy)]
pub struct Sent<'a, M: Monitor> {
    /// By whom.
    pub from: MonitorId,
    /// To whom.
    pub to: MonitorId,
    /// What.
    pub message: &'a M::Message,
    /// The monitor that sent it.
    pub sender: &'a M,
    /// How many links it takes; one if both are on the same component.
    pub hops: u32,
}

impl<M: Monitor> Sent<'_, M> {
    /// Its size in the bytes of the document.
    pub fn size(&self, names: &Names) -> usize {
        self.sender.size(self.message, names)
    }
}

/// The nine points at which one can look on. Measures are made of these; whoever needs few of them writes only those.
///
/// ```
/// use invigil_decent::algorithm::Monitor;
/// use invigil_decent::simulate::{Hooks, Sent};
///
/// #[derive(Default)]
/// struct Letters(u32);
///
/// impl<M: Monitor> Hooks<M> for Letters {
///     fn sent(&mut self, _: &Sent<'_, M>) {
///         self.0 += 1;
///     }
/// }
/// ```
pub trait Hooks<M: Monitor> {
    /// A run is asked for.
    fn before_start(&mut self, _tags: &Tags) {}

    /// It begins: monitors are ready.
    fn started(&mut self, _tags: &Tags) {}

    /// It is over.
    fn stopped(&mut self) {}

    /// Whoever asked for it is told so.
    fn after_stop(&mut self, _outcome: &Outcome) {}

    /// A round begins.
    fn round(&mut self, _at: Instant) {}

    /// A monitor has its turn.
    fn monitor_step(
        &mut self,
        _monitor: MonitorId,
        _at: ComponentId,
        _seen: Option<&[(PropositionId, bool)]>,
    ) {
    }

    /// A monitor had its turn: what it did, and how it is now.
    fn in_monitor(&mut self, _id: MonitorId, _at: ComponentId, _monitor: &M, _out: &Outbox<M::Message>) {}

    /// A message was sent.
    fn sent(&mut self, _sent: &Sent<'_, M>) {}

    /// There is a verdict.
    fn verdict(&mut self, _by: MonitorId, _truth: Truth, _of: Instant) {}
}

/// Nobody looks on.
impl<M: Monitor> Hooks<M> for () {}

/// Two look on.
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

    fn after_stop(&mut self, outcome: &Outcome) {
        self.0.after_stop(outcome);
        self.1.after_stop(outcome);
    }

    fn round(&mut self, at: Instant) {
        self.0.round(at);
        self.1.round(at);
    }

    fn monitor_step(&mut self, monitor: MonitorId, at: ComponentId, seen: Option<&[(PropositionId, bool)]>) {
        self.0.monitor_step(monitor, at, seen);
        self.1.monitor_step(monitor, at, seen);
    }

    fn in_monitor(&mut self, id: MonitorId, at: ComponentId, monitor: &M, out: &Outbox<M::Message>) {
        self.0.in_monitor(id, at, monitor, out);
        self.1.in_monitor(id, at, monitor, out);
    }

    fn sent(&mut self, sent: &Sent<'_, M>) {
        self.0.sent(sent);
        self.1.sent(sent);
    }

    fn verdict(&mut self, by: MonitorId, truth: Truth, of: Instant) {
        self.0.verdict(by, truth, of);
        self.1.verdict(by, truth, of);
    }
}
