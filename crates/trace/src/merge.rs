//! Several inputs, merged by time.
//!
//! Each input keeps its own order; between inputs the earlier time goes first, and at equal times the input
//! that was named first. Memory is a few blocks per input, however long they are.
//!
//! What is merged is delivered before an input is waited for, so that live inputs are followed as closely as
//! their order allows: an event is certain to be the next only once every other input has shown its own next.

use crate::block::Block;
use crate::blocks::Blocks;
use crate::error::TraceError;
use crate::pipeline::Ended;
use crate::problems::Place;
use crate::spawn::spawn;
use invigil_expr::value::Value;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;

/// With more inputs than this, threads of their own cost more than they give.
const MANY: usize = 64;

/// How many events a merged block has, as a rule.
const EVENTS: usize = 4096;

/// How much text the events of a merged block have, as a rule.
const TEXT: usize = 4 << 20;

/// After how many bytes of input a merged block is delivered, though it may have few events or none.
const BYTES: u64 = 16 << 20;

/// An input that is being merged: its current block, and the next event in it.
struct Stream {
    name: String,
    feed: Feed,
    block: Block,
    at: usize,
}

/// Where the blocks of an input come from.
enum Feed {
    Here(Box<Blocks>),
    /// From a thread of its own; emptied blocks go back.
    There {
        full: Receiver<Result<Block, TraceError>>,
        /// A block that was received already.
        ready: Box<Option<Result<Block, TraceError>>>,
        empty: SyncSender<Block>,
        thread: Option<JoinHandle<()>>,
    },
}

impl Feed {
    /// Whether the next block can be had without waiting, as far as one can know.
    fn is_ready(&mut self) -> bool {
        match self {
            Feed::Here(_) => false,
            Feed::There { ready, .. } if ready.is_some() => true,
            Feed::There { full, ready, .. } => match full.try_recv() {
                Ok(next) => {
                    **ready = Some(next);
                    true
                }
                Err(TryRecvError::Disconnected) => true,
                Err(TryRecvError::Empty) => false,
            },
        }
    }

    fn fill(&mut self, block: &mut Block) -> Result<bool, TraceError> {
        match self {
            Feed::Here(blocks) => blocks.fill(block),
            Feed::There { full, ready, empty, thread } => {
                match ready.take().map_or_else(|| full.recv(), Ok) {
                    Ok(Ok(next)) => {
                        // If there is no room for it, it is simply let go.
                        let _ = empty.try_send(std::mem::replace(block, next));
                        Ok(true)
                    }
                    Ok(Err(error)) => Err(error),
                    // The thread has ended: with the input, one hopes.
                    Err(_) => match thread.take().map(JoinHandle::join) {
                        Some(Err(panic)) => resume_unwind(panic),
                        _ => Ok(false),
                    },
                }
            }
        }
    }
}

/// Lets a thread of its own decode the blocks of an input, if there is one to be had.
fn apart(blocks: Blocks) -> Feed {
    let (send_full, full) = sync_channel(2);
    let (empty, take_empty) = sync_channel::<Block>(3);
    let thread = spawn(blocks, move |mut blocks| {
        loop {
            let mut block = take_empty.try_recv().unwrap_or_default();
            let item = match blocks.fill(&mut block) {
                Ok(true) => Ok(block),
                Ok(false) => return,
                Err(error) => Err(error),
            };
            // Nobody receives any more once the merging has ended; nothing follows an error.
            let last = item.is_err();
            if send_full.send(item).is_err() || last {
                return;
            }
        }
    });
    match thread {
        Ok(thread) => Feed::There { full, ready: Box::new(None), empty, thread: Some(thread) },
        Err(blocks) => Feed::Here(Box::new(blocks)),
    }
}

/// The next event of an input, the earliest being the greatest.
struct Next {
    time: f64,
    input: usize,
}

