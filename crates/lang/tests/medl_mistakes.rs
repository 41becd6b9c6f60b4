//! What is said of MEDL scripts with mistakes, and where.

mod mac;

use invigil_expr::diag::{Diagnostic, SourceId, Sources};
use invigil_lang::mac::load;
use invigil_lang::medl;
use mac::{good_pedl, medl_problems, show};

/// A script in which everything is right but `inside`.
fn script(inside: &str) -> String {
    format!(
        "ReqSpec Test
import event open, shut(int, String); import condition down; import action halt;
var int n; var long last; var boolean on; var float rate;
property p = [open, shut) => n < 3 && last < currentTime && on && rate > 0.5;
open -> {{ n' = n + 1; last' = time(open); on' = down; rate' = 1.5; invoke halt; }}
{inside}
End
"
    )
}

fn check(text: &str, problems: &[Diagnostic], message: &str, caret: &str, help: &str) {
    let shown = show("", text, problems);
    assert_eq!(problems.len(), 1, "{text}\n{shown}");
    let mut sources = Sources::default();
    sources.add("test.pedl", "");
    sources.add("test.medl", text);
    assert_eq!(problems[0].message, message, "{shown}");
    assert_eq!(sources.text_of(problems[0].span), caret, "{shown}");
    assert!(problems[0].help.as_deref().unwrap_or("").contains(help), "{shown}");
}

/// What is wrong, the text under the caret, and a part of the help.
fn told(text: &str, message: &str, caret: &str, help: &str) {
    check(text, &medl_problems(text), message, caret, help);
}

#[test]
fn the_script_is_right() {
    let text = script("");
    assert!(medl_problems(&text).is_empty(), "{}", show("", &text, &medl_problems(&text)));
}

#[test]
fn around_the_script() {
    for (text, message, caret, help) in [
        ("", "expected `ReqSpec`, found the end of the file", "", "a MEDL script begins with `ReqSpec NAME`"),
        ("RecSpec A End", "expected `ReqSpec`, found `RecSpec`", "RecSpec", "did you mean `ReqSpec`?"),
        ("MonScr A End", "expected `ReqSpec`, found `MonScr`", "MonScr", "this is a PEDL script"),
        ("ReqSpec A", "expected `End`, found the end of the file", "", "close the script with `End`"),
    ] {
        told(text, message, caret, help);
    }
}

#[test]
fn in_declarations() {
    for (inside, message, caret, help) in [
        (
            "imprt event f;",
            "expected a declaration, a definition or a guard, found `imprt`",
            "imprt",
            "did you mean `import`?",
        ),
        ("import f;", "expected `event`, `condition` or `action`, found `f`", "f", "`import event e1, e2;`"),
        ("export event f;", "`export` stands in PEDL scripts", "export", "imported from a PEDL script"),
        ("import event open;", "`open` is declared twice", "open", "keep one"),
        ("var itn k;", "expected a type, found `itn`", "itn", "did you mean `int`?"),
        ("var int k = 1;", "an auxiliary variable has no value at first", "=", "in a guard"),
        ("var int n;", "`n` is declared twice", "n", "another name"),
        (
            "var boolean currentTime;",
            "`currentTime` is a number of milliseconds, not a `boolean`",
            "currentTime",
            "`var long currentTime;`",
        ),
        ("property n = down;", "`n` is declared twice", "n", "another name"),
        ("property q down;", "expected `=`, found `down`", "down", "`property q = …;`"),
        ("alarm x' = open;", "expected the name of the alarm, found `x'`", "x'", "write `x`"),
        ("} ", "expected a declaration, a definition or a guard, found `}`", "}", "closes nothing"),
    ] {
        told(&script(inside), message, caret, help);
    }
}

#[test]
fn in_expressions() {
    for (property, message, caret, help) in [
        ("dwon", "there is no `dwon`", "dwon", "did you mean `down`?"),
        ("qwerty > 1", "there is no `qwerty`", "qwerty", "imported or defined"),
        ("Control.x > 1", "`Control.x` is a name of the program", "Control.x", "in the PEDL script"),
        ("open", "this is an event, and a condition is needed", "open", "`e when c`"),
        ("n", "`q` is a condition, and this is a value of type `int`", "n", "compare it"),
        ("halt", "`halt` is an action", "halt", "`e -> { invoke halt; }`"),
        ("down' && on", "`down` is a condition, and has no prime", "down'", "declared with `var`"),
        (
            "currentTime' > 0",
            "`currentTime` is set by the program's clock",
            "currentTime'",
            "leave the prime out",
        ),
        ("lst' > 0", "there is no variable `lst`", "lst'", "did you mean `last`?"),
        ("[open, 3)", "this is a value of type `int`, and an event is needed", "3", ""),
        ("[open shut)", "expected `,`, found `shut`", "shut", "`[event, event)`"),
        (
            "down ? n : on",
            "`?:` chooses between int and boolean, which have no common type",
            "down ? n : on",
            "",
        ),
        ("startm(down)", "there is no `startm(…)` in MEDL", "startm", "did you mean `start`?"),
        ("update(n)", "there is no `update(…)` in MEDL", "update", "there are `start`"),
        (
            "value(shut, 2) > 0",
            "this event carries 2 values, counted from 0; there is no 2",
            "value(shut, 2)",
            "",
        ),
        (
            "value(open, 0) > 0",
            "nobody said which values `open` carries",
            "value(open, 0)",
            "`import event open(int);`",
        ),
        ("value(shut, 1) > 0", "`>` needs numbers, not String and int", "value(shut, 1) > 0", "only equal"),
        ("(down", "expected `)`, found `End`", "End", "is not closed"),
    ] {
        told(&script(&format!("property q = {property}")), message, caret, help);
    }
}

