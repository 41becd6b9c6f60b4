//! `invigil decent`: runs, experiments, generators, drawings and checks of specifications.

use crate::common::{Folder, Ran};
use serde_json::Value;

const LIGHT: &str = "\
component lswitch: s
component bulb: l
m1 @ bulb = l
m0 @ lswitch = G(s -> X(@m1 U !s))
root m0
";

/// Runs the command with arguments that may have blanks in them.
fn args(folder: &Folder, args: &[&str]) -> Ran {
    let quoted: Vec<String> = args.iter().map(|arg| format!("'{arg}'")).collect();
    folder.shell(&format!("invigil {}", quoted.join(" ")))
}

#[test]
fn every_algorithm_finds_verdict_of_formula() {
    let folder = Folder::new();
    let ran = args(
        &folder,
        &[
            "decent",
            "run",
            "G(s -> X(l U !s))",
            "-c",
            "lswitch:s",
            "-c",
            "bulb:l",
            "--trace",
            "s:t,l:t>s:t,l:f",
            "-a",
            "all",
            "--json",
        ],
    );
    assert_eq!(ran.status, 1, "{ran:?}");
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let all = report.as_array().expect("a list");
    assert_eq!(all.len(), 6);
    for ran in all {
        assert_eq!(ran["runs"][0]["verdict"], "false", "{ran}");
    }
    let words =
        args(&folder, &["decent", "run", "F(a0 & b0)", "--trace", "a0:t,b0:t", "-a", "orchestration"]);
    assert_eq!(words.status, 0);
    assert!(words.stdout.contains("orchestration: 2 monitors on 2 components"), "{words:?}");
    assert!(
        words.stdout.contains(
            "run 0: true at instant 1, reached in round 2; delay 1.00, 1 message (0.50 per round), 6 bytes"
        ),
        "{words:?}"
    );
}

#[test]
fn specification_runs_on_its_components() {
    let folder = Folder::new().file("light.dec", LIGHT).file("states.csv", "time,s,l\n0,1,1\n1,1,0\n");
    let ran = folder.run("decent run light.dec --table states.csv");
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stdout.contains("as specified: 2 monitors on 2 components"), "{ran:?}");
    assert!(ran.stdout.contains("run 0: false at instant 2"), "{ran:?}");
    // Verdicts go along links; nothing must go back.
    let folder = folder.file("one-way.dec", format!("{LIGHT}link bulb -> lswitch\n"));
    let one_way = folder.run("decent run one-way.dec --table states.csv").exits(1);
    assert!(one_way.stdout.contains("run 0: false at instant 2"), "{one_way:?}");
    let wrong = folder.run("decent run light.dec --table states.csv -a migration");
    assert_eq!(wrong.status, 2);
    assert!(wrong.stderr.contains("--algorithm applies to formulae only: the monitors of a specification are already placed; omit it"), "{wrong:?}");
}

#[test]
fn generated_traces_and_formulae_can_be_run() {
    let folder = Folder::new();
    assert_eq!(folder.run("decent gen-trace runs --runs 3 --length 10 --components 2 --seed 7").status, 0);
    assert_eq!(folder.read("runs/2-b.trace").lines().count(), 10);
    let made = folder.run("decent gen-spec --count 5 --components 2 --size 7");
    assert_eq!((made.status, made.stdout.lines().count()), (0, 5), "{made:?}");
    let ran =
        args(&folder, &["decent", "run", made.stdout.lines().next().unwrap(), "--traces", "runs", "--json"]);
    assert!(ran.status < 2, "{ran:?}");
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(report[0]["runs"].as_array().map(Vec::len), Some(3));
    let folder = folder.file("form.xml", "<x>%form%</x>");
    assert_eq!(folder.run("decent gen-spec --template form.xml --folder specs").status, 0);
    assert!(folder.read("specs/0.xml").starts_with("<x>"));

    let folder = folder.file("list", "G(a0 -> X b0)\nG F a0 & b0\n# a comment\nF(a0 & b1)\n");
    let first = folder.run("decent experiment formulae list --traces runs --store m.db --csv m.csv");
    assert_eq!(first.status, 0, "{first:?}");
    assert!(first.stdout.starts_with("2 formulae monitored, 1 skipped\n36 runs in"), "{first:?}");
    assert_eq!(folder.read("m.csv").lines().count(), 37);
    assert_eq!(folder.read("list.keep"), "G(a0 -> X b0)\nF(a0 & b1)\n");
    assert!(folder.read("list.discard").contains("no verdict is possible"));
    let again = folder.run("decent experiment formulae list --traces runs --store m.db");
    assert!(again.stdout.contains("0 runs in") && again.stdout.contains("36 stored before"), "{again:?}");
}