impl Ord for Next {
    fn cmp(&self, other: &Next) -> Ordering {
        other.time.total_cmp(&self.time).then(other.input.cmp(&self.input))
    }
}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Next) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Next {
    fn eq(&self, other: &Next) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Next {}

/// What is merged, on its way to the consumer.
struct Merged<F> {
    block: Block,
    each: F,
}

impl<F: FnMut(&Block) -> ControlFlow<()>> Merged<F> {
    fn is_full(&self) -> bool {
        let batch = &self.block.batch;
        batch.len() >= EVENTS || batch.text.len() >= TEXT || self.block.bytes >= BYTES
    }

    /// Delivers what there is, if there is anything.
    fn flush(&mut self) -> ControlFlow<()> {
        if self.block.batch.is_empty() && self.block.lines == 0 {
            return ControlFlow::Continue(());
        }
        (self.each)(&self.block)?;
        let mut text = self.block.recycle();
        text.clear();
        // What once held a giant is let go.
        if text.capacity() <= 2 * TEXT {
            self.block.batch.text = String::from_utf8(text).unwrap_or_default();
        }
        ControlFlow::Continue(())
    }
}

/// Merges inputs until `each` breaks off; with several threads, each input has one that decodes it.
pub(crate) fn run(
    inputs: Vec<(String, Blocks)>,
    threads: usize,
    each: impl FnMut(&Block) -> ControlFlow<()>,
) -> Ended {
    let alone = threads < 2 || inputs.len() > MANY;
    let mut streams: Vec<Stream> = inputs
        .into_iter()
        .map(|(name, blocks)| {
            let feed = if alone { Feed::Here(Box::new(blocks)) } else { apart(blocks) };
            Stream { name, feed, block: Block::default(), at: 0 }
        })
        .collect();
    let mut merged = Merged { block: Block::default(), each };
    let ended = merge(&mut streams, &mut merged);
    match ended {
        // What was merged before an error comes before it.
        Ok(ControlFlow::Continue(())) | Err(_) => match merged.flush() {
            ControlFlow::Break(()) => Ok(ControlFlow::Break(())),
            ControlFlow::Continue(()) => ended,
        },
        stopped => stopped,
    }
}

fn merge<F: FnMut(&Block) -> ControlFlow<()>>(streams: &mut [Stream], merged: &mut Merged<F>) -> Ended {
    let mut heap = BinaryHeap::new();
    for (input, stream) in streams.iter_mut().enumerate() {
        match stream.advance(input, merged)? {
            ControlFlow::Continue(next) => heap.extend(next),
            ControlFlow::Break(()) => return Ok(ControlFlow::Break(())),
        }
    }
    while let Some(next) = heap.pop() {
        let stream = &mut streams[next.input];
        // As long as this input is the earliest, the heap is left alone.
        loop {
            stream.take(&mut merged.block);
            if merged.is_full() && merged.flush().is_break() {
                return Ok(ControlFlow::Break(()));
            }
            match stream.advance(next.input, merged)? {
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
    /// The next event, from the next block if this one is at its end, unless the consumer has seen enough.
    #[inline]
    fn advance<F: FnMut(&Block) -> ControlFlow<()>>(
        &mut self,
        input: usize,
        merged: &mut Merged<F>,
    ) -> Result<ControlFlow<(), Option<Next>>, TraceError> {
        while self.at >= self.block.batch.len() {
            if (merged.is_full() || !self.feed.is_ready()) && merged.flush().is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if !self.refill(&mut merged.block)? {
                return Ok(ControlFlow::Continue(None));
            }
        }
        let time = self.block.batch.stamp(self.at).time;
        if time.is_nan() {
            let line = self.block.place(self.at).line;
            return Err(TraceError::NoTime { name: self.name.clone(), line });
        }
        Ok(ControlFlow::Continue(Some(Next { time, input })))
    }

    /// Goes on to the next block, if there is one. What there is to say of it besides its events goes to the
    /// merged one.
    fn refill(&mut self, merged: &mut Block) -> Result<bool, TraceError> {
        self.at = 0;
        if !self.feed.fill(&mut self.block)? {
            return Ok(false);
        }
        let block = &self.block;
        merged.lines += block.lines;
        merged.bytes += block.bytes;
        merged.ignored += block.ignored;
        merged.clock.backwards += block.clock.backwards;
        merged.problems.merge(&block.problems);
        Ok(true)
    }

    /// Moves the next event to the merged block.
    #[inline]
    fn take(&mut self, merged: &mut Block) {
        let event = self.block.batch.event(self.at);
        let stamp = self.block.batch.stamp(self.at);
        let place: Place = self.block.place(self.at);
        if self.block.again.binary_search(&(self.at as u32)).is_ok() {
            merged.again.push(merged.batch.len() as u32);
        }
        if event.params.iter().all(|value| value.is_inline()) {
            merged.push(event.symbol, event.params, stamp.time, stamp.line);
        } else {
            // Long strings lie in the block's text, and move along: each once, though several parameters may
            // be taken from it. So an event brings no more text than its line has, and places stay within 32
            // bits: see `Options::line_bytes`.
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
            merged.push(event.symbol, &moved, stamp.time, stamp.line);
        }
        merged.origins.push(place);
        self.at += 1;
    }
}
