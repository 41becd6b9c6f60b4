//! Checkpoints of a process.
//!
//! A checkpoint is a copy of the process, made by a `clone` that the process is made to run. The copy stands
//! still, shares all memory with the process until one of them writes to it, and is never let go. To bring the
//! checkpoint back, the process is killed and the copy is copied once more, under the ids of then. Only the
//! first thread survives a copy, so the others are made anew, and given all that the kernel keeps for a thread.
//!
//! What the kernel does not copy with a process does not come back: [`Frozen::limits`] says what that is.

mod birth;
mod error;
mod files;
mod limits;
pub(crate) mod process;
mod slot;
mod thread;
mod timers;

use std::cell::OnceCell;

use nix::sys::ptrace::{self, Options};
use nix::unistd::Pid;

use birth::Ids;
pub use error::FreezeError;
use files::Positions;
use limits::Lost;
pub(crate) use process::end;
use process::{Place, Remains};
use slot::Slot;
use thread::{Thread, succeeded};
use timers::Timers;

use crate::inject::raw::{self, SignalInfo};
use crate::inject::{Borrowed, InjectError};

/// A copy of a process, standing still, and what its threads need to live again.
///
/// To be used by the thread that traces the process. The copy ends when this is dropped, and also when the
/// tracing thread ends.
pub struct Frozen {
    process: Pid,
    copy: Pid,
    scratch: u64,
    options: Options,
    slot: Slot,
    /// The first thread of the process.
    leader: Thread,
    others: Vec<Thread>,
    pending: Vec<SignalInfo>,
    timers: Timers,
    positions: Positions,
    place: Place,
    lost: Lost,
    limits: OnceCell<Vec<String>>,
}

/// A process brought back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thawed {
    /// The process.
    pub process: Pid,
    /// The id of every thread at the checkpoint, and its id now. The first thread of the process comes first.
    pub threads: Vec<(Pid, Pid)>,
    /// Whether all ids are those of the checkpoint.
    pub same_ids: bool,
    /// What did not come back as it was for reasons that were not known at the checkpoint, in words.
    pub limits: Vec<String>,
}

impl Frozen {
    /// Makes a checkpoint of a process, all of whose `threads` are stopped, and traced by the calling thread
    /// (seized, with these `options`). They remain stopped, and go on later as if nothing had been; what
    /// [`syscall`](crate::inject::syscall) says of the stops and of `scratch` holds here too.
    ///
    /// # Errors
    /// If the process is in a state in which it cannot be copied, or if the kernel refuses.
    pub fn freeze(
        process: Pid,
        threads: &[Pid],
        scratch: u64,
        options: Options,
    ) -> Result<Self, FreezeError> {
        let place = Place::of(process, threads)?;
        let mut first = Borrowed::begin(process, scratch)?;
        // All of them before anything is read: none may be in the middle of a system call.
        let rest = threads.iter().filter(|&&tid| tid != process);
        let rest = rest.map(|&tid| Ok((tid, Borrowed::begin(tid, scratch)?)));
        let rest = rest.collect::<Result<Vec<_>, FreezeError>>()?;
        let slot = Slot::find(process, first.registers().rsp)?;
        let leader = Thread::read(&mut first, process, process, &slot)?;
        let timers = Timers::read(&mut first, process, &slot)?;
        let mut others = Vec::with_capacity(rest.len());
        for (tid, mut thread) in rest {
            others.push(Thread::read(&mut thread, tid, process, &slot)?);
            thread.end()?;
        }
        slot.clear(process)?;
        let failed = |errno| InjectError::of(process, errno);
        let pending = raw::pending(process, true).map_err(failed)?;
        let positions = Positions::of(process).map_err(failed)?;
        let lost = Lost::of(process, threads, &place, !positions.is_empty());
        let copy = birth::copy(&mut first, process)?;
        let limits = OnceCell::new();
        // From here on the copy ends with this value.
        let frozen = Self {
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
            place,
            lost,
            limits,
        };
        first.end()?;
        frozen.set_aside()?;
        Ok(frozen)
    }

    /// The copy must end with us, whatever becomes of the process. And it must not keep the id of the process
    /// in use, as the name of a group or a session it is still in.
    fn set_aside(&self) -> Result<(), FreezeError> {
        let failed = |errno| InjectError::of(self.copy, errno);
        ptrace::setoptions(self.copy, Options::PTRACE_O_EXITKILL).map_err(failed)?;
        if !(self.place.leads_group || self.place.leads_session) {
            return Ok(());
        }
        let mut copy = Borrowed::begin(self.copy, self.scratch)?;
        self.lead(&mut copy, self.copy)?;
        Ok(copy.end()?)
    }

