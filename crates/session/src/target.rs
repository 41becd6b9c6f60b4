//! The interface between a session and a live program of any kind.
//!
//! A [`Target`] is stopped between two calls. [`Target::resume`] lets it run until the next [`StopReason`]. Breakpoints
//! belong to an [`Owner`]. The instrumentation for the monitors is set by [`Target::instrument`] alone, from the events
//! that are needed now, so that other events cost nothing.

use invigil_monitor::embedded::{EmbeddedMonitor, EvictedCounts};
use invigil_monitor::event::{EventBatch, EventCatalog, EventId, EventSet};
use invigil_monitor::mac::{MethodCall, ScriptPlan, ScriptState};
use invigil_monitor::slices::{DeadObjects, SliceTable};
use std::fmt;
use std::path::PathBuf;

/// Requester of a stop. If several owners have a stop at one location, they are notified in the order of the
/// variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// The user at the prompt.
    User,
    /// A scenario.
    Scenario,
    /// The monitors: an event occurs here.
    Monitors,
}

/// Error of an operation on a target, with a message for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetError {
    /// The request is invalid here: an unknown name, for example, or an expression that cannot be evaluated.
    Request(String),
    /// The target has ended in this way.
    Ended(Termination),
    /// The target could not be started, run or controlled.
    Control(String),
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetError::Request(message) | TargetError::Control(message) => f.write_str(message),
            TargetError::Ended(ending) => write!(f, "the program has ended: {ending}"),
        }
    }
}

impl std::error::Error for TargetError {}

/// Result of an operation on a target.
pub type TargetResult<T = ()> = Result<T, TargetError>;

/// How a target ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Termination {
    /// It exited with this status.
    Exited(i32),
    /// A signal killed it.
    Killed {
        /// The signal's name, such as `SIGSEGV`.
        signal: String,
        /// Whether it dumped core.
        core: bool,
    },
    /// The debugger detached; the program keeps running.
    Detached,
}

impl fmt::Display for Termination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Termination::Exited(status) => write!(f, "it exited with status {status}"),
            Termination::Killed { signal, core: false } => write!(f, "it was killed by {signal}"),
            Termination::Killed { signal, core: true } => {
                write!(f, "it was killed by {signal} (core dumped)")
            }
            Termination::Detached => f.write_str("it was detached"),
        }
    }
}

/// How far the target runs when it is resumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResumeMode {
    /// Until the next stop.
    Continue,
    /// One machine instruction of the selected thread.
    Instruction,
    /// To the next source line, stepping into functions.
    Line,
    /// To the next source line, stepping over calls.
    NextLine,
    /// Until the selected frame returns.
    Finish,
    /// To a location as in [`BreakpointKind::Location`], or until the selected frame returns.
    Until(String),
}

/// Why the target stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum StopReason {
    /// Needed events occurred: see [`Target::events`].
    Events,
    /// Breakpoints or watchpoints of the user or a scenario were hit, all of one owner.
    Breakpoints {
        /// The owner.
        owner: Owner,
        /// Their numbers.
        breakpoints: Vec<BreakpointId>,
    },
    /// The step that was requested by a [`ResumeMode`] is complete.
    Stepped {
        /// For [`ResumeMode::Finish`], the returned value as text.
        returned: Option<String>,
    },
    /// [`Interrupter::interrupt`] was called.
    Interrupted,
    /// A signal that would normally end the program is about to be delivered.
    Signal {
        /// The signal's name.
        name: String,
        /// Its cause, such as the address of an invalid access.
        detail: String,
    },
    /// The target has ended.
    Ended(Termination),
}

/// Stops a running target from another thread or a signal handler.
pub trait Interrupter: Send + Sync {
    /// Makes [`Target::resume`] return soon with [`StopReason::Interrupted`].
    fn interrupt(&self);
}

/// Number of a breakpoint or watchpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BreakpointId(pub u32);

/// Location or access at which a breakpoint stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BreakpointKind {
    /// Before the code at this location is executed: a function (`queue_push`), a line (`faulty.c:32`, `32`) or an
    /// address (`*0x401000`).
    Location(String),
    /// Before this function returns.
    Return(String),
    /// When the memory that an expression denotes is read or written (a watchpoint).
    Watch {
        /// The expression, in the target's language.
        expression: String,
        /// Whether reads count.
        read: bool,
        /// Whether writes count.
        write: bool,
    },
}

