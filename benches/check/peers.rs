//! The usual alternatives: scripts and database queries. Tools that are not installed are skipped and listed.
//! `benches/README.md` describes how to install them.

use crate::workload::Workload;
use crate::{Row, hand};
use invigil_benches::best_of;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Maximum number of lines of the trace for slow tools.
const MAX_LINES: usize = 1_000_000;
const MAX_RTLOLA_EVENTS: usize = 20_000;

const PYTHON: &str = r#"
import sys
try:
    from orjson import loads
except ImportError:
    from json import loads
filled, room, broken, violations = {}, {}, set(), 0
for line in open(sys.argv[1], 'rb'):
    e = loads(line)
    name, q = e['event'], e['queue']
    if name == 'queue_new':
        filled[q], room[q] = 0, e['size'] - 1
    elif q in broken:
        pass
    elif name == 'queue_push':
        if filled[q] < room[q]: filled[q] += 1
        else: broken.add(q); violations += 1
    else:
        if filled[q] > 0: filled[q] -= 1
        else: broken.add(q); violations += 1
print(violations)
"#;

const AWK: &str = r#"
BEGIN { FS = "," }
NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; q = col["queue"]; s = col["size"]; next }
$1 == "queue_new" { n[$q] = 0; room[$q] = $s - 1; next }
$q in broken { next }
$1 == "queue_push" { if (n[$q] < room[$q]) n[$q]++; else { broken[$q] = 1; v++ }; next }
{ if (n[$q] > 0) n[$q]--; else { broken[$q] = 1; v++ } }
END { print v + 0 }
"#;

/// The property in SQL: a running sum per queue. A queue is violated when its sum leaves its bounds.
const SQL: &str = "
WITH steps AS (
  SELECT queue, size, sum(CASE event WHEN 'queue_push' THEN 1 WHEN 'queue_pop' THEN -1 ELSE 0 END)
    OVER (PARTITION BY queue ORDER BY nr ROWS UNBOUNDED PRECEDING) AS n FROM trace),
rooms AS (SELECT queue, max(size) - 1 AS room FROM trace WHERE event = 'queue_new' GROUP BY queue)
SELECT count(DISTINCT steps.queue) FROM steps JOIN rooms ON steps.queue = rooms.queue
WHERE n < 0 OR n > room;
";

const LOLA: &str = r#"
input event: Int64
input queue: Int64
input size: Int64
output room(q: Int64) spawn when event = 0 with queue
    eval when queue = q && event = 0 with size - 1
output n(q: Int64) spawn when event = 0 with queue
    eval when queue = q with n(q).last(or: 0) + (if event = 1 then 1 else (if event = 2 then -1 else 0))
trigger(q: Int64) spawn when event = 0 with queue
    eval when queue = q && (n(q).hold(or: 0) < 0 || n(q).hold(or: 0) > room(q).hold(or: 99)) with "violated"
"#;

