//! The embedded monitors and the events of each site.

use crate::capture::{EventRegisters, GeneralRegisters};
use crate::control::INVIGIL_CONTROL;
use crate::integer_event::{EventSink, IntegerEvent};
use crate::lock::MAX_NAPS;
use crate::message::{Answer, MAX_INTS, Request, SiteEvent, SiteEvents};
use crate::pending_calls;
use crate::ring::Ring;
use crate::tail_calls;
use crate::threads;
use crate::{recording, shards, system};
use alloc::string::String;
use alloc::vec::Vec;
use core::sync::atomic::Ordering;
use invigil_expr::value::Value;
use invigil_monitor::embedded::{EmbeddedMonitors, EncodedReplayLog, LoadedAutomata, MonitorUpload};
use invigil_monitor::event::{Event, EventBatch, EventId, EventMeta};
use invigil_monitor::mac::{ScriptPlan, Scripts};

/// Host of the embedded monitors.
pub(crate) struct MonitorHost {
    sites: Vec<SiteInfo>,
    automata: LoadedAutomata,
    /// The scripts in their initial state.
    scripts: Option<Scripts>,
    /// Start time of the target, if scripts read the time.
    start_time: Option<u64>,
    pub(crate) monitors: Option<EmbeddedMonitors>,
    /// Number of events at the end of the log to which a reaction is due.
    reacting: u32,
    values: Vec<Value>,
    text: String,
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

impl MonitorHost {
    pub(crate) const fn new() -> MonitorHost {
        MonitorHost {
            sites: Vec::new(),
            automata: LoadedAutomata::new(),
            scripts: None,
            start_time: None,
            monitors: None,
            reacting: 0,
            values: Vec::new(),
            text: String::new(),
        }
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
        let Some(monitors) = &mut self.monitors else { return false };
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
        site: usize,
        registers: &EventRegisters<'_>,
        is_return_site: bool,
    ) -> Option<bool> {
        let before = self.monitors.as_ref()?.event_count();
        let mut reacts = self.step_site_events(site, registers)?;
        if is_return_site {
            reacts |= self.step_tail_returns(site, registers)?;
        }
        if reacts {
            self.reacting = (self.monitors.as_ref()?.event_count() - before) as u32;
        }
        Some(reacts)
    }

    fn step_site_events(&mut self, site: usize, registers: &EventRegisters<'_>) -> Option<bool> {
        let site = self.sites.get(site)?;
        let monitors = self.monitors.as_mut()?;
        let mut reacts = false;
        // The clock is read once per site.
        let now = self.start_time.filter(|_| site.feeds_scripts).map(|_| system::now());
        let stamp = stamp(self.start_time, now);
        for site_event in &site.events {
            if site.is_int_only && !site.feeds_scripts {
                let mut numbers = [0; MAX_INTS];
                if site_event.integers(registers, &mut numbers) {
                    let numbers = &numbers[..site_event.captures.len()];
                    // Sites with a fast path have tried it already.
                    reacts |= match site.integer_event {
                        Some(_) => monitors.step_ints_slow(site_event.event, numbers, registers.thread),
                        None => monitors.step_ints(site_event.event, numbers, registers.thread),
                    };
                    continue;
                }
            }
            self.values.clear();
            self.text.clear();
            for capture in &site_event.captures {
                let value = capture.value(registers, || now.unwrap_or_else(system::now), &mut self.text);
                self.values.push(value);
            }
            let event = Event { id: site_event.event, params: &self.values, text: &self.text };
            reacts |= monitors.step_with_scripts(&event, stamp, registers.thread);
        }
        Some(reacts)
    }

    /// Steps the monitors with the events of calls that end here because the function they tail-called has returned.
    // Not inlined: few sites have such calls, and its variables would enlarge a frame on the target's stack.
    #[inline(never)]
    fn step_tail_returns(&mut self, site: usize, registers: &EventRegisters<'_>) -> Option<bool> {
        let monitors = self.monitors.as_mut()?;
        let mut reacts = false;
        while let Some((call, return_event)) = tail_calls::take_ended(registers, site as u32) {
            let feeds_scripts =
                self.scripts.as_ref().is_some_and(|scripts| scripts.needs_event(return_event.event));
            let mut numbers = [0; MAX_INTS];
            if !feeds_scripts && return_event.integers(registers, &call, &mut numbers) {
                let numbers = &numbers[..return_event.params.len()];
                reacts |= monitors.step_ints(return_event.event, numbers, registers.thread);
                continue;
            }
            let now = self.start_time.filter(|_| feeds_scripts).map(|_| system::now());
            self.values.clear();
            self.text.clear();
            return_event.values(registers, &call, &mut self.text, &mut self.values);
            let event = Event { id: return_event.event, params: &self.values, text: &self.text };
            reacts |= monitors.step_with_scripts(&event, stamp(self.start_time, now), registers.thread);
        }
        Some(reacts)
    }

    /// Splits the slice table into shards, because threads often wait for each other.
    #[cold]
    pub(crate) fn open_shards(&mut self) {
        if let Some(monitors) = &mut self.monitors {
            shards::open(monitors, self.sites.iter().map(|site| site.integer_event.clone()));
        }
    }