/// A request for a breakpoint, with the conditions under which it stops the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreakpointSpec {
    /// The location or access.
    pub kind: BreakpointKind,
    /// An expression of the target's language that must be true.
    pub condition: Option<String>,
    /// Number of hits that are ignored first.
    pub ignore: u64,
    /// Whether it is removed at its first stop.
    pub once: bool,
}

impl BreakpointSpec {
    /// A breakpoint without conditions.
    pub fn new(kind: BreakpointKind) -> BreakpointSpec {
        BreakpointSpec { kind, condition: None, ignore: 0, once: false }
    }
}

/// A breakpoint that is set, with its present state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breakpoint {
    /// Its number.
    pub id: BreakpointId,
    /// Its owner.
    pub owner: Owner,
    /// The request.
    pub spec: BreakpointSpec,
    /// Its locations as text (addresses and lines); empty until code that has such a location is loaded.
    pub locations: Vec<String>,
    /// Number of times it was hit.
    pub hits: u64,
    /// Whether it is enabled.
    pub enabled: bool,
}

/// An event or parameter that the target cannot supply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnresolvedEvent {
    /// The event.
    pub event: EventId,
    /// The position of the parameter that is missing; `None` if the event itself is.
    pub param: Option<usize>,
    /// Why it cannot be supplied, as a message.
    pub reason: String,
    /// The remedy, such as the nearest names.
    pub help: String,
    /// Whether it may be resolved later, for example when a library with the function is loaded.
    pub pending: bool,
}

/// A thread of the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its number, as the operating system or virtual machine counts.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Its current location as text.
    pub location: String,
    /// Whether commands apply to it.
    pub selected: bool,
}

/// A position in the sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The file, as a path that can be opened here.
    pub file: PathBuf,
    /// The line, counted from one.
    pub line: u32,
    /// The column, counted from one; zero if unknown.
    pub column: u32,
}

/// A name with its value as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The value, or the reason why it is not available, as in `<optimized out>`.
    pub value: String,
}

/// A frame of the selected thread's stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The address of its current instruction.
    pub address: u64,
    /// The function, as the user would write it.
    pub function: String,
    /// Whether the function is inlined into its caller.
    pub inlined: bool,
    /// The arguments.
    pub arguments: Vec<Variable>,
    /// Its position in the sources, if known.
    pub line: Option<SourceLine>,
    /// The file that contains the code, if there is no source position.
    pub object: Option<PathBuf>,
}

/// How an event is observed at one site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeInfo {
    /// The event, as a property names it.
    pub event: String,
    /// The site as text.
    pub location: String,
    /// The mechanism as text, with the reason why no faster one could be used.
    pub mechanism: String,
}

/// Number of a target's checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CheckpointId(pub u32);

/// State of a checkpoint of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its number.
    pub id: CheckpointId,
    /// Memory that exists for this checkpoint alone, in bytes, at present. For a checkpoint that has just been taken,
    /// an upper bound of what it may grow to.
    pub memory: u64,
    /// Messages about state that a restore cannot bring back, such as files open for writing and sockets. May be empty in the result
    /// of [`Target::take_checkpoint`].
    pub limitations: Vec<String>,
}

/// Where scripts derive events from other events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptPlacement {
    /// In the session.
    InSession,
    /// Wherever the monitors step: they are embedded in the target and synchronized back together with them.
    WithMonitors,
    /// Always inside the target, which reports the derived events instead of their source events.
    InTarget,
}

/// Replay log of the embedded monitors: the state before the oldest kept event, the kept events, and counts for the
/// evicted ones.
#[derive(Clone, Debug)]
pub struct ReplayLog {
    /// Number of events that were evicted from the log, derived ones included.
    pub evicted_events: u64,
    /// Counts for the evicted events, per property.
    pub evicted: Vec<EvictedCounts>,
    /// State of each property before the oldest kept event.
    pub base: Vec<SliceTable>,
    /// State of each script at that time, if scripts are embedded with the monitors.
    pub scripts: Vec<ScriptState>,
    /// The kept events, without those that embedded scripts derived.
    pub events: EventBatch,
    /// The thread of each kept event.
    pub threads: Vec<u32>,
}

