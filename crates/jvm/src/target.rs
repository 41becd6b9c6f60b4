//! A Java program under control, with its agent.

use crate::agent_host::AgentHost;
use crate::attach;
use crate::breakpoints::BreakpointTable;
use crate::classpath::ClassPath;
use crate::connection::{AgentConnection, AgentListener, RequestError, Waker};
use crate::events::EventPlan;
use crate::launch::Launch;
use crate::sources::Sources;
use invigil_jvm_agent::protocol::{
    AgentEvent, Answer, DeadObjectIds, Disconnected, Notification, Request, VmInfo,
};
use invigil_monitor::event::{EventBatch, EventId};
use invigil_monitor::slices;
use invigil_target::pending_owners::OwnerSet;
use invigil_target::{Interrupter, TargetError, TargetResult, Termination};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum time between the end of the agent's connection and the end of the process.
const EXIT_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum time for an answer if another debugger may suspend the agent.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// The process: started by the debugger, or attached to.
pub(crate) enum Process {
    Launched(Child),
    Attached(i32),
}

/// The thread that waits for the debugger, with the notifications of its site.
pub(crate) struct StoppedThread {
    pub(crate) notifications: Vec<Notification>,
    pub(crate) time: f64,
    /// The owners that have been notified.
    pub(crate) handled: OwnerSet,
}

/// A Java program, as [`invigil_target::Target`].
pub struct JavaTarget {
    pub(crate) link: Option<AgentConnection>,
    pub(crate) process: Process,
    pub(crate) info: VmInfo,
    pub(crate) waker: Waker,
    pub(crate) ended: Option<Termination>,
    /// The exit status that the agent reported.
    pub(crate) status: Option<i32>,
    /// Whether the event of the program's end is still to be reported.
    pub(crate) end_event_pending: bool,
    pub(crate) plans: Vec<EventPlan>,
    pub(crate) batch: EventBatch,
    /// Whether all threads are suspended.
    pub(crate) suspended: bool,
    /// The thread that waits for the debugger.
    pub(crate) stopped_thread: Option<StoppedThread>,
    /// Whether a step is in progress.
    pub(crate) stepping: bool,
    /// The selected thread; zero if none was selected yet.
    pub(crate) current: u32,
    pub(crate) frame: usize,
    pub(crate) breakpoints: BreakpointTable,
    pub(crate) sources: Sources,
    /// The classes on the class path, once they were needed.
    pub(crate) classes: Option<ClassPath>,
    /// Whether the program is to be stopped once it has been prepared.
    pub(crate) stop_when_prepared: bool,
    /// Whether classes may be loaded that are not on the class path, even if a similarly named one is.
    pub(crate) expects_classes: bool,
    /// The embedded monitors.
    pub(crate) host: AgentHost,
    /// Collected objects that were not yet reported to the session.
    pub(crate) dead_objects: slices::DeadObjects,
    /// What could not be observed, as the agent reported at the end.
    pub(crate) warnings: Vec<String>,
}

impl JavaTarget {
    /// Starts a program. It is stopped before its first line.
    ///
    /// # Errors
    /// If the program, the agent or the virtual machine does not start.
    pub fn launch(launch: &Launch) -> TargetResult<JavaTarget> {
        let listener = AgentListener::open()?;
        let mut child = launch.start(&listener)?;
        let link = listener.wait(|| {
            let status = child.try_wait().ok()??;
            let how = ending(status);
            Some(format!("Java ended before the program started: {how}; see its output for the reason"))
        });
        let link = match link {
            Ok(link) => link,
            Err(error) => {
                // It may have ended already.
                let _ = child.kill().and_then(|()| child.wait());
                return Err(error);
            }
        };
        let mut target = JavaTarget::new(link, Process::Launched(child))?;
        // The first event reports that the virtual machine is ready; its thread waits for a command.
        match target.link.as_mut().map(|link| link.wait(&target.waker)) {
            Some(crate::connection::Incoming::Event(AgentEvent::Ready)) => {}
            Some(crate::connection::Incoming::Disconnected(lost)) => return Err(target.on_disconnect(&lost)),
            _ => return Err(TargetError::Control("unexpected first event from the agent".to_owned())),
        }
        target.stopped_thread =
            Some(StoppedThread { notifications: Vec::new(), time: 0.0, handled: OwnerSet::default() });
        target.request_info()?;
        Ok(target)
    }

