//! The session's state, and the queries available while the target is stopped.

use crate::attached_monitor::{AttachedMonitor, collect_needs};
use crate::checkpoint_tree::{CheckpointInfo, CheckpointTree};
use crate::embedding_policy::EmbeddingPolicy;
use crate::history::{History, HistoryEvent};
use crate::listener::{CommandRunner, Listener, MessageSource, NoopListener};
use crate::options::SessionOptions;
use crate::outcome::{StateChange, SuspendReason};
use crate::recorder::Recorder;
use crate::report::LiveViolation;
use crate::running_scenario::RunningScenario;
use invigil_check::PathStep;
use invigil_expr::diag::nearest;
use invigil_expr::program::CodeId;
use invigil_lang::scn::Scenario;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::{EventBatch, EventCatalog, EventId, EventSet};
use invigil_monitor::interactive::InteractiveMonitor;
use invigil_monitor::mac::{MethodCall, ScriptPlan, Scripts};
use invigil_monitor::slices::{DeadObjects, SliceId};
use invigil_target::{BreakpointId, Target, TargetError, TargetResult, Termination};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Instant;

/// A target with its monitors, scenarios, history and checkpoints.
pub struct Session {
    pub(crate) target: Box<dyn Target>,
    pub(crate) catalog: EventCatalog,
    pub(crate) monitors: Vec<AttachedMonitor>,
    /// The initial step of each property's path.
    pub(crate) initial_steps: Vec<PathStep>,
    /// `None` while a block of that scenario runs.
    pub(crate) scenarios: Vec<Option<RunningScenario>>,
    pub(crate) listener: Box<dyn Listener>,
    pub(crate) command_runner: Option<Box<dyn CommandRunner>>,
    pub(crate) options: SessionOptions,
    pub(crate) history: History,
    pub(crate) checkpoints: CheckpointTree,
    /// Scripts that derive events from other events, unless they run inside the target.
    pub(crate) scripts: Scripts,
    /// The events that scripts derive.
    pub(crate) derived: EventSet,
    /// Methods of the target that are called when an event occurs.
    pub(crate) calls: Vec<(EventId, MethodCall)>,
    /// The events of the current stop, followed by those derived from them.
    pub(crate) batch: EventBatch,
    /// The functions that breakpoints of scenarios call.
    pub(crate) callbacks: BTreeMap<BreakpointId, (usize, CodeId)>,
    /// The events that the target is instrumented for.
    pub(crate) needs: EventSet,
    /// Buffer for computing the next value of `needs`.
    pub(crate) needs_buffer: EventSet,
    /// Collected objects of the target, until there are enough to make collecting their slices worthwhile.
    pub(crate) dead_objects: DeadObjects,
    pub(crate) handling: StopHandling,
    pub(crate) state: State,
    pub(crate) violations: Vec<LiveViolation>,
    pub(crate) recorder: Option<Recorder>,
    /// Whether embedding monitors in the target is worthwhile.
    pub(crate) embedding: EmbeddingPolicy,
    /// Whether the target ended before the log of its embedded monitors could be read.
    pub(crate) monitors_lost: bool,
    /// The number of the event at which the last automatic checkpoint was taken.
    pub(crate) last_automatic: u64,
    /// The property that commands apply to.
    current_property: usize,
    pub(crate) started_at: Instant,
}

/// Life cycle of a session.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum State {
    /// Not started.
    New,
    /// The target can be run.
    Ready,
    /// The target has ended; how it ended, if known.
    Ended(Option<Termination>),
}

/// Results of handling the current stop so far.
#[derive(Default)]
pub(crate) struct StopHandling {
    /// The changes of state that scenarios may react to.
    pub(crate) changes: Vec<StateChange>,
    /// Functions to call after all reactions.
    pub(crate) deferred: Vec<Deferred>,
    /// Commands that properties issued.
    pub(crate) commands: Vec<String>,
    /// Why the target is to be suspended.
    pub(crate) reasons: Vec<SuspendReason>,
    /// The cause of the running block, which becomes the reason if the block suspends the target.
    pub(crate) cause: Option<SuspendReason>,
    /// Whether a checkpoint was restored.
    pub(crate) restored: bool,
    /// Whether the target is to be killed.
    pub(crate) kill: bool,
}

/// A call of a scenario's function that was deferred.
pub(crate) struct Deferred {
    pub(crate) scenario: usize,
    pub(crate) function: CodeId,
    /// The change that the scenario reacted to when it deferred the call.
    pub(crate) change: Option<StateChange>,
    /// The cause of that reaction.
    pub(crate) cause: Option<SuspendReason>,
}

impl StopHandling {
    /// Adds a reason for suspending the target, once.
    pub(crate) fn suspend(&mut self, reason: SuspendReason) {
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }
}

