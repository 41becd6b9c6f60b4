//! Watchpoints by page protection.
//!
//! A thread that accesses a protected page faults before the access. The page is then opened, the one instruction
//! executed while all other threads are stopped, and the page protected again. A system call that fails because of a
//! protected page is repeated with the page open.

use super::hardware::{self, REGISTERS};
use super::{AccessKind, AfterDispatch, PendingAccess, WatchpointId, decode};
use crate::inject::{self, raw};
use crate::maps;
use crate::native_target::NativeTarget;
use crate::sys::{self, Regs, ResumeRequest, Tid};
use crate::tracer::trace_error;
use invigil_debuginfo::machine::Memory;
use invigil_target::pending_owners::OwnerSet;
use invigil_target::{StopReason, TargetError, TargetResult};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, Instant};

const PAGE_SIZE: u64 = 4096;
/// A system call that takes longer than this is considered blocked.
const BLOCKING_AFTER: Duration = Duration::from_millis(2);
const EFAULT: i64 = -(libc::EFAULT as i64);

/// Contents of watched ranges.
pub(crate) type Contents = Vec<(WatchpointId, Vec<u8>)>;

/// A protected page.
#[derive(Clone, Copy, Debug)]
struct Page {
    /// The target's own protection.
    original: u64,
    /// The current protection.
    now: u64,
    /// Number of watchpoints for reads.
    readers: u32,
    /// Number of write-only watchpoints.
    writers: u32,
}

impl Page {
    /// The protection that makes all watched accesses fault.
    fn required_protection(&self) -> u64 {
        match (self.readers, self.writers) {
            (0, 0) => self.original,
            (0, _) => self.original & !(libc::PROT_WRITE as u64),
            _ => libc::PROT_NONE as u64,
        }
    }
}

/// All protected pages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pages {
    all: BTreeMap<u64, Page>,
}

