//! What is ours in the program's memory, and which images are mapped there.

use super::Target;
use crate::engine::{Engine, Happening, lost};
use crate::images;
use crate::inject;
use crate::maps;
use crate::sites::{NoSite, REGION, SiteId};
use crate::sys::Tid;
use crate::task::Task;
use crate::uses::Use;
use invigil_debuginfo::program::Program;
use invigil_debuginfo::value::catalog::Catalog;
use invigil_session::subject::{Done, Trouble};
use nix::unistd::Pid;
use std::ops::Range;

impl Target {
    /// Makes ready a program that is new: it was started, attached to, or became another one.
    pub(super) fn settle_in(&mut self) -> Done {
        self.map_scratch()?;
        images::sync(&mut self.program, self.engine.process)?;
        if let Some(state) = images::loader_hook(&self.program) {
            let site = self.site(state)?;
            self.add_use(site, Use::Loader);
        }
        Ok(())
    }

    /// Runs until the libraries that the program starts with are loaded, and nothing of them has run.
    pub(super) fn run_loader(&mut self) -> Done {
        if !images::has_loader(&self.program) {
            return Ok(());
        }
        loop {
            self.engine.let_all_go()?;
            match self.engine.next()? {
                Happening::Hit { tid, site } if self.uses.at(site).contains(&Use::Loader) => {
                    self.current = tid;
                    self.serving = Some(tid);
                    if images::is_consistent(&self.program, &self.view()) {
                        self.images_changed()?;
                        return self.engine.hold();
                    }
                }
                Happening::Ended { status } => {
                    self.ended = Some(Engine::ending(status));
                    return Ok(());
                }
                Happening::Signal { tid, info } => self.engine.task(tid)?.signal = info.number,
                _ => {}
            }
        }
    }

    /// Maps memory for `syscall; int3` and for copies of instructions into the program.
    fn map_scratch(&mut self) -> Done {
        let tid = self.some_thread()?;
        let pc = self.engine.task(tid)?.pc().map_err(lost)?;
        // There is nothing of ours in the program yet: borrow the bytes where it stands.
        let mut saved = [0; inject::SCRATCH.len()];
        self.engine.memory.read(pc, &mut saved).map_err(|_| unwritable(pc))?;
        self.engine.memory.write(pc, &inject::SCRATCH).map_err(|_| unwritable(pc))?;
        self.scratch = pc;
        let mapped = self.map_region(pc);
        self.engine.memory.write(pc, &saved).map_err(|_| unwritable(pc))?;
        let start = mapped?;
        self.engine.memory.write(start, &inject::SCRATCH).map_err(|_| unwritable(start))?;
        self.scratch = start;
        // The first slots of the region are taken by the scratch bytes.
        self.engine.sites.add_region(start + crate::displace::SLOT, start + REGION);
        Ok(())
    }

    /// Makes executable memory near an address.
    pub(crate) fn map_region(&mut self, near: u64) -> Done<u64> {
        let tid = self.some_thread()?;
        let all = maps::read(self.engine.process).map_err(lost)?;
        let place = maps::gap_near(&all, near, REGION)
            .ok_or_else(|| Trouble::Subject("there is no room in the program's memory".into()))?;
        let protection = (libc::PROT_READ | libc::PROT_EXEC) as u64;
        let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE) as u64;
        let start = self.inject(tid, libc::SYS_mmap, [place, REGION, protection, flags, u64::MAX, 0])?;
        if start < 0 {
            let error = std::io::Error::from_raw_os_error(-start as i32);
            return Err(Trouble::Subject(format!("cannot make room in the program's memory: {error}")));
        }
        Ok(start as u64)
    }

    /// Makes a system call in the program, which stands still.
    pub(crate) fn inject(&mut self, tid: Tid, number: i64, arguments: [u64; 6]) -> Done<i64> {
        let task = self.engine.task(tid)?;
        task.flush().map_err(lost)?;
        inject::syscall(Pid::from_raw(tid), self.scratch, number, arguments)
            .map_err(|error| Trouble::Subject(error.to_string()))
    }

    /// A thread that stands still.
    pub(crate) fn some_thread(&mut self) -> Done<Tid> {
        let stopped = |task: &&Task| !task.running && !task.listening && !task.foreign && !task.over;
        let mut all = self.engine.tasks.values().filter(stopped).map(|task| task.tid);
        let first = all.next();
        let current = self.current;
        let chosen = if first == Some(current) { first } else { all.find(|tid| *tid == current).or(first) };
        chosen.ok_or_else(|| Trouble::Subject("no thread of the program can be stopped".into()))
    }

    /// The place at an address, ready for a trap.
    pub(crate) fn site(&mut self, address: u64) -> Done<SiteId> {
        if self.engine.sites.is_jumped_over(address) {
            // A trap is no trap under a jump.
            self.engine.hold()?;
        }
        loop {
            match self.engine.sites.prepare(&self.engine.memory, address) {
                Ok(site) => return Ok(site),
                Err(NoSite::NeedsRegion) => {
                    self.engine.hold()?;
                    let start = self.map_region(address)?;
                    self.engine.sites.add_region(start, start + REGION);
                    if !self.engine.sites.has_region_for(address) {
                        return Err(Trouble::Subject(format!("no memory can be had near {address:#x}")));
                    }
                }
                Err(NoSite::Unreadable) => {
                    return Err(Trouble::Request(format!("there is no code at {address:#x}")));
                }
                Err(NoSite::Immovable) => {
                    return Err(Trouble::Request(format!(
                        "the instruction at {address:#x} cannot carry a point"
                    )));
                }
            }
        }
    }

    /// Gives a place a reason for a trap.
    pub(crate) fn add_use(&mut self, site: SiteId, reason: Use) {
        self.uses.add(site, reason);
        self.engine.sites.want(&self.engine.memory, site);
    }

    /// Takes a reason away.
    pub(crate) fn remove_use(&mut self, site: SiteId, reason: Use) {
        if self.uses.remove(site, reason) {
            self.engine.sites.release(&self.engine.memory, site);
        }
    }

    /// Libraries came or went: what could not be found before may be there now.
    pub(crate) fn images_changed(&mut self) -> Done {
        let before = self.program.images().to_vec();
        if images::sync(&mut self.program, self.engine.process)? {
            self.types = Catalog::new();
            for range in images::gone(&before, self.program.images()) {
                self.forget_range(&range);
            }
            self.resolve_plans()?;
            self.resolve_points();
        }
        Ok(())
    }

    /// Code was taken away: other code may be loaded where it was.
    fn forget_range(&mut self, range: &Range<u64>) {
        for site in self.engine.sites.bury(range) {
            self.uses.forget(site);
            self.plans.forget_site(site);
            self.points.forget_site(site);
        }
        self.plans.forget_range(range);
    }

    /// The program was replaced by another one.
    pub(super) fn became_another(&mut self) -> Done {
        self.end_step();
        self.save_past();
        self.engine.agent = None;
        self.kept.generation += 1;
        self.uses.clear();
        self.watches.forget();
        // The system has cleared the debug registers.
        self.engine.armed = Default::default();
        (self.current, self.frame) = (self.engine.process, 0);
        self.plans.forget_places();
        self.points.forget_places();
        (self.program, self.types) = (Program::default(), Catalog::new());
        self.settle_in()?;
        self.move_library_in();
        self.resolve_plans()?;
        self.resolve_points();
        self.rewatch_points()?;
        self.set_syscalls()
    }
}

fn unwritable(address: u64) -> Trouble {
    Trouble::Subject(format!("the program's memory at {address:#x} cannot be changed"))
}
