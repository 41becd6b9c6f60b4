//! The host of embedded monitors: what every process with embedded monitors keeps, and the requests that it answers.
//!
//! The debugger uploads the monitors before it lets the program run, and drains their replay log once the program is
//! stopped. In between, only the host knows what has happened. When a reaction is due, the host is frozen: no event may
//! be stepped until the monitors are uploaded again.
//!
//! A host has neither a lock nor a transport. Its owner has both, and reads the values of an event before it steps the
//! monitors ([`MonitorHost::step_site`]).

use super::{EmbeddedMonitors, EncodedReplayLog, ExternalEngine, LoadedAutomata, MonitorUpload, ReplayLog};
use crate::automaton::AutomatonDef;
use crate::event::EventBatch;
use crate::mac::{ScriptPlan, Scripts};
use alloc::string::String;
use alloc::vec::Vec;

/// A request of the debugger to a host. No event is being stepped meanwhile.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum HostRequest {
    /// Loads the properties, which are uploaded later.
    LoadAutomata(Vec<AutomatonDef>),
    /// Loads the scripts that derive events for the properties.
    LoadScripts(Vec<ScriptPlan>),
    /// Embeds the monitors and the scripts in these states, and ends a freeze.
    Upload(MonitorUpload),
    /// Returns the replay log, removes the monitors, and freezes the host.
    Drain,
    /// Removes the monitors and ends a freeze: the events step in the session from now on.
    Remove,
    /// Steps the monitors with events that the debugger has observed, all at one site of one thread.
    Step {
        /// The events.
        events: EventBatch,
        /// The thread.
        thread: u32,
    },
}

/// Reply to a [`HostRequest`].
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum HostReply {
    /// The request was carried out.
    Done,
    /// The request failed, with the reason.
    Failed(String),
    /// The replay log; `None` if no monitors were embedded.
    Drained(Option<EncodedReplayLog>),
    /// The monitors stepped; whether a reaction is due.
    Stepped(bool),
    /// The monitors did not step: the reaction to another event is still due.
    Busy,
    /// Nothing was done: a stopped thread is stepping the monitors outside of the host.
    Locked,
}

/// Host of embedded monitors; see the module.
///
/// ```
/// # use invigil_monitor::automaton::{Automaton, AutomatonDef, BranchEffect, EndVerdict, State, Transition};
/// # use invigil_monitor::embedded::{EmbeddedMonitor, HostReply, HostRequest, MonitorHost, MonitorUpload, REACT_ON_ENTRY};
/// # use invigil_monitor::event::{Event, EventId, EventMeta};
/// # use invigil_monitor::observer::NoopObserver;
/// # use invigil_monitor::verdict::Verdict;
/// # use invigil_monitor::{Monitor, Scratch};
/// # use std::sync::Arc;
/// # let state = |name: &str| State {
/// #     name: name.into(), verdict: Verdict::Accepting, is_final: false, action: None, at_end: EndVerdict::Nothing,
/// #     span: Default::default(),
/// # };
/// # let to_open = Transition {
/// #     from: 0, event: EventId(0), guard: None, success: Some(BranchEffect { target: Some(1), ..BranchEffect::default() }),
/// #     failure: None, reads: vec![], condition: None, span: Default::default(),
/// # };
/// # let def = AutomatonDef {
/// #     states: vec![state("closed"), state("open")], transitions: vec![to_open], ..AutomatonDef::default()
/// # };
/// # let automaton = Arc::new(Automaton::new(def.clone()));
/// # let slices = automaton.start(&mut Scratch::default(), &mut NoopObserver);
/// // The debugger:
/// let embedded = EmbeddedMonitor { automaton, slices, reactions: vec![0, REACT_ON_ENTRY] };
/// let upload = MonitorUpload::new(&[embedded], &[]);
/// // The host in the program:
/// let mut host = MonitorHost::new();
/// host.answer(HostRequest::LoadAutomata(vec![def]), &mut ());
/// host.answer(HostRequest::Upload(upload), &mut ());
/// let open = Event { id: EventId(0), params: &[], text: "" };
/// let meta = EventMeta { time: f64::NAN, line: 0 };
/// assert_eq!(host.step_site(|monitors| monitors.step(&open, meta, 1)), Some(true));
/// assert!(host.is_frozen());
/// let HostReply::Drained(Some(log)) = host.answer(HostRequest::Drain, &mut ()) else { panic!() };
/// assert_eq!((log.events.len(), log.due), (1, 1));
/// ```
#[derive(Debug, Default)]
pub struct MonitorHost {
    automata: LoadedAutomata,
    /// The scripts in their initial state.
    scripts: Option<Scripts>,
    monitors: Option<EmbeddedMonitors>,
    /// Number of events at the end of the log to which a reaction is due.
    due: u32,
    is_frozen: bool,
}

