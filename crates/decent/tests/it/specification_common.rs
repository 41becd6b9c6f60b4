//! Helpers for tests of specifications.

use invigil_decent::network::Network;
use invigil_decent::spec::{MonitorBody, SpecDiagnostic, Specification};
use invigil_decent::system::{PropositionId, System};
use invigil_ltl::Budget;
use invigil_ltl::syntax::SyntaxTree;
use invigil_test_support::Rng;

/// Components with their propositions: `switch: s, bulb: l m`.
pub(crate) fn system(text: &str) -> System {
    let mut system = System::default();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (component, propositions) = part.split_once(':').unwrap();
        let component = system.component(component).unwrap();
        for name in propositions.split_whitespace() {
            system.proposition(component, name).unwrap();
        }
    }
    system
}

/// Monitors, the first is the root: `("m0", "switch", "G(s -> @m1)")`; an empty string for no component.
pub(crate) fn specification(system: System, monitors: &[(&str, &str, &str)]) -> Specification {
    let mut specification = Specification::new(system);
    for (name, at, formula) in monitors {
        let at = specification.system.find_component(at);
        specification.add(name, MonitorBody::Formula(SyntaxTree::parse(formula).unwrap()), at).unwrap();
    }
    specification.root = specification.monitors().next();
    specification
}

pub(crate) fn network(specification: &Specification) -> Network {
    specification.network(Budget::default()).unwrap_or_else(|problems| panic!("{problems:?}"))
}

pub(crate) fn messages(result: Result<Network, Vec<SpecDiagnostic>>) -> Vec<String> {
    result.unwrap_err().iter().map(ToString::to_string).collect()
}

/// Trace of all propositions, one letter each: `sl s. ..` for both, the first, none.
pub(crate) fn trace(system: &System, text: &str) -> Vec<Vec<(PropositionId, bool)>> {
    let instant =
        |instant: &str| system.propositions().zip(instant.chars().map(|value| value != '.')).collect();
    text.split_whitespace().map(instant).collect()
}

/// Formula over names; a bounded one looks ahead for a few instants.
pub(crate) fn random_formula(rng: &Rng, names: &[String], depth: usize, bounded: bool) -> String {
    if depth == 0 || rng.one_in(5) {
        return rng.pick(names);
    }
    let operand = || random_formula(rng, names, depth - 1, bounded);
    match rng.below(if bounded { 6 } else { 9 }) {
        0 => format!("!({})", operand()),
        1 => format!("({}) & ({})", operand(), operand()),
        2 => format!("({}) | ({})", operand(), operand()),
        3 => format!("X({})", operand()),
        4 => format!("F<=2({})", operand()),
        5 => format!("G<=1({})", operand()),
        6 => format!("F({})", operand()),
        7 => format!("G({})", operand()),
        _ => format!("({}) U ({})", operand(), operand()),
    }
}

/// Trace of all propositions.
pub(crate) fn random_trace(rng: &Rng, system: &System, length: usize) -> Vec<Vec<(PropositionId, bool)>> {
    (0..length).map(|_| system.propositions().map(|at| (at, rng.flip())).collect()).collect()
}
