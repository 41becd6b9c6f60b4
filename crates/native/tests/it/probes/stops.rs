//! Stops at violations, and what can be inspected there.

use super::common::{BOTH, c, mechanisms, session, steps_to_end};
use invigil_native::ProbeMode;
use invigil_session::RunOutcome;
use invigil_target::{BreakpointKind, BreakpointSpec, Owner, ResumeMode};

const QUEUE: &str = r#"
#include <stdlib.h>
struct queue { int size, max; char name[16]; };
__attribute__((noinline)) int push(struct queue *q, int x) { __asm__ volatile("" ::: "memory"); q->size++; return q->size * x; }
__attribute__((noinline)) int pop(struct queue *q) { __asm__ volatile("" ::: "memory"); q->size--; return q->size; }
int main(void) {
    struct queue all[8] = {{0, 0, "first queue"}};
    int sum = 0;
    for (int i = 0; i < 4000; i++) {
        struct queue *q = &all[i % 8];
        sum += push(q, i);
        sum += i == 2500 ? push(q, 7) : 0;
        sum += pop(q);
    }
    return sum == 123;
}
"#;

const ALTERNATE: &str = "
slice on q
initialization { n = 0 }
state init accepting {
    transition { event push(q, x: int) { return n < 1 } success { n = n + 1 } init failure bad }
    transition { event pop(q) success { n = n - 1 } init }
}
state bad non-accepting
";

#[test]
fn probe_and_trap_stop_at_same_event_with_same_values() {
    for level in ["-O0", "-O1", "-O2", "-O3"] {
        let built = c(QUEUE, &[level]);
        let seen = BOTH.map(|probes| {
            let mut session = session(&built, ALTERNATE, probes, true);
            let outcome = session.run(&ResumeMode::Continue).unwrap();
            assert!(matches!(outcome, RunOutcome::Suspended(_)), "{outcome:?}");
            let subject = session.target();
            let frames = subject.frames(8).unwrap();
            let frames_text: Vec<String> = frames.iter().take(2).map(|frame| format!("{frame:?}")).collect();
            let (place, value) = (subject.current_location(), subject.evaluate("*q").unwrap());
            let events = session.event_count();
            // It continues undisturbed.
            let outcome = session.run(&ResumeMode::Continue).unwrap();
            assert!(matches!(outcome, RunOutcome::Ended(_)), "{outcome:?}");
            (
                frames_text,
                place,
                value,
                events,
                session.report().properties[0].steps,
                session.report().violations.len(),
            )
        });
        assert_eq!(seen[0], seen[1], "{level}");
        assert_eq!(seen[0].3, 5002, "{level}");
    }
}

#[test]
fn calls_are_observed_by_probes() {
    let built = c(QUEUE, &["-O2"]);
    let mut session = session(&built, ALTERNATE, ProbeMode::Inline, false);
    session.run(&ResumeMode::Continue).unwrap();
    let probe = |event: &str| (event.to_owned(), "probe".to_owned());
    assert_eq!(mechanisms(&mut session), [probe("push"), probe("pop")]);
}

