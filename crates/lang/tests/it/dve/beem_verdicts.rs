//! The published verdicts on the properties of the BEEM models, by interpretation, with counterexamples that replay.
//!
//! `INVIGIL_STATES` is the maximum number of states of an instance; the default is small. If the models are missing
//! (`INVIGIL_SHARED`, or `../shared` beside the project), nothing is tested.

use crate::dve::common::load_text;
use invigil_explore::cycles::find_accepting_cycle;
use invigil_explore::product::Product;
use invigil_explore::{
    IDLE, Limits, Path as Execution, StateSpace, Successors, interpreted_model, label_evaluator,
};
use invigil_lang::dve::Options;
use invigil_lang::model::{ClaimBody, ModelFile};
use invigil_test_support::tools;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

fn models() -> Option<PathBuf> {
    let models = tools::shared().join("models");
    if models.is_dir() {
        return Some(models);
    }
    println!("skipped: there are no models in {}", models.display());
    None
}

/// The property files with their verdicts, if known.
fn verdicts(models: &Path, limit: u64) -> Vec<(String, bool)> {
    let table = fs::read_to_string(models.join("beem.csv")).expect("the table");
    let mut found = Vec::new();
    for row in table.lines().skip(1).map(|row| row.split(',').collect::<Vec<&str>>()) {
        if row[2].parse().is_ok_and(|states: u64| states > limit) {
            continue;
        }
        for verdict in row[10].split(';').filter(|verdict| !verdict.is_empty()) {
            let (number, answer) = verdict.split_once('=').expect("a number and a verdict");
            let holds = match answer.split('/').next() {
                Some("yes") => true,
                Some("no") => false,
                _ => continue,
            };
            found.push((format!("{}.{}.prop{number}.dve", row[0], row[1]), holds));
        }
    }
    found
}

/// Whether a lasso is an execution of the space with edges of every acceptance set in its cycle.
fn replays(space: &impl StateSpace, path: &Execution) -> bool {
    let width = space.width();
    let mut out = Successors::default();
    space.initial(&mut out);
    assert!(out.words.chunks(width).any(|state| *state == *path.states[0]));
    let (to, by) = path.loop_back.expect("it comes round");
    let mut all = 0;
    for (at, action) in path.actions.iter().copied().chain([by.unwrap_or(IDLE)]).enumerate() {
        let target = path.states.get(at + 1).unwrap_or(&path.states[to]);
        out.clear();
        space.successors(&path.states[at], &mut out);
        let steps = out.words.chunks(width).zip(&out.transitions).zip(&out.marks);
        let taken: Vec<u64> = steps
            .filter(|((words, taken), _)| **words == **target && taken.action == action)
            .map(|(_, marks)| *marks)
            .collect();
        assert!(!taken.is_empty(), "step {at} is none");
        if at >= to {
            all = taken.into_iter().fold(all, |all, marks| all | marks);
        }
    }
    (0..space.acceptance_set_count()).all(|set| all >> set & 1 == 1)
}

/// Whether the claim in a file holds.
fn holds(ModelFile { model, claims, .. }: &ModelFile) -> bool {
    let omega = claims.iter().find_map(|claim| match &claim.body {
        ClaimBody::Never(omega) => Some(omega),
        ClaimBody::Always(_) => None,
    });
    let reading = label_evaluator::InterpretedLabels { model, omega: omega.expect("a property process") };
    let product =
        Product::new(interpreted_model::InterpretedModel::new(model, vec![]), reading, model.layout().spare)
            .unwrap();
    let result = find_accepting_cycle(&product, &Limits::default(), &());
    match &result.path {
        Some(path) => {
            assert!(replays(&product, path));
            false
        }
        None => {
            assert_eq!(result.incomplete, None);
            true
        }
    }
}

#[test]
fn verdicts_match_beem() {
    let Some(models) = models() else { return };
    let limit: u64 = std::env::var("INVIGIL_STATES").map_or(40_000, |text| text.parse().expect("a number"));
    let all = verdicts(&models, limit);
    assert!(!all.is_empty());
    let (next, wrong) = (Mutex::new(all.iter()), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let Some((file, wanted)) = next.lock().unwrap().next() else { return };
            let text = fs::read_to_string(models.join("beem").join(file)).expect("the model");
            let found = holds(&load_text(&text, Options::default()));
            if found != *wanted {
                wrong.lock().unwrap().push(format!("{file}: holds is {found}, published is {wanted}"));
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    println!("{} properties, {} of them hold", all.len(), all.iter().filter(|(_, holds)| *holds).count());
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}
