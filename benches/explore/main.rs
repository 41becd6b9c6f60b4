//! Speed of exhaustive exploration, compared with SPIN's compiled verifier and Stateright.
//!
//! ```console
//! $ cargo bench --manifest-path benches/Cargo.toml --bench explore            # all models, with the peers that are installed
//! $ cargo bench --manifest-path benches/Cargo.toml --bench explore -- quick   # small models only
//! $ cargo bench --manifest-path benches/Cargo.toml --bench explore -- ours    # without peers
//! ```

mod beem;
mod ours;
mod sketch;
mod spin;
mod stateright;

use invigil_benches::{Time, print_machine, print_table, timed};
use ours::Found;
use sketch::Sketch;

/// Millions of states per second that a hand-written search for the model reached on one thread of a similar machine: the
/// bound of the memory system. None if not measured.
fn by_hand(name: &str) -> Option<f64> {
    match name {
        "peterson.4" => Some(9.4),
        "at.4" => Some(7.5),
        "bakery.5" => Some(8.6),
        "phils.6" => Some(3.7),
        "anderson.6" => Some(6.6),
        _ => None,
    }
}

/// Requirements: factor over the peers, bytes per state, speed-up on two cores.
const MIN_FACTOR: f64 = 4.0;
const MAX_BYTES: f64 = 60.0;
const MIN_SPEEDUP: f64 = 1.7;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == ours::EXPLORE_ARGUMENT) {
        let name = arguments.get(at + 1).map_or("", String::as_str);
        let sketch = sketch::all().into_iter().find(|sketch| sketch.name == name).expect("a known model");
        return ours::search_alone(&sketch, arguments.get(at + 2).map_or("", String::as_str));
    }
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    let (quick, alone) = (has("quick"), has("ours"));
    print_machine();
    let sketches: Vec<Sketch> =
        sketch::all().into_iter().filter(|sketch| !quick || sketch.states < 8_000_000).collect();
    let mut rows = vec![
        [
            "model",
            "states",
            "language",
            "DVE",
            "bytes/state",
            "two cores",
            "SPIN",
            "ratio",
            "Stateright",
            "ratio",
            "of memory bound",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    let mut short = Vec::new();
    // All of ours first: after a peer has exited, the system needs time to reclaim its memory, which would slow down the
    // next run.
    let found: Vec<Found> = sketches.iter().map(|sketch| search(sketch, &mut short)).collect();
    for (sketch, found) in sketches.iter().zip(&found) {
        rows.push(row(sketch, found, alone, &mut short));
        eprintln!("{}", rows[rows.len() - 1].join("  "));
    }
    println!("Full state space, exact; millions of states per second of processor time on one core\n");
    print_table(&rows);
    println!(
        "\n`two cores` is the wall-clock time of one thread divided by that of two, without the first round."
    );
    match short.is_empty() {
        true => println!("all requirements are met"),
        false => short.iter().for_each(|line| println!("not met: {line}")),
    }
    if !quick {
        beem::run();
    }
}

fn search(sketch: &Sketch, short: &mut Vec<String>) -> Found {
    let name = sketch.name;
    let best = ours::search(sketch);
    for (who, ours) in [("DVE", &best.dve), ("the language", &best.language)] {
        if ours.states != sketch.states {
            short.push(format!("{name}: {who} found {} states, expected {}", ours.states, sketch.states));
        }
    }
    let bytes = best.language.bytes as f64 / sketch.states as f64;
    if bytes > MAX_BYTES {
        short.push(format!("{name}: {bytes:.0} bytes per state, {MAX_BYTES} required"));
    }
    if best.speedup < MIN_SPEEDUP {
        short.push(format!(
            "{name}: speed-up {:.2} on two cores, {MIN_SPEEDUP} required; two independent searches reach {:.2} on this machine",
            best.speedup, best.machine
        ));
    }
    eprintln!(
        "{name}: two cores are {:.2} times one (two that share nothing: {:.2})",
        best.speedup, best.machine
    );
    best
}

fn row(sketch: &Sketch, found: &Found, alone: bool, short: &mut Vec<String>) -> Vec<String> {
    let name = sketch.name;
    let rate = |states: u64, time: &Time| states as f64 / time.cpu.as_secs_f64() / 1e6;
    let ours = rate(sketch.states, &found.language.time);
    let ours_dve = rate(sketch.states, &found.dve.time);
    let bytes = found.language.bytes as f64 / sketch.states as f64;
    let least = ours.min(ours_dve);
    let mut peer = |who: &str, found: Option<(u64, Time)>| match found {
        None => ["–".to_owned(), "–".to_owned()],
        Some((states, time)) => {
            // SPIN also counts the configurations of its initialisation.
            if states.abs_diff(sketch.states) > 4 {
                println!("{name}: {who} found {states} states, expected {}", sketch.states);
            }
            let theirs = rate(states, &time);
            if least / theirs < MIN_FACTOR {
                short.push(format!("{name}: {:.1} times {who}, {MIN_FACTOR} required", least / theirs));
            }
            [format!("{theirs:.2}"), format!("{:.1}×", least / theirs)]
        }
    };
    let folder = if alone { None } else { tempfile::tempdir().ok() };
    let spin = folder.and_then(|folder| match spin::run(&sketch.promela(), folder.path()) {
        Ok(found) => Some((found.states, found.time)),
        Err(error) => {
            println!("{name}: SPIN skipped: {}", error.lines().next().unwrap_or_default());
            None
        }
    });
    let stateright =
        (!alone).then(|| timed(|| stateright::states(name))).map(|(time, states)| (states, time));
    let (spin, stateright) = (peer("SPIN", spin), peer("Stateright", stateright));
    let of_memory = by_hand(name).map_or("–".to_owned(), |best| format!("{:.0} %", ours / best * 100.0));
    let mut row =
        vec![name.to_owned(), sketch.states.to_string(), format!("{ours:.2}"), format!("{ours_dve:.2}")];
    row.extend([format!("{bytes:.0}"), format!("{:.2}×", found.speedup)]);
    row.extend(spin.into_iter().chain(stateright).chain([of_memory]));
    row
}
