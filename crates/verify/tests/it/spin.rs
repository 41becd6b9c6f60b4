//! Compares verdicts with those of SPIN on the same models written in both languages, and replays the counterexamples.
//!
//! `tests/spin` has each model twice. The formulae stand in ours; their atoms are predicates there and macros in the
//! other. Where `spin` or `gcc` is missing, nothing is compared.

use invigil_explore::Path as Execution;
use invigil_expr::diag::SourceId;
use invigil_lang::model::{ClaimBody, load};
use invigil_ltl::formula::Proposition;
use invigil_ltl::word::{Lasso, Letter};
use invigil_ltl::{Budget, Logic};
use invigil_model::{Model, Step};
use invigil_monitor::event::EventCatalog;
use invigil_test_support::tools;
use invigil_verify::{Claim, ClaimKind, ClaimResult, ExecutionEnd, ExecutionTrace, VerifyTask, verify};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The results for a model.
struct Known {
    states: u64,
    transitions: u64,
    /// For each formula, whether it holds.
    verdicts: Vec<(String, bool)>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spin")
}

/// The named formulae of a model.
fn formulae(text: &str) -> Vec<(&str, &str)> {
    let formulae = text.lines().filter_map(|line| line.strip_prefix("ltl "));
    formulae.map(|formula| formula.split_once(": ").expect("a name and a formula")).collect()
}

/// The results of Invigil, with and without reduction.
fn ours(name: &str, text: &str, reduces: bool) -> Known {
    let (loaded, diagnostics) = load(SourceId(0), text);
    let loaded = loaded.unwrap_or_else(|| panic!("{name}: {diagnostics:?}"));
    let catalog = EventCatalog::default();
    let claims = loaded.claims.iter().map(|claim| Claim {
        name: claim.name.clone(),
        kind: match &claim.body {
            ClaimBody::Never(omega) => ClaimKind::Never(omega),
            ClaimBody::Always(expression) => ClaimKind::Always(expression),
        },
    });
    let task = VerifyTask {
        claims: claims.collect(),
        deadlocks: false,
        exhaustive: true,
        reduce: reduces,
        ..VerifyTask::new(&loaded.model, &catalog)
    };
    let found = verify(&task, &());
    assert!(!found.is_inconclusive(), "{name}: everything is looked at");
    let formulae = formulae(text);
    assert_eq!(formulae.len(), found.verdicts.len());
    let verdicts = found.verdicts.iter().zip(formulae).map(|(verdict, (of, formula))| {
        assert_eq!(verdict.name, of);
        match &verdict.result {
            ClaimResult::Holds => (of.to_owned(), true),
            ClaimResult::Violated(story) => {
                let reported = format!("{name}, {of}: {formula}\n{}", story.to_json_lines());
                let states = replay(&loaded.model, story).unwrap_or_else(|why| panic!("{why}\n{reported}"));
                assert!(!holds_on(&loaded.model, &states, &story.ending, formula), "it holds\n{reported}");
                (of.to_owned(), false)
            }
            other => panic!("{name}, {of}: {other:?}"),
        }
    });
    let verdicts = verdicts.collect();
    Known { states: found.totals.states, transitions: found.totals.transitions, verdicts }
}

/// The configurations of an execution, recomputed by interpretation.
fn replay(model: &Model, story: &ExecutionTrace) -> Result<Vec<Vec<u64>>, String> {
    let reported = |words: &[u64]| ExecutionTrace::of(model, &Execution::at(words)).steps.remove(0).state;
    let mut states: Vec<Vec<u64>> = Vec::new();
    for (at, scene) in story.steps.iter().enumerate() {
        let mut targets: Vec<Vec<u64>> = match (states.last(), &scene.action) {
            (None, None) => model.initial_states().into_iter().map(|start| start.words.to_vec()).collect(),
            (Some(source), Some(name)) => model
                .enabled(source)
                .into_iter()
                .filter(|action| model.action(*action).name == *name)
                .flat_map(|action| model.outcomes(source, action))
                .filter(|outcome| outcome.fault.is_none())
                .map(|outcome| outcome.words.to_vec())
                .collect(),
            _ => return Err(format!("scene {at} is no step")),
        };
        targets.retain(|words| reported(words) == scene.state);
        states.push(targets.pop().ok_or_else(|| format!("step {at} is none of the model"))?);
    }
    match story.ending {
        ExecutionEnd::Repeats(to) if states.last() != states.get(to) => {
            Err("it does not come round".to_owned())
        }
        ExecutionEnd::StaysInDeadlock if states.last().is_none_or(|last| !model.enabled(last).is_empty()) => {
            Err("something can happen at its end".to_owned())
        }
        ExecutionEnd::Repeats(_) | ExecutionEnd::StaysInDeadlock => Ok(states),
        _ => Err("it is not endless".to_owned()),
    }
}

