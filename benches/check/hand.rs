//! Hand-written checker for this property and these files: a scanner for the needed keys and a hash table of counters.
//! It is the upper bound for a general checker.

use crate::Row;
use crate::workload::{Op, Workload};
use invigil_benches::best_of;
use memchr::{memchr, memmem};
use rustc_hash::FxHashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

#[derive(Clone, Copy)]
struct Queue {
    filled: u32,
    room: u32,
    broken: bool,
}

#[derive(Default)]
struct Queues {
    queues: FxHashMap<u64, Queue>,
    violations: u64,
}

impl Queues {
    #[inline(always)]
    fn apply(&mut self, op: Op) {
        match op {
            Op::New { queue, size } => {
                self.queues.insert(queue, Queue { filled: 0, room: size as u32 - 1, broken: false });
            }
            Op::Push { queue } => self.change(queue, |q| q.filled < q.room, 1),
            Op::Pop { queue } => self.change(queue, |q| q.filled > 0, u32::MAX),
        }
    }

    #[inline(always)]
    fn change(&mut self, queue: u64, may: impl Fn(&Queue) -> bool, by: u32) {
        if let Some(queue) = self.queues.get_mut(&queue)
            && !queue.broken
        {
            if may(queue) {
                queue.filled = queue.filled.wrapping_add(by);
            } else {
                queue.broken = true;
                self.violations += 1;
            }
        }
    }
}

/// Counts the queues that a sequence of operations violates.
pub(crate) fn violations(ops: &[Op]) -> u64 {
    let mut queues = Queues::default();
    ops.iter().for_each(|op| queues.apply(*op));
    queues.violations
}

pub(crate) fn run(workload: &Workload) -> Vec<Row> {
    let events = workload.ops.len() as u64;
    let row = |input, (time, violations)| Row {
        tool: "hand-written Rust".into(),
        input,
        events,
        time,
        violations: Some(violations),
        expected: Some(self::violations(&workload.ops)),
    };
    vec![
        row(
            "memory",
            best_of(5, || {
                let mut queues = Queues::default();
                workload.ops.iter().for_each(|op| queues.apply(*op));
                queues.violations
            }),
        ),
        row("JSON Lines", best_of(5, || scan(&workload.jsonl, json))),
        row("CSV", best_of(5, || scan(&workload.csv, csv))),
    ]
}

/// Reads a file in blocks and passes on its lines.
fn scan(path: &Path, parse: impl Fn(&[u8]) -> Option<Op>) -> u64 {
    let mut queues = Queues::default();
    let Ok(mut file) = File::open(path) else { return 0 };
    let mut buffer = vec![0u8; 1 << 20];
    let mut kept = 0;
    while let Ok(read) = file.read(&mut buffer[kept..]) {
        let filled = kept + read;
        let mut at = 0;
        while let Some(end) = memchr(b'\n', &buffer[at..filled]) {
            if let Some(op) = parse(&buffer[at..at + end]) {
                queues.apply(op);
            }
            at += end + 1;
        }
        buffer.copy_within(at..filled, 0);
        kept = filled - at;
        if read == 0 {
            break;
        }
    }
    queues.violations
}

fn number(text: &[u8]) -> u64 {
    text.iter().take_while(|b| b.is_ascii_digit()).fold(0, |n, b| n * 10 + u64::from(b - b'0'))
}

/// The number after a key; keys occur in any order.
fn after(line: &[u8], key: &[u8]) -> Option<u64> {
    let at = memmem::find(line, key)? + key.len();
    let digits = line[at..].iter().position(u8::is_ascii_digit)?;
    Some(number(&line[at + digits..]))
}

fn operation(name: &[u8], queue: u64, size: impl FnOnce() -> Option<u64>) -> Option<Op> {
    match name {
        b"queue_new" => Some(Op::New { queue, size: size()? }),
        b"queue_push" => Some(Op::Push { queue }),
        b"queue_pop" => Some(Op::Pop { queue }),
        _ => None,
    }
}

fn json(line: &[u8]) -> Option<Op> {
    let at = memmem::find(line, b"\"event\"")? + 7;
    let start = at + memchr(b'"', &line[at..])? + 1;
    let end = start + memchr(b'"', &line[start..])?;
    operation(&line[start..end], after(line, b"\"queue\"")?, || after(line, b"\"size\""))
}

fn csv(line: &[u8]) -> Option<Op> {
    let mut cells = line.split(|b| *b == b',');
    let name = cells.next()?;
    // The event, then any other fields, then queue and size.
    let mut numbers = cells.filter(|cell| cell.first().is_some_and(u8::is_ascii_digit)).map(number);
    operation(name, numbers.next()?, || numbers.next())
}
