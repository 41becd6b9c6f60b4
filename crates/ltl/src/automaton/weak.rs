//! Weak automata: in each component all cycles are accepting, or none is.
//!
//! Weak deterministic automata (WDBA) recognise exactly the obligations, which are the Boolean combinations of safety
//! properties, and have a unique minimal automaton (Löding).

use super::scc::Components;
use super::{Automaton, State};
use crate::label::Labels;
use crate::{Logic, TooLarge};

/// Maximum number of states of the subset construction.
const MAX_SUBSETS: usize = 1 << 11;

impl Automaton {
    /// Returns, for each component, whether its cycles are accepting. `None` if a component has accepting and rejecting
    /// cycles.
    fn weak_components(&self, sccs: &Components) -> Option<Vec<bool>> {
        let accepting = self.accepting_components(sccs);
        let most = self.with_most_marks(super::marks::MarkCarrier::Edges);
        let is_uniform = |number: usize| {
            !accepting[number]
                || sccs.members[number]
                    .iter()
                    .flat_map(|state| &most.edges[*state as usize])
                    .all(|edge| edge.marks == self.all_marks())
        };
        (0..accepting.len()).all(is_uniform).then_some(accepting)
    }

    /// Whether in each component all cycles are accepting or none is.
    pub fn is_weak(&self) -> bool {
        self.weak_components(&self.components()).is_some()
    }

    /// Complements the automaton. `None` if it is not deterministic and weak.
    ///
    /// # Errors
    /// Fails if the labels outgrow the budget.
    pub fn complement(&self, logic: &Logic) -> Result<Option<Automaton>, TooLarge> {
        if !self.is_deterministic(&logic.labels)? {
            return Ok(None);
        }
        let mut result = self.complete(&logic.labels)?;
        let sccs = result.components();
        let Some(accepting) = result.weak_components(&sccs) else { return Ok(None) };
        result.sets = 1;
        for (state, edges) in result.edges.iter_mut().enumerate() {
            let rejecting = sccs.of[state].is_some_and(|number| !accepting[number]);
            edges.iter_mut().for_each(|edge| edge.marks = u64::from(rejecting));
        }
        Ok(Some(result))
    }

    /// Computes the minimal weak deterministic automaton, state-based and without dead state (Dax, Eisinger and Klaedtke).
    /// `None` if it takes too many states.
    ///
    /// Precondition: **the language is an obligation**. Otherwise the result has a different language; the caller must know
    /// that it is one, or compare the languages.
    ///
    /// # Errors
    /// Fails if the labels outgrow the budget.
    pub fn minimise_wdba(&self, logic: &Logic) -> Result<Option<Automaton>, TooLarge> {
        let labels = &logic.labels;
        let simulation = self.simulation(labels)?;
        let limit = MAX_SUBSETS.min(logic.budget.states);
        let Some(mut result) = self.subset_construction(simulation.as_ref(), labels, limit)? else {
            return Ok(None);
        };
        result.sets = 1;
        let sccs = result.components();
        // For an obligation, one word that stays in a component decides for all of them. A component has an even rank if its
        // words are accepted; ranks are as large as those of the successors allow (Löding).
        let mut rank = vec![2 * sccs.members.len(); sccs.members.len()];
        for (number, members) in sccs.members.iter().enumerate() {
            let mut has_cycle = false;
            for state in members {
                for edge in &mut result.edges[*state as usize] {
                    match sccs.of[edge.target as usize] {
                        Some(target) if target != number => rank[number] = rank[number].min(rank[target]),
                        _ => (has_cycle, edge.marks) = (true, 1),
                    }
                }
            }
            if !has_cycle {
                continue;
            }
            let word = result.accepting_word(labels);
            let accepted = word.is_some_and(|word| self.accepts(labels, &word));
            rank[number] = if accepted { rank[number] & !1 } else { (rank[number] - 1) | 1 };
            for state in members {
                result.edges[*state as usize].iter_mut().for_each(|edge| edge.marks = 0);
            }
        }
        for (number, members) in sccs.members.iter().enumerate() {
            for state in members {
                let mark = u64::from(rank[number].is_multiple_of(2));
                result.edges[*state as usize].iter_mut().for_each(|edge| edge.marks = mark);
            }
        }
        Ok(Some(result.merge_bisimilar(labels)?.trim(labels)?))
    }

    /// Computes the minimal weak deterministic automaton if the language is recognised as an obligation, by the form of this
    /// automaton or by a comparison of languages. `negation` is an automaton of the complement; without it, fewer
    /// obligations are recognised.
    ///
    /// # Errors
    /// Fails if the labels outgrow the budget.
    pub fn minimise_obligation(
        &self,
        negation: Option<&Automaton>,
        logic: &Logic,
    ) -> Result<Option<Automaton>, TooLarge> {
        let Some(weak) = self.minimise_wdba(logic)? else { return Ok(None) };
        if self.is_safety_or_guarantee(&logic.labels)? {
            return Ok(Some(weak));
        }
        let Some(complement) = weak.complement(logic)? else { return Ok(None) };
        if self.intersects(&complement, logic)? {
            return Ok(None);
        }
        let is_contained = match negation {
            Some(negation) => !weak.intersects(negation, logic)?,
            None => weak.is_simulated_by(self, logic)?,
        };
        Ok(is_contained.then_some(weak))
    }

    /// Whether every run is accepting, or every run that reaches an accepting component can stay there.
    fn is_safety_or_guarantee(&self, labels: &Labels) -> Result<bool, TooLarge> {
        let sccs = self.components();
        let Some(accepting) = self.weak_components(&sccs) else { return Ok(false) };
        let number = |state: State| sccs.of[state as usize].unwrap_or_default();
        let (mut safety, mut guarantee) = (true, true);
        for state in sccs.members.iter().flatten() {
            let mut stays = labels.bottom();
            for edge in &self.edges[*state as usize] {
                if number(*state) == number(edge.target) {
                    stays = labels.or(&stays, &edge.label)?;
                }
            }
            // A component without a cycle is not accepting either, but has no internal edges.
            let accepts = accepting[number(*state)];
            safety &= accepts || stays.is_false();
            guarantee &= !accepts || stays.is_true();
        }
        Ok(safety || guarantee)
    }

    /// Whether fair simulation shows that the language is contained in that of another automaton. `false` may be wrong.
    pub(super) fn is_simulated_by(&self, other: &Automaton, logic: &Logic) -> Result<bool, TooLarge> {
        let simulation = self.fair_simulation(other, &logic.labels)?;
        Ok(simulation.is_some_and(|simulation| simulation.has(self.initial as usize, other.initial as usize)))
    }
}