impl Session {
    /// Creates a session that has not started.
    ///
    /// Monitors step in the order of `properties`, and `catalog` has the events of all of them. The scenarios must have
    /// been compiled for these properties in this order. Without any scenario, the target is suspended where a property
    /// enters a non-accepting state.
    pub fn new(
        target: Box<dyn Target>,
        properties: Vec<Arc<Automaton>>,
        catalog: EventCatalog,
        mut scenarios: Vec<Arc<Scenario>>,
        options: SessionOptions,
    ) -> Session {
        if scenarios.is_empty() {
            let automata: Vec<&Automaton> = properties.iter().map(|property| &**property).collect();
            scenarios.push(Arc::new(Scenario::default_for(&automata)));
        }
        let monitors: Vec<AttachedMonitor> = properties
            .into_iter()
            .enumerate()
            .map(|(at, property)| AttachedMonitor::new(at, property, &scenarios))
            .collect();
        Session {
            target,
            catalog,
            initial_steps: monitors.iter().map(|attached| initial_step(&attached.monitor)).collect(),
            monitors,
            scenarios: scenarios.into_iter().map(|scenario| Some(RunningScenario::new(scenario))).collect(),
            listener: Box::new(NoopListener),
            command_runner: None,
            history: History::new(options.history),
            options,
            checkpoints: CheckpointTree::default(),
            scripts: Scripts::default(),
            derived: EventSet::default(),
            calls: Vec::new(),
            batch: EventBatch::default(),
            callbacks: BTreeMap::new(),
            needs: EventSet::default(),
            needs_buffer: EventSet::default(),
            dead_objects: DeadObjects::default(),
            handling: StopHandling::default(),
            state: State::New,
            violations: Vec::new(),
            recorder: None,
            embedding: EmbeddingPolicy::default(),
            monitors_lost: false,
            last_automatic: 0,
            current_property: 0,
            started_at: Instant::now(),
        }
    }

    /// Sets the receiver of messages and events.
    pub fn set_listener(&mut self, listener: Box<dyn Listener>) {
        self.listener = listener;
    }

    /// Sets the runner of the commands that blocks issue with `debugger(command)`.
    pub fn set_command_runner(&mut self, command_runner: Box<dyn CommandRunner>) {
        self.command_runner = Some(command_runner);
    }

    /// Adds scripts that derive events for the properties. Must be called before the session starts.
    ///
    /// They run inside the target where possible, unless events are recorded: the reader of the recording derives the
    /// same events itself.
    ///
    /// # Errors
    /// A message, if a script cannot be run.
    pub fn set_scripts(&mut self, plans: Vec<ScriptPlan>) -> Result<(), String> {
        let scripts = Scripts::new(&plans)?;
        scripts.derived_events().for_each(|event| self.derived.insert(event));
        self.calls = plans.iter().flat_map(|plan| plan.calls.iter().cloned()).collect();
        for attached in &mut self.monitors {
            self.calls.iter().for_each(|(event, _)| attached.react_to(*event));
        }
        if let Ok(host) = self.target.embedded_host() {
            host.set_scripts(&plans);
        }
        self.scripts = scripts;
        Ok(())
    }

