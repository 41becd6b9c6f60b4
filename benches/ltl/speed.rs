//! Speed of a propositional monitor in memory.

use invigil_benches::{Random, best_of, print_table};
use invigil_ltl::formula::Proposition;
use invigil_ltl::moore::Truth;
use invigil_ltl::table::TransitionTable;
use invigil_ltl::{Atom, Budget, Logic};
use std::hint::black_box;

/// Formulae that stay undecided on the letters below, so that every letter is a step.
const FORMULAE: &[&str] = &[
    "G(request -> X(!request W grant))",
    "G(open & !close -> (!write W (close | lock)))",
    "G(a -> F<=20 b)",
    "G(p1 | p2 | p3 | p4 | p5 | p6 | p7 | p8 | p9 | p10 | p11 | p12 | q)",
];

pub(crate) fn run(letters: usize) {
    let head = ["monitor", "states", "tool", "M events/s"];
    let mut table = vec![head.map(String::from).to_vec()];
    for text in FORMULAE {
        match row(text, letters) {
            Ok(rows) => table.extend(rows),
            Err(error) => println!("{text}: {error}"),
        }
    }
    println!("steps of a monitor over {letters} letters in memory, one core (required: 100 M/s)");
    print_table(&table);
    println!();
}

fn row(text: &str, letters: usize) -> Result<Vec<Vec<String>>, String> {
    let mut logic = Logic::new(Budget::default());
    let formula = logic.parse(text).map_err(|mistake| mistake.to_string())?;
    let machine = logic.monitor(formula).map_err(|error| error.to_string())?;
    let atoms: Vec<Atom> = logic.formulae.atoms().map(|(atom, _)| atom).collect();
    let table = TransitionTable::new(&logic.labels, &machine, &atoms).map_err(|error| error.to_string())?;
    let word = undecided(&table, &atoms, letters);
    let (time, end) = best_of(3, || {
        let mut state = table.start();
        let found = table.run(&mut state, black_box(&word));
        (state, found)
    });
    if end.1.is_some() {
        return Err("decided too early: unexpected letters".into());
    }
    let rate = |seconds: f64| format!("{:.0}", letters as f64 / seconds / 1e6);
    let mut rows = vec![vec![
        text.to_string(),
        table.states().to_string(),
        "table".into(),
        rate(time.wall.as_secs_f64()),
    ]];
    // Hand-written monitor for the first formula.
    let named = |name: &str| {
        let wanted = Proposition::Name(name.into());
        logic.formulae.atoms().position(|(_, proposition)| *proposition == wanted)
    };
    if let (Some(request), Some(grant)) = (named("request"), named("grant")) {
        let (time, waits) = best_of(3, || by_hand(black_box(&word), request, grant));
        black_box(waits);
        rows.push(vec![String::new(), String::new(), "by hand".into(), rate(time.wall.as_secs_f64())]);
    }
    Ok(rows)
}

/// Random letters that keep the monitor undecided.
fn undecided(table: &TransitionTable<Truth>, atoms: &[Atom], letters: usize) -> Vec<u64> {
    let (mut random, mut state) = (Random::new(17), table.start());
    let all = if atoms.len() == 64 { u64::MAX } else { (1 << atoms.len()) - 1 };
    (0..letters)
        .map(|_| {
            for _ in 0..10_000 {
                let letter = random.number() & all;
                let next = table.step(state, letter);
                if table.output(next) == Truth::Unknown {
                    state = next;
                    return letter;
                }
            }
            0
        })
        .collect()
}

/// `G(request -> X(!request W grant))` as a loop. None if violated, otherwise whether a grant is pending.
fn by_hand(word: &[u64], request: usize, grant: usize) -> Option<bool> {
    let mut waits = false;
    for letter in word {
        let (requested, granted) = (letter >> request & 1 == 1, letter >> grant & 1 == 1);
        if waits && requested && !granted {
            return None;
        }
        waits = requested || waits && !granted;
    }
    Some(waits)
}
