//! The READMEs of the examples are true: each command in a `console` block prints what stands below it.
//!
//! After a change that is meant, `UPDATE_EXAMPLES=1 cargo test -p invigil --test command examples` writes the new output
//! into the READMEs; read the difference before keeping it.

use crate::common::shell;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// What a shell prints for a command in a folder.
fn output(command: &str, folder: &Path) -> String {
    let mut shell = shell(&format!("{{ {command}\n}} 2>&1"));
    let done = shell.current_dir(folder).env_remove("NO_COLOR").output().expect("there is a shell");
    String::from_utf8(done.stdout).expect("text")
}

/// The README with the output of each command in place.
fn replayed(readme: &str, folder: &Path) -> String {
    let mut out = String::new();
    let mut in_console = false;
    for line in readme.lines() {
        if line == "```console" {
            in_console = true;
        } else if line.starts_with("```") {
            in_console = false;
        }
        match line.strip_prefix("$ ") {
            Some(command) if in_console => out += &format!("{line}\n{}", output(command, folder)),
            // Output, which is written anew.
            None if in_console && line != "```console" => {}
            _ => out += &format!("{line}\n"),
        }
    }
    out
}

fn holds(example: &str) {
    let folder = examples().join(example);
    let file = folder.join("README.md");
    let readme = fs::read_to_string(&file).expect("a README");
    let replayed = replayed(&readme, &folder);
    assert!(readme.contains("```console"), "{example} shows no command");
    if env::var_os("UPDATE_EXAMPLES").is_some() {
        fs::write(&file, replayed).expect("the README can be written");
    } else {
        assert_eq!(readme, replayed, "examples/{example}/README.md is not what the commands print");
    }
}

#[test]
fn queue() {
    holds("queue");
}

#[test]
fn iterator() {
    holds("iterator");
}

#[test]
fn gate() {
    holds("gate");
}

#[test]
fn leader() {
    holds("leader");
}

#[test]
fn every_example_is_here_and_formatted() {
    let mut names: Vec<String> = fs::read_dir(examples())
        .expect("there are examples")
        .map(|entry| entry.expect("a folder").file_name().into_string().expect("text"))
        .collect();
    names.sort();
    assert_eq!(names, ["gate", "iterator", "leader", "queue"], "add a test for the new one above");
    assert_eq!(output("invigil fmt --check */*.prop; echo $?", &examples()), "0\n");
}
