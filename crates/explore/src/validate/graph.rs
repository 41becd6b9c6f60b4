//! The last records with the configurations between them.

use super::observation::Observation;
use super::tracker::{Set, Tracker};
use super::why::happening;
use indexmap::IndexMap;
use invigil_model::State;
use invigil_semantics::{Describe, Fields};
use std::fmt::Write as _;
use std::rc::Rc;

/// No picture is read that has more configurations.
const MOST_NODES: usize = 500;

/// How the configurations in which the model can be follow each other, over the last records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Between which records: what each says, in order. The last is the one that was lost, or empty.
    pub records: Vec<String>,
    /// Whether the last record was lost.
    pub is_lost: bool,
    /// The configurations, by layers.
    pub nodes: Vec<Node>,
    /// The steps between them.
    pub edges: Vec<Edge>,
    /// Whether there are more configurations than are shown.
    pub is_cut: bool,
}

/// A configuration at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Before which of the records.
    pub layer: usize,
    /// The configuration.
    pub config: Fields,
    /// Whether it leads to a configuration of the last layer.
    pub survives: bool,
}

/// A step from one configuration to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Where from, by its position among the nodes.
    pub from: usize,
    /// Where to.
    pub to: usize,
    /// By what; none if a record leaves the model where it is.
    pub action: Option<String>,
    /// Whether it is not in the log.
    pub is_hidden: bool,
}

impl Graph {
    /// `sets` are the configurations before each record, `says` what the records between them say.
    pub(crate) fn draw(
        tracker: &mut Tracker<'_>,
        sets: &[(Set, String)],
        says: &[Rc<Observation>],
        is_lost: bool,
        longest: Option<u32>,
    ) -> Graph {
        let mut graph = Graph { is_lost, ..Graph::default() };
        graph.records = sets.iter().map(|(_, words)| words.clone()).collect();
        let mut numbers: IndexMap<(usize, u32), ()> = IndexMap::new();
        // Layers from the last one backwards: that is where people look.
        for (layer, (set, _)) in sets.iter().enumerate().rev() {
            let closed = tracker.closure(set, longest, MOST_NODES).unwrap_or_else(|_| Rc::clone(set));
            for config in closed.iter() {
                if numbers.len() < MOST_NODES {
                    numbers.insert((layer, *config), ());
                } else {
                    graph.is_cut = true;
                }
            }
        }
        for (layer, config) in numbers.keys() {
            let config = tracker.model.describe_config(&State::sound(tracker.words(*config)));
            graph.nodes.push(Node { layer: *layer, config, survives: false });
        }
        for (from, (layer, config)) in numbers.keys().enumerate() {
            let says = says.get(*layer);
            for (action, target) in &*tracker.steps(*config) {
                let (model, words) = (tracker.model, |config| tracker.words(config));
                let is_told = says.is_some_and(|says| {
                    let at = says.candidates.binary_search_by_key(action, |candidate| candidate.action);
                    at.is_ok_and(|at| says.candidates[at].holds(model, words(*config), words(*target)))
                });
                let name = || Some(happening(model, *action, words(*config), words(*target)));
                if is_told && let Some(to) = numbers.get_index_of(&(layer + 1, *target)) {
                    graph.edges.push(Edge { from, to, action: name(), is_hidden: false });
                }
                if tracker.is_hidden(*action)
                    && target != config
                    && let Some(to) = numbers.get_index_of(&(*layer, *target))
                {
                    graph.edges.push(Edge { from, to, action: name(), is_hidden: true });
                }
            }
            let stays = says.and_then(|says| says.stay.as_ref()).is_some_and(|demands| {
                let words = tracker.words(*config);
                demands.iter().all(|demand| demand.holds(tracker.model, words, words))
            });
            if stays && let Some(to) = numbers.get_index_of(&(layer + 1, *config)) {
                graph.edges.push(Edge { from, to, action: None, is_hidden: false });
            }
        }
        graph.mark_survivors(sets.len() - 1);
        graph
    }

    /// Marks what leads to the last layer.
    fn mark_survivors(&mut self, last: usize) {
        let mut into: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for edge in &self.edges {
            into[edge.to].push(edge.from);
        }
        let mut open: Vec<usize> =
            (0..self.nodes.len()).filter(|node| self.nodes[*node].layer == last).collect();
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut self.nodes[node].survives, true) {
                open.extend(&into[node]);
            }
        }
    }

    /// The graph for Graphviz. Configurations that lead nowhere are grey, steps that are not in the log dashed.
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
        if self.is_lost {
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

/// A text as Graphviz reads it.
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
