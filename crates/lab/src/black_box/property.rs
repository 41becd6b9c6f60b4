//! Properties and formulae as black boxes.

use super::{BlackBox, ComponentNames, value};
use crate::inputs::{Observation, ObservationError};
use invigil_decent::system::{ComponentId, PropositionId, System};
use invigil_expr::diag::{Diagnostic, Sources, Span};
use invigil_expr::value::Value;
use invigil_ltl::moore::Truth;
use invigil_monitor::automaton::{Automaton, EndVerdict, State};
use invigil_monitor::event::{
    Event, EventCatalog, EventDecl, EventId, EventKind, ParamSource, ParamType, STATE_EVENT,
};
use invigil_monitor::interactive::InteractiveMonitor;
use invigil_monitor::verdict::Verdict;
use std::sync::Arc;

/// Property automata that share a catalog. The box holds if all of them do.
///
/// A property receives an event for each proposition that is true in a round, in the order in which the component
/// declares them, and `#tick` at the end of the round. A formula receives a state with the propositions as its fields.
/// In both cases the values of all propositions are available as parameters, and the number of the round as `#time`.
pub struct PropertyBox {
    automata: Vec<Arc<Automaton>>,
    monitors: Vec<InteractiveMonitor>,
    events: Vec<ProxyEvent>,
    sources: Sources,
    name: String,
}

/// Event that stands for observations.
#[derive(Clone, Debug)]
struct ProxyEvent {
    event: EventId,
    /// The event occurs only if this proposition is true.
    when: Option<PropositionId>,
    params: Vec<ParamValue>,
}

/// Source of a parameter's value.
#[derive(Clone, Copy, Debug)]
enum ParamValue {
    Proposition(PropositionId),
    Round,
}

impl PropertyBox {
    /// Creates a box for a component. `name` is the file, for messages.
    ///
    /// # Errors
    /// Returns a diagnostic for each name that the component does not observe.
    pub fn new(
        automata: Vec<Automaton>,
        catalog: &EventCatalog,
        (system, component): (&System, ComponentId),
        sources: Sources,
        name: &str,
    ) -> Result<PropertyBox, Vec<Diagnostic>> {
        let observed =
            ComponentNames { system, component, other_inputs: ", and `#tick` at the end of each round" };
        let mut diagnostics = Vec::new();
        let mut events = Vec::new();
        // Formulae also declare events, but a table of states contains only states.
        let has_states = catalog.find(STATE_EVENT, EventKind::Before).is_some();
        for (event, decl) in catalog.iter().filter(|(_, decl)| !has_states || decl.name == STATE_EVENT) {
            let span = span_of(&automata, event);
            let when = match (decl.kind, decl.name.as_str()) {
                (EventKind::Tick, _) | (EventKind::Before, STATE_EVENT) => None,
                (EventKind::Before, name) => match observed.find(name) {
                    Some(proposition) => Some(proposition),
                    None => {
                        diagnostics.push(observed.unknown(name, span));
                        continue;
                    }
                },
                _ => {
                    let message = format!("black boxes do not receive `{decl}`");
                    let help = "they receive the propositions that are true, by name, and `#tick`";
                    diagnostics.push(Diagnostic::error(span, message).help(help));
                    continue;
                }
            };
            let params = params(decl, span, &observed, &mut diagnostics);
            events.push(ProxyEvent { event, when, params });
        }
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        // Events of propositions in declaration order, then the unconditional ones.
        events.sort_by_key(|event| event.when.map_or(usize::MAX, PropositionId::index));
        let automata: Vec<Arc<Automaton>> = automata.into_iter().map(Arc::new).collect();
        let monitors =
            automata.iter().map(|automaton| InteractiveMonitor::new(Arc::clone(automaton))).collect();
        Ok(PropertyBox { automata, monitors, events, sources, name: name.to_owned() })
    }

