//! Sizes of automata for published sets of formulae and for families of formulae.

use crate::peers;
use invigil_benches::{print_table, timed};
use invigil_ltl::{Budget, Logic};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// A formula of a set, with the published sizes.
struct Case {
    set: String,
    text: String,
    /// Büchi states and edges of Spot, its generalised states and edges, and states of ltl2ba, if known.
    known: Option<[usize; 5]>,
}

/// Totals of a set.
#[derive(Default)]
struct Sum {
    count: usize,
    buchi: [usize; 2],
    general: [usize; 2],
    known: Option<[usize; 5]>,
    /// Processor time for all Büchi automata, and for the slowest one; the same for generalised ones.
    times: [(Duration, Duration); 2],
    /// States of `lbt` and `spin`, the number of formulae they translated, and our states for these.
    peers: [(usize, usize, usize); 2],
    losses: Vec<String>,
}

pub(crate) fn run(with_peers: bool) {
    let here = ["lbt", "spin"].map(|peer| with_peers && peers::is_installed(peer));
    for (peer, here) in ["lbt", "spin"].iter().zip(here) {
        if with_peers && !here {
            println!("{peer} is not installed, skipped\n");
        }
    }
    let mut sums: Vec<(String, Sum)> = Vec::new();
    for case in published().into_iter().chain(families()) {
        if sums.last().is_none_or(|(set, _)| *set != case.set) {
            sums.push((case.set.clone(), Sum::default()));
        }
        if let Some((_, sum)) = sums.last_mut() {
            add(sum, &case, here);
        }
    }
    let head = ["set", "formulae", "Büchi", "Spot", "ltl2ba", "generalised", "Spot", "lbt", "spin -f"];
    let mut table = vec![head.map(String::from).to_vec()];
    for (set, sum) in &sums {
        let known = |at: usize, edges: Option<usize>| {
            sum.known.map_or("-".into(), |known| match edges {
                Some(edges) => format!("{} / {}", known[at], known[edges]),
                None => known[at].to_string(),
            })
        };
        // Peers are compared on the formulae that they translate.
        let peer = |(states, done, ours): (usize, usize, usize)| match done {
            0 => "-".into(),
            _ if done == sum.count => states.to_string(),
            _ => format!("{states} on {done} (ours {ours})"),
        };
        table.push(vec![
            set.clone(),
            sum.count.to_string(),
            format!("{} / {}", sum.buchi[0], sum.buchi[1]),
            known(0, Some(1)),
            known(4, None),
            format!("{} / {}", sum.general[0], sum.general[1]),
            known(2, Some(3)),
            peer(sum.peers[0]),
            peer(sum.peers[1]),
        ]);
    }
    println!(
        "states / edges of automata, all formulae of a set together; Spot 2.12 and ltl2ba as published in the set"
    );
    print_table(&table);
    let mut table =
        vec![["set", "Büchi, ms", "slowest", "generalised, ms", "slowest"].map(String::from).to_vec()];
    let millis = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1e3);
    for (set, sum) in &sums {
        let [buchi, general] = sum.times.map(|(all, slowest)| [millis(all), millis(slowest)]);
        table.push([vec![set.clone()], buchi.to_vec(), general.to_vec()].concat());
    }
    println!("\nprocessor time (required: every Dwyer pattern under 10 ms)");
    print_table(&table);
    for (set, sum) in &sums {
        for loss in &sum.losses {
            println!("  {set}: {loss}");
        }
    }
    println!();
}

