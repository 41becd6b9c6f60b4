//! Checkpoints of the target, with the debugger's state that belongs to them.

use crate::checkpoint::process::resident;
use crate::checkpoint::{self, CheckpointError, ProcessCheckpoint};
use crate::maps;
use crate::memory::ProcessMemory;
use crate::native_target::NativeTarget;
use crate::sites::{REGION_SIZE, SiteId};
use crate::sys::{self, SignalInfo, Tid, WaitStatus};
use crate::traced_thread::{PendingCall, TracedThread};
use crate::tracer::{signal_name, trace_error};
use crate::trap_reasons::TrapReason;
use crate::watchpoints::{Contents, Pages, PendingAccess};
use invigil_monitor::event::EventSet;
use invigil_target::pending_owners::OwnerSet;
use invigil_target::{Checkpoint, CheckpointId, TargetError, TargetResult, Termination};
use nix::sys::ptrace::Options;
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::ops::Range;

/// Size of a page.
const PAGE: u64 = 4096;

/// The debugger's state of a thread.
struct SavedThread {
    tid: Tid,
    at_site: Option<SiteId>,
    notified: OwnerSet,
    calls: Vec<PendingCall>,
    signal: i32,
    /// A stop that was not handled yet.
    pending_status: Option<WaitStatus>,
    start_unreported: bool,
}

struct CheckpointEntry {
    process: ProcessCheckpoint,
    threads: Vec<SavedThread>,
    current: Tid,
    event_thread: Option<Tid>,
    events: EventSet,
    regions: Vec<Range<u64>>,
    pages: Pages,
    /// The accesses that are being reported.
    pending_access: Option<PendingAccess>,
    /// Contents of watched memory at the entry of the system calls that threads are in.
    before_call: BTreeMap<Tid, Contents>,
    /// A signal that is still to be reported.
    pending_signal: Option<SignalInfo>,
    /// Number of execs before the checkpoint.
    generation: u32,
    /// What differed at the last restore: new process or thread ids.
    differences: Vec<String>,
}

/// All checkpoints.
#[derive(Default)]
pub(crate) struct CheckpointTable {
    all: BTreeMap<CheckpointId, CheckpointEntry>,
    last: u32,
    pub(crate) generation: u32,
}

impl CheckpointTable {
    /// Drops all checkpoints.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
    }
}

fn checkpoint_error(error: &CheckpointError) -> TargetError {
    TargetError::Control(error.to_string())
}

impl NativeTarget {
    pub(crate) fn take_checkpoint(&mut self) -> TargetResult<Checkpoint> {
        if let Some(ending) = &self.termination {
            return Err(TargetError::Ended(ending.clone()));
        }
        self.cpu_affinity.unpin_all();
        self.tracer.stop_all()?;
        for thread in self.tracer.threads.values_mut() {
            thread.write_back_registers().map_err(trace_error)?;
        }
        let own_threads = self.tracer.threads.values().filter(|thread| !thread.is_foreign_process);
        let threads: Vec<SavedThread> = own_threads
            .map(|thread| SavedThread {
                tid: thread.tid,
                at_site: thread.at_site,
                notified: thread.notified,
                calls: thread.calls.clone(),
                signal: thread.signal,
                pending_status: thread.pending_status,
                start_unreported: thread.start_unreported,
            })
            .collect();
        let tids: Vec<Pid> = threads.iter().map(|thread| Pid::from_raw(thread.tid)).collect();
        let process = Pid::from_raw(self.tracer.process);
        let checkpoint = ProcessCheckpoint::take(process, &tids, self.scratch, self.options())
            .map_err(|error| checkpoint_error(&error))?;
        self.checkpoints.last += 1;
        let id = CheckpointId(self.checkpoints.last);
        let memory = resident(process) * PAGE;
        let entry = CheckpointEntry {
            process: checkpoint,
            threads,
            current: self.current,
            event_thread: self.event_thread,
            events: self.plans.active_events(),
            regions: self.tracer.sites.regions(),
            pages: self.protections(),
            pending_access: self.watchpoints.pending_access.clone(),
            before_call: self.watchpoints.before_call.clone(),
            pending_signal: self.pending_signal,
            generation: self.checkpoints.generation,
            differences: Vec::new(),
        };
        self.checkpoints.all.insert(id, entry);
        Ok(Checkpoint { id, memory, limitations: Vec::new() })
    }

