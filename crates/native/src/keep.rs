//! Checkpoints of the program, and what the controller must remember with them.

use crate::engine::{lost, signal_name};
use crate::freeze::process::resident;
use crate::freeze::{self, FreezeError, Frozen};
use crate::maps;
use crate::memory::RawMemory;
use crate::sites::{REGION, SiteId};
use crate::sys::{self, SignalInfo, Status, Tid};
use crate::target::Target;
use crate::task::{OpenCall, Task};
use crate::uses::Use;
use crate::watch::{Contents, Pages, Touch};
use invigil_monitor::event::EventSet;
use invigil_session::due::Owners;
use invigil_session::subject::{Checkpoint, CheckpointId, Done, Ending, Trouble};
use nix::sys::ptrace::Options;
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::ops::Range;

/// The size of a page of memory.
const PAGE: u64 = 4096;

/// What the controller knows of a thread.
struct Thread {
    tid: Tid,
    standing: Option<SiteId>,
    handled: Owners,
    calls: Vec<OpenCall>,
    signal: i32,
    /// A stop that is yet to be dealt with.
    pending: Option<Status>,
    newborn: bool,
}

struct Keep {
    frozen: Frozen,
    threads: Vec<Thread>,
    current: Tid,
    serving: Option<Tid>,
    events: EventSet,
    regions: Vec<Range<u64>>,
    pages: Pages,
    /// Accesses that are being told, and a signal that is yet to be.
    touch: Option<Touch>,
    /// What was in watched memory when threads began the system calls that they are in.
    before_call: BTreeMap<Tid, Contents>,
    alert: Option<SignalInfo>,
    /// How many times the program's code had been replaced by another program's.
    generation: u32,
    /// What was different when it was brought back last: other numbers of processes and threads.
    differs: Vec<String>,
}

/// The checkpoints there are.
#[derive(Default)]
pub(crate) struct Kept {
    all: BTreeMap<CheckpointId, Keep>,
    last: u32,
    pub(crate) generation: u32,
}

impl Kept {
    /// Drops all checkpoints.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
    }
}

fn trouble(error: &FreezeError) -> Trouble {
    Trouble::Subject(error.to_string())
}

impl Target {
    pub(crate) fn take_checkpoint(&mut self) -> Done<Checkpoint> {
        if let Some(ending) = &self.ended {
            return Err(Trouble::Ended(ending.clone()));
        }
        self.affinity.free_all();
        self.engine.hold()?;
        for task in self.engine.tasks.values_mut() {
            task.flush().map_err(lost)?;
        }
        let ours = self.engine.tasks.values().filter(|task| !task.foreign);
        let threads: Vec<Thread> = ours
            .map(|task| Thread {
                tid: task.tid,
                standing: task.standing,
                handled: task.handled,
                calls: task.calls.clone(),
                signal: task.signal,
                pending: task.pending,
                newborn: task.newborn,
            })
            .collect();
        let tids: Vec<Pid> = threads.iter().map(|thread| Pid::from_raw(thread.tid)).collect();
        let process = Pid::from_raw(self.engine.process);
        let frozen =
            Frozen::freeze(process, &tids, self.scratch, self.options()).map_err(|error| trouble(&error))?;
        self.kept.last += 1;
        let id = CheckpointId(self.kept.last);
        let memory = resident(process) * PAGE;
        let keep = Keep {
            frozen,
            threads,
            current: self.current,
            serving: self.serving,
            events: self.plans.active(),
            regions: self.engine.sites.regions(),
            pages: self.protections(),
            touch: self.watches.touch.clone(),
            before_call: self.watches.before_call.clone(),
            alert: self.alert,
            generation: self.kept.generation,
            differs: Vec::new(),
        };
        self.kept.all.insert(id, keep);
        Ok(Checkpoint { id, memory, limits: Vec::new() })
    }

    pub(crate) fn bring_back(&mut self, id: CheckpointId) -> Done {
        let generation = self.kept.generation;
        let keep = self.kept.all.get(&id).ok_or_else(|| no_checkpoint(id))?;
        if keep.generation != generation {
            return Err(Trouble::Request(
                "the program has become another one since (exec): this checkpoint cannot be restored".into(),
            ));
        }
        // Whatever can be known is looked at before the program is given up for what it was.
        if let Err(error) = keep.frozen.check() {
            self.kept.all.remove(&id);
            return Err(trouble(&error));
        }
        let lacking = self.lacking_regions(&keep.regions);
        let taken = maps::read(keep.frozen.copy().as_raw()).map_err(lost)?;
        if taken.iter().any(|map| lacking.iter().any(|region| overlap(region, &map.range))) {
            return Err(Trouble::Request(
                "this checkpoint cannot be restored: the program used memory then that now holds copies of \
                 its instructions for breakpoints set since; take new checkpoints"
                    .into(),
            ));
        }
        self.end_step();
        self.affinity.free_all();
        if self.ended.is_none() {
            self.engine.hold()?;
        }
        let brought = self.replace_by(id, &lacking);
        if brought.is_err() {
            self.give_up(id);
        }
        brought
    }

