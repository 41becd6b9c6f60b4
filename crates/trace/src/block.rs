//! A block: what became of a run of lines.

use crate::fault::Fault;
use crate::problems::{Place, Problems};
use invigil_expr::value::Value;
use invigil_monitor::event::{Batch, Stamp, SymbolId};

/// The events of some lines of a trace, in order, with what else there is to say of those lines.
#[derive(Debug, Default)]
pub struct Block {
    /// The events that the catalog knows.
    pub batch: Batch,
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
    pub(crate) ignored: u64,
    pub(crate) problems: Problems,
    pub(crate) input: usize,
    pub(crate) first_line: u64,
    pub(crate) offset: u64,
    /// Where each event came from, if the block was merged from several inputs.
    pub(crate) origins: Vec<Place>,
    /// The positions of events that are the same record as the one before, in order: a record may be several.
    pub(crate) again: Vec<u32>,
    pub(crate) clock: Clock,
}

/// Whether time only goes forward.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub(crate) first: f64,
    pub(crate) last: f64,
    pub(crate) backwards: u64,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock { first: f64::NAN, last: f64::NAN, backwards: 0 }
    }
}

impl Clock {
    /// Notes the time of the next record, NaN if it has none.
    #[inline(always)]
    pub(crate) fn note(&mut self, time: f64) {
        if time.is_nan() {
            return;
        }
        if self.first.is_nan() {
            self.first = time;
        }
        self.backwards += u64::from(time < self.last);
        self.last = time;
    }

    /// Notes the records of a later block.
    pub(crate) fn append(&mut self, later: &Clock) {
        self.note(later.first);
        self.backwards += later.backwards;
        if !later.last.is_nan() {
            self.last = later.last;
        }
    }
}

impl Block {
    /// Where the event at position `at` of the batch was recorded.
    ///
    /// # Panics
    /// If there is no such event.
    #[inline]
    pub fn place(&self, at: usize) -> Place {
        match self.origins.get(at) {
            Some(origin) => *origin,
            None => Place { input: self.input, line: self.first_line + u64::from(self.batch.stamp(at).line) },
        }
    }

    /// How many records the events were.
    pub fn records(&self) -> u64 {
        (self.batch.len() - self.again.len()) as u64
    }

    /// Which of the block's records the event at position `at` of the batch is, counted from one; zero if it
    /// is the last of the block before.
    #[inline]
    pub fn number(&self, at: usize) -> u64 {
        (at + 1 - self.again.partition_point(|again| *again as usize <= at)) as u64
    }

    /// How many lines the block was made of.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// How many bytes those lines are, after decompression.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Where in its input the block begins, in bytes after decompression; zero for a merged block.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// How many records were well formed but of an event that the catalog does not know.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }

    /// The lines that were skipped, and the values that were left out.
    pub fn problems(&self) -> &Problems {
        &self.problems
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, symbol: SymbolId, params: &[Value], time: f64, line: u32) {
        self.batch.push(symbol, params, Stamp { time, line });
    }

    /// Counts what is wrong with line number `line` of the block.
    #[cold]
    pub(crate) fn fault(&mut self, line: u32, text: &[u8], fault: Fault) {
        self.problems.add(Place { input: self.input, line: u64::from(line) }, text, fault);
    }

    /// Empties the block, keeping its memory but for the text, which is handed out.
    pub(crate) fn recycle(&mut self) -> Vec<u8> {
        let text = std::mem::take(&mut self.batch.text).into_bytes();
        self.batch.clear();
        self.problems.clear();
        self.origins.clear();
        self.again.clear();
        (self.lines, self.bytes, self.ignored) = (0, 0, 0);
        (self.input, self.first_line, self.offset) = (0, 0, 0);
        self.clock = Clock::default();
        text
    }
}

/// How far an input has been read, in order: makes the line numbers of its blocks absolute.
#[derive(Debug)]
pub(crate) struct Progress {
    /// The number of the next line.
    pub(crate) line: u64,
    clock: Clock,
}

impl Progress {
    pub(crate) fn after(lines: u64) -> Progress {
        Progress { line: lines + 1, clock: Clock::default() }
    }

    /// Gives a block its place after all those before it.
    pub(crate) fn settle(&mut self, block: &mut Block) {
        block.first_line = self.line;
        block.problems.shift(self.line);
        self.line += block.lines;
        // The step from the last block into this one counts as this one's.
        let before = self.clock.backwards;
        self.clock.append(&block.clock);
        block.clock.backwards = self.clock.backwards - before;
    }
}
