//! `invigil check` on valid input: exit statuses, sources of traces, options.

use crate::common::Folder;
use std::io::Write;

const CALM: &str = "hit(x=4)\nhit(x=5)\n";
const BAD: &str = "hit(x=4)\nhit(x=1)\n";

#[test]
fn satisfied_property_exits_0() {
    let ran = Folder::with_hit().file("t.trace", CALM).run("check -p hit.prop t.trace").exits(0);
    ran.stdout_has(&["hit       holds", "t.trace: 2 lines, 2 events"]);
}

#[test]
fn violation_exits_1_with_report() {
    let ran = Folder::with_hit().file("t.trace", BAD).run("check -p hit.prop t.trace").exits(1);
    let ran = ran.stdout_has(&[
        "violation 1: hit\n",
        "at     t.trace:2 (event 2)",
        "init → bad",
        "hit       violated",
    ]);
    assert_eq!(ran.stderr, "");
    assert!(ran.stdout.lines().all(|line| line == line.trim_end()), "{}", ran.stdout);
}

#[test]
fn standard_input_is_default_and_dash() {
    let folder = Folder::with_hit();
    folder.feed("check -p hit.prop", BAD.as_bytes()).exits(1).stdout_has(&["standard input:2", "hit(x=4)  "]);
    folder.feed("check -p hit.prop -", CALM.as_bytes()).exits(0);
    folder.run("check -p hit.prop - -").exits(2).stderr_has(&["only one standard input"]);
}

#[test]
fn named_pipe_is_read() {
    let folder = Folder::with_hit().file("t.trace", BAD);
    folder
        .shell("mkfifo p; cat t.trace > p & invigil check -p hit.prop p")
        .exits(1)
        .stdout_has(&["p:2 (event 2)"]);
}

#[test]
fn compressed_traces_are_detected_by_content() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(BAD.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::encode_all(BAD.as_bytes(), 1).unwrap();
    let folder = Folder::with_hit().file("t.gz", gzip).file("any.name", zstd);
    folder.run("check -p hit.prop t.gz").exits(1).stdout_has(&["t.gz:2 (event 2)"]);
    folder.run("check -p hit.prop any.name").exits(1).stdout_has(&["any.name:2 (event 2)"]);
}

#[test]
fn formats_are_detected_or_forced() {
    let folder = Folder::with_hit()
        .file("json", "{\"event\": \"hit\", \"x\": 4}\n{\"event\": \"hit\", \"x\": 1}\n")
        .file("csv", "event,x\nhit,4\nhit,1\n");
    folder.run("check -p hit.prop json").exits(1).stdout_has(&["json:2"]);
    folder.run("check -p hit.prop csv").exits(1).stdout_has(&["csv:3 (event 2)"]);
    folder.run("check -p hit.prop --format csv csv").exits(1);
    folder.run("check -p hit.prop --format line csv").exits(2).stdout_has(&["3 lines were skipped"]);
    folder.run("check -p hit.prop --format xml csv").exits(2).stderr_has(&["jsonl, csv or line"]);
}

#[test]
fn traces_are_merged_by_time() {
    let folder = Folder::with_hit()
        .file("a", "@1 hit(x=4)\n@3 hit(x=1)\n@2 hit(x=4)\n")
        .file("b", "@2 hit(x=5)\n@9 back(x=0)\n");
    let ran = folder.run("check -p hit.prop a b").exits(1);
    ran.stdout_has(&[
        "a:2 (event 3, time 3)",
        "2  b:1       2",
        "1 event is earlier than the preceding event",
    ]);
}

#[test]
fn ambiguous_property_names_are_paths() {
    let folder = Folder::with_hit().file("never.prop", "state init accepting").file("t", CALM);
    std::fs::create_dir(folder.path("sub")).unwrap();
    let folder = folder.file("sub/hit.prop", crate::common::HIT);
    let ran = folder.run("check -p hit.prop -p never.prop -p sub/hit.prop t").exits(0);
    ran.stdout_has(&["hit.prop      holds", "sub/hit.prop  holds", "never         holds"]);
}

#[test]
fn functions_file_defines_called_functions() {
    let folder = Folder::new()
        .file("f.prop", "state init accepting { transition { event a(x) { return ok(x) } failure bad } }\nstate bad non-accepting")
        .file("f.py", "def ok(x):\n    return x < 2\n")
        .file("t", "a(x=1)\na(x=2)\n");
    folder.run("check -p f.prop t").exits(2).stderr_has(&["there is no function `ok`", "--functions"]);
    folder.run("check -p f.prop --functions f.py t").exits(1).stdout_has(&["t:2"]);
}

