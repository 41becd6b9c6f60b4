//! Which processor threads run on.
//!
//! When the tool and a thread of the program take turns, both are four times as fast on one processor as on two.
//! But a program must not find itself on one processor for good. So a thread is bound to ours once it stops
//! at short intervals, and freed again when it does not.

use crate::sys::{self, Tid};
use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};

/// Stops that come this soon after the last one are a turn-taking.
const SHORT: Duration = Duration::from_micros(300);
/// So many of them in a row bind the thread.
const PATIENCE: u32 = 16;
/// So many others in a row free it. One alone says little: the thread may have waited for a processor.
const ENOUGH: u32 = 4;

struct Habit {
    /// When it last stopped.
    last: Instant,
    /// How many stops in a row came soon.
    short: u32,
    /// How many did not.
    long: u32,
    /// The processors that the thread may run on by its own account, while it is bound.
    bound: Option<libc::cpu_set_t>,
}

/// Keeps the tool and the threads that it takes turns with together.
#[derive(Default)]
pub(crate) struct Affinity {
    habits: FxHashMap<Tid, Habit>,
    /// Where we could run before we bound ourselves to one processor, and that one.
    ours: Option<(libc::cpu_set_t, libc::cpu_set_t)>,
}

impl Affinity {
    /// A thread stopped for an event, now.
    pub(crate) fn stopped(&mut self, tid: Tid, now: Instant) {
        let habit = self.habits.entry(tid).or_insert(Habit { last: now, short: 0, long: 0, bound: None });
        let is_soon = now.duration_since(std::mem::replace(&mut habit.last, now)) < SHORT;
        if is_soon {
            habit.short += 1;
            habit.long = 0;
            if habit.short == PATIENCE && habit.bound.is_none() {
                self.bind(tid);
            }
        } else {
            habit.short = 0;
            habit.long += 1;
            if habit.bound.is_some() && habit.long == ENOUGH {
                self.free(tid);
            }
        }
    }

    fn bind(&mut self, tid: Tid) {
        let Ok(before) = sys::affinity(tid) else { return };
        if self.ours.is_none() {
            let here = sys::this_processor();
            if let Ok(everywhere) = sys::affinity(0)
                && sys::set_affinity(0, &here).is_ok()
            {
                self.ours = Some((everywhere, here));
            }
        }
        let Some((_, here)) = &self.ours else { return };
        if sys::set_affinity(tid, here).is_ok()
            && let Some(habit) = self.habits.get_mut(&tid)
        {
            habit.bound = Some(before);
        }
    }

    fn free(&mut self, tid: Tid) {
        let Some(habit) = self.habits.get_mut(&tid) else { return };
        if let Some(before) = habit.bound.take() {
            // It may be gone.
            let _ = sys::set_affinity(tid, &before);
        }
        (habit.short, habit.long) = (0, 0);
    }

    /// A new thread or process runs where its maker does; if that is bound, it is not its own choice.
    pub(crate) fn inherited(&mut self, tid: Tid) {
        let bound = self.habits.values().find_map(|habit| habit.bound);
        if let (Some(before), Some((_, here))) = (bound, &self.ours)
            && sys::affinity(tid).is_ok_and(|now| now == *here)
        {
            let _ = sys::set_affinity(tid, &before);
        }
    }

    /// Frees all threads, and ourselves: nobody takes turns for now.
    pub(crate) fn free_all(&mut self) {
        for tid in self.habits.keys().copied().collect::<Vec<_>>() {
            self.free(tid);
        }
        self.habits.clear();
        if let Some((everywhere, _)) = self.ours.take() {
            let _ = sys::set_affinity(0, &everywhere);
        }
    }
}
