//! Many small searches, each with other hash functions and in another order, in place of a large one.

use super::bits::Bits;
use super::sketch::Sketch;
use super::{Bitstate, no_memory};
use crate::depth::descend;
use crate::limits::{Incomplete, Limits, Pulse, Totals};
use crate::random::Random;
use crate::report::{Certainty, Found, Report, What};
use crate::search::Search;
use crate::space::Space;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// How many searches there are, and what each gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swarm {
    /// The most searches. The time that the search may take ends them earlier.
    pub runs: u64,
    /// The memory of each thread, which its searches use one after the other.
    pub bytes: u64,
    /// The bits that are set for a configuration.
    pub hashes: u32,
    /// What chance begins with.
    pub seed: u64,
}

impl Default for Swarm {
    /// Sixteen searches with 64 MiB.
    fn default() -> Swarm {
        Swarm { runs: 16, bytes: 64 << 20, hashes: 3, seed: 0 }
    }
}

/// Searches in depth again and again, setting bits as [`bitstate`](crate::bitstate()) does, each time with other hash
/// functions and in another order, on so many threads.
///
/// What one of them misses another may see. The limits on configurations and depth are for each search, those on time
/// and memory for all of them. The totals are those of the search that saw most;
/// [how many all of them saw](Certainty::United) is estimated.
pub fn swarm<S: Space, P: Pulse>(space: &S, swarm: &Swarm, search: &Search, pulse: &P) -> Report {
    let threads = search.threads.max(1) as u64;
    let bytes = search.limits.memory.map_or(swarm.bytes, |most| swarm.bytes.min(most / threads));
    let together = Together {
        space,
        bits: Bitstate { bytes, hashes: swarm.hashes, seed: 0 },
        seed: swarm.seed,
        runs: swarm.runs,
        search,
        pulse,
        since: Instant::now(),
        next: AtomicU64::new(0),
        is_enough: AtomicBool::new(false),
        union: Mutex::default(),
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| together.work());
        }
        together.work();
    });
    let union = together.union.into_inner().unwrap_or_else(PoisonError::into_inner);
    let Some(widest) = union.widest else { return no_memory() };
    let incomplete = match () {
        () if together.is_enough.into_inner() => Some(Incomplete::Found),
        () => union.incomplete,
    };
    let mut found = union.found;
    found.truncate(search.most);
    let certainty =
        Certainty::United { runs: union.runs, states: union.sketch.estimate(), fresh: union.fresh };
    Report {
        totals: Totals { memory: bytes * threads, ..widest.totals },
        incomplete,
        found,
        certainty,
        ..widest
    }
}

struct Together<'a, S, P> {
    space: &'a S,
    bits: Bitstate,
    seed: u64,
    runs: u64,
    search: &'a Search,
    pulse: &'a P,
    since: Instant,
    next: AtomicU64,
    /// Whether enough was found.
    is_enough: AtomicBool,
    union: Mutex<Union>,
}

/// What all searches have seen.
#[derive(Default)]
struct Union {
    runs: u64,
    sketch: Sketch,
    fresh: f64,
    widest: Option<Report>,
    incomplete: Option<Incomplete>,
    found: Vec<Found>,
    known: HashSet<(What, Option<Box<[u64]>>)>,
}

impl<S: Space, P: Pulse> Together<'_, S, P> {
    /// One search after the other, until there is none left to do.
    fn work(&self) {
        loop {
            let number = self.next.fetch_add(1, Relaxed);
            let time = self.search.limits.time.map(|most| most.saturating_sub(self.since.elapsed()));
            let is_late = time.is_some_and(|left| left.is_zero());
            // The first search tells why there is nothing, if there is no time at all.
            if number >= self.runs || (number > 0 && (is_late || self.is_stopped())) {
                return;
            }
            let mut random = Random::new(self.seed ^ Random::new(number).draw());
            let bits = Bitstate { seed: random.draw(), ..self.bits };
            let Some(seen) = Bits::new(&bits, true) else { return };
            let limits = Limits { time, memory: None, ..self.search.limits };
            let search = Search { limits, ..*self.search };
            let (report, seen) = descend(self.space, &search, self, seen, Some(random));
            self.unite(report, seen);
        }
    }

    fn unite(&self, report: Report, seen: Bits) {
        let mut union = self.union.lock().unwrap_or_else(PoisonError::into_inner);
        union.runs += 1;
        if let Some(sketch) = &seen.sketch {
            let before = union.sketch.estimate();
            union.sketch.unite(sketch);
            let own = sketch.estimate().max(1.0);
            union.fresh = ((union.sketch.estimate() - before) / own).clamp(0.0, 1.0);
        }
        for found in &report.found {
            if union.known.insert((found.what, found.path.states.last().cloned())) {
                union.found.push(found.clone());
            }
        }
        if !self.search.whole && union.found.len() >= self.search.most {
            self.is_enough.store(true, Relaxed);
        }
        // What ended one search ended the swarm if it was not for that search alone.
        if report.incomplete != Some(Incomplete::Found) {
            union.incomplete = union.incomplete.or(report.incomplete);
        }
        if union.widest.as_ref().is_none_or(|widest| widest.totals.states < report.totals.states) {
            union.widest = Some(report);
        }
    }
}

/// Each search hears that enough was found elsewhere.
impl<S: Space, P: Pulse> Pulse for Together<'_, S, P> {
    fn beat(&self, totals: &Totals) {
        self.pulse.beat(totals);
    }

    fn is_stopped(&self) -> bool {
        self.is_enough.load(Relaxed) || self.pulse.is_stopped()
    }
}
