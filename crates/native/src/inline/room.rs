//! Putting the library into the program, and talking with it.

use super::agent::{Agent, MEMORY, STACK};
use super::{Kept, Probes, image, surrogate};
use crate::engine::lost;
use crate::inject::Borrowed;
use crate::sys;
use crate::target::Target;
use invigil_monitor::event::{Batch, Stamp};
use invigil_monitor::inside::{Inmate, Unseen};
use invigil_monitor::mac::Remembered;
use invigil_monitor::slices::Slices;
use invigil_probe::message::{Answer, Past, Request};
use invigil_session::library::Library;
use invigil_session::subject::{CaughtUp, Done, Stop, Trouble};
use nix::unistd::Pid;
use std::fs::{File, OpenOptions};
use std::sync::Arc;

pub(super) const LIBRARY: Library = Library {
    file: "libinvigil_probe.so",
    what: "the library for probes",
    variable: "INVIGIL_PROBE",
    package: "invigil-probe",
};

/// Where its memory may be: nothing that a program has by itself is there.
const ADDRESSES: [u64; 4] = [0x2a00_0000_0000, 0x2b00_0000_0000, 0x2c00_0000_0000, 0x1a00_0000_0000];
/// What it is called.
const NAME: &str = "invigil-probe";

/// The bit of `AT_HWCAP2` that says that programs may ask where the memory of a thread is.
const FSGSBASE: u64 = 1 << 1;

pub(super) fn garbled() -> Trouble {
    Trouble::Subject("what the probes in the program tell makes no sense".to_owned())
}

fn failed(what: &str, result: i64) -> Trouble {
    Trouble::Subject(format!("cannot {what}: {}", std::io::Error::from_raw_os_error(-result as i32)))
}

impl Target {
    /// Puts the library into the program, if it is to have probes and has none yet.
    pub(crate) fn move_library_in(&mut self) {
        if self.inline.probes == Probes::Trap || self.engine.agent.is_some() || self.ended.is_some() {
            return;
        }
        match self.map_library() {
            Ok(agent) => (self.engine.agent, self.inline.trouble) = (Some(agent), None),
            Err(trouble) => self.inline.trouble = Some(trouble.to_string()),
        }
    }

    /// Takes the library out of a program that is left to itself. No thread is in it.
    pub(crate) fn move_library_out(&mut self) -> Done {
        let Some(agent) = self.engine.agent.take() else { return Ok(()) };
        let tid = self.some_thread()?;
        self.inject(tid, libc::SYS_munmap, [agent.range.start, MEMORY, 0, 0, 0, 0]).map(drop)
    }

    fn map_library(&mut self) -> Done<Agent> {
        // SAFETY: it only reads a number that the system gave this process.
        if unsafe { libc::getauxval(libc::AT_HWCAP2) } & FSGSBASE == 0 {
            return Err(Trouble::Subject(
                "the system does not let programs read where their threads' memory is".into(),
            ));
        }
        let file = std::fs::read(LIBRARY.find()?).map_err(|error| Trouble::Subject(error.to_string()))?;
        self.engine.hold()?;
        let (base, memory) = self.map_memory()?;
        let image = image::read(&file, base)
            .map_err(|words| Trouble::Subject(format!("the library for probes cannot be used: {words}")))?;
        let outside = || Trouble::Subject("the library for probes cannot be written into the program".into());
        self.engine.memory.write(base, &image.bytes).map_err(|_| outside())?;
        let tid = self.some_thread()?;
        let protection = (libc::PROT_READ | libc::PROT_EXEC) as u64;
        let code = [image.code.start, image.code.end - image.code.start, protection, 0, 0, 0];
        let done = self.inject(tid, libc::SYS_mprotect, code)?;
        if done < 0 {
            return Err(failed("make the probes executable", done));
        }
        let agent = Agent::new(&image, base..base + MEMORY, memory);
        agent.settle(self.engine.process as u32)?;
        self.inline.automata.clear();
        self.inline.scripts.forget_library();
        self.inline.looked_at = 0;
        self.inline.regions.clear();
        self.inline.unfit.clear();
        self.inline.tails = Default::default();
        Ok(agent)
    }

