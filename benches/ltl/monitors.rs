//! Monitors that other tools could not construct: the smart home, light switches in many rooms, many responses.

use invigil_benches::{print_table, resident};
use invigil_ltl::{Budget, Formula, Logic, TooLarge};
use std::time::Instant;

const HOME: &str = include_str!("home.ltl");

pub(crate) fn run() {
    let mut table = vec![head()];
    let mut logic = Logic::new(Budget::default());
    match logic.parse_file(HOME) {
        Ok(definitions) => {
            for definition in definitions {
                let name = definition.name.map_or(String::new(), |name| name.text);
                table.push(row(&mut logic, &name, definition.formula));
            }
        }
        Err(mistakes) => {
            mistakes.iter().for_each(|mistake| println!("home.ltl: {mistake}"));
        }
    }
    println!("LTL3 monitors of the smart home (thesis: none for sc_ok of 3 rooms within an hour)");
    print_table(&table);
    let mut table = vec![head()];
    for rooms in 2..=6 {
        let text = join(rooms, |i| format!("G(switch{i} -> X(light{i} U !switch{i}))"));
        table.push(measured_row(&format!("sc_ok, {rooms} rooms"), &text));
    }
    table.push(measured_row("ten responses", &join(10, |i| format!("G(a{i} -> F b{i})"))));
    table.push(measured_row("ten responses in a chain", &join(10, |i| format!("G(a{i} -> F a{})", i + 1))));
    table.push(measured_row("ten responses to one", &join(10, |i| format!("G(a -> F b{i})"))));
    table.push(measured_row("ten bounded responses", &join(10, |i| format!("G(a{i} -> F<=3 b{i})"))));
    println!("\nthe same for growing formulae");
    print_table(&table);
    println!("\nautomata of responses");
    let mut table = vec![["formula", "states", "edges", "ms", "MB"].map(String::from).to_vec()];
    for count in [2, 4, 6, 10] {
        let (before, begin) = (resident(), Instant::now());
        let mut logic = Logic::new(Budget::default());
        let text = join(count, |i| format!("G(a{i} -> F b{i})"));
        let made = logic.parse(&text).map_err(|mistake| mistake.to_string());
        let made = made.and_then(|formula| logic.translate(formula).map_err(|error| error.to_string()));
        let (states, edges) = match made {
            Ok(automaton) => (automaton.states().to_string(), automaton.edge_count().to_string()),
            Err(error) => (error, "-".into()),
        };
        let memory = resident().saturating_sub(before) >> 20;
        table.push(vec![format!("{count} responses"), states, edges, millis(begin), memory.to_string()]);
    }
    print_table(&table);
    println!();
}

fn head() -> Vec<String> {
    ["formula", "atoms", "parts", "their states", "one machine", "edges", "ms"].map(String::from).to_vec()
}

fn join(count: usize, part: impl Fn(usize) -> String) -> String {
    (1..=count).map(part).collect::<Vec<String>>().join(" & ")
}

fn measured_row(name: &str, text: &str) -> Vec<String> {
    let mut logic = Logic::new(Budget::default());
    match logic.parse(text) {
        Ok(formula) => row(&mut logic, name, formula),
        Err(mistake) => vec![name.into(), mistake.to_string()],
    }
}

/// The monitor of a formula: its independent parts, and their product if it is not too large.
fn row(logic: &mut Logic, name: &str, formula: Formula) -> Vec<String> {
    let begin = Instant::now();
    let message = |error: TooLarge| error.to_string();
    let atoms = logic
        .formulae
        .subformulae(formula)
        .iter()
        .filter(|part| matches!(logic.formulae.node(**part), invigil_ltl::formula::Node::Atom(_)))
        .count();
    let (parts, states) = match logic.composite(formula) {
        Ok(parts) => (parts.parts.len().to_string(), parts.states().to_string()),
        Err(error) => ("-".into(), message(error)),
    };
    let (whole, edges) = match logic.monitor(formula) {
        Ok(machine) => (machine.states().to_string(), machine.edge_count().to_string()),
        Err(error) => (message(error), "-".into()),
    };
    vec![name.into(), atoms.to_string(), parts, states, whole, edges, millis(begin)]
}

fn millis(begin: Instant) -> String {
    format!("{:.1}", begin.elapsed().as_secs_f64() * 1e3)
}
