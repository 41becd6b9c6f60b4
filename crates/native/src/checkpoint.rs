//! Checkpoints of a process by forking it.
//!
//! A checkpoint is a copy of the process, made by a `clone` that the process is made to execute. The copy stays
//! stopped and shares all memory with the process until one of them writes to it. To restore the checkpoint, the
//! process is killed and the copy is cloned once more, under the original ids. A clone contains only one thread, so
//! the others are created again, and all the state that the kernel keeps for a thread is set.
//!
//! State that the kernel does not copy with a process is not restored: [`ProcessCheckpoint::limitations`] lists it.

mod error;
mod files;
mod limits;
pub(crate) mod process;
mod scratch_slot;
mod spawn;
mod thread;
mod timers;

use std::cell::OnceCell;

use nix::sys::ptrace::{self, Options};
use nix::unistd::Pid;

pub use error::CheckpointError;
use files::FilePositions;
use limits::Unrestorable;
pub(crate) use process::end;
use process::{ProcessTraits, ReapingProcess};
use scratch_slot::ScratchSlot;
use spawn::Ids;
use thread::{ThreadState, check_result};
use timers::Timers;

use crate::inject::raw::{self, SignalInfo};
use crate::inject::{BorrowedThread, InjectError};

/// A stopped copy of a process, with the state of its threads.
///
/// Only the thread that traces the process may use it. The copy is killed when this is dropped, and when the tracing
/// thread ends.
pub struct ProcessCheckpoint {
    process: Pid,
    copy: Pid,
    scratch: u64,
    options: Options,
    slot: ScratchSlot,
    /// The first thread of the process.
    leader: ThreadState,
    others: Vec<ThreadState>,
    pending: Vec<SignalInfo>,
    timers: Timers,
    positions: FilePositions,
    traits: ProcessTraits,
    unrestorable: Unrestorable,
    limitations: OnceCell<Vec<String>>,
}

/// A restored process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredProcess {
    /// The process.
    pub process: Pid,
    /// The id of every thread at the checkpoint, and its id now; the leader comes first.
    pub threads: Vec<(Pid, Pid)>,
    /// Whether all ids are those of the checkpoint.
    pub same_ids: bool,
    /// What was not restored, for reasons that were not known at the checkpoint.
    pub limitations: Vec<String>,
}

impl ProcessCheckpoint {
    /// Takes a checkpoint of a process, all of whose `threads` are stopped and traced by the calling thread (seized,
    /// with these `options`). They remain stopped and unchanged. The requirements of
    /// [`syscall`](crate::inject::syscall) on stops and `scratch` apply.
    ///
    /// # Errors
    /// If the process is in a state in which it cannot be copied, or the kernel refuses.
    pub fn take(
        process: Pid,
        threads: &[Pid],
        scratch: u64,
        options: Options,
    ) -> Result<Self, CheckpointError> {
        let traits = ProcessTraits::of(process, threads)?;
        let mut first = BorrowedThread::begin(process, scratch)?;
        // All threads first: none may be in the middle of a system call when state is read.
        let rest = threads.iter().filter(|&&tid| tid != process);
        let rest = rest.map(|&tid| Ok((tid, BorrowedThread::begin(tid, scratch)?)));
        let rest = rest.collect::<Result<Vec<_>, CheckpointError>>()?;
        let slot = ScratchSlot::find(process, first.registers().rsp)?;
        let leader = ThreadState::read(&mut first, process, process, &slot)?;
        let timers = Timers::read(&mut first, process, &slot)?;
        let mut others = Vec::with_capacity(rest.len());
        for (tid, mut thread) in rest {
            others.push(ThreadState::read(&mut thread, tid, process, &slot)?);
            thread.end()?;
        }
        slot.clear(process)?;
        let failed = |errno| InjectError::of(process, errno);
        let pending = raw::pending(process, true).map_err(failed)?;
        let positions = FilePositions::of(process).map_err(failed)?;
        let unrestorable = Unrestorable::of(process, threads, &traits, !positions.is_empty());
        let copy = spawn::copy(&mut first, process)?;
        let limitations = OnceCell::new();
        // From here on, dropping this value kills the copy.
        let checkpoint = Self {
            process,
            copy,
            scratch,
            options,
            slot,
            leader,
            others,
            pending,
            timers,
            positions,
            traits,
            unrestorable,
            limitations,
        };
        first.end()?;
        checkpoint.isolate_copy()?;
        Ok(checkpoint)
    }

    /// Makes the copy die with the debugger, whatever becomes of the process. It must also leave the process's group
    /// and session, which would keep the id of the process in use.
    fn isolate_copy(&self) -> Result<(), CheckpointError> {
        let failed = |errno| InjectError::of(self.copy, errno);
        ptrace::setoptions(self.copy, Options::PTRACE_O_EXITKILL).map_err(failed)?;
        if !(self.traits.leads_group || self.traits.leads_session) {
            return Ok(());
        }
        let mut copy = BorrowedThread::begin(self.copy, self.scratch)?;
        self.make_leader(&mut copy, self.copy)?;
        Ok(copy.end()?)
    }

    /// Makes a process the leader of its group or session, if the original was.
    fn make_leader(&self, first: &mut BorrowedThread, process: Pid) -> Result<(), CheckpointError> {
        let number = match self.traits {
            ProcessTraits { leads_session: true, .. } => libc::SYS_setsid,
            ProcessTraits { leads_group: true, .. } => libc::SYS_setpgid,
            _ => return Ok(()),
        };
        check_result(process, "set the group of", first.call(number, [0; 6])?).map(drop)
    }

