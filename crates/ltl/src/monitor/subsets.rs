//! Machines whose states are sets of promises and memories: what a word leaves for later.
//!
//! A set is a diagram. After a letter the promises of which the set speaks are replaced by what they stand for
//! at the instant: no automaton is built first, and letters are told apart only where the diagram does.

use super::live::live;
use super::relation::Relation;
use super::tableau::Tableau;
use super::weaker::Weaker;
use crate::automaton::State;
use crate::formula::Atom;
use crate::label::{Label, Labels, Substitution};
use crate::moore::{Moore, Verdict};
use crate::{Budget, TooLarge};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};

/// How sets change.
pub(crate) struct Steps {
    pub(crate) tableau: Tableau,
    /// What can be promised at all.
    live: Label,
    weaker: Option<Weaker>,
    kept: Substitution,
    memories: Option<(Relation, Substitution)>,
}

impl Steps {
    /// On words that end. Then all promises are off.
    pub(crate) fn finite(tableau: Tableau) -> Result<Steps, TooLarge> {
        let all = tableau.labels.top();
        Steps::new(tableau, all)
    }

    /// On words that do not end, of which one sees prefixes.
    pub(crate) fn infinite(mut tableau: Tableau) -> Result<Steps, TooLarge> {
        let live = live(&mut tableau)?;
        Steps::new(tableau, live)
    }

    /// From now on sets are told apart only if they allow different prefixes, as far as that is seen easily.
    pub(crate) fn weaken(&mut self) -> Result<(), TooLarge> {
        self.weaker = Weaker::new(&mut self.tableau, &self.live)?;
        Ok(())
    }

    fn new(mut tableau: Tableau, live: Label) -> Result<Steps, TooLarge> {
        let promises = tableau.promises.iter();
        let kept: Vec<_> =
            promises.map(|promise| (tableau.promise(promise, 0), promise.kept.clone())).collect();
        let kept = tableau.labels.substitution(&kept)?;
        let memories = memories(&mut tableau)?;
        Ok(Steps { tableau, live, weaker: None, kept, memories })
    }

    /// The set of the formula before the first letter, or of its negation.
    pub(crate) fn start(&mut self, negated: bool) -> Result<Label, TooLarge> {
        let formula = self.tableau.formula.clone();
        let formula = if negated { self.tableau.labels.not(&formula)? } else { formula };
        let nothing = self.tableau.nothing_remembered()?;
        self.settle(&self.tableau.labels.and(&formula, &nothing)?)
    }

    /// From what is promised to what must hold at the next instant, and be promised and remembered after it.
    fn advance(&self, set: &Label) -> Result<Label, TooLarge> {
        self.settle(&self.tableau.labels.substitute(set, &self.kept)?)
    }

    fn settle(&self, now: &Label) -> Result<Label, TooLarge> {
        let labels = &self.tableau.labels;
        let then = match &self.memories {
            None => now.clone(),
            Some((relation, back)) => labels.substitute(&relation.apply(labels, now)?, back)?,
        };
        let then = labels.and(&then, &self.live)?;
        match &self.weaker {
            None => Ok(then),
            Some(weaker) => weaker.close(&self.tableau, &then),
        }
    }

