//! Automata in DOT, the language of Graphviz.

use super::{BranchKind, Graph, NodeClass};
use std::collections::HashMap;
use std::fmt::Write as _;

pub(super) fn dot(graph: &Graph) -> String {
    let mut out = String::from(
        "digraph property {\n    rankdir = TB;\n    node [shape = box, style = rounded, fontname = \"sans-serif\"];\n    \
         edge [fontname = \"monospace\", fontsize = 10];\n",
    );
    let ids = ids(graph);
    for (node, name) in graph.nodes.iter().zip(&ids) {
        let lines: Vec<&str> = std::iter::once(&node.name).chain(&node.note).map(String::as_str).collect();
        let colour = match node.class {
            NodeClass::Accepting => "#1a7f37",
            NodeClass::NonAccepting => "#cf222e",
            NodeClass::Neutral => "#6e7781",
        };
        let outlines = if node.is_final { 2 } else { 1 };
        let label = quoted(&lines);
        // Writing to a string cannot fail.
        let _ =
            writeln!(out, "    {name} [label = {label}, color = \"{colour}\", peripheries = {outlines}];");
        if node.is_initial {
            let start = quoted(&["→", &node.name]);
            let _ = writeln!(out, "    {start} [shape = point];\n    {start} -> {name};");
        }
    }
    for edge in graph.merged() {
        let (from, to) = (&ids[edge.from], &ids[edge.to]);
        let lines: Vec<&str> = edge.label.iter().map(String::as_str).collect();
        let style = if edge.branch == BranchKind::Failure { ", style = dashed" } else { "" };
        let label = quoted(&lines);
        let _ = writeln!(out, "    {from} -> {to} [label = {label}{style}];");
    }
    out.push_str("}\n");
    out
}

/// The id of each state: its name, made unique.
fn ids(graph: &Graph) -> Vec<String> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut ids = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        let times = seen.entry(&node.name).or_insert(0);
        *times += 1;
        ids.push(if *times == 1 { quoted(&[&node.name]) } else { quoted(&[&node.name, &times.to_string()]) });
    }
    ids
}

/// The lines as one DOT string.
fn quoted(lines: &[&str]) -> String {
    let mut out = String::from("\"");
    for (at, line) in lines.iter().enumerate() {
        if at > 0 {
            out.push_str("\\n");
        }
        for c in line.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                c if c.is_control() => out.push(' '),
                c => out.push(c),
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::super::{Edge, Node};
    use super::*;

    #[test]
    fn names_and_labels_are_quoted() {
        let mut graph = Graph::default();
        graph.nodes.push(Node { is_initial: true, ..Node::new("a \"b\" \\c", NodeClass::Accepting) });
        graph.nodes.push(Node { is_final: true, ..Node::new("état", NodeClass::NonAccepting) });
        let label = vec!["x < \"3\"".to_owned(), "y".to_owned()];
        graph.edges.push(Edge { from: 0, to: 1, label, branch: BranchKind::Failure });
        graph.edges.push(Edge { from: 0, to: 9, label: vec![], branch: BranchKind::Failure });
        let dot = dot(&graph);
        assert!(
            dot.contains(r#""a \"b\" \\c" -> "état" [label = "x < \"3\"\ny", style = dashed];"#),
            "{dot}"
        );
        assert!(dot.contains("peripheries = 2") && dot.contains("\"→\\na"));
        assert_eq!(dot.matches("->").count(), 2);
    }
}
