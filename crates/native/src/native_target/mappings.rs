//! The debugger's own memory in the target, and the target's images.

use super::NativeTarget;
use crate::images;
use crate::inject;
use crate::maps;
use crate::sites::{REGION_SIZE, SiteError, SiteId};
use crate::sys::Tid;
use crate::traced_thread::TracedThread;
use crate::tracer::{TraceStop, Tracer, trace_error};
use crate::trap_reasons::TrapReason;
use invigil_debuginfo::program::Program;
use invigil_debuginfo::value::type_index::TypeIndex;
use invigil_target::{TargetError, TargetResult};
use nix::unistd::Pid;
use std::ops::Range;

impl NativeTarget {
    /// Prepares a new program: launched, attached to, or executed by the target.
    pub(super) fn set_up_program(&mut self) -> TargetResult {
        self.map_scratch()?;
        images::sync(&mut self.program, self.tracer.process)?;
        if let Some(hook) = images::loader_hook(&self.program) {
            let site = self.site_at(hook)?;
            self.add_trap_reason(site, TrapReason::Loader);
        }
        Ok(())
    }

    /// Runs until the initial libraries are loaded and none of their code has run.
    pub(super) fn run_loader(&mut self) -> TargetResult {
        if !images::has_loader(&self.program) {
            return Ok(());
        }
        loop {
            self.tracer.cont_all()?;
            match self.tracer.next_stop()? {
                TraceStop::SiteHit { tid, site }
                    if self.trap_reasons.at(site).contains(&TrapReason::Loader) =>
                {
                    self.current = tid;
                    self.event_thread = Some(tid);
                    if images::is_consistent(&self.program, &self.clean_memory()) {
                        self.on_images_changed()?;
                        return self.tracer.stop_all();
                    }
                }
                TraceStop::ProcessExited { status } => {
                    self.termination = Some(Tracer::termination(status));
                    return Ok(());
                }
                TraceStop::Signal { tid, info } => self.tracer.thread(tid)?.signal = info.number,
                _ => {}
            }
        }
    }

    /// Maps memory for `syscall; int3` and for displaced copies.
    fn map_scratch(&mut self) -> TargetResult {
        let tid = self.stopped_thread()?;
        let pc = self.tracer.thread(tid)?.pc().map_err(trace_error)?;
        // There is no memory of the debugger's in the target yet: borrow the bytes at the instruction pointer.
        let mut saved = [0; inject::SCRATCH.len()];
        self.tracer.memory.read(pc, &mut saved).map_err(|_| unwritable(pc))?;
        self.tracer.memory.write(pc, &inject::SCRATCH).map_err(|_| unwritable(pc))?;
        self.scratch = pc;
        let mapped = self.map_code_region(pc);
        self.tracer.memory.write(pc, &saved).map_err(|_| unwritable(pc))?;
        let start = mapped?;
        self.tracer.memory.write(start, &inject::SCRATCH).map_err(|_| unwritable(start))?;
        self.scratch = start;
        // The first slot of the region holds the scratch bytes.
        self.tracer.sites.add_region(start + crate::displaced_step::SLOT_SIZE, start + REGION_SIZE);
        Ok(())
    }

