//! Watchpoints: debug registers as long as there are free ones, then page protection.
//!
//! A debug register stops a thread after the access and costs nothing otherwise. A protected page stops it before any
//! access to the page: many ranges can be watched, but each access to the page costs time. Only pages can stop before
//! an access.

pub(crate) mod decode;
pub(crate) mod hardware;
mod pages;

use crate::maps;
use crate::native_target::NativeTarget;
use crate::sites::SiteId;
use crate::sys::Tid;
use crate::traced_thread::TracedThread;
use crate::tracer::trace_error;
use crate::trap_reasons::TrapReason;
use hardware::{DebugRegister, REGISTERS};
use invigil_debuginfo::value::TypedValue;
use invigil_target::pending_owners::OwnerSet;
use invigil_target::{BreakpointId, Owner, StopReason, TargetError, TargetResult};
pub(crate) use pages::{Contents, Pages};
use std::collections::BTreeMap;
use std::ops::Range;

/// Largest size of a stack: an address further up is not on it.
const MAX_STACK: u64 = 64 << 20;
/// Number of frames that are searched for the one a variable belongs to.
const MAX_FRAMES: usize = 256;
/// Largest size of a watched object: each of its pages is protected separately.
const MAX_BYTES: u64 = 1 << 20;

/// The accesses to watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AccessKind {
    pub(crate) read: bool,
    pub(crate) write: bool,
    /// Whether the thread stops before the access rather than after it.
    pub(crate) before: bool,
}

/// Why a range is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WatchReason {
    /// A watchpoint of the user or a scenario.
    Breakpoint(BreakpointId),
    /// An event, by the index of its plan.
    Event(u32),
}

/// Id of a watchpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct WatchpointId(u32);

/// A watched range.
#[derive(Clone, Debug)]
struct Watchpoint {
    id: WatchpointId,
    range: Range<u64>,
    access: AccessKind,
    reason: WatchReason,
    /// The watched object.
    typed_value: TypedValue,
    /// Whether it is watched by debug registers.
    in_registers: bool,
    /// The site where its lifetime ends, if it is a local variable.
    end: Option<(SiteId, TrapReason)>,
}

/// Accesses that a thread made, or is about to make, and that are being reported.
#[derive(Clone, Debug)]
pub(crate) struct PendingAccess {
    pub(crate) tid: Tid,
    hit_watchpoints: Vec<WatchpointId>,
    notified: OwnerSet,
    after_dispatch: AfterDispatch,
}

/// What follows when all owners were notified of an access.
#[derive(Clone, Debug)]
enum AfterDispatch {
    /// Nothing.
    Nothing,
    /// The access itself, and the watchpoints to report afterwards.
    Access(Vec<decode::MemoryAccess>, Vec<WatchpointId>),
    /// The events of the exit of the system call that made the access.
    SyscallExit,
}

/// All watchpoints.
#[derive(Debug, Default)]
pub(crate) struct WatchpointTable {
    all: Vec<Watchpoint>,
    /// The watchpoint that uses each debug register.
    register_watchpoints: [Option<WatchpointId>; REGISTERS],
    pages: Pages,
    last_id: u32,
    /// Contents of the memory watched by debug registers, saved when a thread enters a system call.
    pub(crate) before_call: BTreeMap<Tid, Contents>,
    /// The access that is being reported.
    pub(crate) pending_access: Option<PendingAccess>,
}

/// Checks that an object can be watched and returns its address range.
pub(crate) fn watchable_range(start: u64, length: u64) -> TargetResult<Range<u64>> {
    if length > MAX_BYTES {
        return Err(TargetError::Request(format!(
            "cannot watch {length} bytes: the limit is {MAX_BYTES}; watch a part of the object"
        )));
    }
    match start.checked_add(length) {
        Some(end) if length > 0 => Ok(start..end),
        Some(_) => Err(TargetError::Request("cannot watch an object of size 0".into())),
        None => Err(not_mapped(start)),
    }
}

fn not_mapped(address: u64) -> TargetError {
    TargetError::Request(format!("cannot watch {address:#x}: no memory is mapped there"))
}

impl WatchpointTable {
    fn get(&self, id: WatchpointId) -> Option<&Watchpoint> {
        self.all.iter().find(|watchpoint| watchpoint.id == id)
    }

