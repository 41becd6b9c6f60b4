//! How much a search may take, and how it tells what it has.

use std::time::{Duration, Instant};

/// How much a search may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The most configurations.
    pub states: Option<u64>,
    /// The most bytes for configurations and what is kept with them.
    pub memory: Option<u64>,
    /// The longest time.
    pub time: Option<Duration>,
    /// How many steps from the start at most.
    pub depth: Option<u64>,
}

/// Why a search ended before it had seen everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Incomplete {
    /// As many configurations as were allowed.
    States,
    /// As much memory as was allowed, or as there is.
    Memory,
    /// As much time as was allowed.
    Time,
    /// Something lies deeper than was allowed.
    Depth,
    /// Someone stopped it.
    Stopped,
    /// It found what it was to find.
    Found,
    /// The subject failed: [`Space::failure`](crate::Space::failure) says why.
    Failed,
}

/// What a search has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Configurations.
    pub states: u64,
    /// Transitions between them.
    pub transitions: u64,
    /// Configurations without successors.
    pub deadlocks: u64,
    /// Actions that went wrong.
    pub faults: u64,
    /// The most steps from the start; the number of levels but one in a search in breadth.
    pub depth: u64,
    /// Configurations that were seen and whose successors were not computed yet.
    pub waiting: u64,
    /// Bytes for configurations and what is kept with them.
    pub memory: u64,
}

/// Hears of the progress of a search now and then, and may stop it.
pub trait Pulse: Sync {
    /// Some more was done. Called every few thousand configurations, by any thread.
    fn beat(&self, totals: &Totals);

    /// Whether the search is to end.
    fn is_stopped(&self) -> bool;
}

/// Nobody listens, nobody stops it.
impl Pulse for () {
    fn beat(&self, _: &Totals) {}

    fn is_stopped(&self) -> bool {
        false
    }
}

impl Limits {
    /// What is left of them for the next of several searches, the first of which began at `since`.
    ///
    /// ```
    /// use invigil_explore::Limits;
    /// use std::time::{Duration, Instant};
    /// let limits = Limits { time: Some(Duration::from_secs(60)), ..Limits::default() };
    /// assert!(limits.left(Instant::now()).time < limits.time);
    /// ```
    pub fn left(&self, since: Instant) -> Limits {
        Limits { time: self.time.map(|time| time.saturating_sub(since.elapsed())), ..*self }
    }

    /// Why a search that began at `since` and has seen `totals` must end now.
    pub fn exceeded(&self, totals: &Totals, since: Instant) -> Option<Incomplete> {
        if self.states.is_some_and(|most| totals.states > most) {
            Some(Incomplete::States)
        } else if self.memory.is_some_and(|most| totals.memory > most) {
            Some(Incomplete::Memory)
        } else if self.time.is_some_and(|most| since.elapsed() > most) {
            Some(Incomplete::Time)
        } else {
            None
        }
    }
}