    /// Attaches to a running program. It is stopped once it has been prepared.
    ///
    /// # Errors
    /// If there is no such program, or the agent cannot be loaded.
    pub fn attach(process: i32) -> TargetResult<JavaTarget> {
        let listener = AgentListener::open_for(process)?;
        attach::load_agent(process, &listener)?;
        let link = listener.wait(|| {
            let alive = kill(Pid::from_raw(process), None).is_ok();
            (!alive).then(|| format!("process {process} ended while the agent was loaded"))
        })?;
        let mut target = JavaTarget::new(link, Process::Attached(process))?;
        target.request_info()?;
        target.stop_when_prepared = true;
        Ok(target)
    }

    fn new(link: AgentConnection, process: Process) -> TargetResult<JavaTarget> {
        let info = VmInfo {
            machine: String::new(),
            class_path: String::new(),
            directory: String::new(),
            locals: false,
            breakpoints: false,
            steps: false,
            debugger: false,
        };
        Ok(JavaTarget {
            link: Some(link),
            process,
            info,
            waker: Waker::new()?,
            ended: None,
            status: None,
            end_event_pending: false,
            plans: Vec::new(),
            batch: EventBatch::default(),
            suspended: false,
            stopped_thread: None,
            stepping: false,
            current: 0,
            frame: 0,
            breakpoints: BreakpointTable::default(),
            sources: Sources::default(),
            classes: None,
            stop_when_prepared: false,
            expects_classes: true,
            host: AgentHost::default(),
            dead_objects: slices::DeadObjects::default(),
            warnings: Vec::new(),
        })
    }

    /// Sets whether the program may load classes that are not on its class path, even if a similarly named one is. If
    /// not, an unknown name that is similar to a known one is an error. The default is true.
    pub fn expect_classes(&mut self, expected: bool) {
        self.expects_classes = expected;
    }

    fn request_info(&mut self) -> TargetResult {
        if let Answer::Info { info } = self.request(&Request::Info)? {
            self.sources = Sources::new(&info.class_path, &PathBuf::from(&info.directory));
            if let Some(link) = self.link.as_mut().filter(|_| info.debugger) {
                link.answer_timeout = Some(ANSWER_TIMEOUT);
            }
            self.info = info;
        }
        Ok(())
    }

    /// Sends a request to the agent.
    pub(crate) fn request(&mut self, request: &Request) -> TargetResult<Answer> {
        let Some(link) = &mut self.link else { return Err(self.ended_error()) };
        match link.request(request) {
            Ok(answer) => Ok(answer),
            Err(RequestError::Refused(reason)) => Err(TargetError::Request(reason)),
            Err(RequestError::Disconnected(lost)) => Err(self.on_disconnect(&lost)),
            // All threads are stopped anyway, and continue when the other debugger resumes them.
            Err(RequestError::TimedOut) if matches!(request, Request::SuspendAll | Request::ResumeAll) => {
                Ok(Answer::Done)
            }
            Err(RequestError::TimedOut) => Err(TargetError::Request(
                "another debugger holds the program: continue it there, as with `cont` in jdb".to_owned(),
            )),
        }
    }

    /// Adds collected objects.
    pub(crate) fn add_dead_objects(&mut self, dead: DeadObjectIds) {
        let non_objects = dead
            .integer_params
            .iter()
            .map(|(number, request_index)| (EventId(*number), *request_index as usize));
        self.dead_objects.add(slices::DeadObjects { non_objects: non_objects.collect(), ids: dead.ids });
    }

    pub(crate) fn ended_error(&self) -> TargetError {
        TargetError::Ended(self.ended.clone().unwrap_or(Termination::Detached))
    }

