//! Arguments at the entry of functions, results at their end, and prepared extractions.

use crate::common::live_values::Live;
use invigil_debuginfo::value::assign::PendingWrite;
use invigil_debuginfo::value::expression::Expression;
use invigil_debuginfo::value::extract::{Extractor, RegisterNeeds, ValueRequest};
use invigil_debuginfo::value::format::FormatLimits;
use invigil_debuginfo::value::info::DieRef;
use invigil_debuginfo::value::scalar::{Scalar, ScalarKind};
use invigil_test_support::Folder;

const SUBJECT: &str = r#"
#include <stdbool.h>
struct small { int a; float b; double c; };
struct mixed { double d; long n; };
struct large { long all[5]; };
struct pair { char c; short s; };
enum level { LOW = 1, HIGH = 200 };
struct item { int value; struct item *next; char name[8]; unsigned low : 4; int high : 4; };

int global = 42;
__thread int own = 17;
struct item shelf = { 5, &shelf, "shelf", 9, -3 };

__attribute__((noinline)) int many(int a, long b, double x, char c, struct small s, float y, struct large l,
    short d, struct mixed m, int e, int f, int g, struct pair p, bool h) {
    return a + (int)b + (int)x + c + s.a + (int)y + (int)l.all[0] + d + (int)m.n + e + f + g + p.c + h;
}
__attribute__((noinline)) struct large big(int a, struct item *it) {
    struct large l = { { a, 2, 3, 4, it->value } };
    return l;
}
__attribute__((noinline)) struct small tiny(int a) { struct small s = { a, 1.5f, 2.25 }; return s; }
__attribute__((noinline)) struct mixed mix(long n) { struct mixed m = { 0.5, n }; return m; }
__attribute__((noinline)) enum level rank(int a) { return a ? HIGH : LOW; }
__attribute__((noinline)) double real(float f) { return f * 2; }
__attribute__((noinline)) bool yes(int a) { return a > 0; }
__attribute__((noinline)) const char *word(const char *w) { return w + 1; }
__attribute__((noinline)) void nothing(void) { __asm__ volatile(""); }
__attribute__((noinline)) signed char minus(void) { return -5; }

int main(void) {
    struct small s = { 11, 2.5f, 3.5 };
    struct large l = { { 100, 200, 300, 400, 500 } };
    struct mixed m = { 7.5, 77 };
    struct pair p = { 'p', -9 };
    int total = many(-1, 2, 3.25, 'c', s, 4.5f, l, -8, m, 6, 7, 8, p, true);
    total += (int)big(9, &shelf).all[0];
    total += tiny(21).a + (int)mix(-4).n + rank(1) + (int)real(1.25f) + yes(3) + word("word")[0] + minus();
    nothing();
    return total + global + own;
}
"#;

const ARGUMENTS: [(&str, &str); 16] = [
    ("a", "-1"),
    ("b", "2"),
    ("x", "3.25"),
    ("c", "99 'c'"),
    ("s", "{a = 11, b = 2.5, c = 3.5}"),
    ("s.b", "2.5"),
    ("y", "4.5"),
    ("l.all", "{100, 200, 300, 400, 500}"),
    ("d", "-8"),
    ("m", "{d = 7.5, n = 77}"),
    ("e", "6"),
    ("f", "7"),
    ("g", "8"),
    ("p", "{c = 112 'p', s = -9}"),
    ("h", "true"),
    ("global", "42"),
];

fn built(options: &[&str]) -> (Folder, std::path::PathBuf) {
    let shop = Folder::new();
    let path = shop.c(SUBJECT, options);
    (shop, path)
}

#[test]
fn arguments_are_available_at_first_instruction() {
    for options in [&["-O0", "-g"][..], &["-O0", "-g", "-gdwarf-4"], &["-O2", "-g"], &["-Og", "-g"]] {
        let (_shop, path) = built(options);
        let mut live = Live::at_function(&path, "many");
        live.check(&ARGUMENTS);
        if options[0] == "-O0" {
            let end = live.function("many").prologue_end.unwrap();
            assert!(end > live.frames[0].pc);
            // Narrow arguments pass through other registers on their way to their stack slots; wide ones are always available.
            let wide: Vec<(&str, &str)> =
                ARGUMENTS.into_iter().filter(|(name, _)| !["c", "d", "p", "h"].contains(name)).collect();
            while live.frames[0].pc < end {
                live.step();
                live.check(&wide);
            }
            live.check(&ARGUMENTS);
        }
    }
}