fn add(sum: &mut Sum, case: &Case, here: [bool; 2]) {
    let mut logic = Logic::new(Budget::default());
    let formula = match logic.parse(&case.text) {
        Ok(formula) => formula,
        Err(mistake) => return println!("  {}: {}: {mistake}", case.set, case.text),
    };
    let (buchi_time, buchi) = timed(|| logic.buchi(formula));
    let (general_time, general) = timed(|| logic.translate(formula));
    let (buchi, general) = match (buchi, general) {
        (Ok(buchi), Ok(general)) => (buchi, general),
        (Err(error), _) | (_, Err(error)) => return println!("  {}: {}: {error}", case.set, case.text),
    };
    sum.count += 1;
    for (sum, time) in sum.times.iter_mut().zip([buchi_time, general_time]) {
        *sum = (sum.0 + time.cpu, sum.1.max(time.cpu));
    }
    let (b, g) = ([buchi.states(), buchi.edge_count()], [general.states(), general.edge_count()]);
    for at in 0..2 {
        sum.buchi[at] += b[at];
        sum.general[at] += g[at];
    }
    if let Some(known) = case.known {
        let all = sum.known.get_or_insert_default();
        all.iter_mut().zip(known).for_each(|(all, more)| *all += more);
        if b[0] > known[0] || g[0] > known[2] {
            sum.losses.push(format!(
                "Büchi {} against {}, generalised {} against {}: {}",
                b[0], known[0], g[0], known[2], case.text
            ));
        }
    }
    let found = [
        here[0].then(|| peers::lbt(&logic.formulae, formula)).flatten(),
        here[1].then(|| peers::spin(&logic.formulae, formula)).flatten(),
    ];
    for (peer, states) in sum.peers.iter_mut().zip(found) {
        if let Some(states) = states {
            *peer = (peer.0 + states, peer.1 + 1, peer.2 + b[0]);
        }
    }
}

/// The file of published formulae, if it is available.
fn published() -> Vec<Case> {
    let folder = std::env::var_os("INVIGIL_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from);
    let Ok(text) = fs::read_to_string(folder.join("models/ltl.csv")) else {
        println!(
            "the published sets (models/ltl.csv) were not found; set INVIGIL_SHARED to their directory\n"
        );
        return Vec::new();
    };
    let case = |line: &str| {
        let mut fields = line.split(',');
        let (set, text) = (fields.next()?.to_owned(), fields.next()?.to_owned());
        let numbers: Vec<usize> = fields.filter_map(|field| field.parse().ok()).collect();
        Some(Case { set, text, known: numbers.try_into().ok() })
    };
    text.lines().skip(1).filter_map(case).collect()
}

/// Growing formulae.
fn families() -> Vec<Case> {
    let join = |count: usize, sign: &str, part: &dyn Fn(usize) -> String| {
        (1..=count).map(part).collect::<Vec<String>>().join(sign)
    };
    let mut all = Vec::new();
    let mut family = |set: &str, text: String| all.push(Case { set: set.into(), text, known: None });
    for n in 1..=5 {
        family("fairness", join(n, " & ", &|i| format!("G F p{i}")));
        family("fairness", join(n, " | ", &|i| format!("F G p{i}")));
        family("fairness", format!("({}) -> G F q", join(n, " & ", &|i| format!("G F p{i}"))));
    }
    for n in 2..=6 {
        let nested =
            |sign: &str| (1..n).rev().fold(format!("p{n}"), |inner, i| format!("p{i} {sign} ({inner})"));
        family("nested", nested("U"));
        family("nested", nested("R"));
        family("nested", (2..=n).fold("p1".into(), |inner, i| format!("({inner}) U p{i}")));
    }
    for n in 1..=3 {
        family("responses", join(n, " & ", &|i| format!("G(a{i} -> F b{i})")));
        family("responses", join(n, " & ", &|i| format!("G(a{i} -> X(b{i} U c{i}))")));
        family("responses", format!("!({})", join(n, " & ", &|i| format!("G(a{i} -> F b{i})"))));
    }
    for n in [1, 2, 4, 8] {
        family("bounded", format!("G(a -> F<={n} b)"));
        family("bounded", format!("G(a -> G<={n} b)"));
        family("bounded", format!("F(a & X[{n}] b)"));
    }
    for text in ["G(grant -> O request)", "G(close -> (!close S open))", "G(a -> O(b & Y O c))", "H a | F b"]
    {
        family("past", text.into());
    }
    all
}
