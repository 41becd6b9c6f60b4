//! Lookup, abbreviation and completion of commands.

use crate::prompt::common::queue;
use invigil_cockpit::commands;
use std::collections::BTreeSet;

#[test]
fn command_names_are_unique() {
    let mut seen = BTreeSet::new();
    for command in commands() {
        for name in std::iter::once(&command.name).chain(command.aliases) {
            assert!(seen.insert(*name), "`{name}` is defined twice");
        }
    }
}

#[test]
fn help_lists_and_explains_every_command() {
    let mut test = queue();
    let all = test.output_of("help");
    for command in commands() {
        assert!(all.contains(&command.call()), "{}", command.name);
        let one = test.output_of(&format!("help {}", command.name));
        assert!(one.contains(command.summary), "{one}");
    }
    test.fails_with("help nonsense", "unknown command `nonsense`");
}

#[test]
fn examples_in_the_help_name_real_commands() {
    let is_known = |line: &str| {
        let word = line.split([' ', '/']).next().unwrap_or("");
        commands().any(|command| command.name == word || command.aliases.contains(&word))
    };
    for command in commands() {
        let examples = command.more.lines().filter(|line| line.starts_with("  "));
        for example in examples {
            assert!(is_known(example.trim()), "{}: {example}", command.name);
        }
    }
}

#[test]
fn abbreviation_is_accepted_if_unambiguous() {
    let mut test = queue();
    test.shows("cont", &["Violation of queue"]);
    test.shows("backt", &["queue_push"]);
    test.fails_with("che", "ambiguous command `che`: `checkpoint` or `checkpoints`");
    test.fails_with("contniue", "did you mean `continue`?");
    test.fails_with("xyzzy", "`help` lists all commands");
    test.fails_with("=3", "is not a command");
    test.fails_with("where/x", "does not accept a format");
    assert_eq!(test.output_of("# a comment"), "");
    assert_eq!(test.output_of("   "), "");
}

#[test]
fn commands_of_verde_are_accepted() {
    let mut test = queue();
    for line in ["verde activate", "verde new", "verde cmd-group-begin", "verde cmd-group-end"] {
        assert_eq!(test.output_of(line), "");
    }
    test.shows("verde get-current", &["* 1 queue: init"]);
    test.shows("verde set-current queue", &["* 1 queue"]);
    test.shows("verde checkpoint", &["Checkpoint 1"]);
    test.shows("verde run-with-program", &["Violation of queue"]);
    test.shows("verde checkpoint-restart 1", &["Back at checkpoint 1, after 0 events"]);
    test.shows("verde exec get_current_states", &["init"]);
}

#[test]
fn completion_offers_candidates_by_argument_kind() {
    let mut test = queue();
    let mut words = |line: &str| {
        let completion = test.debugger.complete(line, line.len());
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
    let completion = test.debugger.complete(&line, line.len());
    assert_eq!(completion.words, [format!("{folder}/queue.prop")]);
    test.output_of("checkpoint");
    assert_eq!(test.debugger.complete("restore ", 8).words, ["1"]);
    test.output_of("break queue_push");
    assert_eq!(test.debugger.complete("delete ", 7).words.len(), 1);
}