#[test]
fn hidden_result_parameter_does_not_shift_arguments() {
    let (_shop, path) = built(&["-O0", "-g"]);
    let live = Live::at_function(&path, "big");
    live.check(&[("a", "9"), ("it->value", "5"), ("l", "<not available before the end of the prologue>")]);
}

#[test]
fn results_are_read_by_calling_convention() {
    for options in [&["-O0", "-g"][..], &["-O2", "-g"]] {
        let (_shop, path) = built(options);
        let mut live = Live::start(&path);
        for (function, result) in [
            ("big", "{all = {9, 2, 3, 4, 5}}"),
            ("tiny", "{a = 21, b = 1.5, c = 2.25}"),
            ("mix", "{d = 0.5, n = -4}"),
            ("rank", "HIGH"),
            ("real", "2.5"),
            ("yes", "true"),
            ("word", "\"ord\""),
            ("minus", "-5 '\\373'"),
            ("nothing", "<the function returns nothing>"),
        ] {
            live.run_to_function(function);
            let at = DieRef { image: 0, die: live.function(function).die.unwrap() };
            live.run_to_return();
            let scope = live.scope(0);
            let shown = scope.show(&scope.returned(at), &FormatLimits::default());
            assert!(shown.ends_with(result), "{function} {options:?}: {shown}, should be {result}");
        }
    }
}

fn extract(live: &Live, function: &str, form: &str, wanted: ScalarKind) -> (Extractor, Scalar) {
    let form = ValueRequest::parse(form).unwrap();
    let function = live.function(function);
    let pc = live.frames[0].pc;
    let extractor = Extractor::compile(&live.program, &live.catalog, &function, pc, &form, wanted).unwrap();
    let value = extractor.read(&live.registers(), live.memory(), &live.program, &live.catalog);
    (extractor, value)
}

#[test]
fn extractions_agree_with_expressions() {
    for options in [&["-O0", "-g"][..], &["-O2", "-g"], &["-O0", "-g", "-no-pie", "-gdwarf-4"]] {
        let (_shop, path) = built(options);
        let mut live = Live::start(&path);
        live.run_to_function("many");
        let text = |text: &str| Scalar::Str(text.to_owned());
        for (form, wanted, value, needs) in [
            ("a", ScalarKind::Any, Scalar::Int(-1), Some(RegisterNeeds::General)),
            ("arg 1", ScalarKind::Any, Scalar::Int(-1), Some(RegisterNeeds::General)),
            ("arg 3", ScalarKind::Any, Scalar::Float(3.25), Some(RegisterNeeds::Vector)),
            ("b", ScalarKind::Float, Scalar::Float(2.0), Some(RegisterNeeds::General)),
            ("x", ScalarKind::Any, Scalar::Float(3.25), Some(RegisterNeeds::Vector)),
            ("x", ScalarKind::Int, Scalar::Int(3), Some(RegisterNeeds::Vector)),
            ("c", ScalarKind::Any, Scalar::Int(99), Some(RegisterNeeds::General)),
            ("c", ScalarKind::Str, text("c"), Some(RegisterNeeds::General)),
            ("d", ScalarKind::Any, Scalar::Int(-8), None),
            ("g", ScalarKind::Any, Scalar::Int(8), None),
            ("h", ScalarKind::Any, Scalar::Bool(true), None),
            ("l.all[3]", ScalarKind::Any, Scalar::Int(400), Some(RegisterNeeds::General)),
            ("a + b * 2 > 2", ScalarKind::Any, Scalar::Bool(true), Some(RegisterNeeds::General)),
            ("a < 0 ? b : c", ScalarKind::Any, Scalar::Int(2), Some(RegisterNeeds::General)),
            (
                "b / (a + 1)",
                ScalarKind::Any,
                Scalar::Unavailable(invigil_debuginfo::value::typed_value::Unavailable::DivisionByZero),
                Some(RegisterNeeds::General),
            ),
            ("global", ScalarKind::Any, Scalar::Int(42), Some(RegisterNeeds::Nothing)),
            ("global + 1", ScalarKind::Bool, Scalar::Bool(true), Some(RegisterNeeds::Nothing)),
            ("own", ScalarKind::Any, Scalar::Int(17), Some(RegisterNeeds::General)),
            ("shelf.next->next->value", ScalarKind::Any, Scalar::Int(5), Some(RegisterNeeds::Nothing)),
            ("shelf.name", ScalarKind::Any, text("shelf"), Some(RegisterNeeds::Nothing)),
            ("shelf.low", ScalarKind::Any, Scalar::Int(9), Some(RegisterNeeds::Nothing)),
            ("shelf.high", ScalarKind::Any, Scalar::Int(-3), Some(RegisterNeeds::Nothing)),
            ("$arg1", ScalarKind::Any, Scalar::Int(-1), Some(RegisterNeeds::General)),
            ("*(int *) &global", ScalarKind::Any, Scalar::Int(42), None),
            ("*(long *) $rsp == 0", ScalarKind::Any, Scalar::Bool(false), Some(RegisterNeeds::General)),
            ("(&shelf)->value", ScalarKind::Any, Scalar::Int(5), None),
            ("^total", ScalarKind::Bool, Scalar::Bool(true), None),
            ("HIGH", ScalarKind::Any, Scalar::Int(200), None),
            ("m.n", ScalarKind::Any, Scalar::Int(77), None),
        ] {
            if form == "^total" && options[0] == "-O2" {
                continue;
            }
            let (extractor, got) = extract(&live, "many", form, wanted);
            if form != "^total" {
                assert_eq!(got, value, "{form} {options:?}");
            }
            if let Some(needs) = needs {
                assert_eq!(extractor.needs(), needs, "{form} {options:?} {extractor:?}");
                assert!(extractor.needs_no_unwinding(), "{form} {options:?}");
            }
        }
        assert_eq!(
            extract(&live, "many", "&global", ScalarKind::Any).1,
            Scalar::Int(i64::from_str_radix(&live.show("&global")[2..], 16).unwrap())
        );
        let (here, reported) = extract(&live, "many", "$rip", ScalarKind::Any);
        assert_eq!(here.needs(), RegisterNeeds::Nothing);
        assert_eq!(reported, Scalar::Int(live.function("many").entry.unwrap() as i64));
        live.run_to_function("word");
        assert_eq!(extract(&live, "word", "(char *) $rdi", ScalarKind::Str).1, text("word"));
        assert_eq!(extract(&live, "word", "*$arg1", ScalarKind::Str).1, text("w"));
        assert_eq!(extract(&live, "word", "w", ScalarKind::Str).1, text("word"));
        assert_eq!(extract(&live, "word", "*w", ScalarKind::Str).1, text("w"));
        assert!(
            matches!(extract(&live, "word", "w", ScalarKind::Any).1, Scalar::Int(address) if address > 0)
        );
    }
}