    /// Whether an address is in a protected page.
    pub(crate) fn is_protected(&self, address: u64) -> bool {
        self.pages.has(address)
    }

    /// Whether any page is protected.
    pub(crate) fn has_pages(&self) -> bool {
        !self.pages.is_empty()
    }

    /// Removes all watchpoints: the target executed another program.
    pub(crate) fn forget(&mut self) {
        *self = WatchpointTable { last_id: self.last_id, ..WatchpointTable::default() };
    }
}

impl NativeTarget {
    /// Sets the debug registers of the stopped threads of this process.
    fn arm_all(&self) {
        let stopped =
            |thread: &&TracedThread| !thread.is_foreign_process && !thread.running && !thread.zombie;
        for thread in self.tracer.threads.values().filter(stopped) {
            // Irrelevant for a thread that has exited.
            let _ = hardware::arm(thread.tid, &self.tracer.debug_registers);
        }
    }

    /// Sets the debug registers of restored threads.
    pub(crate) fn rearm(&self) {
        if self.has_debug_registers() {
            self.arm_all();
        }
    }

    /// Clears the debug registers of all threads.
    pub(crate) fn disarm_all(&mut self) {
        if self.has_debug_registers() {
            self.tracer.debug_registers = Default::default();
            self.watchpoints.register_watchpoints = Default::default();
            self.arm_all();
        }
    }

    /// Whether any debug register is in use.
    pub(crate) fn has_debug_registers(&self) -> bool {
        self.tracer.debug_registers.iter().any(Option::is_some)
    }

    /// Checks that the whole range is mapped and readable; other memory cannot be protected.
    pub(crate) fn check_mapped(&self, range: &Range<u64>) -> TargetResult {
        let maps = maps::read(self.tracer.process).map_err(trace_error)?;
        let is_mapped = |page: &u64| {
            // A protected page is unreadable at present.
            self.watchpoints.is_protected(*page)
                || maps.iter().any(|map| map.read && map.range.contains(page))
        };
        match pages::pages_of(range.start, range.end).find(|page| !is_mapped(page)) {
            Some(page) => Err(not_mapped(page.max(range.start))),
            None => Ok(()),
        }
    }

    /// Watches an object.
    pub(crate) fn watch(
        &mut self,
        typed_value: TypedValue,
        range: Range<u64>,
        access: AccessKind,
        reason: WatchReason,
    ) -> TargetResult<WatchpointId> {
        self.tracer.stop_all()?;
        self.watchpoints.last_id += 1;
        let id = WatchpointId(self.watchpoints.last_id);
        let pieces: Vec<(u64, u64)> =
            hardware::aligned_pieces(range.start, range.end - range.start).collect();
        let free: Vec<usize> =
            (0..REGISTERS).filter(|number| self.tracer.debug_registers[*number].is_none()).collect();
        let in_registers = !access.before && pieces.len() <= free.len();
        if in_registers {
            for (number, (address, length)) in free.into_iter().zip(pieces) {
                self.tracer.debug_registers[number] =
                    Some(DebugRegister { address, length, reads: access.read });
                self.watchpoints.register_watchpoints[number] = Some(id);
            }
            self.arm_all();
        } else {
            self.protect_range(&range, access)?;
        }
        let end = self.end_of_variable(&range);
        if let Some((site, tid, above)) = end {
            self.add_trap_reason(site, TrapReason::FrameEnd { watchpoint: id, tid, above });
        }
        let end = end.map(|(site, tid, above)| (site, TrapReason::FrameEnd { watchpoint: id, tid, above }));
        self.watchpoints.all.push(Watchpoint { id, range, access, reason, typed_value, in_registers, end });
        self.update_syscall_tracing()?;
        Ok(id)
    }

    /// Removes a watchpoint.
    pub(crate) fn unwatch(&mut self, id: WatchpointId) -> TargetResult {
        let Some(at) = self.watchpoints.all.iter().position(|watchpoint| watchpoint.id == id) else {
            return Ok(());
        };
        let watchpoint = self.watchpoints.all.remove(at);
        if let Some((site, end)) = watchpoint.end {
            self.remove_trap_reason(site, end);
        }
        if self.termination.is_none() {
            self.tracer.stop_all()?;
        }
        if watchpoint.in_registers {
            for number in 0..REGISTERS {
                if self.watchpoints.register_watchpoints[number] == Some(id) {
                    self.watchpoints.register_watchpoints[number] = None;
                    self.tracer.debug_registers[number] = None;
                }
            }
            if self.termination.is_none() {
                self.arm_all();
            }
        } else {
            self.unprotect_range(&watchpoint.range, watchpoint.access)?;
        }
        self.update_syscall_tracing()
    }

