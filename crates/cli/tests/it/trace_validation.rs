//! `check -m`: the example of docs/validation.md, and errors.

use crate::common::Folder;
use std::fs;
use std::path::Path;

/// The first block of the document that is marked with this word.
fn block(mark: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/validation.md");
    let text = fs::read_to_string(file).expect("the document");
    let (_, rest) = text.split_once(&format!("```{mark}\n")).expect("a block");
    rest.split("```").next().unwrap_or_default().to_owned()
}

fn folder() -> Folder {
    Folder::new().file("lock.dve", block("dve")).file("log.jsonl", block("json"))
}

#[test]
fn documented_example_is_reproduced() {
    let folder = folder();
    let shown = block("text");
    let (command, report) = shown.split_once('\n').expect("a command");
    let ran = folder.run(command.trim_start_matches("$ invigil ")).exits(1);
    assert_eq!(ran.stdout, report);
    folder.run("check -m lock.dve log.jsonl --hidden *.idle").exits(0).stdout_has(&["can produce log.jsonl"]);
}

#[test]
fn reports_are_written_to_selected_outputs() {
    let folder = folder();
    let ran = folder.run("check -m lock.dve log.jsonl --json --dot out.dot").exits(1);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).expect("a document");
    assert_eq!((&report["verdict"], &report["refusal"]["line"]), (&"impossible".into(), &4.into()));
    assert!(fs::read_to_string(folder.path("out.dot")).expect("a drawing").contains("digraph"));
    let ran = folder.run("check -q -m lock.dve log.jsonl").exits(1);
    assert!(ran.stdout.is_empty() && ran.stderr.is_empty(), "{ran:?}");
    assert!(folder.run("check -m lock.dve log.jsonl --dot -").exits(1).stdout.starts_with("digraph"));
    folder.run("check -m lock.dve log.jsonl --dot - --json").exits(2);
}

#[test]
fn unknown_names_are_reported_with_suggestions() {
    let folder =
        folder().file("typo.jsonl", "{\"event\": \"A.want\"}\n").file("kind.log", "A.wants(holder=me)\n");
    folder
        .run("check -m lock.dve typo.jsonl")
        .exits(2)
        .stderr_has(&["typo.jsonl:1: the model has no event `A.want`", "`--map 'A.want=A.wants'`"]);
    folder
        .run("check -m lock.dve kind.log")
        .exits(2)
        .stderr_has(&["`holder` is `me`", "an integer from 0 to 255"]);
    folder
        .run("check -m lock.dve log.jsonl --hidden A.idel --map x=holdr")
        .exits(2)
        .stderr_has(&["`A.idel` that could be hidden; did you mean `A.idle`?", "did you mean `holder`?"]);
    folder.run("check -m lock.dve log.jsonl --map holder").exits(2);
    folder.run("check -m nowhere.dve log.jsonl").exits(2).stderr_has(&["nowhere.dve: no such file"]);
    folder.run("check -m lock.dve nowhere.jsonl").exits(2).stderr_has(&["nowhere.jsonl"]);
    folder.run("check -p x.prop -m lock.dve log.jsonl").exits(2);
    folder.run("check log.jsonl").exits(2);
}
