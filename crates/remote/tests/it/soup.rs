//! Tests of the example language over the protocol.

use crate::common::{explore, root, soup};
use invigil_explore::interned::Interned;
use invigil_explore::{FindingKind, SearchOptions, StateSpace, bfs};
use invigil_remote::{Address, Remote, RemoteOptions, RemoteSpace};
use invigil_semantics::{
    Accepting, Breakpoint, BreakpointState, Compose, Describe, Evaluate, Semantics, Step,
};
use invigil_test_support::Folder;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn start(program: &str, options: RemoteOptions) -> Option<Remote> {
    soup(program).map(|address| Remote::start(&address, options).unwrap())
}

fn configs() -> [RemoteOptions; 4] {
    let options = RemoteOptions::default();
    [
        options,
        RemoteOptions { max_batch: 1, ..options },
        RemoteOptions { max_cached: 3, ..options },
        RemoteOptions { max_cached: 0, max_batch: 5, ..options },
    ]
}

#[test]
fn soup_unit_tests_pass() {
    if soup("lamp.soup").is_none() {
        return;
    }
    let tests = Command::new("python3")
        .args(["-B", "-m", "unittest"])
        .current_dir(root().join("examples/soup"))
        .output()
        .unwrap();
    assert!(tests.status.success(), "{}", String::from_utf8_lossy(&tests.stderr));
}

#[test]
fn philosophers_have_one_deadlock() {
    for options in configs() {
        let Some(remote) = start("philosophers.soup", options) else { return };
        let space = RemoteSpace::new(&remote, Vec::new());
        let report = bfs(&space, &SearchOptions { exhaustive: true, ..SearchOptions::default() }, &());
        let totals = report.totals;
        assert_eq!((totals.states, totals.transitions, totals.deadlocks), (14, 27, 1), "{options:?}");
        assert!(report.is_exhaustive());
        let [found] = &report.findings[..] else { panic!("one deadlock") };
        let mut actions: Vec<_> = found
            .path
            .actions
            .iter()
            .map(|number| remote.describe_action(&remote.action(*number).unwrap()))
            .collect();
        actions.sort();
        assert_eq!(actions, ["1 takes left", "2 takes left", "3 takes left"]);
        let last = remote.config_by_number(found.path.states[3][0]).unwrap();
        assert!(remote.describe_config(&last).to_string().starts_with("fork1 = 1, fork2 = 2, fork3 = 3"));
        assert_eq!(space.failure(), None);
    }
}

#[test]
fn interned_space_agrees_with_remote_space() {
    let Some(remote) = start("peterson.soup", RemoteOptions::default()) else { return };
    let (bulk, _, _) = explore(&RemoteSpace::new(&remote, Vec::new()), 64);
    let trips = remote.round_trips();
    let (one_by_one, _, _) = explore(&Interned::new(&remote, |_| false), 64);
    assert_eq!(bulk, one_by_one);
    assert!(remote.round_trips() - trips > bulk.states, "each configuration is asked for by itself");
    assert!(trips < 20, "many are asked for at once");
}

