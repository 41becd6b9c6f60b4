//! The published numbers of the BEEM models, by a plain search over the interpreted model.
//!
//! `INVIGIL_STATES` is the maximum number of states of an instance; the default is small. If the models are missing
//! (`INVIGIL_SHARED`, or `../shared` beside the project), nothing is tested.

use crate::dve::common::{Count, count, is_accepted, load_text};
use invigil_lang::dve::Options;
use invigil_lang::model::ClaimBody;
use invigil_test_support::tools;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

/// Instances in which a `byte` overflows. Besides the fault-free configurations, the published counts include one for
/// the fault, and those that the other processes reach from there: this many in total.
const FAULTY: [(&str, u64); 2] = [("anderson.1", 3), ("anderson.3", 13)];

fn models() -> Option<PathBuf> {
    let models = tools::shared().join("models");
    if models.is_dir() {
        return Some(models);
    }
    println!("skipped: there are no models in {}", models.display());
    None
}

/// An instance in the published table.
struct Instance {
    name: String,
    states: u64,
    edges: Option<u64>,
    levels: Option<u64>,
}

fn instances(models: &Path) -> Vec<Instance> {
    let table = fs::read_to_string(models.join("beem.csv")).expect("the table");
    let rows = table.lines().skip(1).map(|row| row.split(',').collect::<Vec<&str>>());
    rows.filter(|row| row[3] == "yes")
        .map(|row| Instance {
            name: format!("{}.{}", row[0], row[1]),
            states: row[2].parse().expect("a number of states"),
            edges: row[7].parse().ok(),
            levels: row[8].parse().ok(),
        })
        .collect()
}

#[test]
fn state_counts_match_beem() {
    let Some(models) = models() else { return };
    let limit: u64 = std::env::var("INVIGIL_STATES").map_or(50_000, |text| text.parse().expect("a number"));
    let all: Vec<Instance> = instances(&models).into_iter().filter(|of| of.states <= limit).collect();
    assert!(!all.is_empty());
    let (next, wrong) = (Mutex::new(all.iter()), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let Some(instance) = next.lock().unwrap().next() else { return };
            let file = models.join("beem").join(format!("{}.dve", instance.name));
            let text = fs::read_to_string(&file).expect("the model");
            let loaded = load_text(&text, Options::default());
            let Count { states, edges, levels, faults } = count(&loaded.model);
            let faulty = FAULTY.iter().find(|(name, _)| *name == instance.name);
            let wanted = instance.states - faulty.map_or(0, |(_, states)| *states);
            let is_right = states == wanted
                && instance.edges.is_none_or(|wanted| edges == wanted)
                && instance.levels.is_none_or(|wanted| levels == wanted)
                && (faults > 0) == faulty.is_some();
            if !is_right {
                wrong.lock().unwrap().push(format!(
                    "{}: {states} states (not {wanted}), {edges} edges (not {:?}), {levels} levels (not {:?}), {faults} faults",
                    instance.name, instance.edges, instance.levels
                ));
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    println!("{} instances", all.len());
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}

#[test]
fn property_verdicts_match_beem() {
    let Some(models) = models() else { return };
    let limit: u64 = std::env::var("INVIGIL_STATES").map_or(10_000, |text| text.parse().expect("a number"));
    let table = fs::read_to_string(models.join("beem.csv")).expect("the table");
    let mut checked = 0;
    for row in table.lines().skip(1) {
        let row: Vec<&str> = row.split(',').collect();
        if row[2].parse::<u64>().expect("a number of states") > limit {
            continue;
        }
        // `2=no/15;3=yes/0`
        for verdict in row[10].split(';').filter(|verdict| !verdict.is_empty()) {
            let (number, rest) = verdict.split_once('=').expect("a property");
            let holds = match rest.split_once('/').expect("a verdict").0 {
                "yes" => true,
                "no" => false,
                _ => continue,
            };
            let name = format!("{}.{}.prop{number}.dve", row[0], row[1]);
            let Ok(text) = fs::read_to_string(models.join("beem").join(&name)) else { continue };
            let loaded = load_text(&text, Options::default());
            let ClaimBody::Never(omega) = &loaded.claims[0].body else { panic!("{name} has no property") };
            assert_eq!(!is_accepted(&loaded.model, omega), holds, "{name}");
            checked += 1;
        }
    }
    println!("{checked} verdicts");
    assert!(checked > 20);
}

#[test]
fn all_beem_models_load() {
    let Some(models) = models() else { return };
    let mut files = 0;
    for entry in fs::read_dir(models.join("beem")).expect("the models") {
        let path = entry.expect("a model").path();
        if path.extension().is_none_or(|ending| ending != "dve") {
            continue;
        }
        files += 1;
        let text = fs::read_to_string(&path).expect("text");
        let loaded = load_text(&text, Options::default());
        let has_property = path.to_string_lossy().contains(".prop");
        let claims = loaded.claims.iter().filter(|claim| matches!(claim.body, ClaimBody::Never(_))).count();
        assert_eq!(claims, usize::from(has_property), "{}", path.display());
        assert_eq!(loaded.action_spans.len(), loaded.model.parts().actions.len());
        // The compiler relies on actions being ordered by process.
        let movers: Vec<u32> =
            loaded.model.parts().actions.iter().map(|action| action.moves[0].process).collect();
        assert!(movers.is_sorted(), "{}", path.display());
    }
    assert!(files > 0);
}