/// A running program under the session's control. Stopped between calls; `resume` runs it until the next
/// [`StopReason`].
pub trait Target {
    /// Whether the process still exists.
    fn is_alive(&self) -> bool;

    /// Announces the events that [`Target::instrument`] may request. Returns the events and parameters that the target
    /// cannot supply.
    fn prepare(&mut self, catalog: &EventCatalog) -> TargetResult<Vec<UnresolvedEvent>>;

    /// Instruments the target for these events and no others.
    fn instrument(&mut self, needs: &EventSet) -> TargetResult;

    /// Runs the target until the next stop. Owners that are still to be notified at the current location come first.
    ///
    /// After [`StopReason::Events`], and after [`StopReason::Breakpoints`] of a scenario, a step stays in progress:
    /// resuming with the same `mode`, or with [`ResumeMode::Continue`], continues it. Every other stop ends the step,
    /// and so does [`Target::stop_all`]. A step that hits a breakpoint of the user ends there. A step that reaches an
    /// event reports the event first and then ends, if it ends at that location.
    fn resume(&mut self, mode: &ResumeMode) -> TargetResult<StopReason>;

    /// Stops all threads. An event is reported as soon as its own thread stops; the other threads may keep running until
    /// they have to be stopped. A step in progress is cancelled.
    ///
    /// # Errors
    /// If the program cannot be controlled.
    fn stop_all(&mut self) -> TargetResult {
        Ok(())
    }

    /// The events at this stop after [`StopReason::Events`], in the order of the catalog.
    fn events(&self) -> &EventBatch;

    // ---- embedded monitors -----------------------------------------------------------------------------

    /// Whether monitors can step inside the target. After [`Target::embed_monitors`], [`Target::resume`] then returns
    /// [`StopReason::Events`] only for events that need a reaction.
    fn can_embed_monitors(&self) -> bool {
        false
    }

    /// Lets the properties step inside the target from their current states until it stops, and with them the scripts
    /// that are placed [with the monitors](ScriptPlacement::WithMonitors). Called before each [`Target::resume`],
    /// because the states may have changed since the last one.
    ///
    /// # Errors
    /// If the target cannot be reached.
    fn embed_monitors(&mut self, monitors: &[EmbeddedMonitor], scripts: &[ScriptState]) -> TargetResult {
        let _ = (monitors, scripts);
        Ok(())
    }

    /// Accepts the scripts that derive events, before the session starts, and decides where they run.
    fn place_scripts(&mut self, scripts: &[ScriptPlan]) -> ScriptPlacement {
        let _ = scripts;
        ScriptPlacement::InSession
    }

    /// Announces the methods that [`Target::invoke`] may call, each with the event that triggers the call. Returns
    /// those that the target does not have.
    ///
    /// # Errors
    /// If the target cannot be reached.
    fn prepare_calls(&mut self, calls: &[(EventId, MethodCall)]) -> TargetResult<Vec<UnresolvedEvent>> {
        let unknown = |(event, call): &(EventId, MethodCall)| UnresolvedEvent {
            event: *event,
            param: None,
            reason: format!(
                "`{call}` cannot be called: only a Java program has methods that an action can call"
            ),
            help: "remove the method, and let a scenario react instead: `on entering state invoked of …`"
                .to_owned(),
            pending: false,
        };
        Ok(calls.iter().map(unknown).collect())
    }

    /// Makes the thread of the last event call a method when it is resumed; `call` is a position in the list of
    /// [`Target::prepare_calls`].
    ///
    /// # Errors
    /// If the target cannot be reached.
    fn invoke(&mut self, call: usize) -> TargetResult {
        let _ = call;
        Ok(())
    }

