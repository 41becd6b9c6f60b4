//! Watching memory by protecting the pages that it lies in.
//!
//! A thread that touches such a page is stopped by the processor before the access. The page is opened, the
//! one instruction executed while all other threads stand still, and the page closed again. A system call that
//! finds a page closed is made once more with the page open.

use super::hardware::{self, REGISTERS};
use super::{Access, Touch, Watcher, decode};
use crate::engine::lost;
use crate::inject::{self, raw};
use crate::maps;
use crate::sys::{self, Go, Regs, Tid};
use crate::target::Target;
use invigil_debuginfo::machine::Memory;
use invigil_session::due::Owners;
use invigil_session::subject::{Done, Stop, Trouble};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, Instant};

const PAGE: u64 = 4096;
/// A system call that takes longer than this waits for something.
const PATIENCE: Duration = Duration::from_millis(2);
const EFAULT: i64 = -(libc::EFAULT as i64);

/// Who watches what, and what is there.
pub(crate) type Contents = Vec<(Watcher, Vec<u8>)>;

/// A page that is closed to the program, in part or altogether.
#[derive(Clone, Copy, Debug)]
struct Page {
    /// What the program itself may do with it.
    original: u64,
    /// What it may do at present.
    now: u64,
    /// How many watch it for reading.
    readers: u32,
    /// How many watch it for writing alone.
    writers: u32,
}

impl Page {
    /// What the program may do for all to be seen.
    fn allowed(&self) -> u64 {
        match (self.readers, self.writers) {
            (0, 0) => self.original,
            (0, _) => self.original & !(libc::PROT_WRITE as u64),
            _ => libc::PROT_NONE as u64,
        }
    }
}

/// The pages that are protected.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pages {
    all: BTreeMap<u64, Page>,
}

