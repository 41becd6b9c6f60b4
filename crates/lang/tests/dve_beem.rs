//! The published numbers of the BEEM models, by a plain search over the interpreted model.
//!
//! `INVIGIL_STATES` says up to how many states an instance may have; by default it is few. Where the models are not
//! there (`INVIGIL_SHARED`, or `../shared` beside the project), nothing is tested.

mod dve;

use dve::{Count, count, is_accepted, load_text};
use invigil_lang::dve::Options;
use invigil_lang::model::What;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

/// Instances in which a `byte` overflows. The published counts hold, besides the configurations that are sound, the one
/// that stands for the fault, and what the other processes do from there: that many in all.
const FAULTY: [(&str, u64); 2] = [("anderson.1", 3), ("anderson.3", 13)];

fn models() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("INVIGIL_SHARED").map_or(beside, PathBuf::from);
    let models = shared.join("models");
    if models.is_dir() {
        return Some(models);
    }
    println!("skipped: there are no models in {}", models.display());
    None
}

/// An instance as the table has it.
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
fn counts_are_the_published_ones() {
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
fn verdicts_are_the_published_ones() {
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
            let What::Never(omega) = &loaded.claims[0].what else { panic!("{name} has no property") };
            assert_eq!(!is_accepted(&loaded.model, omega), holds, "{name}");
            checked += 1;
        }
    }
    println!("{checked} verdicts");
    assert!(checked > 20);
}

#[test]
fn every_model_loads() {
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
        let claims = loaded.claims.iter().filter(|claim| matches!(claim.what, What::Never(_))).count();
        assert_eq!(claims, usize::from(has_property), "{}", path.display());
        assert_eq!(loaded.actions.len(), loaded.model.parts().actions.len());
        // The compiler relies on actions that come process by process.
        let movers: Vec<u32> =
            loaded.model.parts().actions.iter().map(|action| action.moves[0].process).collect();
        assert!(movers.is_sorted(), "{}", path.display());
    }
    assert!(files > 0);
}
