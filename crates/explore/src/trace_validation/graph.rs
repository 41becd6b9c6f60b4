//! The last records and the possible configurations between them.

use super::explanation::describe_step;
use super::observation::Observation;
use super::tracker::{ConfigSet, Tracker};
use indexmap::IndexMap;
use invigil_model::State;
use invigil_semantics::{Describe, Fields};
use std::fmt::Write as _;
use std::rc::Rc;

/// Maximum number of configurations in a graph.
const MAX_NODES: usize = 500;

/// How the possible configurations of the model follow each other over the last records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigGraph {
    /// The text of each record. The last one is the rejected record, or empty.
    pub records: Vec<String>,
    /// Whether the last record was rejected.
    pub is_rejected: bool,
    /// The configurations, by layers.
    pub nodes: Vec<GraphNode>,
    /// The steps between them.
    pub edges: Vec<GraphEdge>,
    /// Whether some configurations are omitted.
    pub is_truncated: bool,
}

/// A possible configuration at a point of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphNode {
    /// The index of the record that follows.
    pub layer: usize,
    /// The configuration.
    pub config: Fields,
    /// Whether it leads to a configuration of the last layer.
    pub survives: bool,
}

/// A step between two configurations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphEdge {
    /// The index of the source node.
    pub from: usize,
    /// The index of the target node.
    pub to: usize,
    /// The action; none if a record leaves the model unchanged.
    pub action: Option<String>,
    /// Whether the step has no record.
    pub is_hidden: bool,
}

impl ConfigGraph {
    /// `sets` are the configurations before each record, with its text; `observations` the records between them.
    pub(crate) fn build(
        tracker: &mut Tracker<'_>,
        sets: &[(ConfigSet, String)],
        observations: &[Rc<Observation>],
        is_rejected: bool,
        max_hidden_steps: Option<u32>,
    ) -> ConfigGraph {
        let mut graph = ConfigGraph { is_rejected, ..ConfigGraph::default() };
        graph.records = sets.iter().map(|(_, text)| text.clone()).collect();
        let mut numbers: IndexMap<(usize, u32), ()> = IndexMap::new();
        // The last layers come first, because they are the most interesting ones.
        for (layer, (set, _)) in sets.iter().enumerate().rev() {
            let closed = tracker.closure(set, max_hidden_steps, MAX_NODES).unwrap_or_else(|_| Rc::clone(set));
            for config in closed.iter() {
                if numbers.len() < MAX_NODES {
                    numbers.insert((layer, *config), ());
                } else {
                    graph.is_truncated = true;
                }
            }
        }
        for (layer, config) in numbers.keys() {
            let config = tracker.model.describe_config(&State::without_fault(tracker.words(*config)));
            graph.nodes.push(GraphNode { layer: *layer, config, survives: false });
        }
        for (from, (layer, config)) in numbers.keys().enumerate() {
            let observation = observations.get(*layer);
            for (action, target) in &*tracker.steps(*config) {
                let (model, words) = (tracker.model, |config| tracker.words(config));
                let is_matched = observation.is_some_and(|observation| {
                    let at =
                        observation.candidates.binary_search_by_key(action, |candidate| candidate.action);
                    at.is_ok_and(|at| observation.candidates[at].holds(model, words(*config), words(*target)))
                });
                let name = || Some(describe_step(model, *action, words(*config), words(*target)));
                if is_matched && let Some(to) = numbers.get_index_of(&(layer + 1, *target)) {
                    graph.edges.push(GraphEdge { from, to, action: name(), is_hidden: false });
                }
                if tracker.is_hidden(*action)
                    && target != config
                    && let Some(to) = numbers.get_index_of(&(*layer, *target))
                {
                    graph.edges.push(GraphEdge { from, to, action: name(), is_hidden: true });
                }
            }
            let stays =
                observation.and_then(|observation| observation.stay.as_ref()).is_some_and(|constraints| {
                    let words = tracker.words(*config);
                    constraints.iter().all(|constraint| constraint.holds(tracker.model, words, words))
                });
            if stays && let Some(to) = numbers.get_index_of(&(layer + 1, *config)) {
                graph.edges.push(GraphEdge { from, to, action: None, is_hidden: false });
            }
        }
        graph.mark_survivors(sets.len() - 1);
        graph
    }

    /// Marks the nodes that lead to the last layer.
    fn mark_survivors(&mut self, last: usize) {
        let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for edge in &self.edges {
            predecessors[edge.to].push(edge.from);
        }
        let mut open: Vec<usize> =
            (0..self.nodes.len()).filter(|node| self.nodes[*node].layer == last).collect();
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut self.nodes[node].survives, true) {
                open.extend(&predecessors[node]);
            }
        }
    }

    /// The graph in the DOT language. Configurations that lead nowhere are grey, steps without a record dashed.
    pub fn dot(&self) -> String {
        let mut out = String::from(
            "digraph validation {\n  rankdir=LR\n  node [shape=box, style=rounded, fontname=\"sans-serif\"]\n  \
             edge [fontname=\"sans-serif\"]\n",
        );
        for (layer, record) in self.records.iter().enumerate() {
            // Writing into a string cannot fail.
            let _ = writeln!(
                out,
                "  subgraph cluster_{layer} {{\n    style=dotted\n    label={}",
                quoted(record)
            );
            for (at, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.layer == layer) {
                let fields = node.config.iter().map(|field| format!("{} = {}", field.name, field.value));
                let text = fields.collect::<Vec<_>>().join("\n");
                let grey = if node.survives { "" } else { ", color=gray, fontcolor=gray" };
                let _ = writeln!(out, "    n{at} [label={}{grey}]", quoted(&text));
            }
            out.push_str("  }\n");
        }
        for edge in &self.edges {
            let label = edge.action.as_deref().unwrap_or("stays");
            let dashed = if edge.is_hidden { ", style=dashed" } else { "" };
            let _ = writeln!(out, "  n{} -> n{} [label={}{dashed}]", edge.from, edge.to, quoted(label));
        }
        if self.is_rejected {
            out.push_str("  lost [label=\"✗\", shape=plain, fontcolor=red]\n");
            let last = self.records.len() - 1;
            for at in (0..self.nodes.len()).filter(|at| self.nodes[*at].layer == last) {
                let _ = writeln!(out, "  n{at} -> lost [style=dotted, color=red]");
            }
        }
        out.push_str("}\n");
        out
    }
}

/// Quotes a text for DOT.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
