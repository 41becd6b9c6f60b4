//! Tail calls: functions that end with a jump to another function, which returns in their place.
//!
//! There is a probe at the jump, and another one at the return site. Return sites are found when a call is made: the
//! library refuses to continue at a jump whose return site it does not know, and the thread is dispatched as if it
//! had hit a trap ([`Tracer::site_needing_debugger`]). Then the debugger makes the return site, once for each address.
//! The debugger tracks the calls of a return site itself, as with traps, if no jump fits, if there is a breakpoint, or
//! if the library cannot track one of the calls.
//!
//! **Invariant:** all pending calls of a return site are tracked by the library, or all by the debugger. Without active
//! jumps, all are with the debugger.

use super::branch_targets::BranchTargetCache;
use super::capture::{capture, capture_argument};
use super::host_proxy::malformed_reply;
use crate::events::params::{is_pointee_of_argument, value_request};
use crate::events::{EventPlan, EventSite, SiteRole};
use crate::maps;
use crate::native_target::NativeTarget;
use crate::sites::SiteId;
use crate::sys::Tid;
use crate::traced_thread::PendingCall;
use crate::tracer::Tracer;
use crate::trap_reasons::TrapReason;
use iced_x86::{Instruction, OpKind, Register};
use invigil_debuginfo::value::Scalar;
use invigil_expr::value::Value;
use invigil_monitor::event::ParamSource;
use invigil_probe::capture::{Builtin, Capture, CaptureKind, PathBase, ValuePath};
use invigil_probe::message::{Answer, Request};
use invigil_probe::pending_calls::ARGUMENT_REGISTERS;
use invigil_probe::tail_calls::{
    DeferredParam, PendingTailCall, TAIL_CALL_MARK, TailCallEvent, TailReturnEvent, TailTarget,
};
use invigil_target::TargetResult;
use std::collections::BTreeMap;
use std::ops::Range;

/// The debugger's state of tail calls.
#[derive(Default)]
pub(crate) struct TailCalls {
    /// Whether the library tracks tail calls.
    pub(super) in_agent: bool,
    /// All return sites so far, and whether the library may track their calls.
    pub(super) known_return_sites: BTreeMap<SiteId, bool>,
    /// Whether the debugger has fetched all pending tail calls.
    all_fetched: bool,
    /// Whether the library may know return sites that are no longer valid.
    pub(super) is_outdated: bool,
}

/// Number of stack bytes that are searched for an interrupted address.
const MAX_STACK_SCAN: u64 = 1 << 20;

/// A parameter that is never available.
const UNAVAILABLE: DeferredParam = DeferredParam::AtReturn(Capture::Builtin(Builtin::Unavailable));

impl NativeTarget {
    /// The event of a function after a tail call. `None` if the debugger must read it.
    pub(super) fn tail_return_event(&self, plan: &EventPlan) -> Option<TailReturnEvent> {
        let entry = single_entry(plan)?;
        let params = plan.params.iter().enumerate().map(|(position, param)| {
            let captured = |read| capture(param, read, self.tracer.process, self.started_at_nanos);
            Some(match &param.source {
                // Read as at one of the function's own exits.
                ParamSource::Ret => {
                    let mut reads =
                        plan.sites.iter().filter_map(|event_site| event_site.reads.get(position)?.as_ref());
                    DeferredParam::AtReturn(captured(Some(reads.next()?))?)
                }
                source if is_pointee_of_argument(source) => {
                    match entry.and_then(|entry| entry.reads.get(position)?.as_ref()) {
                        Some(read) => DeferredParam::ByArgument(captured(Some(read)).filter(is_by_argument)?),
                        None => UNAVAILABLE,
                    }
                }
                source if value_request(source).is_none() => DeferredParam::AtReturn(captured(None)?),
                _ => DeferredParam::Saved,
            })
        });
        Some(TailReturnEvent { event: plan.event, params: params.collect::<Option<_>>()? })
    }

