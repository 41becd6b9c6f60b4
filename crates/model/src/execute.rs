//! What actions do: the plain definition, which every faster way must agree with.

use crate::action::{ActionId, Statement};
use crate::expression::Place;
use crate::fault::{Fault, Reason};
use crate::model::Model;
use crate::state::State;
use crate::value::Step;
use std::collections::HashSet;

impl Model {
    /// The first configurations, in the order of the choices that lead to them.
    pub fn starts(&self) -> Vec<State> {
        let mut words = vec![0; self.layout().words];
        for (variable, slot) in self.parts().variables.iter().zip(&self.layout().slots) {
            for (index, value) in (0..).zip(&variable.initial) {
                slot.write(&mut words, index, *value);
            }
        }
        let mut starts = Once::default();
        self.run(&self.parts().start, words.clone(), &mut |outcome| {
            let start = match outcome {
                Ok(words) => State::sound(&words),
                Err(reason) => broken(&words, None, reason),
            };
            starts.add(start);
        });
        starts.list
    }

    /// Whether some process is at a committed location.
    fn is_committed(&self, words: &[u64]) -> bool {
        self.parts().processes.iter().any(|process| {
            let at = self.layout().slots[process.location as usize].read(words, 0);
            let location = usize::try_from(at).ok().and_then(|at| process.locations.get(at));
            location.is_some_and(|location| location.is_committed)
        })
    }

    /// Whether an action is enabled by itself, whatever else is.
    fn is_possible(&self, words: &[u64], action: ActionId) -> Result<bool, Reason> {
        let by = self.action(action);
        let is_there = by.moves.iter().all(|by| {
            let process = &self.parts().processes[by.process as usize];
            self.layout().slots[process.location as usize].read(words, 0) == i64::from(by.from)
        });
        if !is_there || (!self.is_from_committed(action) && self.is_committed(words)) {
            return Ok(false);
        }
        Ok(self.value(&by.guard, Step::at(words))? != 0)
    }

    /// Whether an action is enabled. One whose guard goes wrong is an error.
    pub fn is_enabled(&self, words: &[u64], action: ActionId) -> Result<bool, Fault> {
        let fault = |reason| Fault { action: Some(action), reason };
        if !self.is_possible(words, action).map_err(fault)? {
            return Ok(false);
        }
        let higher = self.ranks().iter().take_while(|rank| !rank.contains(&action)).flatten();
        // A guard that goes wrong does so before those of lower priority are looked at.
        Ok(!higher.into_iter().any(|other| self.is_possible(words, *other).unwrap_or(true)))
    }

    /// The enabled actions in the order of their numbers, those whose guards go wrong included.
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

    /// Where an enabled action leads: one configuration for each way to make its choices, each once. One that goes
    /// wrong leads to a broken one.
    pub fn outcomes(&self, words: &[u64], action: ActionId) -> Vec<State> {
        let by = self.action(action);
        if let Err(reason) = self.value(&by.guard, Step::at(words)) {
            return vec![broken(words, Some(action), reason)];
        }
        let mut outcomes = Once::default();
        self.run(&by.effect, words.to_vec(), &mut |outcome| {
            let outcome = match outcome {
                Ok(mut target) => {
                    for by in &by.moves {
                        let process = &self.parts().processes[by.process as usize];
                        let slot = self.layout().slots[process.location as usize];
                        slot.write(&mut target, 0, i64::from(by.to));
                    }
                    State::sound(&target)
                }
                Err(reason) => broken(words, Some(action), reason),
            };
            outcomes.add(outcome);
        });
        outcomes.list
    }

    /// Runs statements, telling each outcome.
    fn run(
        &self,
        statements: &[Statement],
        mut words: Vec<u64>,
        tell: &mut dyn FnMut(Result<Vec<u64>, Reason>),
    ) {
        for (at, statement) in statements.iter().enumerate() {
            if let Statement::Choose { place, low, high } = statement {
                for value in *low..=*high {
                    let mut chosen = words.clone();
                    match self.store(&mut chosen, place, value, false) {
                        Ok(()) => self.run(&statements[at + 1..], chosen, tell),
                        Err(reason) => tell(Err(reason)),
                    }
                }
                return;
            }
            match self.statement(statement, &mut words) {
                Ok(true) => {}
                Ok(false) => return,
                Err(reason) => return tell(Err(reason)),
            }
        }
        tell(Ok(words));
    }

    /// Runs a statement that chooses nothing; says whether there is an outcome at all.
    fn statement(&self, statement: &Statement, words: &mut [u64]) -> Result<bool, Reason> {
        match statement {
            Statement::Assign { place, value, wraps } => {
                let value = self.value(value, Step::at(words))?;
                self.store(words, place, value, *wraps)?;
            }
            // `run` has made the choices, and there are none under conditions.
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
                    return Err(Reason::Assertion(message.clone()));
                }
            }
        }
        Ok(true)
    }

    /// Lets a place hold a value. The index is found after the value.
    fn store(&self, words: &mut [u64], place: &Place, value: i64, wraps: bool) -> Result<(), Reason> {
        let index = self.index(place, Step::at(words))?;
        let variable = self.variable(place.variable);
        if !wraps && !variable.kind.holds(value) {
            let (low, high) = variable.kind.range();
            let place = match variable.length {
                Some(_) => format!("{}[{index}]", variable.name),
                None => variable.name.clone(),
            };
            return Err(Reason::OutOfRange { place, value, low, high });
        }
        self.layout().slots[place.variable as usize].write(words, index, value);
        Ok(())
    }
}

/// Configurations, each once: choices that make no difference give one.
#[derive(Default)]
struct Once {
    list: Vec<State>,
    /// The same, once there are many.
    set: HashSet<State>,
}

impl Once {
    /// How many can be looked through one by one.
    const FEW: usize = 16;

    fn add(&mut self, state: State) {
        if self.list.len() < Self::FEW {
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

fn broken(words: &[u64], action: Option<ActionId>, reason: Reason) -> State {
    State { words: words.into(), fault: Some(Box::new(Fault { action, reason })) }
}
