//! How the formulae of Chiron are split: by counting propositions, as choreography does, and by what it costs (`spec::split`).

use invigil_decent::algorithm::{Choice, Prepared};
use invigil_decent::encoding::States;
use invigil_decent::simulate::{Conditions, Trace};
use invigil_decent::spec::split::{Goal, split};
use invigil_decent::system::System;
use invigil_lab::experiment::Listed;
use invigil_lab::periphery::Folder;
use invigil_ltl::moore::Truth;
use invigil_ltl::syntax::Tree;
use invigil_ltl::{Budget, Logic};
use std::path::Path;
use std::process::Command;

/// What runs come to: their verdicts, and the means of delay and messages.
#[derive(Debug)]
struct Ran {
    verdicts: Vec<Truth>,
    delay: f64,
    messages: f64,
}

fn run(prepared: &Prepared<States>, system: &System, traces: &[Trace]) -> Ran {
    let mut ran = Ran { verdicts: Vec::new(), delay: 0.0, messages: 0.0 };
    let share = 1.0 / traces.len() as f64;
    let done = prepared.run(system, Conditions::default(), traces, |outcome, figures| {
        ran.verdicts.push(outcome.verdict);
        ran.delay += share * figures.average_delay;
        ran.messages += share * figures.messages_per_round();
    });
    done.unwrap();
    ran
}

#[test]
fn a_split_by_cost_does_not_wait() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/chiron");
    let made = tempfile::tempdir().unwrap();
    let [program, runs] = ["chiron", "runs"].map(|name| made.path().join(name));
    let compiled = Command::new("cc").arg("-o").arg(&program).arg(example.join("chiron.c")).status();
    assert!(compiled.unwrap().success());
    assert!(Command::new(&program).arg(&runs).arg("100").status().unwrap().success());
    let folder = Folder::open(&runs).unwrap();
    let traces: Vec<Trace> = (0..folder.runs).map(|run| Trace::of(&folder.run(run).unwrap())).collect();
    let system = &folder.system;
    let list = std::fs::read_to_string(example.join("specs.txt")).unwrap();
    for one in Listed::read(&list) {
        let by = |choice: Choice| {
            let mut logic = Logic::new(Budget::default());
            let formula = logic.parse(&one.formula).unwrap();
            run(&Prepared::new(choice, &mut logic, formula, system).unwrap(), system, &traces)
        };
        let counted = by(Choice::Choreography);
        let tree = Tree::parse(&one.formula).unwrap();
        for goal in [Goal::Messages, Goal::Delay] {
            let split = split(&tree, system, goal, Budget::default()).unwrap();
            let weighed = run(&Prepared::network(&split.network).unwrap(), system, &traces);
            println!(
                "{} for little {goal:?}: delay {:.2}, {:.2} messages; by counting {:.2}, {:.2}",
                one.name, weighed.delay, weighed.messages, counted.delay, counted.messages
            );
            assert_eq!(weighed.verdicts, counted.verdicts, "{}", one.name);
            assert!(weighed.delay < 3.0, "{}: {weighed:?}", one.name);
            if goal == Goal::Messages {
                // At the end, one more may be told that it is not needed any more.
                assert!(
                    weighed.messages <= counted.messages + 0.05,
                    "{}: {weighed:?}, {counted:?}",
                    one.name
                );
            }
        }
    }
}