pub(crate) fn run(workload: &Workload) -> Vec<Row> {
    let folder = &workload.folder;
    let mut rows = Vec::new();
    let mut absent = Vec::new();
    let all = workload.ops.len();
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map(|()| path)
    };
    let part = |of: &Path, lines: usize| head(of, lines).map(|path| (path, lines.min(all)));

    if let (Ok(script), Ok((trace, events))) =
        (write("peer.py", PYTHON), part(&workload.jsonl, 2 * MAX_LINES))
    {
        let mut python = Command::new("python3");
        python.arg(&script).arg(&trace);
        measure(workload, &mut rows, &mut absent, "Python script", "JSON Lines", events, python);
    }
    for awk in ["mawk", "gawk"] {
        if let (Ok(script), Ok((trace, events))) =
            (write("peer.awk", AWK), part(&workload.csv, 2 * MAX_LINES))
        {
            let mut command = Command::new(awk);
            command.arg("-f").arg(&script).arg(&trace);
            measure(workload, &mut rows, &mut absent, awk, "CSV", events, command);
        }
    }
    if let Ok((trace, events)) = part(&workload.csv, MAX_LINES) {
        let columns = fs::read_to_string(&trace)
            .ok()
            .and_then(|text| text.lines().next().map(|head| head.replace(',', " NUMERIC, ")))
            .unwrap_or_default();
        let script = format!(
            "CREATE TABLE raw({columns} NUMERIC);\n.mode csv\n.import --skip 1 {} raw\n.mode list\n\
             CREATE TABLE trace AS SELECT rowid AS nr, * FROM raw;\n{SQL}",
            trace.display()
        );
        if let Ok(script) = write("peer.sql", &script) {
            let mut sqlite = Command::new("sqlite3");
            sqlite.arg(":memory:").arg(format!(".read {}", script.display()));
            measure(workload, &mut rows, &mut absent, "SQLite", "CSV", events, sqlite);
        }
        let script = format!(
            "import duckdb\nduckdb.sql('SET threads TO 1')\nduckdb.sql(\"CREATE TABLE trace AS SELECT \
             row_number() OVER () AS nr, * FROM read_csv('{}')\")\nprint(duckdb.sql(\"\"\"{SQL}\"\"\").fetchall()[0][0])",
            trace.display()
        );
        if let Ok(script) = write("peer_duckdb.py", &script) {
            let mut duckdb = Command::new("python3");
            duckdb.arg(&script);
            measure(workload, &mut rows, &mut absent, "DuckDB", "CSV", events, duckdb);
        }
    }
    if let (Ok(specification), Ok((trace, events))) = (write("peer.lola", LOLA), rtlola_trace(workload)) {
        let mut rtlola = Command::new("rtlola-cli");
        rtlola.arg("monitor").arg(&specification).args(["--offline", "relative", "--csv-in"]).arg(&trace);
        measure(workload, &mut rows, &mut absent, "RTLola, 100 queues", "CSV", events, rtlola);
    }
    if !absent.is_empty() {
        println!("  not installed, skipped: {} (see benches/README.md)", absent.join(", "));
    }
    rows
}

/// Writes the first lines of a file to another file.
fn head(path: &Path, lines: usize) -> std::io::Result<PathBuf> {
    use std::io::{BufRead, BufReader, BufWriter, Write};
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{lines}"));
    let to = PathBuf::from(name);
    let mut out = BufWriter::new(fs::File::create(&to)?);
    for line in BufReader::new(fs::File::open(path)?).lines().take(lines + 1) {
        writeln!(out, "{}", line?)?;
    }
    out.flush()?;
    Ok(to)
}

/// RTLola slows down with every live queue, so it gets a hundred queues, in its own format.
fn rtlola_trace(workload: &Workload) -> std::io::Result<(PathBuf, usize)> {
    use crate::workload::Op;
    use std::fmt::Write;
    let mut text = String::from("event,queue,size,time\n");
    let mut events = 0;
    let limit = 93_824_992_252_512 + 64 * 100;
    for op in &workload.ops {
        let (event, queue, size) = match *op {
            Op::New { queue, size } => (0, queue, size),
            Op::Push { queue } => (1, queue, 0),
            Op::Pop { queue } => (2, queue, 0),
        };
        if queue < limit && events < MAX_RTLOLA_EVENTS {
            events += 1;
            let _ = writeln!(text, "{event},{queue},{size},{}", events as f64 / 1e6);
        }
    }
    let path = workload.folder.join("peer.rtlola.csv");
    fs::write(&path, text)?;
    Ok((path, events))
}

fn measure(
    workload: &Workload,
    rows: &mut Vec<Row>,
    absent: &mut Vec<String>,
    tool: &str,
    input: &'static str,
    events: usize,
    mut command: Command,
) {
    let (time, output) = best_of(2, || command.output());
    match output {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            let violations = text.lines().last().and_then(|line| line.trim().parse().ok());
            let tool =
                if events < workload.ops.len() { format!("{tool} ({events} events)") } else { tool.into() };
            let expected = violations.map(|_| hand::violations(&workload.ops[..events]));
            rows.push(Row { tool, input, events: events as u64, time, violations, expected });
        }
        _ => absent.push(tool.into()),
    }
}