    fn check_faults(&self, at: u32) -> Result<(), ObservationError> {
        let Some(failure) = self.monitors.iter().find_map(InteractiveMonitor::fault) else { return Ok(()) };
        let place = failure.span.map_or_else(|| self.name.clone(), |span| self.sources.describe(span));
        let message = format!("{} in round {at}: the black box has no verdict from here on", failure.message);
        Err(ObservationError::new(place, message))
    }
}

impl BlackBox for PropertyBox {
    fn restart(&mut self) {
        self.monitors =
            self.automata.iter().map(|automaton| InteractiveMonitor::new(Arc::clone(automaton))).collect();
    }

    fn round(&mut self, at: u32, seen: &[Observation]) -> Result<Truth, ObservationError> {
        let mut is_violated = false;
        let mut params = Vec::new();
        for event in &self.events {
            if event.when.is_some_and(|proposition| value(seen, proposition).as_bool() != Some(true)) {
                continue;
            }
            params.clear();
            params.extend(event.params.iter().map(|param| match param {
                ParamValue::Proposition(proposition) => value(seen, *proposition),
                ParamValue::Round => Value::int(i64::from(at)),
            }));
            let event = Event { id: event.event, params: &params, text: "" };
            for monitor in &mut self.monitors {
                is_violated |= monitor.apply(&event).verdict == Some(Verdict::NonAccepting);
            }
        }
        self.check_faults(at)?;
        if is_violated {
            return Ok(Truth::False);
        }
        let all = self.monitors.iter().map(holds);
        Ok(all.fold(Truth::True, |one, other| match (one, other) {
            (Truth::False, _) | (_, Truth::False) => Truth::False,
            (Truth::Unknown, _) | (_, Truth::Unknown) => Truth::Unknown,
            _ => Truth::True,
        }))
    }
}

/// Returns the first position at which a property refers to an event.
fn span_of(automata: &[Automaton], event: EventId) -> Span {
    let mut transitions = automata.iter().flat_map(|automaton| &automaton.transitions);
    transitions
        .find(|transition| transition.event == event)
        .map(|transition| transition.span)
        .unwrap_or_default()
}

fn params(
    decl: &EventDecl,
    span: Span,
    observed: &ComponentNames<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<ParamValue> {
    let mut params = Vec::new();
    for param in &decl.params {
        if param.source == ParamSource::Time {
            params.push(ParamValue::Round);
            continue;
        }
        let found = param.fields().iter().find_map(|name| observed.find(name));
        match (found, param.ty) {
            (Some(found), None | Some(ParamType::Bool)) => params.push(ParamValue::Proposition(found)),
            (Some(_), Some(ty)) => {
                let message = format!("`{}` is Boolean, not of type `{}`", param.name, ty.word());
                diagnostics.push(Diagnostic::error(span, message).help("remove the type"));
            }
            (None, _) => diagnostics.push(observed.unknown(&param.source.to_string(), span)),
        }
    }
    params
}

/// Returns whether a property holds for the run so far.
fn holds(monitor: &InteractiveMonitor) -> Truth {
    let (automaton, slices) = (monitor.automaton(), monitor.slices());
    // The root slice of a sliced property has no binding and does not count.
    let root = slices.root().filter(|_| !automaton.slice_on.is_empty()).map(|root| slices.state(root));
    let mut all = Truth::True;
    for (at, state) in (0..).zip(&automaton.states) {
        let count = slices.count(at) - u32::from(root == Some(at));
        match state_verdict(state) {
            _ if count == 0 => {}
            Truth::False => return Truth::False,
            Truth::Unknown => all = Truth::Unknown,
            Truth::True => {}
        }
    }
    all
}

/// Returns the verdict of a state for the run so far.
fn state_verdict(state: &State) -> Truth {
    match (state.verdict, state.at_end) {
        (Verdict::Accepting, _) => Truth::True,
        (Verdict::NonAccepting | Verdict::Error, _) => Truth::False,
        (Verdict::Undecided, EndVerdict::Presumably(holds) | EndVerdict::Decided(holds)) => {
            if holds {
                Truth::True
            } else {
                Truth::False
            }
        }
        (Verdict::Undecided, EndVerdict::Nothing) => Truth::Unknown,
    }
}