#[test]
fn returns_members_and_texts_are_captured() {
    let property = "
        slice on q
        state init accepting {
            transition { event push(q, \"q->name\" as name: str, \"q->size\" as size: int) { return size == 0 and (name == \"first queue\" or name == \"\") } success pushed failure bad }
        }
        state pushed accepting {
            transition { after event push(\"q->size\" as size: int, ret as r: int, q) { return size == 1 } success full failure bad }
        }
        state full accepting {
            transition { after event pop(ret as left: int, q) { return left == 0 } success init failure bad }
            transition { event push(q) success bad }
        }
        state bad non-accepting";
    for level in ["-O0", "-O2"] {
        let built = c(QUEUE, &[level]);
        let seen = BOTH.map(|probes| {
            let mut session = session(&built, property, probes, true);
            let outcome = session.run(&ResumeMode::Continue).unwrap();
            assert!(matches!(outcome, RunOutcome::Suspended(_)), "{outcome:?}");
            (
                session.event_count(),
                session.target().current_location(),
                session.target().evaluate("*q").unwrap(),
            )
        });
        assert_eq!(seen[0], seen[1], "{level}");
        assert_eq!(seen[0].0, 3 * 2500 + 3, "{level}");
    }
}

#[test]
fn bad_pointers_leave_parameters_unset() {
    let source = r#"
        __attribute__((noinline)) void look(int *p) { __asm__ volatile("" :: "r"(p) : "memory"); }
        int main(void) {
            int good = 5;
            for (long i = 0; i < 300; i++) {
                look(&good);
                look((int *) 0);
                look((int *) (i << 44 | 8));
                look((int *) -i);
            }
            return 0;
        }"#;
    let property = "
        initialization { n = 0 }
        state init accepting {
            transition { event look(*p as v: int) { return v == 5 } success { n = n + 1 } init failure bad }
        }
        state bad non-accepting";
    let built = c(source, &["-O2"]);
    let [inline, trap] = BOTH.map(|probes| {
        let mut session = session(&built, property, probes, false);
        let steps = steps_to_end(&mut session);
        (steps, session.event_count(), session.report().violations.len())
    });
    assert_eq!(inline, trap);
    assert_eq!(inline.0, 300);
}

#[test]
fn breakpoints_steps_and_checkpoints_work_among_probes() {
    let built = c(QUEUE, &["-O1"]);
    let [inline, trap] = BOTH.map(|probes| {
        let mut session = session(&built, ALTERNATE, probes, true);
        let mut seen = Vec::new();
        let mut spec = BreakpointSpec::new(BreakpointKind::Location("pop".to_owned()));
        spec.ignore = 1000;
        spec.once = true;
        let point = session.target().set_breakpoint(Owner::User, &spec).unwrap();
        let outcome = session.run(&ResumeMode::Continue).unwrap();
        assert!(matches!(&outcome, RunOutcome::Breakpoints(points) if points == &[point]), "{outcome:?}");
        seen.push(format!("{} {}", session.event_count(), session.target().current_location()));
        let kept = session.take_checkpoint("here").unwrap();
        for how in [ResumeMode::Instruction, ResumeMode::Instruction, ResumeMode::Line, ResumeMode::NextLine]
        {
            let outcome = session.run(&how).unwrap();
            let line = session.target().source_line(None).unwrap().map(|line| line.line);
            seen.push(format!("{outcome:?} {line:?} {}", session.event_count()));
        }
        let outcome = session.run(&ResumeMode::Continue).unwrap();
        assert!(matches!(outcome, RunOutcome::Suspended(_)), "{outcome:?}");
        seen.push(format!("{} {}", session.event_count(), session.target().evaluate("*q").unwrap()));
        session.restore_checkpoint(kept).unwrap();
        seen.push(format!("{} {}", session.event_count(), session.target().current_location()));
        let outcome = session.run(&ResumeMode::Continue).unwrap();
        assert!(matches!(outcome, RunOutcome::Suspended(_)), "{outcome:?}");
        seen.push(format!("{} {}", session.event_count(), session.target().evaluate("*q").unwrap()));
        seen
    });
    assert_eq!(inline, trap);
}

/// If no site has a probe, every event is reported by a trap anyway: then the monitors stay in the session.
#[test]
fn monitors_stay_in_debugger_if_no_probe_fits() {
    let source = |padding: &str| {
        format!(
            r#"__asm__(".globl work\n.type work, @function\nwork: ret\n.size work, 1\n{padding}\nafter: jmp work\n");
            void work(long x);
            int main(void) {{ for (long i = 0; i < 20000; i++) work(i); return 0; }}"#
        )
    };
    let property = "
        initialization { n = 0 }
        state init accepting { transition { event work(arg 1 as x: int) success { n = n + 1 } init } }";
    for (padding, fits) in [("", false), ("nop; nop; nop; nop", true)] {
        let built = c(&source(padding), &["-O2"]);
        let mut session = session(&built, property, ProbeMode::Inline, false);
        assert_eq!(steps_to_end(&mut session), 20_000);
        assert_eq!(*session.event_range().start() > 1, fits, "{:?}", mechanisms(&mut session));
    }
}
