//! A property of the session: its watch, and what the session keeps beside it.

use invigil_check::{Happening, Missing, Silent};
use invigil_lang::scn::Scenario;
use invigil_lang::scn::ast::Moment;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::{EventSet, Symbol, SymbolId};
use invigil_monitor::inside::{ENTERING, Inmate, LEAVING};
use invigil_monitor::slices::Gone;
use invigil_monitor::verdict::Failure;
use invigil_monitor::watch::{Change, NeedsStamp, Watch};
use invigil_trace::Place;
use std::sync::Arc;

pub(crate) struct Monitored {
    pub(crate) watch: Watch,
    /// As it was when the needs were last looked at.
    pub(crate) stamp: NeedsStamp,
    /// Per state, whether some reaction is about it.
    concern: Vec<u8>,
    pub(crate) steps: u64,
    pub(crate) created: u64,
    pub(crate) violations: u64,
    pub(crate) commands: u64,
    pub(crate) missing: Vec<Missing>,
    pub(crate) silent: Vec<Silent>,
    /// The error that ended the monitor, once it was told, and the event at which it did.
    pub(crate) failure: Option<(Failure, Option<Happening>)>,
}

impl Monitored {
    pub(crate) fn new(property: usize, automaton: Arc<Automaton>, scenarios: &[Arc<Scenario>]) -> Monitored {
        let mut concern = vec![0; automaton.states.len()];
        for reaction in scenarios.iter().flat_map(|scenario| &scenario.reactions) {
            let Some(states) = reaction.states.get(property) else { continue };
            for (state, concern) in concern.iter_mut().enumerate() {
                if states.contains(state as u16) {
                    *concern |= match reaction.moment {
                        Moment::Entering => ENTERING,
                        Moment::Leaving => LEAVING,
                    };
                }
            }
        }
        let watch = Watch::new(automaton);
        Monitored {
            stamp: watch.needs_stamp(),
            watch,
            concern,
            steps: 0,
            created: 0,
            violations: 0,
            commands: 0,
            missing: Vec::new(),
            silent: Vec::new(),
            failure: None,
        }
    }

    /// Someone reacts to this event, wherever it leads.
    pub(crate) fn hears(&mut self, symbol: SymbolId) {
        let automaton = Arc::clone(self.watch.automaton());
        let taken = automaton.transitions.iter().filter(|transition| transition.symbol == symbol);
        for target in taken.filter_map(|transition| transition.success.as_ref()?.target) {
            self.concern[usize::from(target)] |= ENTERING;
        }
    }

    /// Whether some reaction may be about a change from one state to another.
    #[inline]
    pub(crate) fn concerns(&self, from: u16, to: u16) -> bool {
        self.concern[usize::from(from)] & LEAVING != 0 || self.concern[usize::from(to)] & ENTERING != 0
    }

    /// Counts what happened on the last event.
    #[inline]
    pub(crate) fn count(&mut self) {
        for change in self.watch.changes() {
            match change {
                Change::Created(_) => self.created += 1,
                Change::Taken(_) => self.steps += 1,
                Change::Forgotten { .. } => {}
            }
        }
    }

    /// Forgets objects of the program that are no more.
    pub(crate) fn forget_gone(&mut self, gone: &Gone) {
        self.watch.forget_gone(gone, &self.concern);
    }

    /// As it can go on inside the program.
    pub(crate) fn inmate(&self) -> Inmate {
        Inmate {
            automaton: Arc::clone(self.watch.automaton()),
            slices: self.watch.slices().clone(),
            concern: self.concern.clone(),
        }
    }

    /// Notes that an event lacked a parameter that a question reads; says whether it is the first of its kind.
    #[cold]
    pub(crate) fn note_silent(&mut self, symbol: &Symbol, parameter: usize) -> bool {
        let Some(param) = symbol.params.get(parameter) else { return false };
        let silent = Silent { event: symbol.to_string(), param: param.name.clone(), is_truth: false };
        let is_new = !self.silent.contains(&silent);
        if is_new {
            self.silent.push(silent);
        }
        is_new
    }

    /// Counts an event that lacked a parameter; says whether it is the first of its kind.
    #[cold]
    pub(crate) fn note_missing(&mut self, symbol: &Symbol, parameter: usize, place: Place) -> bool {
        let Some(param) = symbol.params.get(parameter) else { return false };
        let event = symbol.to_string();
        match self.missing.iter_mut().find(|known| known.event == event && known.param == param.name) {
            Some(known) => known.count += 1,
            None => {
                let fields = param.fields();
                let param = param.name.clone();
                self.missing.push(Missing { event, param, fields, count: 1, first: place });
                return true;
            }
        }
        false
    }
}

/// All that the monitors need now, together.
pub(crate) fn add_needs(monitors: &mut [Monitored], needs: &mut EventSet) {
    needs.clear();
    for monitored in monitors {
        monitored.stamp = monitored.watch.needs_stamp();
        monitored.watch.add_needs(needs);
    }
}
