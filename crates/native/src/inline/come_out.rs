//! Threads that are in the library, or on their way to it or back, when they are to stand still.
//!
//! They come out first: each runs on, with signals held back, until it is at one of the library's traps. There its registers
//! are those of the program, and it is put where the program would say it is.

use super::agent::{Agent, Trap};
use super::jumps::InTrampoline;
use crate::engine::{Engine, Happening, lost};
use crate::inject::raw;
use crate::sys::{self, Go, Status, Tid};
use crate::task::Task;
use invigil_session::due::Owners;
use invigil_session::subject::{Done, Owner};
use nix::unistd::Pid;
use std::collections::BTreeMap;

/// Everything but the signals that code raises by itself.
const ALL_BUT_FAULTS: u64 = !(1 << (libc::SIGTRAP - 1) | 1 << (libc::SIGSEGV - 1) | 1 << (libc::SIGBUS - 1));

/// What became of a thread that came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Out {
    /// It stands at a place whose event has been dealt with.
    Served,
    /// The same, and someone is to react.
    Reacts,
    /// Its event is yet to happen, or it was not in there.
    Before,
    /// It is no more.
    Gone,
}

/// Of a thread on its way out, what is to be as it was when it is there.
struct Coming {
    told: Option<raw::SignalInfo>,
    mask: u64,
    /// Whether it is to be sent once more what it was sent on the way.
    again: bool,
}

/// Everybody who may have a point at a place.
fn everybody() -> Owners {
    Owners::of(Owner::Developer).with(Owner::Scenario).with(Owner::Monitors)
}

impl Engine {
    /// Whether a thread is not in the program's own code, nor in a copy of it.
    pub(crate) fn is_inside(&self, pc: u64) -> bool {
        let Some(agent) = &self.agent else { return false };
        let on_the_way = || matches!(self.sites.in_trampoline(pc), Some(InTrampoline::Coming(_)));
        agent.is_in(pc) || on_the_way()
    }

    /// A thread ran into a trap; if it is one of the library's, puts the thread where the program would say it is.
    pub(crate) fn landed(&mut self, tid: Tid) -> Done<Option<Out>> {
        let (Some(agent), Some(task)) = (&self.agent, self.tasks.get_mut(&tid)) else { return Ok(None) };
        let Ok(pc) = task.pc() else { return Ok(None) };
        let Some(trap) = agent.trap_before(pc) else { return Ok(None) };
        let Ok(mut regs) = task.registers() else { return Ok(Some(Out::Gone)) };
        let Some((site, stack)) = agent.site(&self.memory, regs.rsp) else { return Ok(None) };
        if site.0 as usize >= self.sites.all.len() {
            return Ok(None);
        }
        (regs.rsp, regs.rip) = (stack, self.sites.get(site).address);
        task.set_registers(regs);
        if trap == Trap::Refused {
            task.flush().map_err(lost)?;
            return Ok(Some(Out::Before));
        }
        task.standing = Some(site);
        task.handled = everybody();
        Ok(Some(if trap == Trap::Stopped { Out::Reacts } else { Out::Served }))
    }

    /// A thread stands at a place whose event is yet to happen: where there is a jump, it goes to the probe at once.
    pub(crate) fn try_again(&mut self, tid: Tid) -> Done {
        // One that has something to tell, a signal perhaps, tells it first.
        let is_free = |task: &&mut Task| task.standing.is_none() && task.pending.is_none();
        let Some(task) = self.tasks.get_mut(&tid).filter(is_free) else { return Ok(()) };
        let Ok(pc) = task.pc() else { return Ok(()) };
        let Some(site) = self.sites.at(pc).map(|id| self.sites.get(id)).filter(|site| site.jumps) else {
            return Ok(());
        };
        match &site.jump {
            Some(jump) => task.flush().and_then(|()| task.set_pc(jump.enter)).map_err(lost),
            None => Ok(()),
        }
    }

    /// Lets a stopped thread run on, if it is in the library, until it is out. What it tells of its stop is kept.
    fn begin_to_come_out(&mut self, tid: Tid) -> Done<Option<Coming>> {
        let Some(task) = self.tasks.get_mut(&tid) else { return Ok(None) };
        if task.running || task.over || task.listening || task.foreign || task.standing.is_some() {
            return Ok(None);
        }
        let Ok(pc) = task.pc() else { return Ok(None) };
        if !self.is_inside(pc) {
            return Ok(None);
        }
        let pid = Pid::from_raw(tid);
        let told = raw::signal_info(pid).ok();
        let Ok(mask) = raw::signal_mask(pid) else { return Ok(None) };
        let _ = raw::set_signal_mask(pid, ALL_BUT_FAULTS);
        sys::go(tid, Go::On, 0).map_err(lost)?;
        Ok(Some(Coming { told, mask, again: false }))
    }