    /// Maps memory into the program that is also the tool's.
    fn map_memory(&mut self) -> Done<(u64, File)> {
        let tid = self.some_thread()?;
        // A program that may write no large files would be sent a signal.
        if sys::file_size_limit(self.engine.process).is_none_or(|limit| limit < MEMORY) {
            return Err(Trouble::Subject(
                "the program may make no files as large as the probes' memory (ulimit -f)".into(),
            ));
        }
        let name = self.scratch + 16;
        let written = self.engine.memory.write(name, format!("{NAME}\0").as_bytes());
        written.map_err(|_| Trouble::Subject("the program's memory cannot be changed".into()))?;
        let cloexec = u64::from(libc::MFD_CLOEXEC);
        let descriptor = self.inject(tid, libc::SYS_memfd_create, [name, cloexec, 0, 0, 0, 0])?;
        if descriptor < 0 {
            return Err(failed("make memory for probes", descriptor));
        }
        let mapped = self.map_descriptor(tid, descriptor as u64);
        self.inject(tid, libc::SYS_close, [descriptor as u64, 0, 0, 0, 0, 0])?;
        mapped
    }

    fn map_descriptor(&mut self, tid: crate::sys::Tid, descriptor: u64) -> Done<(u64, File)> {
        let sized = self.inject(tid, libc::SYS_ftruncate, [descriptor, MEMORY, 0, 0, 0, 0])?;
        if sized < 0 {
            return Err(failed("make memory for probes", sized));
        }
        let path = format!("/proc/{}/fd/{descriptor}", self.engine.process);
        let memory = OpenOptions::new().read(true).write(true).open(path).map_err(lost)?;
        let protection = (libc::PROT_READ | libc::PROT_WRITE) as u64;
        let flags = (libc::MAP_SHARED | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE) as u64;
        let mut result = 0;
        for address in ADDRESSES {
            result = self.inject(tid, libc::SYS_mmap, [address, MEMORY, protection, flags, descriptor, 0])?;
            if result == address as i64 {
                // It is nobody's business in a core file.
                self.inject(tid, libc::SYS_madvise, [address, MEMORY, libc::MADV_DONTDUMP as u64, 0, 0, 0])?;
                return Ok((address, memory));
            }
        }
        Err(failed("make room for probes in the program's memory", result.min(-1)))
    }

    /// Asks the library in a thread that stands still.
    pub(super) fn ask(&mut self, request: &Request) -> Done<Answer> {
        let answer = self.ask_at_once(request)?;
        if !matches!(answer, Answer::Locked) {
            return Ok(answer);
        }
        // Threads may have been stopped in there, with others waiting for them; all come out.
        self.engine.hold()?;
        match self.ask_at_once(request)? {
            Answer::Locked => {
                Err(Trouble::Subject("there is no more memory for what the monitors remember".into()))
            }
            answer => Ok(answer),
        }
    }

    fn ask_at_once(&mut self, request: &Request) -> Done<Answer> {
        let bytes = postcard::to_allocvec(request)
            .map_err(|error| Trouble::Subject(format!("this cannot be said to the probes: {error}")))?;
        let Some(agent) = &self.engine.agent else { return Err(garbled()) };
        let (allot, serve, stack, range) =
            (agent.places.allot, agent.places.serve, agent.stack - 8, agent.range.clone());
        let tid = self.some_thread()?;
        self.engine.task(tid)?.flush().map_err(lost)?;
        // The functions return to the trap that ends borrowed calls.
        let back = self.scratch + 2;
        let unwritable = |_| garbled();
        self.engine.memory.write(stack, &back.to_le_bytes()).map_err(unwritable)?;
        let told = |error: crate::inject::InjectError| Trouble::Subject(error.to_string());
        let mut thread = Borrowed::begin(Pid::from_raw(tid), self.scratch).map_err(told)?;
        let (at, _) = thread.call_function(allot, stack, [bytes.len() as u64, 0]).map_err(told)?;
        if !range.contains(&at) {
            thread.end().map_err(told)?;
            return Ok(Answer::Locked);
        }
        self.engine.memory.write(at, &bytes).map_err(unwritable)?;
        self.engine.memory.write(stack, &back.to_le_bytes()).map_err(unwritable)?;
        let (answer, length) = thread.call_function(serve, stack, [at, bytes.len() as u64]).map_err(told)?;
        thread.end().map_err(told)?;
        if !range.contains(&answer) || length > range.end - answer {
            return Err(garbled());
        }
        let mut bytes = vec![0; length as usize];
        self.engine.memory.read(answer, &mut bytes).map_err(unwritable)?;
        match postcard::from_bytes(&bytes) {
            Ok(Answer::Refused(words)) => Err(Trouble::Subject(words)),
            Ok(answer) => Ok(answer),
            Err(_) => Err(garbled()),
        }
    }

    /// Whether a thread stands still that the library can be asked in; if none does, all are made to. There is none when the
    /// program is about to end.
    fn can_ask(&mut self) -> Done<bool> {
        if self.some_thread().is_err() {
            self.engine.hold()?;
        }
        Ok(self.some_thread().is_ok())
    }

