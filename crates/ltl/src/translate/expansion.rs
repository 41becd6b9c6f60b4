//! Expansion of formulae: a Boolean function of the atoms, of formulae that hold from the next position on, and of promises
//! to fulfil a formula later.

use crate::formula::{Formula, Formulae, Node};
use crate::label::{Label, Labels, Variable};
use crate::{Logic, TooLarge};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Meaning of a helper variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Helper {
    /// The formula holds at the next position.
    Next(Formula),
    /// The formula is required but postponed. A run must not postpone it forever.
    Promise(Formula),
}

/// Memoised expansions of formulae in negation normal form, without past.
#[derive(Default)]
pub(super) struct Expansions {
    helpers: IndexSet<Helper, FxBuildHasher>,
    known: FxHashMap<Formula, Label>,
}

impl Expansions {
    /// Returns the meaning of a helper variable.
    pub(super) fn helper(&self, number: u32) -> Option<Helper> {
        self.helpers.get_index(number as usize).copied()
    }

    fn variable(&mut self, labels: &mut Labels, helper: Helper) -> Result<Label, TooLarge> {
        let number = self.helpers.insert_full(helper).0 as u32;
        labels.variable(Variable::Helper(number))
    }

    /// Returns the expansion of a formula.
    pub(super) fn of(&mut self, logic: &mut Logic, formula: Formula) -> Result<Label, TooLarge> {
        if let Some(known) = self.known.get(&formula) {
            return Ok(known.clone());
        }
        for part in self.missing(&logic.formulae, formula) {
            let expansion = self.expand(logic, part)?;
            self.known.insert(part, expansion);
        }
        Ok(self.known[&formula].clone())
    }

    /// Returns the subformulae without expansion, inner ones first. Operands of `X` are not needed.
    fn missing(&self, formulae: &Formulae, formula: Formula) -> Vec<Formula> {
        let (mut found, mut open) = (IndexSet::<Formula, FxBuildHasher>::default(), vec![formula]);
        while let Some(part) = open.pop() {
            if !self.known.contains_key(&part) && found.insert(part) {
                let node = formulae.node(part);
                if !matches!(node, Node::Next(_)) {
                    open.extend_from_slice(node.parts());
                }
            }
        }
        found.sort_unstable();
        found.into_iter().collect()
    }

    fn expand(&mut self, logic: &mut Logic, formula: Formula) -> Result<Label, TooLarge> {
        let node = logic.formulae.node(formula).clone();
        let labels = &mut logic.labels;
        let of = |known: &FxHashMap<Formula, Label>, part: &Formula| known[part].clone();
        Ok(match node {
            Node::False => labels.bottom(),
            Node::True => labels.top(),
            Node::Atom(atom) => labels.atom(atom)?,
            Node::Not(a) => labels.not(&of(&self.known, &a))?,
            Node::And(all) => {
                let mut conjunction = labels.top();
                for part in &all {
                    conjunction = labels.and(&conjunction, &self.known[part])?;
                }
                conjunction
            }
            Node::Or(all) => {
                let mut disjunction = labels.bottom();
                for part in &all {
                    disjunction = labels.or(&disjunction, &self.known[part])?;
                }
                disjunction
            }
            Node::Next(a) => self.variable(labels, Helper::Next(a))?,
            Node::Finally(b) => {
                let next = self.postpone(labels, formula, b)?;
                labels.or(&of(&self.known, &b), &next)?
            }
            Node::Until([a, b]) => {
                let next = self.postpone(labels, formula, b)?;
                let kept = labels.and(&of(&self.known, &a), &next)?;
                labels.or(&of(&self.known, &b), &kept)?
            }
            Node::StrongRelease([a, b]) => {
                let next = self.postpone(labels, formula, a)?;
                let either = labels.or(&of(&self.known, &a), &next)?;
                labels.and(&of(&self.known, &b), &either)?
            }
            Node::Globally(a) => {
                let next = self.variable(labels, Helper::Next(formula))?;
                // `G F b` needs no state for a pending `b`: the promise alone requires that `b` recurs.
                let now = match logic.formulae.node(a) {
                    Node::Finally(b) => {
                        let later = self.variable(labels, Helper::Promise(*b))?;
                        labels.or(&of(&self.known, b), &later)?
                    }
                    _ => of(&self.known, &a),
                };
                labels.and(&now, &next)?
            }
            Node::WeakUntil([a, b]) => {
                let next = self.variable(labels, Helper::Next(formula))?;
                let kept = labels.and(&of(&self.known, &a), &next)?;
                labels.or(&of(&self.known, &b), &kept)?
            }
            Node::Release([a, b]) => {
                let next = self.variable(labels, Helper::Next(formula))?;
                let either = labels.or(&of(&self.known, &a), &next)?;
                labels.and(&of(&self.known, &b), &either)?
            }
            // Past operators were removed before.
            Node::Yesterday(_)
            | Node::WeakYesterday(_)
            | Node::Once(_)
            | Node::Historically(_)
            | Node::Since(_)
            | Node::Triggered(_) => labels.bottom(),
        })
    }

    /// Postpones a formula to the next position, with the promise to fulfil `goal`.
    fn postpone(&mut self, labels: &mut Labels, whole: Formula, goal: Formula) -> Result<Label, TooLarge> {
        let next = self.variable(labels, Helper::Next(whole))?;
        let promise = self.variable(labels, Helper::Promise(goal))?;
        labels.and(&next, &promise)
    }
}
