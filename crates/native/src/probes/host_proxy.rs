//! Proxy of the embedded monitors: maps the library into the target and sends it requests.

use super::agent::{Agent, MEMORY, STACK};
use super::{ProbeMode, drain_dead_target, image};
use crate::inject::BorrowedThread;
use crate::native_target::NativeTarget;
use crate::sys;
use crate::tracer::trace_error;
use invigil_monitor::embedded::{
    EmbeddedMonitor, EncodedReplayLog, HostReply, HostRequest, MonitorUpload, ReplayLog,
};
use invigil_monitor::event::{EventBatch, EventMeta};
use invigil_monitor::mac::ScriptState;
use invigil_probe::message::{Answer, Request};
use invigil_target::library::library_override;
use invigil_target::{StopReason, TargetError, TargetResult};
use nix::unistd::Pid;
use std::borrow::Cow;
use std::fs::{File, OpenOptions};

/// Bytes with the alignment that readers of shared objects require.
#[repr(C, align(16))]
struct Aligned<B: ?Sized>(B);

/// The probe library, embedded in this crate.
static LIBRARY: &Aligned<[u8]> =
    &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/libinvigil_probe_image.so")));

/// The probe library to map into targets: the file that `INVIGIL_PROBE` names, otherwise the embedded one.
pub(super) fn library() -> TargetResult<Cow<'static, [u8]>> {
    match library_override("INVIGIL_PROBE", "the probe library")? {
        Some(path) => {
            std::fs::read(path).map(Cow::Owned).map_err(|error| TargetError::Control(error.to_string()))
        }
        None => Ok(Cow::Borrowed(&LIBRARY.0)),
    }
}

/// Addresses for its memory, which programs do not use by themselves.
const ADDRESSES: [u64; 4] = [0x2a00_0000_0000, 0x2b00_0000_0000, 0x2c00_0000_0000, 0x1a00_0000_0000];
/// Name of its memory.
const NAME: &str = "invigil-probe";

/// Bit of `AT_HWCAP2`: programs may read the address of a thread's memory (`rdfsbase`).
const FSGSBASE: u64 = 1 << 1;

pub(super) fn malformed_reply() -> TargetError {
    TargetError::Control("malformed reply from the probe library".to_owned())
}

fn injected_error(what: &str, result: i64) -> TargetError {
    TargetError::Control(format!("cannot {what}: {}", std::io::Error::from_raw_os_error(-result as i32)))
}

impl NativeTarget {
    /// Maps the library into the target, if probes are enabled and it is not mapped yet.
    pub(crate) fn map_agent(&mut self) {
        if self.probes.mode == ProbeMode::Trap || self.tracer.agent.is_some() || self.termination.is_some() {
            return;
        }
        match self.load_agent() {
            Ok(agent) => (self.tracer.agent, self.probes.error) = (Some(agent), None),
            Err(error) => self.probes.error = Some(error.to_string()),
        }
    }

    /// Unmaps the library from a target that is detached. No thread is in it.
    pub(crate) fn unmap_agent(&mut self) -> TargetResult {
        let Some(agent) = self.tracer.agent.take() else { return Ok(()) };
        let tid = self.stopped_thread()?;
        self.inject(tid, libc::SYS_munmap, [agent.range.start, MEMORY, 0, 0, 0, 0]).map(drop)
    }

    fn load_agent(&mut self) -> TargetResult<Agent> {
        // SAFETY: the call only reads a number that the kernel gave this process.
        if unsafe { libc::getauxval(libc::AT_HWCAP2) } & FSGSBASE == 0 {
            return Err(TargetError::Control("the kernel does not let programs use `rdfsbase`".into()));
        }
        let file = library()?;
        self.tracer.stop_all()?;
        let (base, memory) = self.map_memory()?;
        let image = image::read(&file, base)
            .map_err(|message| TargetError::Control(format!("cannot use the probe library: {message}")))?;
        let unwritable_library =
            || TargetError::Control("cannot write the probe library to the program's memory".into());
        self.tracer.memory.write(base, &image.bytes).map_err(|_| unwritable_library())?;
        let tid = self.stopped_thread()?;
        let protection = (libc::PROT_READ | libc::PROT_EXEC) as u64;
        let code = [image.code.start, image.code.end - image.code.start, protection, 0, 0, 0];
        let done = self.inject(tid, libc::SYS_mprotect, code)?;
        if done < 0 {
            return Err(injected_error("make the probe library executable", done));
        }
        let agent = Agent::new(&image, base..base + MEMORY, memory);
        agent.initialize(self.tracer.process as u32, self.started_at_nanos)?;
        self.probes.host.forget_loaded();
        self.probes.trap_count_at_placement = 0;
        self.probes.arenas.clear();
        self.probes.not_patchable.clear();
        self.probes.tail_calls = Default::default();
        Ok(agent)
    }