    /// Records every event from now on.
    pub fn set_recorder(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    // ---- target ---------------------------------------------------------------------------------------

    /// The target. Use the session to run it and to take and restore checkpoints.
    pub fn target(&mut self) -> &mut dyn Target {
        &mut *self.target
    }

    /// Whether the target has started and has not ended.
    pub fn is_running(&self) -> bool {
        self.state == State::Ready && self.target.is_alive()
    }

    /// How the target ended, if it has.
    pub fn termination(&self) -> Option<&Termination> {
        match &self.state {
            State::Ended(ending) => ending.as_ref(),
            _ => None,
        }
    }

    /// Whether the target ended with embedded monitors whose log could not be read. Events since it was last resumed
    /// are then unknown.
    pub fn monitors_lost(&self) -> bool {
        self.monitors_lost
    }

    /// The session's options. Changed limits apply from now on.
    pub fn options(&mut self) -> &mut SessionOptions {
        &mut self.options
    }

    // ---- monitors --------------------------------------------------------------------------------------

    /// The events that the properties mention.
    pub fn catalog(&self) -> &EventCatalog {
        &self.catalog
    }

    /// The monitors, in the order in which the properties were loaded.
    pub fn monitors(&self) -> impl ExactSizeIterator<Item = &InteractiveMonitor> {
        self.monitors.iter().map(|attached| &attached.monitor)
    }

    /// The monitor of a property, by its position.
    pub fn monitor(&self, property: usize) -> Option<&InteractiveMonitor> {
        self.monitors.get(property).map(|attached| &attached.monitor)
    }

    /// Modifies a monitor, such as its state, and updates the instrumentation accordingly.
    ///
    /// # Errors
    /// If there is no such property, or the target cannot be instrumented.
    pub fn update_monitor<R>(
        &mut self,
        property: usize,
        change: impl FnOnce(&mut InteractiveMonitor) -> R,
    ) -> TargetResult<R> {
        let count = self.monitors.len();
        let Some(attached) = self.monitors.get_mut(property) else {
            return Err(TargetError::Request(format!(
                "there is no property {}: there are {count}",
                property + 1
            )));
        };
        let result = change(&mut attached.monitor);
        self.update_needs()?;
        Ok(result)
    }

    /// The position of the property with this name, or with this number counted from one.
    ///
    /// # Errors
    /// If there is none; the message has the nearest name.
    pub fn find_property(&self, name: &str) -> TargetResult<usize> {
        let names = || self.monitors().map(|monitor| monitor.automaton().name.as_str());
        let by_number =
            name.parse::<usize>().ok().filter(|number| (1..=self.monitors.len()).contains(number));
        let found = names().position(|known| known == name).or(by_number.map(|number| number - 1));
        found.ok_or_else(|| {
            let help =
                nearest(name, names()).map_or(String::new(), |near| format!(": did you mean `{near}`?"));
            TargetError::Request(format!("there is no property `{name}`{help}"))
        })
    }

    /// The property that commands apply to.
    pub fn current_property(&self) -> usize {
        self.current_property
    }

    /// Selects the property that commands apply to.
    ///
    /// # Errors
    /// If there is no such property.
    pub fn set_current_property(&mut self, property: usize) -> TargetResult {
        self.update_monitor(property, |_| ())?;
        self.current_property = property;
        Ok(())
    }

    /// The variables of each scenario that have a value, as text.
    pub fn scenario_variables(&self) -> Vec<(String, Vec<(String, String)>)> {
        let running = self.scenarios.iter().flatten();
        running.map(|running| (running.scenario.name.clone(), running.variables())).collect()
    }

    // ---- history ---------------------------------------------------------------------------------------

    /// The number of events so far, which is the number of the last event.
    pub fn event_count(&self) -> u64 {
        self.history.count()
    }

    /// The numbers of the events in the history.
    pub fn event_range(&self) -> RangeInclusive<u64> {
        self.history.retained()
    }

    /// Events of the history by their numbers. Those that are no longer kept are left out.
    pub fn events(&self, numbers: RangeInclusive<u64>) -> Vec<HistoryEvent> {
        let automata: Vec<&Automaton> = self.monitors().map(|monitor| &**monitor.automaton()).collect();
        self.history.events(numbers, &self.catalog, &automata)
    }

    /// The latest transitions of a slice, the last one at the end, and the number of earlier ones that are left out, if
    /// known.
    pub fn path(&self, property: usize, slice: SliceId) -> (Vec<PathStep>, Option<u64>) {
        match (self.monitor(property), self.initial_steps.get(property)) {
            (Some(monitor), Some(initial_step)) => {
                self.history.path(property, slice, monitor.automaton(), &self.catalog, initial_step)
            }
            _ => (Vec::new(), None),
        }
    }

    /// The checkpoints, in the order in which they were taken.
    pub fn checkpoints(&mut self) -> Vec<CheckpointInfo> {
        self.refresh_memory();
        self.checkpoints.iter().map(|stored| stored.info.clone()).collect()
    }

    /// The checkpoint that the run continues from: the last one that was taken or restored.
    pub fn current_checkpoint(&self) -> Option<u32> {
        self.checkpoints.current
    }

    /// The violations so far, up to the limit of the options.
    pub fn violations(&self) -> &[LiveViolation] {
        &self.violations
    }

    // ---- for the other parts of the session ------------------------------------------------------------

    pub(crate) fn notify(&mut self, line: &str) {
        self.listener.message(MessageSource::Session, line);
    }

    pub(crate) fn property_name(&self, property: usize) -> String {
        self.monitor(property).map_or(String::new(), |monitor| monitor.automaton().name.clone())
    }

    /// Instruments the target for the events that are needed now, if they have changed.
    pub(crate) fn update_needs(&mut self) -> TargetResult {
        collect_needs(&mut self.monitors, &mut self.needs_buffer);
        self.needs_buffer.union(self.scripts.needed_events());
        if self.needs_buffer != self.needs && self.state != State::New {
            match self.target.instrument(&self.needs_buffer) {
                // A target that has ended needs no instrumentation.
                Ok(()) | Err(TargetError::Ended(_)) => {}
                Err(error) => return Err(error),
            }
            std::mem::swap(&mut self.needs_buffer, &mut self.needs);
        }
        Ok(())
    }
}

/// The initial step of a property's path.
fn initial_step(monitor: &InteractiveMonitor) -> PathStep {
    let (automaton, slices) = (monitor.automaton(), monitor.slices());
    let state = &automaton.states[usize::from(automaton.initial)];
    PathStep {
        event: None,
        branch: None,
        state: state.name.clone(),
        verdict: state.verdict,
        env: slices.root().map_or(Vec::new(), |root| invigil_check::env(automaton, slices, root)),
    }
}
