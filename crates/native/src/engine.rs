//! The threads of a program: stopping them, letting them go, and telling what they do.
//!
//! A thread that runs into something stops by itself; the others run on until someone needs the whole
//! program to stand still ([`Engine::hold`]). A thread that stops stays stopped until it is let go, so if one
//! event happens before another by way of the program's own synchronisation, it is told before: the second
//! thread cannot get there while the first is not let go.
//!
//! A thread that ran into a trap while it was being held is put back before the trap, and runs into it again
//! when it is let go. So no hit is lost and none is told twice, and a checkpoint need not know of it.

use crate::inject::raw;
use crate::inline::agent::Agent;
use crate::inline::come_out::Out;
use crate::memory::RawMemory;
use crate::sites::{InCopy, SiteId, Sites};
use crate::sys::{self, Go, SignalInfo, Status, Tid};
use crate::task::Task;
use crate::watch::hardware::{self, Armed, REGISTERS};
use invigil_session::due::Owners;
use invigil_session::subject::{Done, Ending, Owner, Trouble};
use nix::unistd::Pid;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long to sleep between two looks at a program that cannot wake us.
const NAP: Duration = Duration::from_millis(5);

/// What a bad access is called: nothing is there, or it is not allowed.
const SEGV_MAPERR: i32 = 1;
const SEGV_ACCERR: i32 = 2;

/// What a thread did.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Happening {
    /// It ran into a trap.
    Hit { tid: Tid, site: SiteId },
    /// An event happened at a probe, the monitors inside the program have dealt with it, and someone is to react.
    Reacts { tid: Tid },
    /// It executed one instruction, or touched watched memory.
    Stepped { tid: Tid },
    /// A signal is about to be delivered to it.
    Signal { tid: Tid, info: SignalInfo },
    /// It is new.
    Started { tid: Tid },
    /// It is no more.
    Gone { tid: Tid },
    /// It made a new process.
    Forked { tid: Tid, child: Tid },
    /// It became another program.
    Execed { tid: Tid },
    /// It enters or leaves a system call.
    Syscall { tid: Tid, entering: bool },
    /// All threads had to stand still for a moment, and may go on.
    Held,
    /// Someone wants the program to stop.
    Interrupted { tid: Tid },
    /// The program is no more.
    Ended { status: Status },
}

pub(crate) struct Engine {
    pub(crate) process: Tid,
    pub(crate) tasks: BTreeMap<Tid, Task>,
    pub(crate) memory: RawMemory,
    pub(crate) sites: Sites,
    /// What is inside the program for probes.
    pub(crate) agent: Option<Agent>,
    /// How many threads have come into being.
    born: u32,
    /// Threads whose first stop came before the news that they exist.
    early: Vec<(Tid, Status)>,
    /// Threads that stopped while they were being held, in the order in which they did.
    pub(crate) waiting: VecDeque<Tid>,
    /// What happened while all were being held, and is yet to be told.
    pub(crate) news: VecDeque<Happening>,
    /// What the debug registers of every thread watch.
    pub(crate) armed: [Option<Armed>; REGISTERS],
    /// Set by whoever wants the program to stop.
    pub(crate) interrupted: Arc<AtomicBool>,
    /// Whether system calls are to be told.
    pub(crate) syscalls: bool,
    /// Whether all threads stand still.
    held: bool,
}

/// The kernel answers this when a thread was killed: the news of its end is on the way.
fn unless_gone(result: io::Result<()>) -> Done {
    match result {
        Err(error) if error.raw_os_error() != Some(libc::ESRCH) => {
            Err(Trouble::Subject(format!("cannot control the program: {error}")))
        }
        _ => Ok(()),
    }
}

/// Whether a thread has a signal before it that its own last instruction raised: a trap, a bad access.
fn has_fault(tid: Tid) -> bool {
    let pending = raw::pending(Pid::from_raw(tid), false).unwrap_or_default();
    pending.iter().any(|signal| signal.code() > 0 && matches!(signal.signal(), libc::SIGTRAP | libc::SIGSEGV))
}

