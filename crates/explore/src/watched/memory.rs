//! What is known of property automata: their states, with numbers, and where events lead.

use indexmap::IndexSet;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::Event;
use invigil_monitor::observer::Unobserved;
use invigil_monitor::slices::Slices;
use invigil_monitor::{Monitor, Scratch};
use rustc_hash::FxHashMap;

/// Where an event leads.
#[derive(Clone, Copy)]
pub(super) struct Next {
    /// The number of the state of all automata.
    pub(super) number: u32,
    /// Whether some automaton is violated there, or has failed, and was not before.
    pub(super) is_bad: bool,
}

/// Automata and all that was seen of them.
pub(super) struct Memory<'a> {
    automata: Vec<Automata<'a>>,
    /// The states of all automata together: the number of each one's own.
    together: IndexSet<Box<[u32]>, rustc_hash::FxBuildHasher>,
    /// For each action, the values that it came with, and the number of that event.
    events: Vec<FxHashMap<Box<[i64]>, u32>>,
    count: u32,
    /// For a state, in the upper half, and an event, in the lower half.
    next: FxHashMap<u64, Next>,
    scratch: Scratch,
}

/// One automaton with its states.
struct Automata<'a> {
    automaton: &'a Automaton,
    states: IndexSet<Slices>,
}

fn is_bad(state: &Slices) -> bool {
    state.is_violated() || state.failure().is_some()
}

impl<'a> Memory<'a> {
    pub(super) fn new(automata: &[&'a Automaton], actions: usize) -> Memory<'a> {
        let mut scratch = Scratch::default();
        let begin = |automaton: &&'a Automaton| {
            let start = automaton.start(&mut scratch, &mut Unobserved);
            Automata { automaton, states: IndexSet::from([start]) }
        };
        let automata: Vec<Automata<'a>> = automata.iter().map(begin).collect();
        let start = vec![0; automata.len()].into_boxed_slice();
        Memory {
            automata,
            together: IndexSet::from_iter([start]),
            events: vec![FxHashMap::default(); actions],
            count: 0,
            next: FxHashMap::default(),
            scratch,
        }
    }

    /// The state before any event.
    pub(super) fn start(&self) -> Next {
        let starts = self.automata.iter().filter_map(|of| of.states.first());
        Next { number: 0, is_bad: starts.into_iter().any(is_bad) }
    }

    /// The states of the automata.
    pub(super) fn states(&self, number: u32) -> Vec<Slices> {
        let Some(numbers) = self.together.get_index(number as usize) else { return Vec::new() };
        let state = |(of, at): (&Automata<'_>, &u32)| of.states.get_index(*at as usize).cloned();
        self.automata.iter().zip(numbers).filter_map(state).collect()
    }

    /// The automata that the end of the run violates.
    pub(super) fn violated_at_end(&self, number: u32) -> Vec<usize> {
        let states = self.states(number);
        let is_owing = |(of, state): (&Automata<'_>, &Slices)| {
            !is_bad(state) && of.automaton.violated_at_end(state).next().is_some()
        };
        let owing = self.automata.iter().zip(&states).map(is_owing).enumerate();
        owing.filter(|(_, is_owing)| *is_owing).map(|(at, _)| at).collect()
    }

    /// Where the event of an action with these values leads, if that is known.
    pub(super) fn known(&self, at: u32, action: u32, values: &[i64]) -> Option<Next> {
        let event = *self.events.get(action as usize)?.get(values)?;
        self.next.get(&key(at, event)).copied()
    }

    /// Finds out where an event leads; `tell` tells it.
    pub(super) fn learn(
        &mut self,
        at: u32,
        action: u32,
        values: &[i64],
        tell: impl Fn(&mut dyn FnMut(&Event<'_>)),
    ) -> Next {
        // Someone else may have been faster.
        if let Some(known) = self.known(at, action, values) {
            return known;
        }
        let numbers = self.together.get_index(at as usize).cloned().unwrap_or_default();
        let (mut after, mut enters) = (Vec::new(), false);
        for (of, number) in self.automata.iter_mut().zip(&numbers) {
            let Some(before) = of.states.get_index(*number as usize) else { continue };
            let mut state = before.clone();
            tell(&mut |event| {
                if of.automaton.wants(&state, event.symbol) {
                    of.automaton.step(&mut state, &mut self.scratch, event, &mut Unobserved);
                }
            });
            enters |= is_bad(&state) && !is_bad(before);
            after.push(of.states.insert_full(state).0 as u32);
        }
        let number = self.together.insert_full(after.into_boxed_slice()).0 as u32;
        let next = Next { number, is_bad: enters };
        let count = &mut self.count;
        let event = *self.events[action as usize].entry(values.into()).or_insert_with(|| {
            *count += 1;
            *count - 1
        });
        self.next.insert(key(at, event), next);
        next
    }
}

fn key(at: u32, event: u32) -> u64 {
    u64::from(at) << 32 | u64::from(event)
}
