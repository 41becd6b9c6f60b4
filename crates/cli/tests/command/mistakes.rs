//! Bad input: a clear message, the right exit status, never a panic and never a verdict without a word.

use crate::common::Folder;
use std::io::Write;

#[test]
fn everything_that_is_unknown_is_told_at_once() {
    let folder = Folder::new().file(
        "w.prop",
        "slice on queue
state init accepting {
    transition { event push(q) { return fits(q) } success redy }
}
state ready accepting",
    );
    let ran = folder.feed("check -p w.prop", b"push(q=1)").exits(2);
    let ran = ran.complains(&[
        "no event has a parameter `queue`",
        "w.prop:1:10",
        "there is no state `redy`",
        "did you mean `ready`?",
        "there is no function `fits`",
        "w.prop:3:41",
    ]);
    assert_eq!(ran.stderr.matches("error: ").count(), 3);
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_syntax_error_has_a_caret_and_a_hint() {
    let folder = Folder::new().file("s.prop", "stat init accepting\n");
    let ran = folder.run("check -p s.prop").exits(2);
    ran.complains(&["--> s.prop:1:1", "1 | stat init accepting", "| ^^^^ ", "did you mean `state`?"]);
}

#[test]
fn mistakes_of_all_files_are_told() {
    let folder = Folder::new().file("a.prop", "stat init").file("b.prop", "state init { nonsense }");
    let ran = folder.run("check -p a.prop -p none.prop -p b.prop -p .").exits(2);
    ran.complains(&["a.prop:1:1", "none.prop: there is no such file", "b.prop:1:", ".: this is a directory"]);
}

#[test]
fn property_files_that_are_not_text() {
    let folder = Folder::new().file("l.prop", b"state init accepting\n# caf\xe9\n").file("t", "");
    folder.run("check -p l.prop t").exits(2).complains(&["l.prop:2:", "not UTF-8", "iconv"]);
    let folder = folder.file("b.prop", b"\x7fELF\0\0\xff").file("w.prop", b"\xff\xfes\0t\0");
    let ran =
        folder.run("check -p b.prop t").exits(2).complains(&["b.prop: this is not a property but binary"]);
    assert!(!ran.stderr.contains("iconv"));
    folder.run("check -p w.prop t").exits(2).complains(&["iconv -f UTF-16"]);
    folder.run("check -p /dev/zero t").exits(2).complains(&["/dev/zero: a property of more than 16 MiB"]);
    let folder = folder.file("bom.prop", "\u{feff}state init accepting\n");
    folder.run("check -p bom.prop t").exits(0);
}

#[test]
fn deeply_nested_blocks() {
    let nested = format!("{}1{}", "(".repeat(50_000), ")".repeat(50_000));
    let text = format!("initialization {{ x = {nested} }}\nstate init accepting\n");
    let folder = Folder::new().file("deep.prop", text).file("t", "a()\n");
    let ran = folder.run("check -p deep.prop t");
    assert!([0, 2].contains(&ran.status), "{}", ran.stderr);
}

#[test]
fn traces_that_are_not_there() {
    let folder = Folder::with_hit();
    folder
        .run("check -p hit.prop none")
        .exits(2)
        .complains(&["none: cannot open the trace", "check the path"]);
    folder.run("check -p hit.prop .").exits(2).complains(&[".: is a directory; name the files in it"]);
    folder.run("check -p hit.prop hit.prop").exits(2).complains(&["this is a property", "-p hit.prop"]);
    folder.run("check trace").exits(2).complains(&["--property <PROPERTY>"]);
}

#[test]
fn an_empty_trace() {
    Folder::with_hit().run("check -p hit.prop").exits(0).says(&["there is no event in the trace"]);
}

#[test]
fn a_truncated_gzip() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    gzip.write_all("hit(x=4)\n".repeat(10_000).as_bytes()).unwrap();
    let whole = gzip.finish().unwrap();
    let folder = Folder::with_hit().file("t.gz", &whole[..whole.len() / 2]);
    let ran = folder.run("check -p hit.prop t.gz").exits(2);
    let ran = ran.says(&["holds so far", "could not be read to its end"]);
    ran.complains(&["the gzip data ends too early", "compress the file again"]);
}

#[test]
fn a_violation_wins_over_a_truncated_trace() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    gzip.write_all(("hit(x=1)\n".to_owned() + &"hit(x=4)\n".repeat(10_000)).as_bytes()).unwrap();
    let whole = gzip.finish().unwrap();
    let folder = Folder::with_hit().file("t.gz", &whole[..whole.len() / 2]);
    folder.run("check -p hit.prop t.gz").exits(1).complains(&["the gzip data ends too early"]);
}

