//! Monitors that step inside the target and stop it only when a reaction is due.
//!
//! The debugger that reacts needs the state of the monitors and how they reached it. A [`ReplayLog`] therefore
//! keeps the most recent events and the state before the first of them. Replaying these events in the debugger
//! takes the same transitions and reaches the same state. Only plain data is exchanged.
//!
//! Scripts (PEDL and MEDL) may run here too; the events that they derive are input of the properties. Derived
//! events are not logged, because the debugger's scripts derive them again.
//!
//! **Invariant:** replaying the log from its base state gives the current state.

mod dead_objects;
mod event_log;
mod external_engine;
mod host;
mod replay_log;
mod scripts;
mod shards;
mod upload;

pub use external_engine::{ExternalEngine, ExternalStep};
pub use host::{HostReply, HostRequest, MonitorHost};
pub use replay_log::{EncodedReplayLog, ReplayLog};
pub use shards::{SHARD_COUNT, Shard};
pub use upload::{LoadedAutomata, MonitorUpload};

use crate::automaton::{Automaton, StateId};
use crate::event::{Event, EventBatch, EventId, EventMeta};
use crate::int_table::{IntTable, SlicedIntTable, TableStep};
use crate::mac::ScriptState;
use crate::observer::{Observer, TransitionTaken};
use crate::slices::{SliceId, SliceTable};
use crate::step::{Monitor, Scratch};
use crate::verdict::Verdict;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use event_log::EventLog;
use invigil_expr::value::Value;
use scripts::EmbeddedScripts;
use shards::ShardMap;

/// A reaction is due when a slice enters the state.
pub const REACT_ON_ENTRY: u8 = 1;
/// A reaction is due when a slice leaves the state.
pub const REACT_ON_EXIT: u8 = 2;

/// Minimum number of events in a segment of the log.
const MIN_SEGMENT: usize = 4096;
/// Number of parameters that are converted without an allocation.
const INLINE_PARAMS: usize = 8;
/// Bytes of monitor state per logged event. Segments are long enough that copying the state costs less than
/// stepping.
const STATE_BYTES_PER_EVENT: usize = 32;

/// A property with its state and the reactions to it.
#[derive(Clone, Debug)]
pub struct EmbeddedMonitor {
    /// The property.
    pub automaton: Arc<Automaton>,
    /// The state.
    pub slices: SliceTable,
    /// For each state, [`REACT_ON_ENTRY`] and [`REACT_ON_EXIT`].
    pub reactions: Vec<u8>,
}

/// Counts of steps of a property on events that are no longer in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EvictedCounts {
    /// The transitions taken.
    pub steps: u64,
    /// The slices created.
    pub created: u64,
}

/// A segment of the log: events, and the state of the monitors before the first.
#[derive(Clone, Debug)]
struct LogSegment {
    before: Vec<SliceTable>,
    counts: Vec<EvictedCounts>,
    /// The state of the scripts, and the number of events that they had derived.
    scripts: Vec<ScriptState>,
    script_events: u64,
    events: EventLog,
    /// Dead objects whose slices were collected during the segment.
    dead_objects: Vec<i64>,
}

impl LogSegment {
    fn new(monitors: &[EmbeddedMonitor], counts: &[EvictedCounts], scripts: &EmbeddedScripts) -> LogSegment {
        LogSegment {
            before: monitors.iter().map(|monitor| monitor.slices.clone()).collect(),
            counts: counts.to_vec(),
            scripts: scripts.scripts.state(),
            script_events: scripts.derived_count,
            events: EventLog::default(),
            dead_objects: Vec::new(),
        }
    }
}

