//! A monitor that is attached to a session, with its counters.

use invigil_check::{NeverSupplied, ReportedEvent, SkippedEvents};
use invigil_lang::scn::Scenario;
use invigil_lang::scn::ast::Trigger;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::embedded::{EmbeddedMonitor, REACT_ON_ENTRY, REACT_ON_EXIT};
use invigil_monitor::event::{EventDecl, EventId, EventSet};
use invigil_monitor::interactive::{Change, InteractiveMonitor, NeedsVersion};
use invigil_monitor::slices::DeadObjects;
use invigil_monitor::verdict::MonitorFault;
use invigil_trace::TracePosition;
use std::sync::Arc;

/// A property of the session: its monitor, and what the session counts about it.
pub(crate) struct AttachedMonitor {
    pub(crate) monitor: InteractiveMonitor,
    /// Version of the needs that the target was last instrumented for.
    pub(crate) stamp: NeedsVersion,
    /// For each state, whether a scenario reacts to entering or leaving it.
    reaction_mask: Vec<u8>,
    pub(crate) steps: u64,
    pub(crate) created: u64,
    pub(crate) violations: u64,
    pub(crate) commands: u64,
    pub(crate) missing: Vec<SkippedEvents>,
    pub(crate) silent: Vec<NeverSupplied>,
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
        let watch = InteractiveMonitor::new(automaton);
        AttachedMonitor {
            stamp: watch.needs_version(),
            monitor: watch,
            reaction_mask,
            steps: 0,
            created: 0,
            violations: 0,
            commands: 0,
            missing: Vec::new(),
            silent: Vec::new(),
            failure: None,
        }
    }

    /// Marks every state that this event can lead to as one that needs a reaction.
    pub(crate) fn react_to(&mut self, symbol: EventId) {
        let automaton = Arc::clone(self.monitor.automaton());
        let taken = automaton.transitions.iter().filter(|transition| transition.event == symbol);
        for target in taken.filter_map(|transition| transition.success.as_ref()?.target) {
            self.reaction_mask[usize::from(target)] |= REACT_ON_ENTRY;
        }
    }

    /// Whether a scenario may react to a change from one state to another.
    #[inline]
    pub(crate) fn has_reaction(&self, from: u16, to: u16) -> bool {
        self.reaction_mask[usize::from(from)] & REACT_ON_EXIT != 0
            || self.reaction_mask[usize::from(to)] & REACT_ON_ENTRY != 0
    }

    /// Counts the steps and new slices of the last event.
    #[inline]
    pub(crate) fn count(&mut self) {
        for change in self.monitor.changes() {
            match change {
                Change::Created(_) => self.created += 1,
                Change::Taken(_) => self.steps += 1,
                Change::Forgotten { .. } => {}
            }
        }
    }

    /// Drops the slices of collected objects.
    pub(crate) fn collect_slices(&mut self, gone: &DeadObjects) {
        self.monitor.collect_slices(gone, &self.reaction_mask);
    }

    /// A copy that can continue inside the target.
    pub(crate) fn embedded(&self) -> EmbeddedMonitor {
        EmbeddedMonitor {
            automaton: Arc::clone(self.monitor.automaton()),
            slices: self.monitor.slices().clone(),
            reactions: self.reaction_mask.clone(),
        }
    }

    /// Notes a parameter that a guard reads and that the event lacked. Returns whether it is the first time.
    #[cold]
    pub(crate) fn record_never_supplied(&mut self, symbol: &EventDecl, parameter: usize) -> bool {
        let Some(param) = symbol.params.get(parameter) else { return false };
        let silent = NeverSupplied { event: symbol.to_string(), param: param.name.clone(), is_truth: false };
        let is_new = !self.silent.contains(&silent);
        if is_new {
            self.silent.push(silent);
        }
        is_new
    }

    /// Counts an event that was skipped because it lacked a parameter. Returns whether it is the first time.
    #[cold]
    pub(crate) fn record_skipped(
        &mut self,
        symbol: &EventDecl,
        parameter: usize,
        place: TracePosition,
    ) -> bool {
        let Some(param) = symbol.params.get(parameter) else { return false };
        let event = symbol.to_string();
        match self.missing.iter_mut().find(|known| known.event == event && known.param == param.name) {
            Some(known) => known.count += 1,
            None => {
                let fields = param.fields();
                let param = param.name.clone();
                self.missing.push(SkippedEvents { event, param, fields, count: 1, first: place });
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
        attached.stamp = attached.monitor.needs_version();
        attached.monitor.add_needed_events(needs);
    }
}