#[test]
fn lines_that_cannot_be_read_are_skipped_and_told() {
    let trace = b"hit(x=4)\nhit(x=\nhit(x=99999999999999999999)\n\xff\xfe\nhit(x=\"a\")\nhit(x=4)\n";
    let folder = Folder::with_hit().file("t", trace);
    let ran = folder.run("check -p hit.prop t").exits(0);
    ran.says(&[
        "2 lines were skipped, 2 lines were read without a value that does not fit (`--strict` makes",
        "t:2: ",
        "t:3: integer out of range",
        "t:4: the line is not valid UTF-8",
        "t:5: `x` should be an integer",
        "6 lines, 4 events",
        "2 events `hit` lack a fitting field `x`",
    ]);
    let ran = folder.run("check -p hit.prop --strict t").exits(2);
    ran.says(&["holds so far"]).complains(&["error: t:2: ", "without `--strict`"]);
}

#[test]
fn a_line_that_is_too_long() {
    let trace = format!("hit(x=4)\nhit(x=4, note=\"{}\")\nhit(x=1)\n", "y".repeat(5000));
    let folder = Folder::with_hit().file("t", trace);
    folder.run("check -p hit.prop --max-line 1000 t").exits(1).says(&[
        "t:3 (event 2)",
        "1 line was skipped",
        "t:2: ",
    ]);
    folder.run("check -p hit.prop t").exits(1).says(&["t:3 (event 3)"]);
}

#[test]
fn a_trace_without_a_readable_line_has_no_verdict() {
    let folder = Folder::with_hit().file("t", b"\x00\xff\xfe\n\xff\n");
    let ran = folder.run("check -p hit.prop t").exits(2);
    let ran =
        ran.complains(&["t: this does not look like a trace", "format `line`, none of 2 lines", "--format"]);
    assert!(!ran.stdout.contains("holds"));
}

#[test]
fn a_division_by_zero_in_a_guard() {
    let folder = Folder::with_hit().file("t", "hit(x=4)\nhit(x=3)\nhit(x=1)\n");
    let ran = folder.run("check -p hit.prop t").exits(2).says(&["hit       error"]);
    ran.complains(&[
        "error: division by zero in hit",
        "--> hit.prop:4:36",
        "return 12 / (x - 3) > 0",
        "^^^^^^^^^^^^",
        "it happened at t:2 (event 2): hit(x=3)",
    ]);
}

#[test]
fn a_guard_that_never_ends() {
    let guard = "{\n    while True:\n        pass\n    return False\n}";
    let text = format!("state init accepting {{ transition {{ event a() {guard} failure init }} }}");
    let folder = Folder::new().file("l.prop", text).file("t", "a()\n");
    folder.run("check -p l.prop t").exits(2).says(&["l         error"]).complains(&["--> l.prop:2:"]);
}

#[test]
fn events_without_a_parameter_that_is_read() {
    let folder = Folder::with_hit().file("t", "hit(x=4)\nhit(y=1)\nhit()\n");
    let ran = folder.run("check -p hit.prop t").exits(0);
    ran.says(&["2 events `hit` lack the field `x`, which hit reads, first at t:2: they were skipped"]);
}

#[test]
fn a_trace_of_something_else() {
    let folder = Folder::with_hit().file("t", "hits(x=4)\npush(x=1)\n");
    let ran = folder.run("check -p hit.prop t").exits(0);
    ran.says(&["no event of the trace is one that hit.prop mentions (hit, back)"]);
    let folder =
        folder.file("other.prop", "state init accepting { transition { event pop() success init } }");
    let folder = folder.file("u", "pop()\n");
    let ran = folder.run("check -p hit.prop -p other.prop u").exits(0);
    ran.says(&["no event of the trace made hit.prop take a step; it first waits for hit\n"]);
}

#[test]
fn traces_to_merge_need_times() {
    let folder = Folder::with_hit().file("a", "hit(x=4)\n").file("b", "@1 hit(x=4)\n");
    folder.run("check -p hit.prop a b").exits(2).complains(&["a:1: the event has no time"]);
}

#[test]
fn values_cannot_play_tricks_on_the_terminal() {
    let property = "state init accepting { transition { event a(x) { return x == 1 } failure bad } }\nstate bad non-accepting";
    let folder =
        Folder::new().file("a.prop", property).file("t", "{\"event\": \"a\", \"x\": \"\\u001b[2J\\n\"}\n");
    let ran = folder.run("check -p a.prop t").exits(1);
    assert!(!ran.stdout.contains('\u{1b}'), "{:?}", ran.stdout);
}