    pub(crate) fn restore_checkpoint(&mut self, id: CheckpointId) -> TargetResult {
        let generation = self.checkpoints.generation;
        let entry = self.checkpoints.all.get(&id).ok_or_else(|| no_checkpoint(id))?;
        if entry.generation != generation {
            return Err(TargetError::Request(
                "cannot restore this checkpoint: the process has executed another program since".into(),
            ));
        }
        // Check everything that can be checked before the live process is killed.
        if let Err(error) = entry.process.check() {
            self.checkpoints.all.remove(&id);
            return Err(checkpoint_error(&error));
        }
        let missing = self.missing_regions(&entry.regions);
        let copy_maps = maps::read(entry.process.copy().as_raw()).map_err(trace_error)?;
        if copy_maps.iter().any(|map| missing.iter().any(|region| overlap(region, &map.range))) {
            return Err(TargetError::Request(
                "cannot restore this checkpoint: memory that the program used then now holds displaced \
                 instructions of newer breakpoints; take new checkpoints"
                    .into(),
            ));
        }
        self.cancel_step();
        self.cpu_affinity.unpin_all();
        if self.termination.is_none() {
            self.tracer.stop_all()?;
        }
        let restored = self.replace_process(id, &missing);
        if restored.is_err() {
            self.mark_killed(id);
        }
        restored
    }

    /// Records that the restore failed after the live process was killed.
    fn mark_killed(&mut self, id: CheckpointId) {
        let threads: Vec<Pid> = self.tracer.threads.keys().map(|tid| Pid::from_raw(*tid)).collect();
        checkpoint::end(Pid::from_raw(self.tracer.process), &threads);
        self.tracer.forget_threads();
        self.checkpoints.all.remove(&id);
        self.termination = Some(Termination::Killed { signal: signal_name(libc::SIGKILL), core: false });
        (self.event_thread, self.pending_signal, self.watchpoints.pending_access) = (None, None, None);
        self.watchpoints.before_call.clear();
    }

    /// Replaces the live process by a restored one.
    fn replace_process(&mut self, id: CheckpointId, missing: &[Range<u64>]) -> TargetResult {
        // Forget pending calls, with the traps at their return sites.
        let returns: Vec<SiteId> = self
            .tracer
            .threads
            .values()
            .flat_map(|thread| &thread.calls)
            .filter_map(|call| call.return_site)
            .collect();
        for site in returns {
            self.remove_trap_reason(site, TrapReason::TailReturn);
        }
        let Some(entry) = self.checkpoints.all.get(&id) else { return Err(no_checkpoint(id)) };
        let live: Vec<Pid> = self.tracer.threads.keys().map(|tid| Pid::from_raw(*tid)).collect();
        let restored = entry.process.restore(&live).map_err(|error| checkpoint_error(&error))?;
        let process = restored.process.as_raw();
        let new_tid = |tid: Tid| {
            let found = restored.threads.iter().find(|(old, _)| old.as_raw() == tid);
            found.map_or(tid, |(_, new)| new.as_raw())
        };
        self.tracer.switch_process(process, ProcessMemory::open(process).map_err(trace_error)?);
        let mut returns = Vec::new();
        for saved in &entry.threads {
            let mut thread = TracedThread::new(new_tid(saved.tid));
            thread.mark_stopped();
            thread.may_be_in_handler = true;
            (thread.at_site, thread.notified, thread.signal) = (saved.at_site, saved.notified, saved.signal);
            (thread.pending_status, thread.start_unreported) = (saved.pending_status, saved.start_unreported);
            thread.calls.clone_from(&saved.calls);
            returns.extend(thread.calls.iter().filter_map(|call| call.return_site));
            self.tracer.add_restored_thread(thread);
        }
        self.current = new_tid(entry.current);
        self.event_thread = entry.event_thread.map(new_tid);
        let (events, pages) = (entry.events.clone(), entry.pages.clone());
        (self.termination, self.pending_signal, self.frame) = (None, entry.pending_signal, 0);
        let before_call = entry.before_call.iter();
        self.watchpoints.before_call =
            before_call.map(|(tid, contents)| (new_tid(*tid), contents.clone())).collect();
        self.watchpoints.pending_access = entry.pending_access.clone();
        if let Some(access) = &mut self.watchpoints.pending_access {
            access.tid = new_tid(access.tid);
        }
        if let Some(entry) = self.checkpoints.all.get_mut(&id) {
            entry.differences = restored.limitations;
        }
        self.set_process(process);
        self.forget_jumps();
        self.remap_regions(missing)?;
        self.restore_traps()?;
        for site in returns {
            self.add_trap_reason(site, TrapReason::TailReturn);
        }
        self.rearm();
        self.reprotect(pages)?;
        self.instrument(&events)?;
        self.on_images_changed()
    }

