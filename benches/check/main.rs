//! Speed of checking recorded traces, compared with the usual alternatives.
//!
//! ```console
//! $ cargo bench --manifest-path benches/Cargo.toml --bench check            # ten million events
//! $ cargo bench --manifest-path benches/Cargo.toml --bench check -- 1000000 # fewer
//! ```
//!
//! The workload is the bounded queue of the thesis' figure 5.6: one hundred thousand queues, pushes and pops
//! at random, 98 pops from an empty queue. Every tool must find the same number of violated queues.

mod hand;
mod memory;
mod ours;
mod peers;
mod workload;

use invigil_benches::{Time, print_machine, print_table};

/// A row of the table.
struct Row {
    tool: String,
    input: &'static str,
    events: u64,
    time: Time,
    violations: Option<u64>,
    /// The expected number of violations in the peer's input, if the peer reports a number.
    expected: Option<u64>,
}

impl Row {
    /// Millions of events per second of processor time. On one core, this is wall-clock time without the share of other
    /// programs.
    fn rate(&self) -> f64 {
        self.events as f64 / self.time.cpu.as_secs_f64().max(0.001) / 1e6
    }

    fn wall_rate(&self) -> f64 {
        self.events as f64 / self.time.wall.as_secs_f64() / 1e6
    }
}

fn main() {
    let events = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(10_000_000);
    let queues = (events / 100).clamp(10, 100_000);
    print_machine();
    println!("workload: {events} events over {queues} queues, property of figure 5.6\n");
    let workload = match workload::Workload::generate(events, queues) {
        Ok(workload) => workload,
        Err(error) => {
            eprintln!("cannot write the workload: {error}");
            std::process::exit(3);
        }
    };
    let mut rows = Vec::new();
    rows.extend(ours::run(&workload));
    rows.extend(hand::run(&workload));
    rows.extend(peers::run(&workload));
    print(&rows);
    for row in rows.iter().filter(|row| row.violations != row.expected) {
        println!("  note: {} ({}) reports {:?}, not {:?}", row.tool, row.input, row.violations, row.expected);
    }
    ratios(&rows);
    println!();
    memory::run();
}

fn print(rows: &[Row]) {
    let head = ["tool", "input", "M events/CPU s", "M events/s wall", "violations"];
    let mut table = vec![head.map(String::from).to_vec()];
    for row in rows {
        table.push(vec![
            row.tool.clone(),
            row.input.into(),
            format!("{:.2}", row.rate()),
            format!("{:.2}", row.wall_rate()),
            row.violations.map_or("-".into(), |n| n.to_string()),
        ]);
    }
    print_table(&table);
}

fn ratios(rows: &[Row]) {
    let find = |tool: &str, input: &str| rows.iter().find(|row| row.tool == tool && row.input == input);
    println!();
    for input in ["JSON Lines", "CSV", "memory"] {
        if let (Some(ours), Some(hand)) = (find("invigil, 1 thread", input), find("hand-written Rust", input))
        {
            let ratio = hand.rate() / ours.rate();
            println!("  {input}: the hand-written loop is {ratio:.2} times as fast as invigil");
        }
    }
    for input in ["JSON Lines", "CSV", "lines"] {
        if let (Some(one), Some(two)) = (find("invigil, 1 thread", input), find("invigil, 2 threads", input))
        {
            let ratio = two.wall_rate() / one.wall_rate();
            println!("  {input}: two threads are {ratio:.2} times as fast as one, by wall-clock time");
        }
    }
    let ours = rows.iter().filter(|row| row.tool == "invigil, 1 thread" && row.input != "memory");
    let slowest = ours.map(Row::rate).fold(f64::INFINITY, f64::min);
    let others = rows.iter().filter(|row| !row.tool.starts_with("invigil") && !row.tool.starts_with("hand"));
    if let Some(best) = others.max_by(|a, b| a.rate().total_cmp(&b.rate())) {
        let ratio = slowest / best.rate();
        println!("  invigil at its slowest is {ratio:.1} times as fast as the best peer ({})", best.tool);
    }
}
