//! Merging several inputs by time.
//!
//! Each input keeps its own order. Between inputs, the earlier event comes first; at equal times, the event of the
//! first input. Memory is bounded by a few blocks per input.
//!
//! Merged events are delivered before the merge waits for an input. So live inputs are followed with minimal delay: an
//! event can be delivered as soon as the next event of every other input is known.

use crate::block::EventBlock;
use crate::block_reader::BlockReader;
use crate::error::TraceError;
use crate::line_errors::TracePosition;
use crate::pipeline::ReadResult;
use crate::spawn::spawn;
use invigil_expr::value::Value;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;

/// Maximum number of inputs with a thread of their own: with more, threads cost more than they gain.
const MAX_THREADED_INPUTS: usize = 64;

/// Target number of events of a merged block.
const TARGET_EVENTS: usize = 4096;

/// Target text size of a merged block.
const TARGET_TEXT_BYTES: usize = 4 << 20;

/// Number of input bytes after which a merged block is delivered, even with few events.
const MAX_INPUT_BYTES: u64 = 16 << 20;

/// An input of the merge: its current block, and the index of the next event.
struct Stream {
    name: String,
    blocks: BlockSource,
    block: EventBlock,
    next_event: usize,
}

/// Source of the blocks of an input.
enum BlockSource {
    Inline(Box<BlockReader>),
    /// Decoded by a thread of its own, to which empty blocks are returned.
    Threaded {
        full: Receiver<Result<EventBlock, TraceError>>,
        /// The next block, if it was already received.
        received: Box<Option<Result<EventBlock, TraceError>>>,
        empty: SyncSender<EventBlock>,
        thread: Option<JoinHandle<()>>,
    },
}

impl BlockSource {
    /// Whether the next block is known to be available without waiting.
    fn is_ready(&mut self) -> bool {
        match self {
            BlockSource::Inline(_) => false,
            BlockSource::Threaded { received, .. } if received.is_some() => true,
            BlockSource::Threaded { full, received, .. } => match full.try_recv() {
                Ok(next) => {
                    **received = Some(next);
                    true
                }
                Err(TryRecvError::Disconnected) => true,
                Err(TryRecvError::Empty) => false,
            },
        }
    }

    fn fill(&mut self, block: &mut EventBlock) -> Result<bool, TraceError> {
        match self {
            BlockSource::Inline(blocks) => blocks.fill(block),
            BlockSource::Threaded { full, received, empty, thread } => {
                match received.take().map_or_else(|| full.recv(), Ok) {
                    Ok(Ok(next)) => {
                        // If the channel is full, the block is dropped.
                        let _ = empty.try_send(std::mem::replace(block, next));
                        Ok(true)
                    }
                    Ok(Err(error)) => Err(error),
                    // The thread has ended: at the end of the input, or by a panic.
                    Err(_) => match thread.take().map(JoinHandle::join) {
                        Some(Err(panic)) => resume_unwind(panic),
                        _ => Ok(false),
                    },
                }
            }
        }
    }
}

/// Decodes the blocks of an input in a new thread, or inline if no thread can be created.
fn decode_in_thread(blocks: BlockReader) -> BlockSource {
    let (decoded, full) = sync_channel(2);
    let (empty, recycled) = sync_channel::<EventBlock>(3);
    let thread = spawn(blocks, move |mut blocks| {
        loop {
            let mut block = recycled.try_recv().unwrap_or_default();
            let item = match blocks.fill(&mut block) {
                Ok(true) => Ok(block),
                Ok(false) => return,
                Err(error) => Err(error),
            };
            // The receiver is gone if the merge has ended; nothing follows an error.
            let is_last = item.is_err();
            if decoded.send(item).is_err() || is_last {
                return;
            }
        }
    });
    match thread {
        Ok(thread) => BlockSource::Threaded { full, received: Box::new(None), empty, thread: Some(thread) },
        Err(blocks) => BlockSource::Inline(Box::new(blocks)),
    }
}

/// Time of the next event of an input. The order is reversed for the max-heap.
struct NextEvent {
    time: f64,
    input: usize,
}

impl Ord for NextEvent {
    fn cmp(&self, other: &NextEvent) -> Ordering {
        other.time.total_cmp(&self.time).then(other.input.cmp(&self.input))
    }
}

