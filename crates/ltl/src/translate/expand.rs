//! What a formula asks of the present instant, and what it leaves to the next ones: as one Boolean function of
//! atoms, of "from the next instant on", and of promises to fulfil something later.

use crate::formula::{Formula, Formulae, Node};
use crate::label::{Label, Labels, Variable};
use crate::{Logic, TooLarge};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// What a helper variable means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Helper {
    /// The formula holds at the next instant.
    Next(Formula),
    /// The formula was to hold by now and does not yet: a run may not put it off for ever.
    Promise(Formula),
}

/// The expansions of formulae in negation normal form, without past.
#[derive(Default)]
pub(super) struct Expansions {
    helpers: IndexSet<Helper, FxBuildHasher>,
    known: FxHashMap<Formula, Label>,
}

impl Expansions {
    /// The meaning of a helper variable.
    pub(super) fn helper(&self, number: u32) -> Option<Helper> {
        self.helpers.get_index(number as usize).copied()
    }

    fn variable(&mut self, labels: &mut Labels, helper: Helper) -> Result<Label, TooLarge> {
        let number = self.helpers.insert_full(helper).0 as u32;
        labels.variable(Variable::Helper(number))
    }

    /// The expansion of a formula.
    pub(super) fn of(&mut self, logic: &mut Logic, formula: Formula) -> Result<Label, TooLarge> {
        if let Some(known) = self.known.get(&formula) {
            return Ok(known.clone());
        }
        for part in self.missing(&logic.formulae, formula) {
            let made = self.expand(logic, part)?;
            self.known.insert(part, made);
        }
        Ok(self.known[&formula].clone())
    }

    /// The parts that must be expanded, the inner ones first. What stands under `X` is left to the next instant.
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
                let mut sum = labels.top();
                for part in &all {
                    sum = labels.and(&sum, &self.known[part])?;
                }
                sum
            }
            Node::Or(all) => {
                let mut sum = labels.bottom();
                for part in &all {
                    sum = labels.or(&sum, &self.known[part])?;
                }
                sum
            }
            Node::Next(a) => self.variable(labels, Helper::Next(a))?,
            Node::Finally(b) => {
                let again = self.put_off(labels, formula, b)?;
                labels.or(&of(&self.known, &b), &again)?
            }
            Node::Until([a, b]) => {
                let again = self.put_off(labels, formula, b)?;
                let kept = labels.and(&of(&self.known, &a), &again)?;
                labels.or(&of(&self.known, &b), &kept)?
            }
            Node::StrongRelease([a, b]) => {
                let again = self.put_off(labels, formula, a)?;
                let either = labels.or(&of(&self.known, &a), &again)?;
                labels.and(&of(&self.known, &b), &either)?
            }
            Node::Globally(a) => {
                let again = self.variable(labels, Helper::Next(formula))?;
                // `G F b` asks for nothing but `b` again and again: no need to remember that it is waited for.
                let now = match logic.formulae.node(a) {
                    Node::Finally(b) => {
                        let later = self.variable(labels, Helper::Promise(*b))?;
                        labels.or(&of(&self.known, b), &later)?
                    }
                    _ => of(&self.known, &a),
                };
                labels.and(&now, &again)?
            }
            Node::WeakUntil([a, b]) => {
                let again = self.variable(labels, Helper::Next(formula))?;
                let kept = labels.and(&of(&self.known, &a), &again)?;
                labels.or(&of(&self.known, &b), &kept)?
            }
            Node::Release([a, b]) => {
                let again = self.variable(labels, Helper::Next(formula))?;
                let either = labels.or(&of(&self.known, &a), &again)?;
                labels.and(&of(&self.known, &b), &either)?
            }
            // Taken away before.
            Node::Yesterday(_)
            | Node::WeakYesterday(_)
            | Node::Once(_)
            | Node::Historically(_)
            | Node::Since(_)
            | Node::Triggered(_) => labels.bottom(),
        })
    }

    /// `whole` again at the next instant, with the promise that `goal` comes.
    fn put_off(&mut self, labels: &mut Labels, whole: Formula, goal: Formula) -> Result<Label, TooLarge> {
        let again = self.variable(labels, Helper::Next(whole))?;
        let promise = self.variable(labels, Helper::Promise(goal))?;
        labels.and(&again, &promise)
    }
}
