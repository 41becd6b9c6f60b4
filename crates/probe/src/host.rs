//! The host of the embedded monitors, and the events of each site.

use crate::capture::{EventRegisters, GeneralRegisters};
use crate::control::INVIGIL_CONTROL;
use crate::integer_event::{EventSink, IntegerEvent};
use crate::message::{Answer, MAX_INTS, Request, SiteEvent, SiteEvents};
use crate::pending_calls::{self, PendingCall};
use crate::ring::Ring;
use crate::shards::ShardEngine;
use crate::tail_calls;
use crate::threads;
use crate::{recording, shards, system};
use alloc::string::String;
use alloc::vec::Vec;
use core::sync::atomic::Ordering;
use invigil_expr::value::Value;
use invigil_monitor::embedded::{EmbeddedMonitors, ExternalEngine, HostReply, HostRequest, MonitorHost};
use invigil_monitor::event::{Event, EventId, EventMeta};
use invigil_monitor::mac::Scripts;

/// The sites, and the host of the embedded monitors that step at them.
pub(crate) struct SiteHost {
    sites: Vec<SiteInfo>,
    host: MonitorHost,
    /// Start time of the target, if scripts read the time.
    start_time: Option<u64>,
    buffer: EventBuffer,
}

/// Events of a site, with facts computed once.
struct SiteInfo {
    events: Vec<SiteEvent>,
    /// Whether scripts derive events from some of its events. Then there is no fast path.
    feeds_scripts: bool,
    /// Whether all parameters of its events are integers and there are few of them.
    is_int_only: bool,
    /// Its only event, if that can take the fast path.
    integer_event: Option<IntegerEvent>,
}

impl SiteHost {
    pub(crate) const fn new() -> SiteHost {
        SiteHost {
            sites: Vec::new(),
            host: MonitorHost::new(),
            start_time: None,
            buffer: EventBuffer { values: Vec::new(), text: String::new() },
        }
    }

    /// The embedded monitors.
    pub(crate) fn monitors_mut(&mut self) -> Option<&mut EmbeddedMonitors> {
        self.host.monitors_mut()
    }

    /// Steps the monitors with the only event of a site, on the fast path. Returns false, having done nothing, if the
    /// event needs the slow path or a reaction is due.
    ///
    /// `single_thread` is the id of the target's only thread, or 0.
    #[inline(always)]
    pub(crate) fn fast_step(&mut self, site: usize, general: &GeneralRegisters, single_thread: u32) -> bool {
        let Some(SiteInfo { integer_event: Some(integer_event), .. }) = self.sites.get(site) else {
            return false;
        };
        let Some(monitors) = self.host.monitors_mut() else { return false };
        let thread = if single_thread != 0 { single_thread } else { threads::id(threads::base()) };
        if !monitors.try_set_thread(thread) {
            return false;
        }
        integer_event.deliver(general, thread, HostSink(monitors))
    }

    /// Steps the monitors with all events of a site, then with those of calls that return here after a tail call.
    /// Returns whether a reaction is due; `None` if there are no monitors or no such site.
    pub(crate) fn step_site(
        &mut self,
        number: usize,
        registers: &EventRegisters<'_>,
        is_return_site: bool,
    ) -> Option<bool> {
        let SiteHost { sites, host, start_time, buffer } = self;
        let site = sites.get(number)?;
        host.step_site(|monitors| {
            let mut reacts = site.step(monitors, registers, *start_time, buffer);
            if is_return_site {
                reacts |= step_tail_returns(monitors, number, registers, *start_time, buffer);
            }
            reacts
        })
    }

    /// Splits the slice table into shards, because threads often wait for each other.
    #[cold]
    pub(crate) fn open_shards(&mut self) {
        if let Some(monitors) = self.host.monitors_mut() {
            shards::open(monitors, self.sites.iter().map(|site| site.integer_event.clone()));
        }
    }

    /// Answers a request while no thread steps the monitors.
    pub(crate) fn answer(&mut self, request: Request) -> Answer {
        match request {
            Request::Host(request) => return Answer::Host(self.answer_host_request(request)),
            Request::Sites { first, sites } => {
                let Some(sites) = recording::set_sites(first, sites) else { return Answer::Done };
                ShardEngine::default().discard(self.host.monitors_mut());
                self.sites.truncate(first as usize);
                let scripts = self.host.scripts();
                self.sites.extend(sites.into_iter().map(|site| SiteInfo::new(site, scripts)));
            }
            Request::Record { at, bits, start_time } => {
                // SAFETY: the debugger has reserved this part of the library's memory.
                unsafe { recording::start(Ring::new(at as *const u8, bits), start_time) }
            }
            Request::Calls(thread) => return calls(pending_calls::of_thread(thread)),
            Request::TakeCalls => return calls(pending_calls::take()),
            Request::PutCalls(all) => return done(pending_calls::put(all)),
            Request::TailCalls { return_events, tail_calls } => {
                tail_calls::set_events(return_events, tail_calls)
            }
            Request::ReturnSites(returns) => tail_calls::set_return_sites(returns),
            Request::TakeTailCalls => {
                return pending_calls::take_tail_calls().map_or(Answer::Locked, Answer::TailCalls);
            }
            Request::PutTailCalls(all) => return done(pending_calls::put_tail_calls(all)),
        }
        Answer::Done
    }

