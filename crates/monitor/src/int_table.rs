//! Integer tables: properties that only compare and add integers step in a few nanoseconds.
//!
//! Used by embedded monitors. A table covers the simple transitions. If it does not cover a transition, or a
//! reaction is due, it changes nothing and the general path runs.
//!
//! The table of an unsliced property holds the values of the environment and is [ahead](IntTable::is_ahead) of
//! its slice table. The [table](SlicedIntTable) of a property with one slice parameter leaves the values in the
//! slices and only determines the transition.

use crate::automaton::{Automaton, StateId};
use crate::embedded::{REACT_ON_ENTRY, REACT_ON_EXIT};
use crate::event::EventId;
use crate::fast_path::{FastEffect, FastGuard, FastTransition, OperandRef, Sum};
use crate::short_copy;
use crate::slices::SliceTable;
use alloc::vec;
use alloc::vec::Vec;
use invigil_expr::program::FastOperand as Operand;
use invigil_expr::value::{Tag, Value};

/// Number of values: environment, constants, a sink and event parameters. Every index that fits a byte is
/// valid.
const VALUES: usize = 256;
/// Index of the first event parameter.
const PARAMS: usize = 240;

/// Behaviour of one state on one event. Operands are indexes into the values.
#[derive(Clone, Copy, Debug)]
struct TableCell {
    /// Whether there is a test: `a < b`, or `a == b` if `is_equality`.
    has_test: bool,
    is_equality: bool,
    a: u8,
    b: u8,
    /// The number of event parameters that must be present.
    params: u8,
    success: TableEffect,
}

/// `values[to] = values[a] + values[b]`, and the next state.
#[derive(Clone, Copy, Debug)]
struct TableEffect {
    target: StateId,
    to: u8,
    a: u8,
    b: u8,
    /// The result; the sum is stored only if a transition is taken.
    result: TableStep,
}

const UNKNOWN_EFFECT: TableEffect = TableEffect { target: 0, to: 0, a: 0, b: 0, result: TableStep::Unknown };
const UNKNOWN: TableCell =
    TableCell { has_test: false, is_equality: false, a: 0, b: 0, params: 0, success: UNKNOWN_EFFECT };

/// Result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableStep {
    /// A transition was taken.
    Taken,
    /// The state has a transition on the event, and none was taken.
    Stayed,
    /// The state has no transition on the event.
    NotNeeded,
    /// The table does not apply: the general path must run. Nothing has been changed.
    Unknown,
}

/// Behaviour of all states on all events.
#[derive(Clone, Debug)]
struct TransitionTable {
    /// Per event, the cells of all states.
    cells: Vec<TableCell>,
    /// Per cell, the outcome if its test fails. Stored separately, so that the branch is predicted instead of
    /// waiting for a load.
    failures: Vec<TableEffect>,
    states: usize,
    values: [i64; VALUES],
    /// The number of variables of the environment.
    env: usize,
}

/// Table and state of an unsliced property; see the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct IntTable {
    table: TransitionTable,
    state: StateId,
    /// Whether the table has stepped beyond the slice table.
    is_ahead: bool,
}

/// Table of a property with one slice parameter; see the module.
#[derive(Clone, Debug)]
pub(crate) struct SlicedIntTable {
    table: TransitionTable,
    /// Per event, the index of the parameter with the slice parameter, if the event binds it.
    pub(crate) keys: Vec<Option<u16>>,
}

/// Layout of the values.
struct Layout {
    env: usize,
    /// The constants, after the environment. Zero is first.
    constants: Vec<i64>,
}

impl Layout {
    /// The index of the sink, which is written and never read.
    fn sink(&self) -> usize {
        self.env + self.constants.len()
    }

    fn constant(&self, constant: i64) -> Option<u8> {
        let at = self.constants.iter().position(|known| *known == constant)?;
        u8::try_from(self.env + at).ok()
    }

    fn value_index(&self, fast: &FastTransition, operand: OperandRef) -> Option<u8> {
        match fast.operand(operand)? {
            Operand::Env(at) => u8::try_from(at).ok(),
            Operand::Param(at) => u8::try_from(PARAMS + usize::from(at)).ok(),
            Operand::Int(constant) => self.constant(constant),
        }
    }

    fn effect(
        &self,
        fast: &FastTransition,
        effect: &FastEffect,
        is_due: &impl Fn(StateId) -> bool,
    ) -> Option<TableEffect> {
        let (sum, target) = match effect {
            FastEffect::Absent => return Some(TableEffect { result: TableStep::Stayed, ..UNKNOWN_EFFECT }),
            FastEffect::Usual(sum, target) if !is_due(*target) => (sum, *target),
            FastEffect::Usual(..) | FastEffect::Unusual => return Some(UNKNOWN_EFFECT),
        };
        let (to, a, b) = match *sum {
            Some(Sum { slot, a, b }) => {
                (u8::try_from(slot).ok()?, self.value_index(fast, a)?, self.value_index(fast, b)?)
            }
            None => (u8::try_from(self.sink()).ok()?, self.constant(0)?, self.constant(0)?),
        };
        Some(TableEffect { target, to, a, b, result: TableStep::Taken })
    }