#[test]
fn in_guards() {
    for (guard, message, caret, help) in [
        ("shut -> { n = 1; }", "`n` has no prime", "n", "write `n' = …`"),
        ("shut -> { m' = 1; }", "there is no variable `m`", "m'", "did you mean `n`?"),
        (
            "shut -> { n' = 1.5; }",
            "`n` is a variable of type `int`, and this is a `double`",
            "1.5",
            "`(int) (…)`",
        ),
        (
            "shut -> { n' = time(shut); }",
            "`n` is a variable of type `int`, and this is a `long`",
            "time(shut)",
            "declare the variable as `long`",
        ),
        (
            "shut -> { on' = 1; }",
            "`on` is a variable of type `boolean`, and this is a `int`",
            "1",
            "declare the variable as `int`",
        ),
        ("shut -> { n' 1; }", "expected `=`, found `1`", "1", "`n' = …;`"),
        ("shut -> { n' = 1 on' = down; }", "expected `;`, found `on'`", "on'", "`;` ends"),
        ("shut -> { invoke hlat; }", "there is no action `hlat`", "hlat", "did you mean `halt`?"),
        ("shut -> { prnt 1; }", "expected an update, found `prnt`", "prnt", "did you mean `print`?"),
        ("shut -> { print open; }", "this is an event, and a value is needed", "open", ""),
        ("shut -> { n' = 1;", "expected `}`, found `End`", "End", "every `{`"),
        ("shutt -> { n' = 1; }", "there is no `shutt`", "shutt", "did you mean `shut`?"),
        ("n -> { n' = 1; }", "this is a value of type `int`, and an event is needed", "n", ""),
        ("shut { n' = 1; }", "expected `->`, found `{`", "{", "write `e -> {"),
    ] {
        told(&script(guard), message, caret, help);
    }
}

#[test]
fn circles_through_guards_are_named() {
    told(
        &script("event more = start(n' > 3); more -> { n' = 0; } alarm a = more;"),
        "these definitions need each other: `more` → `n'` → `more`",
        "more",
        "auxiliary variable",
    );
    told(
        &script("var int a, b; shut -> { a' = b' + 1; b' = a' + 1; }"),
        "these definitions need each other: `a'` → `b'` → `a'`",
        "a'",
        "auxiliary variable",
    );
    // Old values are none.
    let text = script("event more = start(n > 3); more -> { n' = 0; }");
    assert!(medl_problems(&text).is_empty(), "{}", show("", &text, &medl_problems(&text)));
}

#[test]
fn warnings() {
    for (inside, message, caret, help) in [
        ("import event never;", "nothing uses the event `never`", "never", "or remove it"),
        ("import action never;", "nothing uses the action `never`", "never", "or remove it"),
        ("event f = open when down;", "nothing uses the event `f`", "f", "was it meant as `alarm`?"),
        ("condition d = n > 1;", "nothing uses the condition `d`", "d", "was it meant as `property`?"),
        ("var int k; property q = k > 1;", "nothing sets `k`", "k", "`e -> { k' = …; }`"),
        ("shut -> { n' = 1; n' = 2; }", "`n` is set twice by one guard", "n'", "remove one"),
    ] {
        told(&script(inside), message, caret, help);
        assert!(!medl_problems(&script(inside))[0].is_error());
    }
}

const PEDL: &str = "MonScr
export event opened, moved; export condition low;
monmeth void Gate.open(Train, int); monobj int Gate.height; monobj int Gate.speed;
event opened = startM(Gate.open(Train, int));
event moved = update(Gate.height);
event hidden = update(Gate.speed);
condition low = Gate.height < 3;
export event both; event both = hidden || moved;
End";

/// What is said of a MEDL script beside [`PEDL`].
fn beside(medl: &str) -> Vec<Diagnostic> {
    let pedl = good_pedl(PEDL, &|_| None);
    let (script, mut problems) = medl::parse(SourceId(1), medl);
    problems.extend(medl::lower(&script, Some(&pedl)).1);
    problems
}

