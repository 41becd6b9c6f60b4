//! How workers hand each other states.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A state on its way to the worker that keeps it. Its words lie elsewhere, in the same order.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) hash: u64,
    /// A part of the hash of the state it comes from: of several, the one with the least is remembered.
    pub(super) rank: u32,
    /// Where it comes from.
    pub(super) parent: u32,
}

/// Several states for the same worker.
#[derive(Default)]
pub(super) struct Parcel {
    pub(super) words: Vec<u64>,
    pub(super) entries: Vec<Entry>,
}

impl Parcel {
    pub(super) fn push(&mut self, state: &[u64], entry: Entry) {
        self.words.extend_from_slice(state);
        self.entries.push(entry);
    }

    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.entries.clear();
    }
}

/// The parcels for each worker.
pub(super) struct Post {
    inboxes: Vec<Inbox>,
    /// How many workers have sent all they have to send at this level.
    done: AtomicUsize,
}

#[derive(Default)]
struct Inbox {
    parcels: Mutex<Vec<Parcel>>,
    arrived: Condvar,
}

impl Inbox {
    fn parcels(&self) -> MutexGuard<'_, Vec<Parcel>> {
        self.parcels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Post {
    pub(super) fn new(workers: usize) -> Post {
        Post { inboxes: (0..workers).map(|_| Inbox::default()).collect(), done: AtomicUsize::new(0) }
    }

    /// A new level begins. No worker may be at work.
    pub(super) fn open(&self) {
        self.done.store(0, Ordering::Relaxed);
    }

    pub(super) fn send(&self, to: usize, parcel: Parcel) {
        self.inboxes[to].parcels().push(parcel);
        self.inboxes[to].arrived.notify_one();
    }

    /// How many parcels wait there.
    pub(super) fn waiting(&self, at: usize) -> usize {
        self.inboxes[at].parcels().len()
    }

    /// Takes what has arrived; `into` must be empty.
    pub(super) fn receive(&self, at: usize, into: &mut Vec<Parcel>) {
        std::mem::swap(&mut *self.inboxes[at].parcels(), into);
    }

    /// Waits until something arrives, which `into` gets. False if nothing will arrive any more at this level.
    pub(super) fn wait(&self, at: usize, into: &mut Vec<Parcel>) -> bool {
        let inbox = &self.inboxes[at];
        let mut parcels = inbox.parcels();
        while parcels.is_empty() {
            // Whoever is done has sent before, so an empty inbox stays empty.
            if self.done.load(Ordering::Acquire) == self.inboxes.len() {
                return false;
            }
            parcels = inbox.arrived.wait(parcels).unwrap_or_else(PoisonError::into_inner);
        }
        std::mem::swap(&mut *parcels, into);
        true
    }

    /// When what this gives is dropped, one worker more has nothing to send, be it because it panicked.
    pub(super) fn sender(&self) -> Sender<'_> {
        Sender(self)
    }
}

pub(super) struct Sender<'a>(&'a Post);

impl Drop for Sender<'_> {
    fn drop(&mut self) {
        if self.0.done.fetch_add(1, Ordering::AcqRel) + 1 == self.0.inboxes.len() {
            for inbox in &self.0.inboxes {
                // Locked, so that nobody is between looking and waiting.
                let _parcels = inbox.parcels();
                inbox.arrived.notify_all();
            }
        }
    }
}
