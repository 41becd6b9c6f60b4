//! The tree of universes, drawn.

use super::dialect::Dialect;
use super::journey::Journey;
use invigil_check::report::Paint;
use invigil_semantics::{Describe, Evaluate, Semantics};

/// How many steps in a row, of which there is nothing to say, are drawn as one line.
const ROW: usize = 4;

impl<S: Semantics + Evaluate + Describe, D: Dialect<S>> Journey<'_, S, D> {
    /// Draws the tree: a step below the one before, a universe of its own where one went several ways.
    pub(super) fn tree_command(&mut self, rest: &str) -> Result<String, String> {
        let is_all = match rest {
            "" => false,
            "all" => true,
            word => return Err(format!("`tree` or `tree all`, not `tree {word}`")),
        };
        if self.at.history.is_empty() {
            return Err("nothing was seen yet".to_owned());
        }
        let mut out = String::new();
        // What is still to be drawn: the place, what stands before it, and before what is below it.
        let mut open: Vec<(usize, String, String)> = Vec::new();
        self.branches(None, "", &mut open);
        while let Some((first, lead, below)) = open.pop() {
            let row = self.row(first);
            let (mut place_lead, mut at) = (lead.as_str(), 0);
            while at < row.len() {
                let plain = row[at..].iter().take_while(|place| self.is_plain(**place)).count();
                if plain > ROW && !is_all {
                    let told = self.style.paint(Paint::Faint, &format!("… {plain} steps"));
                    out.push_str(&format!("  {place_lead}{told}\n"));
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

    /// The steps in a row, from a place on to the next at which there are several ways, or none.
    fn row(&self, first: usize) -> Vec<usize> {
        let mut row = vec![first];
        let mut place = first;
        while let [only] = self.at.history.children(Some(place)) {
            row.push(*only);
            place = *only;
        }
        row
    }

    /// Puts the ways that go on from a place on the list of what is to be drawn, the first one last.
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

    /// Whether there is nothing special about a place.
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
