//! Recording: events go to the debugger through a ring, and no monitor steps.

use crate::agent::{CONTINUE, RETRY};
use crate::capture::{EventRegisters, GeneralRegisters};
use crate::control::INVIGIL_CONTROL;
use crate::integer_event::{EventSink, IntegerEvent};
use crate::message::{MAX_INTS, SiteEvent, SiteEvents};
use crate::ring::{EventHeader, NO_TIME, PushOutcome, Ring};
use crate::tail_calls::{self, TailExit};
use crate::{system, threads};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ptr;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use invigil_expr::value::Value;
use invigil_monitor::event::EventId;

/// The recording, if one is active. It changes only while the target is stopped and no thread is in the library.
static RECORDING: AtomicPtr<Recording> = AtomicPtr::new(ptr::null_mut());

struct Recording {
    ring: Ring,
    /// Start time of the target, if times are recorded.
    start_time: Option<u64>,
    sites: Vec<RecordedSite>,
}

/// Recorded events of a site.
struct RecordedSite {
    events: Vec<RecordedEvent>,
    /// Its only event, if that can take the fast path.
    integer_event: Option<IntegerEvent>,
}

struct RecordedEvent {
    event: SiteEvent,
    /// Whether all parameters are integers and there are few of them.
    is_int_only: bool,
}

/// Starts recording into a ring. The target is stopped, and no thread is in the library.
///
/// # Safety
/// The memory of the ring is valid as long as the library is mapped.
pub(crate) unsafe fn start(ring: Ring, start_time: Option<u64>) {
    let recording = Recording { ring, start_time, sites: Vec::new() };
    let before = RECORDING.swap(Box::into_raw(Box::new(recording)), AcqRel);
    if !before.is_null() {
        // SAFETY: the pointer came from a box and is no longer reachable.
        drop(unsafe { Box::from_raw(before) });
    }
}

/// Sets the events of the sites from number `first` on. Returns the sites if nothing is recorded. The target is
/// stopped, and no thread is in the library.
pub(crate) fn set_sites(first: u32, sites: Vec<SiteEvents>) -> Option<Vec<SiteEvents>> {
    // SAFETY: the pointer came from a box that no thread uses at the moment.
    let Some(recording) = (unsafe { RECORDING.load(Acquire).as_mut() }) else { return Some(sites) };
    let recorded = |event: SiteEvent| RecordedEvent { is_int_only: event.is_int_only(), event };
    let site_of = |site: SiteEvents| RecordedSite {
        integer_event: IntegerEvent::of(&site),
        events: site.into_iter().map(recorded).collect(),
    };
    recording.sites.truncate(first as usize);
    recording.sites.extend(sites.into_iter().map(site_of));
    None
}

/// Fast path of an event. Returns whether it was recorded; otherwise nothing was done. `None` if nothing is recorded.
#[inline(always)]
pub(crate) fn fast_hit(general: &GeneralRegisters, site: u32) -> Option<bool> {
    // SAFETY: the pointer came from a box that is not freed while threads are in the library.
    let recording = unsafe { RECORDING.load(Acquire).as_ref() }?;
    Some(recording.fast_hit(general, site))
}

/// Slow path of an event. `None` if nothing is recorded.
pub(crate) fn hit(
    registers: &EventRegisters<'_>,
    site: u32,
    is_return_site: bool,
    exit: TailExit,
) -> Option<u32> {
    // SAFETY: the pointer came from a box that is not freed while threads are in the library.
    let recording = unsafe { RECORDING.load(Acquire).as_ref() }?;
    let how = recording.hit(registers, site);
    if how != RETRY {
        if is_return_site {
            recording.end_calls(registers, site);
        }
        if let TailExit::To(return_site) = exit {
            tail_calls::add_tail_calls(registers, site, return_site);
        }
    }
    Some(how)
}

fn is_frozen() -> bool {
    INVIGIL_CONTROL.frozen.load(Relaxed) != 0
}

impl Recording {
    /// Records an event with few integers, if a slot is free and times are not recorded.
    #[inline(always)]
    fn fast_hit(&self, general: &GeneralRegisters, site: u32) -> bool {
        let Some(RecordedSite { integer_event: Some(integer_event), .. }) = self.sites.get(site as usize)
        else {
            return false;
        };
        if self.start_time.is_some() || is_frozen() {
            return false;
        }
        let thread = threads::id(threads::base());
        integer_event.deliver(general, thread, RingSink { ring: &self.ring, thread })
    }

    fn hit(&self, registers: &EventRegisters<'_>, site: u32) -> u32 {
        let Some(site) = self.sites.get(site as usize).filter(|_| !is_frozen()) else { return RETRY };
        for (at, recorded) in site.events.iter().enumerate() {
            // Once the first event of a site is recorded, the others must follow: the thread may no longer retry.
            let pushed = if at == 0 {
                self.record(recorded, registers, &is_frozen)
            } else {
                self.record(recorded, registers, &|| false)
            };
            if pushed == PushOutcome::WouldBlock {
                return RETRY;
            }
        }
        CONTINUE
    }

    /// Records the events of calls that end here because the function they tail-called has returned. They are never
    /// retried.
    fn end_calls(&self, registers: &EventRegisters<'_>, site: u32) {
        while let Some((call, return_event)) = tail_calls::take_ended(registers, site) {
            let header = self.header(return_event.event, registers);
            let mut numbers = [0; MAX_INTS];
            if return_event.integers(registers, &call, &mut numbers) {
                self.ring.push_ints(&header, &numbers[..return_event.params.len()], &|| false);
                continue;
            }
            let (mut text, mut values) = (String::new(), Vec::new());
            return_event.values(registers, &call, &mut text, &mut values);
            self.ring.push(&header, &values, &text, &|| false);
        }
    }

    #[inline]
    fn header(&self, event: EventId, registers: &EventRegisters<'_>) -> EventHeader {
        let time = self.start_time.map_or(NO_TIME, |start_time| system::now().saturating_sub(start_time));
        EventHeader { event, thread: registers.thread, time }
    }

    #[inline]
    fn record(
        &self,
        recorded: &RecordedEvent,
        registers: &EventRegisters<'_>,
        may_not_wait: &dyn Fn() -> bool,
    ) -> PushOutcome {
        let event = &recorded.event;
        let header = self.header(event.event, registers);
        if recorded.is_int_only {
            let mut numbers = [0; MAX_INTS];
            if event.integers(registers, &mut numbers) {
                return self.ring.push_ints(&header, &numbers[..event.captures.len()], may_not_wait);
            }
        }
        let mut text = String::new();
        let values = event.captures.iter().map(|capture| capture.value(registers, system::now, &mut text));
        let values: Vec<Value> = values.collect();
        self.ring.push(&header, &values, &text, may_not_wait)
    }
}

/// Writes an event to the ring.
struct RingSink<'a> {
    ring: &'a Ring,
    thread: u32,
}

impl EventSink for RingSink<'_> {
    #[inline(always)]
    fn accept<const N: usize>(self, event: EventId, numbers: [i64; N]) -> bool {
        self.ring.try_push_few(&EventHeader { event, thread: self.thread, time: NO_TIME }, &numbers)
    }
}
