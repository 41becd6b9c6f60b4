//! `invigil mac`: the stages as processes, joined by files, FIFOs and sockets.

use crate::common::{Folder, shell};
use serde_json::Value;
use std::io::Write;
use std::net::TcpListener;
use std::process::{Child, Stdio};
use std::time::Duration;

const PEDL: &str = "\
MonScr Gate
    export event OpenGate, CloseGate;
    export condition GateDown;
    timestamp 100;
    monmeth void Control.open();
    monmeth void Control.close();
    monobj int Control.gatePos;
    event OpenGate = startM(Control.open());
    event CloseGate = startM(Control.close());
    condition GateDown = Control.gatePos == 1;
End
";

const MEDL: &str = "\
ReqSpec SafeCrossing
    import event OpenGate, CloseGate;
    import condition GateDown;
    var long lastClose;
    condition closing = [CloseGate when !GateDown, OpenGate || start(GateDown));
    property ClosesInTime = closing => currentTime < lastClose + 30*1000;
    CloseGate -> { lastClose' = time(CloseGate); }
End
";

/// The run of `docs/mac.md` in which the gate is stuck.
fn stuck() -> String {
    let mut lines = "# a gate that is stuck\nupdate Control.gatePos 0 @0\nstart Control.close() @1000\n\
                     end Control.close()\nupdate Control.gatePos 2 @1050\n"
        .to_owned();
    (11..400).for_each(|tick| lines += &format!("tick {}\n", tick * 100));
    lines + "update Control.gatePos 1 @40000\n"
}

fn gate() -> Folder {
    Folder::new().file("gate.pedl", PEDL).file("gate.medl", MEDL).file("stuck.txt", stuck())
}

/// A stage that runs beside the test.
fn spawn(folder: &Folder, line: &str) -> Child {
    let mut command = shell(&format!("exec {line}"));
    command.current_dir(folder.path("."));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the command can be run")
}

/// What it came to.
fn wait(child: Child) -> (i32, String, String) {
    let done = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (done.status.code().expect("no signal"), text(done.stdout), text(done.stderr))
}

/// A port without a server.
fn port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port()
}

#[test]
fn run_checks_in_one_process() {
    let ran = gate().run("mac run gate.pedl gate.medl --from stuck.txt").exits(1);
    ran.stdout_has(&[
        "31000 ms  property ClosesInTime violated\n",
        "ClosesInTime  property  violated      1  31000 ms  31000 ms\n",
    ]);
    let ran = gate().feed("mac run gate.pedl gate.medl --json", stuck().as_bytes()).exits(1);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&report["verdict"], &report["complete"]), (&"violated".into(), &true.into()));
    let one = &report["requirements"][0];
    assert_eq!((&one["count"], &one["first"], &one["value"]), (&1.into(), &31_000.into(), &"true".into()));
    let fine = "update Control.gatePos 0 @0\nstart Control.close() @10\nupdate Control.gatePos 1 @500\n";
    gate()
        .feed("mac run gate.pedl gate.medl", fine.as_bytes())
        .exits(0)
        .stdout_has(&["ClosesInTime  property  holds"]);
    assert_eq!(gate().feed("mac run -q gate.pedl gate.medl", fine.as_bytes()).exits(0).stdout, "");
}

#[test]
fn stages_communicate_by_pipes_and_files() {
    let folder = gate();
    let line = "invigil mac recognize gate.pedl --from stuck.txt | invigil mac check gate.medl";
    folder.shell(line).exits(1).stdout_has(&["31000 ms  property ClosesInTime violated"]);
    let line = "invigil mac recognize gate.pedl --from stuck.txt --to run.mac && invigil mac check gate.medl --from run.mac";
    folder.shell(line).exits(1);
    assert!(
        folder
            .read("run.mac")
            .starts_with("recognised 1\nevent OpenGate\nevent CloseGate\ncondition GateDown\nbegin\n")
    );
    let line = "invigil mac recognize gate.pedl --from stuck.txt --to-format bytes | invigil mac check gate.medl --format bytes";
    folder.shell(line).exits(1).stdout_has(&["31000 ms"]);
    folder
        .shell("invigil mac check gate.medl --from run.mac --format bytes")
        .exits(2)
        .stderr_has(&["try `--format lines`"]);
}

