//! Events that are written down as they happen, and not followed by any monitor.
//!
//! Probes put them into a ring that the program and the tool share; a thread of the tool takes them out and writes them, while
//! the one that controls the program waits for it as ever. Events at traps are put into the same ring by the tool, while
//! the thread in which they happen stands still: so they are in order with all others.

use super::shared::Shared;
use crate::target::Target;
use invigil_monitor::event::Batch;
use invigil_probe::message::Request;
use invigil_probe::reader::{Garbled, Reader};
use invigil_probe::ring::{Entry, NO_TIME, Ring};
use invigil_session::subject::{Done, Interrupter, Trouble};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// How long the tool sleeps when nothing happens, in nanoseconds: less while something has happened lately.
const NAPS: std::ops::Range<u64> = 200_000..10_000_000;

/// How events are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recording {
    /// How much memory the ring between program and tool takes, about.
    pub bytes: u64,
    /// Whether an event is lost when the ring is full; else its thread waits.
    pub lossy: bool,
    /// Whether the time of each event is recorded.
    pub timed: bool,
}

impl Default for Recording {
    fn default() -> Recording {
        Recording { bytes: 16 << 20, lossy: false, timed: false }
    }
}

/// Where recorded events go. It is used by a thread of its own.
pub trait Sink: Send {
    /// Takes events, with the thread of each.
    ///
    /// # Errors
    /// If they cannot be written: then the recording ends.
    fn write(&mut self, events: &Batch, threads: &[u32]) -> io::Result<()>;

    /// Hands on what was kept back: nothing happens at the moment.
    ///
    /// # Errors
    /// As for [`write`](Sink::write).
    fn flush(&mut self) -> io::Result<()>;
}

/// What came of a recording.
#[derive(Debug, Default)]
pub struct Recorded {
    /// How many events were written.
    pub events: u64,
    /// How many were lost because the ring was full.
    pub lost: u64,
    /// Why it ended before the program did.
    pub trouble: Option<io::Error>,
}

/// A recording at work.
pub(crate) struct Streaming {
    how: Recording,
    shared: Arc<Shared>,
    /// Nobody writes into the ring any more.
    over: Arc<AtomicBool>,
    drain: Option<JoinHandle<Drain>>,
    /// One event of many.
    single: Batch,
}

/// What takes events out of the ring.
struct Drain {
    shared: Arc<Shared>,
    over: Arc<AtomicBool>,
    sink: Box<dyn Sink>,
    recorded: Recorded,
}

impl Drain {
    fn run(mut self, stops: &dyn Interrupter) -> Drain {
        if let Err(error) = self.empty() {
            // The program need not wait for us any more, and is told to stand still.
            self.shared.ring().close();
            self.recorded.trouble = Some(error);
            stops.interrupt();
        }
        self.recorded.lost += self.shared.ring().lost();
        self
    }

    fn empty(&mut self) -> io::Result<()> {
        let mut reader = Reader::new(self.shared.ring());
        let (mut events, mut threads) = (Batch::default(), Vec::new());
        let (mut nap, mut kept) = (NAPS.start, false);
        loop {
            let is_over = self.over.load(Ordering::SeqCst);
            let taken = reader.take(&mut events, &mut threads, is_over);
            if !threads.is_empty() {
                self.sink.write(&events, &threads)?;
                self.recorded.events += threads.len() as u64;
                events.clear();
                threads.clear();
                (nap, kept) = (NAPS.start, true);
            }
            match taken {
                Ok(true) => {}
                Ok(false) => {
                    if std::mem::take(&mut kept) || is_over {
                        self.sink.flush()?;
                    }
                    if is_over {
                        return Ok(());
                    }
                    reader.sleep(nap);
                    nap = (nap * 2).min(NAPS.end);
                }
                Err(Garbled) => {
                    self.sink.flush()?;
                    let words = "the program has written into the memory that its events go through";
                    return Err(io::Error::new(io::ErrorKind::InvalidData, words));
                }
            }
        }
    }
}

impl Streaming {
    /// Puts events that the tool has seen into the ring. Their thread stands still.
    fn tell(&mut self, events: &Batch, thread: u32, is_interrupted: &AtomicBool) {
        let ring = self.shared.ring();
        for at in 0..events.len() {
            self.single.clear();
            self.single.push_copy(&events.event(at), events.stamp(at));
            let (event, time) = (self.single.event(0), events.stamp(at).time);
            let time = if self.how.timed && time >= 0.0 { (time * 1e9) as u64 } else { NO_TIME };
            let entry = Entry { symbol: event.symbol, thread, time };
            // What is lost is counted there; who breaks off does not want it.
            let refuses = || is_interrupted.load(Ordering::SeqCst);
            let _ = ring.push(&entry, event.params, event.text, &refuses);
        }
    }

