//! Arguments at the entry of functions, results at their end, and prepared extractions.

mod common;
mod value_live;

use common::Workshop;
use invigil_debuginfo::value::assign::Change;
use invigil_debuginfo::value::expression::Expression;
use invigil_debuginfo::value::extract::{Extractor, Form, Needs};
use invigil_debuginfo::value::info::At;
use invigil_debuginfo::value::plain::{Plain, Wanted};
use invigil_debuginfo::value::show::Style;
use value_live::Live;

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

fn built(options: &[&str]) -> (Workshop, std::path::PathBuf) {
    let shop = Workshop::new();
    let path = shop.c(SUBJECT, options);
    (shop, path)
}

#[test]
fn arguments_are_there_from_the_first_instruction_on() {
    for options in [&["-O0", "-g"][..], &["-O0", "-g", "-gdwarf-4"], &["-O2", "-g"], &["-Og", "-g"]] {
        let (_shop, path) = built(options);
        let mut live = Live::at_function(&path, "many");
        live.check(&ARGUMENTS);
        if options[0] == "-O0" {
            let end = live.function("many").prologue_end.unwrap();
            assert!(end > live.frames[0].pc);
            // Narrow ones pass through other registers on their way to their homes; the others are always there.
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
fn hidden_results_do_not_shift_arguments() {
    let (_shop, path) = built(&["-O0", "-g"]);
    let live = Live::at_function(&path, "big");
    live.check(&[("a", "9"), ("it->value", "5"), ("l", "<not there before the end of the prologue>")]);
}

#[test]
fn results_are_read_by_the_convention() {
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
            let at = At { image: 0, die: live.function(function).die.unwrap() };
            live.run_to_return();
            let scope = live.scope(0);
            let shown = scope.show(&scope.returned(at), &Style::default());
            assert!(shown.ends_with(result), "{function} {options:?}: {shown}, should be {result}");
        }
    }
}

fn extract(live: &Live, function: &str, form: &str, wanted: Wanted) -> (Extractor, Plain) {
    let form = Form::parse(form).unwrap();
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
        let text = |text: &str| Plain::Str(text.to_owned());
        for (form, wanted, value, needs) in [
            ("a", Wanted::Any, Plain::Int(-1), Some(Needs::General)),
            ("arg 1", Wanted::Any, Plain::Int(-1), Some(Needs::General)),
            ("arg 3", Wanted::Any, Plain::Float(3.25), Some(Needs::Vector)),
            ("b", Wanted::Float, Plain::Float(2.0), Some(Needs::General)),
            ("x", Wanted::Any, Plain::Float(3.25), Some(Needs::Vector)),
            ("x", Wanted::Int, Plain::Int(3), Some(Needs::Vector)),
            ("c", Wanted::Any, Plain::Int(99), Some(Needs::General)),
            ("c", Wanted::Str, text("c"), Some(Needs::General)),
            ("d", Wanted::Any, Plain::Int(-8), None),
            ("g", Wanted::Any, Plain::Int(8), None),
            ("h", Wanted::Any, Plain::Bool(true), None),
            ("l.all[3]", Wanted::Any, Plain::Int(400), Some(Needs::General)),
            ("a + b * 2 > 2", Wanted::Any, Plain::Bool(true), Some(Needs::General)),
            ("a < 0 ? b : c", Wanted::Any, Plain::Int(2), Some(Needs::General)),
            (
                "b / (a + 1)",
                Wanted::Any,
                Plain::Unavailable(invigil_debuginfo::value::datum::Unavailable::DivisionByZero),
                Some(Needs::General),
            ),
            ("global", Wanted::Any, Plain::Int(42), Some(Needs::Nothing)),
            ("global + 1", Wanted::Bool, Plain::Bool(true), Some(Needs::Nothing)),
            ("own", Wanted::Any, Plain::Int(17), Some(Needs::General)),
            ("shelf.next->next->value", Wanted::Any, Plain::Int(5), Some(Needs::Nothing)),
            ("shelf.name", Wanted::Any, text("shelf"), Some(Needs::Nothing)),
            ("shelf.low", Wanted::Any, Plain::Int(9), Some(Needs::Nothing)),
            ("shelf.high", Wanted::Any, Plain::Int(-3), Some(Needs::Nothing)),
            ("$arg1", Wanted::Any, Plain::Int(-1), Some(Needs::General)),
            ("*(int *) &global", Wanted::Any, Plain::Int(42), None),
            ("*(long *) $rsp == 0", Wanted::Any, Plain::Bool(false), Some(Needs::General)),
            ("(&shelf)->value", Wanted::Any, Plain::Int(5), None),
            ("^total", Wanted::Bool, Plain::Bool(true), None),
            ("HIGH", Wanted::Any, Plain::Int(200), None),
            ("m.n", Wanted::Any, Plain::Int(77), None),
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
                assert!(extractor.is_fast(), "{form} {options:?}");
            }
        }
        assert_eq!(
            extract(&live, "many", "&global", Wanted::Any).1,
            Plain::Int(i64::from_str_radix(&live.show("&global")[2..], 16).unwrap())
        );
        let (here, told) = extract(&live, "many", "$rip", Wanted::Any);
        assert_eq!(here.needs(), Needs::Nothing);
        assert_eq!(told, Plain::Int(live.function("many").entry.unwrap() as i64));
        live.run_to_function("word");
        assert_eq!(extract(&live, "word", "(char *) $rdi", Wanted::Str).1, text("word"));
        assert_eq!(extract(&live, "word", "*$arg1", Wanted::Str).1, text("w"));
        assert_eq!(extract(&live, "word", "w", Wanted::Str).1, text("word"));
        assert_eq!(extract(&live, "word", "*w", Wanted::Str).1, text("w"));
        assert!(matches!(extract(&live, "word", "w", Wanted::Any).1, Plain::Int(address) if address > 0));
    }
}