    /// Maps memory into the target that the debugger shares.
    fn map_memory(&mut self) -> TargetResult<(u64, File)> {
        let tid = self.stopped_thread()?;
        // A target with a smaller limit would receive SIGXFSZ.
        if sys::file_size_limit(self.tracer.process).is_none_or(|limit| limit < MEMORY) {
            return Err(TargetError::Control(
                "the program's file size limit (ulimit -f) is too small for the probe library".into(),
            ));
        }
        let name = self.scratch + 16;
        let written = self.tracer.memory.write(name, format!("{NAME}\0").as_bytes());
        written.map_err(|_| TargetError::Control("cannot write to the program's memory".into()))?;
        let cloexec = u64::from(libc::MFD_CLOEXEC);
        let descriptor = self.inject(tid, libc::SYS_memfd_create, [name, cloexec, 0, 0, 0, 0])?;
        if descriptor < 0 {
            return Err(injected_error("allocate memory for probes", descriptor));
        }
        let mapped = self.map_descriptor(tid, descriptor as u64);
        self.inject(tid, libc::SYS_close, [descriptor as u64, 0, 0, 0, 0, 0])?;
        mapped
    }

    fn map_descriptor(&mut self, tid: crate::sys::Tid, descriptor: u64) -> TargetResult<(u64, File)> {
        let sized = self.inject(tid, libc::SYS_ftruncate, [descriptor, MEMORY, 0, 0, 0, 0])?;
        if sized < 0 {
            return Err(injected_error("allocate memory for probes", sized));
        }
        let path = format!("/proc/{}/fd/{descriptor}", self.tracer.process);
        let memory = OpenOptions::new().read(true).write(true).open(path).map_err(trace_error)?;
        let protection = (libc::PROT_READ | libc::PROT_WRITE) as u64;
        let flags = (libc::MAP_SHARED | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE) as u64;
        let mut result = 0;
        for address in ADDRESSES {
            result = self.inject(tid, libc::SYS_mmap, [address, MEMORY, protection, flags, descriptor, 0])?;
            if result == address as i64 {
                // Exclude it from core dumps.
                self.inject(tid, libc::SYS_madvise, [address, MEMORY, libc::MADV_DONTDUMP as u64, 0, 0, 0])?;
                return Ok((address, memory));
            }
        }
        Err(injected_error("map memory for probes in the program", result.min(-1)))
    }

    /// Sends the library a request through a stopped thread.
    pub(super) fn call_agent(&mut self, request: &Request) -> TargetResult<Answer> {
        let is_locked = |answer: &Answer| matches!(answer, Answer::Locked | Answer::Host(HostReply::Locked));
        let answer = self.try_call_agent(request)?;
        if !is_locked(&answer) {
            return Ok(answer);
        }
        // Threads may have been stopped in the library while others wait for them: let all leave it.
        self.tracer.stop_all()?;
        match self.try_call_agent(request)? {
            answer if is_locked(&answer) => {
                Err(TargetError::Control("out of memory for the embedded monitors".into()))
            }
            answer => Ok(answer),
        }
    }

    /// Sends a request to the host of the embedded monitors.
    fn call_host(&mut self, request: HostRequest) -> TargetResult<HostReply> {
        match self.call_agent(&Request::Host(request))? {
            Answer::Host(HostReply::Failed(message)) => Err(TargetError::Control(message)),
            Answer::Host(reply) => Ok(reply),
            _ => Err(malformed_reply()),
        }
    }

    fn try_call_agent(&mut self, request: &Request) -> TargetResult<Answer> {
        let bytes = postcard::to_allocvec(request).map_err(|error| {
            TargetError::Control(format!("cannot encode a request to the probe library: {error}"))
        })?;
        let Some(agent) = &self.tracer.agent else { return Err(malformed_reply()) };
        let (allot, serve, stack, range) =
            (agent.entry_points.allocate, agent.entry_points.serve, agent.stack - 8, agent.range.clone());
        let tid = self.stopped_thread()?;
        self.tracer.thread(tid)?.write_back_registers().map_err(trace_error)?;
        // The functions return to the trap that ends injected calls.
        let back = self.scratch + 2;
        let unwritable = |_| malformed_reply();
        self.tracer.memory.write(stack, &back.to_le_bytes()).map_err(unwritable)?;
        let thread_error = |error: crate::inject::InjectError| TargetError::Control(error.to_string());
        let mut thread = BorrowedThread::begin(Pid::from_raw(tid), self.scratch).map_err(thread_error)?;
        let (at, _) = thread.call_function(allot, stack, [bytes.len() as u64, 0]).map_err(thread_error)?;
        if !range.contains(&at) {
            thread.end().map_err(thread_error)?;
            return Ok(Answer::Locked);
        }
        self.tracer.memory.write(at, &bytes).map_err(unwritable)?;
        self.tracer.memory.write(stack, &back.to_le_bytes()).map_err(unwritable)?;
        let (answer, length) =
            thread.call_function(serve, stack, [at, bytes.len() as u64]).map_err(thread_error)?;
        thread.end().map_err(thread_error)?;
        if !range.contains(&answer) || length > range.end - answer {
            return Err(malformed_reply());
        }
        let mut bytes = vec![0; length as usize];
        self.tracer.memory.read(answer, &mut bytes).map_err(unwritable)?;
        match postcard::from_bytes(&bytes) {
            Ok(Answer::Failed(message)) => Err(TargetError::Control(message)),
            Ok(answer) => Ok(answer),
            Err(_) => Err(malformed_reply()),
        }
    }

