//! The monitor of a formula as a graph.

use crate::prop::picture::{BranchKind, Edge, Graph, Node, NodeClass};
use invigil_monitor::automaton::{Automaton, EndVerdict};
use invigil_monitor::event::{EventCatalog, STATE_EVENT};
use invigil_monitor::verdict::Verdict;

/// The maximum width of a label line, in characters.
const WIDTH: usize = 40;

/// Returns the automaton of a formula as a graph: its states and the events between them. Transitions for records
/// that name no event are omitted if there are others.
pub fn graph(automaton: &Automaton, catalog: &EventCatalog) -> Graph {
    let nodes = automaton.states.iter().enumerate().map(|(at, state)| Node {
        is_initial: at == usize::from(automaton.initial),
        note: note(state.at_end).into_iter().collect(),
        ..Node::new(&state.name, class(state.verdict))
    });
    let decl_at = |at: usize| catalog.get(automaton.transitions[at].event);
    let is_state = |at: usize| decl_at(at).is_some_and(|decl| decl.name == STATE_EVENT);
    let all = 0..automaton.transitions.len();
    let has_events = all.clone().any(|at| !is_state(at));
    let edges = all.filter(|at| !(has_events && is_state(*at))).filter_map(|at| {
        let transition = &automaton.transitions[at];
        let to = transition.success.as_ref()?.target?;
        let event = decl_at(at).map_or_else(String::new, ToString::to_string);
        let label = std::iter::once(event).chain(transition.condition.clone()).map(|line| shorten(&line));
        Some(Edge {
            from: usize::from(transition.from),
            to: usize::from(to),
            label: label.collect(),
            branch: BranchKind::Success,
        })
    });
    Graph { nodes: nodes.collect(), edges: edges.collect() }
}

/// Returns the class of a state.
pub(super) fn class(verdict: Verdict) -> NodeClass {
    match verdict {
        Verdict::Accepting => NodeClass::Accepting,
        Verdict::NonAccepting | Verdict::Error => NodeClass::NonAccepting,
        Verdict::Undecided => NodeClass::Neutral,
    }
}

/// Returns the note on a state: the result for a run that ends there.
pub(super) fn note(at_end: EndVerdict) -> Option<String> {
    match at_end {
        EndVerdict::Nothing => None,
        EndVerdict::Presumably(holds) => {
            Some(format!("presumably {}", if holds { "holds" } else { "violated" }))
        }
        EndVerdict::Decided(holds) => {
            Some(format!("at the end: {}", if holds { "holds" } else { "violated" }))
        }
    }
}

/// Shortens a text to one label line.
pub(super) fn shorten(text: &str) -> String {
    match text.char_indices().nth(WIDTH - 1) {
        Some((end, last)) if end + last.len_utf8() < text.len() => format!("{}…", &text[..end]),
        _ => text.to_owned(),
    }
}
