//! Semantics of both languages, tested with a few snapshots.

use crate::mac::common::{Session, good_medl, good_pedl, medl_problems, pedl_problems};
use invigil_expr::diag::SourceId;
use invigil_lang::{medl, pedl};
use invigil_monitor::mac::{Checker, EventGroup, Truth, Value};
use proptest::prelude::*;

const PEDL: &str = "MonScr
    export event x, y, started, ended, crossed, sum; export condition pos, inside, known
    monobj int A.x, A.y; monmeth int A.f(int, String); monobj String A.s
    event x = update(A.x); event y = update(A.y) when A.y != 7
    event started = startM(A.f(int, String)); event ended = endM(A.f(int, String)) when A.x > 0
    event crossed = IOM(A.f(int, String)); event sum = start(A.x + A.y == 10)
    condition pos = A.x > 0; condition inside = InM(A.f(int, String)); condition known = defined(A.s == \"\")
End";

fn session(medl: &str) -> Session {
    let imports = "import event x, y, started, ended, crossed, sum; import condition pos, inside, known;
        event any = x || y || started || ended || crossed || sum; property all = pos || inside || known;
        any -> { print \"\"; } start(all) -> { print \"\"; }";
    Session::of(PEDL, &format!("ReqSpec {imports} {medl} End"))
}

/// The output when `x`, `y` are set to these values in turn, without the output common to all scripts.
fn reported(medl: &str, values: &[(&str, i32)]) -> Vec<String> {
    let mut session = session(medl);
    for (at, (name, value)) in values.iter().enumerate() {
        session.at(at as i64).set(&format!("A.{name}"), Value::Int(*value));
    }
    session.reported().into_iter().filter(|line| !line.is_empty() && !line.contains("all ")).collect()
}

#[test]
fn when_binds_to_the_last_event() {
    let values = [("x", 1), ("y", 1), ("x", 0), ("y", 2)];
    assert_eq!(reported("alarm a = x || y when pos;", &values), ["0: a!", "1: a!", "2: a!"]);
    assert_eq!(reported("alarm a = (x || y) when pos;", &values), ["0: a!", "1: a!"]);
    assert_eq!(reported("alarm a = y when pos || true;", &values), ["1: a!", "3: a!"], "a condition goes on");
    assert_eq!(reported("alarm a = y when true when pos;", &values), ["1: a!"]);
}

#[test]
fn implication_is_right_associative() {
    let values = [("x", 0)];
    assert_eq!(reported("property p = false -> pos -> pos;", &values), ["0: p true"]);
    assert_eq!(reported("property p = (false => pos) => pos;", &values), ["0: p false"]);
    assert_eq!(reported("property p = pos || true => pos;", &values), ["0: p false"]);
}

#[test]
fn condition_as_event_occurs_when_it_becomes_true() {
    let values = [("x", 1), ("x", 2), ("x", 0), ("x", 3)];
    assert_eq!(reported("alarm a = pos;", &values), ["0: a!", "3: a!"]);
    assert_eq!(
        reported("alarm a = start(pos); pos -> { print \"up\" }", &values),
        ["0: a!", "up", "3: a!", "up"]
    );
    assert_eq!(reported("alarm a = end(pos);", &values), ["2: a!"]);
}

#[test]
fn value_and_time_return_last_occurrence() {
    let values = [("x", 5), ("y", 7), ("y", 3)];
    assert_eq!(reported("x -> { print value(x, 0); } y -> { print value(y, 0); }", &values), ["5", "3"]);
    assert_eq!(reported("y -> { print time(y) - time(x); }", &values), ["2"]);
    let mut session = session(
        "started -> { print value(started, 1); print inside }
        ended -> { print value(ended, 0) + value(ended, 2); } known -> { print \"known\" }",
    );
    session.set("A.x", Value::Int(1));
    session.enter("A.f(int, String)", &[Value::Int(4), Value::String("four")]);
    session.leave("A.f(int, String)", &[Value::Int(4), Value::String("five")], Value::Int(40));
    session.set("A.s", Value::String(""));
    let reported: Vec<String> = session.reported().into_iter().filter(|line| !line.is_empty()).collect();
    assert_eq!(reported, ["0: all true", "four", "true", "44", "known"]);
}

#[test]
fn interval_closes_before_it_opens_at_same_instant() {
    let values = [("x", 1), ("y", 1), ("x", 2), ("y", 7), ("y", 8)];
    for brackets in ["[x, y)", "[x, y]"] {
        let said = reported(&format!("property p = !{brackets};"), &values);
        assert_eq!(said, ["0: p false", "1: p true", "2: p false", "4: p true"]);
    }
}

#[test]
fn unprimed_variables_have_old_values() {
    let values = [("x", 1), ("x", 1), ("x", 1)];
    let count = "var int n, old; x -> { n' = defined(n > 0) ? n + 1 : 1; old' = n; }";
    assert_eq!(
        reported(&format!("{count} alarm a = x when n == 2;"), &values),
        ["1: a!"],
        "properties see new values"
    );
    assert_eq!(reported(&format!("{count} alarm a = x when n' == 2;"), &values), ["1: a!"]);
    assert_eq!(
        reported(&format!("{count} alarm a = x when old == 2;"), &values),
        ["2: a!"],
        "guards see old ones"
    );
    assert_eq!(reported(&format!("{count} property p = n > 0;"), &values), ["0: p true"]);
}

#[test]
fn actions_and_printed_texts_are_collected() {
    let script = "import action stop; import action go;
        var String last; x -> { last' = \"x\"; } y -> { last' = \"y\"; }
        x -> { print \"x is \" + value(x, 0); invoke stop; print last; invoke go }";
    let reported = reported(script, &[("y", 1), ("x", -2)]);
    assert_eq!(reported, ["x is -2", "invoke stop", "y", "invoke go"]);
}

#[test]
fn arithmetic_matches_java() {
    let script =
        |expression: &str| format!("var int n; x -> {{ n' = value(x, 0); }} y -> {{ print {expression}; }}");
    for (expression, printed) in [
        ("n / 2 * 2", "6"),
        ("-n % 4", "-3"),
        ("2147483647 + n", "-2147483642"),
        ("n<<29>>>30", "3"),
        ("(byte) 200 + (int) 2.9", "-54"),
        ("1 + 2 * 3 - 4 & 6 ^ 1 | 8", "11"),
        ("~n == -8", "true"),
        ("n<-1", "false"),
        ("'a' + 1", "98"),
        ("0x10 + 010 + 0b11 + 1_0", "37"),
        ("n > 6 ? 1.5 : 2", "1.5"),
        ("7 / 2f", "3.5"),
    ] {
        assert_eq!(reported(&script(expression), &[("x", 7), ("y", 1)]), [printed], "{expression}");
    }
}

/// Everything optional, or with several notations.
#[test]
fn notation_variants_are_equivalent() {
    let pedl = "MonScr // no title
        valueabstraction deltavalue multithread timestamp 2 s;
        condition c = later && a > 1;;  /* used before it is declared */
        condition later = Long$Name.x > 0
        export condition c
        monobj int a <- A.b1.c1, A.b1.c2 not in java.util.List.add(Object)
        monobj int Long$Name.x in java.util
        monmeth deposit <-> Account.deposit(double) in Wire
        monmeth java.lang.Object[] A.<init>(int[], java.util.Map)
        monobj long ns::counter, plain
        event e = startM(deposit) || endM(A.<init>(int[], java.util.Map)) || update(ns::counter) || update(plain)
        export event e, f;
        event f = update(A.b1.c2)
    end";
    let lowered = good_pedl(pedl, &|_| None);
    assert_eq!(lowered.options.timestamp.unwrap().milliseconds, 2000);
    let paths: Vec<String> = lowered.entities.iter().map(|one| one.path.to_string()).collect();
    assert_eq!(
        paths,
        [
            "A.b1.c1",
            "A.b1.c2",
            "Long$Name.x",
            "Account.deposit(double)",
            "A.<init>(int[], java.util.Map)",
            "ns::counter",
            "plain"
        ]
    );
    let scope = lowered.entities[0].scope.as_ref().unwrap();
    assert!(scope.is_negated && lowered.entities[1].scope.as_ref() == Some(scope));
    assert!(matches!(scope.entity_ref(), pedl::EntityRef::Method { name: "add", .. }));
    let pedl::EntityRef::Member { names } = lowered.entities[2].entity_ref() else { panic!("a member") };
    assert_eq!(names, ["Long$Name", "x"]);

    let medl = "ReqSpec
        e -> { n\u{2019} := 1 }
        var int n
        var float currentTime;
        property p = n > 0 -> currentTime > 0
        import event e
    END";
    good_medl(medl, None);
}

#[test]
fn target_constants_are_resolved() {
    let text = "MonScr monobj int A.x; monobj byte A.LOW; condition c = A.x > A.LOW && A.x < A.HIGH; export condition c; End";
    let (script, _) = pedl::parse(SourceId(0), text);
    let names: Vec<String> = pedl::constants(&script).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["A.HIGH"]);
    let lookup = |name: &str| match name {
        "A.LOW" => Some(pedl::ast::Literal::Int(3)),
        "A.HIGH" => Some(pedl::ast::Literal::Long(9)),
        _ => None,
    };
    let lowered = good_pedl(text, &lookup);
    assert_eq!(lowered.entities.iter().map(|one| one.is_constant).collect::<Vec<_>>(), [false, true]);
    assert_eq!(lowered.constants[0].value, pedl::ast::Literal::Long(9));
    let medl = good_medl("ReqSpec import condition c; property p = c; End", Some(&lowered));
    let mut session = Session::new(lowered, medl);
    session.set("A.x", Value::Int(3)).set("A.x", Value::Int(4)).set("A.x", Value::Int(9));
    assert_eq!(session.reported(), ["0: p false", "0: p true", "0: p false"]);

    let (_, diagnostics) = pedl::lower(&script, &|_| Some(pedl::ast::Literal::Boolean(true)));
    let messages: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
    assert!(messages.contains(&"`A.LOW` is declared as `byte`, but it is a constant of type `boolean`"));
}

/// Long chains and deep parentheses neither take long nor overflow the stack.
#[test]
fn large_scripts_compile_in_linear_time() {
    let chain = "A.x + ".repeat(100_000) + "1 > 0";
    let minus = "!".repeat(100_000) + "(A.x > 0)";
    let deep = "(".repeat(400) + "A.x" + &")".repeat(400) + " > 0";
    for expression in [&chain, &minus, &deep] {
        let text = format!("MonScr monobj int A.x; export condition c; condition c = {expression}; End");
        let (script, diagnostics) = pedl::parse(SourceId(0), &text);
        assert!(diagnostics.is_empty());
        assert!(pedl::lower(&script, &|_| None).0.is_some());
    }
    for hostile in ["(", "[", "start(", "a ? ", "a => ", "x when ", "-", "(int)", "a || "] {
        medl_problems(&format!("ReqSpec property p = {}", hostile.repeat(50_000)));
        pedl_problems(&format!("MonScr event e = {}", hostile.repeat(50_000)));
    }
    let many: String =
        (0..20_000).map(|at| format!("condition c{at} = c{} || A.x > {at};\n", at + 1)).collect();
    let text = format!("MonScr monobj int A.x; export condition c0; {many} condition c20000 = A.x > 0; End");
    let (script, _) = pedl::parse(SourceId(0), &text);
    assert!(pedl::lower(&script, &|_| None).0.is_some());
    let unknown: String = (0..20_000).map(|at| format!("property p{at} = unknown{at};\n")).collect();
    let (script, _) = medl::parse(SourceId(1), &format!("ReqSpec {unknown} End"));
    assert_eq!(medl::lower(&script, None).1.len(), 101);
    let unused: String = (0..20_000).map(|at| format!("import event e{at};\n")).collect();
    let (script, _) = medl::parse(SourceId(1), &format!("ReqSpec {unused} End"));
    let (lowered, diagnostics) = medl::lower(&script, None);
    assert!(lowered.is_some() && diagnostics.len() == 101);
    let remarks: String = (0..500).map(|at| format!("alarm a{at} = e && c;\n")).collect();
    let text = format!("ReqSpec import event e; import condition c; {remarks} End");
    let (script, _) = medl::parse(SourceId(1), &text);
    let (lowered, diagnostics) = medl::lower(&script, None);
    assert_eq!(diagnostics.len(), 101);
    let mut checker = Checker::new(lowered.expect("remarks are no errors").parts).unwrap();
    let mut group = EventGroup::default();
    group.event(0);
    group.condition(0, Truth::True);
    assert_eq!(checker.instant(&group).alarms().len(), 500);
}

proptest! {
    #[test]
    fn any_text_parses_without_panic(words in proptest::collection::vec(prop_oneof![
        Just("MonScr "), Just("ReqSpec "), Just("End"), Just("event e = "), Just("condition c = "), Just("property p = "),
        Just("alarm a = "), Just("import event e"), Just("export event e"), Just("monobj int A.x"), Just("monmeth void A.f(int)"),
        Just("var int n"), Just("e -> {"), Just("}"), Just(";"), Just(","), Just("("), Just(")"), Just("["), Just("n'"), Just("= "),
        Just(":="), Just("start("), Just("value("), Just("time("), Just(" when "), Just("&&"), Just("=>"), Just("->"), Just("A.x "),
        Just("A.f(int)"), Just("update("), Just("startM("), Just("e "), Just("c "), Just("n "), Just("1 "), Just("0.5f "), Just("\"t\""),
        Just("'"), Just("<-"), Just("/*"), Just("*/"), Just("//"), Just("\n"), Just("é"), Just("?"), Just(":"), Just("print "),
        Just("invoke "), Just("timestamp "), Just("in "), Just("not "), Just("(int)"), Just("!"), Just("-"), Just("\\"),
    ], 0..40)) {
        let text: String = words.concat();
        crate::mac::common::show(&text, &text, &pedl_problems(&text));
        crate::mac::common::show(&text, &text, &medl_problems(&text));
    }
}