    /// What is saved at a tail call. `None` if the debugger must track it.
    pub(super) fn tail_call_event(&self, plan: &EventPlan, event_site: &EventSite) -> Option<TailCallEvent> {
        let return_event = self.tail_return_event(plan)?;
        let (jump, function_ranges) = event_site.jump.as_ref()?;
        let entry = single_entry(plan)?;
        if entry.is_some() && !self.can_track_in_agent(plan) {
            return None;
        }
        let mut saved = Vec::new();
        for (position, (param, deferred)) in plan.params.iter().zip(&return_event.params).enumerate() {
            let mut captures = Vec::new();
            if *deferred == DeferredParam::Saved {
                let read = event_site.reads.get(position)?.as_ref().filter(|read| read.is_available());
                if let Some(read) = read {
                    captures.push(capture(param, Some(read), self.tracer.process, self.started_at_nanos)?);
                }
                let is_certain = matches!(
                    captures[..],
                    [Capture::Read(ValuePath::General { .. } | ValuePath::Vector { .. }, _)]
                );
                let at_entry =
                    entry.and_then(|entry| Some((entry.site.0, entry.reads.get(position)?.as_ref()?)));
                if let Some((site, read)) = at_entry.filter(|(_, read)| read.is_available()) {
                    match capture_argument(site, read, false) {
                        Some(capture) => captures.push(capture),
                        None if is_certain => {}
                        None => return None,
                    }
                }
            }
            if captures.iter().any(is_text) {
                return None;
            }
            saved.push(captures);
        }
        let entry_site = entry.map(|entry| entry.site.0);
        Some(TailCallEvent {
            event: plan.event,
            target: tail_target(jump, function_ranges)?,
            entry_site,
            saved,
        })
    }

    /// The tail-call events of a site.
    fn tail_call_events_at(&self, id: SiteId) -> Vec<TailCallEvent> {
        let event_sites = self.trap_reasons.at(id).iter().filter_map(|reason| match reason {
            TrapReason::Event { plan_index, site_index } => {
                let plan = self.plans.get(*plan_index);
                Some((plan, plan.sites.get(*site_index as usize)?))
            }
            _ => None,
        });
        let tail_calls = event_sites.filter(|(_, event_site)| event_site.role == SiteRole::TailCall);
        tail_calls.filter_map(|(plan, event_site)| self.tail_call_event(plan, event_site)).collect()
    }

    /// Sends the library all tail-call events. All threads are stopped.
    pub(super) fn send_tail_call_events(&mut self) -> TargetResult {
        let return_events: Vec<TailReturnEvent> =
            self.plans.iter().filter_map(|plan| self.tail_return_event(plan)).collect();
        let ids = (0..self.tracer.sites.all.len() as u32)
            .map(|number| (number, self.tail_call_events_at(SiteId(number))));
        let tail_calls: Vec<_> = ids.filter(|(_, events)| !events.is_empty()).collect();
        self.probes.tail_calls.in_agent |= !tail_calls.is_empty();
        self.call_agent(&Request::TailCalls { return_events, tail_calls }).map(drop)
    }

    /// The return site of a tail call. Makes a return site that the library can use, if the library may track the
    /// call.
    pub(crate) fn return_site_of(
        &mut self,
        return_address: u64,
        can_track_in_agent: bool,
    ) -> TargetResult<Option<SiteId>> {
        let known_site = self.tracer.sites.return_sites.get(&return_address).copied();
        if !self.agent_tracks_calls() || !self.probes.tail_calls.in_agent {
            return Ok(self.site_at(return_address).ok());
        }
        match (known_site, can_track_in_agent) {
            (Some(site), true) => return Ok(Some(site)),
            (None, true) => {}
            (Some(site), false) => {
                // From now on the debugger tracks all calls that return there.
                self.tracer.stop_all()?;
                self.fetch_tail_calls()?;
                self.probes.tail_calls.known_return_sites.insert(site, false);
                return Ok(Some(site));
            }
            (None, false) => {
                let site = self.site_at(return_address).ok();
                self.probes.tail_calls.known_return_sites.extend(site.map(|site| (site, false)));
                return Ok(site);
            }
        }
        let Ok(site) = self.site_at(return_address) else { return Ok(None) };
        if !self.probes.tail_calls.known_return_sites.contains_key(&site) {
            self.tracer.stop_all()?;
            self.probes.tail_calls.known_return_sites.insert(site, true);
            self.make_probe(site, &mut BranchTargetCache::default())?;
            self.send_new_sites()?;
        }
        Ok(Some(site))
    }

