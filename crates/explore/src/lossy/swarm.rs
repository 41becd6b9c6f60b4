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
    options: &SearchOptions,
    listener: &P,
) -> SearchResult {
    let threads = options.threads.max(1) as u64;
    let bytes = options.limits.memory.map_or(swarm.bytes, |limit| swarm.bytes.min(limit / threads));
    let shared = SharedSwarm {
        space,
        bits: Bitstate { bytes, hashes: swarm.hashes, seed: 0 },
        seed: swarm.seed,
        runs: swarm.runs,
        options,
        listener,
        start: Instant::now(),
        next: AtomicU64::new(0),
        has_enough: AtomicBool::new(false),
        union: Mutex::default(),
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| shared.run_searches());
        }
        shared.run_searches();
    });
    let union = shared.union.into_inner().unwrap_or_else(PoisonError::into_inner);
    let Some(largest) = union.largest else { return no_memory() };
    let incomplete = match () {
        () if shared.has_enough.into_inner() => Some(Incomplete::Found),
        () => union.incomplete,
    };
    let mut findings = union.findings;
    findings.truncate(options.max_findings);
    let certainty =
        Certainty::United { runs: union.runs, states: union.sketch.estimate(), new_share: union.new_share };
    SearchResult {
        totals: Totals { memory: bytes * threads, ..largest.totals },
        incomplete,
        findings,
        certainty,
        ..largest
    }
}

/// Data that the threads of a swarm share.
struct SharedSwarm<'a, S, P> {
    space: &'a S,
    bits: Bitstate,
    seed: u64,
    runs: u64,
    options: &'a SearchOptions,
    listener: &'a P,
    start: Instant,
    /// Number of the next search.
    next: AtomicU64,
    /// Whether the requested number of findings is reached.
    has_enough: AtomicBool,
    union: Mutex<SwarmUnion>,
}

/// The union of the results so far.
#[derive(Default)]
struct SwarmUnion {
    runs: u64,
    /// All visited configurations.
    sketch: HyperLogLog,
    /// See [`Certainty::United`].
    new_share: f64,
    /// The result of the search that visited the most configurations.
    largest: Option<SearchResult>,
    incomplete: Option<Incomplete>,
    findings: Vec<Finding>,
    /// Kinds and last configurations of the findings.
    known_findings: HashSet<(FindingKind, Option<Box<[u64]>>)>,
}

impl<S: StateSpace, P: ProgressListener> SharedSwarm<'_, S, P> {
    /// Runs one search after the other until none remain.
    fn run_searches(&self) {
        loop {
            let number = self.next.fetch_add(1, Relaxed);
            let time = self.options.limits.time.map(|limit| limit.saturating_sub(self.start.elapsed()));
            let is_time_over = time.is_some_and(|remaining| remaining.is_zero());
            // If there is no time at all, the first search still runs, in order to report the reason.
            if number >= self.runs || (number > 0 && (is_time_over || self.is_stopped())) {
                return;
            }
            let mut random = SplitMix64::new(self.seed ^ SplitMix64::new(number).draw());
            let bits = Bitstate { seed: random.draw(), ..self.bits };
            let Some(visited) = BloomFilter::new(&bits, true) else { return };
            let limits = Limits { time, memory: None, ..self.options.limits };
            let options = SearchOptions { limits, ..*self.options };
            let (result, visited) = dfs_with(self.space, &options, self, visited, Some(random));
            self.add_run(result, &visited);
        }
    }

    fn add_run(&self, result: SearchResult, visited: &BloomFilter) {
        let mut union = self.union.lock().unwrap_or_else(PoisonError::into_inner);
        union.runs += 1;
        if let Some(sketch) = &visited.sketch {
            let before = union.sketch.estimate();
            union.sketch.merge(sketch);
            let size = sketch.estimate().max(1.0);
            union.new_share = ((union.sketch.estimate() - before) / size).clamp(0.0, 1.0);
        }
        for finding in &result.findings {
            if union.known_findings.insert((finding.kind, finding.path.states.last().cloned())) {
                union.findings.push(finding.clone());
            }
        }
        if !self.options.exhaustive && union.findings.len() >= self.options.max_findings {
            self.has_enough.store(true, Relaxed);
        }
        // If anything but its own findings ended a search, the whole result is incomplete as well.
        if result.incomplete != Some(Incomplete::Found) {
            union.incomplete = union.incomplete.or(result.incomplete);
        }
        if union.largest.as_ref().is_none_or(|largest| largest.totals.states < result.totals.states) {
            union.largest = Some(result);
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
