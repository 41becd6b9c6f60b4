//! The server in JavaScript of `docs/remote.md`.

mod common;

use common::root;
use invigil_explore::{Search, breadth};
use invigil_remote::{Address, Explored, Options, Remote};
use std::process::Command;

#[test]
fn a_frog_ends_in_the_water() {
    if Command::new("node").arg("--version").output().is_err() {
        eprintln!("skipped: there is no node");
        return;
    }
    let page = std::fs::read_to_string(root().join("docs/remote.md")).unwrap();
    let server = page.split("```javascript\n").nth(1).unwrap().split("```\n").next().unwrap();
    let frog = Remote::start(&Address::command(["node", "-e", server]), Options::default()).unwrap();
    assert_eq!(frog.name(), "frog");
    let report = breadth(&Explored::new(&frog, Vec::new()), &Search::default(), &());
    assert_eq!((report.totals.states, report.totals.transitions, report.totals.deadlocks), (3, 4, 1));
    let last = frog.numbered(report.found[0].path.states[1][0]).unwrap();
    assert_eq!(frog.text(last).unwrap(), "\"water\"");
    assert_eq!(frog.failure(), None);
}
