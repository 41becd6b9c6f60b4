//! Woven programs behave as before, and the reports are the events that occurred.

use crate::common::Java;
use crate::common::plans::{Everywhere, Labelled, all, usual};
use crate::common::programs::Programs;
use invigil_weave::{CallSide, Capture, Site, SiteKind, SiteKinds};

#[track_caller]
fn assert_lines(heard: &str, expected: &str) {
    let expected: Vec<_> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(heard.lines().collect::<Vec<_>>(), expected, "\n{heard}");
}

/// Programs whose reports are known exactly.
#[test]
fn reports_are_those_of_the_executed_events() {
    let sources = ["Fields", "Locals", "Methods", "Calls", "Locks"];
    let Some(programs) = Programs::compile("heard", &sources) else { return };
    fields(&programs);
    locals(&programs);
    methods(&programs);
    calls(&programs);
    locks(&programs);
    several(&programs);
}

fn fields(programs: &Programs) {
    let heard = programs.heard(
        "Fields",
        Labelled::new(|site| match site.kind {
            SiteKind::Field { is_static: true, .. } => vec![vec![Capture::Value]],
            SiteKind::Field { .. } => vec![vec![Capture::Owner, Capture::Value]],
            _ => Vec::new(),
        }),
    );
    // There is no line for the write to null. Numbers with fractions are the bits of the double.
    assert_lines(
        &heard,
        r#"
        field Fields.z Fields 1
        field Fields.b Fields -1
        field Fields.c Fields 65
        field Fields.s Fields 300
        field Fields.i Fields 1048576
        field Fields.f Fields 4609434218613702656
        field Fields.j Fields 1099511627776
        field Fields.d Fields -4611686018427387904
        field Fields.t Fields "text"
        field Fields.a Fields int[]
        field Fields.si 7
        field Fields.sj -7
        field Fields.sd 4602678819172646912
        field Fields.so Fields
        field Fields.so null
        field Fields.next Fields Fields
        field Fields.i Fields 9
        field Fields.i Fields 9
        field Fields.j Fields 10
        field Fields.j Fields 10
        field Fields.i Fields 10
        field Fields.si 16
        "#,
    );
}

fn locals(programs: &Programs) {
    let heard = programs.heard(
        "Locals",
        Labelled::new(|site| match site.kind {
            SiteKind::Local { .. } => vec![vec![Capture::Value]],
            _ => Vec::new(),
        }),
    );
    assert_lines(
        &heard,
        r#"
        local sum.total 0
        local sum.i 1
        local sum.square 1
        local sum.total 1
        local sum.i 2
        local sum.square 4
        local sum.total 5
        local sum.i 3
        local sum.square 9
        local sum.total 14
        local sum.i 4
        local sum.n -1
        local reuse.x 1
        local reuse.y "y"
        local real.d 4611686018427387904
        local real.f 4612811918334230528
        local real.d 4617315517961601024
        "#,
    );
}

/// Arguments are those of the call, even if parameters are assigned; `this` of a constructor is available after `super(…)`.
fn methods(programs: &Programs) {
    let heard = programs.heard(
        "Methods",
        Labelled::new(|site| match site.kind {
            SiteKind::Enter | SiteKind::Return | SiteKind::ExceptionalExit => vec![all(site)],
            _ => Vec::new(),
        }),
    );
    assert_lines(
        &heard,
        r#"
        enter main null String[]
        enter <init> null 10
        return <init> Methods 10
        enter add Methods 1 2
        return add Methods 1 2 14
        enter half Methods 4613937818241073152
        return half Methods 4613937818241073152 4609434218613702656
        enter join null "a" "b" 3 99 4609434218613702656
        return join null "a" "b" 3 99 4609434218613702656 "abcc"
        enter nothing Methods
        return nothing Methods
        enter inner null
        enter join null "t" null 0 120 0
        throw join null "t" null 0 120 0 java.lang.IllegalStateException: t
        return inner null -1
        enter <init> null -1
        throw <init> Methods -1 java.lang.IllegalArgumentException: negative
        return main null String[]
        "#,
    );
}

fn calls(programs: &Programs) {
    let heard = programs.heard(
        "Calls",
        Labelled::new(|site| match site.kind {
            SiteKind::Call { name: "bump" | "quiet" | "area" | "add" | "<init>", .. }
                if site.method == "main" =>
            {
                vec![all(site)]
            }
            _ => Vec::new(),
        }),
    );
    assert_lines(
        &heard,
        r#"
        before <init> null null
        after <init> null Calls
        before bump null Calls 1 2 "first"
        after bump null Calls 1 2 "first" 3
        before quiet null null 3
        after quiet null null 3
        before <init> null null 4611686018427387904
        after <init> null Square 4611686018427387904
        before area null Square 4602678819172646912
        after area null Square 4602678819172646912 4611686018427387904
        before <init> null null 5
        after <init> null ArrayList 5
        before add null ArrayList "one"
        after add null ArrayList "one" 1
        before bump null Calls 1 2 null
        "#,
    );
}

