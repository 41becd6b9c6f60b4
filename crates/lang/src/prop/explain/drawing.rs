//! The picture of a property, and the few words that stand beside its edges.

use super::{EndUse, Explanation, GuardUse, TransitionUse};
use crate::prop::picture::{Class, Edge, Ending, Graph, Node};
use invigil_monitor::verdict::Verdict;

/// The longest line of a label, in characters.
const WIDTH: usize = 40;

impl Explanation {
    /// A picture: every state, and every end of a transition that can be taken.
    pub fn graph(&self) -> Graph {
        let position = |name: &str| self.states.iter().position(|state| state.name == name);
        let mut graph = Graph::default();
        for (from, state) in self.states.iter().enumerate() {
            let class = match state.verdict {
                Verdict::Accepting => Class::Accepting,
                Verdict::NonAccepting | Verdict::Error => Class::NonAccepting,
                Verdict::Undecided => Class::Neutral,
            };
            graph.nodes.push(Node {
                is_initial: state.is_initial,
                is_final: state.is_final,
                note: state.action.iter().cloned().collect(),
                ..Node::new(&state.name, class)
            });
            for transition in state.transitions.iter().filter(|transition| transition.is_live) {
                for ending in [Ending::Success, Ending::Failure] {
                    let Some(end) = transition.live_end(ending) else { continue };
                    let label = transition.label(ending);
                    let to = end.target.as_deref().map_or(Some(from), position);
                    graph.edges.extend(to.map(|to| Edge { from, to, label, ending }));
                    for to in end.returns.iter().filter_map(|name| position(name)) {
                        let label = transition.label_returned(ending);
                        graph.edges.push(Edge { from, to, label, ending });
                    }
                }
            }
        }
        graph
    }
}

impl GuardUse {
    /// The guard in a line: a condition without its `return`, an update as it is, a longer block by its
    /// first line.
    pub fn short(&self) -> String {
        let mut lines = self.text.lines().map(str::trim).filter(|line| !line.is_empty());
        let first = lines.next().unwrap_or("");
        match (lines.next(), first.strip_prefix("return ")) {
            (None, Some(condition)) => shorten(condition.trim()),
            (None, None) => shorten(first),
            (Some(_), _) => shorten(&format!("{first} …")),
        }
    }
}

impl TransitionUse {
    /// This end of the transition, if it is there and the guard lets it be taken.
    pub fn live_end(&self, ending: Ending) -> Option<&EndUse> {
        match ending {
            Ending::Success => self.success.as_ref(),
            Ending::Failure => {
                self.failure.as_ref().filter(|_| self.guard.as_ref().is_some_and(|guard| !guard.is_update))
            }
        }
    }

    /// What to write beside an end: the event, and the condition in brackets or the update in braces.
    pub fn label(&self, ending: Ending) -> Vec<String> {
        let mut lines = vec![shorten(&self.event.to_string())];
        if let Some(guard) = &self.guard {
            let short = guard.short();
            lines.push(match (ending, guard.is_update) {
                (_, true) => format!("{{ {short} }}"),
                (Ending::Success, false) => format!("[{short}]"),
                (Ending::Failure, false) => format!("[not: {short}]"),
            });
        }
        lines
    }

    /// The same beside the way to a state that an end's block may return.
    fn label_returned(&self, ending: Ending) -> Vec<String> {
        let mut lines = self.label(ending);
        lines.push("if its block says so".into());
        lines
    }
}

/// The text as far as it fits into a line.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(WIDTH - 1) {
        Some((end, last)) if end + last.len_utf8() < text.len() => format!("{}…", &text[..end]),
        _ => text.to_owned(),
    }
}