#[test]
fn stages_communicate_by_sockets() {
    let (first, second) = (port(), port());
    let ways = [
        (format!("tcp-listen:{first}"), format!("tcp:{first}")),
        ("unix-listen:s".to_owned(), "unix:s".to_owned()),
        (format!("tcp:{second}"), format!("tcp-listen:{second}")),
    ];
    for (listening, connecting) in ways {
        let folder = gate();
        let checker = spawn(&folder, &format!("invigil mac check gate.medl --from {listening}"));
        let ran = folder.run(&format!("mac recognize gate.pedl --from stuck.txt --to {connecting}"));
        let (status, stdout, stderr) = wait(checker);
        assert_eq!((ran.status, status), (0, 1), "{}\n{stdout}\n{stderr}", ran.stderr);
        assert!(stdout.contains("31000 ms  property ClosesInTime violated"), "{stdout}");
        assert!(!folder.path("s").exists(), "the socket is gone");
    }
}

/// Checker, recogniser and filter are three processes, and nothing waits for a buffer to be full.
#[test]
fn checker_reports_without_delay() {
    let folder = gate();
    folder.shell("mkfifo snapshots instants").exits(0);
    let mut checker = spawn(&folder, "invigil mac check gate.medl --from instants");
    let recogniser = spawn(&folder, "invigil mac recognize gate.pedl --from snapshots --to instants");
    let mut filter = std::fs::File::options().write(true).open(folder.path("snapshots")).unwrap();
    let mut said = std::io::BufReader::new(checker.stdout.take().unwrap());
    for line in ["update Control.gatePos 0 @0\n", "start Control.close() @1000\n", "tick 31000\n"] {
        filter.write_all(line.as_bytes()).unwrap();
    }
    let mut line = String::new();
    std::io::BufRead::read_line(&mut said, &mut line).unwrap();
    assert!(line.contains("31000 ms  property ClosesInTime violated"), "{line}");
    drop(filter);
    assert_eq!((wait(recogniser).0, wait(checker).0), (0, 1));
}

#[test]
fn recording_is_checked_against_other_requirements() {
    let folder = gate()
        .file("patient.medl", MEDL.replace("30*1000", "60*1000"))
        .file("other.medl", "ReqSpec import event Lost; alarm lost = Lost; End")
        .file("opened.medl", "ReqSpec import event OpenGate; alarm opened = OpenGate; End");
    folder.run("mac run gate.pedl gate.medl --from stuck.txt --record run.mac").exits(1);
    folder.run("mac check gate.medl --from run.mac").exits(1);
    folder.run("mac check patient.medl --from run.mac").exits(0);
    folder
        .run("mac check opened.medl --from run.mac")
        .exits(0)
        .stdout_has(&["opened       alarm  not raised"]);
    let ran = folder.run("mac check other.medl --from run.mac").exits(2);
    ran.stderr_has(&[
        "not exported by the monitoring script: event `Lost`",
        "export it there and record again",
    ]);
}

#[test]
fn compiled_scripts_replace_sources() {
    let folder = gate();
    let ran = folder.run("mac compile gate.pedl gate.medl -o out").exits(0);
    ran.stdout_has(&[
        "watches int Control.gatePos",
        "exports event OpenGate",
        "sends the time every 100 ms",
        "property ClosesInTime",
    ]);
    let line = "rm gate.pedl gate.medl && \
                invigil mac recognize out/gate.recogniser.json --from stuck.txt | invigil mac check out/gate.checker.json";
    folder.shell(line).exits(1).stdout_has(&["31000 ms"]);
    let plan: Value = serde_json::from_str(&folder.read("out/gate.instrumentation.json")).unwrap();
    assert_eq!(plan["entities"][2]["name"], "Control.gatePos");
    assert_eq!((&plan["entities"][2]["number"], &plan["timestamp"]), (&12.into(), &100.into()));
    folder
        .run("mac recognize out/gate.checker.json")
        .exits(2)
        .stderr_has(&["out/gate.checker.json: expected a monitoring script (PEDL), found the other kind"]);
    folder
        .run("mac check out/gate.instrumentation.json")
        .exits(2)
        .stderr_has(&["neither a recogniser nor a checker"]);
}

