//! Formulae from text.

use invigil_ltl::Formula;
use invigil_ltl::formula::Formulae;
use invigil_test_support::tools;

/// Parses a formula.
pub(crate) fn parse(formulae: &mut Formulae, text: &str) -> Formula {
    formulae.parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Returns the formulae of a set in `shared/models/ltl.csv`. `None` if the file does not exist.
pub(crate) fn published(set: &str) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(tools::shared().join("models/ltl.csv")).ok()?;
    let lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    Some(lines.filter(|cells| cells[0] == set).map(|cells| cells[1].to_owned()).collect())
}
