//! The picture of a monitor that reads events.

use crate::prop::picture::{Class, Edge, Ending, Graph, Node};
use invigil_monitor::automaton::{AtEnd, Automaton};
use invigil_monitor::event::{Catalog, STATE};
use invigil_monitor::verdict::Verdict;

/// The longest line of a label, in characters.
const WIDTH: usize = 40;

/// The automaton of a formula: its states, and the events that lead from one to another. What it does with
/// records that name no event is left out if there are others.
pub fn graph(automaton: &Automaton, catalog: &Catalog) -> Graph {
    let nodes = automaton.states.iter().enumerate().map(|(at, state)| Node {
        is_initial: at == usize::from(automaton.initial),
        note: note(state.at_end).into_iter().collect(),
        ..Node::new(&state.name, class(state.verdict))
    });
    let symbol = |at: usize| catalog.get(automaton.transitions[at].symbol);
    let is_state = |at: usize| symbol(at).is_some_and(|symbol| symbol.name == STATE);
    let all = 0..automaton.transitions.len();
    let has_events = all.clone().any(|at| !is_state(at));
    let edges = all.filter(|at| !(has_events && is_state(*at))).filter_map(|at| {
        let transition = &automaton.transitions[at];
        let to = transition.success.as_ref()?.target?;
        let event = symbol(at).map_or_else(String::new, ToString::to_string);
        let label = std::iter::once(event).chain(transition.condition.clone()).map(|line| shorten(&line));
        Some(Edge {
            from: usize::from(transition.from),
            to: usize::from(to),
            label: label.collect(),
            ending: Ending::Success,
        })
    });
    Graph { nodes: nodes.collect(), edges: edges.collect() }
}

/// The colour of a state.
pub(super) fn class(verdict: Verdict) -> Class {
    match verdict {
        Verdict::Accepting => Class::Accepting,
        Verdict::NonAccepting | Verdict::Error => Class::NonAccepting,
        Verdict::Undecided => Class::Neutral,
    }
}

/// What a state says of a run that ends there.
pub(super) fn note(at_end: AtEnd) -> Option<String> {
    match at_end {
        AtEnd::Nothing => None,
        AtEnd::Presumably(holds) => Some(format!("presumably {}", if holds { "holds" } else { "violated" })),
        AtEnd::Decided(holds) => Some(format!("at the end: {}", if holds { "holds" } else { "violated" })),
    }
}

/// The text as far as it fits into a line.
pub(super) fn shorten(text: &str) -> String {
    match text.char_indices().nth(WIDTH - 1) {
        Some((end, last)) if end + last.len_utf8() < text.len() => format!("{}…", &text[..end]),
        _ => text.to_owned(),
    }
}
