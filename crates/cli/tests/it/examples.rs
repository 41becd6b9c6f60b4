//! The READMEs of the examples: each command in a `console` block prints the quoted output below it.
//!
//! After an intended change, `UPDATE_EXAMPLES=1 cargo test -p invigil --test it examples` writes the new output
//! into the READMEs; read the difference before keeping it.

use crate::common::{Folder, shell};
use invigil_test_support::{snapshot, tools};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Runs a shell command in a folder and returns its output.
fn output(command: &str, folder: &Path) -> String {
    let mut shell = shell(&format!("{{ {command}\n}} 2>&1"));
    shell.current_dir(folder).env_remove("NO_COLOR").stdin(Stdio::null());
    String::from_utf8(shell.output().expect("there is a shell").stdout).expect("text")
}

/// A copy of an example, in which programs can be compiled.
pub(crate) fn copy(example: &str) -> Folder {
    let folder = Folder::new();
    let status = shell(&format!("cp -r {}/. .", examples().join(example).display()))
        .current_dir(folder.path("."))
        .status();
    assert!(status.expect("there is a shell").success());
    folder
}

/// Removes the parts that vary between runs: times, addresses, thread numbers, sizes of checkpoints.
fn normalized(text: &str) -> String {
    // Frames before `main` belong to the C library, and the losses of a restore depend on the test environment.
    let varies = |line: &str| line.trim().starts_with("limit") || line.contains("below `main`");
    let lines = text.lines().filter(|line| !varies(line));
    let normalized_lines = lines.map(|line| {
        let words: Vec<&str> = line.split_whitespace().map(normalized_word).collect();
        words.join(" ")
    });
    normalized_lines.collect::<Vec<_>>().join("\n")
}

fn normalized_word(word: &str) -> &str {
    let number = word.trim_start_matches('(').trim_end_matches([',', ':', ')']);
    let number = number.rsplit_once('=').map_or(number, |(_, value)| value);
    let is_address = number.starts_with("0x") || number.len() > 11 && number.parse::<u64>().is_ok();
    // Times and sizes. A time is written without zeros at its end, so the number of its digits varies.
    let is_fraction = number.contains('.') && number.parse::<f64>().is_ok();
    let is_thread = number.len() > 2 && number.parse::<u32>().is_ok();
    if is_address || is_fraction || is_thread { "N" } else { word }
}

/// Runs the commands of a README and returns it with their outputs.
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
            // The old output, which is replaced.
            None if in_console && line != "```console" => {}
            _ => out += &format!("{line}\n"),
        }
    }
    out
}

fn assert_readme_current(example: &str) {
    assert_document_current(&examples().join(example).join("README.md"), example);
}

/// Asserts that the outputs in a document about an example are current.
fn assert_document_current(file: &Path, example: &str) {
    let readme = fs::read_to_string(file).expect("a README");
    let replayed = replayed(&readme, &copy(example).path("."));
    assert!(readme.contains("```console"), "{example} shows no command");
    snapshot::assert_all([snapshot::compare_as(file, &replayed, normalized)]);
}

#[test]
fn queue() {
    assert_readme_current("queue");
}

#[test]
fn heap() {
    assert_readme_current("heap");
}

/// The tutorial quotes its files in full, so that the reader can save them.
#[test]
fn tutorial() {
    let document = examples().join("../docs/tutorial.md");
    let text = fs::read_to_string(&document).expect("the tutorial");
    for file in ["shop.c", "returns.prop", "returns.scn"] {
        let quoted = fs::read_to_string(examples().join("gift-cards").join(file)).expect("the file");
        assert!(text.contains(&format!("\n{quoted}```\n")), "the tutorial does not quote {file}");
    }
    assert_document_current(&document, "gift-cards");
}

#[test]
fn league() {
    if tools::is_installed("c++") {
        assert_readme_current("league");
    }
}

#[test]
fn pool() {
    if tools::is_installed("rustc") {
        assert_readme_current("pool");
    }
}

#[test]
fn iterator() {
    assert_readme_current("iterator");
}

#[test]
fn gate() {
    assert_readme_current("gate");
}

#[test]
fn kettle() {
    assert_readme_current("kettle");
}

#[test]
fn leader() {
    assert_readme_current("leader");
}

#[test]
fn sudoku() {
    assert_readme_current("sudoku");
}

#[test]
fn producers() {
    assert_readme_current("producers");
}

#[test]
fn crossing() {
    assert_readme_current("crossing");
}

#[test]
fn soup() {
    assert_readme_current("soup");
}

#[test]
fn philosophers() {
    assert_readme_current("philosophers");
}

#[test]
fn protocol() {
    assert_readme_current("protocol");
}

