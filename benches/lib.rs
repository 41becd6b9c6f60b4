//! Shared by the benchmarks: clocks, tables and a random number generator. The benchmarks of live programs are also here,
//! so that their parts can be tested.

pub mod jvm;
pub mod native;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use std::time::{Duration, Instant};

/// Measured time.
#[derive(Clone, Copy, Debug)]
pub struct Time {
    /// Wall-clock time.
    pub wall: Duration,
    /// Processor time of this process and its finished children.
    pub cpu: Duration,
}

/// Runs a function and measures its time.
pub fn timed<T>(run: impl FnOnce() -> T) -> (Time, T) {
    let (started, cpu) = (Instant::now(), cpu_time());
    let result = run();
    (Time { wall: started.elapsed(), cpu: cpu_time().saturating_sub(cpu) }, result)
}

/// Runs a function `times` times and returns the fastest run by wall-clock time.
pub fn best_of<T>(times: usize, mut run: impl FnMut() -> T) -> (Time, T) {
    let mut best = timed(&mut run);
    for _ in 1..times {
        let next = timed(&mut run);
        if next.0.wall < best.0.wall {
            best = next;
        }
    }
    best
}

/// The processor time of this process and its finished children.
fn cpu_time() -> Duration {
    let of = |usage: Usage| {
        let both = usage.user_time() + usage.system_time();
        Duration::from_micros((both.tv_sec() * 1_000_000 + both.tv_usec()).unsigned_abs())
    };
    let all = [UsageWho::RUSAGE_SELF, UsageWho::RUSAGE_CHILDREN];
    all.into_iter().filter_map(|who| getrusage(who).ok()).map(of).sum()
}

/// Resident memory of this process in bytes.
pub fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}

/// Deterministic pseudo-random number generator.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator. The seed must not be zero.
    pub fn new(seed: u64) -> Random {
        Random(seed.max(1))
    }

    /// Returns the next number.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns the next number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.number() % end
    }
}

/// Prints a table whose first row is the header.
pub fn print_table(rows: &[Vec<String>]) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(
                |(column, (cell, width))| {
                    if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                },
            )
            .collect();
        println!("  {}", cells.join("  ").trim_end());
        if number == 0 {
            println!("  {}", "-".repeat(widths.iter().sum::<usize>() + 2 * columns.saturating_sub(1)));
        }
    }
}

/// Prints the machine and its load.
pub fn print_machine() {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name\t: ")).unwrap_or("unknown");
    let load: Vec<&str> = load.split_whitespace().take(3).collect();
    println!("machine: {model}, {cores} cores, load {} before the run\n", load.join(" "));
}
