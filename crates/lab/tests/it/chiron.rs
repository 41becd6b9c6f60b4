//! Splits of the Chiron formulae [EH18 §8.2.4]: by counting propositions (choreography) and by cost (`spec::split`).

use invigil_decent::algorithm::{Algorithm, MonitorSet};
use invigil_decent::encoding::States;
use invigil_decent::simulate::{Conditions, Trace};
use invigil_decent::spec::split::{Goal, split};
use invigil_decent::system::System;
use invigil_lab::experiment::NamedFormula;
use invigil_lab::inputs::TraceFolder;
use invigil_ltl::moore::Truth;
use invigil_ltl::syntax::SyntaxTree;
use invigil_ltl::{Budget, Logic};
use invigil_test_support::Program;
use std::path::Path;
use std::process::Command;

/// Verdicts of runs, and the means of delay and messages.
#[derive(Debug)]
struct Ran {
    verdicts: Vec<Truth>,
    delay: f64,
    messages: f64,
}

fn run(prepared: &MonitorSet<States>, system: &System, traces: &[Trace]) -> Ran {
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
fn split_by_cost_is_not_delayed() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/chiron");
    let source = std::fs::read_to_string(example.join("chiron.c")).unwrap();
    let program = Program::c(&source, &[]);
    let runs = program.dir().join("runs");
    assert!(Command::new(&program.path).arg(&runs).arg("100").status().unwrap().success());
    let folder = TraceFolder::open(&runs).unwrap();
    let traces: Vec<Trace> = (0..folder.runs).map(|run| Trace::from_run(&folder.run(run).unwrap())).collect();
    let system = &folder.system;
    let list = std::fs::read_to_string(example.join("specs.txt")).unwrap();
    for one in NamedFormula::read(&list) {
        let by = |choice: Algorithm| {
            let mut logic = Logic::new(Budget::default());
            let formula = logic.parse(&one.formula).unwrap();
            run(&MonitorSet::new(choice, &mut logic, formula, system).unwrap(), system, &traces)
        };
        let counted = by(Algorithm::Choreography);
        let tree = SyntaxTree::parse(&one.formula).unwrap();
        for goal in [Goal::Messages, Goal::Delay] {
            let split = split(&tree, system, goal, Budget::default()).unwrap();
            let weighed = run(&MonitorSet::network(&split.network).unwrap(), system, &traces);
            println!(
                "{} for little {goal:?}: delay {:.2}, {:.2} messages; by counting {:.2}, {:.2}",
                one.name, weighed.delay, weighed.messages, counted.delay, counted.messages
            );
            assert_eq!(weighed.verdicts, counted.verdicts, "{}", one.name);
            assert!(weighed.delay < 3.0, "{}: {weighed:?}", one.name);
            if goal == Goal::Messages {
                // One further `NotNeeded` may be sent at the end.
                assert!(
                    weighed.messages <= counted.messages + 0.05,
                    "{}: {weighed:?}, {counted:?}",
                    one.name
                );
            }
        }
    }
}