#[test]
fn across_both_scripts() {
    for (inside, message, caret, help) in [
        (
            "import event openned; alarm a = openned;",
            "the PEDL script does not export `openned`",
            "openned",
            "did you mean `opened`?",
        ),
        (
            "import event hidden; alarm a = hidden;",
            "the PEDL script does not export `hidden`",
            "hidden",
            "`export event hidden;`",
        ),
        (
            "import event low; alarm a = low;",
            "`low` is exported as `condition`",
            "low",
            "`import condition low;`",
        ),
        (
            "import event moved; property p = low;",
            "there is no `low`",
            "low",
            "write `import condition low;`",
        ),
        (
            "import event moved(long); alarm a = moved;",
            "`moved` carries (int), not (long)",
            "moved",
            "leave the types out",
        ),
        (
            "import event moved; property p = value(moved, 1) > 0;",
            "this event carries 1 value, counted from 0; there is no 1",
            "value(moved, 1)",
            "",
        ),
        (
            "import event opened; property p = value(opened, 0);",
            "this value is an object",
            "value(opened, 0)",
            "primitive",
        ),
        (
            "import event opened; event o = opened when true; property p = value(o, 0);",
            "this value is an object",
            "value(o, 0)",
            "primitive",
        ),
        (
            "import event both; property p = value(both, 0) > 0;",
            "this event carries no values",
            "value(both, 0)",
            "",
        ),
    ] {
        let text = format!("ReqSpec {inside} End");
        let problems: Vec<Diagnostic> = beside(&text).into_iter().filter(Diagnostic::is_error).collect();
        check(&text, &problems, message, caret, help);
    }
    let good = "ReqSpec import event opened; property p = value(opened, 1) > 0; End";
    assert!(beside(good).is_empty(), "{}", show(PEDL, good, &beside(good)));
}

/// Mistakes of one script do not keep those of the other from being told.
#[test]
fn mistakes_in_both_scripts() {
    let pedl = PEDL
        .replace("Gate.height < 3", "Gate.heigt < 3")
        .replace("update(Gate.height)", "update(Gate.hight)");
    let medl =
        "ReqSpec import event opned, moved; property p = value(moved, 0) > 3; alarm a = opned && mooved; End";
    let both = |pedl: &str, medl: &str| load((SourceId(0), pedl), (SourceId(1), medl), &|_| None);
    let (loaded, problems) = both(&pedl, medl);
    let messages: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
    assert!(loaded.is_none());
    assert_eq!(
        messages,
        [
            "`Gate.hight` is neither watched nor a constant of the program",
            "`Gate.heigt` is neither watched nor a constant of the program",
            "the PEDL script does not export `opned`",
            "there is no `mooved`",
        ]
    );
    let (loaded, problems) = both(PEDL, "ReqSpec import condition low; property p = low; End");
    assert!(loaded.is_some() && problems.is_empty());
    let (loaded, problems) = both("MonScr", "ReqSpec");
    assert!(loaded.is_none() && problems.len() == 2);
}

#[test]
fn all_at_once() {
    let text = script(
        "var itn k;\nproperty q = ;\nshut -> { n = 1; m' 3; print \"a; }\nalarm a = [;\nimprt event f;",
    );
    let messages: Vec<String> = medl_problems(&text).into_iter().map(|problem| problem.message).collect();
    assert_eq!(messages.len(), 8, "{messages:#?}");
    let text = script("property q = dwon; alarm a = start(n); shut -> { m' = 1; n' = 1.5; invoke no; }");
    let messages: Vec<String> = medl_problems(&text).into_iter().map(|problem| problem.message).collect();
    assert_eq!(messages.len(), 5, "{messages:#?}");
}

#[test]
fn as_a_person_sees_it() {
    let text = "ReqSpec\nimport event openned;\nalarm a = openned;\nEnd\n";
    assert_eq!(
        show(PEDL, text, &beside(text)),
        "error: the PEDL script does not export `openned`
 --> test.medl:2:14
  |
2 | import event openned;
  |              ^^^^^^^ not exported
  |
  = help: did you mean `opened`?"
    );
    let text = "ReqSpec\nimport event low;\nalarm a = low;\nEnd\n";
    assert_eq!(
        show(PEDL, text, &beside(text)),
        "error: `low` is exported as `condition`
 --> test.medl:2:14
  |
2 | import event low;
  |              ^^^ not of this sort
  |
 ::: test.pedl:2:46
  |
2 | export event opened, moved; export condition low;
  |                                              --- exported here
  |
  = help: write `import condition low;`"
    );
}

#[test]
fn methods_that_actions_call() {
    let import = |what: &str| {
        format!("ReqSpec  import event open;  import action act = {what};  open -> {{ invoke act; }}  End")
    };
    let help = "write `import action stop = Control.gate.stop();`";
    told(&import("Gate.stop(1 + 2)"), "this is no constant", "1 + 2", help);
    told(&import("Gate.stop(null)"), "this is no constant", "null", help);
    told(&import("stop()"), "expected `.` and a method, found `(`", "(", help);
    told(&import("Gate.stop"), "expected `(`, found `;`", ";", help);
    assert!(medl_problems(&import("Gate.print(-1, 2L, 0.5, true, 'c', \"text\")")).is_empty());
}
