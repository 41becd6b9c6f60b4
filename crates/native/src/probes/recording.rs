//! Recording: events are written to a sink as they occur, and no monitor steps.
//!
//! Probes write events into a ring that target and debugger share. A thread of the debugger drains the ring into the
//! sink, while the tracing thread waits for the target as usual. The debugger writes events at traps into the same
//! ring while their thread is stopped, so all events are in order.

use super::shared_ring::SharedRing;
use crate::native_target::NativeTarget;
use invigil_monitor::event::EventBatch;
use invigil_probe::message::Request;
use invigil_probe::reader::{CorruptRingError, Reader};
use invigil_probe::ring::{EventHeader, NO_TIME, Ring};
use invigil_target::{Interrupter, TargetError, TargetResult};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// How long the draining thread sleeps when the ring is empty, in nanoseconds: less if there were events recently.
const SLEEP_NANOS: std::ops::Range<u64> = 200_000..10_000_000;

/// Options of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordingOptions {
    /// Approximate size of the ring in bytes.
    pub bytes: u64,
    /// Whether events are lost when the ring is full; otherwise their threads wait.
    pub lossy: bool,
    /// Whether the time of each event is recorded.
    pub timed: bool,
}

impl Default for RecordingOptions {
    fn default() -> RecordingOptions {
        RecordingOptions { bytes: 16 << 20, lossy: false, timed: false }
    }
}

/// Destination of recorded events. It is used by a thread of its own.
pub trait RecordingSink: Send {
    /// Writes events, with the thread of each.
    ///
    /// # Errors
    /// If they cannot be written: then the recording ends.
    fn write(&mut self, events: &EventBatch, threads: &[u32]) -> io::Result<()>;

    /// Flushes buffered output: no events occur at the moment.
    ///
    /// # Errors
    /// As for [`write`](RecordingSink::write).
    fn flush(&mut self) -> io::Result<()>;
}

/// Result of a recording.
#[derive(Debug, Default)]
pub struct RecordingResult {
    /// Number of events written.
    pub events: u64,
    /// Number of events lost because the ring was full.
    pub lost: u64,
    /// Why the recording ended before the target did.
    pub error: Option<io::Error>,
}

/// A recording in progress.
pub(crate) struct ActiveRecording {
    options: RecordingOptions,
    shared: Arc<SharedRing>,
    /// Set when all writers have finished.
    finished: Arc<AtomicBool>,
    drain: Option<JoinHandle<RingDrain>>,
    /// Buffer for one event.
    event_buffer: EventBatch,
}

/// The thread that drains the ring.
struct RingDrain {
    shared: Arc<SharedRing>,
    finished: Arc<AtomicBool>,
    sink: Box<dyn RecordingSink>,
    recorded: RecordingResult,
}

impl RingDrain {
    fn run(mut self, interrupter: &dyn Interrupter) -> RingDrain {
        if let Err(error) = self.drain_until_finished() {
            // The target need not wait for the ring any more, and is interrupted.
            self.shared.ring().close();
            self.recorded.error = Some(error);
            interrupter.interrupt();
        }
        self.recorded.lost += self.shared.ring().lost();
        self
    }

    fn drain_until_finished(&mut self) -> io::Result<()> {
        let mut reader = Reader::new(self.shared.ring());
        let (mut events, mut threads) = (EventBatch::default(), Vec::new());
        let (mut sleep, mut unflushed) = (SLEEP_NANOS.start, false);
        loop {
            let is_finished = self.finished.load(Ordering::SeqCst);
            let taken = reader.take(&mut events, &mut threads, is_finished);
            if !threads.is_empty() {
                self.sink.write(&events, &threads)?;
                self.recorded.events += threads.len() as u64;
                events.clear();
                threads.clear();
                (sleep, unflushed) = (SLEEP_NANOS.start, true);
            }
            match taken {
                Ok(true) => {}
                Ok(false) => {
                    if std::mem::take(&mut unflushed) || is_finished {
                        self.sink.flush()?;
                    }
                    if is_finished {
                        return Ok(());
                    }
                    reader.sleep(sleep);
                    sleep = (sleep * 2).min(SLEEP_NANOS.end);
                }
                Err(CorruptRingError) => {
                    self.sink.flush()?;
                    let message = "the program has overwritten the event buffer";
                    return Err(io::Error::new(io::ErrorKind::InvalidData, message));
                }
            }
        }
    }
}

impl ActiveRecording {
    /// Writes events that the debugger has read. Their thread is stopped.
    fn push(&mut self, events: &EventBatch, thread: u32, is_interrupted: &AtomicBool) {
        let ring = self.shared.ring();
        for at in 0..events.len() {
            self.event_buffer.clear();
            self.event_buffer.push_copy(&events.event(at), events.meta(at));
            let (event, time) = (self.event_buffer.event(0), events.meta(at).time);
            let time = if self.options.timed && time >= 0.0 { (time * 1e9) as u64 } else { NO_TIME };
            let header = EventHeader { event: event.id, thread, time };
            // The ring counts lost events; after an interrupt they are not needed.
            let may_not_wait = || is_interrupted.load(Ordering::SeqCst);
            let _ = ring.push(&header, event.params, event.text, &may_not_wait);
        }
    }

