//! The example `nodes` is true: its commands, one after the other in one shell, print what stands below them.
//!
//! After a change that is meant, `UPDATE_EXAMPLES=1 cargo test -p invigil-node --test example` writes the new output into its README.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

/// What stands before what a command prints.
const MARK: &str = "--- console";

/// All commands in one script: what those of `console` blocks print comes behind a mark.
fn script(readme: &str) -> String {
    let mut script = String::from("exec 2>&1\n");
    let mut block = "";
    for line in readme.lines() {
        match (line.strip_prefix("```"), block, line.strip_prefix("$ ")) {
            (Some(language), "", _) => block = language,
            (Some(_), ..) => block = "",
            (None, "console", Some(command)) => script += &format!("echo '{MARK}'\n{command}\n"),
            (None, "sh", _) => script += &format!("{line}\n"),
            _ => {}
        }
    }
    // Nodes that a failure has left.
    script + &format!("echo '{MARK}'\nwait\n")
}

/// The README with what the commands print.
fn replayed(readme: &str, printed: &str) -> String {
    let mark = format!("{MARK}\n");
    let mut outputs = printed.split(&mark[..]).skip(1);
    let (mut out, mut in_console) = (String::new(), false);
    for line in readme.lines() {
        if line.starts_with("```") {
            in_console = line == "```console";
        }
        if !in_console || line.starts_with("```") {
            out += &format!("{line}\n");
        } else if line.starts_with("$ ") {
            out += &format!("{line}\n{}", outputs.next().expect("an output"));
        }
    }
    out
}

/// A text without what differs from run to run: the numbers of runs, times, and how much was sent again.
fn settled(text: &str) -> String {
    let line = |line: &str| {
        let is_figures = line.starts_with("  ") || line.contains(": here for ");
        let word = |word: &str| {
            let is_run = word.len() == 16 && word.bytes().all(|letter| letter.is_ascii_hexdigit());
            let is_number = word.bytes().next().is_some_and(|first| first.is_ascii_digit());
            if is_run || is_figures && is_number { "N".to_owned() } else { word.to_owned() }
        };
        line.split(' ').map(word).collect::<Vec<_>>().join(" ")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_example_is_true() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/nodes");
    let readme = fs::read_to_string(example.join("README.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let copied = Command::new("cp").arg("-r").arg(example.join(".")).arg(folder.path()).status().unwrap();
    assert!(copied.success());
    // Held together, so that they are different.
    let ports = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let [one, two] = ports.map(|port| port.local_addr().unwrap().port().to_string());
    let script = script(&readme).replace("7447", &one).replace("7448", &two);
    let beside = Path::new(env!("CARGO_BIN_EXE_invigil-node")).parent().unwrap();
    let path = format!("{}:{}", beside.display(), env::var("PATH").unwrap_or_default());
    let mut bash = Command::new("bash");
    bash.args(["-c", &script]).current_dir(&folder).env("PATH", path).stdin(Stdio::null());
    let out = bash.output().unwrap();
    let replayed = replayed(&readme, &String::from_utf8(out.stdout).unwrap());
    if settled(&readme) == settled(&replayed) {
        return;
    }
    assert!(
        env::var_os("UPDATE_EXAMPLES").is_some(),
        "examples/nodes/README.md is not what the commands print, which is\n{replayed}"
    );
    fs::write(example.join("README.md"), replayed).unwrap();
}
