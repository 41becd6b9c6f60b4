//! Remote semantics that do not keep to the protocol: each is told clearly, and none is left behind.

mod common;

use common::{Folder, shell};
use invigil_explore::{Incomplete, Pulse, Search, Space, Successors, breadth};
use invigil_remote::{Address, Attended, Explored, Options, Reason, Remote};
use invigil_semantics::{Describe, Semantics, Step};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const HELLO: &str =
    r#"read a; echo '{"id":1,"protocol":1,"name":"bad","can":["steps","evaluate","describe"]}'"#;
const INITIAL: &str = r#"read a; echo '{"id":2,"configs":[["x"]]}'"#;

fn brisk() -> Options {
    Options { timeout: Duration::from_secs(20), line: 100_000, ..Options::default() }
}

fn impatient() -> Options {
    Options { timeout: Duration::from_millis(1500), ..brisk() }
}

/// Whether a process is there, be it only to be reaped.
fn is_there(pid: &str) -> bool {
    Path::new("/proc").join(pid).exists()
}

fn pid_in(file: &Path) -> String {
    let since = Instant::now();
    loop {
        match std::fs::read_to_string(file) {
            Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
            _ => assert!(since.elapsed() < Duration::from_secs(20), "the remote did not write its number"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What is said of a remote semantics that does `script`, when it is greeted, asked where it begins, and for steps. All
/// that it started is gone afterwards.
fn told(script: &str, options: Options) -> String {
    let folder = Folder::new("bad");
    let [own, other] = ["own", "other"].map(|name| folder.0.join(name));
    let script = format!(
        "echo $$ > {own}; sleep 1000 2>/dev/null >/dev/null </dev/null & echo $! > {other}; {script}",
        own = own.display(),
        other = other.display()
    );
    let failure = match Remote::start(&shell(&script), options) {
        Err(failure) => failure,
        Ok(remote) => {
            let starts: Vec<_> = remote.initial().into_iter().collect();
            for start in starts {
                assert_eq!(remote.steps(&start).into_iter().count(), 0);
            }
            // From now on there is nothing, at once.
            let failure = remote.failure().expect("something goes wrong").clone();
            let since = Instant::now();
            assert_eq!(remote.initial().into_iter().count(), 0);
            assert!(since.elapsed() < options.timeout / 2);
            assert_eq!(remote.failure(), Some(&failure), "the first failure is kept");
            failure
        }
    };
    for pid in [pid_in(&own), pid_in(&other)] {
        // The second is not our child: whoever inherits it may take a moment to reap it.
        let since = Instant::now();
        while is_there(&pid) && !is_zombie(&pid) {
            assert!(since.elapsed() < Duration::from_secs(10), "process {pid} is left behind");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    assert!(!is_there(&pid_in(&own)), "the program is reaped");
    let words = failure.to_string();
    assert!(words.starts_with("the remote semantics `sh -c "), "{words}");
    assert_eq!(failure.incomplete(), format!("incomplete: {words}"));
    // Without the script, which is part of the address.
    words.replace(&shell(&script).to_string(), "IT")
}

fn is_zombie(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "))
}

#[track_caller]
fn assert_told(script: &str, options: Options, words: &[&str]) {
    let told = told(script, options);
    for words in words {
        assert!(told.contains(words), "`{words}` is not in: {told}");
    }
}

#[test]
fn it_dies_at_once() {
    assert_told(
        "echo oh no >&2; exit 3",
        brisk(),
        &[
            "IT ended (exit status 3) instead of answering `hello`; run it by hand to see why",
            "it said:\noh no",
        ],
    );
    assert_told("kill -9 $$", brisk(), &["ended (killed by signal 9) instead of answering `hello`"]);
}

#[test]
fn it_dies_in_the_middle() {
    assert_told(
        &format!("{HELLO}; {INITIAL}; read a; exit 0"),
        brisk(),
        &["(exit status 0)", "answering `steps`"],
    );
    assert_told(
        &format!("{HELLO}; printf '{{\"id\":2,'; exit 1"),
        brisk(),
        &["(exit status 1)", "`initial`"],
    );
}

#[test]
fn it_prints_garbage() {
    assert_told(
        "read a; echo Welcome to bad 1.0!; read a",
        brisk(),
        &[
            "answers `hello` with what cannot be read: expected value at byte 1; it must write one line of JSON",
            "begins with `Welcome to bad 1.0!`",
        ],
    );
    assert_told("read a; echo; read a", brisk(), &["answers `hello` with what cannot be read"]);
    assert_told("read a; echo '[1]'; read a", brisk(), &["answers `hello` with what cannot be read"]);
    assert_told("read a; echo '{\"protocol\":1}'; read a", brisk(), &["the field `id` is missing"]);
    assert_told(
        "read a; printf '{\"id\":1,\"name\":\"\\377\"}\\n'; read a",
        brisk(),
        &["not UTF-8 from byte 17 on"],
    );
}

#[test]
fn it_answers_what_makes_no_sense() {
    let steps =
        |answer: &str| format!("{HELLO}; {INITIAL}; read a; echo '{{\"id\":3,\"steps\":{answer}}}'; read a");
    for (answer, words) in [
        ("[]", "the field `steps` must have 1 elements, and has 0"),
        ("[[],[]]", "the field `steps` must have 1 elements, and has 2"),
        ("7", "in the field `steps`: invalid type"),
        (r#"[[["a",5]]]"#, "no configuration has the number 5"),
        (r#"[[["a",[1,2]]]]"#, "an array of one element, and not `[1,2]`"),
        (r#"[[["a","b"]]]"#, "a configuration is a number, or an array of one element, and not `\"b\"`"),
        (r#"[[["a",{"flaw":"b"}]]]"#, r#"where only {"fault":"…"} may"#),
    ] {
        assert_told(&steps(answer), brisk(), &["answers `steps` with what cannot be read", words]);
    }
    let deep = format!("[[[{0}{1},0]]]", "[".repeat(10_000), "]".repeat(10_000));
    assert_told(&steps(&deep), brisk(), &["nested"]);
}

#[test]
fn its_line_has_no_end() {
    let words =
        ["answers `hello` with a line of more than 100000 bytes; ask for fewer configurations at once"];
    assert_told("yes endless | tr -d '\\n'", brisk(), &words);
    assert_told("exec cat /dev/zero", brisk(), &words);
}

#[test]
fn it_writes_more_than_it_is_asked() {
    assert_told(
        "yes '{\"id\":1,\"protocol\":1,\"name\":\"bad\"}'",
        brisk(),
        &["answers request 1 when asked request 2"],
    );
}

#[test]
fn it_speaks_another_version() {
    assert_told(
        "read a; echo '{\"id\":1,\"protocol\":2,\"name\":\"bad\"}'; read a",
        brisk(),
        &["IT speaks version 2 of the protocol, and this is version 1; bring the older of both up to date"],
    );
}

#[test]
fn it_never_answers() {
    assert_told("cat > /dev/null", impatient(), &["did not answer `hello` within 1.5s; allow more time"]);
    // One that heeds no signal but the last, and reads nothing.
    let stubborn = "trap '' TERM INT HUP PIPE; while :; do sleep 0.05; done";
    assert_told(stubborn, impatient(), &["did not answer `hello` within 1.5s"]);
    assert_told(
        &format!("{HELLO}; {INITIAL}; {stubborn}"),
        impatient(),
        &["did not answer `steps` within 1.5s"],
    );
}

#[test]
fn it_drips() {
    // Each byte comes in time, the line does not.
    let script = "while :; do printf ' '; sleep 0.02; done";
    assert_told(script, impatient(), &["did not answer `hello` within 1.5s"]);
}

#[test]
fn it_answers_out_of_order() {
    assert_told(
        &format!("{HELLO}; read a; echo '{{\"id\":3,\"configs\":[]}}'; read a"),
        brisk(),
        &[
            "IT answers request 3 when asked request 2 (`initial`); it must give one answer to each request, in their order",
        ],
    );
}

#[test]
fn it_closes_its_input() {
    assert_told(
        &format!("{HELLO}; exec <&-; sleep 1000"),
        brisk(),
        &["closed its input and did not answer `initial`; it must read a line for each request"],
    );
}

#[test]
fn it_does_not_read() {
    // More than a pipe holds.
    let remote = Remote::start(&shell(&format!("{HELLO}; sleep 1000")), impatient()).unwrap();
    let big = remote.config(&format!("[{}0]", "0,".repeat(200_000))).unwrap();
    assert!(remote.is_deadlocked(&big));
    assert!(matches!(remote.failure().unwrap().reason, Reason::Late(_)));
}

#[test]
fn it_refuses() {
    assert_told(
        "read a; echo '{\"id\":1,\"error\":\"lamp.soup:3: what is this?\"}'; read a",
        brisk(),
        &["IT answers `hello` with an error: lamp.soup:3: what is this?"],
    );
}

#[test]
fn it_talks_to_people_all_the_time() {
    // More than a pipe holds, before every answer; only the last of it is kept.
    let chatter = "yes chatter 2>/dev/null | head -c 300000 >&2; echo the end >&2";
    let told = told(&format!("{chatter}; {HELLO}; {chatter}; {INITIAL}; read a; exit 9"), brisk());
    assert!(told.contains("exit status 9") && told.ends_with("the end"), "{told}");
    assert!(told.len() < 5000, "{}", told.len());
}

#[test]
fn what_was_asked_in_vain_is_nothing() {
    let script = format!("{HELLO}; {INITIAL}; read a; exit 1");
    let remote = Remote::start(&shell(&script), brisk()).unwrap();
    let space = Explored::new(&remote, vec!["x".into()]).marked();
    let attended = Attended { remote: &remote, pulse: () };
    let mut out = Successors::default();
    assert_eq!((space.failure(), attended.is_stopped()), (None, false));
    space.initial(&mut out);
    // The expression could not be evaluated: it died. That is nothing bad of the configuration.
    assert_eq!(out.taken[0].flags, 0);
    assert_eq!((out.len(), out.marks.len()), (1, 1));
    let mut ends = Vec::new();
    space.bulk(&[0, 0, 17], &mut out, &mut ends);
    assert_eq!((out.len(), ends), (1, vec![1, 1, 1]));
    assert!(space.failure().unwrap().contains("ended (exit status 1) instead of answering `evaluate`"));
    assert!(attended.is_stopped());
    let config = remote.numbered(0).unwrap();
    assert_eq!(remote.describe_config(&config).to_string(), "");
    assert_eq!(remote.text(config).as_deref(), Some("\"x\""));
    let mistake = remote.values_of("y", &[Step::initial(&config)]).pop().unwrap().unwrap_err();
    assert!(mistake.contains("instead of answering `evaluate`"));
}

#[test]
fn a_server_that_keeps_nothing_is_told_all() {
    let script = r#"read a; echo '{"id":1,"protocol":1,"name":"flat","cache":0}'
        read a; echo '{"id":2,"configs":[["x"]]}'
        read a; case $a in *'"configs":[["x"]]'*) echo '{"id":3,"actions":[["go"]]}';; esac
        read a; case $a in *'"pairs":[[["x"],"go"]]'*) echo '{"id":4,"targets":[[["y"]]]}';; esac
        read a; case $a in *'"configs":[["y"]]'*) echo '{"id":5,"actions":[[]]}';; esac"#;
    let remote = Remote::start(&shell(script), brisk()).unwrap();
    let (totals, ..) = common::explore(&Explored::new(&remote, Vec::new()), 9);
    assert_eq!((totals.states, totals.transitions, totals.deadlocks), (2, 1, 1));
    assert_eq!(remote.failure(), None);
}

#[test]
fn who_is_not_there_is_not_reached() {
    let said = |address: Address| Remote::start(&address, impatient()).unwrap_err().to_string();
    assert!(said(Address::command(["/no/such"])).contains("cannot be started: No such file"));
    assert!(said(Address::Command(Vec::new())).contains("cannot be started: no program is named"));
    assert!(said(Address::Unix("/no/such".into())).contains("cannot be reached: No such file"));
    // An address for documentation, at which nobody is.
    let elsewhere = said("tcp:192.0.2.1:80".parse().unwrap());
    assert!(elsewhere.contains("192.0.2.1:80 is another machine's, and that is not allowed"), "{elsewhere}");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    assert!(said(format!("tcp:{port}").parse().unwrap()).contains("see whether the server listens there"));
}

#[test]
fn a_socket_that_is_silent() {
    let folder = Folder::new("silent");
    let path = folder.0.join("socket");
    let _listener = UnixListener::bind(&path).unwrap();
    let failure = Remote::start(&Address::Unix(path), impatient()).unwrap_err();
    assert_eq!(failure.reason, Reason::Late(Duration::from_millis(1500)));
}

#[test]
fn dropped_it_ends() {
    for end in ["read a", "while :; do sleep 0.05; done"] {
        let folder = Folder::new("dropped");
        let own = folder.0.join("own");
        let script = format!("echo $$ > {}; {HELLO}; {end}", own.display());
        let remote = Remote::start(&shell(&script), brisk()).unwrap();
        let pid = pid_in(&own);
        assert!(is_there(&pid));
        drop(remote);
        assert!(!is_there(&pid));
    }
}

/// Run in a process of its own by the next test; by itself it does nothing.
#[test]
fn is_killed() {
    let Some(own) = std::env::var_os("INVIGIL_REMOTE_KILLED") else { return };
    let script = format!(
        "echo $$ > {}; trap '' TERM INT HUP PIPE; {HELLO}; while :; do sleep 0.05; done",
        own.display()
    );
    // The thread that asks for it ends; the program must not.
    let remote = std::thread::spawn(move || Remote::start(&shell(&script), brisk()).unwrap()).join().unwrap();
    std::thread::sleep(Duration::from_secs(60));
    drop(remote);
}

#[test]
fn it_dies_when_we_are_killed() {
    let folder = Folder::new("killed");
    let own = folder.0.join("own");
    let mut us = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "is_killed"])
        .env("INVIGIL_REMOTE_KILLED", &own)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pid = pid_in(&own);
    std::thread::sleep(Duration::from_millis(200));
    assert!(is_there(&pid), "it lives as long as we do");
    us.kill().unwrap();
    us.wait().unwrap();
    let since = Instant::now();
    while is_there(&pid) && !is_zombie(&pid) {
        assert!(since.elapsed() < Duration::from_secs(10), "process {pid} is left behind");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_search_says_that_it_is_incomplete() {
    let script = format!(
        "{HELLO}; {INITIAL}; read a; echo '{{\"id\":3,\"steps\":[[[\"a\",[1]],[\"b\",[2]]]]}}'; read a; exit 1"
    );
    let remote = Remote::start(&shell(&script), brisk()).unwrap();
    let report = breadth(&Explored::new(&remote, Vec::new()), &Search::default(), &());
    assert_eq!((report.incomplete, report.found.len()), (Some(Incomplete::Failed), 0));
    assert_eq!((report.totals.states, report.totals.deadlocks), (3, 0));
    let words = remote.failure().unwrap().incomplete();
    assert!(words.starts_with("incomplete: the remote semantics `sh -c "), "{words}");
}