    fn answer_host_request(&mut self, request: HostRequest) -> HostReply {
        let loads_scripts = matches!(request, HostRequest::LoadScripts(_));
        let uploads = matches!(request, HostRequest::Upload(_));
        let reply = self.host.answer(request, &mut ShardEngine::default());
        if loads_scripts {
            let uses_time = self.host.scripts().is_some_and(Scripts::uses_time);
            self.start_time = uses_time.then(|| INVIGIL_CONTROL.start_time.load(Ordering::Relaxed));
            // The sites were prepared without the scripts.
            self.sites.clear();
        }
        // Threads see without the lock whether the host is frozen; `ShardEngine` has told them if it is.
        if uploads && matches!(reply, HostReply::Done) {
            INVIGIL_CONTROL.frozen.store(0, Ordering::SeqCst);
        }
        reply
    }
}

/// The answer with pending calls.
fn calls(found: Option<Vec<PendingCall>>) -> Answer {
    found.map_or(Answer::Locked, Answer::Calls)
}

/// The answer to a request without a result.
fn done(result: Option<()>) -> Answer {
    result.map_or(Answer::Locked, |()| Answer::Done)
}

/// Memory for the values of an event, reused by the next one.
struct EventBuffer {
    values: Vec<Value>,
    text: String,
}

impl EventBuffer {
    fn clear(&mut self) {
        self.values.clear();
        self.text.clear();
    }

    fn event(&self, id: EventId) -> Event<'_> {
        Event { id, params: &self.values, text: &self.text }
    }
}

impl SiteInfo {
    fn new(events: SiteEvents, scripts: Option<&Scripts>) -> SiteInfo {
        let feeds_scripts =
            scripts.is_some_and(|scripts| events.iter().any(|event| scripts.needs_event(event.event)));
        let is_int_only = events.iter().all(SiteEvent::is_int_only);
        let integer_event = if feeds_scripts { None } else { IntegerEvent::of(&events) };
        SiteInfo { events, feeds_scripts, is_int_only, integer_event }
    }

    /// Steps the monitors with the events of this site. Returns whether a reaction is due.
    fn step(
        &self,
        monitors: &mut EmbeddedMonitors,
        registers: &EventRegisters<'_>,
        start_time: Option<u64>,
        buffer: &mut EventBuffer,
    ) -> bool {
        let mut reacts = false;
        // The clock is read once per site.
        let now = start_time.filter(|_| self.feeds_scripts).map(|_| system::now());
        let stamp = stamp(start_time, now);
        for site_event in &self.events {
            if self.is_int_only && !self.feeds_scripts {
                let mut numbers = [0; MAX_INTS];
                if site_event.integers(registers, &mut numbers) {
                    let numbers = &numbers[..site_event.captures.len()];
                    // Sites with a fast path have tried it already.
                    reacts |= match self.integer_event {
                        Some(_) => monitors.step_ints_slow(site_event.event, numbers, registers.thread),
                        None => monitors.step_ints(site_event.event, numbers, registers.thread),
                    };
                    continue;
                }
            }
            buffer.clear();
            for capture in &site_event.captures {
                let value = capture.value(registers, || now.unwrap_or_else(system::now), &mut buffer.text);
                buffer.values.push(value);
            }
            reacts |= monitors.step_with_scripts(&buffer.event(site_event.event), stamp, registers.thread);
        }
        reacts
    }
}

/// Steps the monitors with the events of calls that end here because the function they tail-called has returned.
// Not inlined: few sites have such calls, and its variables would enlarge a frame on the target's stack.
#[inline(never)]
fn step_tail_returns(
    monitors: &mut EmbeddedMonitors,
    site: usize,
    registers: &EventRegisters<'_>,
    start_time: Option<u64>,
    buffer: &mut EventBuffer,
) -> bool {
    let mut reacts = false;
    while let Some((call, return_event)) = tail_calls::take_ended(registers, site as u32) {
        let feeds_scripts = monitors.scripts_follow(return_event.event);
        let mut numbers = [0; MAX_INTS];
        if !feeds_scripts && return_event.integers(registers, &call, &mut numbers) {
            let numbers = &numbers[..return_event.params.len()];
            reacts |= monitors.step_ints(return_event.event, numbers, registers.thread);
            continue;
        }
        let now = start_time.filter(|_| feeds_scripts).map(|_| system::now());
        buffer.clear();
        return_event.values(registers, &call, &mut buffer.text, &mut buffer.values);
        let event = buffer.event(return_event.event);
        reacts |= monitors.step_with_scripts(&event, stamp(start_time, now), registers.thread);
    }
    reacts
}

/// Steps the monitors.
struct HostSink<'a>(&'a mut EmbeddedMonitors);

impl EventSink for HostSink<'_> {
    #[inline(always)]
    fn accept<const N: usize>(self, event: EventId, numbers: [i64; N]) -> bool {
        self.0.try_step_ints(event, &numbers)
    }
}

/// Time of an event since the start of the target; NaN if it is not needed.
fn stamp(start_time: Option<u64>, now: Option<u64>) -> EventMeta {
    let time = match (start_time, now) {
        (Some(start_time), Some(now)) => now.saturating_sub(start_time) as f64 / 1e9,
        _ => f64::NAN,
    };
    EventMeta { time, line: 0 }
}
