//! Symbolic subset construction: machines whose states are sets of promises and memories, the residuals of a word.
//!
//! A set is a decision diagram. After a letter, the promises of the set are replaced by their meaning at the position. No
//! automaton is built first, and letters are distinguished only where the diagram depends on them.

use super::live::live;
use super::partitioned_relation::PartitionedRelation;
use super::subsumption::Subsumption;
use super::tableau::Tableau;
use crate::automaton::State;
use crate::formula::Atom;
use crate::label::{Label, Labels, Substitution};
use crate::moore::{Moore, Verdict};
use crate::{Budget, TooLarge};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Transition function on sets.
pub(crate) struct SubsetConstruction {
    pub(crate) tableau: Tableau,
    /// Promises and memories that can be kept.
    live: Label,
    subsumption: Option<Subsumption>,
    /// Replaces promises by their meaning at the position.
    kept: Substitution,
    /// Relation between old and new memories, and the substitution that makes the new ones old.
    memories: Option<(PartitionedRelation, Substitution)>,
}

impl SubsetConstruction {
    /// Creates the construction for finite words, where promises need not be kept.
    pub(crate) fn finite(tableau: Tableau) -> Result<SubsetConstruction, TooLarge> {
        let all = tableau.labels.top();
        SubsetConstruction::new(tableau, all)
    }

    /// Creates the construction for prefixes of infinite words.
    pub(crate) fn infinite(mut tableau: Tableau) -> Result<SubsetConstruction, TooLarge> {
        let live = live(&mut tableau)?;
        SubsetConstruction::new(tableau, live)
    }

    /// Merges sets that permit the same prefixes, as far as subsumption shows it.
    pub(crate) fn enable_subsumption(&mut self) -> Result<(), TooLarge> {
        self.subsumption = Subsumption::new(&mut self.tableau, &self.live)?;
        Ok(())
    }

    fn new(mut tableau: Tableau, live: Label) -> Result<SubsetConstruction, TooLarge> {
        let promises = tableau.promises.iter();
        let kept: Vec<_> =
            promises.map(|promise| (tableau.promise(promise, 0), promise.kept.clone())).collect();
        let kept = tableau.labels.substitution(&kept)?;
        let memories = memory_relation(&mut tableau)?;
        Ok(SubsetConstruction { tableau, live, subsumption: None, kept, memories })
    }

    /// Returns the set of the formula, or of its negation, before the first letter.
    pub(crate) fn start(&mut self, negated: bool) -> Result<Label, TooLarge> {
        let formula = self.tableau.formula.clone();
        let formula = if negated { self.tableau.labels.not(&formula)? } else { formula };
        let memories = self.tableau.initial_memories()?;
        self.normalise(&self.tableau.labels.and(&formula, &memories)?)
    }

    /// Replaces promises by what must hold at the next position, in its letter, promises and memories.
    fn advance(&self, set: &Label) -> Result<Label, TooLarge> {
        self.normalise(&self.tableau.labels.substitute(set, &self.kept)?)
    }

    /// Normalises a set: updates the memories, and restricts the set to live promises.
    fn normalise(&self, now: &Label) -> Result<Label, TooLarge> {
        let labels = &self.tableau.labels;
        let then = match &self.memories {
            None => now.clone(),
            Some((relation, back)) => labels.substitute(&relation.image(labels, now)?, back)?,
        };
        let then = labels.and(&then, &self.live)?;
        match &self.subsumption {
            None => Ok(then),
            Some(subsumption) => subsumption.close(&self.tableau, &then),
        }
    }

    /// Explores the machine whose states are tuples of sets. `verdict` computes the output after a letter, from the sets
    /// before they are advanced.
    pub(crate) fn explore<Output: Verdict, const N: usize>(
        &mut self,
        labels: &mut Labels,
        budget: &Budget,
        start: ([Label; N], Output),
        mut verdict: impl FnMut(&Tableau, &[Label; N]) -> Result<Output, TooLarge>,
    ) -> Result<Moore<Output>, TooLarge> {
        let mut atoms = Vec::with_capacity(self.tableau.atoms.len());
        for atom in &self.tableau.atoms {
            let yes = self.tableau.labels.atom(*atom)?;
            let no = self.tableau.labels.not(&yes)?;
            atoms.push(AtomLabels { atom: *atom, label: labels.atom(*atom)?, yes, no });
        }
        let mut states: IndexSet<([Label; N], Output), FxBuildHasher> = IndexSet::default();
        states.insert(start);
        let mut known: FxHashMap<Label, Label> = FxHashMap::default();
        let (mut all, mut count) = (Vec::new(), 0);
        while let Some((sets, output)) = states.get_index(all.len()).cloned() {
            let mut edges: IndexMap<State, Label, FxBuildHasher> = IndexMap::default();
            if output.is_final() {
                edges.insert(all.len() as State, labels.top());
            } else {
                for (sets, label) in
                    LetterPartition::new(&self.tableau.labels, labels, &atoms, budget).compute(&sets)?
                {
                    let output = verdict(&self.tableau, &sets)?;
                    let next = self.next(sets, output, &mut known)?;
                    let target = states.insert_full((next, output)).0 as State;
                    let edge = edges.entry(target).or_insert_with(|| labels.bottom());
                    *edge = labels.or(edge, &label)?;
                }
            }
            count += edges.len();
            Budget::check("states of a monitor", states.len(), budget.states)?;
            Budget::check("edges of a monitor", count, budget.edges)?;
            all.push(edges.into_iter().map(|(target, label)| (label, target)).collect());
        }
        let outputs = states.into_iter().map(|(_, output)| output).collect();
        Moore { initial: 0, outputs, edges: all }.minimise(labels)
    }

