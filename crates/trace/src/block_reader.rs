//! Reading one input block by block on the calling thread.

use crate::block::{EventBlock, Progress};
use crate::decoder::Decoder;
use crate::error::TraceError;
use crate::input::Input;
use crate::line_errors::LineErrors;
use crate::options::ReadOptions;
use crate::pipeline::ReadResult;
use crate::schema::Schema;
use crate::source::Source;
use std::ops::ControlFlow;

/// Reader of one trace, a block at a time.
///
/// ```
/// use invigil_monitor::event::{EventCatalog, EventKind};
/// use invigil_trace::{EventBlock, BlockReader, Input, ReadOptions, Schema};
/// let mut catalog = EventCatalog::default();
/// catalog.declare("pop", EventKind::Before);
/// let input = Input::reader("example", std::io::Cursor::new("push()\npop()\n"));
/// let mut blocks = BlockReader::open(input, &Schema::new(&catalog), &ReadOptions::default())?;
/// let mut block = EventBlock::default();
/// assert!(blocks.fill(&mut block)?);
/// assert_eq!(block.batch.len(), 1);
/// assert_eq!(block.place(0).line, 2);
/// assert!(!blocks.fill(&mut block)?);
/// # Ok::<(), invigil_trace::TraceError>(())
/// ```
pub struct BlockReader {
    source: Source,
    decoder: Decoder,
    progress: Progress,
    strict: bool,
    /// The malformed line that ends the reading, reported after the events before it.
    failed: Option<TraceError>,
}

impl BlockReader {
    /// Opens an input and detects its format.
    ///
    /// # Errors
    /// If the input cannot be opened or is not a trace.
    pub fn open(input: Input, schema: &Schema, options: &ReadOptions) -> Result<BlockReader, TraceError> {
        Ok(BlockReader::of(Source::open(input, schema, options)?, 0, schema, options))
    }

    /// Creates a reader for a source, which is input number `number`.
    pub(crate) fn of(source: Source, number: usize, schema: &Schema, options: &ReadOptions) -> BlockReader {
        let decoder = Decoder::new(&source.layout, number, schema, options);
        let progress = Progress::after(source.lines_before);
        BlockReader { source, decoder, progress, strict: options.strict, failed: None }
    }

    /// Replaces the contents of `block` by the next lines; `false` at the end.
    ///
    /// # Errors
    /// If reading fails, or, in strict mode, after the block that a malformed line ends.
    pub fn fill(&mut self, block: &mut EventBlock) -> Result<bool, TraceError> {
        let buffer = block.recycle();
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        match self.source.next(buffer) {
            Ok(None) => Ok(false),
            Ok(Some(chunk)) => {
                self.decoder.decode(chunk, block);
                self.progress.settle(block);
                self.failed =
                    self.strict.then(|| first_bad_line(&self.source.name, block.line_errors())).flatten();
                Ok(true)
            }
            Err(error) => Err(self.source.read_error(self.progress.line, error)),
        }
    }

    /// Passes every block to `each`, until it breaks.
    pub(crate) fn run(mut self, mut each: impl FnMut(&EventBlock) -> ControlFlow<()>) -> ReadResult {
        let mut block = EventBlock::default();
        while self.fill(&mut block)? {
            if each(&block).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The error for the first malformed line, in strict mode.
pub(crate) fn first_bad_line(name: &str, line_errors: &LineErrors) -> Option<TraceError> {
    let problem = line_errors.first().first()?.clone();
    Some(TraceError::Strict { name: name.to_owned(), problem })
}
