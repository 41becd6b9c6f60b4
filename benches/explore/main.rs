//! How fast every configuration of a model is found, beside SPIN's compiled verifier and Stateright.
//!
//! ```console
//! $ cargo bench -p invigil-benches --bench explore            # all models, with the peers that are installed
//! $ cargo bench -p invigil-benches --bench explore -- quick   # the small ones
//! $ cargo bench -p invigil-benches --bench explore -- ours    # without peers
//! ```

mod beem;
mod ours;
mod sketch;
mod spin;
mod stateright;

use invigil_benches::{Time, print_machine, print_table, timed};
use ours::Found;
use sketch::Sketch;

/// Millions of states per second, one thread, that a loop written by hand for the model alone reached on a machine of
/// this kind: what the memory allows. None where it was not measured.
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

/// What is asked: so many times the peers, so many bytes for a state, so many times as fast on two cores.
const TIMES: f64 = 4.0;
const BYTES: f64 = 60.0;
const CORES: f64 = 1.7;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == ours::ALONE) {
        let name = arguments.get(at + 1).map_or("", String::as_str);
        let sketch =
            sketch::all().into_iter().find(|sketch| sketch.name == name).expect("there is such a model");
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
            "of what memory allows",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    let mut short = Vec::new();
    // Ours first, all of them: what a peer gives back to the system takes the system a while to have again, and whoever
    // runs next waits for it.
    let found: Vec<Found> = sketches.iter().map(|sketch| search(sketch, &mut short)).collect();
    for (sketch, found) in sketches.iter().zip(&found) {
        rows.push(row(sketch, found, alone, &mut short));
        eprintln!("{}", rows[rows.len() - 1].join("  "));
    }
    println!("Full state space, exact; millions of states per second of processor time on one core\n");
    print_table(&rows);
    println!("\n`two cores` is the time on the wall of one thread by that of two, the first round left out.");
    match short.is_empty() {
        true => println!("all that is asked is met"),
        false => short.iter().for_each(|line| println!("short: {line}")),
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
            short.push(format!("{name}: by {who} {} states, and there are {}", ours.states, sketch.states));
        }
    }
    let bytes = best.language.bytes as f64 / sketch.states as f64;
    if bytes > BYTES {
        short.push(format!("{name}: {bytes:.0} bytes a state, {BYTES} asked"));
    }
    if best.speedup < CORES {
        short.push(format!(
            "{name}: two cores are {:.2} times one, {CORES} asked; two searches that share nothing get {:.2} of this machine",
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
            // SPIN counts the configurations of its start, too.
            if states.abs_diff(sketch.states) > 4 {
                println!("{name}: {who} found {states} states, and there are {}", sketch.states);
            }
            let theirs = rate(states, &time);
            if least / theirs < TIMES {
                short.push(format!("{name}: {:.1} times {who}, {TIMES} asked", least / theirs));
            }
            [format!("{theirs:.2}"), format!("{:.1}×", least / theirs)]
        }
    };
    let folder = if alone { None } else { tempfile::tempdir().ok() };
    let spin = folder.and_then(|folder| match spin::run(&sketch.promela(), folder.path()) {
        Ok(found) => Some((found.states, found.time)),
        Err(words) => {
            println!("{name}: SPIN is left out: {}", words.lines().next().unwrap_or_default());
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
