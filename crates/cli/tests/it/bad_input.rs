//! Bad input: a clear message, the right exit status, no panic, and no verdict without a warning.

use crate::common::Folder;
use std::io::Write;

#[test]
fn all_unknown_names_are_reported_together() {
    let folder = Folder::new().file(
        "w.prop",
        "slice on queue
state init accepting {
    transition { event push(q) { return fits(q) } success redy }
}
state ready accepting",
    );
    let ran = folder.feed("check -p w.prop", b"push(q=1)").exits(2);
    let ran = ran.stderr_has(&[
        "no event has a parameter `queue`",
        "w.prop:1:10",
        "unknown state `redy`",
        "did you mean `ready`?",
        "there is no function `fits`",
        "w.prop:3:41",
    ]);
    assert_eq!(ran.stderr.matches("error: ").count(), 3);
    assert_eq!(ran.stdout, "");
}

#[test]
fn syntax_error_has_position_and_hint() {
    let folder = Folder::new().file("s.prop", "stat init accepting\n");
    let ran = folder.run("check -p s.prop").exits(2);
    ran.stderr_has(&["--> s.prop:1:1", "1 | stat init accepting", "| ^^^^ ", "did you mean `state`?"]);
}

#[test]
fn errors_in_all_files_are_reported() {
    let folder = Folder::new().file("a.prop", "stat init").file("b.prop", "state init { nonsense }");
    let ran = folder.run("check -p a.prop -p none.prop -p b.prop -p .").exits(2);
    ran.stderr_has(&["a.prop:1:1", "none.prop: no such file", "b.prop:1:", ".: is a directory"]);
}

#[test]
fn binary_and_badly_encoded_property_files_are_rejected() {
    let folder = Folder::new().file("l.prop", b"state init accepting\n# caf\xe9\n").file("t", "");
    folder.run("check -p l.prop t").exits(2).stderr_has(&["l.prop:2:", "not valid UTF-8", "iconv"]);
    let folder = folder.file("b.prop", b"\x7fELF\0\0\xff").file("w.prop", b"\xff\xfes\0t\0");
    let ran =
        folder.run("check -p b.prop t").exits(2).stderr_has(&["b.prop: binary data instead of a property"]);
    assert!(!ran.stderr.contains("iconv"));
    folder.run("check -p w.prop t").exits(2).stderr_has(&["iconv -f UTF-16"]);
    folder
        .run("check -p /dev/zero t")
        .exits(2)
        .stderr_has(&["/dev/zero: the property is larger than 16 MiB"]);
    let folder = folder.file("bom.prop", "\u{feff}state init accepting\n");
    folder.run("check -p bom.prop t").exits(0);
}

#[test]
fn deeply_nested_blocks_do_not_crash() {
    let nested = format!("{}1{}", "(".repeat(50_000), ")".repeat(50_000));
    let text = format!("initialization {{ x = {nested} }}\nstate init accepting\n");
    let folder = Folder::new().file("deep.prop", text).file("t", "a()\n");
    let ran = folder.run("check -p deep.prop t");
    assert!([0, 2].contains(&ran.status), "{}", ran.stderr);
}

#[test]
fn missing_traces_are_errors() {
    let folder = Folder::with_hit();
    folder
        .run("check -p hit.prop none")
        .exits(2)
        .stderr_has(&["none: cannot open the trace", "check the path"]);
    folder.run("check -p hit.prop .").exits(2).stderr_has(&[".: is a directory; specify the files in it"]);
    folder.run("check -p hit.prop hit.prop").exits(2).stderr_has(&["this is a property", "-p hit.prop"]);
    folder.run("check trace").exits(2).stderr_has(&["--property <PROPERTY>"]);
}

#[test]
fn empty_trace_is_reported() {
    Folder::with_hit().run("check -p hit.prop").exits(0).stdout_has(&["the trace contains no events"]);
}

#[test]
fn truncated_gzip_has_no_final_verdict() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    gzip.write_all("hit(x=4)\n".repeat(10_000).as_bytes()).unwrap();
    let whole = gzip.finish().unwrap();
    let folder = Folder::with_hit().file("t.gz", &whole[..whole.len() / 2]);
    let ran = folder.run("check -p hit.prop t.gz").exits(2);
    let ran = ran.stdout_has(&["holds so far", "could not be read to its end"]);
    ran.stderr_has(&["the gzip data is truncated", "compress the file again"]);
}

#[test]
fn violation_takes_precedence_over_truncated_trace() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    gzip.write_all(("hit(x=1)\n".to_owned() + &"hit(x=4)\n".repeat(10_000)).as_bytes()).unwrap();
    let whole = gzip.finish().unwrap();
    let folder = Folder::with_hit().file("t.gz", &whole[..whole.len() / 2]);
    folder.run("check -p hit.prop t.gz").exits(1).stderr_has(&["the gzip data is truncated"]);
}