/// A restore truncates the program's files, but not those that the debugger writes to as well.
#[test]
fn session_output_can_be_redirected() {
    let folder = copy("queue");
    let line = "cc -g3 -o faulty faulty.c && invigil run -p queue.prop --commands session.invigil -- ./faulty > out 2> err";
    folder.shell(line).exits(1);
    let out = "consonants: hnstbgshr\nvowels: raayuiee\nconsonants: shr\nvowels: oaayuiee\n";
    assert_eq!(folder.read("out"), out);
    let stderr = folder.read("err");
    let commands: Vec<&str> = stderr.lines().filter_map(|line| line.strip_prefix("(invigil) ")).collect();
    let session = folder.read("session.invigil");
    let expected: Vec<&str> =
        session.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert_eq!(commands, expected);
}

/// Which producer violates the property varies between runs.
#[test]
fn too_many_producers_violate_property() {
    let folder = copy("producers");
    let line =
        "cc -g -pthread -o shop shop.c && invigil run -p queue.prop --commands session.invigil -- ./shop";
    for _ in 0..3 {
        let ran = folder.shell(line).exits(1).stderr_has(&[
            "N = 8, maxSize = 8",
            "> #0 queue_push (queue=0x",
            "  #1 produce (item=",
            "  #2 producer (first=0x",
            "> 56 |     queue_push(queue, item);",
            "queue     violated       1     1           1     12",
        ]);
        let here = ran
            .stderr
            .lines()
            .filter(|line| line.starts_with("> ") && line.contains("  queue_push (shop.c:"));
        assert_eq!(here.count(), 1, "the thread is marked: {}", ran.stderr);
        // Not all threads need to have started, but one alone cannot push too many items.
        let threads = ran.stderr.lines().filter(|line| {
            let mut words = line.trim_start_matches("> ").split_whitespace();
            let is_number = |word: Option<&str>| word.is_some_and(|word| word.parse::<u32>().is_ok());
            is_number(words.next()) && is_number(words.next()) && words.next() == Some("shop")
        });
        let threads = threads.count();
        assert!((3..=26).contains(&threads), "there are {threads} threads: {}", ran.stderr);
    }
}

/// The reported blocks and their states are the same with probes and with traps.
#[test]
fn heap_report_is_independent_of_probe_mode() {
    let folder = copy("heap");
    folder.shell("cc -g -o faulty faulty.c").exits(0);
    for guests in ["ann", "bob", "cyd", "dan", "eve", "fay", "fay eve fay dan"] {
        let reports = ["inline", "trap"].map(|mode| {
            let run = "invigil run --batch --on-violation continue --limit 9 -p heap.prop --probes";
            let reported = output(&format!("{run} {mode} -- ./faulty {guests}"), &folder.path("."));
            // Without the numbers and times of events.
            let is_number = |word: &&str| word.parse::<f64>().is_ok();
            let of_interest = |line: &&str| {
                let ends = ["live", "resizing", "freed", "unknown", "leaked", "freed_twice", "never_given"];
                line.starts_with("  heap ") || ends.iter().any(|state| line.ends_with(state))
            };
            let lines = reported.lines().filter(of_interest).map(|line| match line.starts_with("  heap ") {
                true => line.to_owned(),
                false => {
                    line.split_whitespace().filter(|word| !is_number(word)).collect::<Vec<_>>().join(" ")
                }
            });
            lines.collect::<Vec<String>>()
        });
        assert_eq!(reports[0], reports[1], "{guests}");
        assert!(reports[0].iter().any(|line| line.starts_with("  heap ")), "{guests}: {reports:?}");
    }
}

#[test]
fn smart_home() {
    assert_readme_current("smart-home");
}

#[test]
fn railroad() {
    assert_readme_current("railroad");
}

#[test]
fn first() {
    assert_readme_current("first");
}

#[test]
fn savings() {
    assert_readme_current("savings");
}

#[test]
fn sieve() {
    assert_readme_current("sieve");
}

#[test]
fn pendulum() {
    assert_readme_current("pendulum");
}

#[test]
fn aliases() {
    assert_readme_current("aliases");
}

#[test]
fn light_switch() {
    assert_readme_current("light-switch");
}

#[test]
fn chiron() {
    assert_readme_current("chiron");
}

#[test]
fn every_example_is_tested_and_formatted() {
    let mut names: Vec<String> = fs::read_dir(examples())
        .expect("there are examples")
        .map(|entry| entry.expect("a folder"))
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().expect("text"))
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "aliases",
            "bank",
            "chiron",
            "crossing",
            "first",
            "gate",
            "gate-java",
            // Its document is the tutorial.
            "gift-cards",
            "heap",
            "iterator",
            "kettle",
            "leader",
            "league",
            "light-switch",
            "mav",
            // Tested in `crates/node`.
            "nodes",
            "pendulum",
            "philosophers",
            "pool",
            "producers",
            "protocol",
            "queue",
            "railroad",
            "savings",
            "sieve",
            "smart-home",
            "soup",
            "stock",
            "sudoku",
            "zsh",
        ],
        "add a test for the new one above; those whose output depends on real time are in `java`"
    );
    assert_eq!(output("invigil fmt --check */*.prop */*.ltl; echo $?", &examples()), "0\n");
}
