//! Parameters of events.

use crate::live::common::{c, cpp, instrument_events, run, rust};
use invigil_monitor::event::EventKind::{After, Before};
use invigil_target::prelude::*;
use invigil_target::{BreakpointKind, BreakpointSpec, Owner, StopReason, Termination};

const DONE: StopReason = StopReason::Ended(Termination::Exited(0));

const MANY: &str = r#"
    #include <stdbool.h>
    #include <string.h>
    #define LIMIT (40 + 2)
    enum color { RED, GREEN = 5, BLUE };
    struct point { int x, y; struct point *next; char name[8]; };
    int global = 7;
    static long hidden = 8;
    static _Thread_local int mine = 9;
    __attribute__((noinline)) int all(int i, char c, const char *s, enum color e, float f, double d, bool b,
                                      struct point *p, unsigned char u, long l) {
        static int calls = 3;
        calls += 1;
        global += i; hidden += 1; mine += 1;
        return i + c + s[0] + e + (int)f + (int)d + b + p->x + u + (int)l + calls;
    }
    __attribute__((noinline)) int caller(int q, const char *w) {
        struct point second = { 30, 40, 0, "two" };
        struct point first = { 10, 20, &second, "one" };
        return all(q, 'z', w, GREEN, 1.5f, 2.25, true, &first, 200, -6);
    }
    int main(int argc, char **argv) { return caller(argc, "hello") == 0; }
"#;

#[test]
fn every_form_of_parameter_is_read() {
    let program = c(MANY, &["-g3", "-O0"]);
    let mut target = program.start();
    let params: &[&str] = &[
        "i",
        "c: str",
        "c: int",
        "s: str",
        "e",
        "e: int",
        "e: str",
        "f",
        "d: float",
        "b: bool",
        "b: int",
        "u",
        "l",
        "arg 1",
        "arg 3: str",
        "arg 6",
        "*p",
        "p->x",
        "p->next->y",
        "p->name: str",
        "*s",
        "global",
        "hidden",
        "mine",
        "LIMIT",
        "^q",
        "^w: str",
        "^arg 1",
        "^arg 2: str",
        "s[1]",
        "i + u",
        "calls",
        "i: float",
    ];
    let (catalog, _) = instrument_events(&mut target, &[("all", Before, params)]);
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, DONE);
    let found = events[0].strip_prefix("all(").unwrap().strip_suffix(')').unwrap();
    let found: Vec<&str> = found.split(", ").collect();
    let expected = [
        ("i", "1"),
        ("c: str", "\"z\""),
        ("c: int", "122"),
        ("s: str", "\"hello\""),
        ("e: int", "5"),
        ("f", "1.5"),
        ("d: float", "2.25"),
        ("b: bool", "true"),
        ("b: int", "1"),
        ("u", "200"),
        ("l", "-6"),
        ("arg 1", "1"),
        ("arg 3: str", "\"hello\""),
        ("arg 6", "2.25"),
        ("p->x", "10"),
        ("p->next->y", "40"),
        ("p->name: str", "\"one\""),
        ("global", "7"),
        ("hidden", "8"),
        ("mine", "9"),
        ("LIMIT", "42"),
        ("^q", "1"),
        ("^w: str", "\"hello\""),
        ("^arg 1", "1"),
        ("^arg 2: str", "\"hello\""),
        ("s[1]", "101"),
        ("i + u", "201"),
        ("calls", "3"),
        ("i: float", "1"),
    ];
    let at = |name: &str| params.iter().position(|param| *param == name).unwrap();
    let wrong: Vec<_> = expected.iter().filter(|(name, value)| found[at(name)] != *value).collect();
    assert!(wrong.is_empty(), "expected {wrong:?} in {:?}", params.iter().zip(&found).collect::<Vec<_>>());
}

#[test]
fn arguments_are_correct_at_first_instruction() {
    for flags in [["-g", "-O0"], ["-g", "-O1"], ["-g", "-O2"], ["-g", "-O3"]] {
        let program = c(MANY, &flags);
        let mut target = program.start();
        // At -O2 the compiler may know some arguments, and pass fewer.
        let (catalog, _) = instrument_events(&mut target, &[("caller", Before, &["q", "w: str", "&global"])]);
        let (events, stop) = run(&mut target, &catalog);
        assert_eq!(stop, DONE);
        assert!(events[0].starts_with("caller(1, \"hello\", "), "{flags:?} {events:?}");
        let mut target = program.start();
        let (catalog, _) = instrument_events(&mut target, &[("all", Before, &["i", "s: str", "d", "l"])]);
        let (events, _) = run(&mut target, &catalog);
        for (found, right) in
            events[0][4..events[0].len() - 1].split(", ").zip(["1", "\"hello\"", "2.25", "-6"])
        {
            assert!(found == right || found == "-", "{flags:?} {events:?}");
        }
    }
}

