//! Draws automata: as DOT for Graphviz, and as SVG without external programs.
//!
//! Hand-written because `layout-rs` panics on some automata, and `rust-sugiyama` took a hundred times as long.
//!
//! ```
//! use invigil_lang::prop::picture::{NodeClass, Edge, BranchKind, Graph, Node};
//!
//! let mut graph = Graph::default();
//! graph.nodes.push(Node { is_initial: true, ..Node::new("init", NodeClass::Accepting) });
//! graph.nodes.push(Node::new("sink", NodeClass::NonAccepting));
//! graph.edges.push(Edge { from: 0, to: 1, label: vec!["queue_pop(queue)".into()], branch: BranchKind::Failure });
//! assert!(graph.to_dot().contains("\"init\" -> \"sink\""));
//! assert!(graph.to_svg().contains("data-state=\"sink\""));
//! ```

mod dot;
mod layout;
mod measure;
mod rank;
mod svg;

use std::collections::HashMap;

/// The parts of an automaton that are drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The states.
    pub nodes: Vec<Node>,
    /// The transitions. Edges whose source or target does not exist are ignored.
    pub edges: Vec<Edge>,
}

/// A state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The name.
    pub name: String,
    /// Its class, which determines the colour.
    pub class: NodeClass,
    /// Whether it is the initial state.
    pub is_initial: bool,
    /// Whether it is a final state.
    pub is_final: bool,
    /// Lines shown under the name, such as the state's call.
    pub note: Vec<String>,
}

impl Node {
    /// A state that is neither initial nor final, without a note.
    pub fn new(name: impl Into<String>, class: NodeClass) -> Node {
        Node { name: name.into(), class, is_initial: false, is_final: false, note: Vec::new() }
    }
}

/// The class of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeClass {
    /// The property holds in this state.
    Accepting,
    /// The property is violated in this state.
    NonAccepting,
    /// Neither.
    Neutral,
}

impl NodeClass {
    /// The CSS class.
    fn css_class(self) -> &'static str {
        match self {
            NodeClass::Accepting => "accepting",
            NodeClass::NonAccepting => "non-accepting",
            NodeClass::Neutral => "neutral",
        }
    }
}

/// An edge from one state to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The index of its source.
    pub from: usize,
    /// The index of its target.
    pub to: usize,
    /// The lines of its label.
    pub label: Vec<String>,
    /// The branch of the transition.
    pub branch: BranchKind,
}

/// The branch of a transition that an edge represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchKind {
    /// The guard was true.
    Success,
    /// The guard was false.
    Failure,
}

impl BranchKind {
    /// The CSS class.
    fn css_class(self) -> &'static str {
        match self {
            BranchKind::Success => "success",
            BranchKind::Failure => "failure",
        }
    }
}

impl Graph {
    /// Renders the automaton in DOT.
    pub fn to_dot(&self) -> String {
        dot::dot(self)
    }

    /// Renders the automaton as a self-contained SVG, including its style sheet.
    ///
    /// Each state is a `<g class="state accepting" data-state="NAME">` and each edge a
    /// `<g class="edge success" data-from="NAME" data-to="NAME">`, so that a page can find them. A state with
    /// the additional class `current` is highlighted.
    pub fn to_svg(&self) -> String {
        svg::svg(self)
    }

    /// The edges to draw. Edges between the same states with the same branch are merged, and those with an invalid
    /// index are dropped.
    fn merged(&self) -> Vec<Edge> {
        let mut merged: Vec<(Edge, Vec<&[String]>)> = Vec::new();
        let mut places = HashMap::new();
        for edge in self.edges.iter().filter(|e| e.from < self.nodes.len() && e.to < self.nodes.len()) {
            let key = (edge.from, edge.to, edge.branch == BranchKind::Failure);
            let at = *places.entry(key).or_insert(merged.len());
            match merged.get_mut(at) {
                Some((_, labels)) if labels.contains(&edge.label.as_slice()) => {}
                Some((_, labels)) => labels.push(&edge.label),
                None => merged.push((edge.clone(), vec![&edge.label])),
            }
        }
        // An empty line separates the labels.
        let join =
            |(edge, labels): (Edge, Vec<&[String]>)| Edge { label: labels.join(&String::new()), ..edge };
        merged.into_iter().map(join).collect()
    }
}