impl Pages {
    pub(crate) fn has(&self, address: u64) -> bool {
        self.all.contains_key(&(address & !(PAGE - 1)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// The pages that a stretch of memory lies in.
pub(super) fn pages_of(start: u64, end: u64) -> impl Iterator<Item = u64> {
    ((start & !(PAGE - 1))..end.max(start.saturating_add(1))).step_by(PAGE as usize)
}

impl Target {
    /// The protections of pages as they are now, for a checkpoint.
    pub(crate) fn protections(&self) -> Pages {
        self.watches.pages.clone()
    }

    /// Says what the pages' protections really are, after memory was brought back, and makes them right.
    pub(crate) fn reprotect(&mut self, mut are: Pages) -> Done {
        let maps = maps::read(self.engine.process).map_err(lost)?;
        are.all.values_mut().for_each(|page| (page.readers, page.writers) = (0, 0));
        self.watches.pages = are;
        let watched: Vec<_> = self.watches.all.iter().filter(|watched| !watched.armed).cloned().collect();
        for watched in &watched {
            for page in pages_of(watched.range.start, watched.range.end) {
                self.count_page(&maps, page, watched.access, 1);
            }
        }
        let pages: Vec<u64> = self.watches.pages.all.keys().copied().collect();
        self.protect(&pages)?;
        self.set_syscalls()
    }

    /// Closes the pages of memory that is to be watched.
    pub(super) fn close_for(&mut self, range: &Range<u64>, access: Access) -> Done {
        let pages: Vec<u64> = pages_of(range.start, range.end).collect();
        self.check_closable(&pages)?;
        let known = pages.iter().all(|page| self.watches.pages.all.contains_key(page));
        let maps = if known { Vec::new() } else { maps::read(self.engine.process).map_err(lost)? };
        for page in &pages {
            self.count_page(&maps, *page, access, 1);
        }
        self.protect(&pages)
    }

    /// Opens the pages of memory that is no longer watched, unless other memory in them is.
    pub(super) fn open_for(&mut self, range: &Range<u64>, access: Access) -> Done {
        let pages: Vec<u64> = pages_of(range.start, range.end).collect();
        for page in &pages {
            self.count_page(&[], *page, access, -1);
        }
        if self.ended.is_some() {
            self.watches.pages.all.retain(|_, page| page.readers + page.writers > 0);
            return Ok(());
        }
        self.protect(&pages)
    }

    fn count_page(&mut self, maps: &[maps::Mapping], page: u64, access: Access, by: i32) {
        let page = self.watches.pages.all.entry(page).or_insert_with(|| {
            let original = maps.iter().find(|map| map.range.contains(&page)).map_or(0, protection);
            Page { original, now: original, readers: 0, writers: 0 }
        });
        let count = if access.read { &mut page.readers } else { &mut page.writers };
        *count = count.saturating_add_signed(by);
    }

    /// The kernel itself uses what it keeps for a thread near the thread's variables, and ends a program in which
    /// it cannot.
    fn check_closable(&mut self, pages: &[u64]) -> Done {
        const KEPT: u64 = 0xa00;
        for tid in self.engine.tasks.keys().copied().collect::<Vec<_>>() {
            let Ok(regs) = self.engine.task(tid)?.registers() else { continue };
            if pages_of(regs.fs_base, regs.fs_base + KEPT).any(|page| pages.contains(&page)) {
                return Err(Trouble::Request(
                    "a variable of a thread can only be watched by a debug register, and none is free (or the \
                     stop is to come before the access): remove another watchpoint"
                        .into(),
                ));
            }
        }
        Ok(())
    }

    /// Gives these pages the protections that they need.
    fn protect(&mut self, pages: &[u64]) -> Done {
        let tid = self.some_thread()?;
        for at in pages {
            let Some(page) = self.watches.pages.all.get(at).copied() else { continue };
            let allowed = page.allowed();
            if page.now != allowed {
                self.mprotect(tid, *at, allowed)?;
            }
            if page.readers + page.writers == 0 {
                self.watches.pages.all.remove(at);
            } else if let Some(page) = self.watches.pages.all.get_mut(at) {
                page.now = allowed;
            }
        }
        Ok(())
    }

    /// Opens all pages, for good.
    pub(crate) fn unprotect_all(&mut self) -> Done {
        self.watches.all.retain(|watched| watched.armed);
        let pages: Vec<u64> = self.watches.pages.all.keys().copied().collect();
        self.watches.pages.all.values_mut().for_each(|page| (page.readers, page.writers) = (0, 0));
        self.protect(&pages)
    }

    /// Opens the pages of a process that is a copy of the program, and goes on without us.
    pub(crate) fn open_copy(&mut self, child: Tid) {
        for (at, page) in &self.watches.pages.all {
            let arguments = [*at, PAGE, page.original, 0, 0, 0];
            // If it is gone already it needs nothing.
            let _ = inject::syscall(Pid::from_raw(child), self.scratch, libc::SYS_mprotect, arguments);
        }
    }

    fn mprotect(&mut self, tid: Tid, page: u64, allowed: u64) -> Done {
        let result = self.inject(tid, libc::SYS_mprotect, [page, PAGE, allowed, 0, 0, 0])?;
        // What is no longer mapped need not be opened.
        if result < 0 && result != -i64::from(libc::ENOMEM) {
            let error = std::io::Error::from_raw_os_error(-result as i32);
            return Err(Trouble::Subject(format!("cannot watch the page at {page:#x}: {error}")));
        }
        Ok(())
    }

    /// A thread is about to touch a protected page.
    pub(crate) fn touched(&mut self, tid: Tid, address: u64) -> Done<Option<Stop>> {
        self.engine.hold()?;
        let task = self.engine.task(tid)?;
        task.signal = 0;
        let regs = task.registers().map_err(lost)?;
        let touched = self.about_to_touch(&regs, address);
        // Those that debug registers watch are among them: the step below is not looked at for matches.
        let hits = |wanted: &dyn Fn(&Access) -> bool| -> Vec<Watcher> {
            let all = self.watches.all.iter().filter(|watched| wanted(&watched.access));
            all.filter(|watched| {
                touched.iter().any(|touch| {
                    let overlaps =
                        touch.range.start < watched.range.end && watched.range.start < touch.range.end;
                    overlaps && (touch.reads && watched.access.read || touch.writes && watched.access.write)
                })
            })
            .map(|watched| watched.id)
            .collect()
        };
        let before = hits(&|access| access.before);
        let mut after = hits(&|access| !access.before);
        if before.is_empty() {
            after.extend(self.perform(tid, &touched)?);
            if after.is_empty() {
                self.engine.let_all_go()?;
                return Ok(None);
            }
            let touch = Touch { tid, watchers: after, handled: Owners::default(), then: None };
            return self.begin_or_go(touch);
        }
        let then = Some((touched, after));
        self.begin_or_go(Touch { tid, watchers: before, handled: Owners::default(), then })
    }

    /// A process that shares the program's memory is about to touch a protected page. Nobody is told: it is not
    /// our program.
    pub(crate) fn touched_by_another(&mut self, tid: Tid, address: u64) -> Done {
        self.engine.hold()?;
        let regs = self.engine.task(tid)?.registers().map_err(lost)?;
        let touched = self.about_to_touch(&regs, address);
        self.perform(tid, &touched)?;
        self.engine.let_all_go()
    }

    fn begin_or_go(&mut self, touch: Touch) -> Done<Option<Stop>> {
        let stop = self.begin_touch(touch)?;
        if stop.is_none() {
            self.serving = None;
            self.engine.let_all_go()?;
        }
        Ok(stop)
    }

    /// What the instruction that a thread stands before touches; at least what the processor complained of.
    fn about_to_touch(&self, regs: &Regs, address: u64) -> Vec<decode::Touched> {
        let mut bytes = [0; 15];
        let read = self.engine.memory.read_some(regs.rip, &mut bytes);
        self.engine.sites.clean(regs.rip, &mut bytes[..read]);
        let mut all = decode::instruction(&bytes[..read], regs.rip)
            .map(|instruction| decode::touched(&instruction, regs))
            .unwrap_or_default();
        if !all.iter().any(|touch| touch.range.contains(&address)) {
            all.push(decode::Touched { range: address..address + 1, reads: true, writes: true });
        }
        all
    }

    /// Executes the instruction that a thread stands before, with the pages that it touches open. Gives those
    /// whose debug registers saw it.
    pub(super) fn perform(&mut self, tid: Tid, touched: &[decode::Touched]) -> Done<Vec<Watcher>> {
        let mut pages: Vec<u64> = touched
            .iter()
            .flat_map(|touch| pages_of(touch.range.start, touch.range.end))
            .filter(|page| self.watches.pages.all.contains_key(page))
            .collect();
        pages.sort_unstable();
        pages.dedup();
        self.open(tid, &pages)?;
        self.one_step(tid, 0)?;
        let seen = if self.is_armed() { self.matched_watchers(tid) } else { Vec::new() };
        match self.engine.tasks.contains_key(&tid) {
            true => self.close_by(tid, &pages)?,
            false => self.close(&pages)?,
        }
        Ok(seen)
    }

    /// Lets one thread execute one instruction, or enter the handler of a signal, while the others stand still.
    fn one_step(&mut self, tid: Tid, signal: i32) -> Done {
        let task = self.engine.task(tid)?;
        task.flush().map_err(lost)?;
        let passes = task.standing.take().filter(|_| signal == 0);
        if let Some(site) = passes.map(|id| self.engine.sites.get(id)).filter(|site| site.inserted) {
            sys::set_pc(tid, site.slot).map_err(lost)?;
        }
        // Signals wait until it is done: each would stop the thread before the instruction.
        let pid = Pid::from_raw(tid);
        let mask = raw::signal_mask(pid).map_err(|errno| lost(errno.into()))?;
        if signal == 0 {
            let _ = raw::set_signal_mask(pid, !0);
        }
        let mut stopped = None;
        sys::go(tid, Go::Step, signal).map_err(lost)?;
        while let Some((_, status)) = sys::wait(tid, true).map_err(lost)? {
            if status.is_gone() {
                return self.engine.stopped_otherwise(tid, status);
            }
            if status.is_plain_trap() {
                // Who watches with debug registers is told of the access with the others, and not once more.
                let _ = hardware::matched(tid);
                break;
            }
            if status.signal() == libc::SIGSTOP || status.event() == libc::PTRACE_EVENT_STOP {
                stopped = (status.event() == 0).then_some(status);
                sys::go(tid, Go::Step, 0).map_err(lost)?;
                continue;
            }
            self.engine.stopped_otherwise(tid, status)?;
            break;
        }
        if signal == 0 {
            let _ = raw::set_signal_mask(pid, mask);
        }
        if stopped.is_some() {
            let _ = raw::send(pid, libc::SIGSTOP);
        }
        self.engine.task(tid)?.stopped();
        self.engine.settle(tid)
    }

    /// A signal is delivered to a thread that may find its stack closed: the kernel could not write there.
    pub(crate) fn deliver_to_closed(&mut self, tid: Tid) -> Done {
        let signal = self.engine.task(tid)?.signal;
        if !self.watches.has_pages() || signal == 0 || !self.handles(signal) {
            return Ok(());
        }
        self.engine.hold()?;
        let pages: Vec<u64> = self.watches.pages.all.keys().copied().collect();
        self.open(tid, &pages)?;
        self.engine.task(tid)?.signal = 0;
        self.one_step(tid, signal)?;
        self.close(&pages)
    }

    fn open(&mut self, tid: Tid, pages: &[u64]) -> Done {
        for page in pages {
            if let Some(known) = self.watches.pages.all.get(page).copied() {
                self.mprotect(tid, *page, known.original)?;
            }
        }
        Ok(())
    }

    fn close(&mut self, pages: &[u64]) -> Done {
        let tid = self.some_thread()?;
        self.close_by(tid, pages)
    }

    fn close_by(&mut self, tid: Tid, pages: &[u64]) -> Done {
        for page in pages {
            if let Some(known) = self.watches.pages.all.get(page).copied() {
                self.mprotect(tid, *page, known.now)?;
            }
        }
        Ok(())
    }

    /// A thread enters or leaves a system call: what it did to watched memory is seen to, if anything.
    pub(crate) fn watch_syscall(&mut self, tid: Tid, regs: &Regs, entering: bool) -> Done<Option<Stop>> {
        if entering {
            // The return from a signal handler reads the stack, and does not say so when it cannot.
            if regs.orig_rax as i64 == libc::SYS_rt_sigreturn && self.watches.has_pages() {
                return self.return_from_handler(tid, regs);
            }
            // Debug registers do not see what the kernel does.
            if self.is_armed() {
                let contents = self.contents(true);
                self.watches.before_call.insert(tid, contents);
            }
            return Ok(None);
        }
        if regs.rax as i64 == EFAULT && self.watches.has_pages() {
            return self.retry(tid, regs);
        }
        let Some(before) = self.watches.before_call.remove(&tid) else { return Ok(None) };
        let changed = self.changed(&before, &self.contents(true));
        if changed.is_empty() {
            return Ok(None);
        }
        // Not if it was another thread that wrote, which is about to say so.
        self.engine.hold()?;
        let mut ours = Vec::new();
        for id in changed {
            let registers = (0..REGISTERS).filter(|number| self.watches.owners[*number] == Some(id));
            let others = self.engine.tasks.keys().filter(|other| **other != tid);
            let wrote = |other: &Tid| registers.clone().any(|number| hardware::has_matched(*other, number));
            if !others.into_iter().any(wrote) {
                ours.push(id);
            }
        }
        self.tell_changed(tid, ours)
    }

    /// The call that ends a handler is made with all pages open.
    fn return_from_handler(&mut self, tid: Tid, regs: &Regs) -> Done<Option<Stop>> {
        self.engine.hold()?;
        // In a thread that enters a call no other can be made: this one comes to nothing, and is made again.
        let nothing = Regs { orig_rax: u64::MAX, ..*regs };
        sys::set_registers(tid, &nothing).map_err(lost)?;
        self.finish_call(tid)?;
        self.retry(tid, regs)
    }

    /// Lets a thread that enters a system call come to its end; says whether it did soon.
    fn finish_call(&mut self, tid: Tid) -> Done<bool> {
        sys::go(tid, Go::ToSyscall, 0).map_err(lost)?;
        let alone = self.engine.tasks.values().filter(|task| !task.foreign && !task.over).count() == 1;
        let began = Instant::now();
        loop {
            match sys::wait(tid, alone).map_err(lost)? {
                Some((_, status)) if status.is_syscall() => break,
                Some((_, status)) => {
                    self.engine.stopped_otherwise(tid, status)?;
                    return Ok(true);
                }
                None if began.elapsed() > PATIENCE => {
                    self.engine.task(tid)?.running = true;
                    return Ok(false);
                }
                None => std::thread::sleep(PATIENCE / 20),
            }
        }
        self.engine.task(tid)?.stopped();
        Ok(true)
    }

    /// A system call failed because of a closed page: it is made again.
    fn retry(&mut self, tid: Tid, regs: &Regs) -> Done<Option<Stop>> {
        self.engine.hold()?;
        let pages: Vec<u64> = self.watches.pages.all.keys().copied().collect();
        let before = self.contents(false);
        self.open(tid, &pages)?;
        let mut again = *regs;
        again.rip -= 2;
        again.rax = regs.orig_rax;
        again.orig_rax = u64::MAX;
        sys::set_registers(tid, &again).map_err(lost)?;
        sys::go(tid, Go::ToSyscall, 0).map_err(lost)?;
        match sys::wait(tid, true).map_err(lost)? {
            Some((_, status)) if status.is_syscall() => {}
            Some((_, status)) => {
                self.engine.stopped_otherwise(tid, status)?;
                self.close(&pages)?;
                return Ok(None);
            }
            None => return Ok(None),
        }
        self.engine.task(tid)?.stopped();
        // A call that waits for another thread must not be waited for: what it needs of the memory it has.
        self.finish_call(tid)?;
        self.close(&pages)?;
        let changed = self.changed(&before, &self.contents(false));
        self.tell_changed(tid, changed)
    }

    /// Those who watch for writing, and whose memory is not what it was.
    fn changed(&self, before: &Contents, after: &Contents) -> Vec<Watcher> {
        let differ = before.iter().filter(|(id, was)| after.iter().any(|(now, is)| now == id && is != was));
        let writes = |id: &Watcher| self.watches.get(*id).is_some_and(|watched| watched.access.write);
        differ.map(|(id, _)| *id).filter(writes).collect()
    }

    fn tell_changed(&mut self, tid: Tid, changed: Vec<Watcher>) -> Done<Option<Stop>> {
        if changed.is_empty() {
            return Ok(None);
        }
        self.begin_touch(Touch { tid, watchers: changed, handled: Owners::default(), then: None })
    }

    /// What is in the memory that is watched by debug registers, or by pages.
    pub(super) fn contents(&self, armed: bool) -> Contents {
        let watched = self.watches.all.iter().filter(|watched| watched.armed == armed);
        watched
            .map(|watched| {
                let mut bytes = vec![0; (watched.range.end - watched.range.start) as usize];
                let _ = self.view().read(watched.range.start, &mut bytes);
                (watched.id, bytes)
            })
            .collect()
    }

    /// Whether the instruction that a thread has just executed wrote to memory.
    pub(super) fn just_wrote(&mut self, tid: Tid) -> bool {
        let Ok(pc) = self.engine.task(tid).and_then(|task| task.pc().map_err(lost)) else { return false };
        let start = match self.program.function_at(pc).and_then(|function| {
            function.ranges.iter().find(|range| range.contains(&pc)).map(|range| range.start)
        }) {
            Some(start) if start < pc => start,
            _ => return false,
        };
        let mut code = vec![0; (pc - start) as usize];
        if self.view().read(start, &mut code).is_err() {
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

/// What the program may do with a mapping.
fn protection(map: &maps::Mapping) -> u64 {
    let bit = |is: bool, bit: libc::c_int| if is { bit as u64 } else { 0 };
    bit(map.read, libc::PROT_READ) | bit(map.write, libc::PROT_WRITE) | bit(map.execute, libc::PROT_EXEC)
}
