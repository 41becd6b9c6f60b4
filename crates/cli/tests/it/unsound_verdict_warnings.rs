//! Verdicts that may be wrong are never given without a word, not even with `--quiet`.

use crate::common::Folder;

const LACKING: &str = "hit(x=4)\nhit(y=1)\nhit()\n";

#[test]
fn strict_is_about_parameters_too() {
    let folder = Folder::with_hit().file("t", LACKING);
    let ran = folder.run("check --strict -p hit.prop t").exits(2).stdout_has(&["holds so far"]);
    let ran = ran.stderr_has(&["error: 2 events `hit` lack the field `x`, which hit reads, first at t:2"]);
    assert!(!ran.stdout.contains("lack"), "it is reported once");
    folder.run("check --strict -q -p hit.prop t").exits(2).stderr_has(&["error: 2 events `hit`"]);
    let folder = folder.file("u", LACKING.to_owned() + "hit(x=1)\n");
    folder.run("check --strict -p hit.prop u").exits(1).stderr_has(&["error: 2 events `hit`"]);
    let ran = folder.run("check --strict --json -p hit.prop t").exits(2);
    ran.stdout_has(&["\"complete\": false", "\"fields\": [\n            \"x\"\n          ]"]);
}

#[test]
fn the_field_to_add_is_named() {
    let property = "state init accepting {
    transition { event go(#thread as t, arg 1 as first) { return t != first } failure bad }
}
state bad non-accepting";
    let folder = Folder::new().file("f.prop", property);
    let ran = folder.feed("check -p f.prop", b"go(1)\ngo(thread=1)\n").exits(0);
    ran.stdout_has(&[
        "1 event `go` lacks the field `thread`, which f reads as `t`, first at standard input:1: it was skipped",
        "lacks the field `arg 1` or `first`, which f reads, first at standard input:2",
        "f.prop took no step; it waits for go first, and 2 events had no value for",
    ]);
}

#[test]
fn quiet_warns_in_one_line() {
    let folder = Folder::with_hit().file("t", LACKING).file("u", "hit(x=4)\nhit(x=\n").file("v", "other()\n");
    let warning = |trace: &str| {
        let ran = folder.run(&format!("check -q -p hit.prop {trace}")).exits(0);
        assert_eq!((ran.stdout.as_str(), ran.stderr.lines().count()), ("", 1), "{}", ran.stderr);
        ran
    };
    warning("t").stderr_has(&["warning: 2 events `hit` lack the field `x`", "the verdict may be wrong"]);
    warning("u").stderr_has(&["warning: 1 line was skipped, first u:2: "]);
    warning("v").stderr_has(&["warning: v: no event is mentioned by a property"]);
}

#[test]
fn what_comes_after_the_first_violation_is_not_reported() {
    let trace = "hit(x=4)\nhit(x=\nother()\n@5 hit(x=1)\n@2 hit(x=\n@1 hit(y=1)\nhit(x=1)\n";
    let folder = Folder::with_hit().file("t", trace);
    let ran = folder.run("check --first -p hit.prop t").exits(1);
    let ran = ran.stdout_has(&["t: 2 events up to the violation\n", "1 line was skipped", "t:2: "]);
    assert!(!ran.stdout.contains("t:5") && !ran.stdout.contains("earlier"), "{}", ran.stdout);
    let ran = folder.run("check --first --json -p hit.prop t").exits(1);
    ran.stdout_has(&["\"events\": 2,", "\"ignored\": null", "\"skipped\": 1,"]);
}

#[test]
fn text_that_is_no_trace() {
    let folder = Folder::with_hit().file("README.md", "# A title\n\nSome words of text.\nword\n- a list\n");
    let ran = folder.run("check -p hit.prop README.md").exits(2);
    let ran = ran.stderr_has(&["README.md: not a trace", "`line`, 3 of 4 lines could not"]);
    assert!(!ran.stdout.contains("holds"), "{}", ran.stdout);
    // A trace of something else is one, even with a few bad lines.
    let folder = folder.file("t", "other()\nother()\nhit(x=\n");
    folder
        .run("check -p hit.prop t")
        .exits(0)
        .stdout_has(&["no event of the trace is mentioned by hit.prop"]);
    // So is one with many, if it has an event that matters.
    let folder = folder.file("u", "a b c\na b c\nhit(x=4)\n");
    folder.run("check -p hit.prop u").exits(0).stdout_has(&["2 lines were skipped", "holds"]);
}

#[test]
fn times_that_go_backwards() {
    let folder = Folder::with_hit().file("t", "@2 hit(x=4)\n@1 hit(x=4)\n");
    folder
        .run("check -p hit.prop t")
        .exits(0)
        .stdout_has(&["1 event is earlier than the preceding event", "order of the"]);
}