    /// Site and stack pointer at which the lifetime of the variable at `range` ends, if it is a local variable of the
    /// selected thread.
    fn end_of_variable(&mut self, range: &Range<u64>) -> Option<(SiteId, Tid, u64)> {
        let tid = self.current;
        let sp = self.tracer.thread(tid).ok()?.registers().ok()?.rsp;
        // Memory below the stack pointer is dead, except the red zone of a leaf function.
        const RED_ZONE: u64 = 128;
        if range.start < sp.saturating_sub(RED_ZONE) || range.start - sp.min(range.start) > MAX_STACK {
            return None;
        }
        let frames = self.unwind(tid, MAX_FRAMES).ok()?;
        let at = frames.iter().position(|frame| frame.cfa.is_some_and(|cfa| range.start < cfa))?;
        let cfa = frames[at].cfa?;
        let caller = frames[at..].iter().find(|frame| frame.cfa != Some(cfa))?;
        let site = self.site_at(caller.pc).ok()?;
        Some((site, tid, cfa - 1))
    }

    /// Ends the watchpoints of variables whose call has returned, when a thread arrives at the return site.
    pub(crate) fn end_frame_watchpoints(&mut self, tid: Tid, site: SiteId) -> TargetResult {
        let sp = self.tracer.thread(tid)?.registers().map_err(trace_error)?.rsp;
        // Removing a watchpoint removes its reason from the site.
        for reason in self.trap_reasons.at(site).to_vec() {
            if let TrapReason::FrameEnd { watchpoint, tid: owner_thread, above } = reason
                && owner_thread == tid
                && sp > above
            {
                self.on_frame_end(watchpoint)?;
            }
        }
        Ok(())
    }

    /// Ends the watchpoint of a variable whose call has returned.
    fn on_frame_end(&mut self, id: WatchpointId) -> TargetResult {
        // The trap reason is removed with its watchpoint, so the watchpoint exists.
        let Some(reason) = self.watchpoints.get(id).map(|watchpoint| watchpoint.reason) else {
            return Ok(());
        };
        self.unwatch(id)?;
        match reason {
            WatchReason::Breakpoint(id) => self.watch_ended(id),
            WatchReason::Event(plan_index) => self.event_watch_ended(plan_index),
        }
        Ok(())
    }

    /// Handles a stop that a debug register may have caused.
    pub(crate) fn check_debug_registers(&mut self, tid: Tid) -> TargetResult<Option<StopReason>> {
        if !self.has_debug_registers() {
            return Ok(None);
        }
        let hit = self.matched_watchpoints(tid);
        if hit.is_empty() {
            return Ok(None);
        }
        self.start_access(PendingAccess {
            tid,
            hit_watchpoints: hit,
            notified: OwnerSet::default(),
            after_dispatch: AfterDispatch::Nothing,
        })
    }

    /// The watchpoints whose debug registers matched when a thread stopped.
    fn matched_watchpoints(&mut self, tid: Tid) -> Vec<WatchpointId> {
        let Ok(matched) = hardware::matched(tid) else { return Vec::new() };
        let mut hit: Vec<WatchpointId> = (0..REGISTERS)
            .filter(|number| matched[*number])
            .filter_map(|number| self.watchpoints.register_watchpoints[number])
            .collect();
        hit.dedup();
        self.refresh_call_snapshots(&hit);
        // The processor cannot watch reads alone.
        let reads_only = |watchpoint: &Watchpoint| watchpoint.access.read && !watchpoint.access.write;
        let any_reader = hit.iter().any(|id| self.watchpoints.get(*id).is_some_and(reads_only));
        if any_reader && self.just_wrote(tid) {
            hit.retain(|id| !self.watchpoints.get(*id).is_some_and(reads_only));
        }
        hit
    }

