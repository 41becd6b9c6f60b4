//! The trace that all tools check, in every format.

use invigil_benches::Random;
use invigil_monitor::event::EventKind;
use invigil_trace::{FieldValue, Format, TraceEvent, TraceWriter};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// The property of figure 5.6, without the action of its state `sink`, which only prints.
pub(crate) const PROPERTY: &str = r#"slice on queue

initialization {
    N = 0
    maxSize = 0
}

state init accepting {
    transition {
        event queue_new(queue, size: int) { maxSize = size - 1 }
        success queue_ready
    }
}

state queue_ready accepting {
    transition {
        event queue_push(queue) { return N < maxSize }
        success {
            N = N + 1
            print("nb elem: " + str(N))
        } queue_ready
        failure sink
    }

    transition {
        event queue_pop(queue) { return N > 0 }
        success {
            N = N - 1
            print("nb elem: " + str(N))
        } queue_ready
        failure sink
    }
}

state sink non-accepting
"#;

/// One event of the trace.
#[derive(Clone, Copy)]
pub(crate) enum Op {
    New { queue: u64, size: u64 },
    Push { queue: u64 },
    Pop { queue: u64 },
}

/// The trace in memory and in temporary files.
pub(crate) struct Workload {
    pub(crate) ops: Vec<Op>,
    pub(crate) folder: PathBuf,
    pub(crate) jsonl: PathBuf,
    pub(crate) csv: PathBuf,
    pub(crate) lines: PathBuf,
}

impl Workload {
    pub(crate) fn generate(events: u64, queues: u64) -> io::Result<Workload> {
        let folder = std::env::temp_dir().join(format!("invigil-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let workload = Workload {
            ops: operations(events, queues),
            jsonl: folder.join("trace.jsonl"),
            csv: folder.join("trace.csv"),
            lines: folder.join("trace.txt"),
            folder,
        };
        workload.write(&workload.jsonl, Format::JsonLines)?;
        workload.write(&workload.lines, Format::PlainLines)?;
        workload.write_table()?;
        Ok(workload)
    }

    /// A CSV table with only the needed columns.
    fn write_table(&self) -> io::Result<()> {
        let mut file = BufWriter::with_capacity(1 << 20, File::create(&self.csv)?);
        writeln!(file, "event,queue,size")?;
        for op in &self.ops {
            match *op {
                Op::New { queue, size } => writeln!(file, "queue_new,{queue},{size}")?,
                Op::Push { queue } => writeln!(file, "queue_push,{queue},")?,
                Op::Pop { queue } => writeln!(file, "queue_pop,{queue},")?,
            }
        }
        file.flush()
    }

    fn write(&self, path: &PathBuf, format: Format) -> io::Result<()> {
        let file = BufWriter::with_capacity(1 << 20, File::create(path)?);
        let mut writer = TraceWriter::new(file, format, &["queue", "size"])?;
        for op in &self.ops {
            let (name, queue, size) = match *op {
                Op::New { queue, size } => ("queue_new", queue, Some(size)),
                Op::Push { queue } => ("queue_push", queue, None),
                Op::Pop { queue } => ("queue_pop", queue, None),
            };
            let mut params = vec![("queue", FieldValue::Int(queue as i64))];
            params.extend(size.map(|size| ("size", FieldValue::Int(size as i64))));
            writer.write(&TraceEvent {
                name,
                kind: EventKind::Before,
                time: None,
                thread: None,
                program: None,
                params: &params,
            })?;
        }
        writer.finish()?;
        Ok(())
    }
}

impl Drop for Workload {
    fn drop(&mut self) {
        // A directory that cannot be removed is harmless.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Generates the operations: queues are created, then used at random within their sizes, except for 98 pops from empty
/// queues. A violated queue is not used again.
fn operations(events: u64, queues: u64) -> Vec<Op> {
    let mut random = Random::new(88_172_645_463_325_252);
    let name = |queue: u64| 93_824_992_252_512 + 64 * queue;
    // The property subtracts one from the given size.
    let room = |queue: u64| 1 + queue % 32;
    let mut ops: Vec<Op> =
        (0..queues).map(|queue| Op::New { queue: name(queue), size: room(queue) + 1 }).collect();
    let mut filled = vec![0u64; queues as usize];
    let mut broken = vec![false; queues as usize];
    let mistakes = 98.min(queues / 10);
    let between = (events - queues) / (mistakes + 1);
    while (ops.len() as u64) < events {
        let queue = random.below(queues);
        let at = queue as usize;
        if broken[at] {
            continue;
        }
        let number = ops.len() as u64 - queues;
        let due = between > 0 && number / between > broken.iter().filter(|b| **b).count() as u64;
        if due && number % between < 64 && filled[at] == 0 {
            broken[at] = true;
            ops.push(Op::Pop { queue: name(queue) });
            continue;
        }
        let push = filled[at] == 0 || filled[at] < room(queue) && random.number() >> 40 & 1 == 0;
        if push {
            filled[at] += 1;
            ops.push(Op::Push { queue: name(queue) });
        } else {
            filled[at] -= 1;
            ops.push(Op::Pop { queue: name(queue) });
        }
    }
    ops
}