    /// Makes a process the leader of its own group or session, if the original was.
    fn lead(&self, first: &mut Borrowed, process: Pid) -> Result<(), FreezeError> {
        let number = match self.place {
            Place { leads_session: true, .. } => libc::SYS_setsid,
            Place { leads_group: true, .. } => libc::SYS_setpgid,
            _ => return Ok(()),
        };
        succeeded(process, "set the group of", first.call(number, [0; 6])?).map(drop)
    }

    /// Kills the live process if it still exists, and brings this one to life under the same process and
    /// thread ids if the kernel allows. `live` are the threads of the live process, all traced by the calling
    /// thread. Afterwards all threads are stopped, with the registers they had. This can be done any number
    /// of times.
    ///
    /// # Errors
    /// If the copy has been killed: then the live process is as it was. Or if the kernel refuses: then it is
    /// gone.
    pub fn thaw(&self, live: &[Pid]) -> Result<Thawed, FreezeError> {
        let mut copy = Borrowed::begin(self.copy, self.scratch).map_err(|error| self.of_copy(error))?;
        // Waited for at the very end: the kernel takes the memory back while the rest is done.
        let _remains = Remains::of_ended(self.process, live, self.scratch);
        let (process, ids) =
            birth::process(&mut copy, self.copy, &self.slot, &self.leader).map_err(|error| {
                if let FreezeError::Thread(error) = error { self.of_copy(error) } else { error }
            })?;
        copy.end()?;
        match self.populate(process, ids) {
            Ok(thawed) => Ok(thawed),
            Err(error) => {
                process::end(process, &[]);
                Err(error)
            }
        }
    }

    /// Whether there is something to bring back: says why not, as [`thaw`](Self::thaw) would, and changes
    /// nothing.
    ///
    /// # Errors
    /// If the copy has been killed.
    pub fn check(&self) -> Result<(), FreezeError> {
        let copy = Borrowed::begin(self.copy, self.scratch).map_err(|error| self.of_copy(error))?;
        copy.end().map_err(|error| self.of_copy(error))
    }

    fn of_copy(&self, error: InjectError) -> FreezeError {
        match error {
            InjectError::Ended(tid) if tid == self.copy => FreezeError::CopyEnded(self.copy),
            error => error.into(),
        }
    }

    /// Gives a new process its threads and all the rest.
    fn populate(&self, process: Pid, ids: Ids) -> Result<Thawed, FreezeError> {
        let failed = |errno| InjectError::of(process, errno);
        // The threads that are made below inherit them.
        ptrace::setoptions(process, self.options).map_err(failed)?;
        let mut threads = vec![(self.leader.tid, process)];
        let mut first = Borrowed::begin(process, self.scratch)?;
        self.lead(&mut first, process)?;
        let mut next = ids;
        for other in &self.others {
            let (tid, ids) = birth::thread(&mut first, process, &self.slot, other, next)?;
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
            state.revive(tid, process, &self.slot, self.scratch, &self.leader)?;
        }
        self.slot.clear(process)?;
        self.positions.put_back(self.copy).map_err(|errno| InjectError::of(self.copy, errno))?;
        let same_ids = threads.iter().all(|(old, new)| old == new);
        let limits = if same_ids { Vec::new() } else { vec![Self::new_ids(ids).to_owned()] };
        Ok(Thawed { process, threads, same_ids, limits })
    }
}

impl Frozen {
    /// The process id that the copy has while it waits.
    #[must_use]
    pub fn copy(&self) -> Pid {
        self.copy
    }

    /// The process that was copied.
    #[must_use]
    pub fn process(&self) -> Pid {
        self.process
    }

    /// The threads at the checkpoint. The first thread of the process comes first.
    pub fn threads(&self) -> impl Iterator<Item = Pid> {
        std::iter::once(&self.leader).chain(&self.others).map(|thread| thread.tid)
    }

    /// Memory that only the copy holds, in bytes. It grows as the process changes its own. Takes a while for
    /// large processes.
    #[must_use]
    pub fn memory(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/smaps_rollup", self.copy)).unwrap_or_default();
        let private = text.lines().filter(|line| line.starts_with("Private_"));
        let sizes = private.filter_map(|line| line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok());
        sizes.sum::<u64>() * 1024
    }

    /// What will not come back, in words. Found when it is first asked for.
    pub fn limits(&self) -> &[String] {
        self.limits.get_or_init(|| limits::of(self.copy, &self.lost))
    }

    fn new_ids(ids: Ids) -> &'static str {
        match ids {
            Ids::Same => {
                "some threads have new ids, because others use theirs now: mutexes with priority inheritance, \
                 robust mutexes and signals to a thread may fail"
            }
            Ids::New => {
                "the process has a new id, because its own is in use, or because the program may not choose it \
                 (CAP_CHECKPOINT_RESTORE): mutexes with priority inheritance, robust mutexes and signals to a \
                 thread may fail"
            }
        }
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        process::end(self.copy, &[]);
    }
}