    fn cell(
        &self,
        fast: &FastTransition,
        is_due: impl Fn(StateId) -> bool,
    ) -> Option<(TableCell, TableEffect)> {
        let (test, is_equality, is_negated) = match fast.guard {
            FastGuard::Always => (None, false, false),
            FastGuard::Less { a, b, is_negated } => (Some((a, b)), false, is_negated),
            FastGuard::Equal { a, b, is_negated } => (Some((a, b)), true, is_negated),
        };
        let (a, b) = match test {
            Some((a, b)) => (self.value_index(fast, a)?, self.value_index(fast, b)?),
            None => (0, 0),
        };
        let (success, failure) =
            (self.effect(fast, &fast.success, &is_due)?, self.effect(fast, &fast.failure, &is_due)?);
        let (success, failure) = if is_negated { (failure, success) } else { (success, failure) };
        Some((TableCell { has_test: test.is_some(), is_equality, a, b, params: 0, success }, failure))
    }
}

impl Default for TransitionTable {
    /// A table that covers nothing.
    fn default() -> TransitionTable {
        TransitionTable {
            cells: Vec::new(),
            failures: Vec::new(),
            states: 0,
            values: [0; VALUES],
            // More variables than any property has.
            env: usize::MAX,
        }
    }
}

impl TransitionTable {
    /// `None` if there are too many variables and constants.
    fn new(automaton: &Automaton, reactions: &[u8]) -> Option<TransitionTable> {
        let fast_transitions = automaton.cells.iter().filter_map(|cell| cell.fast.as_ref());
        let env = automaton.env.len();
        let mut layout = Layout { env, constants: vec![0] };
        for constant in fast_transitions.flat_map(FastTransition::constants) {
            if layout.constant(constant).is_none() {
                layout.constants.push(constant);
            }
        }
        let mut values = [0; VALUES];
        values.get_mut(env..layout.sink())?.copy_from_slice(&layout.constants);
        if layout.sink() >= PARAMS {
            return None;
        }
        let (states, event_ids) = (automaton.states.len(), automaton.dispatch_table.len());
        let mut cells = vec![UNKNOWN; states * event_ids];
        let mut failures = vec![UNKNOWN_EFFECT; states * event_ids];
        for state in 0..automaton.states.len() {
            for event_id in 0..event_ids {
                let cell = automaton.cell(state as StateId, event_id);
                let at = event_id * states + state;
                if cell.compiled.is_empty() {
                    cells[at].success.result = TableStep::NotNeeded;
                    continue;
                }
                let Some(fast) = cell.fast.as_ref().filter(|fast| cell.decision.is_none() && !fast.prints)
                else {
                    continue;
                };
                let params = cell.required.iter().max().map_or(0, |last| last + 1);
                let Ok(params) = u8::try_from(params) else { continue };
                let from = state as StateId;
                let reactions_of =
                    |state: StateId| reactions.get(usize::from(state)).copied().unwrap_or_default();
                let is_due = |to: StateId| {
                    reactions_of(from) & REACT_ON_EXIT != 0
                        || reactions_of(to) & REACT_ON_ENTRY != 0
                        || automaton.is_violation(from, to)
                };
                if let Some((cell, failure)) = layout.cell(fast, is_due) {
                    (cells[at], failures[at]) = (TableCell { params, ..cell }, failure);
                }
            }
        }
        Some(TransitionTable { cells, failures, states, values, env })
    }

    /// The outcome of an event in a cell; `value` loads operands.
    #[inline(always)]
    fn effect(&self, at: usize, params: usize, value: impl Fn(u8) -> Option<i64>) -> Option<&TableEffect> {
        let cell = self.cells.get(at)?;
        if params < usize::from(cell.params) {
            return Some(&UNKNOWN_EFFECT);
        }
        // Branches of a program usually repeat and are predicted; a selection between two loads would have to
        // be waited for.
        let holds = if !cell.has_test {
            true
        } else {
            let (Some(a), Some(b)) = (value(cell.a), value(cell.b)) else { return Some(&UNKNOWN_EFFECT) };
            if cell.is_equality { a == b } else { a < b }
        };
        if holds { Some(&cell.success) } else { self.failures.get(at) }
    }
}

impl IntTable {
    /// `None` if the property is sliced, or has too many variables and constants.
    pub(crate) fn new(automaton: &Automaton, reactions: &[u8]) -> Option<IntTable> {
        if !automaton.slice_on.is_empty() {
            return None;
        }
        Some(IntTable { table: TransitionTable::new(automaton, reactions)?, state: 0, is_ahead: false })
    }

    /// Takes over the state of the slice table, if all variables are integers.
    pub(crate) fn load(&mut self, slices: &SliceTable) {
        let Some(root) = slices.root().filter(|_| slices.len() == 1 && slices.fault().is_none()) else {
            return;
        };
        let env = slices.env(root);
        if env.len() == self.table.env && env.iter().all(|value| value.as_int().is_some()) {
            for (to, value) in self.table.values.iter_mut().zip(env) {
                *to = value.as_int().unwrap_or_default();
            }
            self.state = slices.state(root);
            self.is_ahead = true;
        }
    }

