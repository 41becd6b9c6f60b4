//! The example `nodes`: its commands, run one after the other in one shell, print the quoted outputs.
//!
//! After an intended change, `UPDATE_EXAMPLES=1 cargo test -p invigil-node --test it example` writes the new output
//! into its README.

use invigil_test_support::snapshot;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

/// Marker before the output of a command.
const MARK: &str = "--- console";

/// Builds one script of all commands; the outputs of those in `console` blocks follow a marker.
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
    // Kills nodes left over from a failure.
    script + &format!("echo '{MARK}'\nwait\n")
}

/// Returns the README with the outputs of the commands.
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

/// Removes what differs from run to run: ids of runs, times, and counts of resent bundles.
fn settled(text: &str) -> String {
    let line = |line: &str| {
        let is_figures = line.starts_with("  ") || line.contains(": up for ");
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
fn example_output_is_current() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/nodes");
    let readme = fs::read_to_string(example.join("README.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let copied = Command::new("cp").arg("-r").arg(example.join(".")).arg(folder.path()).status().unwrap();
    assert!(copied.success());
    // Both ports are held at the same time, so that they differ.
    let ports = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let [one, two] = ports.map(|port| port.local_addr().unwrap().port().to_string());
    let script = script(&readme).replace("7447", &one).replace("7448", &two);
    let beside = Path::new(env!("CARGO_BIN_EXE_invigil-node")).parent().unwrap();
    let path = format!("{}:{}", beside.display(), env::var("PATH").unwrap_or_default());
    let mut bash = Command::new("bash");
    bash.args(["-c", &script]).current_dir(&folder).env("PATH", path).stdin(Stdio::null());
    let out = bash.output().unwrap();
    let replayed = replayed(&readme, &String::from_utf8(out.stdout).unwrap());
    snapshot::assert_all([snapshot::compare_as(&example.join("README.md"), &replayed, settled)]);
}
