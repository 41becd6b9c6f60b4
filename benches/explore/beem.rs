//! The larger published models, if they are available: the counts must be as published.

use crate::ours::{self, Ours};
use invigil_benches::print_table;
use std::path::PathBuf;

/// Larger models do not fit into the memory of a typical machine.
const MAX_STATES: u64 = 80_000_000;
/// Smaller models are covered by the tests.
const MIN_STATES: u64 = 1_000_000;
/// Published counts that include configurations after faults, and their numbers.
const COUNTED_AFTER_FAULTS: [(&str, u64); 2] = [("anderson.1", 3), ("anderson.3", 13)];

/// Explores each instance with a published count once, on two threads.
pub(crate) fn run() {
    let shared = std::env::var_os("INVIGIL_SHARED")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")), PathBuf::from);
    let folder = shared.join("models");
    let Ok(table) = std::fs::read_to_string(folder.join("beem.csv")) else {
        println!("\npublished models not found: skipped");
        return;
    };
    println!("\nPublished models with at least {MIN_STATES} states, two threads\n");
    let mut rows = vec![
        ["model", "published", "found", "seconds", "M states/s", "bytes/state"].map(str::to_owned).to_vec(),
    ];
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [model, instance, states, "yes", ..] = cells[..] else { continue };
        let (name, states) = (format!("{model}.{instance}"), states.parse::<u64>().unwrap_or(0));
        let path = folder.join("beem").join(format!("{name}.dve"));
        let (true, Ok(text)) = ((MIN_STATES..MAX_STATES).contains(&states), std::fs::read_to_string(path))
        else {
            continue;
        };
        let Ours { states: found, bytes, time } = ours::explore(&ours::dve(&text), 2);
        let odd = COUNTED_AFTER_FAULTS.iter().find(|(odd, _)| *odd == name).map_or(0, |(_, by)| *by);
        let mark = if found + odd == states { "" } else { " ≠" };
        let wall = time.wall.as_secs_f64();
        rows.push(vec![
            name,
            states.to_string(),
            format!("{found}{mark}"),
            format!("{wall:.1}"),
            format!("{:.2}", found as f64 / wall / 1e6),
            format!("{:.0}", bytes as f64 / found.max(1) as f64),
        ]);
    }
    print_table(&rows);
}