/// Monitors embedded in the target; see the module.
///
/// ```
/// # use invigil_monitor::automaton::{Automaton, BranchEffect, AutomatonDef, State, Transition, EndVerdict};
/// # use invigil_monitor::event::{Event, EventMeta, EventId};
/// # use invigil_monitor::embedded::{REACT_ON_ENTRY, EmbeddedMonitor, EmbeddedMonitors};
/// # use invigil_monitor::observer::NoopObserver;
/// # use invigil_monitor::verdict::Verdict;
/// # use invigil_monitor::{Monitor, Scratch};
/// # use std::sync::Arc;
/// # let state = |name: &str, verdict| State {
/// #     name: name.into(), verdict, is_final: false, action: None, at_end: EndVerdict::Nothing, span: Default::default(),
/// # };
/// # let to = |from, symbol| Transition {
/// #     from, event: EventId(symbol), guard: None, success: Some(BranchEffect { target: Some(1 - from), ..BranchEffect::default() }),
/// #     failure: None, reads: vec![], condition: None, span: Default::default(),
/// # };
/// // `open` and `close` alternate; there is a reaction to the state `open`.
/// let def = AutomatonDef {
///     states: vec![state("closed", Verdict::Accepting), state("open", Verdict::Accepting)],
///     transitions: vec![to(0, 0), to(1, 1)],
///     ..AutomatonDef::default()
/// };
/// let automaton = Arc::new(Automaton::new(def));
/// let slices = automaton.start(&mut Scratch::default(), &mut NoopObserver);
/// let mut embedded = EmbeddedMonitors::new(vec![EmbeddedMonitor { automaton, slices, reactions: vec![0, REACT_ON_ENTRY] }]);
/// let meta = EventMeta { time: f64::NAN, line: 0 };
/// let mut step = |symbol| embedded.step(&Event { id: EventId(symbol), params: &[], text: "" }, meta, 1);
/// assert!(!step(1));
/// assert!(step(0));
/// ```
#[derive(Debug)]
pub struct EmbeddedMonitors {
    monitors: Vec<EmbeddedMonitor>,
    /// Per property, its integer table, if it has one.
    tables: Tables,
    /// Per property, its integer table for slices, if it has one.
    sliced: Vec<Option<SlicedIntTable>>,
    /// Per event, the properties that it can affect.
    affected_by_event: Vec<Vec<usize>>,
    scratch: Scratch,
    /// Counts since the monitors were uploaded.
    counts: Vec<EvictedCounts>,
    /// The number of events before the newer segment.
    before: u64,
    older: Option<LogSegment>,
    newer: LogSegment,
    /// Maximum number of events in the newer segment.
    segment_len: usize,
    shard_map: ShardMap,
    scripts: EmbeddedScripts,
}

impl EmbeddedMonitors {
    /// Starts embedded monitors in the given states.
    pub fn new(monitors: Vec<EmbeddedMonitor>) -> EmbeddedMonitors {
        let counts = vec![EvictedCounts::default(); monitors.len()];
        let scripts = EmbeddedScripts::default();
        let newer = LogSegment::new(&monitors, &counts, &scripts);
        let integer_tables = monitors.iter().map(|monitor| {
            let mut table = IntTable::new(&monitor.automaton, &monitor.reactions)?;
            table.load(&monitor.slices);
            Some(table)
        });
        let tables = Tables::new(integer_tables.collect());
        let sliced = monitors
            .iter()
            .map(|monitor| SlicedIntTable::new(&monitor.automaton, &monitor.reactions))
            .collect();
        let event_ids =
            monitors.iter().map(|monitor| monitor.automaton.dispatch_table.len()).max().unwrap_or_default();
        let affected = (0..event_ids).map(|event_id| {
            let is_concerned = |(_, monitor): &(usize, &EmbeddedMonitor)| {
                let dispatch = monitor.automaton.dispatch_table.get(event_id);
                dispatch.is_some_and(|dispatch| !dispatch.by_state.is_empty() || dispatch.mask != 0)
            };
            monitors.iter().enumerate().filter(is_concerned).map(|(at, _)| at).collect()
        });
        let affected_by_event = affected.collect();
        let mut embedded = EmbeddedMonitors {
            monitors,
            tables,
            sliced,
            affected_by_event,
            scratch: Scratch::default(),
            counts,
            before: 0,
            older: None,
            newer,
            segment_len: 0,
            shard_map: ShardMap::default(),
            scripts,
        };
        embedded.segment_len = embedded.next_segment_len();
        embedded
    }

