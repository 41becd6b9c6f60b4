//! Function events and their parameters.

use crate::live::common::{c, instrument_events, run};
use invigil_monitor::event::EventKind::{After, Before};
use invigil_target::{StopReason, Termination};

const QUEUE: &str = include_str!("queue.c");

#[test]
fn every_push_is_reported() {
    let program = c(QUEUE, &["-g3"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(
        &mut target,
        &[("queue_push", Before, &["c: str"]), ("queue_new", After, &["size: int"])],
    );
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, StopReason::Ended(Termination::Exited(0)));
    assert_eq!(events[0], "after queue_new(16)");
    let letters: String = events[1..]
        .iter()
        .map(|event| event.trim_start_matches("queue_push(\"").chars().next().unwrap())
        .collect();
    assert_eq!(letters, "oh, a nasty bug is here!");
}
