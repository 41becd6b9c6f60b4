//! The same random properties on the same random run, in every host of monitors: the trace checker, the session (events by
//! traps), the agent inside a native program (probes), the agent inside a Java virtual machine, and the product with a model.
//! Verdicts, counts and paths agree.

use crate::common::Folder;
use invigil_test_support::{Rng, at_least, cases};
use serde_json::{Value, json};
use std::fmt::Write;

const C: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define EVENT __attribute__((noinline, noclone)) void
EVENT ev_a(long x, long y) { __asm__ volatile("" :: "r"(x), "r"(y)); }
EVENT ev_b(long x, const char *s) { __asm__ volatile("" :: "r"(x), "r"(s)); }
EVENT ev_c(long x, long y, const char *s) { __asm__ volatile("" :: "r"(x), "r"(y), "r"(s)); }
EVENT ev_d(long x) { __asm__ volatile("" :: "r"(x)); }
int main(int n, char **v) {
    char line[512];
    FILE *f = fopen("run.txt", "r");
    while (fgets(line, sizeof line, f)) {
        char *kind = strtok(line, "\t\n"), *x = strtok(0, "\t\n"), *y = strtok(0, "\t\n"), *s = strtok(0, "\t\n");
        long first = atol(x), second = y ? atol(y) : 0;
        switch (*kind) {
        case 'a': ev_a(first, second); break;
        case 'b': ev_b(first, s); break;
        case 'c': ev_c(first, second, s); break;
        case 'd': ev_d(first); break;
        default: return (int)first;
        }
    }
    return 0;
}
"#;

const JAVA: &str = r#"
import java.nio.file.*;
public class Run {
    static void ev_a(long x, long y) {}
    static void ev_b(long x, String s) {}
    static void ev_c(long x, long y, String s) {}
    static void ev_d(long x) {}
    public static void main(String[] args) throws Exception {
        for (String line : Files.readAllLines(Path.of("run.txt"))) {
            String[] word = line.split("\t");
            long x = Long.parseLong(word[1]);
            long y = word.length > 2 ? Long.parseLong(word[2]) : 0;
            switch (word[0]) {
                case "a": ev_a(x, y); break;
                case "b": ev_b(x, word[3]); break;
                case "c": ev_c(x, y, word[3]); break;
                case "d": ev_d(x); break;
                default: System.exit((int) x);
            }
        }
    }
}
"#;

/// The text of some events: short, long, and not ASCII.
const TEXTS: [&str; 4] = ["up", "down", "a text that is longer than fourteen bytes", "größer"];
/// Integers, of which some are beyond 2⁵³.
const LARGE: [i64; 3] = [(1 << 53) + 1, (1 << 53) + 2, -(1 << 60) - 1];

/// One event: its letter, its integers and its text.
struct RunEvent {
    kind: char,
    x: i64,
    y: i64,
    text: &'static str,
}

impl RunEvent {
    fn random(random: &Rng, form: Form) -> RunEvent {
        let large = |random: &Rng| random.pick(&LARGE);
        let x = if random.below(12) == 0 { large(random) } else { random.between(1, 3) };
        let y = if random.below(10) == 0 { large(random) } else { random.between(0, 6) };
        let kinds: &[char] = if form.has_text { &['a', 'b', 'c', 'd'] } else { &['a', 'd'] };
        RunEvent { kind: random.pick(kinds), x, y, text: random.pick(&TEXTS) }
    }

    /// The name of the event with its parameters in a trace.
    fn line(&self) -> String {
        let RunEvent { x, y, text, .. } = self;
        match self.kind {
            'a' => format!("ev_a(x={x}, y={y})"),
            'b' => format!("ev_b(x={x}, s=\"{text}\")"),
            'c' => format!("ev_c(x={x}, y={y}, s=\"{text}\")"),
            _ => format!("ev_d(x={x})"),
        }
    }
}

/// What random properties may use.
#[derive(Clone, Copy)]
struct Form {
    has_text: bool,
    has_exit: bool,
}

/// A random property.
fn property(random: &Rng, form: Form) -> String {
    let slices: &[&str] = match form.has_text {
        true => &[
            "",
            "",
            "slice on x\n",
            "slice on s\n",
            "slice on x, y\n",
            "slice on x, s\n",
            "slice on x, y, s\n",
        ],
        false => &["", "", "slice on x\n", "slice on y\n", "slice on x, y\n"],
    };
    let slice_on = random.pick(slices);
    let mut text = format!("{slice_on}initialization {{ N = 0; T = \"\" }}\n");
    let states = ["init", "one", "two", "bad", "done"];
    for (at, state) in states.iter().enumerate() {
        let verdict = match (at, random.below(6)) {
            (3, _) => "non-accepting",
            (4, 0..4) => "accepting final",
            (_, 0) => "",
            _ => "accepting",
        };
        let _ = writeln!(text, "state {state} {verdict} {{");
        let transitions = if at == 0 { 1 + random.below(3) } else { random.below(4) };
        for _ in 0..transitions {
            text += &transition(random, form, slice_on);
        }
        if at == 0 {
            // Every slice parameter must be bound by an event.
            text += if form.has_text {
                "    transition { event ev_c(x: int, y: int, s: str) { return y > 4 } success bad }\n"
            } else {
                "    transition { event ev_a(x: int, y: int) { return y > 4 } success bad }\n"
            };
        }
        text += "}\n";
    }
    text
}