    /// The properties stay where they are: at the next event it is as if they had been inside, and nothing had happened.
    fn keep_outside(&mut self, monitors: &[Inmate], scripts: &[Remembered]) {
        let nothing = CaughtUp {
            unseen_events: 0,
            unseen: vec![Unseen::default(); monitors.len()],
            before: monitors.iter().map(|inmate| inmate.slices.clone()).collect(),
            scripts: scripts.to_vec(),
            events: Batch::default(),
            threads: Vec::new(),
        };
        (self.inline.used, self.inline.past) = (true, Some(Kept { caught_up: nothing, due: 0 }));
    }

    /// Lets the properties step inside from where they stand, and the scripts from what they remember.
    pub(crate) fn put_monitors_inside(&mut self, monitors: &[Inmate], scripts: &[Remembered]) -> Done {
        if !self.engine.sites.has_jumps() && self.ended.is_none() {
            // They can be put only while all threads stand still.
            self.engine.hold()?;
        }
        if !self.can_ask()? {
            self.keep_outside(monitors, scripts);
            return Ok(());
        }
        let known = monitors.len() == self.inline.automata.len()
            && monitors
                .iter()
                .zip(&self.inline.automata)
                .all(|(inmate, known)| Arc::ptr_eq(&inmate.automaton, known));
        if !known {
            let properties = monitors.iter().map(|inmate| {
                let parts: &invigil_monitor::automaton::Parts = &inmate.automaton;
                postcard::to_allocvec(parts).map_err(|error| Trouble::Subject(error.to_string()))
            });
            let properties = properties.collect::<Done<_>>()?;
            self.ask(&Request::Properties(properties))?;
            self.inline.automata = monitors.iter().map(|inmate| Arc::clone(&inmate.automaton)).collect();
        }
        self.tell_scripts()?;
        self.tell_places()?;
        if !self.is_worth_stepping_inside() {
            self.keep_outside(monitors, scripts);
            return self.inline.needs.take().map_or(Ok(()), |needs| self.activate(&needs));
        }
        let mut threads = self.engine.tasks.iter().filter(|(_, task)| !task.foreign).map(|(tid, _)| *tid);
        let alone = threads.next().filter(|_| threads.next().is_none());
        if let Some(agent) = &self.engine.agent {
            agent.tell_alone(alone)?;
        }
        // Whatever is left of what was noted before: the tool has seen more since.
        if self.inline.begins {
            self.ask(&Request::TakeCalls)?;
        }
        self.drop_left_inside()?;
        if self.engine.sites.has_jumps() {
            // Nothing happens there before the properties are put.
            self.put_calls()?;
        }
        let states = monitors.iter().map(|inmate| inmate.slices.save()).collect();
        let concerns = monitors.iter().map(|inmate| inmate.concern.clone()).collect();
        self.ask(&Request::Put { states, concerns, scripts: scripts.to_vec() })?;
        (self.inline.used, self.inline.past) = (true, None);
        Ok(())
    }

    /// If nobody has put the monitors inside, they step outside: nothing is to be noticed by probes.
    pub(crate) fn without_probes(&mut self) -> Done {
        if self.inline.used || self.engine.agent.is_none() || self.ended.is_some() {
            return Ok(());
        }
        if self.engine.sites.has_jumps() {
            self.engine.hold()?;
        }
        match self.inline.needs.take() {
            Some(needs) => self.activate(&needs),
            None => Ok(()),
        }
    }

    /// What the properties did; they are not inside any more.
    fn take_monitors(&mut self) -> Done<Option<Past>> {
        let Some(agent) = &self.engine.agent else { return Ok(None) };
        if self.ended.is_some() {
            return Ok(surrogate::take(agent));
        }
        agent.freeze(true)?;
        let Answer::Taken(past) = self.ask(&Request::Take)? else { return Err(garbled()) };
        self.take_calls()?;
        Ok(past)
    }

    /// After a stop: what the properties inside did before it.
    pub(crate) fn catch_up_inside(&mut self) -> Done<Option<CaughtUp>> {
        if !std::mem::take(&mut self.inline.used) {
            return Ok(None);
        }
        match self.inline.past.take() {
            Some(kept) => Ok(Some(kept.caught_up)),
            None => self.take_monitors()?.map(|past| self.put_aside(past)).transpose(),
        }
    }

