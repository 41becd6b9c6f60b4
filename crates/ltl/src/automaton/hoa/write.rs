//! Writer of the HOA format.

use super::propositions;
use crate::automaton::notation::Notation;
use crate::automaton::{Automaton, Marks};
use crate::formula::Atom;
use crate::label::Variable;
use crate::{Logic, TooLarge};
use std::collections::BTreeSet;

impl Automaton {
    /// Formats the automaton in HOA format. Acceptance is state-based if the automaton allows it.
    ///
    /// # Errors
    /// Fails if a label has too many products.
    pub fn to_hoa(&self, logic: &Logic, name: Option<&str>) -> Result<String, TooLarge> {
        let atoms: Vec<Atom> = self.atoms(logic).into_iter().collect();
        let is_state_based = self.is_state_based();
        let mut text = format!("HOA: v1\ntool: \"invigil\" \"{}\"\n", env!("CARGO_PKG_VERSION"));
        let mut line = |line: String| {
            text.push_str(&line);
            text.push('\n');
        };
        if let Some(name) = name {
            line(format!("name: {}", quoted(name)));
        }
        line(format!("States: {}", self.states()));
        line(format!("Start: {}", self.initial));
        let names =
            atoms.iter().map(|atom| quoted(&propositions::to_text(logic.formulae.proposition(*atom))));
        line(names.fold(format!("AP: {}", atoms.len()), |line, name| line + " " + &name));
        line(match self.sets {
            0 => "acc-name: all".to_owned(),
            1 => "acc-name: Buchi".to_owned(),
            sets => format!("acc-name: generalized-Buchi {sets}"),
        });
        let condition: Vec<String> = (0..self.sets).map(|set| format!("Inf({set})")).collect();
        line(match condition[..] {
            [] => "Acceptance: 0 t".to_owned(),
            _ => format!("Acceptance: {} {}", self.sets, condition.join("&")),
        });
        line(format!("properties: {}", self.properties(logic, is_state_based)?));
        line("--BODY--".to_owned());
        let number = |atom: Atom| atoms.binary_search(&atom).unwrap_or_default().to_string();
        let notation = Notation { top: "t", bottom: "f", and: "&", or: " | ", atom: &number };
        for (state, edges) in self.edges.iter().enumerate() {
            let of_state = edges.first().filter(|_| is_state_based).map_or(0, |edge| edge.marks);
            line(format!("State: {state}{}", sets(of_state)));
            for edge in edges {
                let label = notation.format(&logic.labels, &edge.label)?;
                let of_edge = if is_state_based { 0 } else { edge.marks };
                line(format!("[{label}] {}{}", edge.target, sets(of_edge)));
            }
        }
        line("--END--".to_owned());
        Ok(text)
    }

    /// Returns the atoms that some label depends on.
    pub(in crate::automaton) fn atoms(&self, logic: &Logic) -> BTreeSet<Atom> {
        let supports = self.edges.iter().flatten().flat_map(|edge| logic.labels.support(&edge.label));
        supports
            .filter_map(|variable| match variable {
                Variable::Atom(atom) => Some(atom),
                Variable::Helper(_) => None,
            })
            .collect()
    }

    fn properties(&self, logic: &Logic, is_state_based: bool) -> Result<String, TooLarge> {
        let mut all = vec!["trans-labels", "explicit-labels", "no-univ-branch"];
        all.push(if is_state_based { "state-acc" } else { "trans-acc" });
        all.extend(self.is_complete(&logic.labels)?.then_some("complete"));
        all.extend(self.is_deterministic(&logic.labels)?.then_some("deterministic"));
        all.extend(self.is_weak().then_some("inherently-weak"));
        Ok(all.join(" "))
    }
}

/// Formats the sets of an edge or state.
fn sets(marks: Marks) -> String {
    if marks == 0 {
        return String::new();
    }
    let numbers: Vec<String> =
        (0..Marks::BITS).filter(|set| marks >> set & 1 == 1).map(|set| set.to_string()).collect();
    format!(" {{{}}}", numbers.join(" "))
}

/// Formats a string literal.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted
}
