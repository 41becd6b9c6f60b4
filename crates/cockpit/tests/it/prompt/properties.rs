//! Properties, their slices and states, and their graphs.

use crate::prompt::common::{open, queue};
use std::fs;

#[test]
fn slices_and_states_are_shown_and_set() {
    let mut test = queue();
    test.shows("slices", &["slice 1", "init", "N = 0, max = 0"]);
    test.output_of("continue");
    test.shows("slices", &["slice 2  queue = 7  sink  N = 2, max = 2"]);
    test.shows("state", &["queue: init, sink"]);
    test.shows("state 2 ready", &["slice 2  queue = 7  ready"]);
    test.shows("env 2 N = 0", &["slice 2  queue = 7  ready  N = 0"]);
    test.shows("env 2 N = 'text'", &["N = 'text'"]);
    test.shows("env", &["N = 'text'"]);
    test.shows("set-state init", &["slice 1"]);
    test.fails_with("state redy", "did you mean `ready`?");
    test.fails_with("state 9 ready", "no slice 9");
    test.fails_with("state two ready", "expected a slice number, found `two`");
    test.fails_with("env N", "is not an assignment");
    test.fails_with("env M = 3", "there is no variable `M`");
    test.fails_with("env N = ready", "invalid value");
    test.fails_with("slices 3", "takes no arguments");
    test.fails_with("property cube", "there is no property `cube`");
    test.fails_with("property queu", "did you mean `queue`?");
}

#[test]
fn assigned_variable_changes_the_verdict() {
    let mut test = queue();
    test.output_of("break queue_push");
    test.output_of("continue");
    test.output_of("delete");
    test.output_of("env 2 max = 99");
    test.shows("continue", &["exited with status 0", "ready"]);
}

#[test]
fn path_lists_the_steps_of_a_slice() {
    let mut test = queue();
    test.output_of("continue");
    let path = test.shows("path", &["queue with queue = 7", "start", "queue_new(size=2)", "sink"]);
    assert!(!path.contains("line"), "{path}");
    test.shows("path 1", &["start"]);
    test.fails_with("path 9", "no slice 9");
}

#[test]
fn exec_calls_the_methods_of_verde() {
    let mut test = queue();
    test.output_of("continue");
    test.shows("exec get_current_states", &["init, sink"]);
    test.shows("exec get_states", &["init, ready, sink"]);
    test.shows("exec get_env 2", &["N = 2", "max = 2"]);
    test.shows("exec get_env(2)", &["N = 2"]);
    test.shows("exec get_env_keys", &["N, max"]);
    test.shows("exec get_env_value(2, \"N\")", &["2"]);
    test.shows("exec get_slices", &["Slice 2 <7>: sink"]);
    test.shows("exec print_monitor_state", &["Slice 2 <7>: sink"]);
    test.shows("exec get_slice_bindings", &["2: queue = 7"]);
    test.output_of("exec set_env_value 2 N 0");
    test.shows("exec get_env_value 2 N", &["0"]);
    test.output_of("exec set_current_state ready");
    test.output_of("exec set_quiet on");
    test.output_of("exec suspend");
    test.shows("property", &["suspended"]);
    test.output_of("exec resume");
    test.fails_with("exec", "missing method");
    test.fails_with("exec get_stats", "did you mean `get_states`?");
    test.fails_with("exec set_current_state", "needs a state");
    test.fails_with("exec get_env_value", "needs a slice and a variable");
    test.fails_with("exec set_env_value N", "needs a value");
    test.fails_with("exec step_by_step maybe", "expected `on` or `off`");
}

#[test]
fn step_by_step_suspends_at_every_event() {
    let mut test = queue();
    test.output_of("exec step_by_step");
    test.shows("continue", &["Suspended by queue: event 1, queue_new(queue=7, size=2)"]);
    test.shows("continue", &["event 2, queue_push(queue=7)"]);
}

#[test]
fn graph_highlights_current_states() {
    let mut test = queue();
    test.output_of("continue");
    let file = test.folder.path().join("q.svg");
    test.shows(&format!("graph {}", file.display()), &["Wrote "]);
    let svg = fs::read_to_string(file).unwrap();
    for part in [
        ".state[data-state=\"sink\"].non-accepting rect{fill:#e5534b}",
        ".state[data-state=\"init\"].accepting rect{fill:#2da44e}",
        ".edge.failure[data-from=\"ready\"][data-to=\"sink\"] .line{stroke:#8b4513",
        ".state[data-state=\"ready\"] rect{fill:#b1b8c0}",
    ] {
        assert!(svg.contains(part), "{part}\n{svg}");
    }
    test.fails_with("graph picture.png", "must end with .svg");
    test.fails_with("graph /no/such/folder/q.svg", "cannot write");
}

#[test]
fn property_commands_without_property_fail() {
    let mut test = open("", None, false).ok().unwrap();
    test.shows("property", &["No property is loaded"]);
    for line in ["slices", "state", "env", "path", "graph", "exec get_states"] {
        test.fails_with(line, "no property is loaded");
    }
    test.fails_with("delete-monitor", "no property is loaded");
    test.shows("events", &["o events yet"]);
}
