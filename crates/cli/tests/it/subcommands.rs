//! Smaller verbs: `fmt`, `explain`, `completions`, `man`, and help.

use crate::common::{Folder, HIT};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

const UNTIDY: &str =
    "state init accepting{transition{event a(x){return x>0}failure bad}} # why\nstate bad non-accepting";

#[test]
fn fmt_rewrites_file_and_keeps_permissions() {
    let folder = Folder::new().file("u.prop", UNTIDY);
    std::fs::set_permissions(folder.path("u.prop"), std::fs::Permissions::from_mode(0o640)).unwrap();
    let ran = folder.run("fmt --check u.prop").exits(1);
    assert_eq!((ran.stdout.as_str(), folder.read("u.prop").as_str()), ("not formatted: u.prop\n", UNTIDY));
    assert_eq!(folder.run("fmt u.prop").exits(0).stdout, "formatted: u.prop\n");
    assert!(folder.read("u.prop").contains("}  # why\n"));
    assert_eq!(folder.path("u.prop").metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(folder.run("fmt u.prop").exits(0).stdout, "");
    folder.run("fmt --check u.prop").exits(0);
}

#[test]
fn fmt_replaces_target_of_link() {
    let folder = Folder::new().file("u.prop", UNTIDY);
    std::os::unix::fs::symlink("u.prop", folder.path("link.prop")).unwrap();
    folder.run("fmt link.prop").exits(0);
    assert!(folder.path("link.prop").is_symlink());
    folder.run("fmt --check u.prop").exits(0);
}

#[test]
fn fmt_of_stdin_writes_stdout() {
    let ran = Folder::new().feed("fmt -", UNTIDY.as_bytes()).exits(0);
    assert!(ran.stdout.starts_with("state init accepting {\n"), "{}", ran.stdout);
    assert_eq!(Folder::new().feed("fmt --check -", UNTIDY.as_bytes()).exits(1).stdout, "");
}

#[test]
fn fmt_skips_invalid_files() {
    let folder = Folder::new().file("bad.prop", "stat init {").file("u.prop", UNTIDY);
    let ran = folder.run("fmt bad.prop none.prop u.prop").exits(2);
    ran.stdout_has(&["formatted: u.prop\n"]).stderr_has(&["bad.prop:1:1", "none.prop: no such file"]);
    assert_eq!(folder.read("bad.prop"), "stat init {");
    assert_eq!(std::fs::read_dir(folder.path(".")).unwrap().count(), 2, "no file is left over");
}

#[test]
fn explain_prints_states_and_transitions() {
    let folder = Folder::with_hit().file("odd.prop", HIT.to_owned() + "state lost accepting\n");
    let ran = folder.run("explain hit.prop").exits(0);
    ran.stdout_has(&[
        "property hit: one instance for the whole trace\n",
        "  variables n = 0\n",
        "state init: accepting, starts here  hit.prop:2\n",
        "  needs hit(x)\n",
        "    if   12 / (x - 3) > 0\n",
        "    else → bad\n",
        "state bad: non-accepting",
    ]);
    folder
        .run("explain odd.prop")
        .exits(0)
        .stdout_has(&["warning: state `lost` is never reached (odd.prop:12)"]);
    folder.run("explain none.prop").exits(2).stderr_has(&["none.prop: no such file"]);
}

#[test]
fn explain_writes_pictures() {
    let folder = Folder::with_hit();
    folder.run("explain hit.prop --svg h.svg --dot h.dot").exits(0).stdout_has(&["property hit"]);
    assert!(folder.read("h.svg").starts_with("<svg") || folder.read("h.svg").starts_with("<?xml"));
    assert!(folder.read("h.dot").contains("\"init\" -> \"bad\""));
    let ran = folder.run("explain hit.prop --dot -").exits(0);
    assert!(ran.stdout.starts_with("digraph"), "{}", ran.stdout);
    folder.run("explain hit.prop --dot - --svg -").exits(2).stderr_has(&["only one report"]);
    folder.run("explain hit.prop hit.prop --svg x.svg").exits(2).stderr_has(&["one property"]);
}

#[test]
fn explain_writes_json() {
    let ran = Folder::with_hit().run("explain hit.prop --json").exits(0);
    let said: Value = serde_json::from_str(&ran.stdout).unwrap();
    let property = &said["properties"][0];
    assert_eq!((&property["name"], &property["can_be_violated"]), (&"hit".into(), &true.into()));
    assert_eq!(property["states"][0]["transitions"][0]["failure"]["target"], "bad");
    assert_eq!(property["variables"][0]["value"], "0");
}

#[test]
fn help_has_examples_and_wraps() {
    let folder = Folder::new();
    folder.run("").exits(0).stdout_has(&["Start here:", "invigil demo", "check", "explain", "fmt"]);
    folder.run("--version").exits(0).stdout_has(&["invigil 0."]);
    folder.run("check --help").exits(0).stdout_has(&["Examples:", "Exit status", "--strict"]);
    folder.run("help check").exits(0).stdout_has(&["Examples:"]);
    folder.run("fmt --help").exits(0).stdout_has(&["Examples:", "--check"]);
    folder.run("explain --help").exits(0).stdout_has(&["Examples:", "--svg"]);
    let verbs = [
        "",
        "run",
        "attach",
        "record",
        "check",
        "explore",
        "debug",
        "explain",
        "fmt",
        "mac",
        "mac run",
        "mac compile",
        "mac instrument",
        "mac recognize",
        "mac check",
        "decent",
        "decent run",
        "decent experiment synthetic",
        "decent experiment formulae",
        "decent gen-trace",
        "decent gen-spec",
        "decent draw",
        "decent check-spec",
        "decent analyze-rate",
        "decent gen-day",
        "decent detect",
        "demo",
        "completions",
        "man",
    ];
    for verb in verbs {
        let ran = folder.run(&format!("{verb} --help")).exits(0);
        assert!(ran.stdout.lines().all(|line| line.chars().count() <= 100), "{}", ran.stdout);
        // Examples are not wrapped, so they must fit.
        let examples = ran.stdout.split("Examples:").nth(1).unwrap_or_default();
        assert!(examples.lines().all(|line| line.chars().count() <= 82), "{examples}");
    }
    folder.run("chekc").exits(2).stderr_has(&["check"]);
}

#[test]
fn completions_name_verbs_and_options() {
    let folder = Folder::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        folder.run(&format!("completions {shell}")).exits(0).stdout_has(&[
            "explore",
            "checkpoint-every",
            "gen-trace",
        ]);
    }
    folder.run("completions dos").exits(2).stderr_has(&["bash"]);
    folder.shell("invigil completions bash > c && bash -n c").exits(0);
}