#[test]
fn synthetic_benchmark_prints_published_figures() {
    let folder = Folder::new();
    let ran = folder.run("decent experiment synthetic --formulae 2 --traces 1 --svg plots");
    assert_eq!(ran.status, 0, "{ran:?}");
    for words in ["352 runs", "7.04 (1.50)", "110.13 (276.43)", "of 96 pairs as in [EH18]", "abridged"] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    assert!(folder.read("plots/delay-states.svg").contains("orchestration, thesis"));
}

#[test]
fn specifications_are_drawn_and_checked() {
    let folder = Folder::new()
        .file("light.dec", LIGHT)
        .file("other.dec", LIGHT.replace("G(s -> X(@m1 U !s))", "F(s & !@m1)"))
        .file("blind.dec", "component a: p\nroot @ a = G F p\n");
    let drawn = folder.run("decent draw light.dec --svg light.svg --dot -");
    assert_eq!(drawn.status, 0);
    assert!(drawn.stdout.contains("\"m0\" -> \"m1\""), "{drawn:?}");
    assert!(folder.read("light.svg").contains("data-state=\"m1\""));
    assert!(folder.run("decent draw light.dec -m m0").stdout.contains("@m1"));
    assert!(folder.run("decent draw light.dec -m m7").stderr.contains("expected one of m1, m0"));
    assert!(args(&folder, &["decent", "draw", "G(a0 -> X b0)"]).stdout.contains("a0"));

    let good = folder.run("decent check-spec light.dec --same-as light.dec");
    assert_eq!(good.status, 0, "{good:?}");
    for words in [
        "m0 (root) on lswitch",
        "needs m1",
        "It fits",
        "a verdict always remains possible",
        "always give the same verdict",
    ] {
        assert!(good.stdout.contains(words), "{words}: {good:?}");
    }
    let other = folder.run("decent check-spec light.dec --same-as other.dec");
    assert!(other.status == 1 && other.stdout.contains("They differ: after `"), "{other:?}");
    let blind = folder.run("decent check-spec blind.dec");
    assert!(blind.status == 1 && blind.stdout.contains("not monitorable"), "{blind:?}");
    let split = args(&folder, &["decent", "check-spec", "G(a0 -> X b0)"]);
    assert!(split.status == 0 && split.stdout.contains("component a: a0"), "{split:?}");
}

#[test]
fn analyze_rate_prints_polling_rate() {
    let folder = Folder::new()
        .file("door.csv", "time,value\n1000,OPEN\n2500,CLOSED\n4000,OPEN\n")
        .file("oven.csv", "1000,10\n2000,30\n2700,5\n")
        .file("never.csv", "1000,OFF\n");
    let reported = folder.run("decent analyze-rate door=door.csv oven=oven.csv:20 never=never.csv");
    assert_eq!(reported.status, 0, "{reported:?}");
    assert!(
        reported.stdout.contains("never changes") && reported.stdout.contains("Poll every 700 ms"),
        "{reported:?}"
    );
    let wrong = folder.run("decent analyze-rate oven=oven.csv");
    assert!(
        wrong.status == 2 && wrong.stderr.contains("oven.csv:1: expected ON, OPEN, true or 1"),
        "{wrong:?}"
    );
}

#[test]
fn errors_have_remedies() {
    let folder = Folder::new().file("wrong.dec", "component a: p\nroot @ a = F q\n");
    for (args, words) in [
        (&["decent", "run", "G(open -> X b0)", "--trace", "b0:t"][..], "--component NAME:open"),
        (&["decent", "run", "G(a0 ->", "--trace", "a0:t"], "<formula>:1:8"),
        (&["decent", "run", "F a0"], "give --trace, --traces, --table, --events"),
        (&["decent", "run", "F a0", "--trace", "a0:x"], "round 1: expected a name"),
        (&["decent", "run", "F a0", "--traces", "nowhere"], "0-a.trace"),
        (&["decent", "run", "F a0", "--trace", "a0:t", "-a", "telepathy"], "unknown algorithm `telepathy`"),
        (&["decent", "run", "F a0", "--trace", "a0:t", "-e", "paper"], "unknown encoding `paper`"),
        (&["decent", "run", "F a0", "--trace", "a0:t", "--loss", "2"], "from 0 to 1"),
        (&["decent", "check-spec", "wrong.dec"], "no component observes `q`"),
        (&["decent", "check-spec", "missing.dec"], "no such file"),
        (&["decent", "gen-spec", "--size", "2"], "larger --size"),
        (
            &["decent", "check-spec", "F(a0 & X[15] a1)"],
            "16384 states of a monitor: write the formula as several monitors",
        ),
        (
            &["decent", "run", "F(a0 & X[15] a1) & F b0", "--trace", "a0:t", "-a", "choreography"],
            "16384 states of a monitor: split it into a specification",
        ),
    ] {
        let ran = self::args(&folder, args);
        assert!(ran.status == 2 && ran.stderr.contains(words), "{args:?}: {ran:?}");
    }
}
