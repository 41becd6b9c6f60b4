//! Traces: any bytes, in each format, in chunks of any size.

use invigil_monitor::event::{EventCatalog, EventKind, Param, ParamSource, ParamType};
use invigil_trace::{Format, Input, LineErrors, ReadEnd, ReadOptions, Schema, TraceError, read};
use std::io::Cursor;
use std::ops::ControlFlow;
use std::sync::OnceLock;

/// Maximum length of a line: short enough that inputs exceed it.
const MAX_LINE: usize = 3000;

/// End of a read that failed in the decompressor.
const CORRUPT: &str = "corrupt";

pub(crate) fn json(data: &[u8]) {
    run(data, Format::JsonLines);
}

pub(crate) fn csv(data: &[u8]) {
    run(data, Format::Csv);
}

pub(crate) fn line(data: &[u8]) {
    run(data, Format::PlainLines);
}

/// No input causes a panic, and the result does not depend on the chunk size or the number of threads. A strict
/// reader rejects exactly the lines that a lenient one skips.
fn run(data: &[u8], format: Format) {
    let options = |chunk_bytes| ReadOptions {
        format: Some(format),
        threads: 1,
        chunk_bytes,
        max_line: MAX_LINE,
        strict: false,
    };
    let whole = read_all(data, &options(64 << 10));
    for chunk_bytes in [1, 64, 1 << 10] {
        // Only short inputs are read byte by byte, which is slow.
        if chunk_bytes > 1 || data.len() <= 200 {
            let chunked = read_all(data, &options(chunk_bytes));
            whole.assert_agrees(&chunked, &format!("reading {chunk_bytes} bytes at a time"));
        }
    }
    // Threads take longer to start than most inputs to read.
    if data.len() % 16 == 15 {
        let threads = ReadOptions { threads: 3, ..options(256) };
        whole.assert_agrees(&read_all(data, &threads), "reading on several threads");
    }
    read_all(data, &ReadOptions { format: None, ..options(1 << 10) });
    let strict = read_all(data, &ReadOptions { strict: true, ..options(1 << 10) });
    match (whole.line_errors.is_empty(), whole.end.as_str()) {
        (true, _) => whole.assert_agrees(&strict, "strict reading of a valid trace"),
        (false, "finished") => assert_eq!(strict.end, "strict", "strict reading of a malformed trace"),
        (false, _) => {}
    }
}

/// Everything observable about a trace.
#[derive(Debug, PartialEq)]
struct ReadResult {
    events: Vec<String>,
    ignored: u64,
    lines: u64,
    out_of_order: u64,
    line_errors: LineErrors,
    end: String,
}

impl ReadResult {
    /// Whether all data was decompressed. From corrupt data a decompressor may return more or less of what precedes
    /// the corrupt part.
    fn is_complete(&self) -> bool {
        self.end != CORRUPT
    }

    fn assert_agrees(&self, other: &ReadResult, how: &str) {
        if self.is_complete() {
            assert_eq!(self, other, "{how}");
        } else {
            let both = self.events.len().min(other.events.len());
            assert_eq!(self.events[..both], other.events[..both], "{how}");
            assert!(!other.is_complete() || other.end != "finished", "{how}: damage was not detected");
        }
    }
}

fn read_all(data: &[u8], options: &ReadOptions) -> ReadResult {
    static SCHEMA: OnceLock<(EventCatalog, Schema)> = OnceLock::new();
    let (catalog, schema) = SCHEMA.get_or_init(|| {
        let catalog = catalog();
        let schema = Schema::new(&catalog);
        (catalog, schema)
    });
    let input = Input::reader("fuzz", Cursor::new(data.to_vec()));
    let mut events = Vec::new();
    let summary = read(vec![input], schema, options, |block| {
        for at in 0..block.batch.len() {
            let (event, meta) = (block.batch.event(at), block.batch.meta(at));
            let decl = catalog.get(event.id).expect("an event of the catalog");
            assert_eq!(event.params.len(), decl.params.len());
            let params = event.params.iter().map(|value| match value.as_text() {
                Some((start, len)) => event.text[start as usize..][..len as usize].to_owned(),
                None => format!("{:?}", value.bits()),
            });
            let params: Vec<String> = params.collect();
            let time = meta.time.to_bits();
            events.push(format!("{} {decl} {time} {params:?}", block.position(at).line));
        }
        ControlFlow::Continue(())
    });
    assert_eq!(summary.events, events.len() as u64);
    let end = match summary.end {
        ReadEnd::Finished => "finished".to_owned(),
        ReadEnd::Stopped => "stopped".to_owned(),
        ReadEnd::Failed(TraceError::Strict { error, .. }) => {
            assert!(!error.to_string().is_empty());
            "strict".to_owned()
        }
        ReadEnd::Failed(TraceError::Read { compression: Some(_), .. }) => CORRUPT.to_owned(),
        ReadEnd::Failed(error) => error.to_string(),
    };
    ReadResult {
        events,
        ignored: summary.ignored,
        lines: summary.lines,
        out_of_order: summary.out_of_order,
        line_errors: summary.line_errors,
        end,
    }
}

/// Events with parameters of every type and from every source.
fn catalog() -> EventCatalog {
    let name = |name: &str| ParamSource::Name(name.to_owned());
    let mut catalog = EventCatalog::default();
    let mut add = |event: &str, kind: EventKind, params: Vec<(ParamSource, Option<ParamType>)>| {
        let id = catalog.declare(event, kind);
        for (source, ty) in params {
            catalog.declare_param(id, &Param { name: source.to_string(), source, ty });
        }
    };
    add("push", EventKind::Before, vec![(name("queue"), None), (name("c"), Some(ParamType::Str))]);
    add("pop", EventKind::Before, vec![(name("queue"), Some(ParamType::Int))]);
    add(
        "f",
        EventKind::After,
        vec![(ParamSource::Arg(1), Some(ParamType::Float)), (ParamSource::Ret, Some(ParamType::Bool))],
    );
    add(
        "g",
        EventKind::Before,
        vec![(ParamSource::Arg(2), None), (ParamSource::Deref(Box::new(name("p"))), None)],
    );
    add(
        "#join",
        EventKind::Join,
        vec![(ParamSource::Program, None), (ParamSource::Thread, None), (ParamSource::Time, None)],
    );
    catalog
}