    /// A thread on its way out has stopped: what became of it, or `None` if it has further to go.
    fn is_out(&mut self, tid: Tid, status: Status, coming: &mut Coming) -> Done<Option<Out>> {
        if status.is_gone() {
            self.stopped_otherwise(tid, status)?;
            return Ok(Some(Out::Gone));
        }
        let pid = Pid::from_raw(tid);
        let task = self.task(tid)?;
        task.stopped();
        if status.signal() == libc::SIGSTOP && status.event() == 0 {
            // It cannot be held back, so it is put off.
            if task.pending.is_none() {
                task.pending = Some(status);
                coming.told = raw::signal_info(pid).ok();
                self.waiting.push_back(tid);
            } else {
                coming.again = true;
            }
            sys::go(tid, Go::On, 0).map_err(lost)?;
            return Ok(None);
        }
        let landed = if status.is_plain_trap() { self.landed(tid)? } else { None };
        // If neither, it is something that cannot be held back: it is for whoever looks at the thread next.
        if landed.is_none() && (self.pass_bad_read(tid, status)? || status.event() != 0) {
            sys::go(tid, Go::On, 0).map_err(lost)?;
            return Ok(None);
        }
        let _ = raw::set_signal_mask(pid, coming.mask);
        if let Some(told) = &coming.told {
            let _ = raw::set_signal_info(pid, told);
        }
        if coming.again {
            sys::kill(self.process, libc::SIGSTOP).map_err(lost)?;
        }
        Ok(Some(landed.unwrap_or(Out::Before)))
    }

    /// A thread that could not read what the program pointed to goes on without it.
    pub(crate) fn pass_bad_read(&mut self, tid: Tid, status: Status) -> Done<bool> {
        if !matches!(status.signal(), libc::SIGSEGV | libc::SIGBUS) || status.event() != 0 {
            return Ok(false);
        }
        let (Some(agent), Some(task)) = (&self.agent, self.tasks.get_mut(&tid)) else { return Ok(false) };
        let Ok(pc) = task.pc() else { return Ok(false) };
        let Some(failed) = agent.after_bad_read(pc) else { return Ok(false) };
        task.set_pc(failed).map_err(lost)?;
        Ok(true)
    }

    /// All threads stand still: those in the library come out, all at once, for some may wait for others there.
    pub(crate) fn all_come_out(&mut self) -> Done {
        let mut all = BTreeMap::new();
        for tid in self.tasks.keys().copied().collect::<Vec<_>>() {
            all.extend(self.begin_to_come_out(tid)?.map(|coming| (tid, coming)));
        }
        while !all.is_empty() {
            let Some((tid, status)) = sys::wait(-1, true).map_err(lost)? else { continue };
            let Some(coming) = all.get_mut(&tid) else {
                self.stopped_otherwise(tid, status)?;
                continue;
            };
            let Some(out) = self.is_out(tid, status, coming)? else { continue };
            all.remove(&tid);
            if out == Out::Reacts {
                self.news.push_back(Happening::Reacts { tid });
            }
        }
        Ok(())
    }

    /// Puts a stopped thread where the program would say it is, if it is in a trampoline and not on its way to the library.
    pub(crate) fn settle_in_trampoline(&mut self, tid: Tid) -> Done {
        let Some(task) = self.tasks.get_mut(&tid) else { return Ok(()) };
        let Ok(pc) = task.pc() else { return Ok(()) };
        match self.sites.in_trampoline(pc) {
            Some(InTrampoline::Ahead(site)) => {
                let address = self.sites.get(site).address;
                task.set_pc(address).map_err(lost)?;
            }
            Some(InTrampoline::Back(site)) => {
                let mut regs = task.registers().map_err(lost)?;
                (regs.rsp, regs.rip) = (Agent::stack_behind(regs.rsp), self.sites.get(site).address);
                task.set_registers(regs);
                task.flush().map_err(lost)?;
                (task.standing, task.handled) = (Some(site), everybody());
            }
            Some(InTrampoline::Copy(site, address)) => {
                if address == self.sites.get(site).address {
                    // Before the first of the instructions: its event has been dealt with.
                    (task.standing, task.handled) = (Some(site), everybody());
                }
                task.set_pc(address).map_err(lost)?;
            }
            _ => {}
        }
        Ok(())
    }
}
