//! Execution of actions. This is the reference semantics with which every optimised engine must agree.

use crate::action::{ActionId, Statement};
use crate::expression::LValue;
use crate::fault::{Fault, FaultReason};
use crate::model::Model;
use crate::state::State;
use crate::value::Step;
use std::collections::HashSet;

impl Model {
    /// The initial configurations, in the order of the choices that lead to them.
    pub fn initial_states(&self) -> Vec<State> {
        let mut words = vec![0; self.layout().words];
        for (variable, slot) in self.parts().variables.iter().zip(&self.layout().slots) {
            for (index, value) in (0..).zip(&variable.initial) {
                slot.write(&mut words, index, *value);
            }
        }
        let mut states = DistinctStates::default();
        self.run(&self.parts().start, words.clone(), &mut |outcome| {
            let state = match outcome {
                Ok(words) => State::without_fault(&words),
                Err(reason) => faulted(&words, None, reason),
            };
            states.add(state);
        });
        states.list
    }

    /// Whether some process is at a committed location.
    fn is_committed(&self, words: &[u64]) -> bool {
        self.parts().processes.iter().any(|process| {
            let at = self.layout().slots[process.location as usize].read(words, 0);
            let location = usize::try_from(at).ok().and_then(|at| process.locations.get(at));
            location.is_some_and(|location| location.is_committed)
        })
    }

    /// Whether an action is enabled regardless of the other actions.
    fn is_possible(&self, words: &[u64], action: ActionId) -> Result<bool, FaultReason> {
        let definition = self.action(action);
        let is_at_sources = definition.moves.iter().all(|movement| {
            let process = &self.parts().processes[movement.process as usize];
            self.layout().slots[process.location as usize].read(words, 0) == i64::from(movement.from)
        });
        if !is_at_sources || (!self.is_from_committed(action) && self.is_committed(words)) {
            return Ok(false);
        }
        Ok(self.value(&definition.guard, Step::at(words))? != 0)
    }

    /// Whether an action is enabled. A fault in its guard is an error.
    pub fn is_enabled(&self, words: &[u64], action: ActionId) -> Result<bool, Fault> {
        let fault = |reason| Fault { action: Some(action), reason };
        if !self.is_possible(words, action).map_err(fault)? {
            return Ok(false);
        }
        let higher = self.ranks().iter().take_while(|rank| !rank.contains(&action)).flatten();
        // A fault in the guard precedes the evaluation of guards of lower priority.
        Ok(!higher.into_iter().any(|other| self.is_possible(words, *other).unwrap_or(true)))
    }

    /// The enabled actions in ascending order, including those whose guards raise a fault.
    pub fn enabled(&self, words: &[u64]) -> Vec<ActionId> {
        for rank in self.ranks() {
            let is_enabled = |action: &ActionId| self.is_possible(words, *action).unwrap_or(true);
            let enabled: Vec<ActionId> = rank.iter().copied().filter(is_enabled).collect();
            if !enabled.is_empty() {
                return enabled;
            }
        }
        Vec::new()
    }

    /// The configurations to which an enabled action leads: one for each combination of choices, without duplicates. A
    /// fault leads to a faulted configuration.
    pub fn outcomes(&self, words: &[u64], action: ActionId) -> Vec<State> {
        let definition = self.action(action);
        if let Err(reason) = self.value(&definition.guard, Step::at(words)) {
            return vec![faulted(words, Some(action), reason)];
        }
        let mut outcomes = DistinctStates::default();
        self.run(&definition.effect, words.to_vec(), &mut |outcome| {
            let outcome = match outcome {
                Ok(mut target) => {
                    for movement in &definition.moves {
                        let process = &self.parts().processes[movement.process as usize];
                        let slot = self.layout().slots[process.location as usize];
                        slot.write(&mut target, 0, i64::from(movement.to));
                    }
                    State::without_fault(&target)
                }
                Err(reason) => faulted(words, Some(action), reason),
            };
            outcomes.add(outcome);
        });
        outcomes.list
    }

    /// Executes statements and passes each outcome to `emit`.
    fn run(
        &self,
        statements: &[Statement],
        mut words: Vec<u64>,
        emit: &mut dyn FnMut(Result<Vec<u64>, FaultReason>),
    ) {
        for (at, statement) in statements.iter().enumerate() {
            if let Statement::Choose { place, low, high } = statement {
                for value in *low..=*high {
                    let mut chosen = words.clone();
                    match self.store(&mut chosen, place, value, false) {
                        Ok(()) => self.run(&statements[at + 1..], chosen, emit),
                        Err(reason) => emit(Err(reason)),
                    }
                }
                return;
            }
            match self.statement(statement, &mut words) {
                Ok(true) => {}
                Ok(false) => return,
                Err(reason) => return emit(Err(reason)),
            }
        }
        emit(Ok(words));
    }

    /// Executes a statement without choices. Returns whether there is an outcome.
    fn statement(&self, statement: &Statement, words: &mut [u64]) -> Result<bool, FaultReason> {
        match statement {
            Statement::Assign { place, value, wraps } => {
                let value = self.value(value, Step::at(words))?;
                self.store(words, place, value, *wraps)?;
            }
            // `run` has made the choices, and choices under conditions are not allowed.
            Statement::Choose { .. } => {}
            Statement::Require(condition) => return Ok(self.value(condition, Step::at(words))? != 0),
            Statement::If { condition, then, otherwise } => {
                let part = if self.value(condition, Step::at(words))? != 0 { then } else { otherwise };
                for inside in part {
                    if !self.statement(inside, words)? {
                        return Ok(false);
                    }
                }
            }
            Statement::Assert { condition, message } => {
                if self.value(condition, Step::at(words))? == 0 {
                    return Err(FaultReason::Assertion(message.clone()));
                }
            }
        }
        Ok(true)
    }

    /// Stores a value. The index is evaluated after the value.
    fn store(&self, words: &mut [u64], place: &LValue, value: i64, wraps: bool) -> Result<(), FaultReason> {
        let index = self.index(place, Step::at(words))?;
        let variable = self.variable(place.variable);
        if !wraps && !variable.domain.holds(value) {
            let (low, high) = variable.domain.range();
            let place = match variable.length {
                Some(_) => format!("{}[{index}]", variable.name),
                None => variable.name.clone(),
            };
            return Err(FaultReason::OutOfRange { place, value, low, high });
        }
        self.layout().slots[place.variable as usize].write(words, index, value);
        Ok(())
    }
}

/// Set of configurations: different choices can lead to equal ones.
#[derive(Default)]
struct DistinctStates {
    list: Vec<State>,
    /// The same configurations, used once there are many.
    set: HashSet<State>,
}

impl DistinctStates {
    /// Maximum number of configurations that are searched linearly.
    const MAX_LINEAR: usize = 16;

    fn add(&mut self, state: State) {
        if self.list.len() < Self::MAX_LINEAR {
            if !self.list.contains(&state) {
                self.list.push(state);
            }
            return;
        }
        if self.set.is_empty() {
            self.set.extend(self.list.iter().cloned());
        }
        if self.set.insert(state.clone()) {
            self.list.push(state);
        }
    }
}

fn faulted(words: &[u64], action: Option<ActionId>, reason: FaultReason) -> State {
    State { words: words.into(), fault: Some(Box::new(Fault { action, reason })) }
}