    /// Updates the snapshots of system calls: what this thread wrote was not written by another thread's call.
    fn refresh_call_snapshots(&mut self, hit: &[WatchpointId]) {
        if hit.is_empty() || self.watchpoints.before_call.is_empty() {
            return;
        }
        let current = self.contents(true);
        for snapshot in self.watchpoints.before_call.values_mut() {
            for (id, bytes) in snapshot.iter_mut().filter(|(id, _)| hit.contains(id)) {
                if let Some((_, new)) = current.iter().find(|(other, _)| other == id) {
                    bytes.clone_from(new);
                }
            }
        }
    }

    fn start_access(&mut self, access: PendingAccess) -> TargetResult<Option<StopReason>> {
        let tid = access.tid;
        self.watchpoints.pending_access = Some(access);
        self.current = tid;
        self.frame = 0;
        self.event_thread = Some(tid);
        self.notify_access()
    }

    /// Notifies the owners of the watchpoints that were hit, one after the other.
    pub(crate) fn notify_access(&mut self) -> TargetResult<Option<StopReason>> {
        loop {
            let Some(access) = self.watchpoints.pending_access.clone() else { return Ok(None) };
            let tid = access.tid;
            let mut owners = OwnerSet::default();
            for id in &access.hit_watchpoints {
                if let Some(owner) =
                    self.watchpoints.get(*id).and_then(|watchpoint| self.watch_owner(watchpoint.reason))
                {
                    owners = owners.with(owner);
                }
            }
            let Some(owner) = owners.next_pending(access.notified) else {
                self.watchpoints.pending_access = None;
                let (accesses, after) = match access.after_dispatch {
                    AfterDispatch::Nothing => return Ok(None),
                    AfterDispatch::SyscallExit => return self.emit_syscall_exit(tid),
                    AfterDispatch::Access(accesses, after) => (accesses, after),
                };
                self.perform_access(tid, &accesses)?;
                if after.is_empty() {
                    return Ok(None);
                }
                let notified = OwnerSet::default();
                self.watchpoints.pending_access = Some(PendingAccess {
                    tid,
                    hit_watchpoints: after,
                    notified,
                    after_dispatch: AfterDispatch::Nothing,
                });
                continue;
            };
            if let Some(access) = &mut self.watchpoints.pending_access {
                access.notified = access.notified.with(owner);
            }
            let stop = match owner {
                Owner::Monitors => self.emit_accesses(tid, &access.hit_watchpoints)?,
                owner => self.count_watchpoint_hits(tid, &access.hit_watchpoints, owner)?,
            };
            if stop.is_some() {
                return Ok(stop);
            }
        }
    }

    fn watch_owner(&self, reason: WatchReason) -> Option<Owner> {
        match reason {
            WatchReason::Breakpoint(id) => self.breakpoints.owner(id),
            WatchReason::Event(plan) => self.is_plan_active(plan).then_some(Owner::Monitors),
        }
    }

    fn emit_accesses(
        &mut self,
        tid: Tid,
        hit_watchpoints: &[WatchpointId],
    ) -> TargetResult<Option<StopReason>> {
        self.batch.clear();
        for id in hit_watchpoints {
            let Some(watchpoint) = self.watchpoints.get(*id) else { continue };
            if let WatchReason::Event(plan) = watchpoint.reason {
                let typed_value = watchpoint.typed_value.clone();
                let current = self.read_scalar(tid, &typed_value);
                self.emit_access(tid, plan, &current)?;
            }
        }
        Ok((!self.batch.is_empty()).then_some(StopReason::Events))
    }

    fn count_watchpoint_hits(
        &mut self,
        tid: Tid,
        hit_watchpoints: &[WatchpointId],
        owner: Owner,
    ) -> TargetResult<Option<StopReason>> {
        let reasons = hit_watchpoints
            .iter()
            .filter_map(|id| self.watchpoints.get(*id))
            .map(|watchpoint| watchpoint.reason);
        let breakpoints = reasons.filter_map(|reason| match reason {
            WatchReason::Breakpoint(id) => Some(id),
            WatchReason::Event(_) => None,
        });
        let due: Vec<BreakpointId> =
            breakpoints.filter(|id| self.breakpoints.owner(*id) == Some(owner)).collect();
        self.count_hits(tid, due, owner)
    }

    pub(crate) fn not_in_memory_error(expression: &str) -> TargetError {
        TargetError::Request(format!(
            "`{expression}` is not in memory here and cannot be watched; try again after `next`"
        ))
    }
}