    /// Whether a thread may be in a signal handler that returns into the middle of a range. The range was not known
    /// when the signal was delivered, so the thread was not moved then.
    pub(super) fn is_interrupted_in(&mut self, range: &Range<u64>) -> bool {
        let may_be_in_handler =
            self.tracer.threads.values_mut().filter(|thread| thread.may_be_in_handler && !thread.zombie);
        let stacks: Vec<u64> = may_be_in_handler
            .filter_map(|thread| thread.registers().ok())
            .map(|regs| regs.rsp / 8 * 8)
            .collect();
        let maps =
            if stacks.is_empty() { Vec::new() } else { maps::read(self.tracer.process).unwrap_or_default() };
        stacks.into_iter().any(|stack| {
            let Some(map) = maps.iter().find(|map| map.range.contains(&stack)) else { return true };
            let mut bytes = vec![0; (map.range.end - stack).min(MAX_STACK_SCAN) as usize];
            let read = self.tracer.memory.read_some(stack, &mut bytes);
            let (words, _) = bytes[..read].as_chunks::<8>();
            words.iter().any(|word| (range.start + 1..range.end).contains(&u64::from_le_bytes(*word)))
        })
    }

    /// Whether the library can track a tail call that the debugger has observed.
    pub(crate) fn can_save_in_agent(&self, plan: u32, call: &PendingCall) -> bool {
        self.saved_values(plan, call).is_some()
    }

    /// The saved parameters of a tail call that the debugger has observed, as the library saves them. `None` if it
    /// cannot save them.
    fn saved_values(&self, plan: u32, call: &PendingCall) -> Option<Vec<Value>> {
        let return_event = self.tail_return_event(self.plans.get(plan))?;
        let values = return_event.params.iter().enumerate().map(|(position, deferred)| {
            let saved = call.saved.get(position).filter(|_| *deferred == DeferredParam::Saved);
            Some(match saved.and_then(Option::as_ref) {
                None | Some(Scalar::Unavailable(_)) => Value::UNSET,
                Some(Scalar::Int(i)) => Value::int(*i),
                Some(Scalar::Float(f)) => Value::float(*f),
                Some(Scalar::Bool(b)) => Value::bool(*b),
                Some(Scalar::Str(_)) => return None,
            })
        });
        values.collect()
    }

    /// Converts a tail call that the debugger has observed for the library. `None` if the library cannot track it.
    pub(super) fn to_pending_tail_call(
        &self,
        tid: Tid,
        plan: u32,
        call: &PendingCall,
    ) -> Option<PendingTailCall> {
        let (return_site, values) = (call.return_site?.0, self.saved_values(plan, call)?);
        let arguments = call.entry.map(|(_, arguments)| arguments);
        Some(PendingTailCall {
            thread: tid as u32,
            event: call.event,
            sp: call.sp,
            return_site,
            arguments,
            values,
        })
    }

    /// For each return site so far, whether it has a probe.
    pub(super) fn return_sites_with_probe(&self) -> Vec<bool> {
        let return_sites = self.probes.tail_calls.known_return_sites.iter();
        return_sites.map(|(id, in_agent)| *in_agent && self.tracer.sites.get(*id).jump.is_some()).collect()
    }

    /// Converts a tail call that the library tracks for the debugger.
    fn pending_call_from_tail_call(&self, tail_call: &PendingTailCall) -> Option<PendingCall> {
        let plan = self.plans.iter().find(|plan| plan.event == tail_call.event)?;
        let entry = plan.sites.iter().position(|event_site| event_site.role == SiteRole::Entry);
        let saved = (0..plan.params.len()).map(|position| {
            let value = tail_call.values.get(position)?;
            let float = || value.as_float().map(Scalar::Float);
            value.as_int().map(Scalar::Int).or_else(|| value.as_bool().map(Scalar::Bool)).or_else(float)
        });
        Some(PendingCall {
            event: tail_call.event,
            sp: tail_call.sp,
            saved: saved.collect(),
            entry: entry
                .zip(tail_call.arguments)
                .map(|(event_site, arguments)| (event_site as u32, arguments)),
            return_site: Some(SiteId(tail_call.return_site)),
        })
    }

