//! Evaluation of the edge labels of ω-automata.

use invigil_model::{Fault, Model, OmegaAutomaton, Step};

/// Evaluates which edges of an automaton are enabled on a step.
pub trait LabelEvaluator: Sync {
    /// The initial state, before the first configuration is read.
    fn initial(&self) -> u32;

    /// The number of states, which are numbered from 0. If it is known, a product can store the state in fewer bits.
    fn states(&self) -> u32 {
        u32::MAX
    }

    /// The number of acceptance sets.
    fn acceptance_set_count(&self) -> u32;

    /// Appends the edges of `at` that are enabled on this step, as pairs of target and marks.
    fn edges(&self, at: u32, step: Step<'_>, out: &mut Vec<(u32, u64)>) -> Result<(), Fault>;
}

/// Evaluates labels by interpretation.
pub struct InterpretedLabels<'a> {
    /// The model that the labels refer to.
    pub model: &'a Model,
    /// The automaton.
    pub omega: &'a OmegaAutomaton,
}

impl LabelEvaluator for InterpretedLabels<'_> {
    fn initial(&self) -> u32 {
        self.omega.initial
    }

    fn states(&self) -> u32 {
        self.omega.edges.len() as u32
    }

    fn acceptance_set_count(&self) -> u32 {
        self.omega.sets
    }

    fn edges(&self, at: u32, step: Step<'_>, out: &mut Vec<(u32, u64)>) -> Result<(), Fault> {
        for edge in &self.omega.edges[at as usize] {
            if self.model.holds(&edge.label, step)? {
                out.push((edge.target, edge.marks));
            }
        }
        Ok(())
    }
}

impl<R: LabelEvaluator + ?Sized> LabelEvaluator for Box<R> {
    fn initial(&self) -> u32 {
        (**self).initial()
    }

    fn states(&self) -> u32 {
        (**self).states()
    }

    fn acceptance_set_count(&self) -> u32 {
        (**self).acceptance_set_count()
    }

    fn edges(&self, at: u32, step: Step<'_>, out: &mut Vec<(u32, u64)>) -> Result<(), Fault> {
        (**self).edges(at, step, out)
    }
}