/// Whether the signal that a thread stops with was raised by its own last instruction.
fn has_fault_now(tid: Tid) -> bool {
    let info = raw::signal_info(Pid::from_raw(tid));
    info.is_ok_and(|info| {
        info.code() > 0
            && matches!(
                info.signal(),
                libc::SIGTRAP | libc::SIGSEGV | libc::SIGBUS | libc::SIGILL | libc::SIGFPE
            )
    })
}

pub(crate) fn lost(error: io::Error) -> Trouble {
    Trouble::Subject(format!("cannot control the program: {error}"))
}

impl Engine {
    pub(crate) fn new(process: Tid) -> Done<Engine> {
        let memory = RawMemory::open(process).map_err(lost)?;
        Ok(Engine {
            process,
            tasks: BTreeMap::new(),
            memory,
            sites: Sites::default(),
            agent: None,
            born: 1,
            early: Vec::new(),
            waiting: VecDeque::new(),
            news: VecDeque::new(),
            armed: Default::default(),
            interrupted: Arc::new(AtomicBool::new(false)),
            syscalls: false,
            held: true,
        })
    }

    pub(crate) fn task(&mut self, tid: Tid) -> Done<&mut Task> {
        self.tasks.get_mut(&tid).ok_or_else(|| Trouble::Request(format!("there is no thread {tid}")))
    }

    /// Waits until something happens that is worth telling. The thread it happened to stands still, others
    /// may run.
    pub(crate) fn next(&mut self) -> Done<Happening> {
        loop {
            if let Some(news) = self.news.pop_front() {
                return Ok(news);
            }
            let (tid, status) = match self.next_waiting() {
                Some(known) => known,
                None => match self.news()? {
                    Some(news) => news,
                    None => return Ok(Happening::Interrupted { tid: self.process }),
                },
            };
            if let Some(happening) = self.classify(tid, status)? {
                return Ok(happening);
            }
        }
    }

    /// Waits for news; `None` if someone wants the program to stop, and it cannot tell so itself.
    fn news(&mut self) -> Done<Option<(Tid, Status)>> {
        // A program that is stopped by job control takes no signals, not even the one that is to stop it.
        while self.tasks.values().all(|task| task.listening || task.foreign) {
            if let Some(news) = sys::wait(-1, false).map_err(lost)? {
                return Ok(Some(news));
            }
            if self.interrupted.swap(false, Ordering::SeqCst) {
                return Ok(None);
            }
            std::thread::sleep(NAP);
        }
        sys::wait(-1, true).map_err(lost)
    }

    fn next_waiting(&mut self) -> Option<(Tid, Status)> {
        while let Some(tid) = self.waiting.pop_front() {
            let status = self.tasks.get_mut(&tid).and_then(|task| task.pending.take());
            if let Some(status) = status {
                return Some((tid, status));
            }
        }
        None
    }

    /// What a thread's stop means; `None` if it means nothing to anyone, and the thread was dealt with.
    fn classify(&mut self, tid: Tid, status: Status) -> Done<Option<Happening>> {
        if status.is_gone() {
            return Ok(self.gone(tid, status));
        }
        let Some(task) = self.tasks.get_mut(&tid) else {
            self.early.push((tid, status));
            return Ok(None);
        };
        task.stopped();
        if status.is_plain_trap() {
            return self.trap(tid);
        }
        if status.is_syscall() {
            let pc = task.pc();
            if pc.is_ok_and(|pc| self.is_inside(pc)) {
                // The probes' own.
                self.let_go(tid)?;
                return Ok(None);
            }
            return Ok(sys::enters_syscall(tid).ok().map(|entering| Happening::Syscall { tid, entering }));
        }
        match status.event() {
            0 => self.signal(tid, status),
            libc::PTRACE_EVENT_CLONE | libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK => {
                let news = self.born(tid, status.event())?;
                if !matches!(news, Some(Happening::Forked { .. })) {
                    self.let_go(tid)?;
                }
                Ok(news)
            }
            libc::PTRACE_EVENT_EXEC => self.execed(tid),
            libc::PTRACE_EVENT_STOP => {
                let signal = status.signal();
                // A stop by job control; or the end of one, or an interrupt that came too late to be needed.
                task.listening =
                    matches!(signal, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU);
                self.let_go(tid)?;
                Ok(None)
            }
            _ => {
                self.let_go(tid)?;
                Ok(None)
            }
        }
    }

