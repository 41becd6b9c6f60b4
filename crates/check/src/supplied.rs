//! Detects parameters and events that a property reads but the trace never supplies.
//!
//! A condition on a missing parameter is false, so the verdict may be misleading: the user is warned.

use invigil_expr::value::Value;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::decision::{DecisionEdge, DecisionTest};
use invigil_monitor::event::{ANY_EVENT, EventBatch, EventCatalog, EventId, STATE_EVENT};
use std::collections::BTreeSet;

/// A parameter that no event supplied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeverSupplied {
    /// The event.
    pub event: String,
    /// The parameter, by the property's name for it.
    pub param: String,
    /// Whether the property reads it as a truth value.
    pub is_truth: bool,
}

/// A parameter that no event has supplied so far.
struct Unsupplied {
    property: usize,
    event_id: EventId,
    param: usize,
    is_truth: bool,
    /// Whether the event has occurred.
    occurred: bool,
}

/// Tracks which parameters and events have been supplied.
pub(crate) struct SuppliedTracker {
    unsupplied: Vec<Unsupplied>,
    /// Events named by formulae that have not occurred so far, with the index of the formula.
    absent: Vec<(usize, EventId)>,
    /// Whether each event has occurred, by event id.
    occurred: Vec<bool>,
    /// Whether any event named by a formula has occurred.
    any_occurred: bool,
}

impl SuppliedTracker {
    pub(crate) fn new(automata: &[Automaton], catalog: &EventCatalog) -> SuppliedTracker {
        let mut unsupplied = Vec::new();
        for (property, automaton) in automata.iter().enumerate() {
            for (event_id, param, is_truth) in parameters_read(automaton) {
                unsupplied.push(Unsupplied { property, event_id, param, is_truth, occurred: false });
            }
        }
        let mut absent = Vec::new();
        for (property, automaton) in automata.iter().enumerate().filter(|(_, of)| of.formula.is_some()) {
            let named = |event_id: &EventId| {
                catalog
                    .get(*event_id)
                    .is_some_and(|decl| ![ANY_EVENT, STATE_EVENT].contains(&decl.name.as_str()))
            };
            absent.extend(automaton.events().filter(named).map(|event_id| (property, event_id)));
        }
        SuppliedTracker { unsupplied, absent, occurred: vec![false; catalog.len()], any_occurred: false }
    }

    /// Removes the parameters and events that a batch supplies. Usually the first events supply everything, so the cost
    /// is negligible.
    pub(crate) fn observe(&mut self, batch: &EventBatch) {
        if !self.absent.is_empty() {
            (0..batch.len()).for_each(|at| self.occurred[batch.event(at).id.0 as usize] = true);
            let count = self.absent.len();
            self.absent.retain(|(_, event_id)| !self.occurred[event_id.0 as usize]);
            self.any_occurred |= self.absent.len() < count;
        }
        self.unsupplied.retain_mut(|unsupplied| {
            for event in (0..batch.len()).map(|at| batch.event(at)).filter(|e| e.id == unsupplied.event_id) {
                unsupplied.occurred = true;
                let value = event.params.get(unsupplied.param).copied().unwrap_or(Value::UNSET);
                let is_supplied = match unsupplied.is_truth {
                    true => value.as_bool().is_some() || matches!(value.as_int(), Some(0 | 1)),
                    false => !value.is_unset(),
                };
                if is_supplied {
                    return false;
                }
            }
            true
        });
    }

    /// Events named by formulae that never occurred although others did, with the index of the formula.
    pub(crate) fn absent(&self, catalog: &EventCatalog) -> impl Iterator<Item = (usize, String)> {
        let absent = self.absent.iter().filter(|_| self.any_occurred);
        absent.filter_map(|(property, event_id)| Some((*property, catalog.get(*event_id)?.to_string())))
    }

    /// The parameters never supplied, with the index of the property.
    pub(crate) fn finish(&self, catalog: &EventCatalog) -> impl Iterator<Item = (usize, NeverSupplied)> {
        self.unsupplied.iter().filter(|unsupplied| unsupplied.occurred).filter_map(|unsupplied| {
            let decl = catalog.get(unsupplied.event_id)?;
            let param = decl.params.get(unsupplied.param)?.name.clone();
            Some((
                unsupplied.property,
                NeverSupplied { event: decl.to_string(), param, is_truth: unsupplied.is_truth },
            ))
        })
    }
}

/// The parameters that the decisions of a property read, and whether as truth values.
fn parameters_read(automaton: &Automaton) -> BTreeSet<(EventId, usize, bool)> {
    let decisions = &automaton.decisions;
    let mut parameters = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for ((_, event_id), first) in &decisions.roots {
        let mut open = vec![*first];
        while let Some(next) = open.pop() {
            let DecisionEdge::Test(number) = next else { continue };
            if !seen.insert((*event_id, number)) {
                continue;
            }
            let fork = decisions.nodes[number as usize];
            open.extend([fork.yes, fork.no]);
            match &decisions.tests[fork.test as usize] {
                DecisionTest::Parameter(at) => drop(parameters.insert((*event_id, *at, true))),
                DecisionTest::Block { reads, .. } => {
                    parameters.extend(reads.iter().map(|at| (*event_id, *at, false)))
                }
            }
        }
    }
    parameters
}
