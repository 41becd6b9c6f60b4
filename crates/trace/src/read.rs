//! Reading traces: the function [`read`] and its summary.

use crate::block::EventBlock;
use crate::block_reader::BlockReader;
use crate::error::TraceError;
use crate::format::Format;
use crate::input::Input;
use crate::line_errors::LineErrors;
use crate::merge;
use crate::open_trace::{InputFormat, OpenTrace};
use crate::options::ReadOptions;
use crate::pipeline::{self, ReadResult};
use crate::schema::Schema;
use std::ops::ControlFlow;

/// Summary of a read.
#[derive(Debug)]
pub struct ReadSummary {
    /// Number of records delivered as events.
    pub events: u64,
    /// Number of records whose event is not in the catalog.
    pub ignored: u64,
    /// Number of lines, including blank lines and headers.
    pub lines: u64,
    /// Number of bytes, after decompression.
    pub bytes: u64,
    /// The malformed lines.
    pub line_errors: LineErrors,
    /// The format of each input, in order: from the options, or detected from its first line. An input that could not
    /// be opened and those after it have no entry.
    pub formats: Vec<Format>,
    /// The columns of CSV files that no property reads.
    pub unread_columns: Vec<String>,
    /// Number of records earlier than their predecessor in the same input.
    pub out_of_order: u64,
    /// How the reading ended.
    pub end: ReadEnd,
}

/// How the reading of a trace ended.
#[derive(Debug)]
pub enum ReadEnd {
    /// The trace was read to its end.
    Finished,
    /// The consumer stopped the reading.
    Stopped,
    /// Reading failed; the events before were delivered.
    Failed(TraceError),
}

impl ReadSummary {
    fn add_input(&mut self, trace: &OpenTrace) {
        self.lines += trace.lines_before;
        self.formats.push(trace.format.format());
        if let InputFormat::Csv(header) = &trace.format {
            self.unread_columns.extend(header.unread_columns.iter().cloned());
        }
    }

    fn add(&mut self, block: &EventBlock) {
        self.events += block.records();
        self.ignored += block.ignored;
        self.lines += block.lines;
        self.bytes += block.bytes;
        self.line_errors.append(&block.line_errors);
        self.out_of_order += block.time_order.backwards;
    }
}

/// Reads traces and passes their events to `deliver`, in order and in blocks, until it breaks. A single input is read in
/// its own order; several inputs are merged by time.
///
/// Blocks are decoded by `options.threads` threads; `deliver` runs on the calling one.
///
/// ```
/// use invigil_monitor::event::{EventCatalog, EventKind, Param, ParamSource};
/// use invigil_trace::{ReadEnd, Input, ReadOptions, Schema, read};
/// use std::ops::ControlFlow;
///
/// let mut catalog = EventCatalog::default();
/// let push = catalog.declare("push", EventKind::Before);
/// catalog.declare_param(push, &Param { source: ParamSource::Name("queue".into()), name: "queue".into(), ty: None });
///
/// let trace = "{\"event\": \"push\", \"queue\": 7}\n{\"event\": \"pop\"}\nnonsense\n";
/// let inputs = vec![Input::reader("example.jsonl", std::io::Cursor::new(trace))];
/// let mut queues = Vec::new();
/// let summary = read(inputs, &Schema::new(&catalog), &ReadOptions::default(), |block| {
///     for i in 0..block.batch.len() {
///         queues.push((block.batch.event(i).params[0].as_int(), block.position(i).line));
///     }
///     ControlFlow::Continue(())
/// });
/// assert!(matches!(summary.end, ReadEnd::Finished));
/// assert_eq!(queues, [(Some(7), 1)]);
/// assert_eq!((summary.ignored, summary.line_errors.count()), (1, 1));
/// assert_eq!(summary.line_errors.first()[0].position.line, 3);
/// ```
pub fn read(
    inputs: Vec<Input>,
    schema: &Schema,
    options: &ReadOptions,
    mut deliver: impl FnMut(&EventBlock) -> ControlFlow<()>,
) -> ReadSummary {
    let mut summary = ReadSummary {
        events: 0,
        ignored: 0,
        lines: 0,
        bytes: 0,
        line_errors: LineErrors::default(),
        formats: Vec::new(),
        unread_columns: Vec::new(),
        out_of_order: 0,
        end: ReadEnd::Finished,
    };
    let result = read_into(inputs, schema, options, &mut summary, &mut deliver);
    summary.end = match result {
        Ok(ControlFlow::Continue(())) => ReadEnd::Finished,
        Ok(ControlFlow::Break(())) => ReadEnd::Stopped,
        Err(error) => ReadEnd::Failed(error),
    };
    summary
}

/// Total chunk size of all inputs in a merge.
const MERGE_BYTES: usize = 4 << 20;

/// Minimum chunk size of an input in a merge.
const MIN_CHUNK_BYTES: usize = 16 << 10;

fn read_into(
    mut inputs: Vec<Input>,
    schema: &Schema,
    options: &ReadOptions,
    summary: &mut ReadSummary,
    deliver: &mut impl FnMut(&EventBlock) -> ControlFlow<()>,
) -> ReadResult {
    if inputs.len() > 1 {
        // Several blocks of each input are in memory at once, so the chunks of many inputs are smaller.
        let chunk_bytes = options.chunk_bytes.min((MERGE_BYTES / inputs.len()).max(MIN_CHUNK_BYTES));
        let options = &ReadOptions { chunk_bytes, ..options.clone() };
        let mut opened = Vec::new();
        for (number, input) in inputs.into_iter().enumerate() {
            let name = input.name().to_owned();
            let trace = OpenTrace::open(input, schema, options)?;
            summary.add_input(&trace);
            opened.push((name, BlockReader::new(trace, number, schema, options)));
        }
        return merge::run(opened, options.thread_count(), |block| {
            summary.add(block);
            deliver(block)
        });
    }
    let Some(input) = inputs.pop() else { return Ok(ControlFlow::Continue(())) };
    let trace = OpenTrace::open(input, schema, options)?;
    summary.add_input(&trace);
    let deliver = |block: &EventBlock| {
        summary.add(block);
        deliver(block)
    };
    if options.thread_count() > 1 {
        pipeline::run(trace, schema, options, deliver)
    } else {
        BlockReader::new(trace, 0, schema, options).run(deliver)
    }
}