    fn gone(&mut self, tid: Tid, status: Status) -> Option<Happening> {
        let known = self.tasks.remove(&tid);
        if known.as_ref().is_some_and(|task| task.foreign) {
            // If the memory is gone, nobody needs to know.
            let _ = self.tell_births(false);
        }
        if tid == self.process {
            return Some(Happening::Ended { status });
        }
        known.filter(|task| !task.foreign).map(|_| Happening::Gone { tid })
    }

    fn trap(&mut self, tid: Tid) -> Done<Option<Happening>> {
        match self.landed(tid)? {
            None => {}
            Some(Out::Reacts) => return Ok(Some(Happening::Reacts { tid })),
            Some(out) => {
                if out == Out::Before {
                    if let Some(site) = self.asks_tool(tid)? {
                        let task = self.task(tid)?;
                        (task.standing, task.handled) = (Some(site), Owners::default());
                        return Ok(Some(Happening::Hit { tid, site }));
                    }
                    self.try_again(tid)?;
                }
                self.let_go(tid)?;
                return Ok(None);
            }
        }
        let Some(task) = self.tasks.get_mut(&tid) else { return Ok(None) };
        let fetched = if task.wants_registers { task.registers().map(|regs| regs.rip) } else { task.pc() };
        let Ok(pc) = fetched else { return Ok(None) };
        let before = pc.wrapping_sub(1);
        if let Some(id) = self.sites.at(before)
            && !task.steps
            && (self.sites.get(id).inserted && !self.armed.iter().any(Option::is_some)
                || sys::signal_info(tid).is_ok_and(|info| info.code == libc::SI_KERNEL))
        {
            task.assume_pc(before);
            task.standing = Some(id);
            task.handled = Owners::default();
            if task.foreign || !self.sites.get(id).inserted {
                // Not ours, or removed between the thread's running into it and now.
                self.let_go(tid)?;
                return Ok(None);
            }
            return Ok(Some(Happening::Hit { tid, site: id }));
        }
        let Ok(info) = sys::signal_info(tid) else { return Ok(None) };
        match info.code {
            // One instruction was executed, a debug register matched, or (told as the signal's own number) the
            // handler of a signal is about to begin.
            libc::TRAP_TRACE | libc::TRAP_HWBKPT | libc::SIGTRAP => {
                task.steps = false;
                Ok(Some(Happening::Stepped { tid }))
            }
            // A trap while stepping.
            libc::SI_KERNEL if task.steps && self.sites.at(before).is_some() => {
                task.steps = false;
                self.trap(tid)
            }
            _ if task.foreign => {
                task.signal = libc::SIGTRAP;
                self.let_go(tid)?;
                Ok(None)
            }
            _ => Ok(Some(Happening::Signal { tid, info })),
        }
    }

    fn signal(&mut self, tid: Tid, status: Status) -> Done<Option<Happening>> {
        if self.pass_bad_read(tid, status)? {
            self.let_go(tid)?;
            return Ok(None);
        }
        let signal = status.signal();
        let is_inside = self.agent.is_some() && self.task(tid)?.pc().is_ok_and(|pc| self.is_inside(pc));
        // A process that only shares the memory has nothing to come out of: it is let through.
        if is_inside && !self.task(tid)?.foreign && !has_fault_now(tid) {
            // It comes out before it is given the signal, and so do all others: they may wait for each other there.
            self.task(tid)?.pending = Some(status);
            self.waiting.push_front(tid);
            self.hold()?;
            return Ok(Some(Happening::Held));
        }
        let Ok(info) = sys::signal_info(tid) else { return Ok(None) };
        if let Some(task) = self.tasks.get_mut(&tid)
            && task.foreign
            // Unless it may have run into a page that is closed for us, in memory that it shares.
            && !(signal == libc::SIGSEGV && matches!(info.code, SEGV_MAPERR | SEGV_ACCERR))
        {
            task.signal = signal;
            self.let_go(tid)?;
            return Ok(None);
        }
        // Our own request to stop is a SIGSTOP, which no program can block.
        let ours = signal == libc::SIGSTOP && info.sender == std::process::id() as i32;
        if ours {
            if self.interrupted.swap(false, Ordering::SeqCst) {
                return Ok(Some(Happening::Interrupted { tid }));
            }
            self.let_go(tid)?;
            return Ok(None);
        }
        Ok(Some(Happening::Signal { tid, info: SignalInfo { number: signal, ..info } }))
    }

