//! Reading one input on several threads, with blocks delivered in order.
//!
//! Hand-written because `rayon` does not deliver in order, and results must not depend on the number of threads.
//!
//! One thread reads and decompresses chunks; the others decode them. The calling thread consumes the blocks in order if
//! the next one is ready, and otherwise decodes, so that no core is idle while there is work. The caller's code runs on
//! the calling thread only. That thread never reads: a block is delivered as soon as it is decoded, even if the next
//! line arrives much later, and a caller that breaks returns without delay.

use crate::block::{DeliveryPosition, EventBlock};
use crate::block_reader::{BlockReader, strict_error};
use crate::chunks::Chunk;
use crate::decoder::Decoder;
use crate::error::TraceError;
use crate::open_trace::{InputFormat, OpenTrace};
use crate::options::ReadOptions;
use crate::schema::Schema;
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
    max_waiting: usize,
}

#[derive(Default)]
struct State {
    chunks: VecDeque<(u64, Chunk)>,
    blocks: BTreeMap<u64, EventBlock>,
    /// Number of chunks being decoded.
    in_decoding: usize,
    spare_blocks: Vec<EventBlock>,
    spare_buffers: Vec<Vec<u8>>,
    /// Whether the reader thread has ended: at the end of the input, or by an error.
    reader_ended: bool,
    read_error: Option<io::Error>,
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

    /// Body of the reader thread: reads all chunks.
    fn read_chunks(&self, mut trace: OpenTrace) {
        for number in 0.. {
            let mut state = self.lock();
            while state.chunks.len() >= self.max_waiting && !state.stopped {
                state = self.wait(state);
            }
            if state.stopped {
                return;
            }
            let buffer = state.spare_buffers.pop().unwrap_or_default();
            drop(state);
            let chunk = trace.next(buffer);
            let mut state = self.lock();
            match chunk {
                Ok(Some(chunk)) => state.chunks.push_back((number, chunk)),
                Ok(None) => state.reader_ended = true,
                Err(error) => (state.reader_ended, state.read_error) = (true, Some(error)),
            }
            let reader_ended = state.reader_ended;
            drop(state);
            self.changed.notify_all();
            if reader_ended {
                return;
            }
        }
    }

    /// Body of a decoding thread.
    fn decode_chunks(&self, mut decoder: Decoder) {
        let mut state = self.lock();
        loop {
            let is_full = state.blocks.len() >= self.max_waiting;
            if state.stopped || (state.reader_ended && state.chunks.is_empty()) {
                return;
            }
            if !is_full && let Some((number, chunk)) = state.chunks.pop_front() {
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
        state.in_decoding += 1;
        drop(state);
        // Wake the reader: a chunk was taken from the queue.
        self.changed.notify_all();
        decoder.decode(chunk, &mut block);
        let mut state = self.lock();
        state.in_decoding -= 1;
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
            let may_decode = state.blocks.len() < self.max_waiting || first == Some(number);
            if may_decode && let Some((number, chunk)) = state.chunks.pop_front() {
                state = self.decode(state, number, chunk, decoder);
            } else if state.reader_ended && state.in_decoding == 0 && state.chunks.is_empty() {
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
    is_consumer: bool,
}

impl Drop for ThreadEndGuard<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.stopped |= self.is_consumer;
        state.panicked |= thread::panicking();
        drop(state);
        self.shared.changed.notify_all();
    }
}

/// Result of reading an input: continue, stopped by the consumer, or failed.
pub(crate) type ReadResult = Result<ControlFlow<()>, TraceError>;

/// Reads a trace on `options.threads` threads and a reader thread, until `deliver` breaks.
pub(crate) fn run(
    trace: OpenTrace,
    schema: &Schema,
    options: &ReadOptions,
    mut deliver: impl FnMut(&EventBlock) -> ControlFlow<()>,
) -> ReadResult {
    let (format, name) = (trace.format.clone(), trace.name.clone());
    let compression = trace.compression;
    let mut position = DeliveryPosition::after(trace.lines_before);
    let max_waiting = 4 * options.thread_count();
    let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new(), max_waiting });
    let threads = match start(&shared, Box::new(trace), &format, schema, options) {
        Ok(threads) => threads,
        // Without a reader thread, the calling thread reads and decodes.
        Err(trace) => return BlockReader::new(*trace, 0, schema, options).run(deliver),
    };
    let end_guard = ThreadEndGuard { shared: &shared, is_consumer: true };
    let mut decoder = Decoder::new(&format, 0, schema, options);
    for number in 0.. {
        let Some(mut block) = shared.next(number, &mut decoder) else { break };
        position.number_lines(&mut block);
        if deliver(&block).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if options.strict
            && let Some(error) = strict_error(&name, block.line_errors())
        {
            return Err(error);
        }
        shared.recycle(block);
    }
    drop(end_guard);
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
    match state.read_error.take() {
        Some(source) => Err(TraceError::Read { name, line: position.line, compression, source }),
        None => Ok(ControlFlow::Continue(())),
    }
}

/// Starts as many threads as possible. Returns the trace if the reader thread cannot be created.
fn start(
    shared: &Arc<Shared>,
    trace: Box<OpenTrace>,
    format: &InputFormat,
    schema: &Schema,
    options: &ReadOptions,
) -> Result<Vec<JoinHandle<()>>, Box<OpenTrace>> {
    let reader = Arc::clone(shared);
    let reader_thread = spawn(trace, move |trace| {
        let _end_guard = ThreadEndGuard { shared: &reader, is_consumer: false };
        reader.read_chunks(*trace);
    })?;
    let mut threads = vec![reader_thread];
    for _ in 1..options.thread_count() {
        let decoding = Arc::clone(shared);
        let decoder = Decoder::new(format, 0, schema, options);
        let thread = spawn(decoder, move |decoder| {
            let _end_guard = ThreadEndGuard { shared: &decoding, is_consumer: false };
            decoding.decode_chunks(decoder);
        });
        match thread {
            Ok(thread) => threads.push(thread),
            Err(_) => break,
        }
    }
    Ok(threads)
}
