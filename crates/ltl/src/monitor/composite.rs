//! Machines side by side, and connectives over what they say.

use crate::automaton::State;
use crate::label::Labels;
use crate::moore::{Logical, Moore};
use crate::word::Letter;
use crate::{Budget, TooLarge};

/// How verdicts are combined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    /// What a part says.
    Part(usize),
    /// The negation of a gate.
    Not(usize),
    /// The conjunction of gates.
    All(Vec<usize>),
    /// The disjunction of gates.
    Any(Vec<usize>),
}

/// A Boolean combination of machines that step together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Composite<Output> {
    /// The machines.
    pub parts: Vec<Moore<Output>>,
    /// How their verdicts are combined. A gate only speaks of gates before it; the last one is the whole.
    pub gates: Vec<Gate>,
}

impl<Output: Logical> Composite<Output> {
    /// The states of all parts together.
    pub fn states(&self) -> usize {
        self.parts.iter().map(Moore::states).sum()
    }

    /// The state of each part before the first letter.
    pub fn start(&self) -> Vec<State> {
        self.parts.iter().map(|part| part.initial).collect()
    }

    /// The state of each part after a letter.
    pub fn step(&self, labels: &Labels, states: &mut [State], letter: &Letter) {
        for (part, state) in self.parts.iter().zip(states) {
            *state = part.next(labels, *state, letter);
        }
    }

    /// What is said when the parts are in these states.
    pub fn output(&self, states: &[State]) -> Option<Output> {
        combine(&self.gates, |part| self.parts.get(part)?.outputs.get(*states.get(part)? as usize).copied())
    }

    /// One machine that says the same, the smallest one.
    ///
    /// # Errors
    /// If it grows beyond the budget: it has to remember every combination of states.
    pub fn flatten(&self, labels: &Labels, budget: &Budget) -> Result<Moore<Output>, TooLarge> {
        let mut made: Vec<Option<Moore<Output>>> = Vec::with_capacity(self.gates.len());
        for gate in &self.gates {
            let mut whole: Option<Moore<Output>> = None;
            match gate {
                Gate::Part(part) => whole = self.parts.get(*part).cloned(),
                Gate::Not(of) => whole = made[*of].clone().map(|machine| machine.map(Logical::not)),
                Gate::All(of) | Gate::Any(of) => {
                    let say = if matches!(gate, Gate::All(_)) { Output::and } else { Output::or };
                    for next in of {
                        let next = made[*next].clone();
                        whole = match (whole, next) {
                            (Some(one), Some(other)) => Some(one.product(&other, labels, budget, say)?),
                            (one, other) => one.or(other),
                        };
                    }
                }
            }
            made.push(whole);
        }
        // There is always a last gate, and every gate has a machine: they are made so.
        made.pop().flatten().ok_or(TooLarge { what: "parts of a monitor", limit: self.gates.len() })
    }
}

/// The value of the last gate.
fn combine<Output: Logical>(gates: &[Gate], part: impl Fn(usize) -> Option<Output>) -> Option<Output> {
    let mut values: Vec<Option<Output>> = Vec::with_capacity(gates.len());
    for gate in gates {
        let of = |at: &usize| values.get(*at).copied().flatten();
        let fold = |all: &[usize], say: fn(Output, Output) -> Output| {
            all.iter().map(of).reduce(|one, other| Some(say(one?, other?))).flatten()
        };
        let value = match gate {
            Gate::Part(at) => part(*at),
            Gate::Not(at) => of(at).map(Logical::not),
            Gate::All(all) => fold(all, Output::and),
            Gate::Any(all) => fold(all, Output::or),
        };
        values.push(value);
    }
    values.pop().flatten()
}
