//! Random systems, formulae and traces, and the simulator's results.

use invigil_decent::algorithm::{Algorithm, MonitorSet};
use invigil_decent::encoding::States;
use invigil_decent::metrics::Metrics;
use invigil_decent::simulate::{Conditions, SimulationResult, Trace};
use invigil_decent::system::{ComponentId, System};
use invigil_ltl::{Budget, Logic};
use invigil_node::deployment::{Deployment, TraceSource};
use invigil_node::wire::RunId;
use invigil_test_support::Rng;

/// Formulae over `a0`, `b0`, `c0`, …; some reach a verdict on every trace.
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

/// System of components a, b, … with a formula, a trace and the monitors of an algorithm.
pub(crate) struct Case {
    pub(crate) system: System,
    pub(crate) prepared: MonitorSet<States>,
    pub(crate) trace: Trace,
    pub(crate) formula: &'static str,
}

pub(crate) fn case(choice: Algorithm, components: usize, rounds: u32, random: &Rng) -> Case {
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
    let prepared = MonitorSet::new(choice, &mut logic, parsed, &system).unwrap();
    let percent = [10, 50, 90][random.below(3)];
    let trace = Trace::from_fn(&system, rounds, |_, _| random.percent(percent));
    Case { system, prepared, trace, formula }
}

impl Case {
    /// Result of the simulator with a latency of one round.
    pub(crate) fn simulated(&self) -> (SimulationResult, Metrics) {
        let mut found = None;
        let each = |outcome, figures| found = Some((outcome, figures));
        self.prepared.run(&self.system, Conditions::default(), [&self.trace], each).unwrap();
        found.unwrap()
    }

    /// Returns the trace of a component as text.
    pub(crate) fn text(&self, component: ComponentId) -> String {
        let own: Vec<_> =
            self.system.propositions().filter(|known| self.system.owner(*known) == component).collect();
        let line = |at| {
            let value = |known| if self.trace.value(known, at) == Some(true) { 't' } else { 'f' };
            let seen: Vec<String> = own
                .iter()
                .map(|known| format!("{}:{}", self.system.proposition_name(*known), value(*known)))
                .collect();
            seen.join(",") + "\n"
        };
        (1..=self.trace.rounds()).map(line).collect()
    }

    /// Returns the deployment of each node.
    pub(crate) fn plan(&self, home: impl Fn(&str) -> String) -> Vec<Deployment> {
        let source = |component| TraceSource::Inline(self.text(component));
        Deployment::plan(RunId(1), &self.system, &self.prepared, |name| Some(home(name)), source, 5).unwrap()
    }
}

/// Trace whose propositions are all true until the last round, in which all are false.
pub(crate) fn late(choice: Algorithm, components: usize, rounds: u32) -> Case {
    let mut case = case(choice, components, 1, &Rng::new(0));
    case.formula = if components == 2 { "G (a0 & b0)" } else { "G (a0 & b0 & c0)" };
    let mut logic = Logic::new(Budget::default());
    let formula = logic.parse(case.formula).unwrap();
    case.prepared = MonitorSet::new(choice, &mut logic, formula, &case.system).unwrap();
    case.trace = Trace::from_fn(&case.system, rounds, |_, at| at < rounds);
    case
}