impl Pages {
    pub(crate) fn has(&self, address: u64) -> bool {
        self.all.contains_key(&(address & !(PAGE_SIZE - 1)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// The pages of a range.
pub(super) fn pages_of(start: u64, end: u64) -> impl Iterator<Item = u64> {
    ((start & !(PAGE_SIZE - 1))..end.max(start.saturating_add(1))).step_by(PAGE_SIZE as usize)
}

impl NativeTarget {
    /// The current protections, for a checkpoint.
    pub(crate) fn protections(&self) -> Pages {
        self.watchpoints.pages.clone()
    }

    /// Adopts the page protections of a restored checkpoint and updates them for the current watchpoints.
    pub(crate) fn reprotect(&mut self, mut restored: Pages) -> TargetResult {
        let maps = maps::read(self.tracer.process).map_err(trace_error)?;
        restored.all.values_mut().for_each(|page| (page.readers, page.writers) = (0, 0));
        self.watchpoints.pages = restored;
        let watchpoints: Vec<_> =
            self.watchpoints.all.iter().filter(|watchpoint| !watchpoint.in_registers).cloned().collect();
        for watchpoint in &watchpoints {
            for page in pages_of(watchpoint.range.start, watchpoint.range.end) {
                self.adjust_watch_count(&maps, page, watchpoint.access, 1);
            }
        }
        let pages: Vec<u64> = self.watchpoints.pages.all.keys().copied().collect();
        self.protect(&pages)?;
        self.update_syscall_tracing()
    }

    /// Protects the pages of a range.
    pub(super) fn protect_range(&mut self, range: &Range<u64>, access: AccessKind) -> TargetResult {
        let pages: Vec<u64> = pages_of(range.start, range.end).collect();
        self.check_protectable(&pages)?;
        let are_known = pages.iter().all(|page| self.watchpoints.pages.all.contains_key(page));
        let maps =
            if are_known { Vec::new() } else { maps::read(self.tracer.process).map_err(trace_error)? };
        for page in &pages {
            self.adjust_watch_count(&maps, *page, access, 1);
        }
        self.protect(&pages)
    }

    /// Removes the protection of a range, as far as no other watchpoint needs it.
    pub(super) fn unprotect_range(&mut self, range: &Range<u64>, access: AccessKind) -> TargetResult {
        let pages: Vec<u64> = pages_of(range.start, range.end).collect();
        for page in &pages {
            self.adjust_watch_count(&[], *page, access, -1);
        }
        if self.termination.is_some() {
            self.watchpoints.pages.all.retain(|_, page| page.readers + page.writers > 0);
            return Ok(());
        }
        self.protect(&pages)
    }

    /// Adds `by` to the number of watchpoints on a page.
    fn adjust_watch_count(&mut self, maps: &[maps::Mapping], page: u64, access: AccessKind, by: i32) {
        let page = self.watchpoints.pages.all.entry(page).or_insert_with(|| {
            let original = maps.iter().find(|map| map.range.contains(&page)).map_or(0, protection);
            Page { original, now: original, readers: 0, writers: 0 }
        });
        let count = if access.read { &mut page.readers } else { &mut page.writers };
        *count = count.saturating_add_signed(by);
    }

    /// Checks that no page contains a thread's control block: the kernel accesses it (robust list, rseq) and kills the
    /// program if it cannot.
    fn check_protectable(&mut self, pages: &[u64]) -> TargetResult {
        /// Upper bound on the size of the control block, glibc's `struct pthread`: 0x900 bytes in glibc 2.35.
        const THREAD_AREA: u64 = 0xa00;
        for tid in self.tracer.threads.keys().copied().collect::<Vec<_>>() {
            let Ok(regs) = self.tracer.thread(tid)?.registers() else { continue };
            if pages_of(regs.fs_base, regs.fs_base + THREAD_AREA).any(|page| pages.contains(&page)) {
                return Err(TargetError::Request(
                    "cannot protect a page that holds thread-local data: use a debug register (remove another \
                     watchpoint), or watch after the access"
                        .into(),
                ));
            }
        }
        Ok(())
    }

    /// Sets the protections these pages need.
    fn protect(&mut self, pages: &[u64]) -> TargetResult {
        let tid = self.stopped_thread()?;
        for at in pages {
            let Some(page) = self.watchpoints.pages.all.get(at).copied() else { continue };
            let protection = page.required_protection();
            if page.now != protection {
                self.mprotect(tid, *at, protection)?;
            }
            if page.readers + page.writers == 0 {
                self.watchpoints.pages.all.remove(at);
            } else if let Some(page) = self.watchpoints.pages.all.get_mut(at) {
                page.now = protection;
            }
        }
        Ok(())
    }

    /// Removes all protections for good.
    pub(crate) fn unprotect_all(&mut self) -> TargetResult {
        self.watchpoints.all.retain(|watchpoint| watchpoint.in_registers);
        let pages: Vec<u64> = self.watchpoints.pages.all.keys().copied().collect();
        self.watchpoints.pages.all.values_mut().for_each(|page| (page.readers, page.writers) = (0, 0));
        self.protect(&pages)
    }

    /// Removes the protections in a child process, which is detached.
    pub(crate) fn unprotect_in_child(&mut self, child: Tid) {
        for (at, page) in &self.watchpoints.pages.all {
            let arguments = [*at, PAGE_SIZE, page.original, 0, 0, 0];
            // Irrelevant if it has exited.
            let _ = inject::syscall(Pid::from_raw(child), self.scratch, libc::SYS_mprotect, arguments);
        }
    }

    fn mprotect(&mut self, tid: Tid, page: u64, protection: u64) -> TargetResult {
        let result = self.inject(tid, libc::SYS_mprotect, [page, PAGE_SIZE, protection, 0, 0, 0])?;
        // Unmapped pages need no change.
        if result < 0 && result != -i64::from(libc::ENOMEM) {
            let error = std::io::Error::from_raw_os_error(-result as i32);
            return Err(TargetError::Control(format!("cannot watch the page at {page:#x}: {error}")));
        }
        Ok(())
    }

    /// Handles a fault in a protected page.
    pub(crate) fn on_protected_access(&mut self, tid: Tid, address: u64) -> TargetResult<Option<StopReason>> {
        self.tracer.stop_all()?;
        let thread = self.tracer.thread(tid)?;
        thread.signal = 0;
        let regs = thread.registers().map_err(trace_error)?;
        let accesses = self.upcoming_accesses(&regs, address);
        // Includes those in debug registers: the step below clears their matches.
        let hits = |wanted: &dyn Fn(&AccessKind) -> bool| -> Vec<WatchpointId> {
            let all = self.watchpoints.all.iter().filter(|watchpoint| wanted(&watchpoint.access));
            all.filter(|watchpoint| {
                accesses.iter().any(|access| {
                    let overlaps = access.range.start < watchpoint.range.end
                        && watchpoint.range.start < access.range.end;
                    overlaps
                        && (access.reads && watchpoint.access.read
                            || access.writes && watchpoint.access.write)
                })
            })
            .map(|watchpoint| watchpoint.id)
            .collect()
        };
        let before = hits(&|access| access.before);
        let after = hits(&|access| !access.before);
        if before.is_empty() {
            self.perform_access(tid, &accesses)?;
            if after.is_empty() {
                self.tracer.cont_all()?;
                return Ok(None);
            }
            let access = PendingAccess {
                tid,
                hit_watchpoints: after,
                notified: OwnerSet::default(),
                after_dispatch: AfterDispatch::Nothing,
            };
            return self.start_access_or_resume(access);
        }
        let after_dispatch = AfterDispatch::Access(accesses, after);
        self.start_access_or_resume(PendingAccess {
            tid,
            hit_watchpoints: before,
            notified: OwnerSet::default(),
            after_dispatch,
        })
    }

    /// Handles a fault of another process that shares the memory. It is not reported.
    pub(crate) fn on_foreign_access(&mut self, tid: Tid, address: u64) -> TargetResult {
        self.tracer.stop_all()?;
        let regs = self.tracer.thread(tid)?.registers().map_err(trace_error)?;
        let accesses = self.upcoming_accesses(&regs, address);
        self.perform_access(tid, &accesses)?;
        self.tracer.cont_all()
    }

    fn start_access_or_resume(&mut self, access: PendingAccess) -> TargetResult<Option<StopReason>> {
        let stop = self.start_access(access)?;
        if stop.is_none() {
            self.event_thread = None;
            self.tracer.cont_all()?;
        }
        Ok(stop)
    }

    /// The accesses of the instruction at a thread's pc; at least the one that faulted.
    fn upcoming_accesses(&self, regs: &Regs, address: u64) -> Vec<decode::MemoryAccess> {
        let mut bytes = [0; 15];
        let read = self.tracer.memory.read_some(regs.rip, &mut bytes);
        self.tracer.sites.mask_traps(regs.rip, &mut bytes[..read]);
        let mut all = decode::instruction(&bytes[..read], regs.rip)
            .map(|instruction| decode::accesses(&instruction, regs))
            .unwrap_or_default();
        if !all.iter().any(|access| access.range.contains(&address)) {
            all.push(decode::MemoryAccess { range: address..address + 1, reads: true, writes: true });
        }
        all
    }

    /// Executes a thread's current instruction with its pages open.
    pub(super) fn perform_access(&mut self, tid: Tid, accesses: &[decode::MemoryAccess]) -> TargetResult {
        let mut pages: Vec<u64> = accesses
            .iter()
            .flat_map(|access| pages_of(access.range.start, access.range.end))
            .filter(|page| self.watchpoints.pages.all.contains_key(page))
            .collect();
        pages.sort_unstable();
        pages.dedup();
        self.open_pages(tid, &pages)?;
        self.step_once(tid, 0)?;
        match self.tracer.threads.contains_key(&tid) {
            true => self.close_pages_by(tid, &pages),
            false => self.close_pages(&pages),
        }
    }

    /// Lets one thread execute one instruction, or enter a signal handler, while the others are stopped.
    fn step_once(&mut self, tid: Tid, signal: i32) -> TargetResult {
        let thread = self.tracer.thread(tid)?;
        thread.write_back_registers().map_err(trace_error)?;
        let passed_site = thread.at_site.take().filter(|_| signal == 0);
        if let Some(site) = passed_site.map(|id| self.tracer.sites.get(id)).filter(|site| site.inserted) {
            sys::set_pc(tid, site.slot).map_err(trace_error)?;
        }
        // Block signals: each would stop the thread before the instruction.
        let pid = Pid::from_raw(tid);
        let mask = raw::signal_mask(pid).map_err(|errno| trace_error(errno.into()))?;
        if signal == 0 {
            let _ = raw::set_signal_mask(pid, !0);
        }
        let mut got_sigstop = false;
        sys::resume(tid, ResumeRequest::SingleStep, signal).map_err(trace_error)?;
        while let Some((_, status)) = sys::wait(tid, true).map_err(trace_error)? {
            if status.has_exited() {
                return self.tracer.on_other_stop(tid, status);
            }
            if status.is_plain_trap() {
                // Clears the matches: the caller finds all hit watchpoints by the addresses of the accesses.
                let _ = hardware::matched(tid);
                break;
            }
            if status.signal() == libc::SIGSTOP || status.event() == libc::PTRACE_EVENT_STOP {
                got_sigstop = status.event() == 0;
                sys::resume(tid, ResumeRequest::SingleStep, 0).map_err(trace_error)?;
                continue;
            }
            self.tracer.on_other_stop(tid, status)?;
            break;
        }
        if signal == 0 {
            let _ = raw::set_signal_mask(pid, mask);
        }
        if got_sigstop {
            let _ = raw::send(pid, libc::SIGSTOP);
        }
        self.tracer.thread(tid)?.mark_stopped();
        self.tracer.normalize_pc(tid)
    }

    /// Delivers the thread's signal to the handler with no page protected: the kernel could not write the signal frame to a
    /// protected stack. Does nothing if no pages are protected or the program does not handle the signal.
    pub(crate) fn deliver_with_pages_unprotected(&mut self, tid: Tid) -> TargetResult {
        let signal = self.tracer.thread(tid)?.signal;
        if !self.watchpoints.has_pages() || signal == 0 || !self.has_handler(signal) {
            return Ok(());
        }
        self.tracer.stop_all()?;
        let pages: Vec<u64> = self.watchpoints.pages.all.keys().copied().collect();
        self.open_pages(tid, &pages)?;
        self.tracer.thread(tid)?.signal = 0;
        self.step_once(tid, signal)?;
        self.close_pages(&pages)
    }

    fn open_pages(&mut self, tid: Tid, pages: &[u64]) -> TargetResult {
        for page in pages {
            if let Some(protected) = self.watchpoints.pages.all.get(page).copied() {
                self.mprotect(tid, *page, protected.original)?;
            }
        }
        Ok(())
    }

    fn close_pages(&mut self, pages: &[u64]) -> TargetResult {
        let tid = self.stopped_thread()?;
        self.close_pages_by(tid, pages)
    }

    fn close_pages_by(&mut self, tid: Tid, pages: &[u64]) -> TargetResult {
        for page in pages {
            if let Some(protected) = self.watchpoints.pages.all.get(page).copied() {
                self.mprotect(tid, *page, protected.now)?;
            }
        }
        Ok(())
    }

    /// Prepares for accesses to watched memory by a system call that begins.
    pub(crate) fn watch_syscall_entry(&mut self, tid: Tid, regs: &Regs) -> TargetResult<Option<StopReason>> {
        // `sigreturn` reads the stack, and does not report a failure.
        if regs.orig_rax as i64 == libc::SYS_rt_sigreturn && self.watchpoints.has_pages() {
            return self.return_from_handler(tid, regs);
        }
        // Debug registers do not see the kernel's accesses.
        if self.has_debug_registers() {
            let contents = self.contents(true);
            self.watchpoints.before_call.insert(tid, contents);
        }
        Ok(None)
    }

    /// Reports accesses to watched memory by a system call, and then its exit.
    pub(crate) fn on_syscall_exit(&mut self, tid: Tid, regs: &Regs) -> TargetResult<Option<StopReason>> {
        if regs.rax as i64 == EFAULT && self.watchpoints.has_pages() {
            return self.retry_syscall(tid, regs);
        }
        let Some(before) = self.watchpoints.before_call.remove(&tid) else {
            return self.emit_syscall_exit(tid);
        };
        let changed = self.changed_watchpoints(&before, &self.contents(true));
        if changed.is_empty() {
            return self.emit_syscall_exit(tid);
        }
        // Skip ranges that another thread wrote: that thread reports them.
        self.tracer.stop_all()?;
        let mut matched = Vec::new();
        for id in changed {
            let registers =
                (0..REGISTERS).filter(|number| self.watchpoints.register_watchpoints[*number] == Some(id));
            let others = self.tracer.threads.keys().filter(|other| **other != tid);
            let wrote = |other: &Tid| registers.clone().any(|number| hardware::has_matched(*other, number));
            if !others.into_iter().any(wrote) {
                matched.push(id);
            }
        }
        self.report_changed(tid, matched)
    }

    /// Executes `sigreturn` with all pages open.
    fn return_from_handler(&mut self, tid: Tid, regs: &Regs) -> TargetResult<Option<StopReason>> {
        self.tracer.stop_all()?;
        // No other call can be made in a thread that enters one: cancel this call, then repeat it.
        let cancelled = Regs { orig_rax: u64::MAX, ..*regs };
        sys::set_registers(tid, &cancelled).map_err(trace_error)?;
        self.finish_call(tid)?;
        self.retry_syscall(tid, regs)
    }

    /// Lets a thread finish a system call, unless the call blocks.
    fn finish_call(&mut self, tid: Tid) -> TargetResult {
        sys::resume(tid, ResumeRequest::ToSyscall, 0).map_err(trace_error)?;
        let is_single_thread = self
            .tracer
            .threads
            .values()
            .filter(|thread| !thread.is_foreign_process && !thread.zombie)
            .count()
            == 1;
        let began = Instant::now();
        loop {
            match sys::wait(tid, is_single_thread).map_err(trace_error)? {
                Some((_, status)) if status.is_syscall() => break,
                Some((_, status)) => {
                    self.tracer.on_other_stop(tid, status)?;
                    return Ok(());
                }
                None if began.elapsed() > BLOCKING_AFTER => {
                    self.tracer.thread(tid)?.running = true;
                    return Ok(());
                }
                None => std::thread::sleep(BLOCKING_AFTER / 20),
            }
        }
        self.tracer.thread(tid)?.mark_stopped();
        Ok(())
    }

    /// Repeats a system call that failed because of a protected page.
    fn retry_syscall(&mut self, tid: Tid, regs: &Regs) -> TargetResult<Option<StopReason>> {
        self.tracer.stop_all()?;
        let pages: Vec<u64> = self.watchpoints.pages.all.keys().copied().collect();
        let before = self.contents(false);
        self.open_pages(tid, &pages)?;
        let mut again = *regs;
        again.rip -= 2;
        again.rax = regs.orig_rax;
        again.orig_rax = u64::MAX;
        sys::set_registers(tid, &again).map_err(trace_error)?;
        sys::resume(tid, ResumeRequest::ToSyscall, 0).map_err(trace_error)?;
        match sys::wait(tid, true).map_err(trace_error)? {
            Some((_, status)) if status.is_syscall() => {}
            Some((_, status)) => {
                self.tracer.on_other_stop(tid, status)?;
                self.close_pages(&pages)?;
                return Ok(None);
            }
            None => return Ok(None),
        }
        self.tracer.thread(tid)?.mark_stopped();
        // Do not wait for a call that blocks: it has accessed the memory it needs.
        self.finish_call(tid)?;
        self.close_pages(&pages)?;
        let changed = self.changed_watchpoints(&before, &self.contents(false));
        self.report_changed(tid, changed)
    }

    /// The write watchpoints whose memory has changed.
    fn changed_watchpoints(&self, before: &Contents, after: &Contents) -> Vec<WatchpointId> {
        let differ =
            before.iter().filter(|(id, old)| after.iter().any(|(other, new)| other == id && new != old));
        let writes =
            |id: &WatchpointId| self.watchpoints.get(*id).is_some_and(|watchpoint| watchpoint.access.write);
        differ.map(|(id, _)| *id).filter(writes).collect()
    }

    /// Reports the watchpoints that a system call has changed, and then its exit.
    fn report_changed(&mut self, tid: Tid, changed: Vec<WatchpointId>) -> TargetResult<Option<StopReason>> {
        if changed.is_empty() {
            return self.emit_syscall_exit(tid);
        }
        self.start_access(PendingAccess {
            tid,
            hit_watchpoints: changed,
            notified: OwnerSet::default(),
            after_dispatch: AfterDispatch::SyscallExit,
        })
    }

    /// Contents of the memory that is watched by debug registers, or by pages.
    pub(super) fn contents(&self, in_registers: bool) -> Contents {
        let watchpoints =
            self.watchpoints.all.iter().filter(|watchpoint| watchpoint.in_registers == in_registers);
        watchpoints
            .map(|watchpoint| {
                let mut bytes = vec![0; (watchpoint.range.end - watchpoint.range.start) as usize];
                let _ = self.clean_memory().read(watchpoint.range.start, &mut bytes);
                (watchpoint.id, bytes)
            })
            .collect()
    }

    /// Whether the instruction that a thread has just executed wrote to memory.
    pub(super) fn just_wrote(&mut self, tid: Tid) -> bool {
        let Ok(pc) = self.tracer.thread(tid).and_then(|thread| thread.pc().map_err(trace_error)) else {
            return false;
        };
        let start = match self.program.function_at(pc).and_then(|function| {
            function.ranges.iter().find(|range| range.contains(&pc)).map(|range| range.start)
        }) {
            Some(start) if start < pc => start,
            _ => return false,
        };
        let mut code = vec![0; (pc - start) as usize];
        if self.clean_memory().read(start, &mut code).is_err() {
            return false;
        }
        let all = iced_x86::Decoder::with_ip(64, &code, start, iced_x86::DecoderOptions::NONE);
        let last = all.into_iter().filter(|instruction| instruction.next_ip() == pc).last();
        let mut factory = iced_x86::InstructionInfoFactory::new();
        last.is_some_and(|instruction| {
            factory.info(&instruction).used_memory().iter().any(|memory| {
                use iced_x86::OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
                matches!(memory.access(), Write | CondWrite | ReadWrite | ReadCondWrite)
            })
        })
    }
}

/// Protection of a mapping.
fn protection(map: &maps::Mapping) -> u64 {
    let bit = |enabled: bool, bit: libc::c_int| if enabled { bit as u64 } else { 0 };
    bit(map.read, libc::PROT_READ) | bit(map.write, libc::PROT_WRITE) | bit(map.execute, libc::PROT_EXEC)
}
