//! Long runs do not fill the memory, and topologies matter.

mod support;

use invigil_decent::algorithm::{Choice, Prepared};
use invigil_decent::encoding::{Encoding, Expressions, States};
use invigil_decent::measure::Figures;
use invigil_decent::simulate::{Conditions, Trace};
use invigil_decent::system::System;
use invigil_ltl::moore::Truth;
use support::{Random, system, written};

fn figures<E: Encoding>(choice: Choice, system: &System, text: &str, rounds: u32) -> Figures {
    let mut random = Random(9);
    // The last proposition always holds, so that nothing is ever violated.
    let last = system.propositions().last();
    let trace = Trace::whole(system, rounds, |known, _| Some(known) == last || random.chance(50));
    let (mut logic, formula, _) = written(system, text);
    let prepared = Prepared::<E>::new(choice, &mut logic, formula, system).unwrap();
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
fn memory_is_bounded_on_long_runs() {
    let system = system(3, 2);
    let text = "G ((a0 & b0 & !c0) -> X (a1 & b1 | c1))";
    for choice in Choice::ALL {
        let kept = figures::<States>(choice, &system, text, 36_000).kept;
        assert!(kept < 200.0, "{choice}: {kept}");
    }
    // The disjunction of expressions loses what is impossible, so that broadcast of them may wait for ever.
    for choice in Choice::ALL.into_iter().filter(|choice| *choice != Choice::Broadcast) {
        let kept = figures::<Expressions>(choice, &system, text, 300).kept;
        assert!(kept < 200.0, "{choice}: {kept}");
    }
}

#[test]
fn messages_go_where_there_are_links() {
    let mut system = system(4, 1);
    let all: Vec<_> = system.components().collect();
    for (from, to) in all.iter().zip(all.iter().cycle().skip(1)) {
        system.link(*from, *to);
    }
    let (mut logic, formula, _) = written(&system, "F (a0 & b0 & c0 & d0)");
    let trace = Trace::whole(&system, 20, |_, at| at == 12);
    let prepared = Prepared::<States>::new(Choice::Orchestration, &mut logic, formula, &system).unwrap();
    let refused = prepared.run(&system, Conditions::default(), [&trace], |_, _| ()).unwrap_err();
    assert_eq!(refused.to_string(), "b sends to a, but has no link to it: add one, or let others pass it on");
    let relay = Conditions { relay: true, ..Conditions::default() };
    prepared
        .run(&system, relay, [&trace], |outcome, figures| {
            // From b it is three links to a: what was seen at 12 is there at 15.
            assert_eq!((outcome.verdict, outcome.rounds), (Truth::True, 15));
            assert_eq!(figures.messages, 15.0 * (3.0 + 2.0 + 1.0));
        })
        .unwrap();
    // Round a ring nothing need be passed on.
    let robin = Choice::RoundRobin { active: 1 };
    let prepared = Prepared::<States>::new(robin, &mut logic, formula, &system).unwrap();
    prepared
        .run(&system, Conditions::default(), [&trace], |outcome, _| assert_eq!(outcome.verdict, Truth::True))
        .unwrap();
}