/// All monitoring scripts of the examples, each with the requirement scripts beside it that import what it exports.
#[test]
fn example_scripts_compile() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let scripts = |folder: &std::path::Path, ending: &str| -> Vec<std::path::PathBuf> {
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|found| found == ending)).collect()
    };
    let mut pairs = 0;
    for folder in std::fs::read_dir(examples).unwrap().map(|entry| entry.unwrap().path()) {
        if !folder.is_dir() {
            continue;
        }
        for medl in scripts(&folder, "medl") {
            let fits = scripts(&folder, "pedl").into_iter().filter(|pedl| {
                let line = format!("mac compile {} {} -o out", pedl.display(), medl.display());
                Folder::new().run(&line).status == 0
            });
            assert!(fits.count() > 0, "{}", medl.display());
            pairs += 1;
        }
    }
    assert!(pairs >= 9, "{pairs}");
}

#[test]
fn constants_are_compiled_in() {
    let pedl =
        "MonScr monmeth void A.f(int); event e = startM(A.f(int)) when value(startM(A.f(int)), 0) > A.MOST;
                export event e; End";
    let medl = "ReqSpec import event e; var int last; alarm big = e; e -> { last' = value(e, 0); print \"got \" + value(e, 0); } End";
    let folder = Folder::new().file("a.pedl", pedl).file("a.medl", medl);
    folder.run("mac compile a.pedl a.medl").exits(2).stderr_has(&["A.MOST"]);
    let ran = folder.run("mac compile a.pedl a.medl --constant A.MSOT=3").exits(2);
    ran.stderr_has(&["--constant A.MSOT: a.pedl uses no such constant; did you mean `A.MOST`?"]);
    folder
        .run("mac compile a.pedl a.medl --constant A.MOST=3")
        .exits(0)
        .stdout_has(&["exports event e(int)"]);
    let line = "printf 'start A.f(3)\\nstart A.f(4) @7\\n' | invigil mac recognize a.recogniser.json | invigil mac check a.checker.json";
    folder.shell(line).exits(1).stdout_has(&["got 4\n", "7 ms  alarm big raised"]);
    folder.run("mac check a.medl").exits(2).stderr_has(&["a.medl:1:"]);
}

#[test]
fn script_errors_have_positions() {
    let folder = gate().file("bad.medl", MEDL.replace("CloseGate;", "CloseGat;"));
    let ran = folder.run("mac run gate.pedl bad.medl --from stuck.txt").exits(2);
    ran.stderr_has(&["bad.medl:2:28", "did you mean `CloseGate`?", "^^^^^^^^"]);
    folder.run("mac run none.pedl gate.medl").exits(2).stderr_has(&["none.pedl: no such file"]);
    folder.run("mac compile gate.pedl gate.pedl").exits(2).stderr_has(&["one monitoring script"]);
}

#[test]
fn unreadable_lines_are_skipped_with_warning() {
    let lines = "update Control.gatePos x @0\nupdate Control.gatPos 1\nfoo\nstart Control.close(3) @5\n\
                 update Control.gatePos 1 @10\nupdate Control.gatePos 2";
    let ran = gate().feed("mac run gate.pedl gate.medl --format lines", lines.as_bytes()).exits(2);
    ran.stderr_has(&[
        "line 1: `x` is not of type int",
        "line 2: the script does not monitor `Control.gatPos`; did you mean `Control.gatePos`?",
        "line 3: `foo` is none of",
        "line 4: `Control.close()` has 0 parameters",
        "line 6: the last line has no line feed",
    ])
    .stdout_has(&["holds so far"]);
    let ran = gate().feed("mac run gate.pedl gate.medl --format lines --strict", lines.as_bytes()).exits(2);
    ran.stderr_has(&["error: line 1: `x` is not of type int"]);
    gate()
        .feed("mac run gate.pedl gate.medl", b"")
        .exits(2)
        .stderr_has(&["the input contains no event of the scripts"]);
}

