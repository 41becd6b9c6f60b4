//! Saved histories and counterexamples.

use crate::multiverse::models::{die, philosophers, session, session_with};
use invigil_cockpit::multiverse::{ReplOutcome, execution};
use invigil_explore::Path;
use std::fs;

fn after(said: &str) -> &str {
    said.rsplit_once("(invigil) ").unwrap().1
}

#[test]
fn saved_history_is_restored_by_open() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history.jsonl");
    let file = file.to_str().unwrap();
    let model = philosophers(2);
    let steps = "step 1\nstep 1\nback\nstep 2\nname starved\nback\nback\nstep 2\nback";
    let (first, ending) = session(&model, &format!("{steps}\nsave {file}\ntree\n"));
    assert_eq!(ending, ReplOutcome::Done, "{first}");
    let (second, ending) = session(&model, &format!("open {file}\ntree\n"));
    assert_eq!(ending, ReplOutcome::Done, "{second}");
    assert_eq!(after(&first), after(&second));
    assert!(second.contains("\"starved\""));
    let lines = fs::read_to_string(file).unwrap();
    assert_eq!(
        lines.lines().nth(1),
        Some(
            r#"{"id":1,"parent":0,"action":"P[0] takes left","outcome":0,"state":{"taken":"[true, false]","P[0]":"waiting","P[1]":"thinking"}}"#
        )
    );
}

#[test]
fn saved_history_keeps_outcomes_and_initial_configurations() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history.jsonl");
    let file = file.to_str().unwrap();
    let (first, _) =
        session(&die(), &format!("select 2\nstep cast\nselect 1\nstep cast\nselect 3\nsave {file}\npath\n"));
    let (second, _) = session(&die(), &format!("open {file}\npath\n"));
    assert_eq!(after(&first), after(&second));
}

#[test]
fn open_accepts_plain_lists_of_actions_and_rejects_invalid_lines() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    let open = |text: &str| {
        fs::write(&file, text).unwrap();
        let (said, ending) = session(&die(), &format!("open {}\nprint n\n", file.display()));
        (after(&said).to_owned(), ending)
    };
    let reported = open("{\"event\":\"cast\",\"state\":{\"n\":3}}\n{\"action\":\"push\"}\n");
    assert_eq!(reported, ("print n\nn = 4\n".to_owned(), ReplOutcome::Done));
    for (text, error) in [
        ("{\"action\":\"roll\"}", ":1: `roll` is not enabled at this point"),
        (
            "{\"action\":\"cast\",\"state\":{\"n\":4}}",
            ":1: `cast` is enabled but does not lead to this state",
        ),
        ("{\"outcome\":5}", ":1: no initial configuration matches this line"),
        (
            "{\"outcome\":0}\n{\"parent\":9,\"action\":\"cast\"}",
            ":2: parent 9 is not defined before this line",
        ),
        ("what", ":1: not a JSON object: "),
        ("", ":1: the file is empty"),
    ] {
        let (said, ending) = open(text);
        assert!(said.contains(error), "{said}");
        assert_eq!(ending, ReplOutcome::Failed);
    }
}

/// A counterexample whose last action raises a fault.
#[test]
fn counterexample_is_opened_as_first_universe() {
    let model = die();
    let start = model.initial_states()[1].words.clone();
    let pushed = model.outcomes(&start, 1)[0].words.clone();
    let last = model.outcomes(&pushed, 1)[0].words.clone();
    let path = Path {
        states: vec![start.clone(), pushed, last],
        actions: vec![1, 1],
        fault: Some(1),
        loop_back: None,
    };
    let found = execution(&model, &path).unwrap();
    let (said, _) = session_with(&model, Some(&found), "back\nstep push\ntree\n");
    assert!(said.starts_with("#0  start\n      n = 2\n#1  push\n      n: 2 → 3\n"), "{said}");
    assert!(said.contains("faulted: n cannot hold 5"), "{said}");
    assert!(said.ends_with("  #2  push\n* #3  push\n"), "repeating the same step adds no universe: {said}");

    let round = Path { states: vec![start], actions: vec![], fault: None, loop_back: Some((0, Some(0))) };
    let found = execution(&model, &round).unwrap();
    let (said, _) = session_with(&model, Some(&found), "");
    assert!(said.contains("the steps from #0 to #1 repeat forever"), "{said}");
    let wrong = Path { actions: vec![9], ..round };
    assert_eq!(execution(&model, &wrong).unwrap_err(), "the execution does not belong to this model");
}
