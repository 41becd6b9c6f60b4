//! Several properties: the output keeps the order of the trace.

use crate::common::Folder;

fn with_two() -> Folder {
    let property = |event: &str, name: &str| {
        format!(
            "slice on x
state init accepting {{
    transition {{ event {event}(x: int) success {{ print(\"{name}\", x) }} bad }}
}}
state bad non-accepting"
        )
    };
    Folder::new().file("a.prop", property("e", "first")).file("b.prop", property("e", "second"))
}

#[test]
fn prints_follow_order_of_events() {
    let ran = with_two().feed("check --prints -p a.prop -p b.prop", b"e(x=1)\ne(x=2)\n").exits(1);
    let prints: Vec<&str> = ran.stdout.lines().filter(|line| line.starts_with(['a', 'b'])).collect();
    assert_eq!(prints, ["a: first 1", "b: second 1", "a: first 2", "b: second 2"]);
}

#[test]
fn limit_applies_to_whole_trace() {
    let trace: String = (1..=9).map(|x| format!("e(x={x})\n")).collect();
    let folder = with_two().file("t", &trace);
    let headlines = |stdout: &str| -> Vec<String> {
        stdout.lines().filter(|line| line.starts_with("violation ")).map(str::to_owned).collect()
    };
    let expected = ["violation 1: a with x = 1", "violation 2: b with x = 1", "violation 3: a with x = 2"];
    for ran in [
        folder.run("check --limit 3 -p a.prop -p b.prop t").exits(1),
        folder.feed("check --limit 3 -p a.prop -p b.prop -", trace.as_bytes()).exits(1),
    ] {
        assert_eq!(headlines(&ran.stdout), expected);
        ran.stdout_has(&["15 more violations", "\n  a         violated       9     9           9      9"]);
    }
    folder.run("check --limit -1 -p a.prop t").exits(2).stderr_has(&["non-negative whole number"]);
}

#[test]
fn long_slice_values_are_shortened() {
    let property =
        "slice on s\nstate init accepting { transition { event e(s) success bad } }\nstate bad non-accepting";
    let trace = format!("e(s=\"{}\")\n", "y".repeat(5000));
    let ran = Folder::new().file("s.prop", property).feed("check -p s.prop", trace.as_bytes()).exits(1);
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 100), "{}", ran.stdout);
}
