//! Rendering of the tree of universes.

use super::model_debugger::ModelDebugger;
use super::subject_syntax::SubjectSyntax;
use invigil_check::report::Paint;
use invigil_semantics::{Describe, Evaluate, Semantics};

/// Maximum length of an unremarkable row of steps that is drawn in full.
const MAX_PLAIN_ROW: usize = 4;

impl<S: Semantics + Evaluate + Describe, D: SubjectSyntax<S>> ModelDebugger<'_, S, D> {
    /// Draws the tree: each step below its predecessor, with a branch for each alternative.
    pub(super) fn tree_command(&mut self, rest: &str) -> Result<String, String> {
        let shows_all = match rest {
            "" => false,
            "all" => true,
            word => return Err(format!("unknown argument `{word}`; usage: `tree` or `tree all`")),
        };
        if self.at.history.is_empty() {
            return Err("no configuration has been visited yet".to_owned());
        }
        let mut out = String::new();
        // Nodes still to draw, each with the prefix of its line and that of the lines below it.
        let mut pending: Vec<(usize, String, String)> = Vec::new();
        self.push_children(None, "", &mut pending);
        while let Some((first, indent, child_indent)) = pending.pop() {
            let row = self.row(first);
            let (mut node_indent, mut at) = (indent.as_str(), 0);
            while at < row.len() {
                let plain = row[at..].iter().take_while(|node| self.is_plain(**node)).count();
                if plain > MAX_PLAIN_ROW && !shows_all {
                    let text = self.style.paint(Paint::Faint, &format!("… {plain} steps"));
                    out.push_str(&format!("  {node_indent}{text}\n"));
                    at += plain;
                } else {
                    self.tree_line(row[at], node_indent, &mut out);
                    at += 1;
                }
                node_indent = &child_indent;
            }
            if let Some(last) = row.last() {
                self.push_children(Some(*last), &child_indent, &mut pending);
            }
        }
        Ok(out)
    }

    /// The row of steps from a node to the next branching node or leaf.
    fn row(&self, first: usize) -> Vec<usize> {
        let mut row = vec![first];
        let mut node = first;
        while let [only] = self.at.history.children(Some(node)) {
            row.push(*only);
            node = *only;
        }
        row
    }

    /// Pushes the children of a node on the stack of nodes to draw, in reverse order.
    fn push_children(&self, node: Option<usize>, indent: &str, pending: &mut Vec<(usize, String, String)>) {
        let children = self.at.history.children(node);
        let is_only_child = children.len() == 1;
        for (at, child) in children.iter().enumerate().rev() {
            let (mark, child_indent) = match (is_only_child, at + 1 == children.len()) {
                (true, _) => ("", ""),
                (_, true) => ("└─ ", "   "),
                (_, false) => ("├─ ", "│  "),
            };
            pending.push((*child, format!("{indent}{mark}"), format!("{indent}{child_indent}")));
        }
    }

    /// Whether a node is unremarkable: inside a row, unnamed and not the current node.
    fn is_plain(&self, node: usize) -> bool {
        let history = &self.at.history;
        let is_inside = history.parent(node).is_some_and(|parent| history.children(Some(parent)).len() == 1)
            && history.children(Some(node)).len() == 1;
        is_inside && history.at() != Some(node) && self.names_of(node).next().is_none()
    }

    fn tree_line(&self, node: usize, indent: &str, out: &mut String) {
        let is_here = self.at.history.at() == Some(node);
        let by = self.at.history.visit(node).and_then(|visit| visit.by.as_ref());
        let label = by.map_or_else(|| "start".to_owned(), |by| self.action(by));
        let number =
            self.style.paint(if is_here { Paint::Changed } else { Paint::Title }, &format!("#{node}"));
        let names: Vec<String> = self.names_of(node).map(|name| format!("  \"{name}\"")).collect();
        let mark = if is_here { '*' } else { ' ' };
        out.push_str(&format!("{mark} {indent}{number}  {label}{}\n", names.concat()));
    }
}
