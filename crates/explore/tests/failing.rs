//! Subjects that fail while they are explored: nothing that comes of it is believed.

use invigil_explore::cycles::cycle;
use invigil_explore::{BAD, Incomplete, Limits, Search, Space, Successors, Taken, breadth};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// A counter that leads to the next number and the one after it, round and round, and answers so many times only.
struct Mortal(AtomicU64);

impl Mortal {
    fn new(answers: u64) -> Mortal {
        Mortal(AtomicU64::new(answers))
    }

    /// Whether it still answers.
    fn answers(&self) -> bool {
        self.0.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok()
    }
}

const ROUND: u64 = 20_000;

impl Space for Mortal {
    fn width(&self) -> usize {
        1
    }

    fn initial(&self, out: &mut Successors) {
        if self.answers() {
            out.push(&[0], Taken::default());
        }
    }

    fn successors(&self, state: &[u64], out: &mut Successors) {
        if self.answers() {
            for step in [1, 2] {
                let target = (state[0] + step) % ROUND;
                out.push(&[target], Taken { action: step as u32, flags: if target == 50 { BAD } else { 0 } });
                out.marks.push(0);
            }
        }
    }

    fn sets(&self) -> u32 {
        1
    }

    fn failure(&self) -> Option<String> {
        (self.0.load(SeqCst) == 0).then(|| "dead".to_owned())
    }
}

#[test]
fn a_failure_is_no_deadlock() {
    for threads in [1, 2] {
        let whole = Search { threads, most: usize::MAX, ..Search::default() };
        for answers in [1, 2, 20, 1000] {
            let report = breadth(&Mortal::new(answers), &whole, &());
            assert_eq!((report.incomplete, report.totals.deadlocks), (Some(Incomplete::Failed), 0));
            // What was found before it failed stands, with its path; no path is made up of what it does not answer.
            assert!(report.found.iter().all(|found| found.path.actions.iter().all(|action| *action > 0)));
            assert_eq!(report.found.len(), usize::from(answers == 1000));
        }
        let report = breadth(&Mortal::new(1_000_000), &whole, &());
        assert_eq!((report.incomplete, report.totals.states), (None, ROUND));
    }
}

#[test]
fn a_failure_is_not_the_absence_of_cycles() {
    for answers in [1, 2, 20, 1000] {
        let result = cycle(&Mortal::new(answers), &Limits::default(), &());
        assert_eq!((result.path, result.incomplete), (None, Some(Incomplete::Failed)));
    }
    assert_eq!(cycle(&Mortal::new(1_000_000), &Limits::default(), &()).incomplete, None);
}