impl MonitorHost {
    /// A host without monitors.
    pub const fn new() -> MonitorHost {
        MonitorHost {
            automata: LoadedAutomata::new(),
            scripts: None,
            monitors: None,
            due: 0,
            is_frozen: false,
        }
    }

    /// The embedded monitors.
    #[inline(always)]
    pub fn monitors_mut(&mut self) -> Option<&mut EmbeddedMonitors> {
        self.monitors.as_mut()
    }

    /// The scripts in their initial state.
    pub fn scripts(&self) -> Option<&Scripts> {
        self.scripts.as_ref()
    }

    /// Whether no event may be stepped at present.
    #[inline(always)]
    pub fn is_frozen(&self) -> bool {
        self.is_frozen
    }

    /// Lets `step` step the monitors with all events of one site; it returns whether a reaction is due. If so, freezes
    /// the host and counts these events as due. `None` if no monitors are embedded.
    #[inline]
    pub fn step_site(&mut self, step: impl FnOnce(&mut EmbeddedMonitors) -> bool) -> Option<bool> {
        let monitors = self.monitors.as_mut()?;
        let before = monitors.event_count();
        let reacts = step(monitors);
        if reacts {
            self.due = (monitors.event_count() - before) as u32;
            self.is_frozen = true;
        }
        Some(reacts)
    }

    /// Ends the monitors and returns their replay log. The host is frozen from now on.
    pub fn drain(&mut self) -> Option<ReplayLog> {
        let monitors = self.monitors.take()?;
        self.is_frozen = true;
        Some(monitors.into_replay_log(core::mem::take(&mut self.due)))
    }

    /// Answers a request. `engine` steps events for this host, if it is not `()`.
    pub fn answer(&mut self, request: HostRequest, engine: &mut impl ExternalEngine) -> HostReply {
        if matches!(request, HostRequest::LoadAutomata(_) | HostRequest::LoadScripts(_)) {
            engine.discard(self.monitors.as_mut());
            return self.carry_out(request);
        }
        if !engine.write_back(self.monitors.as_mut()) {
            return HostReply::Locked;
        }
        let reply = self.carry_out(request);
        engine.restart(self.monitors.as_mut(), self.is_frozen);
        reply
    }

    fn carry_out(&mut self, request: HostRequest) -> HostReply {
        let done = match request {
            HostRequest::LoadAutomata(definitions) => {
                self.automata = LoadedAutomata::compile(definitions);
                Ok(())
            }
            HostRequest::LoadScripts(plans) => {
                Scripts::new(&plans).map(|scripts| self.scripts = Some(scripts))
            }
            HostRequest::Upload(upload) => self.upload(upload).map_err(String::from),
            HostRequest::Remove => {
                (self.monitors, self.due, self.is_frozen) = (None, 0, false);
                Ok(())
            }
            HostRequest::Drain => return HostReply::Drained(self.drain().map(ReplayLog::encode)),
            HostRequest::Step { .. } if self.due > 0 => return HostReply::Busy,
            HostRequest::Step { events, thread } => {
                return HostReply::Stepped(self.step_batch(&events, thread));
            }
        };
        done.map_or_else(HostReply::Failed, |()| HostReply::Done)
    }

    fn step_batch(&mut self, events: &EventBatch, thread: u32) -> bool {
        let reacts = self.step_site(|monitors| {
            let step = |at| monitors.step_with_scripts(&events.event(at), events.meta(at), thread);
            (0..events.len()).map(step).fold(false, |any, reacts| any | reacts)
        });
        reacts.unwrap_or(false)
    }

    fn upload(&mut self, mut upload: MonitorUpload) -> Result<(), &'static str> {
        let states = core::mem::take(&mut upload.scripts);
        let embedded = upload.monitors(&self.automata).ok_or("the state of a property is malformed")?;
        let mut monitors = EmbeddedMonitors::new(embedded);
        if let Some(scripts) = &self.scripts {
            let mut scripts = scripts.clone();
            if !scripts.restore(&states) {
                return Err("the state of the scripts is malformed");
            }
            monitors = monitors.with_scripts(scripts);
        }
        self.monitors = Some(monitors);
        (self.due, self.is_frozen) = (0, false);
        Ok(())
    }
}