    /// Messages about events that could not be observed. Called when the target has ended.
    fn coverage_warnings(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// The replay log of the embedded monitors since they were embedded, without [`Target::events`]. `None` if no monitors
    /// were embedded, or their log was lost.
    ///
    /// # Errors
    /// If the log is malformed.
    fn take_replay_log(&mut self) -> TargetResult<Option<ReplayLog>> {
        Ok(None)
    }

    /// Objects that have been collected since the last call: their slices may be dropped.
    fn take_dead_objects(&mut self) -> DeadObjects {
        DeadObjects::default()
    }

    /// The thread that stopped, or that was selected since.
    fn current_thread(&self) -> u32;

    /// A handle that can stop the running target.
    fn interrupter(&self) -> Box<dyn Interrupter>;

    /// Kills the target and the processes of its checkpoints.
    fn kill(&mut self) -> TargetResult;

    /// Detaches from the target, which keeps running.
    fn detach(&mut self) -> TargetResult;

    // ---- breakpoints ---------------------------------------------------------------------------------------

    /// Sets a breakpoint for the user or a scenario.
    fn set_breakpoint(&mut self, owner: Owner, spec: &BreakpointSpec) -> TargetResult<BreakpointId>;

    /// Removes a breakpoint.
    fn remove_breakpoint(&mut self, id: BreakpointId) -> TargetResult;

    /// Enables or disables a breakpoint.
    fn set_breakpoint_enabled(&mut self, id: BreakpointId, enabled: bool) -> TargetResult;

    /// All breakpoints of the user and the scenarios.
    fn breakpoints(&mut self) -> Vec<Breakpoint>;

    // ---- inspection ---------------------------------------------------------------------------------

    /// The threads.
    fn threads(&mut self) -> Vec<Thread>;

    /// Selects the thread that commands apply to.
    fn select_thread(&mut self, id: u32) -> TargetResult;

    /// The frames of the selected thread, innermost first, at most `limit`.
    fn frames(&mut self, limit: usize) -> TargetResult<Vec<Frame>>;

    /// The location of the selected thread as text: `queue_push (faulty.c:29)`. A target may override this to avoid
    /// reading argument values.
    fn current_location(&mut self) -> String {
        let Some(frame) = self.frames(1).ok().and_then(|frames| frames.into_iter().next()) else {
            return String::new();
        };
        match frame.line {
            Some(line) => {
                let file = line.file.file_name().unwrap_or_default().to_string_lossy();
                format!("{} ({file}:{})", frame.function, line.line)
            }
            None => frame.function,
        }
    }

    /// Selects a frame for expressions, counted from the innermost, which is zero.
    fn select_frame(&mut self, depth: usize) -> TargetResult;

    /// The selected frame.
    fn selected_frame(&self) -> usize;

    /// The local variables of the selected frame.
    fn locals(&mut self) -> TargetResult<Vec<Variable>>;

    /// The value of an expression of the target's language, as text.
    fn evaluate(&mut self, expression: &str) -> TargetResult<String>;

    /// The type of an expression, as text.
    fn type_of(&mut self, expression: &str) -> TargetResult<String>;

    /// Assigns a value: `set("N", "3")`.
    fn assign(&mut self, lvalue: &str, value: &str) -> TargetResult;

    /// Memory from the address that an expression denotes, formatted as by the command `x/FMT`.
    fn examine_memory(
        &mut self,
        expression: &str,
        count: usize,
        format: char,
        size: usize,
    ) -> TargetResult<Vec<String>>;

    /// The registers of the selected frame.
    fn registers(&mut self) -> TargetResult<Vec<Variable>>;

    /// The source position of a location, or of the selected frame.
    fn source_line(&mut self, location: Option<&str>) -> TargetResult<Option<SourceLine>>;

    /// The functions whose names start with a prefix, for completion.
    fn complete_function(&mut self, prefix: &str) -> Vec<String>;

    /// How the events of the properties are observed, site by site.
    fn probes(&mut self) -> Vec<ProbeInfo> {
        Vec::new()
    }

    /// The reason why requested probes cannot be used, so that every event costs a trap. Available after `prepare`.
    fn probe_failure(&self) -> Option<String> {
        None
    }

    /// Facts about the target for the command `info`: its path, process, images, signals.
    fn info(&mut self) -> Vec<(String, String)>;

    // ---- checkpoints -----------------------------------------------------------------------------------

    /// The reason why the target has no checkpoints, if it has none.
    fn checkpoints_unsupported(&self) -> Option<&'static str> {
        None
    }

    /// Takes a checkpoint of the target.
    fn take_checkpoint(&mut self) -> TargetResult<Checkpoint>;

    /// Restores a checkpoint, including the instrumentation for the monitors. The checkpoint is kept.
    fn restore_checkpoint(&mut self, id: CheckpointId) -> TargetResult;

    /// Drops a checkpoint.
    fn drop_checkpoint(&mut self, id: CheckpointId) -> TargetResult;

    /// The checkpoints that exist.
    fn checkpoints(&mut self) -> Vec<Checkpoint>;
}