    /// A thread or process came into being. Its parent stays stopped.
    fn born(&mut self, tid: Tid, event: i32) -> Done<Option<Happening>> {
        let Ok(message) = sys::event_message(tid) else { return Ok(None) };
        let child = message as Tid;
        // It stops before its first instruction: wait for that, so that nothing happens unseen.
        let first = match self.early.iter().position(|(known, _)| *known == child) {
            Some(at) => Some(self.early.swap_remove(at).1),
            None => sys::wait(child, true).ok().flatten().map(|(_, status)| status),
        };
        if first.is_none_or(Status::is_gone) {
            return Ok(None);
        }
        let is_thread = event == libc::PTRACE_EVENT_CLONE && self.is_thread(child);
        let shares_memory = event != libc::PTRACE_EVENT_FORK || self.clones_memory(tid);
        if is_thread || shares_memory {
            let mut task = Task::new(child);
            task.running = false;
            task.foreign = !is_thread;
            task.newborn = is_thread;
            self.tasks.insert(child, task);
            self.tell_births(is_thread)?;
        }
        if event == libc::PTRACE_EVENT_VFORK
            && let Some(parent) = self.tasks.get_mut(&tid)
        {
            parent.lent_to = Some(child);
        }
        if is_thread {
            return Ok(Some(Happening::Started { tid: child }));
        }
        Ok(Some(Happening::Forked { tid, child }))
    }

    /// Tells the probes of a thread that came into being, or how many processes there are that share the memory.
    fn tell_births(&mut self, is_thread: bool) -> Done {
        self.born += u32::from(is_thread);
        let Some(agent) = &self.agent else { return Ok(()) };
        match is_thread {
            true => agent.tell_born(self.born),
            false => {
                let foreign = self.tasks.values().filter(|task| task.foreign).count();
                agent.tell_foreign(foreign as u32)
            }
        }
    }

    /// A new thread was told of: it may go on when the others do.
    pub(crate) fn presented(&mut self, tid: Tid) {
        let Some(task) = self.tasks.get_mut(&tid) else { return };
        task.newborn = false;
        if self.armed.iter().any(Option::is_some) {
            // A thread that is gone needs none.
            let _ = hardware::arm(tid, &self.armed);
        }
    }

    /// Lets a new process go.
    pub(crate) fn release(&mut self, child: Tid) -> Done {
        if self.tasks.contains_key(&child) {
            return self.let_go(child);
        }
        // A copy of the program, with copies of our traps: it goes on without both.
        if let Ok(memory) = RawMemory::open(child) {
            self.sites.remove_from(&memory);
        }
        unless_gone(sys::detach(child, 0))
    }

    /// Whether the new process that a thread makes has the same memory: the system calls that a fork, too.
    fn clones_memory(&mut self, tid: Tid) -> bool {
        let Some(Ok(regs)) = self.tasks.get_mut(&tid).map(|task| task.registers()) else { return false };
        let flags = match regs.orig_rax as i64 {
            libc::SYS_clone => regs.rdi,
            libc::SYS_clone3 => {
                let mut flags = [0; 8];
                if self.memory.read(regs.rdi, &mut flags).is_err() {
                    return false;
                }
                u64::from_le_bytes(flags)
            }
            _ => return false,
        };
        flags & libc::CLONE_VM as u64 != 0
    }

    fn is_thread(&self, tid: Tid) -> bool {
        std::path::Path::new(&format!("/proc/{}/task/{tid}", self.process)).exists()
    }