#[test]
fn truncated_recording_is_reported() {
    let folder = gate();
    folder.run("mac recognize gate.pedl --from stuck.txt --to run.mac").exits(0);
    let whole = folder.read("run.mac");
    let folder = folder.file("patient.medl", MEDL.replace("30*1000", "60*1000"));
    for cut in [0, 5, 40, 80, whole.len() / 2, whole.len() - 1] {
        std::fs::write(folder.path("cut.mac"), &whole[..cut]).unwrap();
        folder.run("mac check patient.medl --from cut.mac").exits(2).stderr_has(&["line"]);
    }
}

#[test]
fn missing_peer_times_out() {
    let folder = gate();
    let port = port();
    let ran =
        folder.run(&format!("mac recognize gate.pedl --from stuck.txt --to tcp:{port} --wait 0.2")).exits(2);
    ran.stderr_has(&["no server listens there yet; retrying", "start the other side first"]);
    folder
        .run("mac check gate.medl --from unix:nowhere --wait 0")
        .exits(2)
        .stderr_has(&["no server listens there"]);
    folder.run("mac check gate.medl --from nowhere.mac").exits(2).stderr_has(&["nowhere.mac: no such file"]);
    folder.run("mac check gate.medl --from tcp:x").exits(2).stderr_has(&["write `tcp:PORT`"]);
}

/// After the checker has died, undelivered data is counted, and saved with `--keep`.
#[test]
fn lost_checker_is_reported_and_data_kept() {
    for keep in [false, true] {
        let folder = gate();
        let mut checker = spawn(&folder, "invigil mac check gate.medl --from unix-listen:s");
        let option = if keep { "--keep rest.mac" } else { "" };
        let mut recogniser =
            spawn(&folder, &format!("invigil mac recognize gate.pedl --to unix:s --buffer 1 {option}"));
        let mut filter = recogniser.stdin.take().unwrap();
        filter.write_all(b"update Control.gatePos 0 @0\nstart Control.close() @1000\ntick 31000\n").unwrap();
        let mut line = String::new();
        let mut said = std::io::BufReader::new(checker.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut said, &mut line).unwrap();
        checker.kill().unwrap();
        checker.wait().unwrap();
        filter.write_all(b"start Control.open() @32000\nstart Control.close() @33000\n").unwrap();
        drop(filter);
        let (status, _, stderr) = wait(recogniser);
        assert_eq!(status, 2, "{stderr}");
        assert!(stderr.contains("the connection to the checker was lost"), "{stderr}");
        assert!(stderr.contains("2 instants could not be delivered"), "{stderr}");
        if keep {
            assert!(folder.read("rest.mac").ends_with("begin\n32000 OpenGate\n33000 CloseGate\nend 2\n"));
        } else {
            assert!(stderr.contains("use `--keep FILE` to save them"), "{stderr}");
        }
    }
}

/// After the recogniser has been killed, the checker reports an incomplete input.
#[test]
fn lost_recogniser_is_reported() {
    let folder = gate();
    let checker = spawn(&folder, "invigil mac check gate.medl --from unix-listen:s");
    let mut recogniser = spawn(&folder, "invigil mac recognize gate.pedl --to unix:s");
    let mut filter = recogniser.stdin.take().unwrap();
    filter.write_all(b"update Control.gatePos 0 @0\n").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    recogniser.kill().unwrap();
    recogniser.wait().unwrap();
    let (status, stdout, stderr) = wait(checker);
    assert_eq!(status, 2, "{stdout}\n{stderr}");
    assert!(stderr.contains("the stream is not complete"), "{stderr}");
    assert!(stdout.contains("holds so far"), "{stdout}");
}

