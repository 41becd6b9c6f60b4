//! Reports about formulae on traces: instances, positions, misleading names.

use crate::common::Folder;

#[test]
fn instance_without_state_change_is_counted() {
    let folder = Folder::new()
        .file("d.jsonl", "{\"event\":\"grant\",\"client\":\"d\"}\n")
        .file("jobs.trace", "tick(job=1, n=1)\ntick(job=2, n=1)\ndone(job=2)\n");
    folder
        .shell("invigil check -p 'ltlf[client]:F(grant & Y request)' d.jsonl")
        .exits(1)
        .stdout_has(&["violation 1:", "with client = 'd'"]);
    folder
        .shell("invigil check -p 'ltl[client]:F(grant & Y request)' d.jsonl")
        .exits(0)
        .stdout_has(&["presumably violated"]);
    folder
        .shell("invigil check -p 'ltlf[job]:F done & G(tick -> \"n < 5\")' jobs.trace")
        .exits(1)
        .stdout_has(&["violation 1: F done & G(tick -> \"n < 5\") with job = 1"]);
    folder
        .shell("invigil check -p 'ltlf[job, n]:F done | G !tick' jobs.trace")
        .exits(1)
        .stdout_has(&["with job = 1, n = 1", "with job = 2, n = 1"]);
}

#[test]
fn formula_without_atoms_reads_every_event() {
    let folder = Folder::new().file("three.trace", "a\nb\nc\n").file("states.csv", "x,y\n1,0\n0,1\n");
    for (formula, status) in [("X X true", 0), ("X[3] true", 1), ("F true", 0), ("X X X true", 1)] {
        folder.shell(&format!("invigil check -p 'ltlf:{formula}' three.trace")).exits(status);
    }
    folder.shell("invigil check -p 'ltlf:X X X true' -p 'ltl:G !x | y' states.csv").exits(1);
    folder.shell("invigil check -p 'ltlf:X true' -p 'ltl:G (x | y)' states.csv").exits(0);
}

#[test]
fn reserved_names_are_rejected() {
    let folder = Folder::new().file("three.trace", "a\nb\nc\n");
    for formula in ["F #any", "F #state"] {
        folder.shell(&format!("invigil check -p 'ltl:{formula}' three.trace")).exits(2).stderr_has(&[
            "^^^^ predefined event",
            &format!("the event `{}` cannot be used in a formula", &formula[2..]),
        ]);
    }
}

#[test]
fn record_is_one_event_for_all_properties() {
    let folder = Folder::new()
        .file("q.trace", "open(q=1)\nclose(q=2)\nopen(q=9)\n")
        .file(
            "a.jsonl",
            "{\"event\":\"open\",\"q\":1,\"time\":1}\n{\"event\":\"close\",\"q\":2,\"time\":3}\n",
        )
        .file(
            "b.jsonl",
            "{\"event\":\"close\",\"q\":2,\"time\":3}\n{\"event\":\"close\",\"q\":9,\"time\":4}\n",
        );
    folder.shell("invigil check -p 'ltl:G \"q < 5\"' -p 'ltl:G !close' q.trace").exits(1).stdout_has(&[
        "q.trace:2 (event 2)",
        "q.trace:3 (event 3)",
        "3 lines, 3 events",
    ]);
    folder
        .shell("invigil check -p 'ltl:G \"q < 5\"' -p 'ltl:G(close -> X false)' a.jsonl b.jsonl")
        .exits(1)
        .stdout_has(&["b.jsonl:2 (event 4, time 4)", "2 traces: 4 lines, 4 events"]);
}

#[test]
fn trace_without_instance_has_no_verdict() {
    let folder = Folder::new().file("c.trace", "request(client=1)\ngrant(client=1)\n");
    for formula in
        ["ltl[clint]:G(request -> F grant)", "ltlf[clint]:G(request -> F grant)", "ltlf[clint]:F grant"]
    {
        let ran = folder.shell(&format!("invigil check -p '{formula}' c.trace")).exits(0);
        assert!(!ran.stdout.contains(" holds "), "{}", ran.stdout);
        ran.stdout_has(&["undecided", "the field `clint`"]);
    }
    folder
        .shell("invigil check -p 'ltl[client]:G(close -> O open)' c.trace")
        .exits(0)
        .stdout_has(&["presumably holds"]);
}

#[test]
fn names_that_never_occur_are_reported() {
    let folder = Folder::new().file("c.trace", "request\ngrant\nrequest\ngrant\n");
    folder.shell("invigil check -p 'ltl:G(request -> !shutdwn W grant)' c.trace").exits(0).stdout_has(&[
        "no event `shutdwn` (mentioned by G(request -> !shutdwn W grant)) occurs in the trace",
    ]);
    folder.shell("invigil check -p 'ltl:F GFa & F request' c.trace").exits(0).stdout_has(&[
        "no event `GFa` (mentioned by F GFa & F request) occurs in the trace",
        "did you mean `G F a`?",
    ]);
    folder.shell("invigil check -p 'ltl:F GFa' c.trace").stdout_has(&["(GFa); did you mean `G F a`?"]);
    let ran = folder.shell("invigil check -p 'ltl:F x' -p 'ltl:F y' -p 'ltl:F grant' c.trace").exits(0);
    assert!(!ran.stdout.contains("#state") && !ran.stdout.contains("<command line>"), "{}", ran.stdout);
    ran.stdout_has(&["no event `x` (mentioned by F x) occurs in the trace", "no event `y`"]);
    let ran = folder.shell("invigil check -p 'ltl:F x' -p 'ltl:F y' c.trace").exits(0);
    assert!(!ran.stdout.contains("#state") && !ran.stdout.contains("<command line>"), "{}", ran.stdout);
    ran.stdout_has(&["mentioned by F x (x)", "mentioned by F y (y)"]);
}

#[test]
fn formulae_decided_before_first_event_are_reported() {
    let folder = Folder::new();
    folder
        .shell("invigil explain 'G false'")
        .exits(0)
        .stdout_has(&["bad prefix    none needed: no run satisfies it"]);
    folder
        .shell("invigil explain 'F a | G !a'")
        .exits(0)
        .stdout_has(&["good prefix   none needed: every run satisfies it"]);
}

#[test]
fn missing_file_that_looks_like_formula_has_hint() {
    let folder = Folder::new().file("c.trace", "request\ngrant\n");
    folder
        .shell("invigil check -p 'G(request -> F grant)' c.trace")
        .exits(2)
        .stderr_has(&["to pass a formula, write `ltl:G(request -> F grant)`"]);
    folder.shell("invigil check -p 'no such.prop' c.trace").exits(2).stderr_has(&["check the path"]);
}

#[test]
fn never_claim_without_spin_syntax_is_rejected() {
    let folder = Folder::new();
    for formula in ["F #exit", "F \"after f\"", "F \'after f\'"] {
        folder
            .shell(&format!("invigil explain \"{}\" --spin -", formula.replace('"', "\\\"")))
            .exits(2)
            .stderr_has(&["means nothing in a never claim"]);
    }
}

#[test]
fn formula_without_deciding_event_is_reported() {
    let folder = Folder::new().file("c.trace", "a1\nb1\na2\n");
    let parts: Vec<String> = (0..20).map(|at| format!("G(a{at} -> F b{at})")).collect();
    let ran = folder.shell(&format!("invigil check -p 'many=ltl:{}' c.trace", parts.join(" & "))).exits(0);
    ran.stdout_has(&["undecided", "no event can decide many (see `invigil explain`)"]);
}
