//! The README and the documents: their properties are formatted and behave as described.

use crate::common::Folder;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The fenced blocks of a document with this language.
fn blocks(document: &str, language: &str) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(document);
    let text = fs::read_to_string(file).expect("the document");
    let fence = format!("```{language}\n");
    let until_fence = |block: &str| block.split("```").next().unwrap_or_default().to_owned();
    text.split(&fence).skip(1).map(until_fence).collect()
}

/// The blocks that are complete properties.
fn properties(document: &str) -> Vec<String> {
    let mut found = blocks(document, "text");
    found.retain(|block| block.contains("state init"));
    found
}

#[test]
fn readme_property_finds_violation() {
    let traces = blocks("README.md", "text");
    let trace = traces.iter().find(|block| block.starts_with('{')).expect("a trace");
    let folder = Folder::new().file("pushes.prop", &properties("README.md")[0]).file("trace.jsonl", trace);
    folder
        .run("check -p pushes.prop trace.jsonl")
        .exits(1)
        .stdout_has(&["trace.jsonl:3 (event 3)", "→ sink"]);
}

/// The sessions in the README and the documents are excerpts of the session in the example, which is compared with a
/// real one.
#[test]
fn quoted_sessions_match_example() {
    let example = include_str!("../../../../examples/queue/README.md");
    let session = |document: &str, start: &str| {
        let found = blocks(document, "text").into_iter().find(|block| block.starts_with(start));
        found.unwrap_or_else(|| panic!("a session in {document}"))
    };
    let sessions = session("README.md", "$ invigil run") + &session("docs/prompt.md", "Violation of queue");
    for line in sessions.lines().filter(|line| *line != "(invigil)") {
        assert!(example.lines().any(|other| other == line), "`{line}` is not in examples/queue/README.md");
    }
}

#[test]
fn quoted_properties_are_formatted_without_warnings() {
    for (document, count) in [("README.md", 1), ("docs/properties.md", 3), ("docs/blocks.md", 1)] {
        let found = properties(document);
        assert_eq!(found.len(), count, "{document}");
        for property in found {
            let folder = Folder::new().file("p.prop", &property);
            folder.run("fmt --check p.prop").exits(0);
            let ran = folder.run("explain p.prop").exits(0);
            assert!(!ran.stdout.contains("warning"), "{document}: {}", ran.stdout);
        }
    }
}

#[test]
fn two_slice_parameters_behave_as_documented() {
    let folder = Folder::new().file("two.prop", &properties("docs/properties.md")[2]);
    let trace = b"one(a=1)\nboth(a=1, b=2)\nboth(a=3, b=2)\nbad(b=2)\nbad(b=4)\n";
    let ran = folder.feed("check -p two.prop", trace).exits(1);
    ran.stdout_has(&[
        "two with a = 1, b = 2",
        "two with a = 3, b = 2",
        "3: two with a = any, b = 4",
        "init → wrong",
    ]);
    let ran = folder.feed("check -p two.prop", b"one(a=1)\nbad(b=2)\n").exits(1);
    ran.stdout_has(&["violation 1: two with a = any, b = 2"]);
}

#[test]
fn documented_functions_file_works() {
    let property = "initialization { opens = 0 }
state init accepting {
    transition {
        EVENT
    }
}
state full accepting
state sink non-accepting";
    let property = property.replace("EVENT", &blocks("docs/blocks.md", "text")[0]);
    let folder =
        Folder::new().file("f.prop", property).file("checks.py", &blocks("docs/blocks.md", "python")[0]);
    let run = |trace: &[u8]| folder.feed("check -p f.prop --functions checks.py", trace);
    run(b"resize(id=1, size=3)\n").exits(1);
    run(b"resize(id=1, size=4)\nresize(id=1, size=4)\nresize(id=1, size=4)\n").exits(0);
}

#[test]
fn line_format_is_read_as_documented() {
    let folder = Folder::new().file(
        "l.prop",
        "state init accepting {
    transition { event queue_push(arg 1 as q, arg 2 as c, #thread as t, #program as p) { print(q, c, t, p) } }
    transition { after event queue_pop(queue, ret) { print(ret) } }
    transition { event shutdown() { print(\"off\") } }
}",
    );
    let trace = &blocks("docs/traces.md", "text")[0];
    let ran = folder.feed("check --prints --strict -p l.prop", trace.as_bytes()).exits(0);
    ran.stdout_has(&["l: 1 i 7 server\nl: i\nl: off\n"]);
}

#[test]
fn json_report_is_as_documented() {
    let documented: Value = serde_json::from_str(&blocks("docs/reports.md", "json")[0]).expect("JSON");
    let property = include_str!("../../../../examples/queue/queue.prop");
    let folder = Folder::new().file("queue.prop", property).file(
        "trace.jsonl",
        r#"{"event": "queue_new", "kind": "after", "ret": 1, "size": 1}
{"event": "queue_push", "queue": 1, "c": "a"}
{"event": "queue_push", "queue": 1, "c": "b"}
"#,
    );
    let ran = folder.run("check -p queue.prop --json trace.jsonl").exits(1);
    let mut report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    // The document omits the last two steps.
    report["findings"][0]["path"].as_array_mut().expect("steps").truncate(2);
    assert_eq!(report, documented);
    let text = folder.run("check -p queue.prop trace.jsonl").exits(1).stdout;
    assert_eq!(text, blocks("docs/reports.md", "text")[0]);
}
