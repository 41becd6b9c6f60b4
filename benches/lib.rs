//! What the benchmarks share: clocks, tables, and a random number generator.

use std::time::{Duration, Instant};

/// How long something took.
#[derive(Clone, Copy, Debug)]
pub struct Time {
    /// By the clock on the wall.
    pub wall: Duration,
    /// Of all processors, in this process or in the children that were waited for.
    pub cpu: Duration,
}

/// Runs something `times` times and gives the quickest run, by the wall.
pub fn best_of<T>(times: usize, mut run: impl FnMut() -> T) -> (Time, T) {
    let mut best: Option<(Time, T)> = None;
    for _ in 0..times.max(1) {
        let (started, cpu) = (Instant::now(), cpu_time());
        let result = run();
        let time = Time { wall: started.elapsed(), cpu: cpu_time() - cpu };
        if best.as_ref().is_none_or(|(known, _)| time.wall < known.wall) {
            best = Some((time, result));
        }
    }
    match best {
        Some(best) => best,
        None => unreachable!("it runs at least once"),
    }
}

/// The processor time of this process and its finished children, to a hundredth of a second.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the program's name in parentheses: state, then twelve more, then user and system times.
    let after = stat.rsplit(')').next().unwrap_or("");
    let ticks: u64 = after.split_whitespace().skip(11).take(4).filter_map(|t| t.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// The bytes of memory that this process has in use.
pub fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}

/// Numbers that look random and are the same every time.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator; the seed is not zero.
    pub fn new(seed: u64) -> Random {
        Random(seed.max(1))
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// The next number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.number() % end
    }
}

/// A table on the terminal: the first row is the head.
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

/// What the machine was doing when the figures were taken.
pub fn print_machine() {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name\t: ")).unwrap_or("unknown");
    let load: Vec<&str> = load.split_whitespace().take(3).collect();
    println!("machine: {model}, {cores} cores, load {} before the run\n", load.join(" "));
}
