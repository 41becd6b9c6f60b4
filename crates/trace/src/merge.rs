//! Several inputs, merged by time.
//!
//! Each input keeps its own order; between inputs the earlier time goes first, and at equal times the input
//! that was named first. Memory is a few blocks per input, however long they are.

use crate::block::Block;
use crate::blocks::Blocks;
use crate::error::TraceError;
use crate::pipeline::Ended;
use crate::problems::Place;
use invigil_expr::value::Value;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// With more inputs than this, threads of their own cost more than they give.
const MANY: usize = 64;

/// How many events a merged block has, as a rule.
const EVENTS: usize = 4096;

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
        empty: SyncSender<Block>,
        thread: Option<JoinHandle<()>>,
    },
}

impl Feed {
    fn fill(&mut self, block: &mut Block) -> Result<bool, TraceError> {
        match self {
            Feed::Here(blocks) => blocks.fill(block),
            Feed::There { full, empty, thread } => match full.recv() {
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
            },
        }
    }
}

/// Lets a thread of its own decode the blocks of an input.
fn apart(mut blocks: Blocks) -> Feed {
    let (send_full, full) = sync_channel(2);
    let (empty, take_empty) = sync_channel::<Block>(3);
    let thread = thread::spawn(move || {
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
    Feed::There { full, empty, thread: Some(thread) }
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

/// Merges inputs until `each` breaks off; with several threads, each input has one that decodes it.
pub(crate) fn run(
    inputs: Vec<(String, Blocks)>,
    threads: usize,
    mut each: impl FnMut(&Block) -> ControlFlow<()>,
) -> Ended {
    let alone = threads < 2 || inputs.len() > MANY;
    let mut streams: Vec<Stream> = inputs
        .into_iter()
        .map(|(name, blocks)| {
            let feed = if alone { Feed::Here(Box::new(blocks)) } else { apart(blocks) };
            Stream { name, feed, block: Block::default(), at: 0 }
        })
        .collect();
    let mut merged = Block::default();
    let mut heap = BinaryHeap::new();
    let ended = fill(&mut streams, &mut heap, &mut merged, &mut each);
    match ended {
        // What was merged before an error comes before it.
        Ok(ControlFlow::Continue(())) | Err(_) => match each(&merged) {
            ControlFlow::Break(()) => Ok(ControlFlow::Break(())),
            ControlFlow::Continue(()) => ended,
        },
        stopped => stopped,
    }
}

fn fill(
    streams: &mut [Stream],
    heap: &mut BinaryHeap<Next>,
    merged: &mut Block,
    each: &mut impl FnMut(&Block) -> ControlFlow<()>,
) -> Ended {
    for (input, stream) in streams.iter_mut().enumerate() {
        heap.extend(stream.advance(input, merged)?);
    }
    while let Some(next) = heap.pop() {
        let stream = &mut streams[next.input];
        // As long as this input is the earliest, the heap is left alone.
        loop {
            stream.take(merged);
            if merged.batch.len() >= EVENTS {
                if each(merged).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                let mut text = merged.recycle();
                text.clear();
                merged.batch.text = String::from_utf8(text).unwrap_or_default();
            }
            match stream.advance(next.input, merged)? {
                Some(following) if heap.peek().is_none_or(|other| following > *other) => {}
                following => {
                    heap.extend(following);
                    break;
                }
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

impl Stream {
    /// The next event, from the next block if this one is at its end. What else there is to say of that
    /// block goes to the merged one.
    #[inline]
    fn advance(&mut self, input: usize, merged: &mut Block) -> Result<Option<Next>, TraceError> {
        while self.at >= self.block.batch.len() {
            self.at = 0;
            if !self.feed.fill(&mut self.block)? {
                return Ok(None);
            }
            let block = &self.block;
            merged.lines += block.lines;
            merged.bytes += block.bytes;
            merged.ignored += block.ignored;
            merged.clock.backwards += block.clock.backwards;
            merged.problems.merge(&block.problems);
        }
        let time = self.block.batch.stamp(self.at).time;
        if time.is_nan() {
            let line = self.block.place(self.at).line;
            return Err(TraceError::NoTime { name: self.name.clone(), line });
        }
        Ok(Some(Next { time, input }))
    }

    /// Moves the next event to the merged block.
    #[inline]
    fn take(&mut self, merged: &mut Block) {
        let event = self.block.batch.event(self.at);
        let stamp = self.block.batch.stamp(self.at);
        let place: Place = self.block.place(self.at);
        if event.params.iter().all(|value| value.is_inline()) {
            merged.push(event.symbol, event.params, stamp.time, stamp.line);
        } else {
            // Long strings lie in the block's text, and move along.
            let text = &mut merged.batch.text;
            let moved: Vec<Value> = event
                .params
                .iter()
                .map(|value| match value.as_text() {
                    None => *value,
                    Some((start, len)) => {
                        let to = text.len() as u32;
                        text.push_str(event.text.get(start as usize..(start + len) as usize).unwrap_or(""));
                        Value::text(to, len)
                    }
                })
                .collect();
            merged.push(event.symbol, &moved, stamp.time, stamp.line);
        }
        merged.origins.push(place);
        self.at += 1;
    }
}
