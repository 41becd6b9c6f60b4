//! Boolean combinations of machines.

use crate::automaton::State;
use crate::label::Labels;
use crate::moore::{LogicalVerdict, Moore};
use crate::word::Letter;
use crate::{Budget, TooLarge};

/// Gate of a Boolean circuit over the verdicts of machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Verdict of a part.
    Part(usize),
    /// Negation of a gate.
    Not(usize),
    /// Conjunction of gates.
    All(Vec<usize>),
    /// Disjunction of gates.
    Any(Vec<usize>),
}

/// Boolean combination of machines that read the same letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Composite<Output> {
    /// Machines.
    pub parts: Vec<Moore<Output>>,
    /// Circuit over their verdicts. A gate refers to earlier gates only; the last gate is the output.
    pub gates: Vec<Gate>,
}

impl<Output: LogicalVerdict> Composite<Output> {
    /// Returns the total number of states of all parts.
    pub fn states(&self) -> usize {
        self.parts.iter().map(Moore::states).sum()
    }

    /// Returns the initial state of each part.
    pub fn start(&self) -> Vec<State> {
        self.parts.iter().map(|part| part.initial).collect()
    }

    /// Updates the state of each part for a letter.
    pub fn step(&self, labels: &Labels, states: &mut [State], letter: &Letter) {
        for (part, state) in self.parts.iter().zip(states) {
            *state = part.next(labels, *state, letter);
        }
    }

    /// Returns the output for these states of the parts.
    pub fn output(&self, states: &[State]) -> Option<Output> {
        evaluate(&self.gates, |part| self.parts.get(part)?.outputs.get(*states.get(part)? as usize).copied())
    }

    /// Builds the minimal single machine with the same output.
    ///
    /// # Errors
    /// Fails if the machine outgrows the budget, which is likely for many parts.
    pub fn flatten(&self, labels: &Labels, budget: &Budget) -> Result<Moore<Output>, TooLarge> {
        let mut machines: Vec<Option<Moore<Output>>> = Vec::with_capacity(self.gates.len());
        for gate in &self.gates {
            let mut whole: Option<Moore<Output>> = None;
            match gate {
                Gate::Part(part) => whole = self.parts.get(*part).cloned(),
                Gate::Not(of) => {
                    whole = machines[*of].clone().map(|machine| machine.map(LogicalVerdict::not))
                }
                Gate::All(of) | Gate::Any(of) => {
                    let combine = if matches!(gate, Gate::All(_)) { Output::and } else { Output::or };
                    for next in of {
                        let next = machines[*next].clone();
                        whole = match (whole, next) {
                            (Some(one), Some(other)) => Some(one.product(&other, labels, budget, combine)?),
                            (one, other) => one.or(other),
                        };
                    }
                }
            }
            machines.push(whole);
        }
        // `decompose` guarantees a last gate, and a machine for every gate.
        machines.pop().flatten().ok_or(TooLarge { resource: "parts of a monitor", limit: self.gates.len() })
    }
}

/// Evaluates the circuit. Returns the value of the last gate.
fn evaluate<Output: LogicalVerdict>(
    gates: &[Gate],
    part: impl Fn(usize) -> Option<Output>,
) -> Option<Output> {
    let mut values: Vec<Option<Output>> = Vec::with_capacity(gates.len());
    for gate in gates {
        let of = |at: &usize| values.get(*at).copied().flatten();
        let fold = |all: &[usize], combine: fn(Output, Output) -> Output| {
            all.iter().map(of).reduce(|one, other| Some(combine(one?, other?))).flatten()
        };
        let value = match gate {
            Gate::Part(at) => part(*at),
            Gate::Not(at) => of(at).map(LogicalVerdict::not),
            Gate::All(all) => fold(all, Output::and),
            Gate::Any(all) => fold(all, Output::or),
        };
        values.push(value);
    }
    values.pop().flatten()
}