    /// Whether there is a stopped thread for requests; if not, stops all threads. There is none when the target is
    /// about to exit.
    fn can_call_agent(&mut self) -> TargetResult<bool> {
        if self.stopped_thread().is_err() {
            self.tracer.stop_all()?;
        }
        Ok(self.stopped_thread().is_ok())
    }

    /// Keeps the monitors in the debugger: the next replay log is empty.
    fn keep_in_debugger(&mut self, monitors: &[EmbeddedMonitor], scripts: &[ScriptState]) {
        (self.probes.are_probes_used, self.probes.fetched_log) =
            (true, Some(ReplayLog::empty(monitors, scripts)));
    }

    /// Embeds the monitors and scripts with their current state.
    pub(crate) fn upload_monitors(
        &mut self,
        monitors: &[EmbeddedMonitor],
        scripts: &[ScriptState],
    ) -> TargetResult {
        if !self.tracer.sites.has_jumps() && self.termination.is_none() {
            // Jumps can be inserted only while all threads are stopped.
            self.tracer.stop_all()?;
        }
        if !self.can_call_agent()? {
            self.keep_in_debugger(monitors, scripts);
            return Ok(());
        }
        for request in self.probes.host.load_requests(monitors) {
            if matches!(request, HostRequest::LoadScripts(_)) {
                // The library forgets the sites.
                self.probes.trap_count_at_placement = 0;
            }
            self.call_host(request)?;
        }
        self.probes.host.confirm_loaded(monitors);
        self.update_agent_sites()?;
        if !self.is_embedding_worthwhile() {
            self.keep_in_debugger(monitors, scripts);
            return self.probes.needed_events.take().map_or(Ok(()), |needs| self.activate(&needs));
        }
        let mut threads =
            self.tracer.threads.iter().filter(|(_, thread)| !thread.is_foreign_process).map(|(tid, _)| *tid);
        let single_thread = threads.next().filter(|_| threads.next().is_none());
        if let Some(agent) = &self.tracer.agent {
            agent.set_single_thread(single_thread)?;
        }
        // Discard earlier calls: the debugger has observed more since.
        if self.probes.tracks_entries {
            self.call_agent(&Request::TakeCalls)?;
        }
        self.discard_agent_tail_calls()?;
        if self.tracer.sites.has_jumps() {
            // No event occurs there before the monitors are uploaded.
            self.send_calls()?;
        }
        self.call_host(HostRequest::Upload(MonitorUpload::new(monitors, scripts)))?;
        (self.probes.are_probes_used, self.probes.fetched_log) = (true, None);
        Ok(())
    }

    /// If the monitors are not embedded, instruments only the events they need, by traps.
    pub(crate) fn deactivate_unused_probes(&mut self) -> TargetResult {
        if self.probes.are_probes_used || self.tracer.agent.is_none() || self.termination.is_some() {
            return Ok(());
        }
        if self.tracer.sites.has_jumps() {
            self.tracer.stop_all()?;
        }
        match self.probes.needed_events.take() {
            Some(needs) => self.activate(&needs),
            None => Ok(()),
        }
    }

    /// Drains the replay log: the monitors are not embedded any more.
    fn drain_monitors(&mut self) -> TargetResult<Option<EncodedReplayLog>> {
        let Some(agent) = &self.tracer.agent else { return Ok(None) };
        if self.termination.is_some() {
            return Ok(drain_dead_target::drain(agent));
        }
        agent.freeze(true)?;
        let HostReply::Drained(log) = self.call_host(HostRequest::Drain)? else {
            return Err(malformed_reply());
        };
        self.fetch_calls()?;
        Ok(log)
    }

