//! How a line finds its command.

use crate::common::queue;
use invigil_cockpit::commands;
use std::collections::BTreeSet;

#[test]
fn names_are_unique() {
    let mut seen = BTreeSet::new();
    for command in commands() {
        for name in std::iter::once(&command.name).chain(command.short) {
            assert!(seen.insert(*name), "`{name}` is there twice");
        }
    }
}

#[test]
fn every_command_has_help_and_is_listed() {
    let mut test = queue();
    let all = test.says("help");
    for command in commands() {
        assert!(all.contains(&command.call()), "{}", command.name);
        let one = test.says(&format!("help {}", command.name));
        assert!(one.contains(command.summary), "{one}");
    }
    test.refuses("help nonsense", "there is no command `nonsense`");
}

#[test]
fn examples_in_the_help_name_real_commands() {
    let is_known = |line: &str| {
        let word = line.split([' ', '/']).next().unwrap_or("");
        commands().any(|command| command.name == word || command.short.contains(&word))
    };
    for command in commands() {
        let examples = command.more.lines().filter(|line| line.starts_with("  "));
        for example in examples {
            assert!(is_known(example.trim()), "{}: {example}", command.name);
        }
    }
}

#[test]
fn abbreviations_as_long_as_they_are_clear() {
    let mut test = queue();
    test.shows("cont", &["Violation of queue"]);
    test.shows("backt", &["queue_push"]);
    test.refuses("che", "`che` may be `checkpoint` or `checkpoints`");
    test.refuses("contniue", "did you mean `continue`?");
    test.refuses("xyzzy", "`help` lists them");
    test.refuses("=3", "no command");
    test.refuses("where/x", "takes no format");
    assert_eq!(test.says("# a comment"), "");
    assert_eq!(test.says("   "), "");
}

#[test]
fn the_words_of_verde() {
    let mut test = queue();
    for line in ["verde activate", "verde new", "verde cmd-group-begin", "verde cmd-group-end"] {
        assert_eq!(test.says(line), "");
    }
    test.shows("verde get-current", &["* 1 queue: init"]);
    test.shows("verde set-current queue", &["* 1 queue"]);
    test.shows("verde checkpoint", &["Checkpoint 1"]);
    test.shows("verde run-with-program", &["Violation of queue"]);
    test.shows("verde checkpoint-restart 1", &["Back at checkpoint 1, after 0 events"]);
    test.shows("verde exec get_current_states", &["init"]);
}

#[test]
fn completion() {
    let mut test = queue();
    let mut words = |line: &str| {
        let completion = test.cockpit.complete(line, line.len());
        (completion.start, completion.words.join(" "))
    };
    assert_eq!(words("tb"), (0, "tbreak".to_owned()));
    assert_eq!(words("break queue_"), (6, "queue_new queue_push".to_owned()));
    assert_eq!(words("info lo"), (5, "locals".to_owned()));
    assert_eq!(words("state r"), (6, "ready".to_owned()));
    assert_eq!(words("property "), (9, "queue".to_owned()));
    assert_eq!(words("verde exec get_env_"), (11, "get_env_keys get_env_value".to_owned()));
    assert_eq!(words("help checkpoint"), (5, "checkpoint checkpoints".to_owned()));
    assert_eq!(words("nonsense x"), (9, String::new()));
    let folder = test.folder.path().display().to_string();
    let line = format!("load-property {folder}/qu");
    let completion = test.cockpit.complete(&line, line.len());
    assert_eq!(completion.words, [format!("{folder}/queue.prop")]);
    test.says("checkpoint");
    assert_eq!(test.cockpit.complete("restore ", 8).words, ["1"]);
    test.says("break queue_push");
    assert_eq!(test.cockpit.complete("delete ", 7).words.len(), 1);
}