    /// The ptrace options of the target.
    fn options(&self) -> Options {
        Options::from_bits_truncate(sys::OPTIONS | if self.launched { sys::EXITKILL } else { 0 })
    }

    /// Regions of displaced copies that are not among those of a checkpoint: they were mapped later.
    fn missing_regions(&self, at_checkpoint: &[Range<u64>]) -> Vec<Range<u64>> {
        self.tracer.sites.regions().into_iter().filter(|region| !at_checkpoint.contains(region)).collect()
    }

    /// Maps regions of displaced copies again.
    fn remap_regions(&mut self, missing: &[Range<u64>]) -> TargetResult {
        for region in missing {
            let tid = self.stopped_thread()?;
            let protection = (libc::PROT_READ | libc::PROT_EXEC) as u64;
            let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE) as u64;
            let result = self.inject(
                tid,
                libc::SYS_mmap,
                [region.start, REGION_SIZE, protection, flags, u64::MAX, 0],
            )?;
            if result != region.start as i64 {
                let error = std::io::Error::from_raw_os_error(-result as i32);
                return Err(TargetError::Control(format!("cannot map memory in the program: {error}")));
            }
        }
        Ok(())
    }

    /// Writes the current traps to restored memory, in code that was mapped at the checkpoint and is known now.
    fn restore_traps(&mut self) -> TargetResult {
        let maps = maps::read(self.tracer.process).map_err(trace_error)?;
        let program = &self.program;
        let is_same_code = |address: u64| {
            let Some(map) = maps.iter().find(|map| map.range.contains(&address)) else { return false };
            let image = program.image_at(address);
            map.execute && image.is_none_or(|loaded| map.path.as_deref() == Some(loaded.image.path()))
        };
        self.tracer.sites.restore_traps(&self.tracer.memory, is_same_code);
        Ok(())
    }

    pub(crate) fn drop_checkpoint(&mut self, id: CheckpointId) -> TargetResult {
        self.checkpoints.all.remove(&id).map(drop).ok_or_else(|| no_checkpoint(id))
    }

    pub(crate) fn list_checkpoints(&self) -> Vec<Checkpoint> {
        let all = self.checkpoints.all.iter();
        all.map(|(id, entry)| Checkpoint {
            id: *id,
            memory: entry.process.memory(),
            limitations: [entry.process.limitations(), &entry.differences].concat(),
        })
        .collect()
    }
}

fn overlap(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

fn no_checkpoint(id: CheckpointId) -> TargetError {
    TargetError::Request(format!("there is no checkpoint {}", id.0))
}
