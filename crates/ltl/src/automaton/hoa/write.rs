//! Writing an automaton.

use super::propositions;
use crate::automaton::text::Notation;
use crate::automaton::{Automaton, Marks};
use crate::formula::Atom;
use crate::label::Variable;
use crate::{Logic, TooLarge};
use std::collections::BTreeSet;

impl Automaton {
    /// The automaton in the HOA format. Marks stand on states where they can.
    ///
    /// # Errors
    /// If a label is too large to be written.
    pub fn hoa(&self, logic: &Logic, name: Option<&str>) -> Result<String, TooLarge> {
        let atoms: Vec<Atom> = self.atoms(logic).into_iter().collect();
        let on_states = self.is_state_based();
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
            atoms.iter().map(|atom| quoted(&propositions::written(logic.formulae.proposition(*atom))));
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
        line(format!("properties: {}", self.properties(logic, on_states)?));
        line("--BODY--".to_owned());
        let number = |atom: Atom| atoms.binary_search(&atom).unwrap_or_default().to_string();
        let notation = Notation { yes: "t", no: "f", and: "&", or: " | ", atom: &number };
        for (state, edges) in self.edges.iter().enumerate() {
            let of_state = edges.first().filter(|_| on_states).map_or(0, |edge| edge.marks);
            line(format!("State: {state}{}", sets(of_state)));
            for edge in edges {
                let label = notation.write(&logic.labels, &edge.label)?;
                let of_edge = if on_states { 0 } else { edge.marks };
                line(format!("[{label}] {}{}", edge.target, sets(of_edge)));
            }
        }
        line("--END--".to_owned());
        Ok(text)
    }

    /// The atoms that matter to some edge.
    pub(in crate::automaton) fn atoms(&self, logic: &Logic) -> BTreeSet<Atom> {
        let supports = self.edges.iter().flatten().flat_map(|edge| logic.labels.support(&edge.label));
        supports
            .filter_map(|variable| match variable {
                Variable::Atom(atom) => Some(atom),
                Variable::Helper(_) => None,
            })
            .collect()
    }

    fn properties(&self, logic: &Logic, on_states: bool) -> Result<String, TooLarge> {
        let mut all = vec!["trans-labels", "explicit-labels", "no-univ-branch"];
        all.push(if on_states { "state-acc" } else { "trans-acc" });
        all.extend(self.is_complete(&logic.labels)?.then_some("complete"));
        all.extend(self.is_deterministic(&logic.labels)?.then_some("deterministic"));
        all.extend(self.is_weak().then_some("inherently-weak"));
        Ok(all.join(" "))
    }
}

fn sets(marks: Marks) -> String {
    if marks == 0 {
        return String::new();
    }
    let numbers: Vec<String> =
        (0..Marks::BITS).filter(|set| marks >> set & 1 == 1).map(|set| set.to_string()).collect();
    format!(" {{{}}}", numbers.join(" "))
}

/// A text in quotes.
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