fn transition(random: &Rng, form: Form, slice_on: &str) -> String {
    let target = |random: &Rng| random.pick(&["init", "one", "two", "bad", "bad", "done"]);
    if form.has_exit && random.below(12) == 0 && !slice_on.contains("slice") {
        return format!(
            "transition {{ event #exit(status: int) {{ return status > 1 }} success {} failure {} }}\n",
            target(random),
            target(random)
        );
    }
    let events: &[(&str, &str)] = match form.has_text {
        true => &[("a", "xy"), ("b", "xs"), ("c", "xys"), ("d", "x")],
        false => &[("a", "xy"), ("d", "x")],
    };
    let (name, params) = random.pick(events);
    let typed = |param: char| if param == 's' { "s: str".to_owned() } else { format!("{param}: int") };
    let params: Vec<char> = params.chars().collect();
    let list: Vec<String> = params.iter().map(|param| typed(*param)).collect();
    let number = if params.contains(&'y') && random.below(2) == 0 { "y" } else { "x" };
    let has_text = params.contains(&'s');
    let guard = match random.below(8) {
        0 => String::new(),
        1 => format!("{{ return {number} > {} }}", random.between(0, 5)),
        2 => format!("{{ return N + 1 < {} }}", random.between(1, 6)),
        3 => format!("{{ return {number} % 2 == {} }}", random.below(2)),
        4 => format!("{{ return {number} > 9007199254740993 }}"),
        5 if has_text => format!("{{ return s == \"{}\" }}", random.pick(&TEXTS)),
        6 if has_text => "{ return s != T }".to_owned(),
        _ => "{ N = N + 1 }".to_owned(),
    };
    let update = |random: &Rng| match random.below(6) {
        0 => "{ N = N + 1 }".to_owned(),
        1 => format!("{{ N = {number} }}"),
        2 if has_text => "{ T = s }".to_owned(),
        3 => format!("{{ if {number} > 2:\n N = N + 2\nelse:\n N = 0 }}").replace('\n', "\n    "),
        _ => String::new(),
    };
    let success = format!("success {} {}", update(random), target(random));
    let failure = match guard.contains("return") && random.below(2) == 0 {
        true => format!("failure {} {}", update(random), target(random)),
        false => String::new(),
    };
    format!("    transition {{ event ev_{name}({}) {guard} {success} {failure} }}\n", list.join(", "))
}

/// What all hosts must agree on, by property: its counts and its violations.
fn outcome(report: &Value, has_paths: bool) -> Value {
    let event = |event: &Value| match event {
        Value::Null => Value::Null,
        event => {
            let name = event["name"].as_str().unwrap_or_default().trim_start_matches("Run.");
            json!([name, event["params"]])
        }
    };
    let step = |step: &Value| {
        json!([event(&step["event"]), step["branch"], step["state"], step["verdict"], step["env"]])
    };
    let properties: Vec<Value> = report["properties"]
        .as_array()
        .expect("properties")
        .iter()
        .map(|property| {
            let findings = report["findings"].as_array().expect("findings").iter();
            let findings =
                findings.filter(|finding| finding["property"] == property["name"]).map(|finding| {
                    let path =
                        finding["path"].as_array().map(|path| path.iter().map(step).collect::<Vec<_>>());
                    let path = path.filter(|_| has_paths);
                    json!([
                        finding["slice"],
                        event(&finding["event"]),
                        finding["from"],
                        finding["to"],
                        finding["at_end"],
                        path
                    ])
                });
            let fields =
                ["name", "verdict", "violations", "slices", "live", "steps", "states", "missing", "silent"];
            json!([fields.map(|field| property[field].clone()), findings.collect::<Vec<_>>()])
        })
        .collect();
    json!(properties)
}

struct Hosts {
    folder: Folder,
    properties: usize,
    violated: usize,
    findings: usize,
    /// The properties that were also checked on a model.
    in_models: usize,
}

impl Hosts {
    fn new() -> Hosts {
        let folder = Folder::new().file("run.c", C).file("Run.java", JAVA);
        folder.shell("cc -g -O1 -o run run.c").exits(0);
        folder.shell("javac -g Run.java").exits(0);
        Hosts { folder, properties: 0, violated: 0, findings: 0, in_models: 0 }
    }

    fn report(&self, args: &str) -> Value {
        let ran = self.folder.run(args);
        assert!(ran.status < 2, "{args}: {ran:?}");
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{args}: {error}: {ran:?}"))
    }

