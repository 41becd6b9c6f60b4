//! Helpers of the tests.

use invigil_explore::{FAULT, StateSpace, Successors, Totals, TransitionInfo};
use invigil_remote::Address;
use invigil_test_support::tools;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The root directory of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The example language with one of its programs; none, with a message, if Python is missing.
pub(crate) fn soup(program: &str) -> Option<Address> {
    if !tools::is_installed("python3") {
        return None;
    }
    let folder = root().join("examples/soup");
    let words = ["python3".into(), folder.join("language.py").into(), folder.join(program).into_os_string()];
    Some(Address::command::<std::ffi::OsString>(words))
}

/// A remote subject written in the shell.
pub(crate) fn shell(script: &str) -> Address {
    Address::command(["sh", "-c", script])
}

/// Explores a space breadth-first and returns the first path to a deadlock: a naive search.
pub(crate) fn explore(space: &impl StateSpace, at_once: usize) -> (Totals, HashSet<u64>, Option<Vec<u32>>) {
    let mut totals = Totals::default();
    let mut out = Successors::default();
    let mut ends = Vec::new();
    space.initial(&mut out);
    let mut from: HashMap<u64, Option<(u64, u32)>> = out.words.iter().map(|start| (*start, None)).collect();
    let mut queue: Vec<u64> = out.words.clone();
    let mut deadlock = None;
    let mut next = 0;
    while next < queue.len() {
        let some = queue[next..queue.len().min(next + at_once)].to_vec();
        next += some.len();
        out.clear();
        ends.clear();
        space.bulk_successors(&some, &mut out, &mut ends);
        let mut begin = 0;
        for (source, end) in some.iter().zip(&ends) {
            let end = *end as usize;
            for at in begin..end {
                totals.transitions += 1;
                let TransitionInfo { action, flags } = out.transitions[at];
                if flags & FAULT != 0 {
                    totals.faults += 1;
                    continue;
                }
                from.entry(out.words[at]).or_insert_with(|| {
                    queue.push(out.words[at]);
                    Some((*source, action))
                });
            }
            if begin == end {
                totals.deadlocks += 1;
                deadlock.get_or_insert(*source);
            }
            begin = end;
        }
    }
    totals.states = from.len() as u64;
    let path = |mut at: u64| {
        let mut actions = Vec::new();
        while let Some((source, action)) = from[&at] {
            actions.push(action);
            at = source;
        }
        actions.reverse();
        actions
    };
    (totals, from.keys().copied().collect(), deadlock.map(path))
}