#[test]
fn man_writes_a_page_for_each_verb() {
    let folder = Folder::new();
    folder.run("man").exits(0).stdout_has(&[".TH INVIGIL 1", "invigil explore crossing.model"]);
    assert_eq!(folder.run("man pages/man1").exits(0).stdout, "");
    for page in ["invigil", "invigil-run", "invigil-mac-compile", "invigil-decent-experiment-synthetic"] {
        let text = folder.read(&format!("pages/man1/{page}.1"));
        assert!(text.contains(&format!(".TH {} 1", page.to_uppercase())), "{text}");
    }
    assert!(folder.read("pages/man1/invigil-run.1").contains("invigil run"));
    folder.run("man /dev/null/x").exits(2).stderr_has(&["/dev/null/x: cannot write"]);
}

#[test]
fn property_is_read_from_stdin() {
    let folder = Folder::with_hit().file("t", "hit(x=1)\n");
    folder.feed("explain -", HIT.as_bytes()).exits(0).stdout_has(&["property stdin", "<standard input>:2"]);
    folder.feed("explain -", b"stat init").exits(2).stderr_has(&["--> <standard input>:1:1"]);
    folder.feed("check -p - t", HIT.as_bytes()).exits(1).stdout_has(&["violation 1: stdin"]);
    folder
        .run("check -p -")
        .exits(2)
        .stderr_has(&["cannot be both the trace and a property or a file of functions"]);
    folder.run("check -p - -p - t").exits(2).stderr_has(&["only one standard input"]);
}