    /// Compares all hosts on one random run.
    fn compare(&mut self, seed: u64) {
        let random = Rng::new(seed);
        let form = Form { has_text: random.below(3) != 0, has_exit: random.below(2) == 0 };
        let count = 10 + random.below(60);
        let events: Vec<RunEvent> = (0..count).map(|_| RunEvent::random(&random, form)).collect();
        let status = random.below(4);
        let count = if random.below(3) == 0 { 1 } else { 10 };
        let mut script = String::new();
        let mut trace = String::new();
        for event in &events {
            let RunEvent { kind, x, y, text } = event;
            let _ = writeln!(script, "{kind}\t{x}\t{y}\t{text}");
            let _ = writeln!(trace, "{}", event.line());
        }
        let _ = writeln!(script, "q\t{status}");
        let _ = writeln!(trace, "#exit(status={status})");
        let folder = &self.folder;
        std::fs::write(folder.path("run.txt"), script).unwrap();
        std::fs::write(folder.path("run.trace"), trace).unwrap();
        let (mut native, mut java) = (String::new(), String::new());
        for number in 0..count {
            let text = property(&random, form);
            std::fs::write(folder.path(&format!("p{number}.prop")), &text).unwrap();
            std::fs::create_dir_all(folder.path("java")).unwrap();
            let java_text = text.replace(" ev_", " Run.ev_");
            std::fs::write(folder.path(&format!("java/p{number}.prop")), java_text).unwrap();
            let _ = write!(native, " -p p{number}.prop");
            let _ = write!(java, " -p java/p{number}.prop");
        }
        let check = self.report(&format!("check --json --limit 1000{native} run.trace"));
        let expected = outcome(&check, true);
        let live = "--json --limit 1000 --batch --on-violation continue";
        for (host, args) in [
            ("session", format!("run {live} --probes trap{native} -- ./run")),
            ("native agent", format!("run {live} --probes inline{native} -- ./run")),
            ("Java agent", format!("run {live}{java} -- java -cp . Run")),
        ] {
            let found = outcome(&self.report(&args), true);
            assert_agrees(host, seed, &expected, &found);
        }
        if !form.has_text && !form.has_exit {
            std::fs::write(self.folder.path("run.model"), model(&events)).unwrap();
            let explored = self.report(&format!("explore --json --may-end run.model{native}"));
            for property in check["properties"].as_array().unwrap() {
                let text = self.folder.read(&format!("{}.prop", property["name"].as_str().unwrap()));
                compare_with_model(seed, (property, &text), &check, &explored);
            }
            self.in_models += count;
        }
        self.properties += count;
        self.findings += check["findings"].as_array().map_or(0, Vec::len);
        let properties = check["properties"].as_array().unwrap();
        self.violated += properties.iter().filter(|property| property["verdict"] == "violated").count();
    }
}

/// A model whose only execution is a run.
fn model(events: &[RunEvent]) -> String {
    let mut text = "process Run {\n".to_owned();
    for (at, event) in events.iter().enumerate() {
        let RunEvent { x, y, .. } = event;
        let action = match event.kind {
            'a' => format!("ev_a(x = {x}, y = {y})"),
            _ => format!("ev_d(x = {x})"),
        };
        let _ = writeln!(text, "    state s{at} {{ {action}: -> s{}; }}", at + 1);
    }
    let _ = writeln!(text, "    state s{}\n}}", events.len());
    text
}

/// Asserts that a property is violated by the model if it is violated by the trace, at the same event.
fn compare_with_model(seed: u64, (property, text): (&Value, &str), check: &Value, explored: &Value) {
    let name = &property["name"];
    let first = check["findings"].as_array().unwrap().iter().find(|finding| finding["property"] == *name);
    let claim = explored["claims"].as_array().unwrap().iter().find(|claim| claim["claim"] == *name);
    let claim = claim.expect("a verdict");
    let steps = claim["execution"]["steps"].as_array().map(|steps| steps.len() as u64 - 1);
    let line = first.map(|finding| finding["event"]["line"].as_u64().expect("an event with a line"));
    assert_eq!(
        (claim["verdict"] == "violated", steps),
        (line.is_some(), line),
        "seed {seed}: {claim}\n{property}\n{text}"
    );
}

fn assert_agrees(host: &str, seed: u64, expected: &Value, found: &Value) {
    for (expected, found) in expected.as_array().unwrap().iter().zip(found.as_array().unwrap()) {
        assert!(expected == found, "{host}, seed {seed}:\nthe trace checker: {expected}\n{host}: {found}");
    }
}

#[test]
fn all_hosts_agree() {
    let mut hosts = Hosts::new();
    let wanted = cases(2000);
    let mut seed = 1;
    while hosts.properties < wanted {
        hosts.compare(seed);
        seed += 1;
    }
    assert!(hosts.violated * 10 >= hosts.properties * 3, "{} of {}", hosts.violated, hosts.properties);
    assert!(hosts.findings >= at_least(2000), "{}", hosts.findings);
    assert!(hosts.in_models >= at_least(200), "{}", hosts.in_models);
}
