//! Numbered states of property automata and memoised transitions.

use indexmap::IndexSet;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::Event;
use invigil_monitor::observer::NoopObserver;
use invigil_monitor::slices::SliceTable;
use invigil_monitor::{Monitor, Scratch};
use rustc_hash::FxHashMap;

/// The effect of an event.
#[derive(Clone, Copy)]
pub(super) struct CachedStep {
    /// The number of the joint state of all automata.
    pub(super) number: u32,
    /// Whether some automaton becomes violated or fails.
    pub(super) is_bad: bool,
}

/// The automata, their known states and transitions.
pub(super) struct AutomataCache<'a> {
    automata: Vec<AutomatonStates<'a>>,
    /// Joint states: for each automaton the number of its own state.
    joint_states: IndexSet<Box<[u32]>, rustc_hash::FxBuildHasher>,
    /// For each action, numbers of the events by their values.
    events: Vec<FxHashMap<Box<[i64]>, u32>>,
    count: u32,
    /// Transitions, by the joint state in the upper half of the key and the event in the lower half.
    next: FxHashMap<u64, CachedStep>,
    scratch: Scratch,
}

/// An automaton and its known states.
struct AutomatonStates<'a> {
    automaton: &'a Automaton,
    states: IndexSet<SliceTable>,
}

fn is_bad(state: &SliceTable) -> bool {
    state.is_violated() || state.fault().is_some()
}

impl<'a> AutomataCache<'a> {
    pub(super) fn new(automata: &[&'a Automaton], actions: usize) -> AutomataCache<'a> {
        let mut scratch = Scratch::default();
        let start = |automaton: &&'a Automaton| {
            let start = automaton.start(&mut scratch, &mut NoopObserver);
            AutomatonStates { automaton, states: IndexSet::from([start]) }
        };
        let automata: Vec<AutomatonStates<'a>> = automata.iter().map(start).collect();
        let start = vec![0; automata.len()].into_boxed_slice();
        AutomataCache {
            automata,
            joint_states: IndexSet::from_iter([start]),
            events: vec![FxHashMap::default(); actions],
            count: 0,
            next: FxHashMap::default(),
            scratch,
        }
    }

    /// The joint state before any event.
    pub(super) fn start(&self) -> CachedStep {
        let starts = self.automata.iter().filter_map(|of| of.states.first());
        CachedStep { number: 0, is_bad: starts.into_iter().any(is_bad) }
    }

    /// The states of the automata in a joint state.
    pub(super) fn states(&self, number: u32) -> Vec<SliceTable> {
        let Some(numbers) = self.joint_states.get_index(number as usize) else { return Vec::new() };
        let state = |(of, at): (&AutomatonStates<'_>, &u32)| of.states.get_index(*at as usize).cloned();
        self.automata.iter().zip(numbers).filter_map(state).collect()
    }

    /// The automata that are violated if the run ends in a joint state.
    pub(super) fn violated_at_end(&self, number: u32) -> Vec<usize> {
        let states = self.states(number);
        let is_violated = |(of, state): (&AutomatonStates<'_>, &SliceTable)| {
            !is_bad(state) && of.automaton.violated_at_end(state).next().is_some()
        };
        let violated = self.automata.iter().zip(&states).map(is_violated).enumerate();
        violated.filter(|(_, is_violated)| *is_violated).map(|(at, _)| at).collect()
    }

    /// The cached effect of an action's event with these values.
    pub(super) fn cached(&self, at: u32, action: u32, values: &[i64]) -> Option<CachedStep> {
        let event = *self.events.get(action as usize)?.get(values)?;
        self.next.get(&cache_key(at, event)).copied()
    }

    /// Computes the effect of an event, which `emit` passes to the automata, and caches it.
    pub(super) fn compute(
        &mut self,
        at: u32,
        action: u32,
        values: &[i64],
        emit: impl Fn(&mut dyn FnMut(&Event<'_>)),
    ) -> CachedStep {
        // Another thread may have computed it first.
        if let Some(cached) = self.cached(at, action, values) {
            return cached;
        }
        let numbers = self.joint_states.get_index(at as usize).cloned().unwrap_or_default();
        let (mut after, mut becomes_bad) = (Vec::new(), false);
        for (of, number) in self.automata.iter_mut().zip(&numbers) {
            let Some(before) = of.states.get_index(*number as usize) else { continue };
            let mut state = before.clone();
            emit(&mut |event| {
                if of.automaton.needs_event(&state, event.id) {
                    of.automaton.step(&mut state, &mut self.scratch, event, &mut NoopObserver);
                }
            });
            becomes_bad |= is_bad(&state) && !is_bad(before);
            after.push(of.states.insert_full(state).0 as u32);
        }
        let number = self.joint_states.insert_full(after.into_boxed_slice()).0 as u32;
        let next = CachedStep { number, is_bad: becomes_bad };
        let count = &mut self.count;
        let event = *self.events[action as usize].entry(values.into()).or_insert_with(|| {
            *count += 1;
            *count - 1
        });
        self.next.insert(cache_key(at, event), next);
        next
    }
}

fn cache_key(at: u32, event: u32) -> u64 {
    u64::from(at) << 32 | u64::from(event)
}
