//! A picture of an automaton, for Graphviz.

use super::text::Notation;
use super::{Automaton, Marks};
use crate::formula::Atom;
use crate::{Logic, TooLarge, syntax};
use std::fmt::Write;

/// The colours of acceptance sets, again from the first where there are more sets.
const COLOURS: [&str; 8] =
    ["#1f78b4", "#e31a1c", "#33a02c", "#ff7f00", "#6a3d9a", "#b15928", "#c51b7d", "#636363"];

impl Automaton {
    /// The automaton in the DOT language. Marks are numbers in circles, a colour for each set. A Büchi automaton
    /// with marks on states has double circles instead.
    ///
    /// # Errors
    /// If a label is too large to be written.
    pub fn dot(&self, logic: &Logic, name: Option<&str>) -> Result<String, TooLarge> {
        let atom = |atom: Atom| syntax::atom(logic.formulae.proposition(atom));
        let notation = Notation { yes: "true", no: "false", and: " & ", or: " | ", atom: &atom };
        let on_states = self.is_state_based();
        let double = on_states && self.sets == 1;
        let title = name.map(|name| format!("  label=<{}>\n  labelloc=\"t\"\n", escaped(name)));
        let mut text = format!(
            "digraph automaton {{\n  rankdir=LR\n{}  node [shape=\"circle\"]\n  I [label=\"\", style=invis, width=0]\n  \
             I -> {}\n",
            title.unwrap_or_default(),
            self.initial
        );
        for (state, edges) in self.edges.iter().enumerate() {
            let of_state = edges.first().filter(|_| on_states).map_or(0, |edge| edge.marks);
            let shape = if double && of_state != 0 { ", peripheries=2" } else { "" };
            let of_state = if double { String::new() } else { marks("<br/>", of_state) };
            // A String never refuses to be written to.
            let _ = writeln!(text, "  {state} [label=<{state}{of_state}>{shape}]");
            for edge in edges {
                let label = escaped(&notation.write(&logic.labels, &edge.label)?);
                let of_edge = if on_states { String::new() } else { marks("<br/>", edge.marks) };
                let _ = writeln!(text, "  {state} -> {} [label=<{label}{of_edge}>]", edge.target);
            }
        }
        text.push_str("}\n");
        Ok(text)
    }
}

/// Marks, with something before them if there are any.
fn marks(before: &str, marks: Marks) -> String {
    let mut text = String::new();
    for set in (0..Marks::BITS).filter(|set| marks >> set & 1 == 1) {
        let colour = COLOURS[set as usize % COLOURS.len()];
        let _ = write!(text, "<font color=\"{colour}\">{}</font>", circled(set));
    }
    if text.is_empty() { text } else { format!("{before}{text}") }
}

/// A number in a filled circle, where there is such a sign.
fn circled(number: u32) -> String {
    let sign = match number {
        0 => Some('⓿'),
        1..=10 => char::from_u32('❶' as u32 + number - 1),
        11..=20 => char::from_u32('⓫' as u32 + number - 11),
        _ => None,
    };
    sign.map_or_else(|| format!("({number})"), String::from)
}

/// A text for a label that is like HTML.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("<br/>"),
            // Not allowed there at all.
            c if c.is_control() => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    out
}
