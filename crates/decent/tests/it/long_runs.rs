//! Memory use of long runs, and the influence of the topology.

use crate::common::{system, written};
use invigil_decent::algorithm::{Algorithm, MonitorSet};
use invigil_decent::encoding::{Encoding, Expressions, States};
use invigil_decent::metrics::Metrics;
use invigil_decent::simulate::{Conditions, Trace};
use invigil_decent::system::System;
use invigil_ltl::moore::Truth;
use invigil_test_support::Rng;

fn figures<E: Encoding>(choice: Algorithm, system: &System, text: &str, rounds: u32) -> Metrics {
    let random = Rng::new(9);
    // The last proposition always holds, so there is no violation.
    let last = system.propositions().last();
    let trace = Trace::from_fn(system, rounds, |known, _| Some(known) == last || random.percent(50));
    let (mut logic, formula, _) = written(system, text);
    let prepared = MonitorSet::<E>::new(choice, &mut logic, formula, system).unwrap();
    let mut found = None;
    prepared
        .run(system, Conditions::default(), [&trace], |outcome, figures| {
            assert_eq!(outcome.verdict, Truth::Unknown);
            found = Some(figures);
        })
        .unwrap();
    found.unwrap()
}

#[test]
fn long_runs_use_bounded_memory() {
    let system = system(3, 2);
    let text = "G ((a0 & b0 & !c0) -> X (a1 & b1 | c1))";
    for choice in Algorithm::ALL {
        let kept = figures::<States>(choice, &system, text, 36_000).kept;
        assert!(kept < 200.0, "{choice}: {kept}");
    }
    // Merging expressions loses impossibility, so broadcast of them may wait forever.
    for choice in Algorithm::ALL.into_iter().filter(|choice| *choice != Algorithm::Broadcast) {
        let kept = figures::<Expressions>(choice, &system, text, 300).kept;
        assert!(kept < 200.0, "{choice}: {kept}");
    }
}

#[test]
fn messages_without_link_are_relayed_or_rejected() {
    let mut system = system(4, 1);
    let all: Vec<_> = system.components().collect();
    for (from, to) in all.iter().zip(all.iter().cycle().skip(1)) {
        system.link(*from, *to);
    }
    let (mut logic, formula, _) = written(&system, "F (a0 & b0 & c0 & d0)");
    let trace = Trace::from_fn(&system, 20, |_, at| at == 12);
    let prepared = MonitorSet::<States>::new(Algorithm::Orchestration, &mut logic, formula, &system).unwrap();
    let refused = prepared.run(&system, Conditions::default(), [&trace], |_, _| ()).unwrap_err();
    assert_eq!(refused.to_string(), "b sends to a, but has no link to it: add one, or allow relaying");
    let relay = Conditions { relay: true, ..Conditions::default() };
    prepared
        .run(&system, relay, [&trace], |outcome, figures| {
            // Three links from b to a: an observation at 12 arrives at 15.
            assert_eq!((outcome.verdict, outcome.rounds), (Truth::True, 15));
            assert_eq!(figures.messages, 15.0 * (3.0 + 2.0 + 1.0));
        })
        .unwrap();
    // Migration along a ring needs no relaying.
    let robin = Algorithm::RoundRobin { active: 1 };
    let prepared = MonitorSet::<States>::new(robin, &mut logic, formula, &system).unwrap();
    prepared
        .run(&system, Conditions::default(), [&trace], |outcome, _| assert_eq!(outcome.verdict, Truth::True))
        .unwrap();
}