    /// The properties that an event can affect.
    fn affected(&self, event_id: EventId) -> &[usize] {
        self.affected_by_event.get(event_id.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// Whether some property needs this event in its current state.
    #[inline]
    pub fn needs_event(&self, event_id: EventId) -> bool {
        self.affected(event_id).iter().any(|at| match self.tables.get(*at) {
            Some(table) if table.is_ahead() => table.needs_event(event_id),
            _ => self.monitors[*at].automaton.needs_event(&self.monitors[*at].slices, event_id),
        })
    }

    /// The monitors with their current states.
    pub fn monitors(&mut self) -> &[EmbeddedMonitor] {
        self.write_back();
        &self.monitors
    }

    /// Writes the states of the integer tables back to the slice tables.
    fn write_back(&mut self) {
        for at in 0..self.monitors.len() {
            self.write_back_one(at);
        }
    }

    fn write_back_one(&mut self, at: usize) {
        if let Some(table) = self.tables.get_mut(at) {
            let EmbeddedMonitor { automaton, slices, .. } = &mut self.monitors[at];
            table.store(automaton, slices);
            if self.tables.is_one() {
                self.counts[at].steps += self.newer.events.take_fast_count() as u64;
            }
        }
    }

    /// The number of events since the monitors were uploaded, without derived ones.
    pub fn event_count(&self) -> u64 {
        self.before + self.newer.events.len() as u64
    }

    /// Steps all properties. Returns whether a reaction is due.
    ///
    /// Events that no property needs are dropped and not logged. Events that scripts
    /// [follow](EmbeddedMonitors::scripts_follow) must go to
    /// [`step_with_scripts`](EmbeddedMonitors::step_with_scripts) instead.
    pub fn step(&mut self, event: &Event<'_>, meta: EventMeta, thread: u32) -> bool {
        if !self.needs_event(event.id) {
            return false;
        }
        if self.newer.events.len() >= self.segment_len {
            self.rotate_log();
        }
        self.newer.events.push(event, meta, thread);
        self.step_all(event)
    }

    fn step_all(&mut self, event: &Event<'_>) -> bool {
        let mut reacts = false;
        for nth in 0..self.affected(event.id).len() {
            reacts |= self.step_property(self.affected(event.id)[nth], event);
        }
        reacts
    }

    /// Steps all properties on an event with integer parameters and without a time. Returns whether a reaction
    /// is due.
    ///
    /// Takes a few nanoseconds if the transitions only compare and add integers.
    #[inline]
    pub fn step_ints(&mut self, event_id: EventId, params: &[i64], thread: u32) -> bool {
        self.set_thread(thread);
        !self.try_step_ints(event_id, params) && self.step_ints_slow(event_id, params, thread)
    }

    /// Fast path of [`step_ints`](EmbeddedMonitors::step_ints), for the thread set last.
    ///
    /// Returns false if it does not apply or a reaction is due; nothing has been changed then. Never allocates.
    #[inline(always)]
    pub fn try_step_ints(&mut self, event_id: EventId, params: &[i64]) -> bool {
        match self.tables.single.is_ahead() {
            true => self.try_step_unsliced(event_id, params),
            false => self.try_step_slice(event_id, params),
        }
    }

    /// [`try_step_unsliced`](EmbeddedMonitors::try_step_unsliced) for a single property with slices.
    #[inline(always)]
    fn try_step_slice(&mut self, event_id: EventId, params: &[i64]) -> bool {
        let ([Some(sliced)], [monitor]) = (&self.sliced[..], &mut self.monitors[..]) else { return false };
        if !self.newer.events.prepare(event_id, params) {
            return false;
        }
        let stepped = sliced.step(&monitor.automaton, &mut monitor.slices, event_id, params);
        self.newer.events.commit_prepared(stepped, params.len())
    }

    /// Sets the thread of the following events.
    pub fn set_thread(&mut self, thread: u32) {
        self.newer.events.set_thread(thread);
    }

    /// Like [`set_thread`](EmbeddedMonitors::set_thread), but fails instead of allocating.
    #[inline(always)]
    pub fn try_set_thread(&mut self, thread: u32) -> bool {
        self.newer.events.try_set_thread(thread)
    }

    /// Steps the only property by its integer table, for the thread set last.
    ///
    /// Returns false if the table does not apply or a reaction is due; nothing has been changed then.
    #[inline(always)]
    pub fn try_step_unsliced(&mut self, event_id: EventId, params: &[i64]) -> bool {
        // The log has spare capacity, so a segment may exceed `segment_len`; that is harmless.
        if !self.newer.events.prepare(event_id, params) {
            return false;
        }
        let stepped = self.tables.single.step(event_id, params);
        self.newer.events.commit_prepared(stepped, params.len())
    }

    /// General path of [`step_ints`](EmbeddedMonitors::step_ints), after
    /// [`try_step_ints`](EmbeddedMonitors::try_step_ints) failed.
    #[inline(never)]
    pub fn step_ints_slow(&mut self, event_id: EventId, params: &[i64], thread: u32) -> bool {
        if !self.needs_event(event_id) {
            return false;
        }
        if self.newer.events.len() >= self.segment_len {
            self.rotate_log();
        }
        self.newer.events.push_integers(event_id, params, thread);
        let mut few = [Value::UNSET; INLINE_PARAMS];
        let many: Vec<Value>;
        let values = match few.get_mut(..params.len()) {
            Some(few) => {
                few.iter_mut().zip(params).for_each(|(value, param)| *value = Value::int(*param));
                &*few
            }
            None => {
                many = params.iter().map(|param| Value::int(*param)).collect();
                &many
            }
        };
        let event = Event { id: event_id, params: values, text: "" };
        let mut reacts = false;
        for nth in 0..self.affected(event_id).len() {
            let at = self.affected(event_id)[nth];
            let EmbeddedMonitor { automaton, slices, .. } = &mut self.monitors[at];
            let stepped = match (&mut self.sliced[at], self.tables.get_mut(at)) {
                (Some(sliced), _) => sliced.step(automaton, slices, event_id, params),
                (None, Some(table)) => table.step(event_id, params),
                (None, None) => TableStep::Unknown,
            };
            self.counts[at].steps += u64::from(stepped == TableStep::Taken);
            if stepped == TableStep::Unknown {
                // No table, or the table does not apply.
                reacts |= self.step_property(at, &event);
                if let Some(table) = self.tables.get_mut(at) {
                    table.load(&self.monitors[at].slices);
                }
            }
        }
        reacts
    }

    fn step_property(&mut self, at: usize, event: &Event<'_>) -> bool {
        self.write_back_one(at);
        let EmbeddedMonitor { automaton, slices, reactions } = &mut self.monitors[at];
        // A property that ended with an error does not step.
        if !automaton.needs_event(slices, event.id) {
            return false;
        }
        let counts = &mut self.counts[at];
        let mut observer = ReactionObserver { automaton, reactions, counts, reacts: false };
        let verdict = automaton.step(slices, &mut self.scratch, event, &mut observer);
        observer.reacts | (verdict == Some(Verdict::Error))
    }

    /// Ends the monitors and returns their replay log. `due` is the number of the last events to which a reaction is
    /// due.
    pub fn into_replay_log(self, due: u32) -> ReplayLog {
        let count = self.event_count();
        let (mut events, mut threads, mut dead_objects) = (EventBatch::default(), Vec::new(), Vec::new());
        for segment in self.older.iter().chain([&self.newer]) {
            segment.events.decode_into(&mut events, &mut threads);
            dead_objects.extend_from_slice(&segment.dead_objects);
        }
        let first = self.older.unwrap_or(self.newer);
        ReplayLog {
            evicted_events: count - events.len() as u64 + first.script_events,
            evicted: first.counts,
            base: first.before,
            scripts: first.scripts,
            events,
            threads,
            due,
            dead_objects,
        }
    }

    fn next_segment_len(&self) -> usize {
        let bytes: usize = self.monitors.iter().map(|monitor| monitor.slices.bytes()).sum();
        MIN_SEGMENT.max(bytes / STATE_BYTES_PER_EVENT)
    }

    /// Starts a new segment and evicts the oldest one.
    #[cold]
    fn rotate_log(&mut self) {
        self.write_back();
        self.before += self.newer.events.len() as u64;
        let mut fresh = LogSegment::new(&self.monitors, &self.counts, &self.scripts);
        // Reuse the memory of the evicted segment.
        if let Some(LogSegment { mut events, .. }) = self.older.take() {
            events.clear();
            fresh.events = events;
        }
        if let Some(thread) = self.newer.events.thread() {
            fresh.events.set_thread(thread);
        }
        self.older = Some(core::mem::replace(&mut self.newer, fresh));
        self.segment_len = self.next_segment_len();
    }
}

/// The integer tables of the properties, by index.
#[derive(Debug)]
struct Tables {
    /// The table of the only property. Stored inline, because every load on the fast path counts.
    single: IntTable,
    /// The tables, if there are several properties.
    several: Vec<Option<IntTable>>,
}

impl Tables {
    fn new(mut all: Vec<Option<IntTable>>) -> Tables {
        match (all.pop(), all.is_empty()) {
            (Some(single), true) => Tables { single: single.unwrap_or_default(), several: Vec::new() },
            (last, _) => {
                all.extend(last);
                Tables { single: IntTable::default(), several: all }
            }
        }
    }

    fn is_one(&self) -> bool {
        self.several.is_empty()
    }

    fn get(&self, at: usize) -> Option<&IntTable> {
        if self.is_one() { Some(&self.single) } else { self.several.get(at)?.as_ref() }
    }

    fn get_mut(&mut self, at: usize) -> Option<&mut IntTable> {
        if self.is_one() { Some(&mut self.single) } else { self.several.get_mut(at)?.as_mut() }
    }
}

/// Determines whether a step requires a reaction.
struct ReactionObserver<'a> {
    automaton: &'a Automaton,
    reactions: &'a [u8],
    counts: &'a mut EvictedCounts,
    reacts: bool,
}

impl Observer for ReactionObserver<'_> {
    fn wants_output(&self) -> bool {
        true
    }

    fn print(&mut self, _: &str) {
        self.reacts = true;
    }

    fn command(&mut self, _: String) {
        self.reacts = true;
    }

    fn slice_created(&mut self, _: &SliceTable, _: SliceId) {
        self.counts.created += 1;
    }

    #[inline]
    fn transition_taken(&mut self, _: &SliceTable, taken: TransitionTaken) {
        self.counts.steps += 1;
        let reactions = |state: StateId| self.reactions.get(usize::from(state)).copied().unwrap_or_default();
        self.reacts |= self.automaton.is_violation(taken.from, taken.to)
            || reactions(taken.from) & REACT_ON_EXIT != 0
            || reactions(taken.to) & REACT_ON_ENTRY != 0;
    }

    fn guard_parameter_missing(&mut self, _: usize) {
        self.reacts = true;
    }

    fn event_skipped(&mut self, _: usize) {
        self.reacts = true;
    }
}