    /// Kills the live process if it still exists, and restores the checkpoint, under the same ids if the kernel
    /// allows. `live` are the threads of the live process, all traced by the calling thread. Afterwards all threads
    /// are stopped with their original registers. A checkpoint can be restored any number of times.
    ///
    /// # Errors
    /// If the copy has been killed: then the live process is unchanged. Or if the kernel refuses: then the live
    /// process is gone.
    pub fn restore(&self, live: &[Pid]) -> Result<RestoredProcess, CheckpointError> {
        let mut copy =
            BorrowedThread::begin(self.copy, self.scratch).map_err(|error| self.copy_error(error))?;
        // Waited for at the very end: the kernel frees the memory meanwhile.
        let _reaping = ReapingProcess::kill(self.process, live, self.scratch);
        let (process, ids) =
            spawn::process(&mut copy, self.copy, &self.slot, &self.leader).map_err(|error| {
                if let CheckpointError::Thread(error) = error { self.copy_error(error) } else { error }
            })?;
        copy.end()?;
        match self.populate(process, ids) {
            Ok(restored) => Ok(restored),
            Err(error) => {
                process::end(process, &[]);
                Err(error)
            }
        }
    }

    /// Checks whether [`restore`](Self::restore) is possible, without changing anything.
    ///
    /// # Errors
    /// If the copy has been killed.
    pub fn check(&self) -> Result<(), CheckpointError> {
        let copy = BorrowedThread::begin(self.copy, self.scratch).map_err(|error| self.copy_error(error))?;
        copy.end().map_err(|error| self.copy_error(error))
    }

    fn copy_error(&self, error: InjectError) -> CheckpointError {
        match error {
            InjectError::Ended(tid) if tid == self.copy => CheckpointError::CopyEnded(self.copy),
            error => error.into(),
        }
    }

    /// Creates the threads of a new process and sets all other state.
    fn populate(&self, process: Pid, ids: Ids) -> Result<RestoredProcess, CheckpointError> {
        let failed = |errno| InjectError::of(process, errno);
        // Inherited by the threads that are created below.
        ptrace::setoptions(process, self.options).map_err(failed)?;
        let mut threads = vec![(self.leader.tid, process)];
        let mut first = BorrowedThread::begin(process, self.scratch)?;
        self.make_leader(&mut first, process)?;
        let mut next = ids;
        for other in &self.others {
            let (tid, ids) = spawn::thread(&mut first, process, &self.slot, other, next)?;
            next = ids;
            threads.push((other.tid, tid));
        }
        for signal in &self.pending {
            self.slot.fill(process, &signal.bytes())?;
            let arguments = [process.as_raw() as u64, signal.signal() as u64, self.slot.address, 0, 0, 0];
            first.call(libc::SYS_rt_sigqueueinfo, arguments)?;
        }
        self.timers.set(&mut first, process, &self.slot)?;
        first.end()?;
        let states = std::iter::once(&self.leader).chain(&self.others);
        for (state, &(_, tid)) in states.zip(&threads) {
            state.restore_into(tid, process, &self.slot, self.scratch, &self.leader)?;
        }
        self.slot.clear(process)?;
        self.positions.put_back(self.copy).map_err(|errno| InjectError::of(self.copy, errno))?;
        let same_ids = threads.iter().all(|(old, new)| old == new);
        let limitations = if same_ids { Vec::new() } else { vec![Self::new_ids_limitation(ids).to_owned()] };
        Ok(RestoredProcess { process, threads, same_ids, limitations })
    }
}

impl ProcessCheckpoint {
    /// Id of the copy.
    #[must_use]
    pub fn copy(&self) -> Pid {
        self.copy
    }

    /// Id of the process that was copied.
    #[must_use]
    pub fn process(&self) -> Pid {
        self.process
    }

    /// The threads at the checkpoint; the leader comes first.
    pub fn threads(&self) -> impl Iterator<Item = Pid> {
        std::iter::once(&self.leader).chain(&self.others).map(|thread| thread.tid)
    }

    /// Memory that only the copy holds, in bytes. It grows as the process changes its own. Slow for large processes.
    #[must_use]
    pub fn memory(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/smaps_rollup", self.copy)).unwrap_or_default();
        let private = text.lines().filter(|line| line.starts_with("Private_"));
        let sizes = private.filter_map(|line| line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok());
        sizes.sum::<u64>() * 1024
    }

    /// What will not be restored. Determined on first use.
    pub fn limitations(&self) -> &[String] {
        self.limitations.get_or_init(|| limits::of(self.copy, &self.unrestorable))
    }

    fn new_ids_limitation(ids: Ids) -> &'static str {
        match ids {
            Ids::Same => {
                "some threads have new ids because theirs are in use: mutexes with priority inheritance, \
                 robust mutexes and signals to a thread may fail"
            }
            Ids::New => {
                "the process has a new id because its own is in use, or because the program may not choose it \
                 (CAP_CHECKPOINT_RESTORE): mutexes with priority inheritance, robust mutexes and signals to a \
                 thread may fail"
            }
        }
    }
}

impl Drop for ProcessCheckpoint {
    fn drop(&mut self) {
        process::end(self.copy, &[]);
    }
}
