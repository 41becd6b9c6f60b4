//! All script pairs (PEDL with MEDL) for one observed program.

use super::event_deriver::{EventDeriver, ScriptPlan, ScriptState};
use crate::event::{Event, EventBatch, EventId, EventMeta, EventSet};
use alloc::string::String;
use alloc::vec::Vec;

/// Script pairs for one observed program; each processes every event, in order.
///
/// ```
/// use invigil_monitor::event::{EventBatch, Event, EventMeta, EventId};
/// use invigil_monitor::mac::{SnapshotInput, ScriptOutputs, ScriptDef, ScriptPlan, Scripts};
/// // Each call of `push` raises an alarm.
/// let mut recogniser = ScriptDef::default();
/// let method = recogniser.method("push", &[], None);
/// let begins = recogniser.start_of(method)?;
/// let pushed = recogniser.define_event("pushed", begins)?;
/// recogniser.export_event(pushed)?;
/// let mut checker = ScriptDef::default();
/// let pushed = checker.import_event("pushed", &[]);
/// let pushed = checker.event(pushed)?;
/// checker.alarm("push", pushed)?;
///
/// let (call, raised, rearmed) = (EventId(0), EventId(1), EventId(2));
/// let plan = ScriptPlan {
///     recogniser,
///     checker,
///     inputs: vec![(call, SnapshotInput::Start { method, arguments: vec![] })],
///     outputs: ScriptOutputs { alarms: vec![[raised, rearmed]], ..ScriptOutputs::default() },
///     undefined_violates: false,
///     abstracts: false,
///     tick: None,
///     calls: vec![],
/// };
/// let mut scripts = Scripts::new(&[plan])?;
/// assert!(scripts.needs_event(call) && !scripts.needs_event(raised));
/// let mut found = EventBatch::default();
/// let event = Event { id: call, params: &[], text: "" };
/// scripts.derive(&event, EventMeta { time: 0.0, line: 0 }, &mut found);
/// assert_eq!(found.event(0).id, raised);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Scripts {
    derivers: Vec<EventDeriver>,
    /// The events that the scripts need.
    needed_events: EventSet,
    uses_time: bool,
}

impl Scripts {
    /// Compiles the scripts, in their initial state.
    ///
    /// # Errors
    /// If a script cannot be compiled; see [`EventDeriver::new`].
    pub fn new(plans: &[ScriptPlan]) -> Result<Scripts, String> {
        let derivers: Vec<EventDeriver> = plans.iter().map(EventDeriver::new).collect::<Result<_, _>>()?;
        let mut needed_events = EventSet::default();
        derivers
            .iter()
            .flat_map(EventDeriver::needed_events)
            .for_each(|event_id| needed_events.insert(event_id));
        Ok(Scripts { derivers, needed_events, uses_time: plans.iter().any(ScriptPlan::uses_time) })
    }

    /// Whether there are no scripts.
    pub fn is_empty(&self) -> bool {
        self.derivers.is_empty()
    }

    /// Whether any definition uses the time; if so, every event must carry a time.
    pub fn uses_time(&self) -> bool {
        self.uses_time
    }

    /// The events that the scripts need.
    pub fn needed_events(&self) -> &EventSet {
        &self.needed_events
    }

    /// Whether the scripts need this event.
    #[inline]
    pub fn needs_event(&self, event_id: EventId) -> bool {
        self.needed_events.contains(event_id)
    }

    /// The events that the scripts derive.
    pub fn derived_events(&self) -> impl Iterator<Item = EventId> {
        self.derivers.iter().flat_map(EventDeriver::derived_events)
    }

    /// Advances the clocks; see [`EventDeriver::advance_clock`].
    pub fn advance_clock(&mut self, milliseconds: i64) {
        self.derivers.iter_mut().for_each(|deriver| deriver.advance_clock(milliseconds));
    }

    /// Processes an event and appends the events derived from it.
    #[inline]
    pub fn derive(&mut self, event: &Event<'_>, meta: EventMeta, out: &mut EventBatch) {
        self.derivers.iter_mut().for_each(|deriver| deriver.derive(event, meta, out));
    }

    /// The states.
    pub fn state(&self) -> Vec<ScriptState> {
        self.derivers.iter().map(EventDeriver::state).collect()
    }

    /// Restores states. Returns false if they belong to other scripts; in that case, some may already have been
    /// restored.
    #[must_use]
    pub fn restore(&mut self, saved: &[ScriptState]) -> bool {
        self.derivers.len() == saved.len()
            && self.derivers.iter_mut().zip(saved).all(|(deriver, saved)| deriver.restore(saved))
    }
}