    /// Fetches the pending tail calls: the debugger awaits their returns from now on.
    pub(super) fn fetch_tail_calls(&mut self) -> TargetResult {
        if !self.probes.tail_calls.in_agent
            || std::mem::replace(&mut self.probes.tail_calls.all_fetched, true)
        {
            return Ok(());
        }
        let Answer::TailCalls(calls) = self.call_agent(&Request::TakeTailCalls)? else {
            return Err(malformed_reply());
        };
        for tail_call in calls {
            let Some(call) = self.pending_call_from_tail_call(&tail_call) else { continue };
            let Some(thread) = self.tracer.threads.get_mut(&(tail_call.thread as Tid)) else { continue };
            thread.calls.push(call);
            self.add_trap_reason(SiteId(tail_call.return_site), TrapReason::TailReturn);
        }
        Ok(())
    }

    /// Awaits pending tail calls in the debugger, because the target is resumed without jumps.
    pub(crate) fn await_tail_returns(&mut self) -> TargetResult {
        if !self.agent_tracks_calls() {
            return Ok(());
        }
        self.fetch_tail_calls()?;
        if std::mem::take(&mut self.tracer.sites.return_sites).is_empty() {
            return Ok(());
        }
        // A signal handler may still return to a trampoline: the library must track nothing there.
        self.call_agent(&Request::ReturnSites(Vec::new())).map(drop)
    }

    /// Discards the tail calls of the library: they are obsolete, or the debugger has them.
    pub(super) fn discard_agent_tail_calls(&mut self) -> TargetResult {
        self.probes.tail_calls.all_fetched = true;
        if self.probes.tail_calls.in_agent {
            self.call_agent(&Request::TakeTailCalls).map(drop)
        } else {
            Ok(())
        }
    }

    /// Sends pending tail calls to the library, which tracks them from now on.
    pub(super) fn send_tail_calls(&mut self, calls: Vec<PendingTailCall>) -> TargetResult {
        self.probes.tail_calls.all_fetched = false;
        for tail_call in &calls {
            self.remove_trap_reason(SiteId(tail_call.return_site), TrapReason::TailReturn);
        }
        if calls.is_empty() { Ok(()) } else { self.call_agent(&Request::PutTailCalls(calls)).map(drop) }
    }

    /// Sends the library the return sites that will have a jump. All threads are stopped, and jumps are about to be
    /// inserted.
    pub(super) fn sync_return_sites(&mut self) -> TargetResult {
        let calls =
            self.tracer.threads.iter().flat_map(|(tid, thread)| thread.calls.iter().map(|call| (*tid, call)));
        // If the library cannot track a call, the debugger tracks it, and all others that return to the same site.
        let debugger_sites: Vec<SiteId> = calls
            .filter(|(tid, call)| {
                self.plan_of(call).and_then(|plan| self.to_pending_tail_call(*tid, plan, call)).is_none()
            })
            .filter_map(|(_, call)| call.return_site)
            .collect();
        let can_have_jump = |id: SiteId| {
            let site = self.tracer.sites.get(id);
            let is_event_or_return =
                |reason: &TrapReason| matches!(reason, TrapReason::Event { .. } | TrapReason::TailReturn);
            !site.unmapped
                && !debugger_sites.contains(&id)
                && site.jump.as_ref().is_some_and(|jump| jump.flags == self.flags_at(id))
                && self.trap_reasons.at(id).iter().all(is_event_or_return)
                && !self.tracer.sites.is_shared(id, |other| !self.trap_reasons.at(other).is_empty())
                && self.events_at(id).is_some()
        };
        let return_sites = self
            .probes
            .tail_calls
            .known_return_sites
            .iter()
            .filter(|(id, can_track_in_agent)| **can_track_in_agent && can_have_jump(**id));
        let returns: BTreeMap<u64, SiteId> =
            return_sites.map(|(id, _)| (self.tracer.sites.get(*id).address, *id)).collect();
        if !std::mem::take(&mut self.probes.tail_calls.is_outdated)
            && returns == self.tracer.sites.return_sites
        {
            return Ok(());
        }
        self.fetch_tail_calls()?;
        self.call_agent(&Request::ReturnSites(
            returns.iter().map(|(address, id)| (*address, id.0)).collect(),
        ))?;
        self.tracer.sites.return_sites = returns;
        Ok(())
    }
}