#[test]
fn unreadable_lines_are_skipped_and_counted() {
    let trace = b"hit(x=4)\nhit(x=\nhit(x=99999999999999999999)\n\xff\xfe\nhit(x=\"a\")\nhit(x=4)\n";
    let folder = Folder::with_hit().file("t", trace);
    let ran = folder.run("check -p hit.prop t").exits(0);
    ran.stdout_has(&[
        "2 lines were skipped, 2 lines were read without a value of the wrong type (an error with `--strict`",
        "t:2: ",
        "t:3: integer out of range",
        "t:4: the line is not valid UTF-8",
        "t:5: `x` should be an integer",
        "6 lines, 4 events",
        "2 events `hit` lack a valid field `x`",
    ]);
    let ran = folder.run("check -p hit.prop --strict t").exits(2);
    ran.stdout_has(&["holds so far"]).stderr_has(&["error: t:2: ", "omit `--strict`"]);
}

#[test]
fn too_long_line_is_skipped() {
    let trace = format!("hit(x=4)\nhit(x=4, note=\"{}\")\nhit(x=1)\n", "y".repeat(5000));
    let folder = Folder::with_hit().file("t", trace);
    folder.run("check -p hit.prop --max-line 1000 t").exits(1).stdout_has(&[
        "t:3 (event 2)",
        "1 line was skipped",
        "t:2: ",
    ]);
    folder.run("check -p hit.prop t").exits(1).stdout_has(&["t:3 (event 3)"]);
}

#[test]
fn trace_without_readable_line_has_no_verdict() {
    let folder = Folder::with_hit().file("t", b"\x00\xff\xfe\n\xff\n");
    let ran = folder.run("check -p hit.prop t").exits(2);
    let ran = ran.stderr_has(&["t: not a trace", "format `line`, none of 2 lines", "--format"]);
    assert!(!ran.stdout.contains("holds"));
}

#[test]
fn division_by_zero_in_guard_is_reported_with_event() {
    let folder = Folder::with_hit().file("t", "hit(x=4)\nhit(x=3)\nhit(x=1)\n");
    let ran = folder.run("check -p hit.prop t").exits(2).stdout_has(&["hit       error"]);
    ran.stderr_has(&[
        "error: division by zero in hit",
        "--> hit.prop:4:36",
        "return 12 / (x - 3) > 0",
        "^^^^^^^^^^^^",
        "raised at t:2 (event 2): hit(x=3)",
    ]);
}

#[test]
fn endless_guard_is_stopped() {
    let guard = "{\n    while True:\n        pass\n    return False\n}";
    let text = format!("state init accepting {{ transition {{ event a() {guard} failure init }} }}");
    let folder = Folder::new().file("l.prop", text).file("t", "a()\n");
    folder.run("check -p l.prop t").exits(2).stdout_has(&["l         error"]).stderr_has(&["--> l.prop:2:"]);
}

#[test]
fn events_without_required_parameter_are_reported() {
    let folder = Folder::with_hit().file("t", "hit(x=4)\nhit(y=1)\nhit()\n");
    let ran = folder.run("check -p hit.prop t").exits(0);
    ran.stdout_has(&["2 events `hit` lack the field `x`, which hit reads, first at t:2: they were skipped"]);
}

#[test]
fn trace_without_needed_events_has_no_verdict() {
    let folder = Folder::with_hit().file("t", "hits(x=4)\npush(x=1)\n");
    let ran = folder.run("check -p hit.prop t").exits(0);
    ran.stdout_has(&["no event of the trace is mentioned by hit.prop (hit, back)"]);
    let folder =
        folder.file("other.prop", "state init accepting { transition { event pop() success init } }");
    let folder = folder.file("u", "pop()\n");
    let ran = folder.run("check -p hit.prop -p other.prop u").exits(0);
    ran.stdout_has(&["hit.prop took no step; it waits for hit first\n"]);
}

#[test]
fn merging_traces_without_times_is_an_error() {
    let folder = Folder::with_hit().file("a", "hit(x=4)\n").file("b", "@1 hit(x=4)\n");
    folder.run("check -p hit.prop a b").exits(2).stderr_has(&["a:1: the event has no time"]);
}

#[test]
fn control_characters_in_values_are_escaped() {
    let property = "state init accepting { transition { event a(x) { return x == 1 } failure bad } }\nstate bad non-accepting";
    let folder =
        Folder::new().file("a.prop", property).file("t", "{\"event\": \"a\", \"x\": \"\\u001b[2J\\n\"}\n");
    let ran = folder.run("check -p a.prop t").exits(1);
    assert!(!ran.stdout.contains('\u{1b}'), "{:?}", ran.stdout);
}
