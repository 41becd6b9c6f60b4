//! Exit events of functions.

use crate::live::common::{c, cpp, instrument_events, run};
use invigil_monitor::event::EventKind::{After, Before};
use invigil_target::{StopReason, Termination};

const DONE: StopReason = StopReason::Ended(Termination::Exited(0));

fn count(events: &[String], start: &str) -> usize {
    events.iter().filter(|event| event.starts_with(start)).count()
}

#[test]
fn recursive_function_has_one_exit_per_entry() {
    let source = "
        __attribute__((noinline)) int ack(int m, int n) {
            if (m == 0) return n + 1;
            if (n == 0) return ack(m - 1, 1);
            return ack(m - 1, ack(m, n - 1));
        }
        int main(void) { return ack(2, 2) != 7; }";
    for flags in [["-g", "-O0"], ["-g", "-O1"], ["-g", "-O2"]] {
        let program = c(source, &flags);
        let mut target = program.start();
        let (catalog, _) = instrument_events(
            &mut target,
            &[("ack", Before, &["m", "n"]), ("ack", After, &["m", "n", "ret"])],
        );
        let (events, stop) = run(&mut target, &catalog);
        assert_eq!(stop, DONE);
        let (begins, ends) = (count(&events, "ack("), count(&events, "after ack("));
        assert_eq!(begins, ends, "{flags:?} {events:?}");
        assert_eq!(events[0], "ack(2, 2)");
        assert!(events.last().unwrap().ends_with(", 7)"), "{flags:?} {events:?}");
        if flags[1] == "-O0" {
            assert_eq!(begins, 27);
            assert_eq!(events.last().unwrap(), "after ack(2, 2, 7)");
        }
    }
}

#[test]
fn mutual_tail_calls_report_all_exits() {
    // At -O2 these jump to each other, and one `ret` ends all of them.
    let source = "
        int odd(int n);
        __attribute__((noinline)) int even(int n) { return n == 0 ? 1 : odd(n - 1); }
        __attribute__((noinline)) int odd(int n) { return n == 0 ? 0 : even(n - 1); }
        int main(int argc, char **argv) { return even(9 + argc) + odd(6 + argc) + even(4 * argc) - 3; }";
    for flags in [&["-g", "-O0"][..], &["-g", "-O2", "-fno-inline", "-fno-ipa-cp", "-fno-ipa-icf"]] {
        let program = c(source, flags);
        let mut target = program.start();
        let events: &[(&str, _, &[&str])] = &[
            ("even", Before, &["n"]),
            ("odd", Before, &["n"]),
            ("even", After, &["n", "ret"]),
            ("odd", After, &["n", "ret"]),
        ];
        let (catalog, _) = instrument_events(&mut target, events);
        let (events, stop) = run(&mut target, &catalog);
        assert_eq!(stop, DONE);
        for name in ["even", "odd"] {
            let begins: Vec<_> =
                events.iter().filter(|event| event.starts_with(&format!("{name}("))).collect();
            let ends = count(&events, &format!("after {name}("));
            assert_eq!(begins.len(), ends, "{flags:?} {name} {events:?}");
        }
        for n in [10, 8] {
            let begins = count(&events, &format!("even({n})"));
            assert_eq!(count(&events, &format!("after even({n}, 1)")), begins, "{flags:?} {n} {events:?}");
        }
    }
}

