//! Objects by numbers: a number is one object's as long as it lives, and no other's ever.

use crate::agent::{is_ours, locked};
use crate::vm::{Ref, Ti};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

/// The numbers that were given, and those of objects that are no more.
#[derive(Default)]
pub(crate) struct Identities {
    last: AtomicI64,
    turn: Mutex<()>,
    gone: Stack,
    gone_count: AtomicU64,
    /// Whether ways over objects are followed.
    has_paths: AtomicBool,
    untold: Mutex<Untold>,
}

/// The numbers of objects that are no more, as long as those who want to know have not been told.
#[derive(Default)]
struct Untold {
    /// For ways over objects.
    paths: Vec<i64>,
    /// For slices of properties.
    slices: Vec<i64>,
}

/// So many numbers wait at most. What is left out costs the memory of a slice, and nothing else.
const WAITING: usize = 1 << 20;

impl Identities {
    /// The number of an object. It does not keep the object alive.
    pub(crate) fn number(&self, ti: Ti, object: Ref) -> i64 {
        match ti.tag(object) {
            Ok(0) => self.give(ti, object),
            Ok(number) => number,
            Err(_) => 0,
        }
    }

    /// Gives an object its number. Two threads may meet here with one object, so one does it after the other.
    #[cold]
    fn give(&self, ti: Ti, object: Ref) -> i64 {
        // The machine may hold a thread in the midst of this. It goes on when the program does, and so do those of the program
        // that wait for it; the agent's own threads must not wait.
        let _turn = match is_ours() {
            true => self.turn.try_lock().ok(),
            false => Some(locked(&self.turn)),
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

    /// An object is no more. The collector tells it while the program runs: nothing may be waited for.
    pub(crate) fn freed(&self, number: i64) {
        self.gone_count.fetch_add(1, Ordering::Relaxed);
        self.gone.push(number);
    }

    /// Ways over objects are followed from now on.
    pub(crate) fn follow_paths(&self) {
        self.has_paths.store(true, Ordering::Relaxed);
    }

    /// Looks who is to be told what the collector has told.
    fn sort(&self) -> MutexGuard<'_, Untold> {
        let mut untold = locked(&self.untold);
        let gone = self.gone.take();
        if self.has_paths.load(Ordering::Relaxed) {
            untold.paths.extend(&gone);
        }
        if untold.slices.len() + gone.len() <= WAITING {
            untold.slices.extend(gone);
        }
        untold
    }

    /// The numbers of objects that are no more, each once, for ways over objects.
    pub(crate) fn gone_from_paths(&self) -> Vec<i64> {
        if !self.has_paths.load(Ordering::Relaxed) {
            return Vec::new();
        }
        std::mem::take(&mut self.sort().paths)
    }

    /// The same for slices of properties.
    pub(crate) fn gone_from_slices(&self) -> Vec<i64> {
        std::mem::take(&mut self.sort().slices)
    }

    /// How many of the latter wait.
    pub(crate) fn waiting(&self) -> usize {
        self.sort().slices.len()
    }

    /// How many objects have numbers, and how many of them are no more.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.last.load(Ordering::Relaxed) as u64, self.gone_count.load(Ordering::Relaxed))
    }
}

/// Numbers that anyone may push without waiting, and take all at once.
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
            // SAFETY: the node is ours until it is published below.
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
            // SAFETY: the swap took the whole list from everyone else, and each node was made from a box.
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
    fn nothing_pushed_is_lost() {
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