    /// The machine whose states are tuples of sets. `say` tells what one says after a letter, before the sets
    /// are advanced.
    pub(crate) fn explore<Output: Verdict, const N: usize>(
        &mut self,
        labels: &mut Labels,
        budget: &Budget,
        start: ([Label; N], Output),
        mut say: impl FnMut(&Tableau, &[Label; N]) -> Result<Output, TooLarge>,
    ) -> Result<Moore<Output>, TooLarge> {
        let mut atoms = Vec::with_capacity(self.tableau.atoms.len());
        for atom in &self.tableau.atoms {
            let yes = self.tableau.labels.atom(*atom)?;
            let no = self.tableau.labels.not(&yes)?;
            atoms.push(Decision { atom: *atom, label: labels.atom(*atom)?, yes, no });
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
                for (sets, label) in Split::new(&self.tableau.labels, labels, &atoms, budget).all(&sets)? {
                    let output = say(&self.tableau, &sets)?;
                    let next = self.next(sets, output, &mut known)?;
                    let target = states.insert_full((next, output)).0 as State;
                    let edge = edges.entry(target).or_insert_with(|| labels.bottom());
                    *edge = labels.or(edge, &label)?;
                }
            }
            count += edges.len();
            Budget::allows("states of a monitor", states.len(), budget.states)?;
            Budget::allows("edges of a monitor", count, budget.edges)?;
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
            // What follows a final verdict does not matter: all such states are one.
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

/// The new memories from the old ones, which are put away.
fn memories(tableau: &mut Tableau) -> Result<Option<(Relation, Substitution)>, TooLarge> {
    if tableau.memories.is_empty() {
        return Ok(None);
    }
    let (mut parts, mut old, mut back) = (Vec::new(), Vec::new(), Vec::new());
    for at in 0..tableau.memories.len() {
        let memory = &tableau.memories[at];
        let (before, after) = (tableau.memory(memory, 0), tableau.memory(memory, 1));
        let value = memory.value.clone();
        let new = tableau.labels.variable(after)?;
        parts.push(tableau.labels.same(&new, &value)?);
        old.push(before);
        back.push((after, tableau.labels.variable(before)?));
    }
    let relation = Relation::new(&mut tableau.labels, parts, &old)?;
    Ok(Some((relation, tableau.labels.substitution(&back)?)))
}

/// An atom on which to decide.
struct Decision {
    atom: Atom,
    /// In the labels of the machine.
    label: Label,
    /// In the diagrams of the sets.
    yes: Label,
    no: Label,
}

/// Sets without atoms, by number, and the letters that lead to them.
type Leaves = Vec<(usize, Label)>;

/// The letters that lead to different sets.
struct Split<'a, const N: usize> {
    sets: &'a Labels,
    labels: &'a Labels,
    atoms: &'a [Decision],
    limit: usize,
    leaves: IndexSet<[Label; N], FxBuildHasher>,
    known: FxHashMap<(usize, [Label; N]), Leaves>,
}

impl<'a, const N: usize> Split<'a, N> {
    fn new(sets: &'a Labels, labels: &'a Labels, atoms: &'a [Decision], budget: &Budget) -> Self {
        let (leaves, known) = (IndexSet::default(), FxHashMap::default());
        Split { sets, labels, atoms, limit: budget.edges, leaves, known }
    }

    fn all(mut self, start: &[Label; N]) -> Result<Vec<([Label; N], Label)>, TooLarge> {
        let found = self.split(0, start)?;
        let leaf = |at: usize| self.leaves.get_index(at).cloned();
        Ok(found.into_iter().filter_map(|(at, label)| Some((leaf(at)?, label))).collect())
    }

    /// The depth of this is the number of atoms, which the tableau bounds.
    fn split(&mut self, depth: usize, sets: &[Label; N]) -> Result<Leaves, TooLarge> {
        let wanted = self.sets.atoms_of(sets.iter());
        let next = (depth..self.atoms.len()).find(|at| wanted.binary_search(&self.atoms[*at].atom).is_ok());
        let Some(at) = next else {
            Budget::allows("edges of a monitor", self.leaves.len() + 1, self.limit)?;
            return Ok(vec![(self.leaves.insert_full(sets.clone()).0, self.labels.top())]);
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
        let none = || (self.labels.bottom(), self.labels.bottom());
        for (leaf, label) in yes {
            all.entry(leaf).or_insert_with(none).0 = label;
        }
        for (leaf, label) in no {
            all.entry(leaf).or_insert_with(none).1 = label;
        }
        let mut found = Leaves::with_capacity(all.len());
        for (leaf, (yes, no)) in all {
            found.push((leaf, self.labels.choose(&atoms[at].label, &yes, &no)?));
        }
        Budget::allows("letters to tell apart", self.known.len() + 1, self.limit)?;
        self.known.insert((at, sets.clone()), found.clone());
        Ok(found)
    }
}
