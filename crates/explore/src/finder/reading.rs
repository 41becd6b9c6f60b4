//! Anything that reads steps, behind one interface: its states are numbers.

use crate::finder::Automaton;
use indexmap::IndexSet;
use invigil_semantics::{Accepting, Dependent, Evaluate, Language, StepRef};
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// Reads the steps of a subject and says when it has seen what it looks for.
pub(crate) trait Reads<S: Language>: Send + Sync {
    /// The state before anything was read.
    fn start(&self, subject: &S) -> u32;

    /// The state after a step.
    fn read(&self, subject: &S, step: StepRef<'_, S>, at: u32) -> u32;

    /// Whether it has seen what it looks for.
    fn is_hit(&self, at: u32) -> bool;

    /// Whether it can see it no more.
    fn is_hopeless(&self, at: u32) -> bool;

    /// Why it could not read a step.
    fn fault(&self, subject: &S, step: StepRef<'_, S>) -> Option<String>;
}

/// Values that are numbered as they are met.
pub(crate) struct Numbers<T>(Mutex<IndexSet<T>>);

impl<T: Clone + Eq + Hash> Numbers<T> {
    pub(crate) fn new() -> Numbers<T> {
        Numbers(Mutex::new(IndexSet::new()))
    }

    pub(crate) fn of(&self, value: T) -> u32 {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert_full(value).0 as u32
    }

    pub(crate) fn value(&self, number: u32) -> Option<T> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get_index(number as usize).cloned()
    }
}

/// Any property: its states are the sets of configurations in which it may be.
pub(crate) struct OfProperty<P: Language> {
    property: P,
    sets: Numbers<Vec<P::Config>>,
}

impl<P: Language> OfProperty<P> {
    pub(crate) fn new(property: P) -> OfProperty<P> {
        OfProperty { property, sets: Numbers::new() }
    }
}

impl<S: Language, P: Dependent<S> + Accepting + Send + Sync> Reads<S> for OfProperty<P>
where
    P::Config: Send,
{
    fn start(&self, subject: &S) -> u32 {
        self.sets.of(self.property.initial(subject).into_iter().collect())
    }

    fn read(&self, subject: &S, step: StepRef<'_, S>, at: u32) -> u32 {
        let mut reached = Vec::new();
        for before in self.sets.value(at).unwrap_or_default() {
            for action in self.property.actions(subject, step, &before) {
                for config in self.property.execute(subject, step, &before, &action) {
                    if !reached.contains(&config) {
                        reached.push(config);
                    }
                }
            }
        }
        self.sets.of(reached)
    }

    fn is_hit(&self, at: u32) -> bool {
        self.sets.value(at).is_some_and(|set| set.iter().any(|config| self.property.is_accepting(config)))
    }

    fn is_hopeless(&self, at: u32) -> bool {
        self.sets.value(at).is_none_or(|set| set.is_empty())
    }

    fn fault(&self, _: &S, _: StepRef<'_, S>) -> Option<String> {
        None
    }
}

/// A condition on a step: [`Breakpoint`](invigil_semantics::Breakpoint), whose three states have numbers already.
pub(crate) struct OfCondition<E>(pub(crate) E);

impl<S: Evaluate> Reads<S> for OfCondition<S::Expr>
where
    S::Expr: Send + Sync,
{
    fn start(&self, _: &S) -> u32 {
        0
    }

    fn read(&self, subject: &S, step: StepRef<'_, S>, _: u32) -> u32 {
        // What cannot be evaluated is a reason to stop as well: going on would hide it.
        u32::from(subject.evaluate(&self.0, step).unwrap_or(true))
    }

    fn is_hit(&self, at: u32) -> bool {
        at == 1
    }

    fn is_hopeless(&self, _: u32) -> bool {
        false
    }

    fn fault(&self, subject: &S, step: StepRef<'_, S>) -> Option<String> {
        subject.evaluate(&self.0, step).err().map(|error| error.to_string())
    }
}

/// An automaton: its states are the sets of states in which it may be.
pub(crate) struct OfAutomaton<E> {
    automaton: Arc<Automaton<E>>,
    sets: Numbers<Vec<u32>>,
}

/// The state of an automaton that could not read a step.
const FAILED: u32 = u32::MAX;

impl<E> OfAutomaton<E> {
    pub(crate) fn new(automaton: Arc<Automaton<E>>) -> OfAutomaton<E> {
        OfAutomaton { automaton, sets: Numbers::new() }
    }
}

impl<S: Evaluate> Reads<S> for OfAutomaton<S::Expr>
where
    S::Expr: Send + Sync,
{
    fn start(&self, _: &S) -> u32 {
        self.sets.of(vec![self.automaton.initial])
    }

    fn read(&self, subject: &S, step: StepRef<'_, S>, at: u32) -> u32 {
        if step.source.is_none() && !self.automaton.reads_start {
            return at;
        }
        let mut reached = Vec::new();
        let before = self.sets.value(at).unwrap_or_default();
        for edge in before.iter().filter_map(|state| self.automaton.edges.get(*state as usize)).flatten() {
            match edge.label.as_ref().map(|label| subject.evaluate(label, step)) {
                None | Some(Ok(true)) => reached.push(edge.target),
                Some(Ok(false)) => {}
                // A finite automaton stops there; an infinite one tells it when infinite executions are sought.
                Some(Err(_)) if self.automaton.sets.is_none() => return self.sets.of(vec![FAILED]),
                Some(Err(_)) => {}
            }
        }
        reached.sort_unstable();
        reached.dedup();
        self.sets.of(reached)
    }

    fn is_hit(&self, at: u32) -> bool {
        let accepts = |state: &u32| {
            *state == FAILED || self.automaton.accepting.get(*state as usize).is_some_and(|accepts| *accepts)
        };
        self.sets.value(at).is_some_and(|set| set.iter().any(accepts))
    }

    fn is_hopeless(&self, at: u32) -> bool {
        self.sets.value(at).is_none_or(|set| set.is_empty())
    }

    fn fault(&self, subject: &S, step: StepRef<'_, S>) -> Option<String> {
        if step.source.is_none() && !self.automaton.reads_start {
            return None;
        }
        let labels = self.automaton.edges.iter().flatten().filter_map(|edge| edge.label.as_ref());
        labels.filter_map(|label| subject.evaluate(label, step).err()).map(|error| error.to_string()).next()
    }
}