#[test]
fn extractor_reads_results() {
    let (_shop, path) = built(&["-O2", "-g"]);
    let mut live = Live::start(&path);
    for (name, wanted, value) in [
        ("big", ScalarKind::Any, None),
        ("rank", ScalarKind::Any, Some(Scalar::Int(200))),
        ("real", ScalarKind::Any, Some(Scalar::Float(2.5))),
        ("yes", ScalarKind::Any, Some(Scalar::Bool(true))),
        ("word", ScalarKind::Str, Some(Scalar::Str("ord".into()))),
        ("minus", ScalarKind::Any, Some(Scalar::Int(-5))),
    ] {
        live.run_to_function(name);
        let function = live.function(name);
        let entry = function.entry.unwrap();
        let extractor = Extractor::compile(
            &live.program,
            &live.catalog,
            &function,
            entry,
            &ValueRequest::Returned,
            wanted,
        )
        .unwrap();
        live.run_to_return();
        let got = extractor.read(&live.registers(), live.memory(), &live.program, &live.catalog);
        match value {
            Some(value) => assert_eq!(got, value, "{name}"),
            None => assert!(matches!(got, Scalar::Unavailable(_)), "{name}: {got:?}"),
        }
    }
    let nothing = live.function("nothing");
    let entry = nothing.entry.unwrap();
    let none = Extractor::compile(
        &live.program,
        &live.catalog,
        &nothing,
        entry,
        &ValueRequest::Returned,
        ScalarKind::Any,
    )
    .unwrap();
    assert!(!none.is_available());
}

