//! Weak automata: in each component all cycles are accepting, or none is. Those of them that are deterministic
//! have a smallest one for their language (Löding), and recognise just the obligations: Boolean combinations
//! of safety properties.

use super::scc::Components;
use super::{Automaton, State};
use crate::label::Labels;
use crate::{Logic, TooLarge};

/// More sets of states than this are not worth it.
const FEW_SUBSETS: usize = 1 << 11;

impl Automaton {
    /// For each component whether its cycles are accepting. None if some have both kinds.
    fn weak(&self, found: &Components) -> Option<Vec<bool>> {
        let accepting = self.accepting(found);
        let most = self.with_most_marks(super::marks::Place::Edges);
        let uniform = |number: usize| {
            !accepting[number]
                || found.members[number]
                    .iter()
                    .flat_map(|state| &most.edges[*state as usize])
                    .all(|edge| edge.marks == self.all_marks())
        };
        (0..accepting.len()).all(uniform).then_some(accepting)
    }

    /// Whether in each component all cycles are accepting or none is.
    pub fn is_weak(&self) -> bool {
        self.weak(&self.components()).is_some()
    }

    /// The words that are not accepted, if the automaton is deterministic and weak.
    ///
    /// # Errors
    /// If there is no room for labels.
    pub fn complement(&self, logic: &Logic) -> Result<Option<Automaton>, TooLarge> {
        if !self.is_deterministic(&logic.labels)? {
            return Ok(None);
        }
        let mut result = self.complete(&logic.labels)?;
        let found = result.components();
        let Some(accepting) = result.weak(&found) else { return Ok(None) };
        result.sets = 1;
        for (state, edges) in result.edges.iter_mut().enumerate() {
            let rejecting = found.of[state].is_some_and(|number| !accepting[number]);
            edges.iter_mut().for_each(|edge| edge.marks = u64::from(rejecting));
        }
        Ok(Some(result))
    }

    /// The smallest weak deterministic automaton, with marks on states and its dead state left out, **if the
    /// language is an obligation** (Dax, Eisinger and Klaedtke). If it is not, the result is something else:
    /// whoever asks must know, or compare the languages. None if it takes too many states.
    ///
    /// # Errors
    /// If there is no room for labels.
    pub fn weak_minimal(&self, logic: &Logic) -> Result<Option<Automaton>, TooLarge> {
        let labels = &logic.labels;
        let simulation = self.simulation(labels)?;
        let limit = FEW_SUBSETS.min(logic.budget.states);
        let Some(mut result) = self.subsets(simulation.as_ref(), labels, limit)? else { return Ok(None) };
        result.sets = 1;
        let found = result.components();
        // An obligation's word that stays in a component decides for all words that do. Components are given
        // numbers, even if their words are accepted: as large as what they lead to allows (Löding).
        let mut rank = vec![2 * found.members.len(); found.members.len()];
        for (number, members) in found.members.iter().enumerate() {
            let mut cycle = false;
            for state in members {
                for edge in &mut result.edges[*state as usize] {
                    match found.of[edge.target as usize] {
                        Some(target) if target != number => rank[number] = rank[number].min(rank[target]),
                        _ => (cycle, edge.marks) = (true, 1),
                    }
                }
            }
            if !cycle {
                continue;
            }
            let word = result.word(labels);
            let accepted = word.is_some_and(|word| self.accepts(labels, &word));
            rank[number] = if accepted { rank[number] & !1 } else { (rank[number] - 1) | 1 };
            for state in members {
                result.edges[*state as usize].iter_mut().for_each(|edge| edge.marks = 0);
            }
        }
        for (number, members) in found.members.iter().enumerate() {
            for state in members {
                let mark = u64::from(rank[number].is_multiple_of(2));
                result.edges[*state as usize].iter_mut().for_each(|edge| edge.marks = mark);
            }
        }
        Ok(Some(result.merge_bisimilar(labels)?.trim(labels)?))
    }

    /// The smallest weak deterministic automaton, if the language is seen to be an obligation: by the form of
    /// this automaton, or by comparison. `negation` accepts just the other words; without it fewer languages
    /// are recognised.
    ///
    /// # Errors
    /// If there is no room for labels.
    pub fn obligation(
        &self,
        negation: Option<&Automaton>,
        logic: &Logic,
    ) -> Result<Option<Automaton>, TooLarge> {
        let Some(weak) = self.weak_minimal(logic)? else { return Ok(None) };
        if self.is_safety_or_guarantee(&logic.labels)? {
            return Ok(Some(weak));
        }
        let Some(others) = weak.complement(logic)? else { return Ok(None) };
        if self.meets(&others, logic)? {
            return Ok(None);
        }
        let inside = match negation {
            Some(negation) => !weak.meets(negation, logic)?,
            None => weak.is_included(self, logic)?,
        };
        Ok(inside.then_some(weak))
    }

    /// Whether every run is accepting, or every run that comes to an accepting component can stay there for
    /// ever.
    fn is_safety_or_guarantee(&self, labels: &Labels) -> Result<bool, TooLarge> {
        let found = self.components();
        let Some(accepting) = self.weak(&found) else { return Ok(false) };
        let number = |state: State| found.of[state as usize].unwrap_or_default();
        let (mut safety, mut guarantee) = (true, true);
        for state in found.members.iter().flatten() {
            let mut stays = labels.bottom();
            for edge in &self.edges[*state as usize] {
                if number(*state) == number(edge.target) {
                    stays = labels.or(&stays, &edge.label)?;
                }
            }
            // A component without a cycle is not accepting either, but has no edges inside.
            let accepts = accepting[number(*state)];
            safety &= accepts || stays.is_false();
            guarantee &= !accepts || stays.is_true();
        }
        Ok(safety || guarantee)
    }

    /// Whether all words that are accepted here surely are there, by simulation.
    pub(super) fn is_included(&self, other: &Automaton, logic: &Logic) -> Result<bool, TooLarge> {
        let found = self.fair_simulation(other, &logic.labels)?;
        Ok(found.is_some_and(|found| found.has(self.initial as usize, other.initial as usize)))
    }
}