    /// After a stop, returns the replay log of the embedded monitors.
    pub(crate) fn take_replay_log(&mut self) -> TargetResult<Option<ReplayLog>> {
        if !std::mem::take(&mut self.probes.are_probes_used) {
            return Ok(None);
        }
        match self.probes.fetched_log.take() {
            Some(mut log) => {
                // They were reported when the log was fetched.
                log.remove_due_events();
                Ok(Some(log))
            }
            None => self.drain_monitors()?.map(|log| self.stash_log(log)).transpose(),
        }
    }

    fn decode_log(&self, log: EncodedReplayLog) -> TargetResult<ReplayLog> {
        self.probes.host.decode(log).ok_or_else(malformed_reply)
    }

    /// Decodes the log while another stop is reported first. Events to which a reaction is due are kept for the
    /// thread that waits to report them.
    fn stash_log(&mut self, log: EncodedReplayLog) -> TargetResult<ReplayLog> {
        let mut log = self.decode_log(log)?;
        if let Some((due, _)) = log.due_events() {
            self.probes.pending_events = Some(self.stamped(&due));
            log.remove_due_events();
        }
        Ok(log)
    }

    /// Events as they are reported now. An event with a time keeps it, because scripts may have read it.
    fn stamped(&self, events: &EventBatch) -> EventBatch {
        let mut batch = EventBatch::default();
        let time = self.stopped_at.duration_since(self.started).as_secs_f64();
        for at in 0..events.len() {
            let recorded = events.meta(at).time;
            let time = if recorded.is_finite() { recorded } else { time };
            batch.push_copy(&events.event(at), EventMeta { time, line: 0 });
        }
        batch
    }

    /// Stop reason after exit or exec: first the events whose thread could not report them.
    pub(crate) fn with_pending_events(&mut self, stop: Option<StopReason>) -> Option<StopReason> {
        let Some(mut reacting) = self.probes.pending_events.take() else { return stop };
        if stop == Some(StopReason::Events) {
            let later = std::mem::take(&mut self.batch);
            (0..later.len()).for_each(|at| reacting.push_copy(&later.event(at), later.meta(at)));
        }
        self.batch = reacting;
        Some(StopReason::Events)
    }

    /// Fetches the replay log and reports its last events, to which a reaction is due.
    fn report_reaction(&mut self) -> TargetResult<StopReason> {
        let log = self.drain_monitors()?.ok_or_else(malformed_reply)?;
        let log = self.decode_log(log)?;
        let (due, _) = log.due_events().unwrap_or_default();
        self.batch = self.stamped(&due);
        self.probes.fetched_log = Some(log);
        Ok(StopReason::Events)
    }

    /// Handles a thread at a probe whose event requires a reaction.
    pub(crate) fn on_reaction_due(&mut self, tid: crate::sys::Tid) -> TargetResult<StopReason> {
        self.stopped_at = std::time::Instant::now();
        (self.event_thread, self.current, self.frame) = (Some(tid), tid, 0);
        match self.probes.pending_events.take() {
            // The monitors were drained since: they step in the debugger.
            Some(reacting) => {
                self.batch = reacting;
                Ok(StopReason::Events)
            }
            None => self.report_reaction(),
        }
    }

    /// After exit or exec: fetches the log from the library's memory.
    pub(crate) fn save_log(&mut self) {
        if self.probes.are_probes_used
            && self.probes.recording.is_none()
            && self.probes.fetched_log.is_none()
            && let Some(agent) = &self.tracer.agent
        {
            self.probes.fetched_log =
                drain_dead_target::drain(agent).and_then(|log| self.stash_log(log).ok());
        }
    }

    /// Records the events that the debugger has read, or steps the embedded monitors with them. Returns whether the
    /// session must process events now.
    pub(crate) fn deliver_to_agent(&mut self) -> TargetResult<bool> {
        if self.record_batch() {
            return Ok(false);
        }
        if self.probes.fetched_log.is_some() || self.termination.is_some() {
            // The monitors are not embedded any more: these events come after the log.
            return Ok(true);
        }
        if !self.can_call_agent()? {
            self.save_log();
            return Ok(true);
        }
        let request = HostRequest::Step { events: self.batch.clone(), thread: self.current as u32 };
        match self.call_host(request)? {
            HostReply::Stepped(true) => self.report_reaction().map(|_| true),
            HostReply::Stepped(false) => Ok(false),
            HostReply::Busy => {
                let Some(log) = self.drain_monitors()? else { return Err(malformed_reply()) };
                self.probes.fetched_log = Some(self.stash_log(log)?);
                Ok(true)
            }
            _ => Err(malformed_reply()),
        }
    }
}

/// Guards against a change of the layout.
const _: () = assert!(STACK < MEMORY);