#[test]
fn extractor_reports_errors_when_compiled() {
    let (_shop, path) = built(&["-O0", "-g"]);
    let live = Live::at_function(&path, "many");
    let function = live.function("many");
    let pc = live.frames[0].pc;
    for (form, message) in [
        ("gobal", "no symbol `gobal` in this frame; did you mean `global`?"),
        ("a > 0 && gobal", "no symbol `gobal` in this frame; did you mean `global`?"),
        ("s.bb", "`struct small` has no member `bb`; did you mean `b`?"),
        ("arg 15", "`many` has 14 arguments; arguments are counted from 1"),
    ] {
        let form = ValueRequest::parse(form).unwrap();
        let result = Extractor::compile(&live.program, &live.catalog, &function, pc, &form, ScalarKind::Any);
        assert_eq!(result.unwrap_err().to_string(), message);
    }
    assert_eq!(
        ValueRequest::parse("arg x").unwrap_err().to_string(),
        "`x` is not an argument number; arguments are counted from 1, as in `arg 1`"
    );
}

#[test]
fn arguments_of_stripped_functions_are_integers() {
    let (shop, path) = built(&["-O0"]);
    let live = Live::at_function(&path, "many");
    drop(shop);
    assert_eq!(extract(&live, "many", "arg 2", ScalarKind::Any).1, Scalar::Int(2));
    assert_eq!(
        extract(&live, "many", "arg 7", ScalarKind::Any).1,
        Scalar::Int(100),
        "the first on the stack"
    );
    assert_eq!(live.show("global"), "42", "a symbol of four bytes");
}

#[test]
fn assignment_changes_value() {
    let (_shop, path) = built(&["-O0", "-g"]);
    let live = Live::at_function(&path, "big");
    let scope = live.scope(0);
    let change = |text: &str| {
        let (location, value) = Expression::parse_assignment(text).unwrap();
        scope.assign(&location, &value.unwrap())
    };
    for (text, location, shown) in [
        ("global = 7 + 1", "global", "8"),
        ("shelf.high = 5", "shelf.high", "5"),
        ("shelf.low = 31", "shelf.low", "15"),
        ("shelf.name = \"new\"", "shelf.name", "\"new\""),
        ("shelf.value = -3.9", "shelf.value", "-3"),
        ("shelf.next = 0", "shelf.next", "0x0"),
        ("own = 'a'", "own", "97"),
        ("it->value = 77", "shelf.value", "77"),
    ] {
        for change in change(text).unwrap() {
            let PendingWrite::Memory { address, bytes } = change else { panic!("{text}") };
            live.write(address, &bytes);
        }
        assert_eq!(live.show(location), shown, "{text}");
    }
    assert_eq!(live.show("shelf.high"), "5", "neighbours stay");
    assert_eq!(change("a = 3").unwrap(), [PendingWrite::Register { number: gimli::Register(4), value: 3 }]);
    assert_eq!(
        change("$rax = 3").unwrap(),
        [PendingWrite::Register { number: gimli::Register(0), value: 3 }]
    );
    for (text, message) in [
        ("3 = 4", "this is a constant and cannot be changed"),
        ("l = 4", "a value of type `int` does not fit into one of type `struct large`"),
        ("shelf = 1", "a value of type `int` does not fit into one of type `struct item`"),
        (
            "shelf.name = \"much too long\"",
            "the text has 8 bytes or more, and there is room for 7 and the terminating zero",
        ),
    ] {
        assert_eq!(change(text).unwrap_err().to_string(), message, "{text}");
    }
    let extent = |text: &str| scope.extent(&scope.evaluate(&Expression::parse(text).unwrap()).unwrap());
    assert_eq!(extent("shelf.name").unwrap().1, 8);
    assert_eq!(extent("global").unwrap().1, 4);
    assert_eq!(extent("a"), None, "it is in a register");
    assert_eq!(extent("a + 1"), None);
}

#[test]
fn optimised_code_reports_unavailable_values() {
    let shop = Folder::new();
    let path = shop.c(
        r#"
        __attribute__((noipa)) int leaf(int x) { __asm__ volatile("int3"); return x; }
        __attribute__((noipa)) int middle(int kept, int gone) {
            int sum = leaf(kept * 2);
            return sum + 1;
        }
        int main(int argc, char **argv) { return middle(argc + 4, 9) + argc; }
        "#,
        &["-O2", "-g"],
    );
    let live = Live::at_trap(&path);
    assert_eq!(live.show("x"), "10");
    assert_eq!(live.show_at(1, "gone"), "9", "the caller knows what it passed");
    assert_eq!(live.show_at(1, "sum"), "<optimized out>");
    let scope = live.scope(1);
    let datum = scope.evaluate(&Expression::parse("sum").unwrap()).unwrap();
    assert!(matches!(scope.to_scalar(&datum, ScalarKind::Any), Scalar::Unavailable(_)));
}
