//! Random systems, formulae and traces, and what the simulator says of them.

#![allow(dead_code, reason = "each test uses a part of it")]

use invigil_decent::algorithm::{Choice, Prepared};
use invigil_decent::encoding::States;
use invigil_decent::measure::Figures;
use invigil_decent::simulate::{Conditions, Outcome, Trace};
use invigil_decent::system::{ComponentId, System};
use invigil_ltl::{Budget, Logic};
use invigil_node::deployment::{Deployment, Source};
use invigil_node::wire::RunId;

/// Numbers that look random, the same ones for the same seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        ((mixed ^ (mixed >> 33)) >> 16) as usize % limit
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// Formulae over `a0`, `b0`, `c0`, …, of which some say something of every run.
pub(crate) const FORMULAE: [&str; 8] = [
    "G (a0 -> F b0)",
    "F (a0 & X (b0 & X c0))",
    "G (a0 -> X (b0 U !c0))",
    "(a0 U b0) | G c1",
    "G !(a0 & b1 & c0)",
    "X X X (a0 & (b0 | X c1))",
    "(F a0) & (F b0) & (F c0)",
    "a1 W (b1 & X c1)",
];

/// A system of components a, b, …, its formula, its trace, and the monitors that an algorithm makes.
pub(crate) struct Case {
    pub(crate) system: System,
    pub(crate) prepared: Prepared<States>,
    pub(crate) trace: Trace,
    pub(crate) formula: &'static str,
}

pub(crate) fn case(choice: Choice, components: usize, rounds: u32, random: &mut Random) -> Case {
    let mut system = System::default();
    for letter in ('a'..='z').take(components) {
        let component = system.component(&letter.to_string()).unwrap();
        for number in 0..2 {
            system.proposition(component, &format!("{letter}{number}")).unwrap();
        }
    }
    let formula = if components < 3 { "F (a0 & b0)" } else { FORMULAE[random.below(FORMULAE.len())] };
    let mut logic = Logic::new(Budget::default());
    let parsed = logic.parse(formula).unwrap();
    let prepared = Prepared::new(choice, &mut logic, parsed, &system).unwrap();
    let percent = [10, 50, 90][random.below(3)];
    let trace = Trace::whole(&system, rounds, |_, _| random.chance(percent));
    Case { system, prepared, trace, formula }
}

impl Case {
    /// What the simulator finds when messages take one round.
    pub(crate) fn simulated(&self) -> (Outcome, Figures) {
        let mut found = None;
        let each = |outcome, figures| found = Some((outcome, figures));
        self.prepared.run(&self.system, Conditions::default(), [&self.trace], each).unwrap();
        found.unwrap()
    }

    /// The trace of a component as text.
    pub(crate) fn text(&self, component: ComponentId) -> String {
        let own: Vec<_> =
            self.system.propositions().filter(|known| self.system.owner(*known) == component).collect();
        let line = |at| {
            let value = |known| if self.trace.value(known, at) == Some(true) { 't' } else { 'f' };
            let seen: Vec<String> =
                own.iter().map(|known| format!("{}:{}", self.system.name(*known), value(*known))).collect();
            seen.join(",") + "\n"
        };
        (1..=self.trace.rounds()).map(line).collect()
    }

    /// What each node is given to do.
    pub(crate) fn plan(&self, home: impl Fn(&str) -> String) -> Vec<Deployment> {
        let source = |component| Source::Sent(self.text(component));
        Deployment::plan(RunId(1), &self.system, &self.prepared, |name| Some(home(name)), source, 5).unwrap()
    }
}

/// Everything is well until the last round, in which everything goes wrong.
pub(crate) fn late(choice: Choice, components: usize, rounds: u32) -> Case {
    let mut case = case(choice, components, 1, &mut Random(0));
    case.formula = if components == 2 { "G (a0 & b0)" } else { "G (a0 & b0 & c0)" };
    let mut logic = Logic::new(Budget::default());
    let formula = logic.parse(case.formula).unwrap();
    case.prepared = Prepared::new(choice, &mut logic, formula, &case.system).unwrap();
    case.trace = Trace::whole(&case.system, rounds, |_, at| at < rounds);
    case
}
