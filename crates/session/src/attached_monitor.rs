//! A monitor that is attached to a session, with its counters.

use invigil_check::{NeverSupplied, ReportedEvent, SkippedEvents};
use invigil_lang::scn::Scenario;
use invigil_lang::scn::ast::Trigger;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::embedded::{EmbeddedMonitor, REACT_ON_ENTRY, REACT_ON_EXIT};
use invigil_monitor::event::{EventDecl, EventId, EventSet};
use invigil_monitor::interactive::{Change, InteractiveMonitor, NeededEventsVersion};
use invigil_monitor::slices::DeadObjects;
use invigil_monitor::verdict::MonitorFault;
use invigil_trace::TracePosition;
use std::sync::Arc;

/// Monitor of a property, with the session's counters for it.
pub(crate) struct AttachedMonitor {
    pub(crate) monitor: InteractiveMonitor,
    /// Version of the monitor's needs for which the target was last instrumented.
    pub(crate) needs_version: NeededEventsVersion,
    /// For each state, whether a scenario reacts to entering or leaving it.
    reaction_mask: Vec<u8>,
    /// Transitions that its slices took.
    pub(crate) steps: u64,
    /// Slices that were created.
    pub(crate) created: u64,
    /// Violations, including those beyond the limit of the report.
    pub(crate) violations: u64,
    /// Commands that its blocks issued with `debugger`.
    pub(crate) commands: u64,
    /// Events that were skipped because they lacked a parameter.
    pub(crate) skipped: Vec<SkippedEvents>,
    /// Parameters that a guard reads and that no event supplies.
    pub(crate) never_supplied: Vec<NeverSupplied>,
    /// The fault that ended the monitor, once it was reported, and the event at which it occurred.
    pub(crate) failure: Option<(MonitorFault, Option<ReportedEvent>)>,
}

impl AttachedMonitor {
    pub(crate) fn new(
        property: usize,
        automaton: Arc<Automaton>,
        scenarios: &[Arc<Scenario>],
    ) -> AttachedMonitor {
        let mut reaction_mask = vec![0; automaton.states.len()];
        for reaction in scenarios.iter().flat_map(|scenario| &scenario.reactions) {
            let Some(states) = reaction.states.get(property) else { continue };
            for (state, reaction_mask) in reaction_mask.iter_mut().enumerate() {
                if states.contains(state as u16) {
                    *reaction_mask |= match reaction.trigger {
                        Trigger::Entering => REACT_ON_ENTRY,
                        Trigger::Leaving => REACT_ON_EXIT,
                    };
                }
            }
        }
        let monitor = InteractiveMonitor::new(automaton);
        AttachedMonitor {
            needs_version: monitor.needs_version(),
            monitor,
            reaction_mask,
            steps: 0,
            created: 0,
            violations: 0,
            commands: 0,
            skipped: Vec::new(),
            never_supplied: Vec::new(),
            failure: None,
        }
    }

    /// Requests a reaction on the entry of each state to which this event can lead.
    pub(crate) fn react_to(&mut self, event: EventId) {
        let automaton = Arc::clone(self.monitor.automaton());
        let transitions = automaton.transitions.iter().filter(|transition| transition.event == event);
        for target in transitions.filter_map(|transition| transition.success.as_ref()?.target) {
            self.reaction_mask[usize::from(target)] |= REACT_ON_ENTRY;
        }
    }

    /// Whether a scenario may react to a change from one state to another.
    #[inline]
    pub(crate) fn has_reaction(&self, from: u16, to: u16) -> bool {
        self.reaction_mask[usize::from(from)] & REACT_ON_EXIT != 0
            || self.reaction_mask[usize::from(to)] & REACT_ON_ENTRY != 0
    }

    /// Adds the steps and new slices of the last event to the counters.
    #[inline]
    pub(crate) fn count(&mut self) {
        for change in self.monitor.changes() {
            match change {
                Change::Created(_) => self.created += 1,
                Change::Taken(_) => self.steps += 1,
                Change::Dropped { .. } => {}
            }
        }
    }

    /// Drops the slices of collected objects.
    pub(crate) fn collect_slices(&mut self, dead: &DeadObjects) {
        self.monitor.collect_slices(dead, &self.reaction_mask);
    }

    /// A copy that can continue inside the target.
    pub(crate) fn embedded(&self) -> EmbeddedMonitor {
        EmbeddedMonitor {
            automaton: Arc::clone(self.monitor.automaton()),
            slices: self.monitor.slices().clone(),
            reactions: self.reaction_mask.clone(),
        }
    }

    /// Records a parameter that a guard reads and that the event lacks. Returns whether it is the first time.
    #[cold]
    pub(crate) fn record_never_supplied(&mut self, decl: &EventDecl, parameter: usize) -> bool {
        let Some(param) = decl.params.get(parameter) else { return false };
        let entry = NeverSupplied { event: decl.to_string(), param: param.name.clone(), is_truth: false };
        let is_new = !self.never_supplied.contains(&entry);
        if is_new {
            self.never_supplied.push(entry);
        }
        is_new
    }

    /// Counts an event that was skipped because it lacked a parameter. Returns whether it is the first time.
    #[cold]
    pub(crate) fn record_skipped(
        &mut self,
        decl: &EventDecl,
        parameter: usize,
        position: TracePosition,
    ) -> bool {
        let Some(param) = decl.params.get(parameter) else { return false };
        let event = decl.to_string();
        match self.skipped.iter_mut().find(|entry| entry.event == event && entry.param == param.name) {
            Some(entry) => entry.count += 1,
            None => {
                let fields = param.fields();
                let param = param.name.clone();
                self.skipped.push(SkippedEvents { event, param, fields, count: 1, first: position });
                return true;
            }
        }
        false
    }
}

/// Collects the events that all monitors need now.
pub(crate) fn collect_needs(monitors: &mut [AttachedMonitor], needs: &mut EventSet) {
    needs.clear();
    for attached in monitors {
        attached.needs_version = attached.monitor.needs_version();
        attached.monitor.add_needed_events(needs);
    }
}