    /// Ends the recording: waits until all events are written.
    fn finish(&mut self) -> Option<RingDrain> {
        self.finished.store(true, Ordering::SeqCst);
        self.drain.take()?.join().ok()
    }
}

impl Drop for ActiveRecording {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

/// Number of slots that fit into so many bytes, as a power of two.
fn bits(bytes: u64) -> u32 {
    (bytes / Ring::SLOT_BYTES).max(1).ilog2().clamp(Ring::MIN_BITS, Ring::MAX_BITS)
}

impl NativeTarget {
    /// Records all events from now on instead of reporting them. The target is stopped, and was
    /// [prepared](invigil_target::EventSource::prepare) for them.
    ///
    /// # Errors
    /// If the ring or its thread cannot be created.
    pub fn record(&mut self, options: RecordingOptions, sink: Box<dyn RecordingSink>) -> TargetResult {
        self.record_into(options, sink, RecordingResult::default())
    }

    fn record_into(
        &mut self,
        options: RecordingOptions,
        sink: Box<dyn RecordingSink>,
        recorded: RecordingResult,
    ) -> TargetResult {
        let shared = Arc::new(self.make_ring(options)?);
        shared.ring().set_lossy(options.lossy);
        let finished = Arc::new(AtomicBool::new(false));
        let drain =
            RingDrain { shared: Arc::clone(&shared), finished: Arc::clone(&finished), sink, recorded };
        let interrupter = NativeTarget::interrupter(self);
        let drain = thread::Builder::new().name("recording".into()).spawn(move || drain.run(&interrupter));
        let drain = drain.map_err(|error| TargetError::Control(format!("cannot start a thread: {error}")))?;
        let event_buffer = EventBatch::default();
        self.probes.are_probes_used = true;
        self.probes.recording =
            Some(ActiveRecording { options, shared, finished, drain: Some(drain), event_buffer });
        Ok(())
    }

    /// Creates a ring, and makes probes use it where the target can have any.
    fn make_ring(&mut self, options: RecordingOptions) -> TargetResult<SharedRing> {
        let bits = bits(options.bytes);
        let failed =
            |error| TargetError::Control(format!("cannot allocate memory for the recording: {error}"));
        let Some(agent) = self.tracer.agent.as_ref().filter(|_| self.can_embed()) else {
            self.activate(&self.plans.all_events())?;
            return SharedRing::map(None, bits).map_err(failed);
        };
        let at = agent.reserve(Ring::bytes(bits) as u64)?;
        let shared = SharedRing::map(Some((&agent.memory, at - agent.range.start)), bits).map_err(failed)?;
        self.tracer.stop_all()?;
        self.call_agent(&Request::Record {
            at,
            bits,
            start_time: options.timed.then_some(self.started_at_nanos),
        })?;
        self.update_agent_sites()?;
        Ok(shared)
    }

    /// Whether events are recorded.
    pub(crate) fn is_recording(&self) -> bool {
        self.probes.recording.is_some()
    }

    /// Records the current batch, if a recording is in progress.
    pub(crate) fn record_batch(&mut self) -> bool {
        let Some(recording) = &mut self.probes.recording else { return false };
        recording.push(&self.batch, self.current as u32, &self.tracer.interrupt_requested);
        true
    }

    /// Adds probes for newly loaded code.
    pub(crate) fn record_new_sites(&mut self) -> TargetResult {
        if !self.is_recording() || !self.can_embed() {
            return Ok(());
        }
        self.tracer.stop_all()?;
        // The number of traps may be the same, but for other sites.
        self.probes.trap_count_at_placement = 0;
        self.update_agent_sites()
    }

    /// Continues the recording after exec.
    pub(crate) fn restart_recording(&mut self) -> TargetResult {
        let Some(mut recording) = self.probes.recording.take() else { return Ok(()) };
        let options = recording.options;
        let Some(drain) = recording.finish() else { return Ok(()) };
        if drain.recorded.error.is_some() {
            // Keep the failed recording: `finish_recording` reports its error.
            recording.drain = thread::Builder::new().spawn(move || drain).ok();
            self.probes.recording = Some(recording);
            return Ok(());
        }
        self.record_into(options, drain.sink, drain.recorded)?;
        self.tracer.stop_all()
    }

    /// Ends a recording: the target has ended, was detached, or is stopped. Waits until all events are written.
    pub fn finish_recording(&mut self) -> Option<RecordingResult> {
        let mut recording = self.probes.recording.take()?;
        self.probes.are_probes_used = false;
        recording.finish().map(|drain| drain.recorded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ring_size_is_clamped() {
        for (bytes, expected) in
            [(0, Ring::MIN_BITS), (1 << 20, 14), (3 << 20, 15), (u64::MAX, Ring::MAX_BITS)]
        {
            assert_eq!(bits(bytes), expected);
        }
    }
}