    /// Steps on an event with integer parameters.
    #[inline(always)]
    pub(crate) fn step(&mut self, event_id: EventId, params: &[i64]) -> TableStep {
        if !self.is_ahead {
            return TableStep::Unknown;
        }
        let at = event_id.0 as usize * self.table.states + usize::from(self.state);
        short_copy::copy(&mut self.table.values[PARAMS..], params, |param| param);
        let values = &self.table.values;
        let Some(&effect) = self.table.effect(at, params.len(), |at| Some(values[usize::from(at)])) else {
            return TableStep::NotNeeded;
        };
        if effect.result != TableStep::Taken {
            return effect.result;
        }
        let values = &mut self.table.values;
        let Some(sum) = values[usize::from(effect.a)].checked_add(values[usize::from(effect.b)]) else {
            return TableStep::Unknown;
        };
        values[usize::from(effect.to)] = sum;
        if self.state != effect.target {
            self.state = effect.target;
        }
        TableStep::Taken
    }

    /// Writes the state of the table back to `slices`.
    pub(crate) fn store(&mut self, automaton: &Automaton, slices: &mut SliceTable) {
        if let Some(root) = slices.root().filter(|_| self.is_ahead) {
            for (variable, value) in self.table.values.iter().take(self.table.env).enumerate() {
                slices.set_env(root, variable, Value::int(*value));
            }
            slices.set_state(automaton, root, self.state);
        }
        self.is_ahead = false;
    }

    /// Whether the slice table is out of date.
    pub(crate) fn is_ahead(&self) -> bool {
        self.is_ahead
    }

    /// Whether the current state has a transition on the event.
    pub(crate) fn needs_event(&self, event_id: EventId) -> bool {
        let at = event_id.0 as usize * self.table.states + usize::from(self.state);
        self.table.cells.get(at).is_some_and(|cell| cell.success.result != TableStep::NotNeeded)
    }
}

impl SlicedIntTable {
    /// `None` if the property does not have exactly one slice parameter, or has too many variables and constants.
    pub(crate) fn new(automaton: &Automaton, reactions: &[u8]) -> Option<SlicedIntTable> {
        if automaton.slice_on.len() != 1 {
            return None;
        }
        let keys = automaton.dispatch_table.iter().map(|dispatch| dispatch.single).collect();
        Some(SlicedIntTable { table: TransitionTable::new(automaton, reactions)?, keys })
    }

    /// Steps the slice of an event with integer parameters, if it exists.
    #[inline(always)]
    pub(crate) fn step(
        &self,
        automaton: &Automaton,
        slices: &mut SliceTable,
        event_id: EventId,
        params: &[i64],
    ) -> TableStep {
        let Some(Some(key)) = self.keys.get(event_id.0 as usize) else { return TableStep::Unknown };
        let Some(key) = params.get(usize::from(*key)) else { return TableStep::Unknown };
        if slices.failure.is_some() {
            return TableStep::Unknown;
        }
        let Some(slice) = slices.single(Value::int(*key), "", None) else { return TableStep::Unknown };
        let from = slices.records.head(slice).state;
        match self.step_slice(event_id, from, params, slices.records.env_mut(slice)) {
            (TableStep::Taken, to) => {
                if from != to {
                    slices.records.set_state(slice, to);
                    slices.move_slice(automaton, from, to);
                }
                TableStep::Taken
            }
            // Another slice may need the event.
            (TableStep::NotNeeded, _) if slices.needs_event(event_id) => TableStep::Stayed,
            (other, _) => other,
        }
    }

    /// Steps a slice in state `from`: updates its environment, and returns the result and its next state.
    #[inline(always)]
    pub(crate) fn step_slice(
        &self,
        event_id: EventId,
        from: StateId,
        params: &[i64],
        env: &mut [Value],
    ) -> (TableStep, StateId) {
        let at = event_id.0 as usize * self.table.states + usize::from(from);
        let value = |at: u8| {
            let at = usize::from(at);
            match env.get(at) {
                Some(variable) => variable.as_int(),
                None if at >= PARAMS => params.get(at - PARAMS).copied(),
                None => Some(self.table.values[at]),
            }
        };
        let Some(&effect) = self.table.effect(at, params.len(), value) else {
            return (TableStep::NotNeeded, from);
        };
        if effect.result != TableStep::Taken {
            return (effect.result, from);
        }
        let sum = value(effect.a).zip(value(effect.b)).and_then(|(a, b)| a.checked_add(b));
        let Some(sum) = sum else { return (TableStep::Unknown, from) };
        match env.get_mut(usize::from(effect.to)) {
            // An object would have to be released.
            Some(variable) if variable.is(Tag::Object) => return (TableStep::Unknown, from),
            Some(variable) => *variable = Value::int(sum),
            None => {}
        }
        (TableStep::Taken, effect.target)
    }
}
