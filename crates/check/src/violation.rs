//! Violations as they are reported.

use crate::rendered_value::RenderedValue;
use invigil_expr::compare::ValueReader;
use invigil_expr::heap::Heap;
use invigil_expr::text::TextArenas;
use invigil_monitor::automaton::{Automaton, Branch};
use invigil_monitor::event::{Event, EventCatalog};
use invigil_monitor::slices::{SliceId, SliceTable};
use invigil_monitor::verdict::Verdict;
use invigil_trace::TracePosition;

/// A slice parameter and its value; `None` if it is unbound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The parameter.
    pub name: String,
    /// Its value.
    pub value: Option<RenderedValue>,
}

/// A variable and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The variable.
    pub name: String,
    /// Its value.
    pub value: RenderedValue,
}

/// An event as it is reported.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportedEvent {
    /// Its number among the events that properties mention, counted from 1.
    pub index: u64,
    /// Its time in seconds, if the trace has times.
    pub time: Option<f64>,
    /// Its position in the trace.
    pub position: TracePosition,
    /// Its name with its kind: `queue_push` or `after queue_pop`.
    pub name: String,
    /// The parameters that properties read.
    pub params: Vec<Variable>,
}

impl std::fmt::Display for ReportedEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Predefined events such as `#exit` are not calls.
        if self.params.is_empty() && self.name.starts_with('#') {
            return f.write_str(&self.name);
        }
        write!(f, "{}(", self.name)?;
        for (at, param) in self.params.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{}={}", param.name, param.value)?;
        }
        f.write_str(")")
    }
}

/// One step of the path to a violation.
#[derive(Clone, Debug, PartialEq)]
pub struct PathStep {
    /// The event; `None` for the creation of the slice.
    pub event: Option<ReportedEvent>,
    /// The branch of the transition that was taken.
    pub branch: Option<Branch>,
    /// The state after it.
    pub state: String,
    /// The verdict of that state.
    pub verdict: Verdict,
    /// The environment after it.
    pub env: Vec<Variable>,
}

/// A violation: a slice entered a non-accepting state, or the complete trace ended in a state that violates the
/// property.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// Index of the property.
    pub property: usize,
    /// The binding of the slice.
    pub slice: Vec<Binding>,
    /// The event; `None` if the property starts in a non-accepting state or is violated at the end of the trace.
    pub event: Option<ReportedEvent>,
    /// Whether the property is violated at the end of the trace.
    pub at_end: bool,
    /// The condition that held at the event, if the property has text for it.
    pub reason: Option<String>,
    /// The state that was left.
    pub from: String,
    /// The non-accepting state that was entered, or the state at the end of the trace.
    pub to: String,
    /// The steps of the slice up to the violation.
    pub path: Vec<PathStep>,
    /// Number of earlier steps omitted from `path`; `None` if unknown.
    pub omitted: Option<u64>,
}

/// The binding of a slice.
pub fn binding(automaton: &Automaton, slices: &SliceTable, slice: SliceId) -> Vec<Binding> {
    let values = slices.binding(slice).iter();
    automaton
        .slice_on
        .iter()
        .zip(values)
        .map(|(name, value)| Binding {
            name: name.clone(),
            value: (!value.is_unset()).then(|| RenderedValue::new(&slices.values_view(), *value)),
        })
        .collect()
}

/// The environment of a slice, without unset variables.
pub fn env(automaton: &Automaton, slices: &SliceTable, slice: SliceId) -> Vec<Variable> {
    let values = slices.env(slice).iter();
    automaton
        .env
        .iter()
        .zip(values)
        .filter(|(_, value)| !value.is_unset())
        .map(|(name, value)| Variable {
            name: name.clone(),
            value: RenderedValue::new(&slices.values_view(), *value),
        })
        .collect()
}

/// Renders an event for reports.
pub fn reported_event(
    catalog: &EventCatalog,
    event: &Event<'_>,
    index: u64,
    time: f64,
    position: TracePosition,
) -> ReportedEvent {
    let decl = catalog.get(event.id);
    let params = decl.map_or(&[][..], |decl| &decl.params);
    // Parameters are stored inline or in the text of the event.
    let view = ValueReader { heap: &Heap::default(), texts: TextArenas { event: event.text, pool: "" } };
    let mut shown: Vec<Variable> = Vec::new();
    for (param, value) in params.iter().zip(event.params) {
        // Two properties may read one parameter as two types: report it once.
        if value.is_unset() || shown.iter().any(|other| other.name == param.name) {
            continue;
        }
        shown.push(Variable { name: param.name.clone(), value: RenderedValue::new(&view, *value) });
    }
    ReportedEvent {
        index,
        time: (!time.is_nan()).then_some(time),
        position,
        name: decl.map_or(String::new(), ToString::to_string),
        params: shown,
    }
}
