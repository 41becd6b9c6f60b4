//! Subjects that fail during exploration: results after the failure are ignored.

use invigil_explore::cycles::find_accepting_cycle;
use invigil_explore::{BAD, Incomplete, Limits, SearchOptions, StateSpace, Successors, TransitionInfo, bfs};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// A modular counter with two successors per number, which fails after some queries.
struct Mortal(AtomicU64);

impl Mortal {
    fn new(answers: u64) -> Mortal {
        Mortal(AtomicU64::new(answers))
    }

    /// Whether the subject has not failed yet.
    fn answers(&self) -> bool {
        self.0.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok()
    }
}

const ROUND: u64 = 20_000;

impl StateSpace for Mortal {
    fn width(&self) -> usize {
        1
    }

    fn initial(&self, out: &mut Successors) {
        if self.answers() {
            out.push(&[0], TransitionInfo::default());
        }
    }

    fn successors(&self, state: &[u64], out: &mut Successors) {
        if self.answers() {
            for step in [1, 2] {
                let target = (state[0] + step) % ROUND;
                out.push(
                    &[target],
                    TransitionInfo { action: step as u32, flags: if target == 50 { BAD } else { 0 } },
                );
                out.marks.push(0);
            }
        }
    }

    fn acceptance_set_count(&self) -> u32 {
        1
    }

    fn failure(&self) -> Option<String> {
        (self.0.load(SeqCst) == 0).then(|| "dead".to_owned())
    }
}

#[test]
fn subject_failure_is_not_a_deadlock() {
    for threads in [1, 2] {
        let whole = SearchOptions { threads, max_findings: usize::MAX, ..SearchOptions::default() };
        for answers in [1, 2, 20, 1000] {
            let report = bfs(&Mortal::new(answers), &whole, &());
            assert_eq!((report.incomplete, report.totals.deadlocks), (Some(Incomplete::Failed), 0));
            // Findings before the failure are kept with their paths; no path contains steps after the failure.
            assert!(report.findings.iter().all(|found| found.path.actions.iter().all(|action| *action > 0)));
            assert_eq!(report.findings.len(), usize::from(answers == 1000));
        }
        let report = bfs(&Mortal::new(1_000_000), &whole, &());
        assert_eq!((report.incomplete, report.totals.states), (None, ROUND));
    }
}

#[test]
fn subject_failure_leaves_cycle_search_incomplete() {
    for answers in [1, 2, 20, 1000] {
        let result = find_accepting_cycle(&Mortal::new(answers), &Limits::default(), &());
        assert_eq!((result.path, result.incomplete), (None, Some(Incomplete::Failed)));
    }
    assert_eq!(find_accepting_cycle(&Mortal::new(1_000_000), &Limits::default(), &()).incomplete, None);
}