#[test]
fn first_and_limit_restrict_the_report() {
    let folder = Folder::with_hit().file("t", "hit(x=1)\nback(x=0)\nhit(x=1)\n");
    folder.run("check -p hit.prop --first t").exits(1).stdout_has(&["stopped at the first violation"]);
    let ran = folder.run("check -p hit.prop --limit 1 t").exits(1);
    let ran = ran.stdout_has(&["violation 1", "1 more violation (use `--limit` to show more)"]);
    assert!(!ran.stdout.contains("violation 2"));
    folder.run("check -p hit.prop t").exits(1).stdout_has(&["violation 2"]);
}

#[test]
fn quiet_prints_nothing() {
    let folder = Folder::with_hit().file("t", BAD);
    let ran = folder.run("check -q -p hit.prop t").exits(1);
    assert_eq!((ran.stdout, ran.stderr), (String::new(), String::new()));
}

#[test]
fn prints_are_shown_only_with_option() {
    let folder = Folder::with_hit().file("t", CALM);
    folder.run("check -p hit.prop --prints t").exits(0).stdout_has(&["hit: n is 1\nhit: n is 2\n"]);
    assert!(!folder.run("check -p hit.prop t").exits(0).stdout.contains("n is"));
}

#[test]
fn warnings_do_not_change_exit_status() {
    let folder = Folder::new().file("t", "a()\n").file(
        "w.prop",
        "state init accepting { transition { event a() success init failure bad } }\nstate bad non-accepting",
    );
    folder
        .run("check -p w.prop t")
        .exits(0)
        .stderr_has(&["warning: this branch is never taken", "w.prop:1:"]);
    assert_eq!(folder.run("check -q -p w.prop t").exits(0).stderr, "");
}

#[test]
fn report_is_independent_of_thread_count() {
    let trace: String = (0..20_000)
        .map(|n| format!("hit(x={})\nback(x=0)\n", n % 7 + 4 - 9 * i32::from(n == 9_000)))
        .collect();
    let folder = Folder::with_hit().file("t", trace);
    let one = folder.run("check -p hit.prop --threads 1 t").exits(1);
    let two = folder.run("check -p hit.prop --threads 2 t").exits(1);
    assert_eq!(one.stdout, two.stdout);
    folder.run("check -p hit.prop --threads 0 t").exits(2);
}

#[test]
fn colour_follows_option() {
    let folder = Folder::with_hit().file("t", BAD);
    assert!(!folder.run("check -p hit.prop t").stdout.contains('\u{1b}'));
    folder
        .run("check -p hit.prop --color always t")
        .exits(1)
        .stdout_has(&["\u{1b}[1m\u{1b}[31mviolation 1:"]);
    assert!(!folder.run("--color never check -p hit.prop t").stdout.contains('\u{1b}'));
}

#[test]
fn long_path_is_abbreviated() {
    let trace =
        "hit(x=4)\n".repeat(30) + "hit(x=1)\n" + "back(x=0)\n" + &"hit(x=4)\n".repeat(100) + "hit(x=1)\n";
    let folder = Folder::with_hit().file("t", &trace);
    let ran = folder.run("check -p hit.prop t").exits(1);
    let ran = ran.stdout_has(&["… 20 steps", "… 84 earlier steps"]);
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 100));
    let ran = folder.feed("check -p hit.prop", trace.as_bytes()).exits(1);
    ran.stdout_has(&["… 20 steps", "… 84 earlier steps"]);
}

#[test]
fn closed_output_pipe_is_not_an_error() {
    let folder = Folder::with_hit().file("t", "hit(x=4)\n".repeat(100_000) + BAD);
    let ran = folder.shell("invigil check -p hit.prop t | head -1").exits(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("violation 1: hit\n", ""));
    let ran = folder.shell("invigil check -p hit.prop --prints t | head -1").exits(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("hit: n is 1\n", ""));
}

#[test]
fn interrupt_reports_result_so_far() {
    let folder = Folder::with_hit().file("t", CALM);
    let ran = folder.shell(
        "mkfifo p; exec 3<> p; cat t > p; invigil check -p hit.prop p & sleep 0.5; kill -INT $!; wait $!",
    );
    ran.exits(130).stdout_has(&["interrupted by the user: the verdicts cover only 2 events", "holds so far"]);
}

#[test]
fn many_variables_are_wrapped_below_each_step() {
    let names: Vec<String> = (0..12).map(|n| format!("variable_{n}")).collect();
    let set: Vec<String> = names.iter().map(|name| format!("    {name} = 0")).collect();
    let property = format!(
        "initialization {{\n{}\n}}
state init accepting {{
    transition {{ event a(x: int) {{ return x > 0 }} success {{ variable_7 = x }} init failure bad }}
}}
state bad non-accepting",
        set.join("\n")
    );
    let ran = Folder::new().file("m.prop", property).feed("check -p m.prop", b"a(x=5)\na(x=-1)\n").exits(1);
    let ran = ran.stdout_has(&[
        "init\n           variable_0=0, variable_1=0",
        "init\n           variable_7=5\n",
        "variable_11=0",
    ]);
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 100), "{}", ran.stdout);
}