    fn execed(&mut self, tid: Tid) -> Done<Option<Happening>> {
        if tid != self.process {
            // A process that shared our memory has memory of its own now.
            self.tasks.remove(&tid);
            self.tell_births(false)?;
            unless_gone(sys::detach(tid, 0))?;
            return Ok(None);
        }
        self.tasks.retain(|other, task| *other == tid || task.foreign);
        self.memory = RawMemory::open(self.process).map_err(lost)?;
        self.sites.clear();
        // Whichever thread it was, it goes on as the first one, which may have ended before. Nothing that was
        // known of either holds for the new program.
        let mut task = Task::new(tid);
        task.stopped();
        self.tasks.insert(tid, task);
        self.waiting.clear();
        Ok(Some(Happening::Execed { tid }))
    }

    /// Lets a thread go on. If it stands on a trap, it passes it.
    pub(crate) fn let_go(&mut self, tid: Tid) -> Done {
        self.held = false;
        let syscalls = self.syscalls;
        let Some(task) = self.tasks.get_mut(&tid) else { return Ok(()) };
        if task.running || task.newborn || task.over || task.pending.is_some() {
            return Ok(());
        }
        if task.listening {
            // It stays stopped, as job control wants it, until someone continues it.
            task.running = true;
            return unless_gone(task.flush().and_then(|()| sys::listen(tid)));
        }
        if let Some(id) = task.standing.take() {
            let site = self.sites.get(id);
            unless_gone(task.flush())?;
            let pc = match &site.jump {
                Some(jump) if site.jumps => jump.on,
                _ if site.inserted => site.slot,
                _ => site.address,
            };
            unless_gone(sys::set_pc(tid, pc))?;
            task.handled = Owners::default();
        } else {
            unless_gone(task.flush())?;
            if !task.steps && self.agent.is_some() && (task.signal != 0 || self.sites.has_jumps()) {
                // Where a jump is, or will be when a handler returns, it must not be in the middle.
                let is_interrupted = task.signal != 0;
                let pc = task.pc().ok().and_then(|pc| self.sites.out_of_window(pc, is_interrupted));
                unless_gone(pc.map_or(Ok(()), |pc| task.set_pc(pc)))?;
            }
        }
        let how = match (task.steps, syscalls && !task.foreign) {
            (true, _) => Go::Step,
            (_, true) => Go::ToSyscall,
            _ => Go::On,
        };
        let signal = std::mem::take(&mut task.signal);
        task.signalled |= signal != 0;
        task.running = true;
        unless_gone(sys::go(tid, how, signal))
    }

    /// Lets all threads go on.
    pub(crate) fn let_all_go(&mut self) -> Done {
        let all: Vec<Tid> = self.tasks.keys().copied().collect();
        all.into_iter().try_for_each(|tid| self.let_go(tid))
    }

    /// Whether all threads stand still.
    pub(crate) fn is_held(&self) -> bool {
        self.held
    }

    /// Makes all threads stand still, each where the program would say it is.
    pub(crate) fn hold(&mut self) -> Done {
        if self.held {
            return Ok(());
        }
        // Without jumps, too: a handler may have returned to a trampoline.
        let agent = self.agent.as_ref().filter(|_| !self.sites.trampolines.is_empty());
        let is_probed = agent.is_some();
        if let Some(agent) = agent {
            agent.freeze(true)?;
            agent.close(true)?;
        }
        for task in self.tasks.values().filter(|task| task.running && !task.foreign) {
            unless_gone(sys::interrupt(task.tid))?;
        }
        self.wait_for_all()?;
        if is_probed {
            self.all_come_out()?;
        }
        for tid in self.tasks.keys().copied().collect::<Vec<_>>() {
            self.settle(tid)?;
        }
        if let Some(agent) = self.agent.as_ref().filter(|_| is_probed) {
            agent.close(false)?;
            self.sites.lift_jumps(&self.memory);
        }
        self.held = true;
        Ok(())
    }

