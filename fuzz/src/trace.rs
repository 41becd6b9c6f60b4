//! Traces: any bytes, in each format, in pieces of any size.

use invigil_monitor::event::{EventCatalog, EventKind, Param, ParamSource, ParamType};
use invigil_trace::{Format, Input, LineErrors, ReadEnd, ReadOptions, Schema, TraceError, read};
use std::io::Cursor;
use std::ops::ControlFlow;
use std::sync::OnceLock;

/// Longer lines are skipped: short enough for an input to have some.
const LINE: usize = 3000;

pub(crate) fn json(data: &[u8]) {
    run(data, Format::JsonLines);
}

pub(crate) fn csv(data: &[u8]) {
    run(data, Format::Csv);
}

pub(crate) fn line(data: &[u8]) {
    run(data, Format::Line);
}

/// Any bytes are read without a panic, and what is read does not depend on how much is read at a time or by
/// how many threads. A strict reader refuses just what another skips.
fn run(data: &[u8], format: Format) {
    let options =
        |block| ReadOptions { format: Some(format), threads: 1, block, max_line: LINE, strict: false };
    let whole = all(data, &options(64 << 10));
    for block in [1, 64, 1 << 10] {
        // A byte at a time only what is short: it takes long.
        if block > 1 || data.len() <= 200 {
            whole.agrees(&all(data, &options(block)), &format!("reading {block} bytes at a time"));
        }
    }
    // Threads take longer to start than most inputs to read.
    if data.len() % 16 == 15 {
        let threads = ReadOptions { threads: 3, ..options(256) };
        whole.agrees(&all(data, &threads), "reading on several threads");
    }
    all(data, &ReadOptions { format: None, ..options(1 << 10) });
    let strict = all(data, &ReadOptions { strict: true, ..options(1 << 10) });
    match (whole.line_errors.is_empty(), whole.ended.as_str()) {
        (true, _) => whole.agrees(&strict, "a strict reader of what is right"),
        (false, "finished") => assert_eq!(strict.ended, "strict", "a strict reader of what is wrong"),
        (false, _) => {}
    }
}

/// All that there is to say of a trace.
#[derive(Debug, PartialEq)]
struct Seen {
    events: Vec<String>,
    ignored: u64,
    lines: u64,
    out_of_order: u64,
    line_errors: LineErrors,
    ended: String,
}

impl Seen {
    /// Whether the end was reached. Compressed data may be damaged, and then a decompressor gives more or less
    /// of what was before the damage.
    fn is_complete(&self) -> bool {
        !self.ended.contains("data is damaged") && !self.ended.contains("data ends too early")
    }

    fn agrees(&self, other: &Seen, how: &str) {
        if self.is_complete() {
            assert_eq!(self, other, "{how}");
        } else {
            let both = self.events.len().min(other.events.len());
            assert_eq!(self.events[..both], other.events[..both], "{how}");
            assert!(!other.is_complete() || other.ended != "finished", "{how}: damage was not noticed");
        }
    }
}

fn all(data: &[u8], options: &ReadOptions) -> Seen {
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
            let (event, stamp) = (block.batch.event(at), block.batch.meta(at));
            let symbol = catalog.get(event.id).expect("an event of the catalog");
            assert_eq!(event.params.len(), symbol.params.len());
            let params = event.params.iter().map(|value| match value.as_text() {
                Some((start, len)) => event.text[start as usize..][..len as usize].to_owned(),
                None => format!("{:?}", value.bits()),
            });
            let params: Vec<String> = params.collect();
            let time = stamp.time.to_bits();
            events.push(format!("{} {symbol} {time} {params:?}", block.place(at).line));
        }
        ControlFlow::Continue(())
    });
    assert_eq!(summary.events, events.len() as u64);
    let ended = match summary.end {
        ReadEnd::Finished => "finished".to_owned(),
        ReadEnd::Stopped => "stopped".to_owned(),
        ReadEnd::Failed(TraceError::Strict { problem, .. }) => {
            assert!(!problem.to_string().is_empty());
            "strict".to_owned()
        }
        ReadEnd::Failed(error) => error.to_string(),
    };
    Seen {
        events,
        ignored: summary.ignored,
        lines: summary.lines,
        out_of_order: summary.out_of_order,
        line_errors: summary.line_errors,
        ended,
    }
}

/// Events with parameters of every type and from every source.
fn catalog() -> EventCatalog {
    let name = |name: &str| ParamSource::Name(name.to_owned());
    let mut catalog = EventCatalog::default();
    let mut add = |event: &str, kind: EventKind, params: Vec<(ParamSource, Option<ParamType>)>| {
        let symbol = catalog.declare(event, kind);
        for (source, ty) in params {
            catalog.declare_param(symbol, &Param { name: source.to_string(), source, ty });
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
