//! The programs and properties of the benchmark work, and all counts are exact.

use super::checkpoints::{self, Pages};
use super::cost::{self, MODES, Mode, Tool};
use super::gdb::{self, Watch};
use super::plot::{Curve, svg};
use super::programs::Programs;
use super::stack::{self, ORDERS, Version};
use super::threads;

fn programs() -> Programs {
    Programs::build().expect("the programs compile")
}

#[test]
fn every_call_is_an_event() {
    let programs = programs();
    for mode in MODES {
        for tool in [Tool::Alone, Tool::Ours] {
            for (calls, gap) in [(0, 0), (7, 0), (100, 0), (20, 20)] {
                cost::run_once(&programs, mode, tool, calls, gap).expect("exact counts");
            }
        }
    }
}

#[test]
fn gdb_counts_every_call() {
    if gdb::version().is_none() {
        return;
    }
    let programs = programs();
    let modes = [
        (Mode::Raw, Watch::Raw),
        (Mode::Property, Watch::Property),
        (Mode::Argument, Watch::ReadVar),
        (Mode::Argument, Watch::ParseAndEval),
    ];
    for (mode, watch) in modes {
        cost::run_once(&programs, mode, Tool::Gdb(watch), 20, 0).expect("exact counts");
    }
}

#[test]
fn gap_between_calls_is_kept() {
    let programs = programs();
    let micros = cost::run_once(&programs, Mode::Raw, Tool::Alone, 10, 1_000).expect("it runs");
    assert!(micros >= 1_000.0, "{micros}");
}

#[test]
fn needed_events_are_fewer_than_all_events() {
    let programs = programs();
    for order in ORDERS {
        for version in [Version::ByNeed, Version::Always] {
            stack::run_once(&programs, order, version, 3).expect("exact counts");
        }
    }
}

#[test]
fn restore_returns_to_checkpoint() {
    let programs = programs();
    for pages in [Pages::Small, Pages::Huge] {
        checkpoints::measure(&programs, 4, pages, 2).expect("all is as it was");
    }
}

#[test]
fn threads_continue_after_restore() {
    let programs = programs();
    for count in [2, 8] {
        let restored = threads::measure(&programs, count, 40, 2).expect("it runs");
        assert_eq!(restored.right, 2, "{count} threads: {:?}", restored.error);
    }
}

#[test]
fn plot_has_every_curve() {
    let curve = |name: &str| Curve { name: name.into(), points: vec![(10.0, 3.0), (10_000.0, 1.0)] };
    let text = svg(&cost::DRAWING, &[curve("one"), curve("two")]);
    assert_eq!(text.matches("<polyline").count(), 2);
    // At the left for a slowdown of three, and at the bottom on the right.
    assert!(text.contains("60.0,") && text.contains("560.0,360.0"), "{text}");
}