    fn upload(&mut self, mut upload: MonitorUpload) -> Result<(), String> {
        let states = core::mem::take(&mut upload.scripts);
        let embedded = upload.monitors(&self.automata).ok_or("malformed state of a property")?;
        let mut monitors = EmbeddedMonitors::new(embedded);
        if let Some(scripts) = &self.scripts {
            let mut scripts = scripts.clone();
            if !scripts.restore(&states) {
                return Err("malformed state of the scripts".into());
            }
            monitors = monitors.with_scripts(scripts);
        }
        self.monitors = Some(monitors);
        self.reacting = 0;
        INVIGIL_CONTROL.frozen.store(0, Ordering::SeqCst);
        Ok(())
    }

    fn install_scripts(&mut self, plans: &[ScriptPlan], start_time: u64) -> Result<(), String> {
        let scripts = Scripts::new(plans)?;
        self.start_time = scripts.uses_time().then_some(start_time);
        self.scripts = Some(scripts);
        // The sites were prepared without the scripts.
        self.discard_shards();
        self.sites.clear();
        Ok(())
    }

    fn drain(&mut self) -> Option<EncodedReplayLog> {
        let due = core::mem::take(&mut self.reacting);
        Some(self.monitors.take()?.into_replay_log(due).encode())
    }

    fn step_batch(&mut self, events: &EventBatch, thread: u32) -> bool {
        let Some(monitors) = self.monitors.as_mut() else { return false };
        let before = monitors.event_count();
        let mut reacts = false;
        for at in 0..events.len() {
            reacts |= monitors.step_with_scripts(&events.event(at), events.meta(at), thread);
        }
        if reacts {
            self.reacting = (monitors.event_count() - before) as u32;
            INVIGIL_CONTROL.frozen.store(1, Ordering::SeqCst);
        }
        reacts
    }

    /// Discards the shards: the sites or the property change.
    fn discard_shards(&mut self) {
        drop(shards::take_all(self.monitors.as_mut()));
        shards::discard();
    }

    /// Answers a request while no thread steps the monitors. `None` if a stopped thread holds a lock.
    pub(crate) fn answer_exclusively(&mut self, request: Request) -> Option<Result<Answer, String>> {
        let uses = matches!(request, Request::Drain | Request::Upload(_) | Request::Step { .. });
        let shards =
            if uses { shards::take_all_within(MAX_NAPS, self.monitors.as_mut()).ok()? } else { None };
        let answer = self.answer(request);
        if let Some(shards) = shards {
            shards.release(self.monitors.as_mut());
        }
        Some(answer)
    }

    fn answer(&mut self, request: Request) -> Result<Answer, String> {
        match request {
            Request::Sites { first, sites } => {
                let Some(sites) = recording::set_sites(first, sites) else { return Ok(Answer::Done) };
                self.discard_shards();
                self.sites.truncate(first as usize);
                let scripts = self.scripts.as_ref();
                self.sites.extend(sites.into_iter().map(|site| SiteInfo::new(site, scripts)));
            }
            Request::Properties(properties) => {
                self.discard_shards();
                self.automata = LoadedAutomata::compile(properties);
            }
            Request::Scripts { plans, start_time } => self.install_scripts(&plans, start_time)?,
            Request::Record { at, bits, start_time } => {
                // SAFETY: the debugger has reserved this part of the library's memory.
                unsafe { recording::start(Ring::new(at as *const u8, bits), start_time) }
            }
            Request::Upload(upload) => self.upload(upload)?,
            Request::Drain => return Ok(Answer::Drained(self.drain())),
            Request::Calls(thread) => return Ok(Answer::Calls(pending_calls::of_thread(thread))),
            Request::TakeCalls => return Ok(Answer::Calls(pending_calls::take())),
            Request::PutCalls(all) => pending_calls::put(all),
            Request::TailCalls { return_events, tail_calls } => {
                tail_calls::set_events(return_events, tail_calls)
            }
            Request::ReturnSites(returns) => tail_calls::set_return_sites(returns),
            Request::TakeTailCalls => return Ok(Answer::TailCalls(pending_calls::take_tail_calls())),
            Request::PutTailCalls(all) => pending_calls::put_tail_calls(all),
            Request::Step { .. } if self.reacting > 0 => return Ok(Answer::Busy),
            Request::Step { events, thread } => return Ok(Answer::Stepped(self.step_batch(&events, thread))),
        }
        Ok(Answer::Done)
    }
}

/// Steps the monitors.
struct HostSink<'a>(&'a mut EmbeddedMonitors);

impl EventSink for HostSink<'_> {
    #[inline(always)]
    fn accept<const N: usize>(self, event: EventId, numbers: [i64; N]) -> bool {
        self.0.try_step_ints(event, &numbers)
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
}

/// Time of an event since the start of the target; NaN if it is not needed.
fn stamp(start_time: Option<u64>, now: Option<u64>) -> EventMeta {
    let time = match (start_time, now) {
        (Some(start_time), Some(now)) => now.saturating_sub(start_time) as f64 / 1e9,
        _ => f64::NAN,
    };
    EventMeta { time, line: 0 }
}
