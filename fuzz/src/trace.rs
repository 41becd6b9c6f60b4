//! Traces: any bytes, in each format, in pieces of any size.

use invigil_monitor::event::{Catalog, Kind, Param, Source, Type};
use invigil_trace::{End, Format, Input, Options, Problems, Schema, TraceError, read};
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
    let options = |block| Options { format: Some(format), threads: 1, block, max_line: LINE, strict: false };
    let whole = all(data, &options(64 << 10));
    for block in [1, 64, 1 << 10] {
        // A byte at a time only what is short: it takes long.
        if block > 1 || data.len() <= 200 {
            whole.agrees(&all(data, &options(block)), &format!("reading {block} bytes at a time"));
        }
    }
    // Threads take longer to start than most inputs to read.
    if data.len() % 16 == 15 {
        let threads = Options { threads: 3, ..options(256) };
        whole.agrees(&all(data, &threads), "reading on several threads");
    }
    all(data, &Options { format: None, ..options(1 << 10) });
    let strict = all(data, &Options { strict: true, ..options(1 << 10) });
    match (whole.problems.is_empty(), whole.ended.as_str()) {
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
    problems: Problems,
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

fn all(data: &[u8], options: &Options) -> Seen {
    static SCHEMA: OnceLock<(Catalog, Schema)> = OnceLock::new();
    let (catalog, schema) = SCHEMA.get_or_init(|| {
        let catalog = catalog();
        let schema = Schema::new(&catalog);
        (catalog, schema)
    });
    let input = Input::reader("fuzz", Cursor::new(data.to_vec()));
    let mut events = Vec::new();
    let summary = read(vec![input], schema, options, |block| {
        for at in 0..block.batch.len() {
            let (event, stamp) = (block.batch.event(at), block.batch.stamp(at));
            let symbol = catalog.get(event.symbol).expect("a symbol of the catalog");
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
        End::Finished => "finished".to_owned(),
        End::Stopped => "stopped".to_owned(),
        End::Failed(TraceError::Strict { problem, .. }) => {
            assert!(!problem.to_string().is_empty());
            "strict".to_owned()
        }
        End::Failed(error) => error.to_string(),
    };
    Seen {
        events,
        ignored: summary.ignored,
        lines: summary.lines,
        out_of_order: summary.out_of_order,
        problems: summary.problems,
        ended,
    }
}

/// Events with parameters of every type and from every source.
fn catalog() -> Catalog {
    let name = |name: &str| Source::Name(name.to_owned());
    let mut catalog = Catalog::default();
    let mut add = |event: &str, kind: Kind, params: Vec<(Source, Option<Type>)>| {
        let symbol = catalog.symbol(event, kind);
        for (source, ty) in params {
            catalog.param(symbol, &Param { name: source.to_string(), source, ty });
        }
    };
    add("push", Kind::Before, vec![(name("queue"), None), (name("c"), Some(Type::Str))]);
    add("pop", Kind::Before, vec![(name("queue"), Some(Type::Int))]);
    add("f", Kind::After, vec![(Source::Arg(1), Some(Type::Float)), (Source::Ret, Some(Type::Bool))]);
    add("g", Kind::Before, vec![(Source::Arg(2), None), (Source::Deref(Box::new(name("p"))), None)]);
    add("#join", Kind::Join, vec![(Source::Program, None), (Source::Thread, None), (Source::Time, None)]);
    catalog
}
