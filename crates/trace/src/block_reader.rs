//! Reading one input block by block on the calling thread.

use crate::block::{DeliveryPosition, EventBlock};
use crate::decoder::Decoder;
use crate::error::TraceError;
use crate::input::Input;
use crate::line_errors::LineErrors;
use crate::open_trace::OpenTrace;
use crate::options::ReadOptions;
use crate::pipeline::ReadResult;
use crate::schema::Schema;
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
/// assert_eq!(block.position(0).line, 2);
/// assert!(!blocks.fill(&mut block)?);
/// # Ok::<(), invigil_trace::TraceError>(())
/// ```
pub struct BlockReader {
    trace: OpenTrace,
    decoder: Decoder,
    position: DeliveryPosition,
    strict: bool,
    /// The error that ends the reading, reported after the events before it.
    pending_error: Option<TraceError>,
}

impl BlockReader {
    /// Opens an input and detects its format.
    ///
    /// # Errors
    /// If the input cannot be opened or is not a trace.
    pub fn open(input: Input, schema: &Schema, options: &ReadOptions) -> Result<BlockReader, TraceError> {
        Ok(BlockReader::new(OpenTrace::open(input, schema, options)?, 0, schema, options))
    }

    /// Creates a reader for an open trace, which is input number `number`.
    pub(crate) fn new(
        trace: OpenTrace,
        number: usize,
        schema: &Schema,
        options: &ReadOptions,
    ) -> BlockReader {
        let decoder = Decoder::new(&trace.format, number, schema, options);
        let position = DeliveryPosition::after(trace.lines_before);
        BlockReader { trace, decoder, position, strict: options.strict, pending_error: None }
    }

    /// Replaces the contents of `block` by the next lines; `false` at the end.
    ///
    /// # Errors
    /// If reading fails, or, in strict mode, after the block that a malformed line ends.
    pub fn fill(&mut self, block: &mut EventBlock) -> Result<bool, TraceError> {
        let buffer = block.recycle();
        if let Some(error) = self.pending_error.take() {
            return Err(error);
        }
        match self.trace.next(buffer) {
            Ok(None) => Ok(false),
            Ok(Some(chunk)) => {
                self.decoder.decode(chunk, block);
                self.position.number_lines(block);
                self.pending_error =
                    self.strict.then(|| strict_error(&self.trace.name, block.line_errors())).flatten();
                Ok(true)
            }
            Err(error) => Err(self.trace.read_error(self.position.line, error)),
        }
    }

    /// Passes every block to `deliver`, until it breaks.
    pub(crate) fn run(mut self, mut deliver: impl FnMut(&EventBlock) -> ControlFlow<()>) -> ReadResult {
        let mut block = EventBlock::default();
        while self.fill(&mut block)? {
            if deliver(&block).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The error for the first malformed line, in strict mode.
pub(crate) fn strict_error(name: &str, line_errors: &LineErrors) -> Option<TraceError> {
    let error = line_errors.first().first()?.clone();
    Some(TraceError::Strict { name: name.to_owned(), error })
}
