//! Formulae by their text.
#![allow(dead_code)]

use invigil_ltl::Formula;
use invigil_ltl::formula::Formulae;

/// Reads a formula.
pub(crate) fn read(formulae: &mut Formulae, text: &str) -> Formula {
    formulae.parse(text).unwrap_or_else(|mistake| panic!("{text}: {mistake}"))
}

/// The formulae of a set of `shared/models/ltl.csv`; none if the file is not there.
pub(crate) fn published(set: &str) -> Option<Vec<String>> {
    let shared = std::env::var("INVIGIL_SHARED")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared").to_owned());
    let text = std::fs::read_to_string(format!("{shared}/models/ltl.csv")).ok()?;
    let lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    Some(lines.filter(|cells| cells[0] == set).map(|cells| cells[1].to_owned()).collect())
}
