//! What is said of PEDL scripts with mistakes, and where.

mod mac;

use invigil_expr::diag::Sources;
use mac::{pedl_problems, show};

/// A script in which everything is right but `inside`.
fn script(inside: &str) -> String {
    format!(
        "MonScr Test
export event e; export condition c;
monobj int A.x; monobj double A.y; monobj boolean A.on; monobj String A.name;
monmeth int Gate.gd(int, Train); monmeth void Gate.up();
event e = (update(A.x) when A.on && A.name == \"n\") || startM(Gate.gd(int, Train)) || endM(Gate.up());
condition c = A.y > 0.5;
{inside}
End
"
    )
}

/// What is wrong, the text under the caret, and a part of the help.
fn told(text: &str, message: &str, caret: &str, help: &str) {
    let problems = pedl_problems(text);
    let shown = show(text, "", &problems);
    assert_eq!(problems.len(), 1, "{text}\n{shown}");
    let mut sources = Sources::default();
    sources.add("test.pedl", text);
    assert_eq!(problems[0].message, message, "{shown}");
    assert_eq!(sources.text_of(problems[0].span), caret, "{shown}");
    assert!(problems[0].help.as_deref().unwrap_or("").contains(help), "{shown}");
}

#[test]
fn the_script_is_right() {
    assert!(pedl_problems(&script("")).is_empty(), "{}", show(&script(""), "", &pedl_problems(&script(""))));
}

#[test]
fn around_the_script() {
    for (text, message, caret, help) in [
        ("", "expected `MonScr`, found the end of the file", "", "a PEDL script begins with `MonScr NAME`"),
        ("monscr A End", "expected `MonScr`, found `monscr`", "monscr", "did you mean `MonScr`?"),
        ("ReqSpec A End", "expected `MonScr`, found `ReqSpec`", "ReqSpec", "this is a MEDL script"),
        ("MonScr A", "expected `End`, found the end of the file", "", "close the script with `End`"),
        ("MonScr A End event", "expected the end of the file, found `event`", "event", "move it before"),
        ("MonScr A /* x", "this comment has no end", "/*", "close it with `*/`"),
    ] {
        told(text, message, caret, help);
    }
}

#[test]
fn in_declarations() {
    for (inside, message, caret, help) in [
        (
            "exprot event f;",
            "expected a declaration or a definition, found `exprot`",
            "exprot",
            "did you mean `export`?",
        ),
        ("export f;", "expected `event` or `condition`, found `f`", "f", "`export event e1, e2;`"),
        ("import event f;", "nothing is imported here", "import", "a PEDL script exports"),
        ("export event ee;", "`ee` is exported, and not defined", "ee", "did you mean `e`?"),
        ("export event qwerty;", "`qwerty` is exported, and not defined", "qwerty", "`event qwerty = …;`"),
        (
            "export event d; condition d = A.on;",
            "`d` is defined as `condition`",
            "d",
            "`export condition d;`",
        ),
        ("timestamp;", "expected a number of milliseconds, found `;`", ";", "`timestamp 100;`"),
        ("timestamp 0;", "`0` is no period", "0", "milliseconds"),
        ("timestamp 10 hours;", "`hours` is no unit of time", "hours", "`ms` or `s`"),
        ("timestamp 10; timestamp 20;", "`timestamp` is said twice", "timestamp 20", "keep one"),
        ("monobj void A.z;", "no variable is `void`", "void", "`monmeth`"),
        ("monobj A.z;", "the type of the variable is missing", ";", "`monobj int Control.gatePos;`"),
        (
            "monobj Train A.t;",
            "`Train` is a class, and whole objects are not watched",
            "Train",
            "as in `A.b1.c1`",
        ),
        (
            "monobj itn A.t;",
            "`itn` is a class, and whole objects are not watched",
            "itn",
            "did you mean `int`?",
        ),
        (
            "monobj int[] A.t;",
            "`int[]` is an array, and whole objects are not watched",
            "int[]",
            "primitive type",
        ),
        ("monobj int A.f();", "`A.f()` is a method", "A.f()", "`monmeth`"),
        ("monmeth void A.f;", "`A.f` has no list of parameters", "A.f", "write `A.f()`"),
        ("monmeth A.f;", "`A.f` has no list of parameters", "A.f", "`monmeth void Gate.gd(int);`"),
        ("monmeth void A.f(int;", "expected `)`, found `;`", ";", "types of its parameters"),
        ("monobj int b.c <- A.z;", "an alias is one name", "b.c", "`alias <-"),
        ("monobj int A.x;", "`A.x` is declared twice", "A.x", "keep one"),
        ("monobj int c <- A.z;", "`c` is declared twice", "c", "another name"),
        ("monobj int A.z not within B;", "expected `in`, found `within`", "within", "`not in`"),
        ("monobj int A.z in B, A.w;", "expected `;`, found `,`", ",", "declare the others apart"),
        (
            "event when = update(A.x);",
            "expected the name of the event, found `when`",
            "when",
            "a word of the language",
        ),
        ("event f update(A.x);", "expected `=`, found `update`", "update", "`event f = …;`"),
        ("event e = update(A.x);", "`e` is declared twice", "e", "keep one"),
    ] {
        told(&script(inside), message, caret, help);
    }
}

#[test]
fn in_expressions() {
    for (event, message, caret, help) in [
        ("start(A.x > )", "expected an expression, found `)`", ")", ""),
        ("start(A.on", "expected `)`, found `;`", ";", "close `start(` with `)`"),
        ("start", "expected an expression, found `start`", "start", "write `start(…)`"),
        (
            "update(A.q)",
            "`A.q` is neither watched nor a constant of the program",
            "A.q",
            "did you mean `A.x`?",
        ),
        ("update(nothing)", "there is no `nothing`", "nothing", "`monobj int nothing;`"),
        ("update(A.f().x)", "`A.f().x` is not watched", "A.f().x", "`monobj int A.f().x;`"),
        ("update(Gate.up())", "`Gate.up()` is a method", "Gate.up()", "`startM(…)`"),
        ("startM(A.x)", "`A.x` is a variable", "A.x", "`update(…)`"),
        (
            "startM(Gate.gd(int))",
            "`Gate.gd(int)` is not watched",
            "Gate.gd(int)",
            "did you mean `Gate.gd(int, Train)`?",
        ),
        ("startM(Gate.down)", "`Gate.down` is not watched", "Gate.down", "`monmeth void Gate.down();`"),
        ("startm(Gate.up())", "there is no `startm(…)` in PEDL", "startm", "did you mean `startM`?"),
        ("start(update(A.x))", "this is an event, and a condition is needed", "update(A.x)", "`e when c`"),
        ("A.x + 1", "this is a value of type `int`, and an event is needed", "A.x + 1", "compare it"),
        ("start(A.x)", "`start` needs a condition, not int", "start(A.x)", "compare numbers"),
        ("start(!A.x)", "`!` needs a condition, not int", "!A.x", "compare numbers"),
        (
            "start(A.x && A.on)",
            "`&&` needs conditions, not int and boolean",
            "A.x && A.on",
            "compare numbers",
        ),
        ("start(A.name < \"x\")", "`<` needs numbers, not String and String", "A.name < \"x\"", "only equal"),
        (
            "start(A.name == 1)",
            "`==` needs two numbers, two texts or two conditions, not String and int",
            "A.name == 1",
            "same kind",
        ),
        ("start(A.y << 1 > 0)", "`<<` needs whole numbers, not double and int", "A.y << 1", "for numbers"),
        ("start((int) A.on > 0)", "boolean cannot be cast to int", "(int) A.on", "numbers can be cast"),
        ("start(A.name == null)", "nothing is `null` here", "null", "`defined(x)`"),
        ("start(A.x instanceof B)", "nothing is known of objects here", "instanceof", "primitive type"),
        ("start(A.x[1] > 0)", "elements of arrays are not watched", "[", "primitive type"),
        ("start([f, g))", "there are no intervals in PEDL", "[", "in MEDL"),
        (
            "start(x' > 0)",
            "`x'` has a prime, and there are no auxiliary variables here",
            "x'",
            "in MEDL scripts",
        ),
        ("start(A.x > 12abc)", "`12abc` is not a number", "12abc", "as in Java"),
        ("start(A.x > 2147483648)", "`2147483648` is too large", "2147483648", "`L`"),
        ("start(A.name == \"a\\q\")", "this backslash means nothing", "\\q", "`\\\\`"),
        ("start(A.name == \"a)", "this quote is not closed", "\"a); export event f;", "close it"),
        ("start('ab' == 'c')", "this is not one character", "'ab'", "double quotes"),
        (
            "start(value(update(A.x), 1) > 0)",
            "this event carries 1 value, counted from 0; there is no 1",
            "value(update(A.x), 1)",
            "`update(x)` carries the new value",
        ),
        (
            "start(value(update(A.x), A.x) > 0)",
            "which value is meant must be a plain number",
            "A.x",
            "`value(e, 0)`",
        ),
        (
            "start(value(update(A.x) || update(A.y), 0) > 0)",
            "this event carries no values",
            "value(update(A.x) || update(A.y), 0)",
            "arguments",
        ),
        (
            "start(value(startM(Gate.gd(int, Train)), 1) > 0)",
            "value 1 of this event is an object, which is not monitored",
            "value(startM(Gate.gd(int, Train)), 1)",
            "",
        ),
        (
            "start(value(endM(Gate.up()), 0) > 0)",
            "this event carries no values",
            "value(endM(Gate.up()), 0)",
            "",
        ),
        ("start(f)", "`f` is defined by itself", "f", "auxiliary variable"),
    ] {
        told(&script(&format!("event f = {event}; export event f;")), message, caret, help);
    }
    let deep = format!("event f = start({}A.on{}); export event f;", "(".repeat(600), ")".repeat(600));
    told(&script(&deep), "this is nested too deeply", "(", "a name of its own");
    let as_condition = |text: &str| script(&format!("condition d = {text}; export condition d;"));
    told(&as_condition("A.x"), "`d` is a condition, and this is a value of type `int`", "A.x", "`x > 0`");
    told(&as_condition("update(A.x)"), "this is an event, and a condition is needed", "update(A.x)", "lasts");
    told(&as_condition("Gate.up()"), "`Gate.up()` is a method", "Gate.up()", "`InM(…)`");
}

#[test]
fn circles_are_named() {
    told(
        &script("condition a = b || A.on; condition b = A.on && d; condition d = !a; export condition a;"),
        "these definitions need each other: `a` → `b` → `d` → `a`",
        "a",
        "auxiliary variable",
    );
}

#[test]
fn warnings() {
    for (inside, message, caret, help) in [
        ("multithread; multithread;", "`multithread` is said twice", "multithread", ""),
        ("export event e;", "`e` is exported twice", "e", ""),
        ("monobj int A.z;", "nothing uses `A.z`", "A.z", "or remove it"),
        ("condition d = A.on;", "nothing uses `d`", "d", "`export condition d;`"),
        (
            "event f = update(A.x) && A.on; export event f;",
            "a condition among events counts as `start(…)` of it",
            "A.on",
            "`event when condition`",
        ),
        (
            "event f = update(A.x) && update(A.y) || startM(Gate.up()); export event f;",
            "`&&` and `||` are mixed without parentheses",
            "update(A.x) && update(A.y)",
            "write parentheses",
        ),
    ] {
        told(&script(inside), message, caret, help);
        assert!(!pedl_problems(&script(inside))[0].is_error());
    }
}

#[test]
fn all_at_once() {
    let text = script(
        "monobj int[] A.t;\nexprot event f;\nevent f = start(;\ncondition d = 12abc > 1;\nmonmeth void A.f;\nevent g = A.x[1];",
    );
    let messages: Vec<String> = pedl_problems(&text).into_iter().map(|problem| problem.message).collect();
    assert_eq!(messages.len(), 6, "{messages:#?}");
    let text = script("event f = update(B.x); event g = start(A.x); condition d = A.y; export event h;");
    let messages: Vec<String> = pedl_problems(&text).into_iter().map(|problem| problem.message).collect();
    assert_eq!(messages.len(), 4, "{messages:#?}");
}

#[test]
fn as_a_person_sees_it() {
    let text = "MonScr Gate\nexport condition Down;\nmonobj int Control.gatePos;\ncondition Down = Control.gatepos == 1;\nEnd\n";
    assert_eq!(
        show(text, "", &pedl_problems(text)),
        "error: `Control.gatepos` is neither watched nor a constant of the program
 --> test.pedl:4:18
  |
4 | condition Down = Control.gatepos == 1;
  |                  ^^^^^^^^^^^^^^^ not declared
  |
  = help: did you mean `Control.gatePos`?"
    );
}
