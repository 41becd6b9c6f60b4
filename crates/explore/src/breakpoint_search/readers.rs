//! Common interface of everything that reads steps. States are numbers.

use crate::breakpoint_search::Automaton;
use indexmap::IndexSet;
use invigil_semantics::{Accepting, Dependent, Evaluate, Language, StepRef};
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// Reads the steps of a subject until a breakpoint is hit.
pub(crate) trait StepReader<S: Language>: Send + Sync {
    /// The state before any step.
    fn start(&self, subject: &S) -> u32;

    /// The state after a step.
    fn read(&self, subject: &S, step: StepRef<'_, S>, at: u32) -> u32;

    /// Whether the state is a hit.
    fn is_hit(&self, at: u32) -> bool;

    /// Whether no further step can lead to a hit.
    fn cannot_hit(&self, at: u32) -> bool;

    /// Why a step could not be read.
    fn fault(&self, subject: &S, step: StepRef<'_, S>) -> Option<String>;
}

/// Values that are numbered on demand.
pub(crate) struct Numbering<T>(Mutex<IndexSet<T>>);

impl<T: Clone + Eq + Hash> Numbering<T> {
    pub(crate) fn new() -> Numbering<T> {
        Numbering(Mutex::new(IndexSet::new()))
    }

    pub(crate) fn of(&self, value: T) -> u32 {
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        values.insert_full(value).0 as u32
    }

    pub(crate) fn value(&self, number: u32) -> Option<T> {
        let values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        values.get_index(number as usize).cloned()
    }
}

/// Reader of any property. Its states are sets of the property's configurations.
pub(crate) struct PropertyReader<P: Language> {
    property: P,
    sets: Numbering<Vec<P::Config>>,
}

impl<P: Language> PropertyReader<P> {
    pub(crate) fn new(property: P) -> PropertyReader<P> {
        PropertyReader { property, sets: Numbering::new() }
    }
}

impl<S: Language, P: Dependent<S> + Accepting + Send + Sync> StepReader<S> for PropertyReader<P>
where
    P::Config: Send,
{
    fn start(&self, subject: &S) -> u32 {
        self.sets.of(self.property.initial(subject).into_iter().collect())
    }

    fn read(&self, subject: &S, step: StepRef<'_, S>, at: u32) -> u32 {
        let mut successors = Vec::new();
        for before in self.sets.value(at).unwrap_or_default() {
            for action in self.property.actions(subject, step, &before) {
                for config in self.property.execute(subject, step, &before, &action) {
                    if !successors.contains(&config) {
                        successors.push(config);
                    }
                }
            }
        }
        self.sets.of(successors)
    }

    fn is_hit(&self, at: u32) -> bool {
        self.sets.value(at).is_some_and(|set| set.iter().any(|config| self.property.is_accepting(config)))
    }

    fn cannot_hit(&self, at: u32) -> bool {
        self.sets.value(at).is_none_or(|set| set.is_empty())
    }

    fn fault(&self, _: &S, _: StepRef<'_, S>) -> Option<String> {
        None
    }
}

/// Reader of a condition, like [`Breakpoint`](invigil_semantics::Breakpoint). State 1 is a hit or an evaluation error.
pub(crate) struct ConditionReader<E>(pub(crate) E);

impl<S: Evaluate> StepReader<S> for ConditionReader<S::Expr>
where
    S::Expr: Send + Sync,
{
    fn start(&self, _: &S) -> u32 {
        0
    }

    fn read(&self, subject: &S, step: StepRef<'_, S>, _: u32) -> u32 {
        // A condition that cannot be evaluated is a hit as well: continuing would hide the error.
        u32::from(subject.evaluate(&self.0, step).unwrap_or(true))
    }

    fn is_hit(&self, at: u32) -> bool {
        at == 1
    }

    fn cannot_hit(&self, _: u32) -> bool {
        false
    }

    fn fault(&self, subject: &S, step: StepRef<'_, S>) -> Option<String> {
        subject.evaluate(&self.0, step).err().map(|error| error.to_string())
    }
}

/// Reader of an automaton. Its states are sets of the automaton's states.
pub(crate) struct AutomatonReader<E> {
    automaton: Arc<Automaton<E>>,
    sets: Numbering<Vec<u32>>,
}

/// The state of an automaton after an evaluation error.
const FAILED: u32 = u32::MAX;

impl<E> AutomatonReader<E> {
    pub(crate) fn new(automaton: Arc<Automaton<E>>) -> AutomatonReader<E> {
        AutomatonReader { automaton, sets: Numbering::new() }
    }
}

impl<S: Evaluate> StepReader<S> for AutomatonReader<S::Expr>
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
        let mut targets = Vec::new();
        let before = self.sets.value(at).unwrap_or_default();
        for edge in before.iter().filter_map(|state| self.automaton.edges.get(*state as usize)).flatten() {
            match edge.label.as_ref().map(|label| subject.evaluate(label, step)) {
                None | Some(Ok(true)) => targets.push(edge.target),
                Some(Ok(false)) => {}
                // A finite automaton stops at the error; an infinite one reports it in the search for infinite
                // executions.
                Some(Err(_)) if self.automaton.sets.is_none() => return self.sets.of(vec![FAILED]),
                Some(Err(_)) => {}
            }
        }
        targets.sort_unstable();
        targets.dedup();
        self.sets.of(targets)
    }

    fn is_hit(&self, at: u32) -> bool {
        let accepts = |state: &u32| {
            *state == FAILED || self.automaton.accepting.get(*state as usize).is_some_and(|accepts| *accepts)
        };
        self.sets.value(at).is_some_and(|set| set.iter().any(accepts))
    }

    fn cannot_hit(&self, at: u32) -> bool {
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
