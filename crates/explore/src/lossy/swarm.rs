//! Swarm verification: many small bitstate searches with different hash functions and orders.

use super::bloom_filter::BloomFilter;
use super::hyperloglog::HyperLogLog;
use super::{Bitstate, no_memory};
use crate::dfs::dfs_with;
use crate::limits::{Incomplete, Limits, ProgressListener, Totals};
use crate::options::SearchOptions;
use crate::result::{Certainty, Finding, FindingKind, SearchResult};
use crate::state_space::StateSpace;
use invigil_semantics::SplitMix64;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Number and parameters of the searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swarm {
    /// Maximum number of searches. The time limit may end them earlier.
    pub runs: u64,
    /// Memory per thread, reused by its searches.
    pub bytes: u64,
    /// Number of bits set per configuration.
    pub hashes: u32,
    /// Seed of the generator.
    pub seed: u64,
}

impl Default for Swarm {
    /// Sixteen searches with 64 MiB.
    fn default() -> Swarm {
        Swarm { runs: 16, bytes: 64 << 20, hashes: 3, seed: 0 }
    }
}

/// Repeats [`bitstate`](crate::bitstate()) with different hash functions and random orders of successors, on several
/// threads.
///
/// One search may find what another missed. The limits on configurations and depth apply to each search, those on time
/// and memory to all of them together. The totals are those of the search that visited the most configurations; the
/// [size of the union](Certainty::United) is estimated.
pub fn swarm<S: StateSpace, P: ProgressListener>(
    space: &S,
    swarm: &Swarm,
    search: &SearchOptions,
    listener: &P,
) -> SearchResult {
    let threads = search.threads.max(1) as u64;
    let bytes = search.limits.memory.map_or(swarm.bytes, |most| swarm.bytes.min(most / threads));
    let shared = SharedSwarm {
        space,
        bits: Bitstate { bytes, hashes: swarm.hashes, seed: 0 },
        seed: swarm.seed,
        runs: swarm.runs,
        search,
        listener,
        since: Instant::now(),
        next: AtomicU64::new(0),
        has_enough: AtomicBool::new(false),
        union: Mutex::default(),
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| shared.work());
        }
        shared.work();
    });
    let union = shared.union.into_inner().unwrap_or_else(PoisonError::into_inner);
    let Some(widest) = union.widest else { return no_memory() };
    let incomplete = match () {
        () if shared.has_enough.into_inner() => Some(Incomplete::Found),
        () => union.incomplete,
    };
    let mut findings = union.findings;
    findings.truncate(search.max_findings);
    let certainty =
        Certainty::United { runs: union.runs, states: union.sketch.estimate(), new_share: union.new_share };
    SearchResult {
        totals: Totals { memory: bytes * threads, ..widest.totals },
        incomplete,
        findings,
        certainty,
        ..widest
    }
}

struct SharedSwarm<'a, S, P> {
    space: &'a S,
    bits: Bitstate,
    seed: u64,
    runs: u64,
    search: &'a SearchOptions,
    listener: &'a P,
    since: Instant,
    next: AtomicU64,
    /// Whether the requested number of findings is reached.
    has_enough: AtomicBool,
    union: Mutex<SwarmUnion>,
}

/// The union of the results so far.
#[derive(Default)]
struct SwarmUnion {
    runs: u64,
    sketch: HyperLogLog,
    new_share: f64,
    widest: Option<SearchResult>,
    incomplete: Option<Incomplete>,
    findings: Vec<Finding>,
    known: HashSet<(FindingKind, Option<Box<[u64]>>)>,
}

impl<S: StateSpace, P: ProgressListener> SharedSwarm<'_, S, P> {
    /// Runs one search after the other until none is left.
    fn work(&self) {
        loop {
            let number = self.next.fetch_add(1, Relaxed);
            let time = self.search.limits.time.map(|most| most.saturating_sub(self.since.elapsed()));
            let is_late = time.is_some_and(|left| left.is_zero());
            // If there is no time at all, the first search still runs, in order to report the reason.
            if number >= self.runs || (number > 0 && (is_late || self.is_stopped())) {
                return;
            }
            let mut random = SplitMix64::new(self.seed ^ SplitMix64::new(number).draw());
            let bits = Bitstate { seed: random.draw(), ..self.bits };
            let Some(seen) = BloomFilter::new(&bits, true) else { return };
            let limits = Limits { time, memory: None, ..self.search.limits };
            let search = SearchOptions { limits, ..*self.search };
            let (report, seen) = dfs_with(self.space, &search, self, seen, Some(random));
            self.add_run(report, seen);
        }
    }

    fn add_run(&self, report: SearchResult, seen: BloomFilter) {
        let mut union = self.union.lock().unwrap_or_else(PoisonError::into_inner);
        union.runs += 1;
        if let Some(sketch) = &seen.sketch {
            let before = union.sketch.estimate();
            union.sketch.merge(sketch);
            let own = sketch.estimate().max(1.0);
            union.new_share = ((union.sketch.estimate() - before) / own).clamp(0.0, 1.0);
        }
        for findings in &report.findings {
            if union.known.insert((findings.kind, findings.path.states.last().cloned())) {
                union.findings.push(findings.clone());
            }
        }
        if !self.search.exhaustive && union.findings.len() >= self.search.max_findings {
            self.has_enough.store(true, Relaxed);
        }
        // Anything but its own findings that ended a search also makes the whole result incomplete.
        if report.incomplete != Some(Incomplete::Found) {
            union.incomplete = union.incomplete.or(report.incomplete);
        }
        if union.widest.as_ref().is_none_or(|widest| widest.totals.states < report.totals.states) {
            union.widest = Some(report);
        }
    }
}

/// Stops each search when the others have reached the requested number of findings.
impl<S: StateSpace, P: ProgressListener> ProgressListener for SharedSwarm<'_, S, P> {
    fn progress(&self, totals: &Totals) {
        self.listener.progress(totals);
    }

    fn is_stopped(&self) -> bool {
        self.has_enough.load(Relaxed) || self.listener.is_stopped()
    }
}
