//! Tableau construction: states are formulae that remain to be satisfied; an edge satisfies their current part.

use super::expansion::{Expansions, Helper};
use crate::automaton::{Automaton, Edge, MAX_SETS, Marks, State};
use crate::formula::{Atom, Formula};
use crate::label::{Label, Variable};
use crate::simplify::SyntacticClasses;
use crate::{Budget, Logic, TooLarge};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Derivation of the edges of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SplitMode {
    /// One edge for each product of an irredundant sum: few edges, which may overlap.
    Products,
    /// Letter by letter first: the result is deterministic more often.
    Letters,
}

/// Maximum number of atoms that are split letter by letter.
const MAX_ATOMS: usize = 8;

/// Successor of a state: the promises of the edge, and the formula that remains.
type Successor = (Vec<Formula>, Formula);

struct Tableau<'a> {
    logic: &'a mut Logic,
    expansions: Expansions,
    /// States by expansion: formulae with equal expansions share a state.
    states: IndexMap<Label, Formula, FxBuildHasher>,
    by_formula: FxHashMap<Formula, State>,
    mode: SplitMode,
}

/// Builds the automaton of a formula in negation normal form, without past. The atoms `hidden` are projected away.
pub(super) fn build(
    logic: &mut Logic,
    formula: Formula,
    hidden: &[Atom],
    mode: SplitMode,
) -> Result<Automaton, TooLarge> {
    let mut tableau = Tableau {
        logic,
        expansions: Expansions::default(),
        states: IndexMap::default(),
        by_formula: FxHashMap::default(),
        mode,
    };
    tableau.state(formula)?;
    let (mut edges, mut promises) = (Vec::new(), IndexSet::<Formula, FxBuildHasher>::default());
    let mut count = 0;
    let (mut classes, mut suspendable) = (SyntacticClasses::default(), Vec::new());
    while let Some((expansion, formula)) = tableau.states.get_index(edges.len()) {
        // The state of a suspendable formula may idle, which enables more reductions.
        suspendable.push(classes.of(&tableau.logic.formulae, *formula).is_suspendable());
        let expansion = expansion.clone();
        let mut out: Vec<(Label, Vec<Formula>, State)> = Vec::new();
        for ((promised, remainder), label) in tableau.successors(&expansion, hidden)? {
            promises.extend(promised.iter().copied());
            out.push((label, promised, tableau.state(remainder)?));
        }
        count += out.len();
        Budget::check("edges", count, tableau.logic.budget.edges)?;
        Budget::check("acceptance sets", promises.len(), MAX_SETS as usize)?;
        edges.push(out);
    }
    let all: Marks = if promises.len() == 64 { Marks::MAX } else { (1 << promises.len()) - 1 };
    let marks = |promised: &[Formula]| {
        promised
            .iter()
            .filter_map(|goal| promises.get_index_of(goal))
            .fold(all, |marks, at| marks & !(1 << at))
    };
    let finish = |(label, promised, target): (Label, Vec<Formula>, State)| Edge {
        label,
        marks: marks(&promised),
        target,
    };
    let mut edges: Vec<Vec<Edge>> =
        edges.into_iter().map(|out| out.into_iter().map(finish).collect()).collect();
    for (state, out) in edges.iter_mut().enumerate().filter(|(state, _)| suspendable[*state] && all != 0) {
        out.push(Edge { label: tableau.logic.labels.top(), marks: 0, target: state as State });
    }
    Ok(Automaton { initial: 0, edges, sets: promises.len() as u32 })
}

impl Tableau<'_> {
    fn state(&mut self, formula: Formula) -> Result<State, TooLarge> {
        if let Some(state) = self.by_formula.get(&formula) {
            return Ok(*state);
        }
        let expansion = self.expansions.of(self.logic, formula)?;
        let entry = self.states.entry(expansion);
        let state = entry.index() as State;
        entry.or_insert(formula);
        Budget::check("states", self.states.len(), self.logic.budget.states)?;
        self.by_formula.insert(formula, state);
        Ok(state)
    }

    /// Computes the successors of a state, with the letters of each.
    fn successors(
        &mut self,
        expansion: &Label,
        hidden: &[Atom],
    ) -> Result<IndexMap<Successor, Label, FxBuildHasher>, TooLarge> {
        let mut found = IndexMap::default();
        let atoms: Vec<Variable> = self
            .logic
            .labels
            .support(expansion)
            .into_iter()
            .filter(|variable| matches!(variable, Variable::Atom(_)))
            .collect();
        if self.mode == SplitMode::Letters && atoms.len() <= MAX_ATOMS {
            for letters in 0..1u32 << atoms.len() {
                let cube: Vec<(Variable, bool)> =
                    atoms.iter().enumerate().map(|(at, atom)| (*atom, letters >> at & 1 == 1)).collect();
                let cube = self.logic.labels.cube(&cube)?;
                let rest = self.logic.labels.restrict(expansion, &cube)?;
                self.add_products(&rest, &cube, &mut found)?;
            }
        } else {
            let top = self.logic.labels.top();
            self.add_products(expansion, &top, &mut found)?;
        }
        if !hidden.is_empty() {
            let cube: Vec<(Variable, bool)> =
                hidden.iter().map(|atom| (Variable::Atom(*atom), true)).collect();
            let cube = self.logic.labels.cube(&cube)?;
            for label in found.values_mut() {
                *label = self.logic.labels.exists(label, &cube)?;
            }
        }
        Ok(found)
    }

    /// Adds a successor for each product of an expansion.
    fn add_products(
        &mut self,
        expansion: &Label,
        letters: &Label,
        found: &mut IndexMap<Successor, Label, FxBuildHasher>,
    ) -> Result<(), TooLarge> {
        for cube in self.logic.labels.cubes(expansion)? {
            let (mut literals, mut next, mut promised) = (Vec::new(), Vec::new(), Vec::new());
            for (variable, value) in cube {
                match variable {
                    Variable::Atom(_) => literals.push((variable, value)),
                    // Negated helpers impose nothing: satisfying more than required is allowed.
                    Variable::Helper(_) if !value => {}
                    Variable::Helper(number) => match self.expansions.helper(number) {
                        Some(Helper::Next(formula)) => next.push(formula),
                        Some(Helper::Promise(formula)) => promised.push(formula),
                        None => {}
                    },
                }
            }
            promised.sort_unstable();
            let remainder = self.logic.formulae.and(next)?;
            let label = self.logic.labels.cube(&literals)?;
            let label = self.logic.labels.and(&label, letters)?;
            let entry = found.entry((promised, remainder)).or_insert_with(|| self.logic.labels.bottom());
            *entry = self.logic.labels.or(entry, &label)?;
        }
        Ok(())
    }
}
