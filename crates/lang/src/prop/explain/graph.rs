//! The property as a graph, with short labels on its edges.

use super::{BranchInfo, Explanation, GuardInfo, TransitionInfo};
use crate::prop::picture::{BranchKind, Edge, Graph, Node, NodeClass};
use invigil_monitor::verdict::Verdict;

/// The longest line of a label, in characters.
const WIDTH: usize = 40;

impl Explanation {
    /// Returns the graph: all states, and all branches that can be taken.
    pub fn graph(&self) -> Graph {
        let position = |name: &str| self.states.iter().position(|state| state.name == name);
        let mut graph = Graph::default();
        for (from, state) in self.states.iter().enumerate() {
            let class = match state.verdict {
                Verdict::Accepting => NodeClass::Accepting,
                Verdict::NonAccepting | Verdict::Error => NodeClass::NonAccepting,
                Verdict::Undecided => NodeClass::Neutral,
            };
            graph.nodes.push(Node {
                is_initial: state.is_initial,
                is_final: state.is_final,
                note: state.action.iter().cloned().collect(),
                ..Node::new(&state.name, class)
            });
            for transition in state.transitions.iter().filter(|transition| transition.is_live) {
                for branch in [BranchKind::Success, BranchKind::Failure] {
                    let Some(info) = transition.live_branch(branch) else { continue };
                    let label = transition.label(branch);
                    let to = info.target.as_deref().map_or(Some(from), position);
                    graph.edges.extend(to.map(|to| Edge { from, to, label, branch }));
                    for to in info.returns.iter().filter_map(|name| position(name)) {
                        let label = transition.label_returned(branch);
                        graph.edges.push(Edge { from, to, label, branch });
                    }
                }
            }
        }
        graph
    }
}

impl GuardInfo {
    /// Returns the guard as one line: a condition without its `return`, an update as it is, a longer block by
    /// its first line.
    pub fn one_line(&self) -> String {
        let mut lines = self.text.lines().map(str::trim).filter(|line| !line.is_empty());
        let first = lines.next().unwrap_or("");
        match (lines.next(), first.strip_prefix("return ")) {
            (None, Some(condition)) => shorten(condition.trim()),
            (None, None) => shorten(first),
            (Some(_), _) => shorten(&format!("{first} …")),
        }
    }
}

impl TransitionInfo {
    /// Returns this branch of the transition if it exists and can be taken.
    pub fn live_branch(&self, branch: BranchKind) -> Option<&BranchInfo> {
        match branch {
            BranchKind::Success => self.success.as_ref(),
            BranchKind::Failure => {
                self.failure.as_ref().filter(|_| self.guard.as_ref().is_some_and(|guard| !guard.is_update))
            }
        }
    }

    /// Returns the label of a branch: the event, then the condition in brackets or the update in braces.
    pub fn label(&self, branch: BranchKind) -> Vec<String> {
        let mut lines = vec![shorten(&self.event.to_string())];
        if let Some(guard) = &self.guard {
            let condition = guard.one_line();
            lines.push(match (branch, guard.is_update) {
                (_, true) => format!("{{ {condition} }}"),
                (BranchKind::Success, false) => format!("[{condition}]"),
                (BranchKind::Failure, false) => format!("[not: {condition}]"),
            });
        }
        lines
    }

    /// Returns the label of an edge to a state that the branch's block may return.
    fn label_returned(&self, branch: BranchKind) -> Vec<String> {
        let mut lines = self.label(branch);
        lines.push("if its block returns it".into());
        lines
    }
}

/// Shortens a text to one label line.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(WIDTH - 1) {
        Some((end, last)) if end + last.len_utf8() < text.len() => format!("{}…", &text[..end]),
        _ => text.to_owned(),
    }
}
