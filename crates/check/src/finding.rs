//! What a report tells of a violation.

use crate::shown::Shown;
use invigil_expr::compare::View;
use invigil_expr::heap::Heap;
use invigil_expr::text::Texts;
use invigil_monitor::automaton::{Automaton, Branch};
use invigil_monitor::event::{Catalog, Event};
use invigil_monitor::slices::{SliceId, Slices};
use invigil_monitor::verdict::Verdict;
use invigil_trace::Place;

/// A slice parameter and its value; `None` if it is not bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The parameter.
    pub name: String,
    /// Its value.
    pub value: Option<Shown>,
}

/// A variable and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The variable.
    pub name: String,
    /// Its value.
    pub value: Shown,
}

/// An event of the trace, as a report tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct Happening {
    /// Its number among the events that some property knows, counted from one.
    pub index: u64,
    /// When it happened, in seconds, if the trace says.
    pub time: Option<f64>,
    /// Where it was recorded.
    pub place: Place,
    /// What it was: `queue_push`, or `after queue_pop`.
    pub name: String,
    /// Its parameters, as far as properties read them.
    pub params: Vec<Variable>,
}

impl std::fmt::Display for Happening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // What tells of itself, such as `#exit`, is no call.
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

/// One step on the way to a violation.
#[derive(Clone, Debug, PartialEq)]
pub struct PathStep {
    /// The event; `None` for the beginning of the slice.
    pub event: Option<Happening>,
    /// Which end of the transition was taken.
    pub branch: Option<Branch>,
    /// The state after it.
    pub state: String,
    /// What that state means.
    pub verdict: Verdict,
    /// The environment after it.
    pub env: Vec<Variable>,
}

/// A violation: a slice that entered a non-accepting state, or was at the end in one that must not be the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The property, by its position among those checked.
    pub property: usize,
    /// The slice: one binding per slice parameter.
    pub slice: Vec<Binding>,
    /// The event; `None` if the property starts in a non-accepting state, or is violated at the end.
    pub event: Option<Happening>,
    /// Whether nothing happened but that the run came to its end.
    pub at_end: bool,
    /// What was so at the event, in the words of the property, if it has such words.
    pub why: Option<String>,
    /// The state that was left.
    pub from: String,
    /// The non-accepting state that was entered.
    pub to: String,
    /// How the slice came here, the violation itself last.
    pub path: Vec<PathStep>,
    /// How many steps of the slice before those of `path` are not told; `None` if that is not known.
    pub untold: Option<u64>,
}

/// The values of a slice's parameters.
pub fn binding(automaton: &Automaton, slices: &Slices, slice: SliceId) -> Vec<Binding> {
    let values = slices.binding(slice).iter();
    automaton
        .slice_on
        .iter()
        .zip(values)
        .map(|(name, value)| Binding {
            name: name.clone(),
            value: (!value.is_unset()).then(|| Shown::new(&slices.values_view(), *value)),
        })
        .collect()
}

/// The values of a slice's variables; those that have none are left out.
pub fn env(automaton: &Automaton, slices: &Slices, slice: SliceId) -> Vec<Variable> {
    let values = slices.env(slice).iter();
    automaton
        .env
        .iter()
        .zip(values)
        .filter(|(_, value)| !value.is_unset())
        .map(|(name, value)| Variable {
            name: name.clone(),
            value: Shown::new(&slices.values_view(), *value),
        })
        .collect()
}

/// An event as a report tells it.
pub fn happening(catalog: &Catalog, event: &Event<'_>, index: u64, time: f64, place: Place) -> Happening {
    let symbol = catalog.get(event.symbol);
    let params = symbol.map_or(&[][..], |symbol| &symbol.params);
    // The parameters of an event lie in themselves or in its text.
    let view = View { heap: &Heap::default(), texts: Texts { event: event.text, pool: "" } };
    let mut shown: Vec<Variable> = Vec::new();
    for (param, value) in params.iter().zip(event.params) {
        // Two properties may know one parameter under two types: tell it once.
        if value.is_unset() || shown.iter().any(|known| known.name == param.name) {
            continue;
        }
        shown.push(Variable { name: param.name.clone(), value: Shown::new(&view, *value) });
    }
    Happening {
        index,
        time: (!time.is_nan()).then_some(time),
        place,
        name: symbol.map_or(String::new(), ToString::to_string),
        params: shown,
    }
}
