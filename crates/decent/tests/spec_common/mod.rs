//! What the tests of specifications share.

#![allow(dead_code, reason = "each test uses a part of it")]

use invigil_decent::network::Network;
use invigil_decent::spec::{Body, Problem, Specification};
use invigil_decent::system::{PropositionId, System};
use invigil_ltl::Budget;
use invigil_ltl::syntax::Tree;

/// Components with what they observe: `switch: s, bulb: l m`.
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

/// Monitors, the first is the root: `("m0", "switch", "G(s -> @m1)")`; no component where it is empty.
pub(crate) fn specification(system: System, monitors: &[(&str, &str, &str)]) -> Specification {
    let mut specification = Specification::new(system);
    for (name, at, formula) in monitors {
        let at = specification.system.find_component(at);
        specification.add(name, Body::Formula(Tree::parse(formula).unwrap()), at).unwrap();
    }
    specification.root = specification.monitors().next();
    specification
}

pub(crate) fn network(specification: &Specification) -> Network {
    specification.network(Budget::default()).unwrap_or_else(|problems| panic!("{problems:?}"))
}

pub(crate) fn messages(result: Result<Network, Vec<Problem>>) -> Vec<String> {
    result.unwrap_err().iter().map(ToString::to_string).collect()
}

/// A trace of all propositions, one letter for each: `sl s. ..` for two that hold, the first alone, none.
pub(crate) fn trace(system: &System, text: &str) -> Vec<Vec<(PropositionId, bool)>> {
    let instant =
        |instant: &str| system.propositions().zip(instant.chars().map(|value| value != '.')).collect();
    text.split_whitespace().map(instant).collect()
}

/// Numbers by chance, but the same ones every time.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }

    pub(crate) fn of<'a>(&mut self, names: &'a [String]) -> &'a str {
        &names[self.below(names.len())]
    }

    /// A formula over names; a bounded one looks ahead for few instants only.
    pub(crate) fn formula(&mut self, names: &[String], depth: usize, bounded: bool) -> String {
        if depth == 0 || self.below(5) == 0 {
            return self.of(names).to_owned();
        }
        let one = self.formula(names, depth - 1, bounded);
        match self.below(if bounded { 6 } else { 9 }) {
            0 => format!("!({one})"),
            1 => format!("({one}) & ({})", self.formula(names, depth - 1, bounded)),
            2 => format!("({one}) | ({})", self.formula(names, depth - 1, bounded)),
            3 => format!("X({one})"),
            4 => format!("F<=2({one})"),
            5 => format!("G<=1({one})"),
            6 => format!("F({one})"),
            7 => format!("G({one})"),
            _ => format!("({one}) U ({})", self.formula(names, depth - 1, bounded)),
        }
    }

    pub(crate) fn trace(&mut self, system: &System, length: usize) -> Vec<Vec<(PropositionId, bool)>> {
        (0..length).map(|_| system.propositions().map(|at| (at, self.below(2) == 0)).collect()).collect()
    }
}