/// Missing exports are reported as soon as the checker knows the recogniser's names.
#[test]
fn mismatched_exports_are_reported() {
    let folder = gate().file("other.medl", "ReqSpec import event Lost; alarm lost = Lost; End");
    let checker = spawn(&folder, "invigil mac check other.medl --from unix-listen:s");
    let mut recogniser = spawn(&folder, "invigil mac recognize gate.pedl --to unix:s");
    let mut filter = recogniser.stdin.take().unwrap();
    let (status, _, stderr) = wait(checker);
    assert!(status == 2 && stderr.contains("event `Lost`"), "{stderr}");
    filter.write_all(b"start Control.open() @1\n").unwrap();
    drop(filter);
    let (status, _, stderr) = wait(recogniser);
    assert!(status == 2 && stderr.contains("1 instant could not be delivered"), "{stderr}");
}

#[test]
fn actions_run_commands() {
    let medl = "ReqSpec import event OpenGate; import action halt, bell; alarm opened = OpenGate;
                OpenGate -> { invoke halt; invoke bell; } End";
    let folder = gate()
        .file("steer.medl", medl)
        .file("in.txt", "start Control.open() @12\nstart Control.open() @15\n");
    let ran = folder
        .shell("invigil mac run gate.pedl steer.medl --from in.txt --action 'halt=echo stop >> log; echo'");
    ran.exits(1)
        .stdout_has(&["12\n", "action halt invoked 2 times"])
        .stderr_has(&["action `bell` has no command"]);
    assert_eq!(folder.read("log"), "stop\nstop\n");
    let ran = folder.shell("invigil mac run gate.pedl steer.medl --from in.txt --action hald=true").exits(2);
    ran.stderr_has(&["--action hald: the script declares no such action; did you mean `halt`?"]);
    let ran = folder.shell("invigil mac run gate.pedl steer.medl --from in.txt --action halt=false").exits(1);
    ran.stderr_has(&["action `halt` at 12 ms: exit status: 1"]);
}

const LOG_PEDL: &str = "\
MonScr
    monmeth void pass(int, String);
    monobj int gate.pos;
    monobj double temperature;
    timestamp 1 s;
    event Pass = startM(pass(int, String));
    event Passed = endM(pass(int, String));
    condition Down = gate.pos == 1;
    condition Hot = temperature > 40.5;
    condition Inside = InM(pass(int, String));
    export event Pass, Passed;
    export condition Down, Hot, Inside;
End";

