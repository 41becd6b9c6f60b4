//! Reading traces: the one function that does it all, and its summary.

use crate::block::Block;
use crate::blocks::Blocks;
use crate::error::TraceError;
use crate::format::Format;
use crate::input::Input;
use crate::merge;
use crate::options::Options;
use crate::pipeline::{self, Ended};
use crate::problems::Problems;
use crate::schema::Schema;
use crate::source::{Layout, Source};
use std::ops::ControlFlow;

/// What was read, all in all.
#[derive(Debug)]
pub struct Summary {
    /// How many records were events that the consumer was given.
    pub events: u64,
    /// How many records were of events that the catalog does not know.
    pub ignored: u64,
    /// How many lines there were, blank ones and a header included.
    pub lines: u64,
    /// How many bytes there were, after decompression.
    pub bytes: u64,
    /// The lines that were skipped, and those of which values were left out.
    pub problems: Problems,
    /// The format in which each input was read, in their order: the one that the options name, or else the one
    /// that its first line looks like. An input that could not be opened, and those after it, have none.
    pub formats: Vec<Format>,
    /// The columns of CSV files that nobody asks for.
    pub unread: Vec<String>,
    /// How many records were earlier than the one before them in the same input.
    pub out_of_order: u64,
    /// How it ended.
    pub end: End,
}

/// How the reading of a trace ended.
#[derive(Debug)]
pub enum End {
    /// All was read.
    Finished,
    /// The consumer had seen enough.
    Stopped,
    /// It could not be read on; what came before was delivered.
    Failed(TraceError),
}

impl Summary {
    fn opened(&mut self, source: &Source) {
        self.lines += source.lines_before;
        self.formats.push(source.layout.format());
        if let Layout::Csv(header) = &source.layout {
            self.unread.extend(header.unread.iter().cloned());
        }
    }

    fn add(&mut self, block: &Block) {
        self.events += block.records();
        self.ignored += block.ignored;
        self.lines += block.lines;
        self.bytes += block.bytes;
        self.problems.append(&block.problems);
        self.out_of_order += block.clock.backwards;
    }
}

/// Reads traces and hands their events to `each`, in order, a block at a time, until it breaks off. One
/// input is read in its own order; several are merged by time.
///
/// Blocks are decoded by `options.threads` threads; `each` runs on the calling one.
///
/// ```
/// use invigil_monitor::event::{Catalog, Kind, Param, Source};
/// use invigil_trace::{End, Input, Options, Schema, read};
/// use std::ops::ControlFlow;
///
/// let mut catalog = Catalog::default();
/// let push = catalog.symbol("push", Kind::Before);
/// catalog.param(push, &Param { source: Source::Name("queue".into()), name: "queue".into(), ty: None });
///
/// let trace = "{\"event\": \"push\", \"queue\": 7}\n{\"event\": \"pop\"}\nnonsense\n";
/// let inputs = vec![Input::reader("example.jsonl", std::io::Cursor::new(trace))];
/// let mut queues = Vec::new();
/// let summary = read(inputs, &Schema::new(&catalog), &Options::default(), |block| {
///     for i in 0..block.batch.len() {
///         queues.push((block.batch.event(i).params[0].as_int(), block.place(i).line));
///     }
///     ControlFlow::Continue(())
/// });
/// assert!(matches!(summary.end, End::Finished));
/// assert_eq!(queues, [(Some(7), 1)]);
/// assert_eq!((summary.ignored, summary.problems.count()), (1, 1));
/// assert_eq!(summary.problems.first()[0].place.line, 3);
/// ```
pub fn read(
    inputs: Vec<Input>,
    schema: &Schema,
    options: &Options,
    mut each: impl FnMut(&Block) -> ControlFlow<()>,
) -> Summary {
    let mut summary = Summary {
        events: 0,
        ignored: 0,
        lines: 0,
        bytes: 0,
        problems: Problems::default(),
        formats: Vec::new(),
        unread: Vec::new(),
        out_of_order: 0,
        end: End::Finished,
    };
    let ended = read_into(inputs, schema, options, &mut summary, &mut each);
    summary.end = match ended {
        Ok(ControlFlow::Continue(())) => End::Finished,
        Ok(ControlFlow::Break(())) => End::Stopped,
        Err(error) => End::Failed(error),
    };
    summary
}

/// How much of all inputs together is read at a time when they are merged, and the least of each.
const MERGED: usize = 4 << 20;
const SMALLEST: usize = 16 << 10;

fn read_into(
    mut inputs: Vec<Input>,
    schema: &Schema,
    options: &Options,
    summary: &mut Summary,
    each: &mut impl FnMut(&Block) -> ControlFlow<()>,
) -> Ended {
    if inputs.len() > 1 {
        // Several blocks of each input are in memory at a time: of many inputs, smaller ones.
        let block = options.block.min((MERGED / inputs.len()).max(SMALLEST));
        let options = &Options { block, ..options.clone() };
        let mut opened = Vec::new();
        for (number, input) in inputs.into_iter().enumerate() {
            let name = input.name().to_owned();
            let source = Source::open(input, schema, options)?;
            summary.opened(&source);
            opened.push((name, Blocks::of(source, number, schema, options)));
        }
        return merge::run(opened, options.thread_count(), |block| {
            summary.add(block);
            each(block)
        });
    }
    let Some(input) = inputs.pop() else { return Ok(ControlFlow::Continue(())) };
    let source = Source::open(input, schema, options)?;
    summary.opened(&source);
    let each = |block: &Block| {
        summary.add(block);
        each(block)
    };
    if options.thread_count() > 1 {
        pipeline::run(source, schema, options, each)
    } else {
        Blocks::of(source, 0, schema, options).run(each)
    }
}
