//! Ids of objects, kept as JVMTI tags. An id belongs to one object and is never reused.

use crate::agent::{is_agent_thread, locked};
use crate::vm::{Ref, Ti};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

/// The ids that were assigned, and those of collected objects.
#[derive(Default)]
pub(crate) struct ObjectIds {
    last: AtomicI64,
    /// Held while an id is assigned.
    assignment: Mutex<()>,
    collected: Stack,
    collected_count: AtomicU64,
    /// Whether paths through objects are tracked.
    has_paths: AtomicBool,
    pending: Mutex<PendingDeaths>,
}

/// The ids of collected objects that have not been processed yet.
#[derive(Default)]
struct PendingDeaths {
    /// For tracked paths.
    paths: Vec<i64>,
    /// For slices of properties.
    slices: Vec<i64>,
}

/// Maximum number of pending ids. The slice of an id that is dropped stays in memory; nothing else is lost.
const MAX_PENDING: usize = 1 << 20;

impl ObjectIds {
    /// The id of an object. It does not keep the object alive.
    pub(crate) fn number(&self, ti: Ti, object: Ref) -> i64 {
        match ti.tag(object) {
            Ok(0) => self.assign(ti, object),
            Ok(number) => number,
            Err(_) => 0,
        }
    }

    /// Assigns an id. A lock keeps two threads from assigning different ids to one object.
    #[cold]
    fn assign(&self, ti: Ti, object: Ref) -> i64 {
        // The virtual machine may suspend a thread in the middle of this. It continues with the program, and so do the
        // program's threads that wait for it. The agent's own threads must not wait.
        let _assignment = match is_agent_thread() {
            true => self.assignment.try_lock().ok(),
            false => Some(locked(&self.assignment)),
        };
        match ti.tag(object) {
            Ok(0) => {
                let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
                if ti.set_tag(object, number).is_ok() { number } else { 0 }
            }
            Ok(number) => number,
            Err(_) => 0,
        }
    }

    /// Records that an object was collected. Called by the collector while the program runs, so it must not block.
    pub(crate) fn record_collected(&self, number: i64) {
        self.collected_count.fetch_add(1, Ordering::Relaxed);
        self.collected.push(number);
    }

    /// Keeps the ids of collected objects for tracked paths from now on.
    pub(crate) fn follow_paths(&self) {
        self.has_paths.store(true, Ordering::Relaxed);
    }

    /// Distributes the ids that the collector has reported.
    fn drain(&self) -> MutexGuard<'_, PendingDeaths> {
        let mut pending = locked(&self.pending);
        let collected = self.collected.take();
        if self.has_paths.load(Ordering::Relaxed) {
            pending.paths.extend(&collected);
        }
        if pending.slices.len() + collected.len() <= MAX_PENDING {
            pending.slices.extend(collected);
        }
        pending
    }

    /// The ids of collected objects for tracked paths, each once.
    pub(crate) fn take_dead_for_paths(&self) -> Vec<i64> {
        if !self.has_paths.load(Ordering::Relaxed) {
            return Vec::new();
        }
        std::mem::take(&mut self.drain().paths)
    }

    /// The ids of collected objects for slices, each once.
    pub(crate) fn take_dead_for_slices(&self) -> Vec<i64> {
        std::mem::take(&mut self.drain().slices)
    }

    /// The number of ids that are pending for slices.
    pub(crate) fn waiting(&self) -> usize {
        self.drain().slices.len()
    }

    /// The number of ids, and how many of their objects were collected.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.last.load(Ordering::Relaxed) as u64, self.collected_count.load(Ordering::Relaxed))
    }
}

/// A lock-free stack: any thread can push without blocking, and take everything.
#[derive(Default)]
struct Stack(AtomicPtr<Node>);

struct Node {
    number: i64,
    next: *mut Node,
}

impl Stack {
    fn push(&self, number: i64) {
        let node = Box::into_raw(Box::new(Node { number, next: null_mut() }));
        let mut head = self.0.load(Ordering::Relaxed);
        loop {
            // SAFETY: the node is not shared until it is published below.
            unsafe { (*node).next = head };
            match self.0.compare_exchange_weak(head, node, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    fn take(&self) -> Vec<i64> {
        if self.0.load(Ordering::Relaxed).is_null() {
            return Vec::new();
        }
        let mut node = self.0.swap(null_mut(), Ordering::Acquire);
        let mut all = Vec::new();
        while !node.is_null() {
            // SAFETY: the swap took the whole list, and each node was created from a box.
            let owned = unsafe { Box::from_raw(node) };
            all.push(owned.number);
            node = owned.next;
        }
        all.reverse();
        all
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concurrent_pushes_are_all_taken() {
        let stack = Stack::default();
        std::thread::scope(|scope| {
            for first in 0..4 {
                let stack = &stack;
                scope.spawn(move || (0..1000).for_each(|at| stack.push(first * 1000 + at)));
            }
            let mut got = Vec::new();
            while got.len() < 4000 {
                got.extend(stack.take());
                std::thread::yield_now();
            }
            got.sort_unstable();
            assert_eq!(got, (0..4000).collect::<Vec<_>>());
        });
        assert!(stack.take().is_empty());
    }
}
