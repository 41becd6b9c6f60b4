//! Draws an automaton: as DOT for other tools, and as SVG without any.
//!
//! ```
//! use invigil_lang::prop::picture::{Class, Edge, Ending, Graph, Node};
//!
//! let mut graph = Graph::default();
//! graph.nodes.push(Node { is_initial: true, ..Node::new("init", Class::Accepting) });
//! graph.nodes.push(Node::new("sink", Class::NonAccepting));
//! graph.edges.push(Edge { from: 0, to: 1, label: vec!["queue_pop(queue)".into()], ending: Ending::Failure });
//! assert!(graph.to_dot().contains("\"init\" -> \"sink\""));
//! assert!(graph.to_svg().contains("data-state=\"sink\""));
//! ```

mod dot;
mod layout;
mod measure;
mod rank;
mod svg;

use std::collections::HashMap;

/// An automaton as far as a picture shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The states.
    pub nodes: Vec<Node>,
    /// The transitions. One that leads from or to a node that is not there is left out.
    pub edges: Vec<Edge>,
}

/// A state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it is called.
    pub name: String,
    /// Whether it is good or bad to be there.
    pub class: Class,
    /// Whether the automaton starts there.
    pub is_initial: bool,
    /// Whether it ends there.
    pub is_final: bool,
    /// Lines to show under the name, such as the call that the state makes.
    pub note: Vec<String>,
}

impl Node {
    /// A state that is neither initial nor final, without a note.
    pub fn new(name: impl Into<String>, class: Class) -> Node {
        Node { name: name.into(), class, is_initial: false, is_final: false, note: Vec::new() }
    }
}

/// Whether it is good or bad to be in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The property holds so far.
    Accepting,
    /// The property is violated.
    NonAccepting,
    /// The property does not say.
    Neutral,
}

impl Class {
    /// The name of the class in style sheets.
    fn word(self) -> &'static str {
        match self {
            Class::Accepting => "accepting",
            Class::NonAccepting => "non-accepting",
            Class::Neutral => "neutral",
        }
    }
}

/// A way from one state to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The position of the state it leaves.
    pub from: usize,
    /// The position of the state it reaches.
    pub to: usize,
    /// What to write beside it, line by line.
    pub label: Vec<String>,
    /// Which end of the transition it is.
    pub ending: Ending,
}

/// Which end of a transition an edge is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The condition was true.
    Success,
    /// The condition was false.
    Failure,
}

impl Ending {
    /// The name of the ending in style sheets.
    fn word(self) -> &'static str {
        match self {
            Ending::Success => "success",
            Ending::Failure => "failure",
        }
    }
}

impl Graph {
    /// The automaton in the language of Graphviz.
    pub fn to_dot(&self) -> String {
        dot::dot(self)
    }

    /// The automaton as a picture of its own, with its style.
    ///
    /// Each state is a `<g class="state accepting" data-state="NAME">` and each edge a
    /// `<g class="edge success" data-from="NAME" data-to="NAME">`, so that a page can find them; a state that
    /// gets the class `current` is drawn as such.
    pub fn to_svg(&self) -> String {
        svg::svg(self)
    }

    /// The edges to draw: those between the same two states with the same ending are one, with all their
    /// labels, and those that lead nowhere are left out.
    fn merged(&self) -> Vec<Edge> {
        let mut merged: Vec<(Edge, Vec<&[String]>)> = Vec::new();
        let mut places = HashMap::new();
        for edge in self.edges.iter().filter(|e| e.from < self.nodes.len() && e.to < self.nodes.len()) {
            let key = (edge.from, edge.to, edge.ending == Ending::Failure);
            let at = *places.entry(key).or_insert(merged.len());
            match merged.get_mut(at) {
                Some((_, labels)) if labels.contains(&edge.label.as_slice()) => {}
                Some((_, labels)) => labels.push(&edge.label),
                None => merged.push((edge.clone(), vec![&edge.label])),
            }
        }
        // An empty line sets the labels apart.
        let join =
            |(edge, labels): (Edge, Vec<&[String]>)| Edge { label: labels.join(&String::new()), ..edge };
        merged.into_iter().map(join).collect()
    }
}