/// The mark shows that the lock was held: only at writes and never longer, also after exceptions.
fn locks(programs: &Programs) {
    let mut plan = Labelled::new(|site: &Site<'_>| match site.kind {
        SiteKind::Enter => vec![Vec::new()],
        SiteKind::Field { .. } => vec![usual(site)],
        _ => Vec::new(),
    });
    plan.locks = true;
    let heard = programs.heard("Locks", plan);
    assert_lines(
        &heard,
        "
        enter main
        enter <init>
        field Locks.early! Locks 3
        enter caught
        field Locks.i! Locks 1
        field Locks.s! null 1
        field Locks.s! null 2
        enter caught
        field Locks.s! null 101
        field Locks.s! null 102
        enter uncaught
        field Locks.j! Locks 5
        enter uncaught
        field Locks.s! null 200
        field Locks.next! Locks Locks
        enter <init>
        field Locks$Inner.this$0! null Locks
        field Locks$Inner.k! Inner 4
        ",
    );
}

/// Several probes at a site report in order, each with its captures.
fn several(programs: &Programs) {
    use Capture::{Argument, Owner, Result, This, Thrown, Value};
    let heard = programs.heard(
        "Methods",
        Labelled::new(|site| match (site.method, site.kind) {
            _ if site.class != "Methods" => Vec::new(),
            ("add", SiteKind::Return) => vec![vec![Result], vec![Argument(1), Result, This], vec![]],
            ("add", SiteKind::Local { .. }) => vec![vec![Value, Argument(0), This, Argument(1)]],
            ("<init>", SiteKind::Field { .. }) => {
                vec![vec![Value, Owner], vec![Argument(0), This, Value], vec![]]
            }
            ("<init>", SiteKind::ExceptionalExit) => vec![vec![Thrown, This], vec![Argument(0)]],
            ("main", SiteKind::Call { name: "add", when: CallSide::Before, .. }) => {
                vec![vec![Argument(1)], vec![Owner]]
            }
            ("main", SiteKind::Call { name: "add", when: CallSide::After, .. }) => {
                vec![vec![Result], vec![Argument(0), Result]]
            }
            _ => Vec::new(),
        }),
    );
    assert_lines(
        &heard,
        "
        field Methods.base 10 Methods
        field Methods.base 10 Methods 10
        field Methods.base
        before add 2
        before add Methods
        local add.a 2 1 Methods 2
        return add 14
        return add 2 14 Methods
        return add
        after add 14
        after add 1 14
        field Methods.base -1 Methods
        field Methods.base -1 Methods -1
        field Methods.base
        throw <init> java.lang.IllegalArgumentException: negative Methods
        throw <init> -1
        ",
    );
}

/// A large program behaves the same with every kind of probe.
#[test]
fn large_program_behaves_the_same_with_all_probes() {
    let Some(programs) = Programs::compile("large_program_behaves_the_same_with_all_probes", &["Corpus"])
    else {
        return;
    };
    let expected = check_unchanged_behaviour(&programs, "Corpus");
    assert!(expected.contains("collected true"), "{expected}");
    assert!(expected.contains("threw java.lang.IllegalStateException: the end"), "{expected}");
}

/// Statements before `super(…)`: `this` is not available yet, also with loops and handlers.
#[test]
fn statements_before_super_are_instrumented() {
    let Some(java) = Java::find("early") else { return };
    let version = java.run("javac", &["--version"]);
    let major = version.split([' ', '.']).nth(1).and_then(|major| major.trim().parse().ok());
    if major < Some(25) {
        eprintln!("skipped: {} does not know statements before super(…)", version.trim());
        return;
    }
    let Some(programs) = Programs::compile("early", &["Early"]) else { return };
    check_unchanged_behaviour(&programs, "Early");
}

/// Runs a program with all kinds of probes and without any. Returns its output.
fn check_unchanged_behaviour(programs: &Programs, main: &str) -> String {
    let (expected, _) = programs.run("plain", main);
    let all_at_once = |captures| Everywhere::new(SiteKinds::ALL, captures);
    let plans = [
        Everywhere::new(SiteKinds { calls: false, locals: false, ..SiteKinds::ALL }, usual),
        all_at_once(usual),
        all_at_once(all),
        Everywhere { locks: true, ..all_at_once(usual) },
        Everywhere { locks: true, times: 3, ..all_at_once(all) },
        Everywhere { next: 70_000, ..all_at_once(|_| Vec::new()) },
    ];
    for mut plan in plans {
        programs.weave("woven", &mut plan);
        let (out, log) = programs.run("woven", main);
        assert_eq!(out, expected);
        assert!(log.lines().count() > 50, "{}", log.lines().count());
    }
    expected
}
