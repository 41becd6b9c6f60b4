//! Chiron: the six specifications on traces of the example program, with all algorithms.

use crate::common::Folder;
use crate::examples::copy;
use std::collections::{BTreeMap, BTreeSet};

/// The example, with the program compiled and runs made.
fn ran(arguments: &str) -> Folder {
    let folder = copy("chiron");
    folder.shell(&format!("cc -o chiron chiron.c && ./chiron runs {arguments}")).exits(0);
    folder
}

/// One row of the measurements: the specification and the value of each column.
type Row = (String, BTreeMap<String, String>);

fn measured(folder: &Folder, options: &str) -> Vec<Row> {
    let line = format!("decent experiment formulae specs.txt --traces runs --csv measures.csv {options}");
    folder.run(&line).exits(0);
    let specs = folder.read("specs.txt");
    let name = |formula: &str| {
        let line = specs.lines().find(|line| line.ends_with(&format!(" = {formula}"))).expect("a spec");
        line.split(' ').next().expect("a name").to_owned()
    };
    let text = folder.read("measures.csv");
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let row = |line: &str| {
        let cells = header.iter().zip(line.split(','));
        let cells: BTreeMap<String, String> =
            cells.map(|(name, cell)| ((*name).to_owned(), cell.to_owned())).collect();
        (name(&cells["formula"]), cells)
    };
    lines.map(row).collect()
}

#[test]
fn all_algorithms_reach_expected_verdicts() {
    let rows = measured(&ran("20"), "");
    assert_eq!(rows.len(), 20 * 6 * 6);
    for (spec, row) in &rows {
        let expected = if ["3", "15b"].contains(&spec.as_str()) { "true" } else { "unknown" };
        assert_eq!(row["verdict"], expected, "{spec}: {row:?}");
    }
}

#[test]
fn every_specification_can_be_violated() {
    for (mistake, specs) in [
        ("twice", &["1"][..]),
        ("hasty", &["2"]),
        ("early", &["3", "5"]),
        ("ghost", &["5"]),
        ("forgetful", &["15a", "15b"]),
    ] {
        let rows = measured(&ran(&format!("3 1 {mistake}")), "");
        for algorithm in
            ["orchestration", "migration", "round-robin", "choreography", "broadcast", "abridged"]
        {
            let violated =
                rows.iter().filter(|(_, row)| row["alg"] == algorithm && row["verdict"] == "false");
            let violated: BTreeSet<&str> = violated.map(|(spec, _)| spec.as_str()).collect();
            assert_eq!(violated, specs.iter().copied().collect(), "{mistake}, {algorithm}");
        }
    }
}

/// The abridged algorithm does not wait for undecided parts as choreography does, and sends no more messages.
#[test]
fn abridged_algorithm_has_no_delay_of_choreography() {
    let rows = measured(&ran("20"), "-a choreography,abridged");
    let mean = |spec: &str, algorithm: &str, column: &str| {
        let of = rows.iter().filter(|(name, row)| name == spec && row["alg"] == algorithm);
        let values: Vec<f64> = of.map(|(_, row)| row[column].parse().expect("a number")).collect();
        assert_eq!(values.len(), 20);
        values.iter().sum::<f64>() / values.len() as f64
    };
    for spec in ["1", "2", "3", "5", "15a", "15b"] {
        let delay = ["choreography", "abridged"].map(|algorithm| mean(spec, algorithm, "average_delay"));
        let messages = ["choreography", "abridged"].map(|algorithm| mean(spec, algorithm, "messages"));
        println!("{spec}: delay {delay:?}, messages {messages:?}");
        assert!(messages[1] <= messages[0], "{spec}: {messages:?}");
        assert!(delay[1] <= 1.0, "{spec}: {delay:?}");
        match spec {
            "2" | "15b" => assert!(delay[0] > 50.0, "{spec}: {delay:?}"),
            _ => assert!(delay[0] < 5.0, "{spec}: {delay:?}"),
        }
    }
}

#[test]
fn published_figures_are_printed_next_to_measured() {
    let folder = ran("2");
    let line = "decent experiment formulae specs.txt --traces runs --beside";
    let reported = folder.run(&format!("{line} thesis.csv -a choreography,abridged")).exits(0);
    let row = reported.stdout.lines().find(|line| line.starts_with("15b") && line.contains("choreography"));
    let cells: Vec<&str> = row.expect("a row").split_whitespace().collect();
    assert_eq!((cells.len(), cells[2], cells[4], cells[6]), (8, "116.52", "2.00", "18.00"), "{reported:?}");
    let row = reported.stdout.lines().find(|line| line.starts_with("15b") && line.contains("abridged"));
    assert!(row.is_some_and(|row| row.split_whitespace().nth(2) == Some("-")), "{reported:?}");
    let folder = folder.file("wrong.csv", "spec,algorithm,delay\n1,choreography,long\n");
    let wrong = folder.run(&format!("{line} wrong.csv")).exits(2);
    assert!(wrong.stderr.contains("wrong.csv: line 2: `long` is not a number"), "{wrong:?}");
}

#[test]
fn broadcast_is_skipped_with_expressions() {
    let rows = measured(&ran("1"), "-a broadcast,abridged -e states,expressions");
    let count = |algorithm: &str, encoding: &str| {
        rows.iter().filter(|(_, row)| row["alg"] == algorithm && row["encoding"] == encoding).count()
    };
    assert_eq!([count("broadcast", "states"), count("broadcast", "expressions")], [6, 0]);
    assert_eq!([count("abridged", "states"), count("abridged", "expressions")], [6, 6]);
}