const LOG_MEDL: &str = "\
ReqSpec
    import event Pass(int, String), Passed;
    import condition Down, Hot, Inside;
    alarm unsafe = Pass when !Down;
    alarm boxcar = Pass when value(Pass, 0) > 6;
    property cool = !Hot;
    property quick = Inside => currentTime < time(Pass) + 3000;
    Pass -> { print \"train \" + value(Pass, 1); }
End";

#[test]
fn logs_are_checked() {
    let folder = Folder::new().file("log.pedl", LOG_PEDL).file("log.medl", LOG_MEDL).file(
        "log.jsonl",
        "{\"event\": \"gate\", \"pos\": 0, \"time\": 0}\n\
         {\"event\": \"weather\", \"temperature\": 20, \"time\": 0.5}\n\
         {\"event\": \"pass\", \"arg 1\": 4, \"arg 2\": \"ICE\", \"time\": 1}\n\
         {\"event\": \"pass\", \"kind\": \"after\", \"time\": 9.5}\n\
         {\"event\": \"gate\", \"pos\": 1, \"time\": 10}\n\
         {\"event\": \"pass\", \"arg 1\": 7, \"arg 2\": \"IC\", \"temperature\": 41, \"time\": 11}\n",
    );
    let ran = folder.run("mac run log.pedl log.medl --from log.jsonl").exits(1);
    ran.stdout_has(&[
        "1000 ms  alarm unsafe raised\n",
        "train ICE\n",
        "4000 ms  property quick violated\n",
        "11000 ms  property cool violated\n",
        "11000 ms  alarm boxcar raised\n",
        "unsafe       alarm     raised        1   1000 ms   1000 ms\n",
    ]);
    let ran = folder
        .shell("printf 'gate(pos=1)\\n@2 pass(9, \"x\")\\n' | invigil mac run log.pedl log.medl")
        .exits(1);
    ran.stdout_has(&["2000 ms  alarm boxcar raised", "unsafe       alarm     not raised"]);
}

/// A row of a table is one instant: no condition sees half of it.
#[test]
fn incomplete_table_rows_are_reported() {
    let pedl = "MonScr monobj int low; monobj int high; condition ordered = low < high; export condition ordered; End";
    let medl = "ReqSpec import condition ordered; property fine = ordered; End";
    let folder = Folder::new().file("t.pedl", pedl).file("t.medl", medl);
    let folder =
        folder.file("t.csv", "time,low,high\n0,1,2\n1,3,4\n2,0,1\n").file("bad.csv", "low,high\n1,2\n3,2\n");
    folder.run("mac run t.pedl t.medl --from t.csv").exits(0).stdout_has(&["fine         property  holds"]);
    folder.run("mac run t.pedl t.medl --from bad.csv").exits(1);
}

/// The filter of `docs/mac.md`, as it is printed there.
#[test]
fn hand_written_filter_output_is_checked() {
    let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mac.md")).unwrap();
    let part = |start: &str| -> String {
        let (_, rest) = docs.split_once(start).unwrap_or_else(|| panic!("no {start}"));
        rest.split_once("```").unwrap().0.to_owned()
    };
    let folder = Folder::new()
        .file("filter.awk", part("```awk\n"))
        .file("packets.pedl", part("```text packets.pedl\n"))
        .file("packets.medl", part("```text packets.medl\n"))
        .file("packets.tr", part("```text packets.tr\n"));
    let ran =
        folder.shell("awk -f filter.awk packets.tr | invigil mac run packets.pedl packets.medl").exits(1);
    ran.stdout_has(&["560 ms  alarm tooFar raised"]);
}

/// Scripts name functions and variables of a C program as they name methods and fields.
#[test]
fn live_c_program_is_checked() {
    let pedl = "\
MonScr Tank
    export event filled, drained;
    export condition full;
    monmeth void fill(int);
    monmeth void drain(int);
    monobj int level;
    event filled = startM(fill(int));
    event drained = endM(drain(int));
    condition full = level > 10;
End
";
    let medl = "\
ReqSpec Tank
    import event filled(int), drained;
    import condition full;
    alarm spilt = filled when full;
    property low = !full;
    filled -> { print \"filled with \" + value(filled, 0); }
    drained -> { print \"drained\"; }
End
";
    let folder = crate::program::folder().file("tank.pedl", pedl).file("tank.medl", medl);
    let run = "run --batch --prints --on-violation continue --pedl tank.pedl --medl tank.medl -- ./tank";
    let ran = folder.run(&format!("{run} 4 9 2 -5 1")).exits(1);
    let ran =
        ran.stderr_has(&["filled with 4", "filled with 9", "filled with 2", "drained", "filled with 1"]);
    // Two violations of the property: at 13, and at 11 after it was at 10.
    ran.stderr_has(&["violation 1: low", "violation 2: spilt", "violation 3: low", "program.c:12"]);
    folder.run(&format!("{run} 4 2")).exits(0).stderr_has(&["low", "holds"]);
    let ran = folder.file("tank.pedl", pedl.replace("level", "levl")).run(&format!("{run} 4")).exits(2);
    ran.stderr_has(&["no symbol `levl`", "did you mean `level`?", "tank.pedl:6:16", "^^^^"]);
}
