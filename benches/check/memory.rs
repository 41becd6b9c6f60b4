//! Memory per live slice.

use crate::ours;
use crate::workload::Op;
use invigil_benches::resident;
use invigil_monitor::observer::NoopObserver;
use invigil_monitor::{Monitor, Scratch};
use std::ops::ControlFlow;

/// One million live queues; Verde needed about 1,300 bytes per queue.
pub(crate) fn run() {
    const QUEUES: u64 = 1_000_000;
    let (automaton, catalog) = ours::property();
    let mut scratch = Scratch::default();
    let mut slices = automaton.start(&mut scratch, &mut NoopObserver);
    let before = resident();
    // In small batches, so that the memory of the events is negligible.
    for start in (0..QUEUES).step_by(1_000) {
        let news = (start..start + 1_000).map(|queue| Op::New { queue: 64 * queue, size: 16 });
        let batch = ours::batch(&news.collect::<Vec<_>>(), &catalog);
        automaton.run(&mut slices, &mut scratch, &batch, 0..batch.len(), &mut NoopObserver, |_, _, _, _| {
            ControlFlow::Continue(())
        });
    }
    let grown = resident().saturating_sub(before);
    println!("memory: {} live slices", slices.len() - 1);
    println!("  growth of the resident set: {} bytes per slice (Verde: about 1300)", grown / QUEUES);
    println!("  of which reported by the slice table: {}", slices.bytes() as u64 / QUEUES);
}
