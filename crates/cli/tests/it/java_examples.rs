//! The Java examples: verdicts and positions are as in their READMEs.

use crate::common::Folder;
use invigil_test_support::java;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An example, compiled.
struct Example {
    folder: PathBuf,
    classes: Folder,
}

/// Output and exit status of a monitored run.
struct MonitoredRun {
    text: String,
    status: Option<i32>,
}

impl Example {
    fn new(name: &str) -> Example {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
        let classes = Folder::new();
        java::compile(&java::sources(&folder), &["-g"], &classes.path("."));
        Example { folder, classes }
    }

    fn run(&self, watching: &[&str], program: &[&str]) -> MonitoredRun {
        let output = Command::new(env!("CARGO_BIN_EXE_invigil"))
            .current_dir(&self.folder)
            .args(["run", "--batch", "--prints"])
            .args(watching)
            .args(["--", "java", "-cp"])
            .arg(self.classes.path("."))
            .args(program)
            .stdin(Stdio::null())
            .output()
            .expect("the command runs");
        let text = [output.stdout, output.stderr].concat();
        MonitoredRun { text: String::from_utf8(text).expect("text"), status: output.status.code() }
    }

    fn scripts(&self, scripts: (&str, &str), program: &[&str]) -> MonitoredRun {
        let (pedl, medl) = (format!("{}.pedl", scripts.0), format!("{}.medl", scripts.1));
        self.run(&["--pedl", &pedl, "--medl", &medl], program)
    }

    /// The same, but the program continues after violations.
    fn scripts_past_violations(&self, scripts: (&str, &str), program: &[&str]) -> MonitoredRun {
        let (pedl, medl) = (format!("{}.pedl", scripts.0), format!("{}.medl", scripts.1));
        self.run(&["--on-violation", "continue", "--pedl", &pedl, "--medl", &medl], program)
    }
}

impl MonitoredRun {
    /// The property's row in the final table, without its name.
    #[track_caller]
    fn row(&self, property: &str) -> Vec<&str> {
        let line = self.text.lines().rfind(|line| line.split_whitespace().next() == Some(property));
        let line = line.unwrap_or_else(|| panic!("no row for {property} in\n{}", self.text));
        line.split("  ").map(str::trim).filter(|part| !part.is_empty()).skip(1).collect()
    }

    #[track_caller]
    fn holds(&self, property: &str) -> &MonitoredRun {
        assert!(self.row(property)[0].starts_with("holds"), "{}", self.text);
        self
    }

    #[track_caller]
    fn violated(&self, property: &str, times: &str) -> &MonitoredRun {
        let row = self.row(property);
        assert_eq!((row[0], row[3]), ("violated", times), "{}", self.text);
        assert_eq!(self.status, Some(1));
        self
    }

    #[track_caller]
    fn shows(&self, parts: &[&str]) -> &MonitoredRun {
        for part in parts {
            assert!(self.text.contains(part), "no `{part}` in\n{}", self.text);
        }
        self
    }
}

#[test]
fn gate_example_is_violated() {
    let example = Example::new("gate-java");
    example.scripts(("ticks", "quick"), &["Main", "good", "2"]).holds("GateClosing");
    example.scripts(("ticks", "quick"), &["Main", "recall", "2"]).holds("GateClosing");
    let slow = example.scripts(("ticks", "quick"), &["Main", "slow"]);
    slow.violated("GateClosing", "1").shows(&["Main.elapse", "Main.pass"]);
}

#[test]
fn crossing_example_is_violated() {
    let example = Example::new("railroad");
    let scripts = ("railroad", "railroad");
    let good = example.scripts(scripts, &["RRC", "good"]);
    assert_eq!(good.holds("safeRRC").status, Some(0));
    let late = example.scripts(scripts, &["RRC", "late"]);
    late.violated("safeRRC", "1").shows(&["RRC.java:45", "Gate.java:10"]);
    let early = example.scripts(scripts, &["RRC", "early"]);
    early.violated("safeRRC", "1").shows(&["Gate.java:16", "RRC.java:36"]);
}

#[test]
fn client_example_is_violated() {
    let example = Example::new("stock");
    for (mode, printed, corrected) in [
        ("unreachable", true, false),
        ("silent", true, false),
        ("both", false, false),
        ("impatient", true, true),
    ] {
        for (script, violated) in [("stock", printed), ("corrected", corrected)] {
            let watched = example.scripts(("stock", script), &["Client", mode, "1"]);
            match violated {
                true => watched.violated("wrongFT", "1").shows(&["Client.java:80"]),
                false => watched.holds("wrongFT"),
            };
        }
    }
}

#[test]
fn sieve_example_is_violated() {
    let example = Example::new("sieve");
    for script in ["sieve", "delta", "value"] {
        let watched = example.scripts((script, "sieve"), &["SieveMain", "110000"]);
        watched.holds("secondPrime").shows(&["a prime between 99990 and 100000", "9593"]);
    }
}

#[test]
fn first_script_occurs_twice() {
    let example = Example::new("first");
    let watched = example.scripts_past_violations(("first", "first"), &["A"]);
    watched.violated("happened", "2").shows(&["A.java:9", "A.java:12"]);
    example.scripts(("values", "values"), &["A"]).holds("wrong").shows(&["10", "right"]);
}

#[test]
fn vehicles_example_is_violated() {
    let watched = Example::new("mav").scripts(("mav", "mav"), &["Console", "bad"]);
    watched.violated("NoPattern", "1").shows(&["MAV.java:34"]);
}

#[test]
fn calls_are_counted_at_call_site() {
    let example = Example::new("savings");
    example
        .scripts(("savings", "savings"), &["Savings"])
        .holds("large")
        .shows(&["3000.0", "4650.0", "19850.0"]);
    let uncle = example.scripts_past_violations(("savings", "savings"), &["Savings", "uncle"]);
    uncle.violated("large", "1").shows(&["WireTransfer.java:4", "Savings.java:11", "26220.0"]);
}

/// Ten properties at the same time; each of the seven bugs is found where it occurs.
#[test]
fn bank_example_has_seven_violations() {
    let example = Example::new("bank");
    let bugs = [
        ("3", "no-overdraft", "Account.java:25", "Teller.java:91"),
        ("4", "unique-number", "Admin.java:9", "Teller.java:104"),
        ("5", "disabled-stays-out", "User.java:24", "Teller.java:81"),
        ("6", "three-before-white", "Admin.java:32", "Teller.java:119"),
        ("7", "ten-requests", "Session.java:22", "Teller.java:60"),
        ("9", "three-sessions", "Session.java:13", "Teller.java:44"),
        ("10", "in-session", "Session.java:28", "Teller.java:81"),
    ];
    let others = ["gold-from-here", "initialised-first", "reconcile"];
    let all: Vec<&str> = bugs.iter().map(|(_, property, ..)| *property).chain(others).collect();
    let files: Vec<String> = all.iter().map(|property| format!("{property}.prop")).collect();
    let watching: Vec<&str> = files.iter().flat_map(|file| ["-p", file.as_str()]).collect();
    let good = example.run(&watching, &["Bank"]);
    assert_eq!(good.status, Some(0), "{}", good.text);
    for property in &all {
        good.holds(property);
    }
    for (bug, property, at, caller) in bugs {
        let watched = example.run(&watching, &["Bank", "--bug", bug]);
        watched.violated(property, "1").shows(&[at, caller]);
        for other in all.iter().filter(|other| **other != property) {
            watched.holds(other);
        }
    }
}
