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
        let is_all = match rest {
            "" => false,
            "all" => true,
            word => return Err(format!("unknown argument `{word}`; usage: `tree` or `tree all`")),
        };
        if self.at.history.is_empty() {
            return Err("no configuration has been visited yet".to_owned());
        }
        let mut out = String::new();
        // Nodes still to draw, each with the prefix of its line and that of the lines below it.
        let mut open: Vec<(usize, String, String)> = Vec::new();
        self.branches(None, "", &mut open);
        while let Some((first, lead, below)) = open.pop() {
            let row = self.row(first);
            let (mut place_lead, mut at) = (lead.as_str(), 0);
            while at < row.len() {
                let plain = row[at..].iter().take_while(|place| self.is_plain(**place)).count();
                if plain > MAX_PLAIN_ROW && !is_all {
                    let text = self.style.paint(Paint::Faint, &format!("… {plain} steps"));
                    out.push_str(&format!("  {place_lead}{text}\n"));
                    at += plain;
                } else {
                    self.tree_line(row[at], place_lead, &mut out);
                    at += 1;
                }
                place_lead = &below;
            }
            if let Some(last) = row.last() {
                self.branches(Some(*last), &below, &mut open);
            }
        }
        Ok(out)
    }

    /// The row of steps from a node to the next branching node or leaf.
    fn row(&self, first: usize) -> Vec<usize> {
        let mut row = vec![first];
        let mut place = first;
        while let [only] = self.at.history.children(Some(place)) {
            row.push(*only);
            place = *only;
        }
        row
    }

    /// Pushes the children of a node on the stack of nodes to draw, in reverse order.
    fn branches(&self, place: Option<usize>, lead: &str, open: &mut Vec<(usize, String, String)>) {
        let children = self.at.history.children(place);
        let is_one = children.len() == 1;
        for (at, child) in children.iter().enumerate().rev() {
            let (mark, below) = match (is_one, at + 1 == children.len()) {
                (true, _) => ("", ""),
                (_, true) => ("└─ ", "   "),
                (_, false) => ("├─ ", "│  "),
            };
            open.push((*child, format!("{lead}{mark}"), format!("{lead}{below}")));
        }
    }

    /// Whether a node is unremarkable: inside a row, unnamed and not the current node.
    fn is_plain(&self, place: usize) -> bool {
        let history = &self.at.history;
        let is_inside = history.parent(place).is_some_and(|parent| history.children(Some(parent)).len() == 1)
            && history.children(Some(place)).len() == 1;
        is_inside && history.at() != Some(place) && self.names_of(place).next().is_none()
    }

    fn tree_line(&self, place: usize, lead: &str, out: &mut String) {
        let is_here = self.at.history.at() == Some(place);
        let by = self.at.history.visit(place).and_then(|visit| visit.by.as_ref());
        let what = by.map_or_else(|| "start".to_owned(), |by| self.action(by));
        let number =
            self.style.paint(if is_here { Paint::Changed } else { Paint::Title }, &format!("#{place}"));
        let names: Vec<String> = self.names_of(place).map(|name| format!("  \"{name}\"")).collect();
        let mark = if is_here { '*' } else { ' ' };
        out.push_str(&format!("{mark} {lead}{number}  {what}{}\n", names.concat()));
    }
}