    /// The program could not be brought back, and what it was is gone.
    fn give_up(&mut self, id: CheckpointId) {
        let threads: Vec<Pid> = self.engine.tasks.keys().map(|tid| Pid::from_raw(*tid)).collect();
        freeze::end(Pid::from_raw(self.engine.process), &threads);
        self.engine.perish();
        self.kept.all.remove(&id);
        self.ended = Some(Ending::Killed { signal: signal_name(libc::SIGKILL), core: false });
        (self.serving, self.alert, self.watches.touch) = (None, None, None);
        self.watches.before_call.clear();
    }

    /// Ends the program, and lives on with the one that was kept.
    fn replace_by(&mut self, id: CheckpointId, lacking: &[Range<u64>]) -> Done {
        // Calls that are awaited now are forgotten, with the traps at their returns.
        let returns: Vec<SiteId> = self
            .engine
            .tasks
            .values()
            .flat_map(|task| &task.calls)
            .filter_map(|call| call.returns_to)
            .collect();
        for site in returns {
            self.remove_use(site, Use::Return);
        }
        let Some(keep) = self.kept.all.get(&id) else { return Err(no_checkpoint(id)) };
        let live: Vec<Pid> = self.engine.tasks.keys().map(|tid| Pid::from_raw(*tid)).collect();
        let thawed = keep.frozen.thaw(&live).map_err(|error| trouble(&error))?;
        let process = thawed.process.as_raw();
        let renamed = |tid: Tid| {
            let found = thawed.threads.iter().find(|(old, _)| old.as_raw() == tid);
            found.map_or(tid, |(_, new)| new.as_raw())
        };
        self.engine.revive(process, RawMemory::open(process).map_err(lost)?);
        let mut returns = Vec::new();
        for thread in &keep.threads {
            let mut task = Task::new(renamed(thread.tid));
            task.stopped();
            task.signalled = true;
            (task.standing, task.handled, task.signal) = (thread.standing, thread.handled, thread.signal);
            (task.pending, task.newborn) = (thread.pending, thread.newborn);
            task.calls.clone_from(&thread.calls);
            returns.extend(task.calls.iter().filter_map(|call| call.returns_to));
            self.engine.readmit(task);
        }
        self.current = renamed(keep.current);
        self.serving = keep.serving.map(renamed);
        let (events, pages) = (keep.events.clone(), keep.pages.clone());
        (self.ended, self.alert, self.frame) = (None, keep.alert, 0);
        let before_call = keep.before_call.iter();
        self.watches.before_call =
            before_call.map(|(tid, contents)| (renamed(*tid), contents.clone())).collect();
        self.watches.touch = keep.touch.clone();
        if let Some(touch) = &mut self.watches.touch {
            touch.tid = renamed(touch.tid);
        }
        if let Some(keep) = self.kept.all.get_mut(&id) {
            keep.differs = thawed.limits;
        }
        self.moved_to(process);
        self.forget_jumps();
        self.renew_regions(lacking)?;
        self.renew_sites()?;
        for site in returns {
            self.add_use(site, Use::Return);
        }
        self.rearm();
        self.reprotect(pages)?;
        self.instrument(&events)?;
        self.images_changed()
    }

    /// How the program is traced.
    fn options(&self) -> Options {
        Options::from_bits_truncate(sys::OPTIONS | if self.launched { sys::EXITKILL } else { 0 })
    }

    /// Memory for copies that was made since a checkpoint which had these.
    fn lacking_regions(&self, had: &[Range<u64>]) -> Vec<Range<u64>> {
        self.engine.sites.regions().into_iter().filter(|region| !had.contains(region)).collect()
    }

    /// Makes memory for copies again.
    fn renew_regions(&mut self, lacking: &[Range<u64>]) -> Done {
        for region in lacking {
            let tid = self.some_thread()?;
            let protection = (libc::PROT_READ | libc::PROT_EXEC) as u64;
            let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE) as u64;
            let made =
                self.inject(tid, libc::SYS_mmap, [region.start, REGION, protection, flags, u64::MAX, 0])?;
            if made != region.start as i64 {
                let error = std::io::Error::from_raw_os_error(-made as i32);
                return Err(Trouble::Subject(format!("cannot make room in the program's memory: {error}")));
            }
        }
        Ok(())
    }

    /// Makes the traps in the memory that was brought back what they are to be, in the code that was mapped
    /// then and is known now.
    fn renew_sites(&mut self) -> Done {
        let maps = maps::read(self.engine.process).map_err(lost)?;
        let program = &self.program;
        let is_there = |address: u64| {
            let Some(map) = maps.iter().find(|map| map.range.contains(&address)) else { return false };
            let image = program.image_at(address);
            map.execute && image.is_none_or(|loaded| map.path.as_deref() == Some(loaded.image.path()))
        };
        self.engine.sites.renew(&self.engine.memory, is_there);
        Ok(())
    }

    pub(crate) fn drop_checkpoint(&mut self, id: CheckpointId) -> Done {
        self.kept.all.remove(&id).map(drop).ok_or_else(|| no_checkpoint(id))
    }

    pub(crate) fn list_checkpoints(&self) -> Vec<Checkpoint> {
        let all = self.kept.all.iter();
        all.map(|(id, keep)| Checkpoint {
            id: *id,
            memory: keep.frozen.memory(),
            limits: [keep.frozen.limits(), &keep.differs].concat(),
        })
        .collect()
    }
}

fn overlap(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

fn no_checkpoint(id: CheckpointId) -> Trouble {
    Trouble::Request(format!("there is no checkpoint {}", id.0))
}
