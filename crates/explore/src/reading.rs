//! Automata that read executions: what a search for accepting cycles needs of them.

use invigil_model::{Fault, Model, Omega, Step};

/// Says which edges of an automaton may be taken.
pub trait Reading: Sync {
    /// Where runs begin, before the first configuration is read.
    fn initial(&self) -> u32;

    /// The number of states, from 0 on. Where it is known, a product may keep the state in fewer bits.
    fn states(&self) -> u32 {
        u32::MAX
    }

    /// The number of acceptance sets.
    fn sets(&self) -> u32;

    /// Adds the edges of `at` that may be taken on this step: where each leads, and its marks.
    fn edges(&self, at: u32, step: Step<'_>, out: &mut Vec<(u32, u64)>) -> Result<(), Fault>;
}

/// Reads by interpreting the labels.
pub struct Plain<'a> {
    /// What the labels are about.
    pub model: &'a Model,
    /// The automaton.
    pub omega: &'a Omega,
}

impl Reading for Plain<'_> {
    fn initial(&self) -> u32 {
        self.omega.initial
    }

    fn states(&self) -> u32 {
        self.omega.edges.len() as u32
    }

    fn sets(&self) -> u32 {
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

impl<R: Reading + ?Sized> Reading for Box<R> {
    fn initial(&self) -> u32 {
        (**self).initial()
    }

    fn states(&self) -> u32 {
        (**self).states()
    }

    fn sets(&self) -> u32 {
        (**self).sets()
    }

    fn edges(&self, at: u32, step: Step<'_>, out: &mut Vec<(u32, u64)>) -> Result<(), Fault> {
        (**self).edges(at, step, out)
    }
}
