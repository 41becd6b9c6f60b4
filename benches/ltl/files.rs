//! Speed of checking a formula on a file, compared with only reading the file.

use invigil_benches::{Random, best_of, print_table};
use invigil_check::{CheckOptions, NoopListener, check};
use invigil_expr::diag::SourceId;
use invigil_lang::ltl;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::EventCatalog;
use invigil_trace::{Input, Schema};
use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::{fs, io};

/// Formulae that stay undecided on the files below.
const STATES: &str = "ltl:G(request & !grant -> X(!reset W (grant | request)))";
const EVENTS: &str = "ltl:G(open -> X(!open W close))";

pub(crate) fn run(rows: usize) {
    let head = ["file", "formula", "read alone, M/s", "checked, M/s", "of reading"];
    let mut table = vec![head.map(String::from).to_vec()];
    let made = tempfile::tempdir().and_then(|folder| {
        let (states, events) = (folder.path().join("states.csv"), folder.path().join("events.csv"));
        fs::write(&states, table_of_states(rows))?;
        fs::write(&events, log_of_events(rows))?;
        for (what, path, formula) in
            [("table of Booleans, CSV", &states, STATES), ("log of events, CSV", &events, EVENTS)]
        {
            table.push(row(what, path, formula, rows)?);
        }
        Ok(())
    });
    if let Err(error) = made {
        return println!("cannot write the files: {error}");
    }
    println!("formulae checked from files of {rows} rows, one thread, by processor time");
    print_table(&table);
    println!();
}

fn row(what: &str, path: &Path, formula: &str, rows: usize) -> io::Result<Vec<String>> {
    let (automaton, catalog) = property(formula).ok_or_else(|| io::Error::other("the formula has errors"))?;
    let trace = invigil_trace::ReadOptions { threads: 1, ..invigil_trace::ReadOptions::default() };
    let schema = Schema::new(&catalog);
    let (reading, read) = best_of(3, || {
        let mut count = 0;
        invigil_trace::read(vec![Input::file(path)], &schema, &trace, |block| {
            count += block.batch.len();
            ControlFlow::Continue(())
        });
        count
    });
    let options = CheckOptions { trace, ..CheckOptions::default() };
    let automata = [automaton];
    let (checking, violations) = best_of(3, || {
        check(&automata, &catalog, || vec![Input::file(path)], &options, &mut NoopListener).violation_count()
    });
    if (read, violations) != (rows, 0) {
        return Err(io::Error::other(format!("{what}: {read} rows, {violations} violations")));
    }
    let rate = |time: invigil_benches::Time| rows as f64 / time.cpu.as_secs_f64() / 1e6;
    Ok(vec![
        what.into(),
        formula.into(),
        format!("{:.1}", rate(reading)),
        format!("{:.1}", rate(checking)),
        format!("{:.0} %", 100.0 * rate(checking) / rate(reading)),
    ])
}

fn property(text: &str) -> Option<(Automaton, EventCatalog)> {
    let argument = ltl::FormulaArgument::parse(text)?;
    let options = argument.options(SourceId(0), text);
    let (properties, _) = ltl::parse(SourceId(0), text, argument.formula, options);
    let mut catalog = EventCatalog::default();
    let (automaton, _) = properties.first()?.lower(&[], &mut catalog);
    Some((automaton?, catalog))
}

fn table_of_states(rows: usize) -> String {
    let (mut text, mut random) = (String::from("time,request,grant,reset\n"), Random::new(5));
    let mut waits = false;
    for row in 0..rows {
        let (request, grant) = (random.below(3) == 0, random.below(3) == 0);
        let reset = random.below(2) == 0 && !(waits && !grant && !request);
        waits = (waits || request) && !grant;
        let _ = writeln!(text, "{row},{},{},{}", u8::from(request), u8::from(grant), u8::from(reset));
    }
    text
}

fn log_of_events(rows: usize) -> String {
    let mut text = String::from("time,event\n");
    for row in 0..rows {
        let _ = writeln!(text, "{row},{}", if row % 2 == 0 { "open" } else { "close" });
    }
    text
}
