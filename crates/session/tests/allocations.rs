//! Events without reactions cost no allocation and little time.

#[path = "it/session/common.rs"]
#[allow(dead_code)]
mod common;
#[path = "it/session/fake_target.rs"]
#[allow(dead_code)]
mod fake_target;

use common::{QUEUE, pushing, session};
use invigil_session::SessionOptions;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Instant;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator with a count of this thread's allocations.
struct Counting;

// SAFETY: every call is forwarded unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The number of allocations and the time per event, in nanoseconds.
fn measure(pushes: i64, properties: &[(&str, &str)], scenario: &str) -> (u64, f64) {
    let options = SessionOptions { history: 2000, ..SessionOptions::default() };
    let mut test = session(pushing(i64::MAX, pushes), properties, &[scenario], options);
    test.session.start().unwrap();
    let (before, since) = (ALLOCATIONS.with(Cell::get), Instant::now());
    test.go();
    let count = ALLOCATIONS.with(Cell::get) - before;
    assert_eq!(test.session.event_count(), pushes as u64 + 1);
    (count, since.elapsed().as_nanos() as f64 / pushes as f64)
}

#[test]
fn events_without_reactions_allocate_nothing() {
    let scenario = "on entering non-accepting state { suspend_execution() }
        on leaving initial state { print('begun') }";
    let other = "initialization { n = 0 }\nstate init { transition { event queue_push(c) success odd } }
        state odd { transition { event queue_push(c) success { n = n + 1 } init } }";
    let properties = [("queue", QUEUE), ("other", other)];
    // What is allocated until tables and the history have their size is the same for both.
    let (short, _) = measure(10_000, &properties[..1], scenario);
    let (long, each) = measure(200_000, &properties[..1], scenario);
    assert_eq!(short, long);
    println!("one property: {each:.0} ns per event");
    // The same with a property that changes its state, and so what it may need, on every event.
    let (short, _) = measure(10_001, &properties, "");
    let (long, each) = measure(200_001, &properties, "");
    assert_eq!(short, long);
    println!("two properties: {each:.0} ns per event");
}
