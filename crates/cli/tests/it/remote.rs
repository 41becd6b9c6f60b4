//! Languages of other programs: `explore` and `debug` on them, and what happens when they fail.

use crate::common::{Folder, Ran};
use std::path::Path;
use std::time::{Duration, Instant};

/// A folder with the example language and its programs.
fn soup() -> Folder {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/soup");
    let folder = Folder::new();
    folder.shell(&format!("cp {}/*.py {}/*.soup .", example.display(), example.display())).exits(0);
    folder
}

const LANGUAGE: &str = "remote:python3 language.py";

fn explore(folder: &Folder, program: &str, rest: &str) -> Ran {
    folder.shell(&format!("invigil explore '{LANGUAGE} {program}' {rest}"))
}

/// A language server as a shell script, which writes its process id to `pid`.
fn bad(script: &str) -> Folder {
    let hello = r#"read a; echo '{"id":1,"protocol":1,"name":"bad","can":["steps"]}'"#;
    let initial = r#"read a; echo '{"id":2,"configs":[["x"]]}'"#;
    Folder::new().file("bad.sh", format!("echo $$ > pid\n{hello}\n{initial}\n{script}\n"))
}

/// Asserts that the language server has exited.
fn is_gone(folder: &Folder) {
    let since = Instant::now();
    let process = Path::new("/proc").join(folder.read("pid").trim()).join("cmdline");
    // What has ended and waits to be reaped has no command line.
    while std::fs::read(&process).is_ok_and(|line| !line.is_empty()) {
        assert!(since.elapsed() < Duration::from_secs(10), "the language is left behind");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn deadlock_is_described_by_remote_language() {
    explore(&soup(), "philosophers.soup", "").exits(1).stdout_has(&[
        "1 deadlock",
        "fork1 = 0, fork2 = 0, fork3 = 0, eats1 = False",
        "1 takes left",
        "fork1: 0 → 1",
        "deadlock: no step is possible",
    ]);
    explore(&soup(), "philosophers.soup", "--full --may-end")
        .exits(0)
        .stdout_has(&["14 configurations, 27 transitions, 1 deadlock"]);
}

#[test]
fn never_claims_are_checked() {
    let folder = soup();
    explore(&folder, "peterson.soup", r#"--never 'at1 == "in" and at2 == "in"'"#).exits(0).stdout_has(&[
        "20 configurations",
        "no deadlock",
        r#"never at1 == "in" and at2 == "in"  holds"#,
    ]);
    let ran =
        explore(&folder, "peterson.soup", r#"--never 'at1 == "in"' --never 'turn == 3' --trace bad.jsonl"#)
            .exits(1);
    ran.stdout_has(&[
        r#"never at1 == "in"  violated"#,
        "1 enters",
        "at1: waits → in",
        "never turn == 3    holds",
    ]);
    assert_eq!(folder.read("bad.jsonl").lines().count(), 4);
    explore(&folder, "peterson.soup", r#"--never 'was(at1) == "out" and at1 == "in"'"#)
        .exits(0)
        .stdout_has(&["holds"]);
    explore(&folder, "peterson.soup", r#"--never 'was(at1) == "in" and action == "1 leaves"'"#)
        .exits(1)
        .stdout_has(&["violated", "at1: in → out"]);
    explore(&folder, "peterson.soup", "--never 'nowhere + 1 =='")
        .exits(2)
        .stdout_has(&["undecided: the expression has no value"]);
    explore(&folder, "peterson.soup", "--always 'turn == 1'")
        .exits(2)
        .stderr_has(&["`--always` applies to models only"]);
    explore(&folder, "peterson.soup", "--fair weak")
        .exits(2)
        .stderr_has(&["`--fair` applies to models only"]);
}

#[test]
fn json_report_and_limits() {
    let folder = soup();
    let ran = explore(&folder, "peterson.soup", "--json --max-states 5 --never 'turn == 3'").exits(2);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(report["complete"], false);
    assert_eq!(report["claims"][0]["verdict"], "unknown");
    let ran = explore(&folder, "philosophers.soup", "--json").exits(1);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(report["troubles"][0]["kind"], "deadlock");
    assert_eq!(report["troubles"][0]["execution"]["steps"][0]["state"]["fork1"], "0");
}

#[test]
fn language_server_is_reached_by_socket() {
    let folder = soup();
    let server = r#"
import socketserver, subprocess, sys
class Talk(socketserver.StreamRequestHandler):
    def handle(self):
        subprocess.run(["python3", "language.py", "lamp.soup"], stdin=self.connection.fileno(), stdout=self.connection.fileno())
with socketserver.UnixStreamServer("soup.socket", Talk) as server:
    server.handle_request()
"#;
    let folder = folder.file("server.py", server);
    let line = "python3 server.py & while ! test -S soup.socket; do sleep 0.02; done; \
                invigil explore unix:soup.socket --may-end; status=$?; wait; exit $status";
    folder
        .shell(line)
        .exits(0)
        .stdout_has(&["unix:soup.socket: 3 configurations, 3 transitions, 1 deadlock"]);
    folder
        .run("explore unix:nobody")
        .exits(3)
        .stderr_has(&["the remote subject `unix:nobody` cannot be reached"]);
    folder.run("explore tcp:nowhere:x").exits(2).stderr_has(&["is not an address of a remote subject"]);
}

#[test]
fn failing_server_gives_incomplete_result_and_is_reaped() {
    let cases = [
        ("exit 7", "ended (exit status 7) instead of answering"),
        ("read a; echo this is no JSON; sleep 100", "with a malformed reply"),
        ("sleep 100", "did not answer"),
    ];
    for (script, words) in cases {
        let folder = bad(script);
        let ran = folder
            .shell("invigil explore 'remote:sh bad.sh' --patience 1")
            .exits(3)
            .stdout_has(&["incomplete: the explored program failed"])
            .stderr_has(&["incomplete: the remote subject", words]);
        assert!(!ran.stdout.contains("\ndeadlock"), "silence is no deadlock: {}", ran.stdout);
        is_gone(&folder);
        let ran = folder.shell("echo step | invigil debug 'remote:sh bad.sh' --patience 1").exits(3);
        ran.stderr_has(&["incomplete: the remote subject", words]);
        is_gone(&folder);
    }
    let ran = Folder::new().shell("invigil explore 'remote:/no/such/language'").exits(3);
    ran.stderr_has(&["cannot be started"]);
    let ran = soup().shell(&format!("invigil explore '{LANGUAGE} nowhere.soup'")).exits(3);
    ran.stderr_has(&["nowhere.soup"]);
}

#[test]
fn debugger_steps_through_remote_language() {
    let folder = soup();
    let line = format!(
        "printf '%s\\n' 'step press' 'select 1' 'print lamp' 'back' 'break lamp == \"broken\"' 'run' | \
         invigil debug '{LANGUAGE} lamp.soup'"
    );
    let ran = folder.shell(&line);
    ran.exits(0).stdout_has(&["press", "lamp: off → broken"]);
}

#[test]
fn never_claims_work_for_models() {
    let folder =
        Folder::new().file("count.model", "x: 0..3\nprocess P { state run { up: when x < 3 { x++ } } }\n");
    folder
        .shell("invigil explore count.model --may-end --never 'x > 5'")
        .exits(0)
        .stdout_has(&["never x > 5  holds"]);
    folder
        .shell("invigil explore count.model --may-end -n 'x == 2'")
        .exits(1)
        .stdout_has(&["never x == 2  violated"]);
}
