//! Checkpoints, event history and reverse execution.

use crate::prompt::common::queue;

#[test]
fn checkpoints_are_rendered_as_a_tree() {
    let mut test = queue();
    test.shows("checkpoint at the start", &["Checkpoint 1, after 0 events", "a socket stays as it is"]);
    test.output_of("continue");
    test.output_of("checkpoint");
    test.shows(
        "restore 1",
        &["Back at checkpoint 1, after 0 events", "queue_new (queue=7, size=2) at prog.c:1"],
    );
    test.output_of("continue");
    test.output_of("checkpoint");
    let tree = test.output_of("checkpoints");
    let lines: Vec<&str> = tree.lines().filter(|line| !line.contains("limitation:")).collect();
    assert_eq!(lines.len(), 3, "{tree}");
    assert!(lines[0].starts_with("  1  after event 0, in queue_new (prog.c:1), \"at the start\""), "{tree}");
    assert!(lines[0].contains("restored once"), "{tree}");
    assert!(lines[1].starts_with("  ├─ 2  after event 4"), "{tree}");
    assert!(lines[2].starts_with("* └─ 3  after event 4"), "{tree}");
    test.shows("forget 2 3", &["Deleted: 2 3"]);
    test.fails_with("restore 2", "there is no checkpoint 2: there are 1");
    test.fails_with("restore", "missing checkpoint number");
    test.fails_with("restore first", "expected a checkpoint number, found `first`");
    test.fails_with("forget 9", "there is no checkpoint 9");
    test.fails_with("checkpoints 1", "takes no arguments");
}

#[test]
fn events_are_listed_with_their_transitions() {
    let mut test = queue();
    test.shows("events", &["o events yet"]);
    test.output_of("continue");
    test.shows(
        "events",
        &["1  queue_new(queue=7, size=2)", "queue [queue = 7]: init → ready", "ready → sink"],
    );
    let last = test.output_of("events 1");
    assert!(last.starts_with("4  queue_push(queue=7)") && last.lines().count() == 2, "{last}");
    assert_eq!(test.output_of("events 2-3").lines().count(), 4);
    assert_eq!(test.output_of("events all").lines().count(), 8);
    test.fails_with("events 3-2", "invalid range: 3 is after 2");
    test.fails_with("events some", "found `some`");
}

#[test]
fn back_replays_to_the_requested_event() {
    let mut test = queue();
    test.fails_with("back", "o events yet");
    test.output_of("checkpoint");
    test.output_of("continue");
    test.shows("back", &["Back at event 3, replayed from checkpoint 1", "c=1"]);
    test.shows("slices", &["N = 2"]);
    test.shows("back 1", &["Back at event 1", "queue_new"]);
    test.output_of("continue");
    test.shows("back -2", &["Back at event 2"]);
    test.fails_with("back -9", "only 2 events so far");
    test.fails_with("back 7", "event 7 has not happened");
    test.fails_with("back soon", "expected an event number, found `soon`");
}
