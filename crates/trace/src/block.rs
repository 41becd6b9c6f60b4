//! A block of events, decoded from consecutive lines.

use crate::line_error_kind::LineErrorKind;
use crate::line_errors::{LineErrors, TracePosition};
use invigil_expr::value::Value;
use invigil_monitor::event::{EventBatch, EventId, EventMeta};

/// The events of consecutive lines of a trace, in order, with counts and errors of these lines.
#[derive(Debug, Default)]
pub struct EventBlock {
    /// The events in the catalog.
    pub batch: EventBatch,
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
    pub(crate) ignored: u64,
    pub(crate) line_errors: LineErrors,
    pub(crate) input: usize,
    pub(crate) first_line: u64,
    pub(crate) offset: u64,
    /// The position of each event, if the block was merged from several inputs.
    pub(crate) origins: Vec<TracePosition>,
    /// Sorted indices of events that belong to the same record as their predecessor: a record may be several events.
    pub(crate) same_record_as_previous: Vec<u32>,
    pub(crate) time_order: TimeOrder,
}

/// Whether times increase: counts records whose time is earlier than that of their predecessor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeOrder {
    pub(crate) first: f64,
    pub(crate) last: f64,
    pub(crate) backwards: u64,
}

impl Default for TimeOrder {
    fn default() -> TimeOrder {
        TimeOrder { first: f64::NAN, last: f64::NAN, backwards: 0 }
    }
}

impl TimeOrder {
    /// Adds the time of the next record; NaN if it has none.
    #[inline(always)]
    pub(crate) fn add(&mut self, time: f64) {
        if time.is_nan() {
            return;
        }
        if self.first.is_nan() {
            self.first = time;
        }
        self.backwards += u64::from(time < self.last);
        self.last = time;
    }

    /// Appends the times of a later block.
    pub(crate) fn append(&mut self, later: &TimeOrder) {
        self.add(later.first);
        self.backwards += later.backwards;
        if !later.last.is_nan() {
            self.last = later.last;
        }
    }
}

impl EventBlock {
    /// Position in the trace of event number `event` of the batch.
    ///
    /// # Panics
    /// If there is no such event.
    #[inline]
    pub fn position(&self, event: usize) -> TracePosition {
        match self.origins.get(event) {
            Some(origin) => *origin,
            None => TracePosition {
                input: self.input,
                line: self.first_line + u64::from(self.batch.meta(event).line),
            },
        }
    }

    /// Number of records that the events represent.
    pub fn records(&self) -> u64 {
        (self.batch.len() - self.same_record_as_previous.len()) as u64
    }

    /// Number of the record of event number `event` within the block, counted from 1; 0 if it is the last record of the
    /// block before.
    #[inline]
    pub fn record_number(&self, event: usize) -> u64 {
        (event + 1 - self.same_record_as_previous.partition_point(|same| *same as usize <= event)) as u64
    }

    /// Number of lines of the block.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Size of these lines in bytes, after decompression.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Offset of the block in its input, in bytes after decompression; 0 for a merged block.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Number of valid records whose event is not in the catalog.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }

    /// The malformed lines.
    pub fn line_errors(&self) -> &LineErrors {
        &self.line_errors
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, event_id: EventId, params: &[Value], time: f64, line: u32) {
        self.batch.push(event_id, params, EventMeta { time, line });
    }

    /// Adds an error in line number `line` of the block.
    #[cold]
    pub(crate) fn add_line_error(&mut self, line: u32, text: &[u8], error: LineErrorKind) {
        self.line_errors.add(TracePosition { input: self.input, line: u64::from(line) }, text, error);
    }

    /// Clears the block for reuse, and returns its text buffer.
    pub(crate) fn recycle(&mut self) -> Vec<u8> {
        let text = std::mem::take(&mut self.batch.text).into_bytes();
        self.batch.clear();
        self.line_errors.clear();
        self.origins.clear();
        self.same_record_as_previous.clear();
        (self.lines, self.bytes, self.ignored) = (0, 0, 0);
        (self.input, self.first_line, self.offset) = (0, 0, 0);
        self.time_order = TimeOrder::default();
        text
    }
}

/// Position of the ordered delivery of an input. Makes the line numbers of blocks absolute.
#[derive(Debug)]
pub(crate) struct DeliveryPosition {
    /// The number of the next line.
    pub(crate) line: u64,
    time_order: TimeOrder,
}

impl DeliveryPosition {
    pub(crate) fn after(lines: u64) -> DeliveryPosition {
        DeliveryPosition { line: lines + 1, time_order: TimeOrder::default() }
    }

    /// Makes the line numbers of the next block absolute.
    pub(crate) fn number_lines(&mut self, block: &mut EventBlock) {
        block.first_line = self.line;
        block.line_errors.shift(self.line);
        self.line += block.lines;
        // A step backwards between two blocks is attributed to the later one.
        let before = self.time_order.backwards;
        self.time_order.append(&block.time_order);
        block.time_order.backwards = self.time_order.backwards - before;
    }
}
