//! One input, read by several threads, its blocks delivered in order.
//!
//! A thread of its own reads (and decompresses) chunks; the others decode them. The calling thread consumes
//! the blocks in order whenever the next is ready, and decodes otherwise, so that no core waits for another
//! while there is work. It alone runs the caller's code, and never reads: a block is delivered as soon as it
//! is decoded, even if the next line takes an hour to come, and a caller that has seen enough is not kept.

use crate::block::{Block, Progress};
use crate::blocks::{Blocks, first_bad_line};
use crate::chunks::Chunk;
use crate::decoder::Decoder;
use crate::error::TraceError;
use crate::options::Options;
use crate::schema::Schema;
use crate::source::{Layout, Source};
use crate::spawn::spawn;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// What the threads share.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// How many chunks may wait to be decoded, and how many blocks to be consumed.
    ahead: usize,
}

#[derive(Default)]
struct State {
    chunks: VecDeque<(u64, Chunk)>,
    blocks: BTreeMap<u64, Block>,
    /// How many chunks are being decoded.
    at_work: usize,
    spare_blocks: Vec<Block>,
    spare_buffers: Vec<Vec<u8>>,
    /// The reader has come to the end.
    read: bool,
    failed: Option<io::Error>,
    /// The consumer has seen enough.
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

    /// Reads all chunks: the life of the reading thread.
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

    /// Decodes chunks: the life of a helping thread.
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
        // The reader may go on.
        self.changed.notify_all();
        decoder.decode(chunk, &mut block);
        let mut state = self.lock();
        state.at_work -= 1;
        state.blocks.insert(number, block);
        self.changed.notify_all();
        state
    }

    /// The next block in order, decoding others while it is not ready; `None` at the end.
    fn next(&self, number: u64, decoder: &mut Decoder) -> Option<Block> {
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
            // If many blocks wait already, another would be one more: unless it is the one they all wait for.
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

    /// Takes a block back to be filled again.
    fn recycle(&self, mut block: Block) {
        let buffer = block.recycle();
        let mut state = self.lock();
        state.spare_blocks.push(block);
        state.spare_buffers.push(buffer);
    }
}

/// Tells the other threads when one ends, in whatever way.
struct Ending<'a> {
    shared: &'a Shared,
    consumer: bool,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.stopped |= self.consumer;
        state.panicked |= thread::panicking();
        drop(state);
        self.shared.changed.notify_all();
    }
}

/// How an input ended.
pub(crate) type Ended = Result<ControlFlow<()>, TraceError>;

/// Reads a source on `options.threads` threads, and a reading one, until `each` breaks off.
pub(crate) fn run(
    source: Source,
    schema: &Schema,
    options: &Options,
    mut each: impl FnMut(&Block) -> ControlFlow<()>,
) -> Ended {
    let (layout, name) = (source.layout.clone(), source.name.clone());
    let compression = source.compression;
    let mut progress = Progress::after(source.lines_before);
    let ahead = 4 * options.thread_count();
    let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new(), ahead });
    let threads = match start(&shared, Box::new(source), &layout, schema, options) {
        Ok(threads) => threads,
        // Without a thread that reads, this one does everything.
        Err(source) => return Blocks::of(*source, 0, schema, options).run(each),
    };
    let ending = Ending { shared: &shared, consumer: true };
    let mut decoder = Decoder::new(&layout, 0, schema, options);
    for number in 0.. {
        let Some(mut block) = shared.next(number, &mut decoder) else { break };
        progress.settle(&mut block);
        if each(&block).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if options.strict
            && let Some(error) = first_bad_line(&name, block.problems())
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

/// Starts the threads: as many as there are to be had. The source comes back if there is none to read it.
fn start(
    shared: &Arc<Shared>,
    source: Box<Source>,
    layout: &Layout,
    schema: &Schema,
    options: &Options,
) -> Result<Vec<JoinHandle<()>>, Box<Source>> {
    let reader = Arc::clone(shared);
    let reading = spawn(source, move |source| {
        let _ending = Ending { shared: &reader, consumer: false };
        reader.read(*source);
    })?;
    let mut threads = vec![reading];
    for _ in 1..options.thread_count() {
        let helper = Arc::clone(shared);
        let decoder = Decoder::new(layout, 0, schema, options);
        let helping = spawn(decoder, move |decoder| {
            let _ending = Ending { shared: &helper, consumer: false };
            helper.help(decoder);
        });
        match helping {
            Ok(thread) => threads.push(thread),
            Err(_) => break,
        }
    }
    Ok(threads)
}