#[test]
fn peterson_satisfies_mutual_exclusion() {
    let Some(remote) = start("peterson.soup", RemoteOptions::default()) else { return };
    let both = |bad: &str| {
        let report = bfs(&RemoteSpace::new(&remote, vec![bad.into()]), &SearchOptions::default(), &());
        report.findings.first().map(|found| (found.kind, found.path.actions.len()))
    };
    assert_eq!(both(r#"at1 == "in" and at2 == "in""#), None);
    assert_eq!(both(r#"at1 == "in" and at2 == "waits""#), Some((FindingKind::Bad, 5)));
    assert_eq!(both(r#"at1 == "in" and was(at1) == "waits""#), Some((FindingKind::Bad, 3)));
    assert_eq!(both(r#"was(at1) == "in""#), Some((FindingKind::Bad, 4)), "at the start nothing has changed");
    assert_eq!(both(r#"action == "2 enters""#), Some((FindingKind::Bad, 3)));
    // An expression without a value counts as bad.
    assert_eq!(both("nobody"), Some((FindingKind::Bad, 0)));
    assert_eq!(remote.error(), None);
}

#[test]
fn remote_semantics_composes_with_operators() {
    let Some(remote) = start("lamp.soup", RemoteOptions::default()) else { return };
    let watched = (&remote).product(Breakpoint { condition: r#"lamp == "broken""#.to_owned() });
    let start = watched.initial().into_iter().next().unwrap();
    let hit = watched.steps(&start).into_iter().find(|(_, target)| watched.is_accepting(target)).unwrap().1;
    assert_eq!(hit.1, BreakpointState::Hit);
    assert_eq!(remote.describe_config(&hit.0).to_string(), "lamp = broken");
    assert!(remote.is_deadlocked(&hit.0));
    let error = remote.evaluate(&"lump".to_owned(), Step::initial(&hit.0)).unwrap_err();
    assert!(error.to_string().contains("there is no variable `lump`"), "{error}");
    assert!(!remote.is_accepting(&hit.0), "the language has no acceptance");
}

#[test]
fn error_reply_of_language_is_reported_verbatim() {
    let Some(address) = soup("nowhere.soup") else { return };
    let failure = Remote::start(&address, RemoteOptions::default()).unwrap_err().to_string();
    assert!(failure.contains("exit status 1") && failure.contains("No such file"), "{failure}");
}

#[test]
fn failing_action_is_a_fault() {
    let folder = Folder::new();
    let program = folder.join("halve.soup");
    std::fs::write(&program, "var x = 2\n[halve] 6 // x > 1 -> x := x - 1\n").unwrap();
    let Some(Address::Command(mut words)) = soup("lamp.soup") else { return };
    words[2] = program.into();
    let remote = Remote::start(&Address::Command(words), RemoteOptions::default()).unwrap();
    let (totals, ..) = explore(&RemoteSpace::new(&remote, vec!["x > 9".into()]), 9);
    assert_eq!((totals.states, totals.transitions, totals.faults, totals.deadlocks), (3, 3, 1, 0));
    let zero = remote.config("[0]").unwrap();
    let (halve, fault) = remote.steps(&zero).into_iter().next().unwrap();
    assert!(remote.fault(fault).unwrap().contains("zero"));
    assert!(remote.describe_config(&fault).to_string().starts_with("broken = [halve]:"));
    assert!(remote.is_deadlocked(&fault) && !remote.is_accepting(&fault));
    // For evaluation, the fault stays in the configuration where the action was tried.
    assert_eq!(remote.evaluate(&"x == 0".to_owned(), Step::by_action(&zero, &halve, &fault)), Ok(true));
    assert_eq!(remote.error(), None);
}

/// A listening server, killed when dropped.
struct Server(std::process::Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a server at this address, and waits until it listens.
fn served(listen: &str) -> Option<(Server, Remote)> {
    let Address::Command(words) = soup("peterson.soup")? else { return None };
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).args(["--listen", listen]).stdin(Stdio::null());
    let server = Server(command.spawn().unwrap());
    let since = Instant::now();
    loop {
        match Remote::start(&listen.parse().unwrap(), RemoteOptions::default()) {
            Ok(remote) => return Some((server, remote)),
            Err(failure) => assert!(since.elapsed() < Duration::from_secs(20), "{failure}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn remote_semantics_works_over_sockets() {
    let folder = Folder::new();
    let unix = format!("unix:{}", folder.join("soup").display());
    // A port that is free now; it is unlikely to be taken in the meantime.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut found = Vec::new();
    for listen in [unix, format!("tcp:{port}")] {
        let Some((server, remote)) = served(&listen) else { return };
        found.push(explore(&RemoteSpace::new(&remote, Vec::new()), 16).0);
        assert_eq!(remote.error(), None);
        drop(server);
        assert!(remote.is_deadlocked(&remote.config("[1]").unwrap()));
        let failure = remote.error().unwrap().to_string();
        assert!(failure.contains(&listen[..4]) && failure.contains("closed the connection"), "{failure}");
    }
    assert_eq!(found[0], found[1]);
    assert_eq!((found[0].states, found[0].transitions), (20, 34));
}

#[test]
fn programs_in_readme_match_files() {
    if soup("lamp.soup").is_none() {
        return;
    }
    let folder = root().join("examples/soup");
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let block = readme.split("```console\n").nth(1).unwrap().split("```").next().unwrap();
    let commands: Vec<_> = block.split("$ ").filter(|part| !part.is_empty()).collect();
    assert!(commands.len() > 1);
    for command in commands {
        let (command, printed) = command.split_once('\n').unwrap();
        let ran = Command::new("sh")
            .args(["-c", command])
            .current_dir(&folder)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stdout), printed, "{command}");
    }
    // The programs in the README are those in the files.
    assert!(readme.contains(&std::fs::read_to_string(folder.join("lamp.soup")).unwrap()));
}