    /// Waits until every thread stands still; all that run have been asked to.
    fn wait_for_all(&mut self) -> Done {
        let mut pause = Duration::from_micros(10);
        loop {
            let running = self.tasks.values().filter(|task| task.running && !task.foreign);
            // Nothing can stop a thread that waits for a process which stands still itself.
            let mut running = running.filter(|task| {
                let child = task.lent_to.and_then(|child| self.tasks.get(&child));
                child.is_none_or(|child| child.running)
            });
            let (first, second) = (running.next().map(|task| task.tid), running.next());
            let Some(first) = first else { return Ok(()) };
            // The first thread may have left while others run: then nothing is heard of it before they end.
            let may_be_over = second.is_none() && first == self.process && self.tasks.len() > 1;
            match sys::wait(-1, !may_be_over).map_err(lost)? {
                Some((tid, status)) => self.stopped_for_hold(tid, status)?,
                None if self.is_over(first) => self.task(first)?.ends_silently(),
                None => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(1));
                }
            }
        }
    }

    /// Whether a thread has ended, though nobody was told.
    fn is_over(&self, tid: Tid) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/task/{tid}/stat", self.process));
        stat.is_ok_and(|stat| stat.rsplit_once(')').is_some_and(|(_, rest)| rest.starts_with(" Z")))
    }

    /// A thread stopped while all are asked to.
    fn stopped_for_hold(&mut self, tid: Tid, status: Status) -> Done {
        if status.is_gone() {
            let news = self.gone(tid, status);
            self.news.extend(news);
            return Ok(());
        }
        let Some(task) = self.tasks.get_mut(&tid) else {
            self.early.push((tid, status));
            return Ok(());
        };
        if task.foreign {
            // A process that shares our memory may keep a thread from stopping (`vfork`): it goes on.
            return match self.classify(tid, status)? {
                Some(Happening::Forked { tid, child }) => {
                    self.release(child)?;
                    self.let_go(tid)
                }
                news => {
                    self.news.extend(news);
                    Ok(())
                }
            };
        }
        task.stopped();
        task.listening = false;
        if status.event() == libc::PTRACE_EVENT_STOP {
            task.listening = status.signal() != libc::SIGTRAP;
            if !task.listening && has_fault(tid) {
                // It ran into something just before it was asked to stop, and is yet to say so.
                task.running = true;
                return unless_gone(sys::go(tid, Go::On, 0));
            }
            return Ok(());
        }
        if matches!(
            status.event(),
            libc::PTRACE_EVENT_CLONE | libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK
        ) {
            // The newcomer stands still, too.
            let news = self.born(tid, status.event())?;
            self.news.extend(news);
            return Ok(());
        }
        if status.is_plain_trap()
            && let Some(out) = self.landed(tid)?
        {
            if let Out::Reacts = out {
                self.news.push_back(Happening::Reacts { tid });
            }
            return Ok(());
        }
        if self.pass_bad_read(tid, status)? {
            // It comes out with the others.
            return Ok(());
        }
        let Some(task) = self.tasks.get_mut(&tid) else { return Ok(()) };
        let info = sys::signal_info(tid).ok();
        if let Some(info) = info
            && status.event() == 0
        {
            if status.is_plain_trap()
                && info.code == libc::SI_KERNEL
                && let Ok(pc) = task.pc()
                && self.sites.at(pc.wrapping_sub(1)).is_some()
            {
                task.steps = false;
                return unless_gone(task.set_pc(pc.wrapping_sub(1)));
            }
            // It will touch the same memory again, which may no longer be closed to it then.
            if status.signal() == libc::SIGSEGV && matches!(info.code, SEGV_MAPERR | SEGV_ACCERR) {
                return Ok(());
            }
        }
        task.pending = Some(status);
        self.waiting.push_back(tid);
        Ok(())
    }

    /// Waits for threads that were just taken hold of.
    pub(crate) fn adopt(&mut self) -> Done {
        self.wait_for_all()?;
        self.held = false;
        self.hold()
    }

    /// Puts a stopped thread where the program would say it is: before a trap, not in it or in a copy.
    pub(crate) fn settle(&mut self, tid: Tid) -> Done {
        let Some(task) = self.tasks.get_mut(&tid) else { return Ok(()) };
        if task.running || task.over || task.listening {
            return Ok(());
        }
        if let Some(id) = task.standing {
            let address = self.sites.get(id).address;
            return unless_gone(task.flush().and_then(|()| task.set_pc(address)));
        }
        self.settle_in_trampoline(tid)?;
        let Some(task) = self.tasks.get_mut(&tid).filter(|task| task.standing.is_none()) else {
            return Ok(());
        };
        let Ok(pc) = task.pc() else { return Ok(()) };
        match self.sites.in_copy(pc) {
            Some(InCopy::Before(id)) => {
                task.standing = Some(id);
                task.handled = Owners::of(Owner::Developer).with(Owner::Scenario).with(Owner::Monitors);
                unless_gone(task.set_pc(self.sites.get(id).address))
            }
            Some(InCopy::Behind(address)) => unless_gone(task.set_pc(address)),
            None => Ok(()),
        }
    }

    /// Lets a thread run on without us, after the traps were taken away. A request of ours to stop may be on its
    /// way to it.
    pub(crate) fn leave(&mut self, tid: Tid, interrupted: bool) {
        let Some(mut task) = self.tasks.remove(&tid) else { return };
        if task.running {
            // One that shares memory only, and was not held.
            let stopped = sys::interrupt(tid).and_then(|()| sys::wait(tid, true));
            task.pending = stopped.ok().flatten().map(|(_, status)| status);
            task.stopped();
            if let (Some(status), Ok(pc)) = (task.pending, task.pc())
                && status.is_plain_trap()
                && self.sites.at(pc.wrapping_sub(1)).is_some()
            {
                let _ = task.set_pc(pc.wrapping_sub(1));
            }
        }
        let _ = task.flush();
        let signal = match task.pending.take() {
            Some(status) if status.is_gone() => return,
            Some(status) if status.event() == libc::PTRACE_EVENT_STOP => 0,
            Some(status) if status.event() != 0 => {
                self.leave_newcomer(tid, status.event());
                0
            }
            Some(status) => status.signal() & 0x7f,
            None => task.signal,
        };
        let ours = signal == libc::SIGTRAP || signal == libc::SIGSTOP && interrupted;
        let _ = sys::detach(tid, if ours { 0 } else { signal });
    }

    /// A thread that is left has just made another thread or process, which is ours as well.
    fn leave_newcomer(&mut self, tid: Tid, event: i32) {
        if !matches!(event, libc::PTRACE_EVENT_CLONE | libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK) {
            return;
        }
        let Ok(child) = sys::event_message(tid).map(|message| message as Tid) else { return };
        if !self.early.iter().any(|(known, _)| *known == child) {
            let _ = sys::wait(child, true);
        }
        if let (libc::PTRACE_EVENT_FORK, Ok(memory)) = (event, RawMemory::open(child)) {
            self.sites.remove_from(&memory);
        }
        let _ = sys::detach(child, 0);
    }

    /// The program is no more, and nothing is to be told of it.
    pub(crate) fn perish(&mut self) {
        self.tasks.clear();
        self.waiting.clear();
        self.news.clear();
        self.early.clear();
    }

    /// The program was brought back under this number; its threads are yet to be added.
    pub(crate) fn revive(&mut self, process: Tid, memory: RawMemory) {
        self.process = process;
        self.memory = memory;
        self.perish();
        // A request to stop may have died with the process that it was for.
        self.interrupted.store(false, Ordering::SeqCst);
        self.held = true;
    }

    /// Adds a thread that was brought back.
    pub(crate) fn readmit(&mut self, task: Task) {
        if task.newborn {
            self.news.push_back(Happening::Started { tid: task.tid });
        }
        if task.pending.is_some() {
            self.waiting.push_back(task.tid);
        }
        self.tasks.insert(task.tid, task);
    }

    /// A thread stopped while someone else had let it go: what came of it is told later.
    pub(crate) fn stopped_otherwise(&mut self, tid: Tid, status: Status) -> Done {
        self.stopped_for_hold(tid, status)
    }

    /// How the program ended, in words.
    pub(crate) fn ending(status: Status) -> Ending {
        match (status.exited(), status.killed()) {
            (Some(code), _) => Ending::Exited(code),
            (_, Some((signal, core))) => Ending::Killed { signal: signal_name(signal), core },
            _ => Ending::Exited(0),
        }
    }
}

/// The name of a signal.
pub(crate) fn signal_name(number: i32) -> String {
    match nix::sys::signal::Signal::try_from(number) {
        Ok(signal) => signal.as_str().to_owned(),
        Err(_) if number >= libc::SIGRTMIN() => format!("SIGRTMIN+{}", number - libc::SIGRTMIN()),
        Err(_) => format!("signal {number}"),
    }
}
