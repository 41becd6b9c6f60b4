//! `invigil mac instrument`: the woven classes run under the agent, which leaves them as they are.

use crate::common::Folder;
use invigil_test_support::java;
use std::path::Path;
use std::process::{Command, Output};

fn invigil(arguments: &[&str]) -> (i32, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_invigil")).args(arguments).output().expect("the command runs");
    let Output { status, stdout, stderr } = output;
    (status.code().unwrap_or(-1), String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned())
}

#[test]
fn woven_classes_run_under_agent() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/railroad");
    let file = |name: &str| example.join(name).display().to_string();
    let folder = Folder::new();
    let (classes, woven) = (folder.path("classes"), folder.path("woven"));
    let (classes, woven) = (classes.to_str().unwrap(), woven.to_str().unwrap());
    java::compile(&[example.join("Gate.java"), example.join("RRC.java")], &["-g"], classes.as_ref());
    let (pedl, medl) = (file("railroad.pedl"), file("railroad.medl"));
    let (status, reported) = invigil(&["mac", "instrument", &pedl, classes, "-o", woven]);
    assert_eq!(status, 0, "{reported}");
    assert!(
        reported.contains("RRC: ") && reported.contains("probes") && reported.contains(" → "),
        "{reported}"
    );
    // Without the agent, the class that the probes call does not exist.
    let alone = Command::new("java").args(["-cp", woven, "RRC", "good"]).output().unwrap();
    assert!(String::from_utf8_lossy(&alone.stderr).contains("java/lang/Invigil"));
    let path = format!("{woven}:{classes}");
    let run = ["run", "--batch", "--pedl", &pedl, "--medl", &medl, "--", "java", "-cp", &path, "RRC"];
    assert_eq!(invigil(&[&run[..], &["good"]].concat()).0, 0);
    let (status, reported) = invigil(&[&run[..], &["late"]].concat());
    assert_eq!(status, 1, "{reported}");
    assert!(reported.contains("RRC.java:45"), "{reported}");
}

#[test]
fn invalid_inputs_are_errors() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/railroad");
    let pedl = example.join("railroad.pedl").display().to_string();
    let empty = Folder::new();
    let here = empty.path(".");
    let woven = empty.path("woven");
    let (status, reported) =
        invigil(&["mac", "instrument", &pedl, here.to_str().unwrap(), "-o", woven.to_str().unwrap()]);
    assert_eq!(status, 2, "{reported}");
    assert!(
        reported.contains("no class `RRC` is on the class path") && reported.contains("railroad.pedl:"),
        "{reported}"
    );
    let (status, reported) =
        invigil(&["mac", "instrument", &pedl, "/nowhere", "-o", woven.to_str().unwrap()]);
    assert_eq!(status, 2, "{reported}");
    assert!(reported.contains("a directory of classes or a jar"), "{reported}");
}