    fn understood(&self, past: Past) -> Done<CaughtUp> {
        let automata = &self.inline.automata;
        let counts = [past.before.len(), past.unseen.len()];
        if counts != [automata.len(); 2] || past.threads.len() != past.events.len() || !past.events.is_sound()
        {
            return Err(garbled());
        }
        let before = automata.iter().zip(&past.before);
        let before = before.map(|(automaton, state)| Slices::load(automaton, state).ok_or_else(garbled));
        let kept = past.events.len().saturating_sub(past.due as usize);
        let mut events = Batch::default();
        (0..kept).for_each(|at| events.push_copy(&past.events.event(at), past.events.stamp(at)));
        Ok(CaughtUp {
            unseen_events: past.unseen_events,
            unseen: past.unseen,
            before: before.collect::<Done<_>>()?,
            scripts: past.scripts,
            events,
            threads: past.threads[..kept].to_vec(),
        })
    }

    /// The same where something else is told first: what someone is to react to is kept for the thread that waits to tell it.
    fn put_aside(&mut self, past: Past) -> Done<CaughtUp> {
        let (due, events) = (past.due as usize, past.events.clone());
        let caught_up = self.understood(past)?;
        if due > 0 {
            self.inline.due = Some(self.last(&events, due));
        }
        Ok(caught_up)
    }

    /// The last of some events, as they are told now; one that has a time keeps it, as scripts may have asked for it.
    fn last(&self, events: &Batch, count: usize) -> Batch {
        let mut batch = Batch::default();
        let time = self.now.duration_since(self.began).as_secs_f64();
        for at in events.len().saturating_sub(count)..events.len() {
            let noted = events.stamp(at).time;
            let time = if noted.is_finite() { noted } else { time };
            batch.push_copy(&events.event(at), Stamp { time, line: 0 });
        }
        batch
    }

    /// What is told when the program is no more, or is another: first what nobody came to tell.
    pub(crate) fn with_due(&mut self, stop: Option<Stop>) -> Option<Stop> {
        let Some(mut due) = self.inline.due.take() else { return stop };
        if stop == Some(Stop::Events) {
            let later = std::mem::take(&mut self.batch);
            (0..later.len()).for_each(|at| due.push_copy(&later.event(at), later.stamp(at)));
        }
        self.batch = due;
        Some(Stop::Events)
    }

    /// Someone is to react to the last events: fetches what the properties did, and has those told as usual.
    fn tell_due(&mut self) -> Done<Stop> {
        let Some(past) = self.take_monitors()?.filter(|past| past.events.is_sound()) else {
            return Err(garbled());
        };
        let due = past.due;
        self.batch = self.last(&past.events, due as usize);
        let caught_up = self.understood(past)?;
        self.inline.past = Some(Kept { caught_up, due });
        Ok(Stop::Events)
    }

    /// A thread stands at a probe whose event someone is to react to.
    pub(crate) fn reacts(&mut self, tid: crate::sys::Tid) -> Done<Stop> {
        self.now = std::time::Instant::now();
        (self.serving, self.current, self.frame) = (Some(tid), tid, 0);
        match self.inline.due.take() {
            // The monitors were taken out since: they step once more.
            Some(due) => {
                self.batch = due;
                Ok(Stop::Events)
            }
            None => self.tell_due(),
        }
    }

    /// The program is no more, or is another: fetches what the monitors in it did.
    pub(crate) fn save_past(&mut self) {
        if self.inline.used
            && self.inline.streaming.is_none()
            && self.inline.past.is_none()
            && let Some(agent) = &self.engine.agent
        {
            let past = surrogate::take(agent).and_then(|past| self.put_aside(past).ok());
            self.inline.past = past.map(|caught_up| Kept { caught_up, due: 0 });
        }
    }

    /// The tool has seen events while the monitors are inside: they step there. Whether someone is to react.
    pub(crate) fn step_inside(&mut self) -> Done<bool> {
        if self.tell_recording() {
            return Ok(false);
        }
        if self.inline.past.is_some() || self.ended.is_some() {
            // They are not there any more: these events come after what they did.
            return Ok(true);
        }
        if !self.can_ask()? {
            self.save_past();
            return Ok(true);
        }
        let request = Request::Step { events: self.batch.clone(), thread: self.current as u32 };
        match self.ask(&request)? {
            Answer::Stepped(true) => self.tell_due().map(|_| true),
            Answer::Stepped(false) => Ok(false),
            Answer::Busy => {
                let Some(past) = self.take_monitors()? else { return Err(garbled()) };
                let caught_up = self.put_aside(past)?;
                self.inline.past = Some(Kept { caught_up, due: 0 });
                Ok(true)
            }
            _ => Err(garbled()),
        }
    }
}

/// So that the constant is not forgotten when the layout changes.
const _: () = assert!(STACK < MEMORY);
