//! The server in JavaScript of `docs/remote.md`.

use crate::common::root;
use invigil_explore::{SearchOptions, bfs};
use invigil_remote::{Address, Remote, RemoteOptions, RemoteSpace};
use invigil_test_support::tools;

#[test]
fn javascript_server_can_be_explored() {
    if !tools::is_installed("node") {
        return;
    }
    let page = std::fs::read_to_string(root().join("docs/remote.md")).unwrap();
    let server = page.split("```javascript\n").nth(1).unwrap().split("```\n").next().unwrap();
    let frog = Remote::start(&Address::command(["node", "-e", server]), RemoteOptions::default()).unwrap();
    assert_eq!(frog.name(), "frog");
    let report = bfs(&RemoteSpace::new(&frog, Vec::new()), &SearchOptions::default(), &());
    assert_eq!((report.totals.states, report.totals.transitions, report.totals.deadlocks), (3, 4, 1));
    let last = frog.config_by_number(report.findings[0].path.states[1][0]).unwrap();
    assert_eq!(frog.text(last).unwrap(), "\"water\"");
    assert_eq!(frog.error(), None);
}
