//! Remote subjects that violate the protocol: each is reported clearly, and no process is left over.

use crate::common::shell;
use invigil_explore::{Incomplete, ProgressListener, SearchOptions, StateSpace, Successors, bfs};
use invigil_remote::{Address, Remote, RemoteErrorKind, RemoteListener, RemoteOptions, RemoteSpace};
use invigil_semantics::{Describe, Semantics, Step};
use invigil_test_support::Folder;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const HELLO: &str =
    r#"read a; echo '{"id":1,"protocol":1,"name":"bad","can":["steps","evaluate","describe"]}'"#;
const INITIAL: &str = r#"read a; echo '{"id":2,"configs":[["x"]]}'"#;

fn brisk() -> RemoteOptions {
    RemoteOptions { timeout: Duration::from_secs(20), max_line: 100_000, ..RemoteOptions::default() }
}

fn impatient() -> RemoteOptions {
    RemoteOptions { timeout: Duration::from_millis(1500), ..brisk() }
}

/// Whether a process exists, possibly as a zombie.
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

/// The error of a remote subject that runs `script`, when it is started and asked for initial configurations and
/// steps. Afterwards, all its processes must be gone.
fn reported(script: &str, options: RemoteOptions) -> String {
    let folder = Folder::new();
    let [own, other] = ["own", "other"].map(|name| folder.join(name));
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
            // Later queries return nothing immediately.
            let failure = remote.error().expect("something goes wrong").clone();
            let since = Instant::now();
            assert_eq!(remote.initial().into_iter().count(), 0);
            assert!(since.elapsed() < options.timeout / 2);
            assert_eq!(remote.error(), Some(&failure), "the first failure is kept");
            failure
        }
    };
    for pid in [pid_in(&own), pid_in(&other)] {
        // The second process is not our child, so its new parent may take a moment to reap it.
        let since = Instant::now();
        while is_there(&pid) && !is_zombie(&pid) {
            assert!(since.elapsed() < Duration::from_secs(10), "process {pid} is left behind");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    assert!(!is_there(&pid_in(&own)), "the program is reaped");
    let words = failure.to_string();
    assert!(words.starts_with("the remote subject `sh -c "), "{words}");
    assert_eq!(failure.incomplete_note(), format!("incomplete: {words}"));
    // Without the script, which is part of the address.
    words.replace(&shell(&script).to_string(), "IT")
}

fn is_zombie(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "))
}

#[track_caller]
fn assert_reported(script: &str, options: RemoteOptions, words: &[&str]) {
    let reported = reported(script, options);
    for words in words {
        assert!(reported.contains(words), "`{words}` is not in: {reported}");
    }
}

#[test]
fn program_that_exits_at_start_is_reported() {
    assert_reported(
        "echo oh no >&2; exit 3",
        brisk(),
        &[
            "IT ended (exit status 3) instead of answering `hello`; run it by hand to see why",
            "its standard error:\noh no",
        ],
    );
    assert_reported("kill -9 $$", brisk(), &["ended (killed by signal 9) instead of answering `hello`"]);
}

#[test]
fn program_that_exits_between_requests_is_reported() {
    assert_reported(
        &format!("{HELLO}; {INITIAL}; read a; exit 0"),
        brisk(),
        &["(exit status 0)", "answering `steps`"],
    );
    assert_reported(
        &format!("{HELLO}; printf '{{\"id\":2,'; exit 1"),
        brisk(),
        &["(exit status 1)", "`initial`"],
    );
}

#[test]
fn garbage_reply_is_reported() {
    assert_reported(
        "read a; echo Welcome to bad 1.0!; read a",
        brisk(),
        &[
            "answers `hello` with a malformed reply: expected value at byte 1; it must write exactly one line of JSON",
            "starts with `Welcome to bad 1.0!`",
        ],
    );
    assert_reported("read a; echo; read a", brisk(), &["answers `hello` with a malformed reply"]);
    assert_reported("read a; echo '[1]'; read a", brisk(), &["answers `hello` with a malformed reply"]);
    assert_reported("read a; echo '{\"protocol\":1}'; read a", brisk(), &["the field `id` is missing"]);
    assert_reported(
        "read a; printf '{\"id\":1,\"name\":\"\\377\"}\\n'; read a",
        brisk(),
        &["not UTF-8 from byte 17 on"],
    );
}

#[test]
fn malformed_reply_fields_are_reported() {
    let steps =
        |answer: &str| format!("{HELLO}; {INITIAL}; read a; echo '{{\"id\":3,\"steps\":{answer}}}'; read a");
    for (answer, words) in [
        ("[]", "the field `steps` must have 1 elements, but has 0"),
        ("[[],[]]", "the field `steps` must have 1 elements, but has 2"),
        ("7", "in the field `steps`: invalid type"),
        (r#"[[["a",5]]]"#, "no configuration has the number 5"),
        (r#"[[["a",[1,2]]]]"#, "an array of one element, not `[1,2]`"),
        (r#"[[["a","b"]]]"#, "a configuration is a number or an array of one element, not `\"b\"`"),
        (r#"[[["a",{"flaw":"b"}]]]"#, r#"expected {"fault":"…"}, found"#),
    ] {
        assert_reported(&steps(answer), brisk(), &["answers `steps` with a malformed reply", words]);
    }
    let deep = format!("[[[{0}{1},0]]]", "[".repeat(10_000), "]".repeat(10_000));
    assert_reported(&steps(&deep), brisk(), &["nested"]);
}

#[test]
fn overlong_reply_is_reported() {
    let words =
        ["answers `hello` with a line of more than 100000 bytes; request fewer configurations at once"];
    assert_reported("yes endless | tr -d '\\n'", brisk(), &words);
    assert_reported("exec cat /dev/zero", brisk(), &words);
}

#[test]
fn unsolicited_output_is_reported() {
    assert_reported(
        "yes '{\"id\":1,\"protocol\":1,\"name\":\"bad\"}'",
        brisk(),
        &["replied to request 1 instead of request 2"],
    );
}

#[test]
fn protocol_version_mismatch_is_reported() {
    assert_reported(
        "read a; echo '{\"id\":1,\"protocol\":2,\"name\":\"bad\"}'; read a",
        brisk(),
        &["IT uses version 2 of the protocol, but this is version 1; update the older one"],
    );
}

#[test]
fn missing_reply_times_out() {
    assert_reported("cat > /dev/null", impatient(), &["did not answer `hello` within 1.5s; allow more time"]);
    // A program that ignores all signals but SIGKILL and reads nothing.
    let stubborn = "trap '' TERM INT HUP PIPE; while :; do sleep 0.05; done";
    assert_reported(stubborn, impatient(), &["did not answer `hello` within 1.5s"]);
    assert_reported(
        &format!("{HELLO}; {INITIAL}; {stubborn}"),
        impatient(),
        &["did not answer `steps` within 1.5s"],
    );
}

#[test]
fn slow_reply_times_out() {
    // Each byte arrives in time, but the line does not.
    let script = "while :; do printf ' '; sleep 0.02; done";
    assert_reported(script, impatient(), &["did not answer `hello` within 1.5s"]);
}

#[test]
fn reply_with_wrong_id_is_reported() {
    assert_reported(
        &format!("{HELLO}; read a; echo '{{\"id\":3,\"configs\":[]}}'; read a"),
        brisk(),
        &[
            "IT replied to request 3 instead of request 2 (`initial`); it must send one reply to each request, in their order",
        ],
    );
}

#[test]
fn closed_input_is_reported() {
    assert_reported(
        &format!("{HELLO}; exec <&-; sleep 1000"),
        brisk(),
        &["closed its input and did not answer `initial`; it must read one line per request"],
    );
}

#[test]
fn program_that_does_not_read_times_out() {
    // More than a pipe can hold.
    let remote = Remote::start(&shell(&format!("{HELLO}; sleep 1000")), impatient()).unwrap();
    let big = remote.config(&format!("[{}0]", "0,".repeat(200_000))).unwrap();
    assert!(remote.is_deadlocked(&big));
    assert!(matches!(remote.error().unwrap().kind, RemoteErrorKind::Timeout(_)));
}

#[test]
fn error_reply_is_reported() {
    assert_reported(
        "read a; echo '{\"id\":1,\"error\":\"lamp.soup:3: what is this?\"}'; read a",
        brisk(),
        &["IT answers `hello` with an error: lamp.soup:3: what is this?"],
    );
}

#[test]
fn large_stderr_does_not_block() {
    // More than a pipe can hold before every reply; only the end is kept.
    let chatter = "yes chatter 2>/dev/null | head -c 300000 >&2; echo the end >&2";
    let reported = reported(&format!("{chatter}; {HELLO}; {chatter}; {INITIAL}; read a; exit 9"), brisk());
    assert!(reported.contains("exit status 9") && reported.ends_with("the end"), "{reported}");
    assert!(reported.len() < 5000, "{}", reported.len());
}

#[test]
fn queries_after_error_return_nothing() {
    let script = format!("{HELLO}; {INITIAL}; read a; exit 1");
    let remote = Remote::start(&shell(&script), brisk()).unwrap();
    let space = RemoteSpace::new(&remote, vec!["x".into()]).with_acceptance();
    let attended = RemoteListener { remote: &remote, listener: () };
    let mut out = Successors::default();
    assert_eq!((space.failure(), attended.is_stopped()), (None, false));
    space.initial(&mut out);
    // The expression could not be evaluated because the program exited; the configuration is not bad.
    assert_eq!(out.transitions[0].flags, 0);
    assert_eq!((out.len(), out.marks.len()), (1, 1));
    let mut ends = Vec::new();
    space.bulk_successors(&[0, 0, 17], &mut out, &mut ends);
    assert_eq!((out.len(), ends), (1, vec![1, 1, 1]));
    assert!(space.failure().unwrap().contains("ended (exit status 1) instead of answering `evaluate`"));
    assert!(attended.is_stopped());
    let config = remote.config_by_number(0).unwrap();
    assert_eq!(remote.describe_config(&config).to_string(), "");
    assert_eq!(remote.text(config).as_deref(), Some("\"x\""));
    let error = remote.values_of("y", &[Step::initial(&config)]).pop().unwrap().unwrap_err();
    assert!(error.contains("instead of answering `evaluate`"));
}

#[test]
fn server_without_cache_receives_values() {
    let script = r#"read a; echo '{"id":1,"protocol":1,"name":"flat","cache":0}'
        read a; echo '{"id":2,"configs":[["x"]]}'
        read a; case $a in *'"configs":[["x"]]'*) echo '{"id":3,"actions":[["go"]]}';; esac
        read a; case $a in *'"pairs":[[["x"],"go"]]'*) echo '{"id":4,"targets":[[["y"]]]}';; esac
        read a; case $a in *'"configs":[["y"]]'*) echo '{"id":5,"actions":[[]]}';; esac"#;
    let remote = Remote::start(&shell(script), brisk()).unwrap();
    let (totals, ..) = crate::common::explore(&RemoteSpace::new(&remote, Vec::new()), 9);
    assert_eq!((totals.states, totals.transitions, totals.deadlocks), (2, 1, 1));
    assert_eq!(remote.error(), None);
}

#[test]
fn unreachable_addresses_are_reported() {
    let said = |address: Address| Remote::start(&address, impatient()).unwrap_err().to_string();
    assert!(said(Address::command(["/no/such"])).contains("cannot be started: No such file"));
    assert!(said(Address::Command(Vec::new())).contains("cannot be started: no program is named"));
    assert!(said(Address::Unix("/no/such".into())).contains("cannot be reached: No such file"));
    // An address reserved for documentation, without a server.
    let elsewhere = said("tcp:192.0.2.1:80".parse().unwrap());
    assert!(elsewhere.contains("192.0.2.1:80 is on another machine, which is not allowed"), "{elsewhere}");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    assert!(said(format!("tcp:{port}").parse().unwrap()).contains("check that the server listens there"));
}

#[test]
fn silent_socket_times_out() {
    let folder = Folder::new();
    let path = folder.join("socket");
    let _listener = UnixListener::bind(&path).unwrap();
    let failure = Remote::start(&Address::Unix(path), impatient()).unwrap_err();
    assert_eq!(failure.kind, RemoteErrorKind::Timeout(Duration::from_millis(1500)));
}

#[test]
fn dropping_remote_ends_program() {
    for end in ["read a", "while :; do sleep 0.05; done"] {
        let folder = Folder::new();
        let own = folder.join("own");
        let script = format!("echo $$ > {}; {HELLO}; {end}", own.display());
        let remote = Remote::start(&shell(&script), brisk()).unwrap();
        let pid = pid_in(&own);
        assert!(is_there(&pid));
        drop(remote);
        assert!(!is_there(&pid));
    }
}

/// Helper of the next test, which runs it in a separate process; on its own it does nothing.
#[test]
fn is_killed() {
    let Some(own) = std::env::var_os("INVIGIL_REMOTE_KILLED") else { return };
    let script = format!(
        "echo $$ > {}; trap '' TERM INT HUP PIPE; {HELLO}; while :; do sleep 0.05; done",
        own.display()
    );
    // The starting thread exits; the program must keep running.
    let remote = std::thread::spawn(move || Remote::start(&shell(&script), brisk()).unwrap()).join().unwrap();
    std::thread::sleep(Duration::from_secs(60));
    drop(remote);
}

#[test]
fn program_exits_when_parent_is_killed() {
    let folder = Folder::new();
    let own = folder.join("own");
    let mut us = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "misbehaving_servers::is_killed"])
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
fn search_of_failed_remote_is_incomplete() {
    let script = format!(
        "{HELLO}; {INITIAL}; read a; echo '{{\"id\":3,\"steps\":[[[\"a\",[1]],[\"b\",[2]]]]}}'; read a; exit 1"
    );
    let remote = Remote::start(&shell(&script), brisk()).unwrap();
    let report = bfs(&RemoteSpace::new(&remote, Vec::new()), &SearchOptions::default(), &());
    assert_eq!((report.incomplete, report.findings.len()), (Some(Incomplete::Failed), 0));
    assert_eq!((report.totals.states, report.totals.deadlocks), (3, 0));
    let words = remote.error().unwrap().incomplete_note();
    assert!(words.starts_with("incomplete: the remote subject `sh -c "), "{words}");
}