impl PartialOrd for NextEvent {
    fn partial_cmp(&self, other: &NextEvent) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for NextEvent {
    fn eq(&self, other: &NextEvent) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for NextEvent {}

/// The merged block, and the consumer to which it is delivered.
struct MergeOutput<F> {
    block: EventBlock,
    deliver: F,
}

impl<F: FnMut(&EventBlock) -> ControlFlow<()>> MergeOutput<F> {
    fn is_full(&self) -> bool {
        let batch = &self.block.batch;
        batch.len() >= TARGET_EVENTS
            || batch.text.len() >= TARGET_TEXT_BYTES
            || self.block.bytes >= MAX_INPUT_BYTES
    }

    /// Delivers the merged block, unless it is empty.
    fn flush(&mut self) -> ControlFlow<()> {
        if self.block.batch.is_empty() && self.block.lines == 0 {
            return ControlFlow::Continue(());
        }
        (self.deliver)(&self.block)?;
        let mut text = self.block.recycle();
        text.clear();
        // Release a buffer that was enlarged for very long texts.
        if text.capacity() <= 2 * TARGET_TEXT_BYTES {
            self.block.batch.text = String::from_utf8(text).unwrap_or_default();
        }
        ControlFlow::Continue(())
    }
}

/// Merges inputs until `deliver` breaks. With several threads, each input is decoded by its own thread.
pub(crate) fn run(
    inputs: Vec<(String, BlockReader)>,
    threads: usize,
    deliver: impl FnMut(&EventBlock) -> ControlFlow<()>,
) -> ReadResult {
    let is_inline = threads < 2 || inputs.len() > MAX_THREADED_INPUTS;
    let mut streams: Vec<Stream> = inputs
        .into_iter()
        .map(|(name, blocks)| {
            let blocks =
                if is_inline { BlockSource::Inline(Box::new(blocks)) } else { decode_in_thread(blocks) };
            Stream { name, blocks, block: EventBlock::default(), next_event: 0 }
        })
        .collect();
    let mut output = MergeOutput { block: EventBlock::default(), deliver };
    let result = merge(&mut streams, &mut output);
    match result {
        // Events before an error are delivered before it.
        Ok(ControlFlow::Continue(())) | Err(_) => match output.flush() {
            ControlFlow::Break(()) => Ok(ControlFlow::Break(())),
            ControlFlow::Continue(()) => result,
        },
        stopped => stopped,
    }
}

fn merge<F: FnMut(&EventBlock) -> ControlFlow<()>>(
    streams: &mut [Stream],
    output: &mut MergeOutput<F>,
) -> ReadResult {
    let mut heap = BinaryHeap::new();
    for (input, stream) in streams.iter_mut().enumerate() {
        match stream.advance(input, output)? {
            ControlFlow::Continue(next) => heap.extend(next),
            ControlFlow::Break(()) => return Ok(ControlFlow::Break(())),
        }
    }
    while let Some(next) = heap.pop() {
        let stream = &mut streams[next.input];
        // While this input remains the earliest, the heap is not touched.
        loop {
            stream.take(&mut output.block);
            if output.is_full() && output.flush().is_break() {
                return Ok(ControlFlow::Break(()));
            }
            match stream.advance(next.input, output)? {
                ControlFlow::Continue(Some(following))
                    if heap.peek().is_none_or(|other| following > *other) => {}
                ControlFlow::Continue(following) => {
                    heap.extend(following);
                    break;
                }
                ControlFlow::Break(()) => return Ok(ControlFlow::Break(())),
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

impl Stream {
    /// Determines the next event, and reads the next block if needed. Breaks if the consumer breaks.
    #[inline]
    fn advance<F: FnMut(&EventBlock) -> ControlFlow<()>>(
        &mut self,
        input: usize,
        output: &mut MergeOutput<F>,
    ) -> Result<ControlFlow<(), Option<NextEvent>>, TraceError> {
        while self.next_event >= self.block.batch.len() {
            if (output.is_full() || !self.blocks.is_ready()) && output.flush().is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if !self.refill(&mut output.block)? {
                return Ok(ControlFlow::Continue(None));
            }
        }
        let time = self.block.batch.meta(self.next_event).time;
        if time.is_nan() {
            let line = self.block.position(self.next_event).line;
            return Err(TraceError::NoTime { name: self.name.clone(), line });
        }
        Ok(ControlFlow::Continue(Some(NextEvent { time, input })))
    }

    /// Reads the next block, and adds its counts and errors to the merged block.
    fn refill(&mut self, merged: &mut EventBlock) -> Result<bool, TraceError> {
        self.next_event = 0;
        if !self.blocks.fill(&mut self.block)? {
            return Ok(false);
        }
        let block = &self.block;
        merged.lines += block.lines;
        merged.bytes += block.bytes;
        merged.ignored += block.ignored;
        merged.time_order.backwards += block.time_order.backwards;
        merged.line_errors.merge(&block.line_errors);
        Ok(true)
    }

    /// Moves the next event to the merged block.
    #[inline]
    fn take(&mut self, merged: &mut EventBlock) {
        let event = self.block.batch.event(self.next_event);
        let meta = self.block.batch.meta(self.next_event);
        let position: TracePosition = self.block.position(self.next_event);
        if self.block.same_record_as_previous.binary_search(&(self.next_event as u32)).is_ok() {
            merged.same_record_as_previous.push(merged.batch.len() as u32);
        }
        if event.params.iter().all(|value| value.is_inline()) {
            merged.push(event.id, event.params, meta.time, meta.line);
        } else {
            // Long strings are stored in the block's text and copied, each one once even if several parameters share
            // it. So an event copies at most the text of its line, and positions fit into 32 bits: see
            // `MAX_CHUNK_BYTES`.
            let text = &mut merged.batch.text;
            let mut moved: Vec<Value> = Vec::with_capacity(event.params.len());
            for (at, value) in event.params.iter().enumerate() {
                let same = event.params[..at].iter().position(|other| other.bits() == value.bits());
                moved.push(match (value.as_text(), same) {
                    (None, _) => *value,
                    (Some(_), Some(same)) => moved[same],
                    (Some((start, len)), None) => {
                        let to = text.len() as u32;
                        text.push_str(event.text.get(start as usize..(start + len) as usize).unwrap_or(""));
                        Value::text(to, len)
                    }
                });
            }
            merged.push(event.id, &moved, meta.time, meta.line);
        }
        merged.origins.push(position);
        self.next_event += 1;
    }
}
