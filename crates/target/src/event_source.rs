//! The events of a target.

use crate::error::TargetResult;
use invigil_monitor::event::{EventBatch, EventCatalog, EventId, EventSet};
use invigil_monitor::slices::DeadObjects;

/// An event or parameter that the target cannot supply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnresolvedEvent {
    /// The event.
    pub event: EventId,
    /// The position of the parameter that is missing; `None` if the event itself is.
    pub param: Option<usize>,
    /// Why it cannot be supplied, as a message.
    pub reason: String,
    /// The remedy, such as the nearest names.
    pub help: String,
    /// Whether it may be resolved later, for example when a library with the function is loaded.
    pub pending: bool,
}

/// How an event is observed at one site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeInfo {
    /// The event, as a property names it.
    pub event: String,
    /// The site as text.
    pub location: String,
    /// The mechanism as text, with the reason why no faster one could be used.
    pub mechanism: String,
}

/// The events of a target: which it can supply, and its instrumentation for those that are needed now.
pub trait EventSource {
    /// Announces the events that [`EventSource::instrument`] may request. Returns the events and parameters that the
    /// target cannot supply.
    fn prepare(&mut self, catalog: &EventCatalog) -> TargetResult<Vec<UnresolvedEvent>>;

    /// Instruments the target for these events and no others.
    fn instrument(&mut self, needs: &EventSet) -> TargetResult;

    /// The events at this stop after [`StopReason::Events`](crate::StopReason::Events), in the order of the catalog.
    /// The caller may take them out.
    fn events(&mut self) -> &mut EventBatch;

    /// Objects that have been collected since the last call: their slices may be dropped.
    fn take_dead_objects(&mut self) -> DeadObjects {
        DeadObjects::default()
    }

    /// Messages about events that could not be observed. Called when the target has ended.
    fn coverage_warnings(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// How the events of the properties are observed, site by site.
    fn probes(&mut self) -> Vec<ProbeInfo> {
        Vec::new()
    }

    /// The reason why requested probes cannot be used, so that every event costs a trap. Available after
    /// [`EventSource::prepare`].
    fn probe_failure(&self) -> Option<String> {
        None
    }
}
