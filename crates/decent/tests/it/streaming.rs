//! Reporting monitors: they agree with the reference semantics for every instant and use little memory.

use crate::specification_common::{network, random_formula, random_trace, specification, system};
use invigil_decent::algorithm::hierarchy::{HierarchyMonitor, VerdictMessage, setup_reporting};
use invigil_decent::algorithm::{Monitor, Outbox};
use invigil_decent::encoding::{Encoding, Expressions, States};
use invigil_decent::network::Network;
use invigil_decent::simulate::{Conditions, Hooks, Simulator, Trace};
use invigil_decent::spec::reference::verdicts;
use invigil_decent::system::{ComponentId, Instant, MonitorId, PropositionId, System};
use invigil_ltl::moore::Truth;
use invigil_test_support::Rng;

/// Verdicts of each monitor, and the peak of stored values.
struct Heard {
    said: Vec<Vec<(Instant, bool)>>,
    kept: Vec<usize>,
}

impl<E: Encoding> Hooks<HierarchyMonitor<E>> for Heard {
    fn after_monitor_step(
        &mut self,
        id: MonitorId,
        _: ComponentId,
        monitor: &HierarchyMonitor<E>,
        out: &Outbox<VerdictMessage>,
    ) {
        self.said[id.index()].extend(&out.instant_verdicts);
        let kept = &mut self.kept[id.index()];
        *kept = monitor.stored_values().max(*kept);
    }
}

fn hear<E: Encoding>(
    system: &System,
    network: &Network,
    trace: &[Vec<(PropositionId, bool)>],
    conditions: Conditions,
) -> Heard {
    let all: Vec<MonitorId> = (0..network.monitors.len() as u32).map(MonitorId).collect();
    let placed = setup_reporting::<E>(network, &all).unwrap();
    let mut seen = Trace::new(system);
    for round in trace {
        let own = |at: ComponentId| -> Vec<_> {
            round.iter().copied().filter(|(known, _)| system.owner(*known) == at).collect()
        };
        let parts: Vec<Vec<_>> = system.components().map(own).collect();
        seen.push(parts.iter().map(Vec::as_slice));
    }
    let mut heard = Heard { said: vec![Vec::new(); all.len()], kept: vec![0; all.len()] };
    Simulator::new(system, &placed, conditions).run(&mut seen.replay(), &mut heard).unwrap();
    heard
}

/// Each monitor reports the known verdicts in order, up to the first unknown one.
fn agrees<E: Encoding>(seed: u64, cases: usize, length: usize) {
    let cases = invigil_test_support::cases(cases);
    let random = Rng::new(seed);
    let system = system("one: a b, two: c");
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    for case in 0..cases {
        let below = random_formula(&random, &names(&["a", "b"]), 2, case % 3 > 0);
        let beside = random_formula(&random, &names(&["c", "@below"]), 2, case % 3 > 1);
        let above = random_formula(&random, &names(&["a", "@below", "@beside"]), 2, case % 2 > 0);
        let written = [("above", "one", &*above), ("below", "one", &*below), ("beside", "two", &*beside)];
        let network = network(&specification(system.clone(), &written));
        let trace = random_trace(&random, &system, length);
        // Formulae with bounded lookahead are decided for all but the last instants.
        let least = if case % 6 == 5 { length - 12 } else { 0 };
        let expected = verdicts(&network, &trace);
        let jitter = Conditions {
            jitter: 2,
            shuffle: true,
            duplication: 0.2,
            seed,
            grace: 20,
            ..Conditions::default()
        };
        for conditions in [Conditions { grace: 20, ..Conditions::default() }, jitter] {
            let heard = hear::<E>(&system, &network, &trace, conditions);
            for (id, said) in (0..).map(MonitorId).zip(&heard.said) {
                let known = (1..).map(|at| (at, expected.of(id, at)));
                let known: Vec<(Instant, bool)> = known
                    .take_while(|(_, truth)| *truth != Truth::Unknown)
                    .map(|(at, truth)| (at, truth == Truth::True))
                    .collect();
                let words = format!("{} of {written:?}", network.monitor(id).name);
                // At the end of the trace, a missing verdict for one instant delays those for later instants.
                let reported = if network.references(id).is_empty() { known.len() } else { said.len() };
                assert_eq!(said.get(..), known.get(..reported), "{words}");
                assert!(said.len() >= least, "{words}: {}", said.len());
            }
        }
    }
}

#[test]
fn reporting_monitors_agree_with_reference_semantics() {
    agrees::<States>(5, 400, 60);
    agrees::<Expressions>(6, 60, 20);
}

/// A property that holds forever has no verdict and needs no memory; when it fails, it has failed from every instant
/// on.
#[test]
fn long_undecided_runs_use_bounded_memory() {
    let system = system("door: open, lamp: lit");
    let written = [
        ("well", "lamp", "@follows"),
        ("follows", "door", "G(open -> X(@bright U !open))"),
        ("bright", "lamp", "lit"),
    ];
    let network = network(&specification(system.clone(), &written));
    let [open, lit] = ["open", "lit"].map(|name| system.find_proposition(name).unwrap());
    let mut trace: Vec<Vec<_>> =
        (0..20_000).map(|at| vec![(open, at % 100 < 50), (lit, at % 100 < 50)]).collect();
    trace[15_020][1].1 = false;
    let heard = hear::<States>(&system, &network, &trace, Conditions::default());
    let follows = &heard.said[1];
    assert_eq!((follows.len(), follows.iter().filter(|(_, holds)| *holds).count()), (15_020, 0));
    assert_eq!(heard.said[0].len(), 15_020);
    assert_eq!(heard.said[2].len(), 20_000);
    // Little is stored before the violation; then all verdicts are in transit at the same time.
    let before = hear::<States>(&system, &network, &trace[..15_000], Conditions::default());
    assert!(before.said[1].is_empty() && before.kept.iter().all(|kept| *kept < 50), "{:?}", before.kept);
}
