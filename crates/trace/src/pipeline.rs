//! Reading one input on several threads, with blocks delivered in order.
//!
//! Hand-written because `rayon` does not deliver in order, and results must not depend on the number of threads.
//!
//! One thread reads and decompresses chunks; the others decode them. The calling thread consumes the blocks in order if
//! the next one is ready, and otherwise decodes, so that no core is idle while there is work. The caller's code runs on
//! the calling thread only. That thread never reads: a block is delivered as soon as it is decoded, even if the next
//! line arrives much later, and a caller that breaks returns without delay.

use crate::block::{EventBlock, Progress};
use crate::block_reader::{BlockReader, first_bad_line};
use crate::chunks::Chunk;
use crate::decoder::Decoder;
use crate::error::TraceError;
use crate::options::ReadOptions;
use crate::schema::Schema;
use crate::source::{Layout, Source};
use crate::spawn::spawn;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// State shared by the threads.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Maximum number of chunks waiting for decoding, and of blocks waiting for consumption.
    ahead: usize,
}

#[derive(Default)]
struct State {
    chunks: VecDeque<(u64, Chunk)>,
    blocks: BTreeMap<u64, EventBlock>,
    /// Number of chunks being decoded.
    at_work: usize,
    spare_blocks: Vec<EventBlock>,
    spare_buffers: Vec<Vec<u8>>,
    /// Whether the reader has reached the end.
    read: bool,
    failed: Option<io::Error>,
    /// Whether the consumer has stopped.
    stopped: bool,
    panicked: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Body of the reading thread: reads all chunks.
    fn read(&self, mut source: Source) {
        for number in 0.. {
            let mut state = self.lock();
            while state.chunks.len() >= self.ahead && !state.stopped {
                state = self.wait(state);
            }
            if state.stopped {
                return;
            }
            let buffer = state.spare_buffers.pop().unwrap_or_default();
            drop(state);
            let chunk = source.next(buffer);
            let mut state = self.lock();
            match chunk {
                Ok(Some(chunk)) => state.chunks.push_back((number, chunk)),
                Ok(None) => state.read = true,
                Err(error) => (state.read, state.failed) = (true, Some(error)),
            }
            let ended = state.read;
            drop(state);
            self.changed.notify_all();
            if ended {
                return;
            }
        }
    }

    /// Body of a decoding thread.
    fn help(&self, mut decoder: Decoder) {
        let mut state = self.lock();
        loop {
            let busy = state.blocks.len() >= self.ahead;
            if state.stopped || (state.read && state.chunks.is_empty()) {
                return;
            }
            if !busy && let Some((number, chunk)) = state.chunks.pop_front() {
                state = self.decode(state, number, chunk, &mut decoder);
            } else {
                state = self.wait(state);
            }
        }
    }

    fn decode<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        number: u64,
        chunk: Chunk,
        decoder: &mut Decoder,
    ) -> MutexGuard<'a, State> {
        let mut block = state.spare_blocks.pop().unwrap_or_default();
        state.at_work += 1;
        drop(state);
        // Wake the reader: a chunk was taken from the queue.
        self.changed.notify_all();
        decoder.decode(chunk, &mut block);
        let mut state = self.lock();
        state.at_work -= 1;
        state.blocks.insert(number, block);
        self.changed.notify_all();
        state
    }

    /// The next block in order, decoding others while it is not ready; `None` at the end.
    fn next(&self, number: u64, decoder: &mut Decoder) -> Option<EventBlock> {
        let mut state = self.lock();
        loop {
            if state.panicked {
                return None;
            }
            if let Some(block) = state.blocks.remove(&number) {
                drop(state);
                self.changed.notify_all();
                return Some(block);
            }
            // If enough blocks are waiting, decode only the chunk that is needed next.
            let first = state.chunks.front().map(|(first, _)| *first);
            let useful = state.blocks.len() < self.ahead || first == Some(number);
            if useful && let Some((number, chunk)) = state.chunks.pop_front() {
                state = self.decode(state, number, chunk, decoder);
            } else if state.read && state.at_work == 0 && state.chunks.is_empty() {
                return None;
            } else {
                state = self.wait(state);
            }
        }
    }

    /// Returns a consumed block for reuse.
    fn recycle(&self, mut block: EventBlock) {
        let buffer = block.recycle();
        let mut state = self.lock();
        state.spare_blocks.push(block);
        state.spare_buffers.push(buffer);
    }
}

/// Guard that notifies the other threads when a thread ends, also by a panic.
struct ThreadEndGuard<'a> {
    shared: &'a Shared,
    consumer: bool,
}

impl Drop for ThreadEndGuard<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.stopped |= self.consumer;
        state.panicked |= thread::panicking();
        drop(state);
        self.shared.changed.notify_all();
    }
}

/// Result of reading an input: continue, stopped by the consumer, or failed.
pub(crate) type ReadResult = Result<ControlFlow<()>, TraceError>;

/// Reads a source on `options.threads` threads and a reader thread, until `each` breaks.
pub(crate) fn run(
    source: Source,
    schema: &Schema,
    options: &ReadOptions,
    mut each: impl FnMut(&EventBlock) -> ControlFlow<()>,
) -> ReadResult {
    let (layout, name) = (source.layout.clone(), source.name.clone());
    let compression = source.compression;
    let mut progress = Progress::after(source.lines_before);
    let ahead = 4 * options.thread_count();
    let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new(), ahead });
    let threads = match start(&shared, Box::new(source), &layout, schema, options) {
        Ok(threads) => threads,
        // Without a reader thread, the calling thread reads and decodes.
        Err(source) => return BlockReader::of(*source, 0, schema, options).run(each),
    };
    let ending = ThreadEndGuard { shared: &shared, consumer: true };
    let mut decoder = Decoder::new(&layout, 0, schema, options);
    for number in 0.. {
        let Some(mut block) = shared.next(number, &mut decoder) else { break };
        progress.settle(&mut block);
        if each(&block).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if options.strict
            && let Some(error) = first_bad_line(&name, block.line_errors())
        {
            return Err(error);
        }
        shared.recycle(block);
    }
    drop(ending);
    let mut state = shared.lock();
    if state.panicked {
        drop(state);
        for thread in threads {
            if let Err(panic) = thread.join() {
                resume_unwind(panic);
            }
        }
        return Ok(ControlFlow::Continue(()));
    }
    match state.failed.take() {
        Some(source) => Err(TraceError::Read { name, line: progress.line, compression, source }),
        None => Ok(ControlFlow::Continue(())),
    }
}

/// Starts as many threads as possible. Returns the source if the reader thread cannot be created.
fn start(
    shared: &Arc<Shared>,
    source: Box<Source>,
    layout: &Layout,
    schema: &Schema,
    options: &ReadOptions,
) -> Result<Vec<JoinHandle<()>>, Box<Source>> {
    let reader = Arc::clone(shared);
    let reading = spawn(source, move |source| {
        let _ending = ThreadEndGuard { shared: &reader, consumer: false };
        reader.read(*source);
    })?;
    let mut threads = vec![reading];
    for _ in 1..options.thread_count() {
        let helper = Arc::clone(shared);
        let decoder = Decoder::new(layout, 0, schema, options);
        let helping = spawn(decoder, move |decoder| {
            let _ending = ThreadEndGuard { shared: &helper, consumer: false };
            helper.help(decoder);
        });
        match helping {
            Ok(thread) => threads.push(thread),
            Err(_) => break,
        }
    }
    Ok(threads)
}
