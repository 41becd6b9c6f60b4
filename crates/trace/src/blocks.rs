//! One input, read block by block on the calling thread.

use crate::block::{Block, Progress};
use crate::decoder::Decoder;
use crate::error::TraceError;
use crate::input::Input;
use crate::options::Options;
use crate::pipeline::Ended;
use crate::problems::Problems;
use crate::schema::Schema;
use crate::source::Source;
use std::ops::ControlFlow;

/// Reads one trace, a block at a time.
///
/// ```
/// use invigil_monitor::event::{Catalog, Kind};
/// use invigil_trace::{Block, Blocks, Input, Options, Schema};
/// let mut catalog = Catalog::default();
/// catalog.symbol("pop", Kind::Before);
/// let input = Input::reader("example", std::io::Cursor::new("push()\npop()\n"));
/// let mut blocks = Blocks::open(input, &Schema::new(&catalog), &Options::default())?;
/// let mut block = Block::default();
/// assert!(blocks.fill(&mut block)?);
/// assert_eq!(block.batch.len(), 1);
/// assert_eq!(block.place(0).line, 2);
/// assert!(!blocks.fill(&mut block)?);
/// # Ok::<(), invigil_trace::TraceError>(())
/// ```
pub struct Blocks {
    source: Source,
    decoder: Decoder,
    progress: Progress,
    strict: bool,
    /// The bad line that ends the reading, once the events before it were delivered.
    failed: Option<TraceError>,
}

impl Blocks {
    /// Opens an input and finds out its format.
    ///
    /// # Errors
    /// If it cannot be opened, or is not a trace.
    pub fn open(input: Input, schema: &Schema, options: &Options) -> Result<Blocks, TraceError> {
        Ok(Blocks::of(Source::open(input, schema, options)?, 0, schema, options))
    }

    /// The blocks of a source, which is the input at this position.
    pub(crate) fn of(source: Source, number: usize, schema: &Schema, options: &Options) -> Blocks {
        let decoder = Decoder::new(&source.layout, number, schema, options);
        let progress = Progress::after(source.lines_before);
        Blocks { source, decoder, progress, strict: options.strict, failed: None }
    }

    /// Replaces the contents of `block` by the next lines; `false` at the end.
    ///
    /// # Errors
    /// If the input cannot be read on, or, in strict mode, after the block that a bad line ends.
    pub fn fill(&mut self, block: &mut Block) -> Result<bool, TraceError> {
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
                    self.strict.then(|| first_bad_line(&self.source.name, block.problems())).flatten();
                Ok(true)
            }
            Err(error) => Err(self.source.read_error(self.progress.line, error)),
        }
    }

    /// Hands every block to `each`, until that breaks off.
    pub(crate) fn run(mut self, mut each: impl FnMut(&Block) -> ControlFlow<()>) -> Ended {
        let mut block = Block::default();
        while self.fill(&mut block)? {
            if each(&block).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The error that a bad line is in strict mode.
pub(crate) fn first_bad_line(name: &str, problems: &Problems) -> Option<TraceError> {
    let problem = problems.first().first()?.clone();
    Some(TraceError::Strict { name: name.to_owned(), problem })
}