    /// Called when the connection to the agent ends: determines how the program ended.
    pub(crate) fn on_disconnect(&mut self, lost: &Disconnected) -> TargetError {
        // The last event may have been sent and not received yet.
        if let Some(mut link) = self.link.take() {
            while let Some(event) = link.pending_event() {
                if let AgentEvent::Exits { status, replay_log, warnings } = event {
                    self.exits(status, replay_log, warnings);
                }
            }
        }
        self.stopped_thread = None;
        if !matches!(lost, Disconnected::Closed) {
            return TargetError::Control(format!(
                "communication with the agent in the virtual machine failed: {lost}"
            ));
        }
        match self.wait_for_end() {
            Some(ending) => {
                self.ended = Some(ending);
                self.end_event_pending = true;
                self.ended_error()
            }
            None => {
                let message =
                    "the agent in the virtual machine closed its connection, but the program still runs";
                TargetError::Control(message.to_owned())
            }
        }
    }

    fn wait_for_end(&mut self) -> Option<Termination> {
        let deadline = Instant::now() + EXIT_TIMEOUT;
        loop {
            match &mut self.process {
                Process::Launched(child) => {
                    if let Ok(Some(status)) = child.try_wait() {
                        return Some(ending(status));
                    }
                }
                // Only the parent learns how a process ended; the agent reports an exit.
                Process::Attached(process) => {
                    if kill(Pid::from_raw(*process), None).is_err() || is_zombie(*process) {
                        let killed = Termination::Killed { signal: "a signal".to_owned(), core: false };
                        return Some(self.status.map_or(killed, Termination::Exited));
                    }
                }
            }
            if Instant::now() > deadline {
                return None;
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    pub(crate) fn process_id(&self) -> i32 {
        match &self.process {
            Process::Launched(child) => child.id() as i32,
            Process::Attached(process) => *process,
        }
    }

    /// Suspends the whole program.
    pub(crate) fn suspend_all(&mut self) -> TargetResult {
        if let Some(ending) = &self.ended {
            return Err(TargetError::Ended(ending.clone()));
        }
        if !self.suspended {
            self.request(&Request::SuspendAll)?;
            self.suspended = true;
        }
        Ok(())
    }

    pub(crate) fn resume_all(&mut self) -> TargetResult {
        if self.suspended {
            self.suspended = false;
            self.request(&Request::ResumeAll)?;
        }
        Ok(())
    }

    pub(crate) fn kill_process(&mut self) -> TargetResult {
        if self.ended.is_some() {
            return Ok(());
        }
        let killed = match &mut self.process {
            Process::Launched(child) => child.kill().and_then(|()| child.wait()).map(drop),
            Process::Attached(process) => kill(Pid::from_raw(*process), Signal::SIGKILL).map_err(Into::into),
        };
        // Only now, because a waiting thread continues once the connection is closed.
        self.link = None;
        self.stopped_thread = None;
        self.ended = Some(Termination::Killed { signal: "SIGKILL".to_owned(), core: false });
        killed.map_err(|error| TargetError::Control(format!("cannot kill the program: {error}")))
    }

    pub(crate) fn detach_agent(&mut self) -> TargetResult {
        if self.ended.is_some() {
            return Ok(());
        }
        // A program that has ended counts as detached, too.
        let detached = self.request(&Request::Detach);
        self.link = None;
        self.stopped_thread = None;
        self.suspended = false;
        match detached {
            Err(TargetError::Control(message)) => Err(TargetError::Control(message)),
            _ => {
                self.ended.get_or_insert(Termination::Detached);
                Ok(())
            }
        }
    }
}

impl Drop for JavaTarget {
    fn drop(&mut self) {
        // A program that was started is killed, one that was attached to continues.
        let _ = match self.process {
            Process::Launched(_) => self.kill_process(),
            Process::Attached(_) => self.detach_agent(),
        };
    }
}

/// How a process ended.
pub(crate) fn ending(status: ExitStatus) -> Termination {
    match (status.code(), status.signal()) {
        (Some(code), _) => Termination::Exited(code),
        (None, Some(number)) => {
            let signal =
                Signal::try_from(number).map_or_else(|_| format!("signal {number}"), |name| name.to_string());
            Termination::Killed { signal, core: status.core_dumped() }
        }
        (None, None) => Termination::Exited(0),
    }
}

/// Whether a process has ended and its parent has not waited for it yet.
fn is_zombie(process: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'))
}

/// Interrupts the running program.
#[derive(Clone)]
pub(crate) struct Interrupt(pub(crate) Waker);

impl Interrupter for Interrupt {
    fn interrupt(&self) {
        self.0.wake();
    }
}