    fn next<Output: Verdict, const N: usize>(
        &self,
        mut sets: [Label; N],
        output: Output,
        known: &mut FxHashMap<Label, Label>,
    ) -> Result<[Label; N], TooLarge> {
        for set in &mut sets {
            // All states with the same final verdict are merged.
            let next = if output.is_final() {
                self.tableau.labels.bottom()
            } else if let Some(next) = known.get(set) {
                next.clone()
            } else {
                let next = self.advance(set)?;
                known.insert(set.clone(), next.clone());
                next
            };
            *set = next;
        }
        Ok(sets)
    }
}

/// Creates the relation that computes the new memories and quantifies the old ones.
fn memory_relation(tableau: &mut Tableau) -> Result<Option<(PartitionedRelation, Substitution)>, TooLarge> {
    if tableau.memories.is_empty() {
        return Ok(None);
    }
    let (mut conjuncts, mut old, mut back) = (Vec::new(), Vec::new(), Vec::new());
    for at in 0..tableau.memories.len() {
        let memory = &tableau.memories[at];
        let (before, after) = (tableau.memory(memory, 0), tableau.memory(memory, 1));
        let value = memory.value.clone();
        let new = tableau.labels.variable(after)?;
        conjuncts.push(tableau.labels.iff(&new, &value)?);
        old.push(before);
        back.push((after, tableau.labels.variable(before)?));
    }
    let relation = PartitionedRelation::new(&mut tableau.labels, conjuncts, &old)?;
    Ok(Some((relation, tableau.labels.substitution(&back)?)))
}

/// Labels of an atom.
struct AtomLabels {
    atom: Atom,
    /// Atom in the labels of the machine.
    label: Label,
    /// Literals in the diagrams of the sets.
    yes: Label,
    no: Label,
}

/// Numbers of sets without atoms, with the letters that lead to them.
type Outcomes = Vec<(usize, Label)>;

/// Partition of the letters by the sets they lead to.
struct LetterPartition<'a, const N: usize> {
    sets: &'a Labels,
    labels: &'a Labels,
    atoms: &'a [AtomLabels],
    limit: usize,
    outcomes: IndexSet<[Label; N], FxBuildHasher>,
    known: FxHashMap<(usize, [Label; N]), Outcomes>,
}

impl<'a, const N: usize> LetterPartition<'a, N> {
    fn new(sets: &'a Labels, labels: &'a Labels, atoms: &'a [AtomLabels], budget: &Budget) -> Self {
        let (outcomes, known) = (IndexSet::default(), FxHashMap::default());
        LetterPartition { sets, labels, atoms, limit: budget.edges, outcomes, known }
    }

    /// Computes the partition.
    fn compute(mut self, start: &[Label; N]) -> Result<Vec<([Label; N], Label)>, TooLarge> {
        let found = self.split(0, start)?;
        let outcome = |at: usize| self.outcomes.get_index(at).cloned();
        Ok(found.into_iter().filter_map(|(at, label)| Some((outcome(at)?, label))).collect())
    }

    /// Recursion is bounded by the number of atoms, which the tableau limits.
    fn split(&mut self, depth: usize, sets: &[Label; N]) -> Result<Outcomes, TooLarge> {
        let support = self.sets.atoms_of(sets.iter());
        let next = (depth..self.atoms.len()).find(|at| support.binary_search(&self.atoms[*at].atom).is_ok());
        let Some(at) = next else {
            Budget::check("edges of a monitor", self.outcomes.len() + 1, self.limit)?;
            return Ok(vec![(self.outcomes.insert_full(sets.clone()).0, self.labels.top())]);
        };
        if let Some(found) = self.known.get(&(at, sets.clone())) {
            return Ok(found.clone());
        }
        let atoms = self.atoms;
        let (mut yes, mut no) = (sets.clone(), sets.clone());
        for (yes, no) in yes.iter_mut().zip(&mut no) {
            *yes = self.sets.restrict(yes, &atoms[at].yes)?;
            *no = self.sets.restrict(no, &atoms[at].no)?;
        }
        let (yes, no) = (self.split(at + 1, &yes)?, self.split(at + 1, &no)?);
        let mut all: IndexMap<usize, (Label, Label), FxBuildHasher> = IndexMap::default();
        let empty = || (self.labels.bottom(), self.labels.bottom());
        for (outcome, label) in yes {
            all.entry(outcome).or_insert_with(empty).0 = label;
        }
        for (outcome, label) in no {
            all.entry(outcome).or_insert_with(empty).1 = label;
        }
        let mut found = Outcomes::with_capacity(all.len());
        for (outcome, (yes, no)) in all {
            found.push((outcome, self.labels.ite(&atoms[at].label, &yes, &no)?));
        }
        Budget::check("letters to tell apart", self.known.len() + 1, self.limit)?;
        self.known.insert((at, sets.clone()), found.clone());
        Ok(found)
    }
}