#[test]
fn results_can_be_prepared() {
    let (_shop, path) = built(&["-O2", "-g"]);
    let mut live = Live::start(&path);
    for (name, wanted, value) in [
        ("big", Wanted::Any, None),
        ("rank", Wanted::Any, Some(Plain::Int(200))),
        ("real", Wanted::Any, Some(Plain::Float(2.5))),
        ("yes", Wanted::Any, Some(Plain::Bool(true))),
        ("word", Wanted::Str, Some(Plain::Str("ord".into()))),
        ("minus", Wanted::Any, Some(Plain::Int(-5))),
    ] {
        live.run_to_function(name);
        let function = live.function(name);
        let entry = function.entry.unwrap();
        let extractor =
            Extractor::compile(&live.program, &live.catalog, &function, entry, &Form::Returned, wanted)
                .unwrap();
        live.run_to_return();
        let got = extractor.read(&live.registers(), live.memory(), &live.program, &live.catalog);
        match value {
            Some(value) => assert_eq!(got, value, "{name}"),
            None => assert!(matches!(got, Plain::Unavailable(_)), "{name}: {got:?}"),
        }
    }
    let nothing = live.function("nothing");
    let entry = nothing.entry.unwrap();
    let none =
        Extractor::compile(&live.program, &live.catalog, &nothing, entry, &Form::Returned, Wanted::Any)
            .unwrap();
    assert!(!none.is_available());
}

#[test]
fn mistakes_are_told_when_an_extraction_is_prepared() {
    let (_shop, path) = built(&["-O0", "-g"]);
    let live = Live::at_function(&path, "many");
    let function = live.function("many");
    let pc = live.frames[0].pc;
    for (form, message) in [
        ("gobal", "no symbol `gobal` in this frame; did you mean `global`?"),
        ("a > 0 && gobal", "no symbol `gobal` in this frame; did you mean `global`?"),
        ("s.bb", "`struct small` has no member `bb`"),
        ("arg 15", "`many` has 14 arguments; they are counted from 1"),
    ] {
        let form = Form::parse(form).unwrap();
        let result = Extractor::compile(&live.program, &live.catalog, &function, pc, &form, Wanted::Any);
        assert_eq!(result.unwrap_err().to_string(), message);
    }
    assert_eq!(
        Form::parse("arg x").unwrap_err().to_string(),
        "`x` is no number of an argument; the first one is `arg 1`"
    );
}

#[test]
fn functions_known_by_symbol_have_integer_arguments() {
    let (shop, path) = built(&["-O0"]);
    let live = Live::at_function(&path, "many");
    drop(shop);
    assert_eq!(extract(&live, "many", "arg 2", Wanted::Any).1, Plain::Int(2));
    assert_eq!(extract(&live, "many", "arg 7", Wanted::Any).1, Plain::Int(100), "the first on the stack");
    assert_eq!(live.show("global"), "42", "a symbol of four bytes");
}

#[test]
fn places_can_be_changed() {
    let (_shop, path) = built(&["-O0", "-g"]);
    let live = Live::at_function(&path, "big");
    let scope = live.scope(0);
    let change = |text: &str| {
        let (place, value) = Expression::parse_assignment(text).unwrap();
        scope.assign(&place, &value.unwrap())
    };
    for (text, place, shown) in [
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
            let Change::Memory { address, bytes } = change else { panic!("{text}") };
            live.write(address, &bytes);
        }
        assert_eq!(live.show(place), shown, "{text}");
    }
    assert_eq!(live.show("shelf.high"), "5", "neighbours stay");
    assert_eq!(change("a = 3").unwrap(), [Change::Register { number: gimli::Register(4), value: 3 }]);
    assert_eq!(change("$rax = 3").unwrap(), [Change::Register { number: gimli::Register(0), value: 3 }]);
    for (text, message) in [
        ("3 = 4", "this is a constant and cannot be changed"),
        ("l = 4", "a value of type `int` does not fit into one of type `struct large`"),
        ("shelf = 1", "a value of type `int` does not fit into one of type `struct item`"),
        ("shelf.name = \"much too long\"", "the text has 8 bytes or more, and there is room for 8"),
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
fn optimised_code_says_what_is_gone() {
    let shop = Workshop::new();
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
    assert!(matches!(scope.plain(&datum, Wanted::Any), Plain::Unavailable(_)));
}