impl Tracer {
    /// Returns the site of a thread that is about to make a tail call to a return site that the library does not
    /// know.
    pub(crate) fn site_needing_debugger(&mut self, tid: Tid) -> TargetResult<Option<SiteId>> {
        let regs = match self.thread(tid)?.registers() {
            Ok(regs) => regs,
            Err(_) => return Ok(None),
        };
        let is_tail_call = |id: &SiteId| {
            let site = self.sites.get(*id);
            site.jump_active && site.jump.as_ref().is_some_and(|jump| jump.flags & TAIL_CALL_MARK != 0)
        };
        let Some(site) = self.sites.at(regs.rip).filter(is_tail_call) else { return Ok(None) };
        let mut return_address = [0; 8];
        let is_read = self.memory.read(regs.rsp, &mut return_address).is_ok();
        let is_known = self.sites.return_sites.contains_key(&u64::from_le_bytes(return_address));
        Ok(Some(site).filter(|_| is_read && !is_known))
    }
}

/// The only entry site of a plan, if entries are tracked. `None` if there are several.
fn single_entry(plan: &EventPlan) -> Option<Option<&EventSite>> {
    let mut entries = plan.sites.iter().filter(|event_site| event_site.role == SiteRole::Entry);
    let first = entries.next();
    entries.next().is_none().then_some(first)
}

/// Whether the value is in memory that an argument register points to.
fn is_by_argument(capture: &Capture) -> bool {
    match capture {
        Capture::Builtin(_) => true,
        Capture::Read(ValuePath::Memory(PathBase::Register(number, _), _), _) => {
            ARGUMENT_REGISTERS.contains(number)
        }
        Capture::Read(..) => false,
    }
}

fn is_text(capture: &Capture) -> bool {
    matches!(capture, Capture::Read(_, CaptureKind::Text(_) | CaptureKind::TextPointer))
}

/// Converts the target of a jump for the library. `None` if that is impossible.
fn tail_target(jump: &Instruction, function_ranges: &[Range<u64>]) -> Option<TailTarget> {
    let body: Vec<_> = function_ranges.iter().map(|part| (part.start, part.end)).collect();
    match jump.op0_kind() {
        // If the jump is conditional, the probe is bypassed unless it is taken.
        OpKind::NearBranch64 => Some(TailTarget::Outside),
        OpKind::Register => {
            let base = Some(dwarf_number(jump.op0_register())?);
            Some(TailTarget::Computed { base, index: None, offset: 0, load: false, body })
        }
        OpKind::Memory if jump.segment_prefix() == Register::None => {
            let offset = jump.memory_displacement64();
            let base = match jump.memory_base() {
                // The displacement is the address then.
                Register::None | Register::RIP => None,
                base => Some(dwarf_number(base)?),
            };
            let index = match jump.memory_index() {
                Register::None => None,
                index => Some((dwarf_number(index)?, jump.memory_index_scale() as u8)),
            };
            Some(TailTarget::Computed { base, index, offset, load: true, body })
        }
        _ => None,
    }
}

/// DWARF number of a register.
fn dwarf_number(register: Register) -> Option<u8> {
    const NUMBERED: [Register; 16] = [
        Register::RAX,
        Register::RDX,
        Register::RCX,
        Register::RBX,
        Register::RSI,
        Register::RDI,
        Register::RBP,
        Register::RSP,
        Register::R8,
        Register::R9,
        Register::R10,
        Register::R11,
        Register::R12,
        Register::R13,
        Register::R14,
        Register::R15,
    ];
    NUMBERED.iter().position(|known| *known == register).map(|at| at as u8)
}
