//! Where the program stops, and what can be seen there.

use super::common::{BOTH, compiled, how, session, steps_to_end};
use invigil_native::Probes;
use invigil_session::Outcome;
use invigil_session::subject::{Owner, PointSpec, Resume, What};

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
fn the_program_stops_at_the_same_event_with_the_same_values() {
    for level in ["-O0", "-O1", "-O2", "-O3"] {
        let built = compiled("cc", QUEUE, &[level]);
        let seen = BOTH.map(|probes| {
            let mut session = session(&built, ALTERNATE, probes, true);
            let outcome = session.run(&Resume::Continue).unwrap();
            assert!(matches!(outcome, Outcome::Suspended(_)), "{outcome:?}");
            let subject = session.subject();
            let frames = subject.frames(8).unwrap();
            let told: Vec<String> = frames.iter().take(2).map(|frame| format!("{frame:?}")).collect();
            let (place, value) = (subject.place(), subject.print("*q").unwrap());
            let events = session.event_count();
            // It goes on as if nothing had been.
            let outcome = session.run(&Resume::Continue).unwrap();
            assert!(matches!(outcome, Outcome::Ended(_)), "{outcome:?}");
            (
                told,
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
fn calls_are_noticed_by_jumps() {
    let built = compiled("cc", QUEUE, &["-O2"]);
    let mut session = session(&built, ALTERNATE, Probes::Inline, false);
    session.run(&Resume::Continue).unwrap();
    let probe = |event: &str| (event.to_owned(), "probe".to_owned());
    assert_eq!(how(&mut session), [probe("push"), probe("pop")]);
}

#[test]
fn returns_members_and_texts() {
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
        let built = compiled("cc", QUEUE, &[level]);
        let seen = BOTH.map(|probes| {
            let mut session = session(&built, property, probes, true);
            let outcome = session.run(&Resume::Continue).unwrap();
            assert!(matches!(outcome, Outcome::Suspended(_)), "{outcome:?}");
            (session.event_count(), session.subject().place(), session.subject().print("*q").unwrap())
        });
        assert_eq!(seen[0], seen[1], "{level}");
        assert_eq!(seen[0].0, 3 * 2500 + 3, "{level}");
    }
}

#[test]
fn bad_pointers_are_no_values() {
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
    let built = compiled("cc", source, &["-O2"]);
    let [inline, trap] = BOTH.map(|probes| {
        let mut session = session(&built, property, probes, false);
        let steps = steps_to_end(&mut session);
        (steps, session.event_count(), session.report().violations.len())
    });
    assert_eq!(inline, trap);
    assert_eq!(inline.0, 300);
}

#[test]
fn points_steps_and_checkpoints_among_probes() {
    let built = compiled("cc", QUEUE, &["-O1"]);
    let [inline, trap] = BOTH.map(|probes| {
        let mut session = session(&built, ALTERNATE, probes, true);
        let mut seen = Vec::new();
        let mut spec = PointSpec::new(What::Reach("pop".to_owned()));
        spec.ignore = 1000;
        spec.once = true;
        let point = session.subject().set_point(Owner::Developer, &spec).unwrap();
        let outcome = session.run(&Resume::Continue).unwrap();
        assert!(matches!(&outcome, Outcome::Points(points) if points == &[point]), "{outcome:?}");
        seen.push(format!("{} {}", session.event_count(), session.subject().place()));
        let kept = session.checkpoint("here").unwrap();
        for how in [Resume::Instruction, Resume::Instruction, Resume::Line, Resume::NextLine] {
            let outcome = session.run(&how).unwrap();
            let line = session.subject().line(None).unwrap().map(|line| line.line);
            seen.push(format!("{outcome:?} {line:?} {}", session.event_count()));
        }
        let outcome = session.run(&Resume::Continue).unwrap();
        assert!(matches!(outcome, Outcome::Suspended(_)), "{outcome:?}");
        seen.push(format!("{} {}", session.event_count(), session.subject().print("*q").unwrap()));
        session.restore(kept).unwrap();
        seen.push(format!("{} {}", session.event_count(), session.subject().place()));
        let outcome = session.run(&Resume::Continue).unwrap();
        assert!(matches!(outcome, Outcome::Suspended(_)), "{outcome:?}");
        seen.push(format!("{} {}", session.event_count(), session.subject().print("*q").unwrap()));
        seen
    });
    assert_eq!(inline, trap);
}