    /// Nobody tells anything any more: waits until all is written.
    fn finish(&mut self) -> Option<Drain> {
        self.over.store(true, Ordering::SeqCst);
        self.drain.take()?.join().ok()
    }
}

impl Drop for Streaming {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

/// How many slots take so much memory, as a power of two.
fn bits(bytes: u64) -> u32 {
    (bytes / Ring::SLOT_BYTES).max(1).ilog2().clamp(Ring::SMALLEST, Ring::LARGEST)
}

impl Target {
    /// Records all events from now on, instead of telling them. The program has been
    /// [prepared](invigil_session::subject::Subject::prepare) for them, and stands still.
    ///
    /// # Errors
    /// If it cannot be prepared for that.
    pub fn record(&mut self, how: Recording, sink: Box<dyn Sink>) -> Done {
        self.record_into(how, sink, Recorded::default())
    }

    fn record_into(&mut self, how: Recording, sink: Box<dyn Sink>, recorded: Recorded) -> Done {
        let shared = Arc::new(self.make_ring(how)?);
        shared.ring().set_lossy(how.lossy);
        let over = Arc::new(AtomicBool::new(false));
        let drain = Drain { shared: Arc::clone(&shared), over: Arc::clone(&over), sink, recorded };
        let stops = Target::interrupter(self);
        let drain = thread::Builder::new().name("recording".into()).spawn(move || drain.run(&stops));
        let drain = drain.map_err(|error| Trouble::Subject(format!("cannot start a thread: {error}")))?;
        let single = Batch::default();
        self.inline.used = true;
        self.inline.streaming = Some(Streaming { how, shared, over, drain: Some(drain), single });
        Ok(())
    }

    /// Makes a ring, and has probes use it where the program may have any.
    fn make_ring(&mut self, how: Recording) -> Done<Shared> {
        let bits = bits(how.bytes);
        let failed = |error| Trouble::Subject(format!("there is no memory for the recording: {error}"));
        let Some(agent) = self.engine.agent.as_ref().filter(|_| self.can_step_inside()) else {
            self.activate(&self.plans.symbols())?;
            return Shared::map(None, bits).map_err(failed);
        };
        let at = agent.set_aside(Ring::bytes(bits) as u64)?;
        let shared = Shared::map(Some((&agent.memory, at - agent.range.start)), bits).map_err(failed)?;
        self.engine.hold()?;
        self.ask(&Request::Record { at, bits, begun: how.timed.then_some(self.began_at) })?;
        self.tell_places()?;
        Ok(shared)
    }

    /// Whether events are recorded.
    pub(crate) fn is_recording(&self) -> bool {
        self.inline.streaming.is_some()
    }

    /// The events at hand, if they are recorded.
    pub(crate) fn tell_recording(&mut self) -> bool {
        let Some(streaming) = &mut self.inline.streaming else { return false };
        streaming.tell(&self.batch, self.current as u32, &self.engine.interrupted);
        true
    }

    /// Code has come: it may have places for probes.
    pub(crate) fn record_new_places(&mut self) -> Done {
        if !self.is_recording() || !self.can_step_inside() {
            return Ok(());
        }
        self.engine.hold()?;
        // There may be as many as before, and others.
        self.inline.looked_at = 0;
        self.tell_places()
    }

    /// The program has become another one: it goes on there.
    pub(crate) fn record_anew(&mut self) -> Done {
        let Some(mut streaming) = self.inline.streaming.take() else { return Ok(()) };
        let how = streaming.how;
        let Some(drain) = streaming.finish() else { return Ok(()) };
        if drain.recorded.trouble.is_some() {
            // It is over, and that is yet to be told.
            streaming.drain = thread::Builder::new().spawn(move || drain).ok();
            self.inline.streaming = Some(streaming);
            return Ok(());
        }
        self.record_into(how, drain.sink, drain.recorded)?;
        self.engine.hold()
    }

    /// Ends a recording: the program has ended, was let go, or stands still. Waits until all is written.
    pub fn end_recording(&mut self) -> Option<Recorded> {
        let mut streaming = self.inline.streaming.take()?;
        self.inline.used = false;
        streaming.finish().map(|drain| drain.recorded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_are_as_large_as_they_may_be() {
        for (bytes, expected) in
            [(0, Ring::SMALLEST), (1 << 20, 14), (3 << 20, 15), (u64::MAX, Ring::LARGEST)]
        {
            assert_eq!(bits(bytes), expected);
        }
    }
}