/// Whether a formula holds on an infinite execution, by the definition of its operators.
fn holds_on(model: &Model, states: &[Vec<u64>], ending: &ExecutionEnd, formula: &str) -> bool {
    let mut logic = Logic::new(Budget::default());
    let formula = logic.formulae.parse(formula).expect("it was read before");
    let predicates = &model.parts().predicates;
    let atoms: Vec<_> = predicates
        .iter()
        .map(|predicate| {
            (
                logic.formulae.atom_for(Proposition::Name(predicate.name.as_str().into())),
                &predicate.expression,
            )
        })
        .collect();
    let letter = |words: &Vec<u64>| -> Letter {
        let holds = atoms.iter().filter(|(_, expression)| model.holds(expression, Step::at(words)).unwrap());
        holds.map(|(atom, _)| *atom).collect()
    };
    let mut prefix: Vec<Letter> = states.iter().map(letter).collect();
    let cycle = match ending {
        // The last configuration is where the cycle starts.
        ExecutionEnd::Repeats(to) => prefix.drain(*to..).take(states.len() - 1 - to).collect(),
        _ => prefix.drain(states.len() - 1..).collect(),
    };
    Lasso { prefix, cycle }.satisfies(&logic.formulae, formula)
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{text}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

/// The number that precedes some words in a report.
fn number(report: &str, words: &str) -> u64 {
    let line =
        report.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}: {report}"));
    let before = line.split(words).next().unwrap_or_default();
    before.split_whitespace().last().and_then(|digits| digits.parse().ok()).expect("a number")
}

/// The results of SPIN.
fn spins(name: &str, text: &str) -> Known {
    let work = tempfile::tempdir().expect("a folder");
    let at = |program: &str| {
        let mut command = Command::new(program);
        command.current_dir(work.path());
        command
    };
    let formulae = formulae(text);
    let mut promela = fs::read_to_string(folder().join(name).with_extension("pml")).expect("the twin");
    for (of, formula) in &formulae {
        promela.push_str(&format!("ltl {of} {{ {formula} }}\n"));
    }
    fs::write(work.path().join("model.pml"), promela).expect("it can be written");
    run(at("spin").args(["-a", "-o1", "-o2", "-o3", "model.pml"]));
    run(at("gcc").args(["-w", "-DNOREDUCE", "-DNOCLAIM", "-DSAFETY", "-o", "count", "pan.c"]));
    run(at("gcc").args(["-w", "-DNOREDUCE", "-DNOFAIR", "-o", "pan", "pan.c"]));
    let counted = run(at("./count").args(["-E", "-n"]));
    let verdict = |(of, _): (&str, &str)| {
        let report = run(at("./pan").args(["-a", "-n", "-N", of]));
        assert!(!report.contains("max search depth too small"), "{report}");
        let errors = report.split("errors: ").nth(1).and_then(|rest| rest.split_whitespace().next());
        (of.to_owned(), errors.expect("a verdict") == "0")
    };
    Known {
        states: number(&counted, " states, stored"),
        // SPIN also counts the arrival at the start.
        transitions: number(&counted, " transitions (= stored+matched)") - 1,
        verdicts: formulae.into_iter().map(verdict).collect(),
    }
}

#[test]
fn verdicts_agree_with_spin() {
    let can_compare = tools::is_installed("spin") && tools::is_installed("gcc");
    if !can_compare {
        println!("skipped: `spin` or `gcc` is missing; counterexamples are replayed all the same");
    }
    let mut models: Vec<PathBuf> =
        fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    models.retain(|path| path.extension().is_some_and(|ending| ending == "model"));
    models.sort();
    let (mut holding, mut failing) = (0, 0);
    for path in &models {
        let name = path.file_stem().unwrap().to_string_lossy();
        let text = fs::read_to_string(path).unwrap();
        let known = ours(&name, &text, false);
        assert_eq!(ours(&name, &text, true).verdicts, known.verdicts, "{name}: with and without reduction");
        if can_compare {
            let spins = spins(&name, &text);
            assert_eq!(known.verdicts, spins.verdicts, "{name}: here, and in SPIN");
            assert_eq!((known.states, known.transitions), (spins.states, spins.transitions), "{name}");
        }
        holding += known.verdicts.iter().filter(|(_, holds)| *holds).count();
        failing += known.verdicts.iter().filter(|(_, holds)| !*holds).count();
    }
    println!("{} models, {holding} formulae hold, {failing} do not", models.len());
    assert!(models.len() >= 6 && holding >= 10 && failing >= 10);
}