#[test]
fn optimised_out_values_are_unset() {
    let source = "
        __attribute__((noinline)) int f(int used, int unused) { int local = used * 3; return used + 1; }
        int main(int argc, char **argv) { return f(argc, argc * 2) == 0; }";
    let program = c(source, &["-g", "-O2"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(&mut target, &[("f", Before, &["used", "unused", "local"])]);
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, DONE);
    let fields: Vec<&str> = events[0][2..events[0].len() - 1].split(", ").collect();
    assert_eq!(fields[0], "1");
    assert!(fields[1] == "-" || fields[1] == "2", "{events:?}");
    assert!(fields[2] == "-" || fields[2] == "3", "{events:?}");
}

#[test]
fn unknown_name_suggests_nearest() {
    let program = c(MANY, &["-g"]);
    let mut target = program.start();
    let (catalog, _) = crate::live::common::catalog(&[
        ("caler", Before, &[]),
        ("all", Before, &["golbal"]),
        ("all", After, &["e", "nonsense"]),
        ("all", Before, &["p->z"]),
        ("program.c:9999", Before, &[]),
    ]);
    let unknown = target.prepare(&catalog).unwrap();
    let find = |words: &str| {
        let found = unknown.iter().find(|unknown| unknown.reason.contains(words));
        found.unwrap_or_else(|| panic!("{words} is not in {unknown:?}"))
    };
    assert!(find("`caler`").help.contains("caller"), "{unknown:?}");
    assert!(!find("`caler`").pending);
    let global = find("golbal");
    assert!(global.help.contains("global"), "{unknown:?}");
    assert_eq!(global.param, Some(0));
    assert_eq!(find("nonsense").param, Some(1));
    assert!(find("z").param.is_some());
    find("9999");
    assert_eq!(unknown.len(), 5, "{unknown:?}");
}

#[test]
fn events_at_lines_and_addresses_occur() {
    let source = "int twice(int x) {\n    int y = x;\n    y += x;\n    return y;\n}\nint main(void) { return twice(4) - 8; }\n";
    let program = c(source, &["-g"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(
        &mut target,
        &[("program.c:3", Before, &["x", "y"]), ("program.c:4", Before, &["y"])],
    );
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, DONE);
    assert_eq!(events, ["program.c:3(4, 4)", "program.c:4(8)"]);
}

#[test]
fn arguments_without_debug_information_follow_calling_convention() {
    let program = c(MANY, &["-O0"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(
        &mut target,
        &[("caller", Before, &["arg 1", "arg 2: str"]), ("caller", After, &["arg 1", "ret"])],
    );
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, DONE);
    assert_eq!(events[0], "caller(1, \"hello\")");
    assert!(events[1].starts_with("after caller(1, "), "{events:?}");
    let mut target = program.start();
    let (catalog, _) = catalog_of_names(&["q"]);
    let unknown = target.prepare(&catalog).unwrap();
    assert_eq!(unknown.len(), 1);
    assert!(format!("{} {}", unknown[0].reason, unknown[0].help).contains("-g"), "{unknown:?}");
}

fn catalog_of_names(
    params: &[&str],
) -> (invigil_monitor::event::EventCatalog, invigil_monitor::event::EventSet) {
    crate::live::common::catalog(&[("caller", Before, params)])
}

#[test]
fn cpp_parameters_are_read() {
    let source = r#"
        #include <string>
        #include <vector>
        namespace shop {
        struct Account {
            long balance; std::string owner;
            __attribute__((noinline)) void pay(int amount) { balance -= amount; }
            __attribute__((noinline)) void pay(const std::string &why, int amount) { balance -= amount; owner += why; }
            virtual __attribute__((noinline)) ~Account() {}
        };
        template <class T> __attribute__((noinline)) T twice(T x) { return x + x; }
        }
        int main() {
            shop::Account a; a.balance = 100; a.owner = "ann";
            a.pay(5); a.pay("x", 7);
            return (int)(shop::twice(3) + shop::twice(1.5)) + a.balance - 97;
        }"#;
    for flags in [["-g", "-O0"], ["-g", "-O1"]] {
        let program = cpp(source, &flags);
        let mut target = program.start();
        let (catalog, _) = instrument_events(
            &mut target,
            &[
                ("shop::Account::pay", Before, &["amount", "this->balance", "balance"]),
                ("shop::twice", Before, &["x"]),
                ("shop::twice", After, &["ret"]),
            ],
        );
        let (events, stop) = run(&mut target, &catalog);
        assert_eq!(stop, DONE);
        let expected = [
            "shop::Account::pay(5, 100, 100)",
            "shop::Account::pay(7, 95, 95)",
            "shop::twice(3)",
            "after shop::twice(6)",
            "shop::twice(1.5)",
            "after shop::twice(3)",
        ];
        assert_eq!(events.len(), 6, "{events:?}");
        for event in expected {
            assert!(events.contains(&event.to_owned()), "{flags:?}: {event} is not among {events:?}");
        }
    }
}

#[test]
fn rust_parameters_are_read() {
    let source = r#"
        struct Account { balance: i64, open: bool }
        impl Account {
            #[inline(never)]
            fn pay(&mut self, amount: i64) -> bool { self.balance -= amount; self.open = self.balance > 0; self.open }
        }
        #[inline(never)]
        fn greet(name: &str, ratio: f64) -> f64 { name.len() as f64 * ratio }
        fn main() {
            let mut account = Account { balance: 10, open: true };
            let mut n = 0;
            for i in 0..3 { n += account.pay(4 + i) as i32; }
            let g = greet("world", 1.5);
            std::process::exit(if n == 2 && g == 7.5 { 0 } else { 1 });
        }"#;
    let program = rust(source, &["-g"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(
        &mut target,
        &[
            ("program::Account::pay", Before, &["amount", "self->balance"]),
            ("program::Account::pay", After, &["ret: bool"]),
            ("program::greet", Before, &["name: str", "ratio"]),
            ("program::greet", After, &["ret: float"]),
        ],
    );
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, DONE);
    let expected = [
        "program::Account::pay(4, 10)",
        "after program::Account::pay(true)",
        "program::Account::pay(5, 6)",
        "after program::Account::pay(true)",
        "program::Account::pay(6, 1)",
        "after program::Account::pay(false)",
        "program::greet(\"world\", 1.5)",
        "after program::greet(7.5)",
    ];
    assert_eq!(events, expected);
}

#[test]
fn every_inlined_copy_of_function_is_observed() {
    let source = "
        volatile int sink;
        static inline __attribute__((always_inline)) void note(int x) { sink += x; }
        __attribute__((noinline)) void a(int n) { note(n); }
        __attribute__((noinline)) void b(int n) { note(n * 2); note(n * 3); }
        int main(void) { for (int i = 1; i <= 5; i++) { a(i); b(i); } note(1000); return 0; }";
    let program = c(source, &["-g", "-O2"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(&mut target, &[("note", Before, &["x"])]);
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, DONE);
    assert_eq!(events.len(), 16, "{events:?}");
    let mut target = program.start();
    let (catalog, _) = crate::live::common::catalog(&[("note", After, &["x"])]);
    let unknown = target.prepare(&catalog).unwrap();
    assert!(unknown[0].reason.contains("always inlined"), "{unknown:?}");
}

#[test]
fn large_unsigned_values_do_not_become_negative() {
    let source = "
        enum wide { SMALL = 1, LARGE = 0xffffffffffffffff };
        __attribute__((noinline)) int f(unsigned long u, unsigned long long fits, void *p, long s, enum wide e)
        { return u != 0; }
        int main(void) { return f(-1UL, 0x7fffffffffffffff, (void *) -1, -1, LARGE) == 0; }";
    let program = c(source, &["-g", "-w"]);
    let mut target = program.start();
    let params: &[&str] =
        &["u", "u: int", "u: float", "u: bool", "u > 5", "u + 0", "fits", "p", "arg 1", "s", "e"];
    let (catalog, _) = instrument_events(&mut target, &[("f", Before, params)]);
    let (events, _) = run(&mut target, &catalog);
    let expected = format!("f(-, -, {}, true, true, -, {}, -1, -, -1, -)", u64::MAX as f64, i64::MAX);
    assert_eq!(events, [expected]);
    // A condition is true for any nonzero number.
    let mut target = program.start();
    let condition = Some("u".to_owned());
    let spec = BreakpointSpec { condition, ..BreakpointSpec::new(BreakpointKind::Location("f".into())) };
    let id = target.set_breakpoint(Owner::User, &spec).unwrap();
    crate::live::common::go_to(&mut target, id);
}