#[test]
fn conditional_and_indirect_tail_calls_report_exits() {
    // Conditional jumps, jumps through pointers and jump tables, all in functions that also return.
    let source = "
        #include <stdio.h>
        typedef int (*fn)(int);
        __attribute__((noinline)) int twice(int x) { return 2 * x; }
        __attribute__((noinline)) double half(int x) { return x / 2.0; }
        volatile fn chosen = twice;
        __attribute__((noinline)) int maybe(int x) { if (x > 3) return twice(x); return x; }
        __attribute__((noinline)) int through(int x) { return chosen(x); }
        __attribute__((noinline)) double halved(int x) { return half(x + 1); }
        __attribute__((noinline)) int table(int x) {
            switch (x) {
            case 0: return twice(10); case 1: puts(\"one\"); return 11; case 2: return maybe(8);
            case 3: puts(\"three\"); return 5; case 4: return through(3); case 5: puts(\"five\"); return 6;
            case 6: puts(\"six\"); return x * 3; default: return -1;
            }
        }
        int main(void) {
            int sum = 0; double d = 0;
            for (int i = 0; i < 8; i++) { sum += maybe(i) + through(i) + table(i); d += halved(i); }
            printf(\"%d %f\\n\", sum, d);
            return 0;
        }";
    let program = c(source, &["-g", "-O2", "-fno-inline", "-fno-ipa-cp"]);
    let mut target = program.start();
    let events: &[(&str, _, &[&str])] = &[
        ("maybe", Before, &[]),
        ("maybe", After, &["x", "ret"]),
        ("through", Before, &[]),
        ("through", After, &["x", "ret"]),
        ("table", After, &["x", "ret"]),
        ("halved", After, &["x", "ret: float"]),
    ];
    let (catalog, _) = instrument_events(&mut target, events);
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, DONE);
    for name in ["maybe", "through"] {
        let begins = count(&events, &format!("{name}("));
        assert_eq!(count(&events, &format!("after {name}(")), begins, "{name}: {events:?}");
    }
    for x in 0..8 {
        let maybe = if x > 3 { 2 * x } else { x };
        let table = [20, 11, 16, 5, 6, 6, 18, -1][x as usize];
        for expected in [
            format!("after maybe({x}, {maybe})"),
            format!("after through({x}, {})", 2 * x),
            format!("after table({x}, {table})"),
            format!("after halved({x}, {})", f64::from(x + 1) / 2.0),
        ] {
            assert!(events.contains(&expected), "{expected} is not among {events:?}");
        }
    }
    assert_eq!(count(&events, "after table("), 8, "{events:?}");
}

#[test]
fn longjmp_skips_exit_events() {
    let source = "
        #include <setjmp.h>
        static jmp_buf out;
        __attribute__((noinline)) int inner(int x) { if (x % 2) longjmp(out, 1); return x + 1; }
        __attribute__((noinline)) int outer(int x) { int y = inner(x); return y + inner(x + 2); }
        int main(void) {
            volatile int sum = 0;
            for (volatile int i = 0; i < 10; i++) if (setjmp(out) == 0) sum += outer(i);
            return sum != 60;
        }";
    for flags in [["-g", "-O0"], ["-g", "-O2"]] {
        let program = c(source, &flags);
        let mut target = program.start();
        let (catalog, _) = instrument_events(
            &mut target,
            &[
                ("outer", Before, &["x"]),
                ("outer", After, &["x", "ret"]),
                ("inner", Before, &[]),
                ("inner", After, &["x", "ret"]),
            ],
        );
        let (events, stop) = run(&mut target, &catalog);
        assert_eq!(stop, DONE);
        assert_eq!((count(&events, "outer("), count(&events, "after outer(")), (10, 5), "{events:?}");
        assert_eq!((count(&events, "inner("), count(&events, "after inner(")), (15, 10), "{events:?}");
        for x in [0, 2, 4, 6, 8] {
            let expected = format!("after outer({x}, {})", 2 * x + 4);
            assert!(events.contains(&expected), "{flags:?}: {expected} is not among {events:?}");
        }
    }
}

#[test]
fn exceptions_skip_exit_events() {
    let source = "
        #include <stdexcept>
        struct Guard { int &n; ~Guard() { n++; } };
        int unwound;
        __attribute__((noinline)) int thrower(int x) { if (x % 3 == 0) throw std::runtime_error(\"x\"); return x; }
        __attribute__((noinline)) int middle(int x) { Guard g{unwound}; return thrower(x) + 1; }
        int main() {
            int caught = 0, sum = 0;
            for (int i = 0; i < 9; i++) try { sum += middle(i); } catch (const std::exception &) { caught++; }
            return !(caught == 3 && unwound == 9 && sum == 27 + 6);
        }";
    for flags in [["-g", "-O0"], ["-g", "-O2"]] {
        let program = cpp(source, &flags);
        let mut target = program.start();
        let (catalog, _) = instrument_events(
            &mut target,
            &[
                ("middle", Before, &["x"]),
                ("middle", After, &["x", "ret"]),
                ("thrower", After, &["ret", "x"]),
            ],
        );
        let (events, stop) = run(&mut target, &catalog);
        assert_eq!(stop, DONE);
        assert_eq!((count(&events, "middle("), count(&events, "after middle(")), (9, 6), "{events:?}");
        assert_eq!(count(&events, "after thrower("), 6);
        for x in [1, 2, 4, 5, 7, 8] {
            let expected = format!("after middle({x}, {})", x + 1);
            assert!(events.contains(&expected), "{flags:?}: {expected} is not among {events:?}");
        }
    }
}

#[test]
fn return_values_of_every_kind_are_read() {
    let source = "
        #include <stdbool.h>
        #include <stdlib.h>
        struct pair { int a; int b; };
        struct big { long v[5]; int last; };
        enum color { RED, GREEN = 5 };
        struct pair pair_of(int a) { struct pair p = { a, a + 1 }; return p; }
        struct big big_of(int a) { struct big b = { { a, 2, 3, 4, 5 }, 77 }; return b; }
        float f_of(int a) { return a + 0.5f; }
        double d_of(int a) { return a + 0.25; }
        bool b_of(int a) { return a > 0; }
        char c_of(int a) { return 'x'; }
        const char *s_of(int a) { return \"hello\"; }
        enum color e_of(int a) { return a ? GREEN : RED; }
        unsigned char u_of(int a) { return 200; }
        short h_of(int a) { return -5; }
        int several(int a) { if (a == 0) return 1; if (a == 1) return 2; while (a > 10) { if (a == 12) return 3; a--; } return 4; }
        __attribute__((noreturn)) void leave(int status) { exit(status); }
        int main(void) {
            pair_of(1); big_of(1); f_of(1); d_of(1); b_of(1); b_of(0); c_of(1); s_of(1); e_of(1); u_of(1); h_of(1);
            several(0); several(1); several(14); several(5);
            leave(0);
        }";
    let program = c(source, &["-g", "-O0"]);
    let mut target = program.start();
    let events: &[(&str, _, &[&str])] = &[
        ("f_of", After, &["ret"]),
        ("d_of", After, &["ret: float"]),
        ("b_of", After, &["ret: bool"]),
        ("c_of", After, &["ret: str"]),
        ("s_of", After, &["ret: str"]),
        ("e_of", After, &["ret: int"]),
        ("e_of", Before, &["a: int"]),
        ("u_of", After, &["ret"]),
        ("h_of", After, &["ret"]),
        ("several", After, &["ret"]),
        ("leave", Before, &["status"]),
        ("leave", After, &[]),
    ];
    let (catalog, _) = instrument_events(&mut target, events);
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, DONE);
    let expected = [
        "after f_of(1.5)",
        "after d_of(1.25)",
        "after b_of(true)",
        "after b_of(false)",
        "after c_of(\"x\")",
        "after s_of(\"hello\")",
        "e_of(1)",
        "after e_of(5)",
        "after u_of(200)",
        "after h_of(-5)",
        "after several(1)",
        "after several(2)",
        "after several(3)",
        "after several(4)",
        "leave(0)",
    ];
    assert_eq!(events, expected);
}

#[test]
fn arguments_lost_at_exit_are_noted_at_entry() {
    let source = "
        #include <stdio.h>
        __attribute__((noinline)) int spoil(int a, const char *s, double d) {
            int r = 0;
            for (int i = 0; i < a; i++) r += printf(\"%s %f\\n\", s, d);
            return r;
        }
        int main(int argc, char **argv) { return spoil(argc + 1, \"text\", 1.5) + spoil(argc, \"more\", 2.5) == 0; }";
    for flags in [&["-g", "-O2"][..], &["-O2"]] {
        let program = c(source, flags);
        let mut target = program.start();
        let params: &[&str] =
            if flags.len() == 2 { &["a", "s: str", "d", "ret"] } else { &["arg 1", "arg 2: str", "ret"] };
        let (catalog, _) = instrument_events(&mut target, &[("spoil", After, params)]);
        let (events, stop) = run(&mut target, &catalog);
        assert_eq!(stop, DONE);
        let expected = match flags.len() {
            2 => ["after spoil(2, \"text\", 1.5, 28)", "after spoil(1, \"more\", 2.5, 14)"],
            _ => ["after spoil(2, \"text\", 28)", "after spoil(1, \"more\", 14)"],
        };
        assert_eq!(events, expected, "{flags:?}");
    }
}

#[test]
fn concurrent_returns_are_attributed_to_their_threads() {
    let source = "
        #include <pthread.h>
        __attribute__((noinline)) long deep(long id, int n) { __asm__ volatile(\"\"); return n == 0 ? id : deep(id, n - 1) + 1; }
        static void *work(void *arg) {
            for (int i = 0; i < 20; i++) if (deep((long)arg, 10) != (long)arg + 10) return (void *)1;
            return 0;
        }
        int main(void) {
            pthread_t t[4]; long bad = 0;
            for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void *)(100 * i));
            for (int i = 0; i < 4; i++) { void *r; pthread_join(t[i], &r); bad += (long)r; }
            return bad;
        }";
    for flags in [["-g", "-O0", "-pthread"], ["-g", "-O2", "-pthread"]] {
        let program = c(source, &flags);
        let mut target = program.start();
        let (catalog, _) = instrument_events(
            &mut target,
            &[("deep", Before, &["n"]), ("deep", After, &["id", "n", "ret", "#thread"])],
        );
        let (events, stop) = run(&mut target, &catalog);
        assert_eq!(stop, DONE);
        let (begins, ends) = (count(&events, "deep("), count(&events, "after deep("));
        assert_eq!(begins, ends, "{flags:?}");
        assert!(begins >= 80);
        if flags[1] == "-O0" {
            assert_eq!(begins, 4 * 20 * 11);
            for event in events.iter().filter(|event| event.starts_with("after")) {
                let numbers: Vec<i64> =
                    event.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect();
                assert_eq!(numbers[2], numbers[0] + numbers[1], "{event}");
            }
        }
    }
}

#[test]
fn exit_event_enabled_at_entry_is_reported() {
    // The exit event is enabled only when the entry is reported: the arguments are available all the same.
    use invigil_monitor::event::EventSet;
    use invigil_target::ResumeMode;
    use invigil_target::prelude::*;
    let source = "
        #include <stdio.h>
        __attribute__((noinline)) int spoil(int a) { int r = 0; for (; a > 0; a--) r += putchar('a') == 'a'; return r; }
        int main(int argc, char **argv) { int sum = 0; for (int i = 0; i < 4; i++) sum += spoil(argc + i); return sum != 10; }";
    let program = c(source, &["-O2"]);
    let mut target = program.start();
    let events: &[(&str, _, &[&str])] = &[("spoil", Before, &["arg 1"]), ("spoil", After, &["arg 1", "ret"])];
    let (catalog, _) = instrument_events(&mut target, events);
    let only = |kind| {
        let mut set = EventSet::default();
        set.insert(catalog.find("spoil", kind).unwrap());
        set
    };
    target.instrument(&only(Before)).unwrap();
    let mut seen = Vec::new();
    while target.resume(&ResumeMode::Continue).unwrap() == StopReason::Events {
        let event = crate::live::common::shown(&mut target, &catalog, 0);
        target.instrument(&only(if event.starts_with("after") { Before } else { After })).unwrap();
        seen.push(event);
    }
    let expected: Vec<String> =
        (1..5).flat_map(|a| [format!("spoil({a})"), format!("after spoil({a}, {a})")]).collect();
    assert_eq!(seen, expected);
}

#[test]
fn exits_in_cold_parts_are_reported() {
    let source = "
        #include <stdio.h>
        __attribute__((cold, noinline)) int complain(int x) { return printf(\"bad %d\\n\", x); }
        __attribute__((noinline)) int check(int *all, int n) {
            volatile int local[4] = { 1, 2, 3, 4 };
            int sum = 0;
            for (int i = 0; i < n; i++) {
                if (all[i] < 0) { int written = complain(all[i]); local[0] += complain(i); return written + 1000; }
                sum += all[i] * local[i & 3];
            }
            return sum;
        }
        int main(int argc, char **argv) {
            int good[] = { 1, 2, 3 }, bad[] = { 1, -2, 3 };
            return check(good, 3) + check(bad, 3) + check(good, 2) != 14 + 1007 + 5;
        }";
    for flags in [&["-O2", "-g"][..], &["-O2"]] {
        let program = c(source, flags);
        let mut target = program.start();
        let (catalog, _) = instrument_events(
            &mut target,
            &[("check", Before, &["arg 2"]), ("check", After, &["arg 2: int", "ret: int"])],
        );
        let (events, stop) = run(&mut target, &catalog);
        assert_eq!(stop, DONE);
        let expected = [
            "check(3)",
            "after check(3, 14)",
            "check(3)",
            "after check(3, 1007)",
            "check(2)",
            "after check(2, 5)",
        ];
        assert_eq!(events, expected, "{flags:?}");
    }
}