    /// Maps executable memory near an address.
    pub(crate) fn map_code_region(&mut self, near: u64) -> TargetResult<u64> {
        let tid = self.stopped_thread()?;
        let all = maps::read(self.tracer.process).map_err(trace_error)?;
        let place = maps::gap_near(&all, near, REGION_SIZE).ok_or_else(|| {
            TargetError::Control("there is no free range in the program's address space".into())
        })?;
        let protection = (libc::PROT_READ | libc::PROT_EXEC) as u64;
        let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE) as u64;
        let start = self.inject(tid, libc::SYS_mmap, [place, REGION_SIZE, protection, flags, u64::MAX, 0])?;
        if start < 0 {
            let error = std::io::Error::from_raw_os_error(-start as i32);
            return Err(TargetError::Control(format!("cannot map memory in the program: {error}")));
        }
        Ok(start as u64)
    }

    /// Executes a system call in a stopped thread.
    pub(crate) fn inject(&mut self, tid: Tid, number: i64, arguments: [u64; 6]) -> TargetResult<i64> {
        let thread = self.tracer.thread(tid)?;
        thread.write_back_registers().map_err(trace_error)?;
        inject::syscall(Pid::from_raw(tid), self.scratch, number, arguments)
            .map_err(|error| TargetError::Control(error.to_string()))
    }

    /// Returns a stopped thread, preferably the selected one.
    pub(crate) fn stopped_thread(&mut self) -> TargetResult<Tid> {
        let stopped = |thread: &&TracedThread| {
            !thread.running && !thread.group_stopped && !thread.is_foreign_process && !thread.zombie
        };
        let mut all = self.tracer.threads.values().filter(stopped).map(|thread| thread.tid);
        let first = all.next();
        let current = self.current;
        let chosen = if first == Some(current) { first } else { all.find(|tid| *tid == current).or(first) };
        chosen.ok_or_else(|| TargetError::Control("no thread of the program can be stopped".into()))
    }

    /// Returns the site at an address, prepared for a trap.
    pub(crate) fn site_at(&mut self, address: u64) -> TargetResult<SiteId> {
        if self.tracer.sites.is_under_jump(address) {
            // A trap has no effect under a jump.
            self.tracer.stop_all()?;
        }
        loop {
            match self.tracer.sites.prepare(&self.tracer.memory, address) {
                Ok(site) => return Ok(site),
                Err(SiteError::NeedsRegion) => {
                    self.tracer.stop_all()?;
                    let start = self.map_code_region(address)?;
                    self.tracer.sites.add_region(start, start + REGION_SIZE);
                    if !self.tracer.sites.has_region_for(address) {
                        return Err(TargetError::Control(format!("cannot map memory near {address:#x}")));
                    }
                }
                Err(SiteError::Unreadable) => {
                    return Err(TargetError::Request(format!("there is no code at {address:#x}")));
                }
                Err(SiteError::CopyNotWritten) => {
                    return Err(TargetError::Control(format!(
                        "cannot write the displaced copy of the instruction at {address:#x}"
                    )));
                }
                Err(SiteError::Immovable) => {
                    return Err(TargetError::Request(format!(
                        "cannot set a breakpoint on the instruction at {address:#x}"
                    )));
                }
            }
        }
    }

    /// Adds a reason for the trap at a site.
    pub(crate) fn add_trap_reason(&mut self, site: SiteId, reason: TrapReason) {
        self.trap_reasons.add(site, reason);
        self.tracer.sites.add_trap_ref(&self.tracer.memory, site);
    }

    /// Removes a reason for the trap at a site.
    pub(crate) fn remove_trap_reason(&mut self, site: SiteId, reason: TrapReason) {
        if self.trap_reasons.remove(site, reason) {
            self.tracer.sites.remove_trap_ref(&self.tracer.memory, site);
        }
    }

    /// Updates images and resolves what could not be found before, after libraries were loaded or unloaded.
    pub(crate) fn on_images_changed(&mut self) -> TargetResult {
        let before = self.program.images().to_vec();
        if images::sync(&mut self.program, self.tracer.process)? {
            self.types = TypeIndex::new();
            for range in images::removed_ranges(&before, self.program.images()) {
                self.forget_range(&range);
            }
            self.resolve_plans()?;
            self.resolve_breakpoints();
        }
        Ok(())
    }

    /// Removes the sites of unmapped code; other code may be loaded there.
    fn forget_range(&mut self, range: &Range<u64>) {
        for site in self.tracer.sites.unmap(range) {
            self.trap_reasons.forget(site);
            self.plans.forget_site(site);
            self.breakpoints.forget_site(site);
        }
        self.plans.forget_range(range);
    }

    /// Handles exec: the target runs another program.
    pub(super) fn on_exec(&mut self) -> TargetResult {
        self.cancel_step();
        self.save_log();
        self.tracer.agent = None;
        self.checkpoints.generation += 1;
        self.trap_reasons.clear();
        self.watchpoints.forget();
        // The kernel has cleared the debug registers.
        self.tracer.debug_registers = Default::default();
        (self.current, self.frame) = (self.tracer.process, 0);
        self.plans.forget_sites();
        self.breakpoints.forget_sites();
        (self.program, self.types) = (Program::default(), TypeIndex::new());
        self.set_up_program()?;
        self.map_agent();
        self.resolve_plans()?;
        self.resolve_breakpoints();
        self.rewatch_breakpoints()?;
        self.update_syscall_tracing()
    }
}

fn unwritable(address: u64) -> TargetError {
    TargetError::Control(format!("cannot write to the program's memory at {address:#x}"))
}
