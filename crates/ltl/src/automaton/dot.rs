//! Automata in the DOT language of Graphviz.

use super::notation::Notation;
use super::{Automaton, Marks};
use crate::formula::Atom;
use crate::{Logic, TooLarge, syntax};
use std::fmt::Write;

/// Colours of acceptance sets; repeated if there are more sets.
const COLOURS: [&str; 8] =
    ["#1f78b4", "#e31a1c", "#33a02c", "#ff7f00", "#6a3d9a", "#b15928", "#c51b7d", "#636363"];

impl Automaton {
    /// Formats the automaton in the DOT language. Marks are circled numbers, coloured by set. A state-based Büchi automaton
    /// has double circles instead.
    ///
    /// # Errors
    /// Fails if a label has too many products.
    pub fn to_dot(&self, logic: &Logic, name: Option<&str>) -> Result<String, TooLarge> {
        let atom = |atom: Atom| syntax::atom(logic.formulae.proposition(atom));
        let notation = Notation { top: "true", bottom: "false", and: " & ", or: " | ", atom: &atom };
        let is_state_based = self.is_state_based();
        let is_buchi = is_state_based && self.sets == 1;
        let title = name.map(|name| format!("  label=<{}>\n  labelloc=\"t\"\n", escaped(name)));
        let mut text = format!(
            "digraph automaton {{\n  rankdir=LR\n{}  node [shape=\"circle\"]\n  I [label=\"\", style=invis, width=0]\n  \
             I -> {}\n",
            title.unwrap_or_default(),
            self.initial
        );
        for (state, edges) in self.edges.iter().enumerate() {
            let of_state = edges.first().filter(|_| is_state_based).map_or(0, |edge| edge.marks);
            let shape = if is_buchi && of_state != 0 { ", peripheries=2" } else { "" };
            let of_state = if is_buchi { String::new() } else { marks("<br/>", of_state) };
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "  {state} [label=<{state}{of_state}>{shape}]");
            for edge in edges {
                let label = escaped(&notation.format(&logic.labels, &edge.label)?);
                let of_edge = if is_state_based { String::new() } else { marks("<br/>", edge.marks) };
                let _ = writeln!(text, "  {state} -> {} [label=<{label}{of_edge}>]", edge.target);
            }
        }
        text.push_str("}\n");
        Ok(text)
    }
}

/// Formats marks, after `prefix` if there are any.
fn marks(prefix: &str, marks: Marks) -> String {
    let mut text = String::new();
    for set in (0..Marks::BITS).filter(|set| marks >> set & 1 == 1) {
        let colour = COLOURS[set as usize % COLOURS.len()];
        let _ = write!(text, "<font color=\"{colour}\">{}</font>", circled(set));
    }
    if text.is_empty() { text } else { format!("{prefix}{text}") }
}

/// Returns a number in a filled circle, or in parentheses if Unicode has no such character.
fn circled(number: u32) -> String {
    let symbol = match number {
        0 => Some('⓿'),
        1..=10 => char::from_u32('❶' as u32 + number - 1),
        11..=20 => char::from_u32('⓫' as u32 + number - 11),
        _ => None,
    };
    symbol.map_or_else(|| format!("({number})"), String::from)
}

/// Escapes a text for an HTML-like label.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("<br/>"),
            // Graphviz rejects control characters.
            c if c.is_control() => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    out
}
