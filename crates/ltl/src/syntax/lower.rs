//! From trees to formulae.

use super::tree::{Kind, Tree};
use super::{Binary, Mistake, Unary};
use crate::TooLarge;
use crate::formula::{Formula, Formulae, Node, Proposition};

/// Operands of conjunctions and disjunctions that may be looked at, for each formula that is allowed. Without
/// such a limit `!!(!!(a & b) & c) & …` and its like take time and memory with the square of their length.
const OPERANDS_PER_FORMULA: usize = 16;

/// Makes formulae of trees.
pub(super) struct Lower<'a> {
    pub(super) formulae: &'a mut Formulae,
    looked_at: usize,
}

/// What chains of `&`, or of `|` and `->`, are.
#[derive(Clone, Copy, PartialEq)]
enum Chain {
    And,
    Or,
}

impl<'a> Lower<'a> {
    pub(super) fn new(formulae: &'a mut Formulae) -> Self {
        Lower { formulae, looked_at: 0 }
    }

    /// The formula of a tree. `meaning` says what references stand for; those it does not know stay.
    pub(super) fn formula(
        &mut self,
        tree: &Tree,
        meaning: impl Fn(&str) -> Option<Formula>,
    ) -> Result<Formula, Mistake> {
        let shape = Shape::of(tree);
        let mut values: Vec<Formula> = Vec::with_capacity(tree.parts.len());
        for (at, part) in tree.parts.iter().enumerate() {
            let place = match &part.kind {
                Kind::Unary(_, Some(bound), _) | Kind::Binary(_, Some(bound), ..) => &bound.span,
                _ => &part.span,
            };
            let too_large = |error: TooLarge| Mistake::new(error.to_string(), place.clone());
            let value = match &part.kind {
                _ if shape.gathered[at] => Ok(Formula::FALSE),
                Kind::Constant(value) => Ok(self.formulae.constant(*value)),
                Kind::Atom(Proposition::Monitor(name)) if meaning(name).is_some() => {
                    Ok(meaning(name).unwrap_or(Formula::FALSE))
                }
                Kind::Atom(proposition) => {
                    let atom = self.formulae.atom_for(proposition.clone());
                    self.formulae.atom(atom)
                }
                Kind::Group(inner) => Ok(values[*inner]),
                Kind::Unary(Unary::Not, _, inner) => self.formulae.not(values[*inner]),
                Kind::Unary(operator, Some(bound), inner) => {
                    self.room_for(bound, if operator.steps() { 1 } else { 2 })?;
                    self.bounded_unary(*operator, bound, values[*inner])
                }
                Kind::Unary(operator, None, inner) => self.unary(*operator, values[*inner]),
                Kind::Binary(Binary::And | Binary::Or | Binary::Implies, ..) => {
                    let operands = shape.operands(tree, at);
                    self.chain(&operands, &values, shape.chain(tree, at))
                }
                Kind::Binary(operator, Some(bound), left, right) => {
                    self.room_for(bound, 5)?;
                    self.bounded_binary(*operator, bound, values[*left], values[*right])
                }
                Kind::Binary(operator, None, left, right) => {
                    self.binary(*operator, values[*left], values[*right])
                }
            };
            values.push(value.map_err(too_large)?);
        }
        Ok(values.last().copied().unwrap_or(Formula::TRUE))
    }

    fn chain(
        &mut self,
        operands: &[(usize, bool)],
        values: &[Formula],
        chain: Option<Chain>,
    ) -> Result<Formula, TooLarge> {
        let mut all = Vec::with_capacity(operands.len());
        for (operand, negated) in operands {
            let value = values[*operand];
            all.push(if *negated { self.formulae.not(value)? } else { value });
        }
        match chain {
            Some(Chain::And) => self.and(&all),
            _ => self.or(&all),
        }
    }

    pub(super) fn and(&mut self, all: &[Formula]) -> Result<Formula, TooLarge> {
        self.look_at(all)?;
        self.formulae.and(all.iter().copied())
    }

    pub(super) fn or(&mut self, all: &[Formula]) -> Result<Formula, TooLarge> {
        self.look_at(all)?;
        self.formulae.or(all.iter().copied())
    }

    /// Counts the operands that are about to be looked at.
    fn look_at(&mut self, all: &[Formula]) -> Result<(), TooLarge> {
        let count = |formula: &Formula| match self.formulae.node(*formula) {
            Node::And(parts) | Node::Or(parts) => parts.len(),
            _ => 1,
        };
        self.looked_at += all.iter().map(count).sum::<usize>();
        let limit = self.formulae.limit().saturating_mul(OPERANDS_PER_FORMULA);
        if self.looked_at > limit {
            return Err(TooLarge { what: "operands of conjunctions and disjunctions", limit });
        }
        Ok(())
    }

    pub(super) fn unary(&mut self, operator: Unary, a: Formula) -> Result<Formula, TooLarge> {
        match operator {
            Unary::Not => self.formulae.not(a),
            Unary::Next => self.formulae.next(a),
            Unary::Finally => self.formulae.finally(a),
            Unary::Globally => self.formulae.globally(a),
            Unary::Never => {
                let not = self.formulae.not(a)?;
                self.formulae.globally(not)
            }
            Unary::Yesterday => self.formulae.yesterday(a),
            Unary::WeakYesterday => self.formulae.weak_yesterday(a),
            Unary::Once => self.formulae.once(a),
            Unary::Historically => self.formulae.historically(a),
        }
    }

    pub(super) fn binary(&mut self, operator: Binary, a: Formula, b: Formula) -> Result<Formula, TooLarge> {
        match operator {
            Binary::And => self.and(&[a, b]),
            Binary::Or => self.or(&[a, b]),
            Binary::Implies => {
                let not = self.formulae.not(a)?;
                self.or(&[not, b])
            }
            Binary::Iff => {
                self.look_at(&[a, b])?;
                self.formulae.iff(a, b)
            }
            Binary::Xor => {
                let not = self.formulae.not(b)?;
                self.binary(Binary::Iff, a, not)
            }
            Binary::Until => self.formulae.until(a, b),
            Binary::Release => self.formulae.release(a, b),
            Binary::WeakUntil => self.formulae.weak_until(a, b),
            Binary::StrongRelease => self.formulae.strong_release(a, b),
            Binary::Since => self.formulae.since(a, b),
            Binary::Triggered => self.formulae.triggered(a, b),
        }
    }
}

/// How the parts of a tree hang together once parentheses and double negations are seen through. A chain of a
/// million operands is then one conjunction, and not a million of growing ones.
struct Shape {
    /// For each part the one that it is, and whether it is negated.
    core: Vec<(usize, bool)>,
    /// Which parts are operands of a chain of their own kind, which takes theirs.
    gathered: Vec<bool>,
}

impl Shape {
    fn of(tree: &Tree) -> Shape {
        let mut core: Vec<(usize, bool)> = Vec::with_capacity(tree.parts.len());
        for (at, part) in tree.parts.iter().enumerate() {
            core.push(match part.kind {
                Kind::Group(inner) => core[inner],
                Kind::Unary(Unary::Not, _, inner) => (core[inner].0, !core[inner].1),
                _ => (at, false),
            });
        }
        let mut shape = Shape { core, gathered: vec![false; tree.parts.len()] };
        for at in 0..tree.parts.len() {
            let Some(chain) = shape.chain(tree, at) else { continue };
            for (operand, negated) in shape.sides(tree, at).into_iter().flatten() {
                shape.gathered[operand] = !negated && shape.chain(tree, operand) == Some(chain);
            }
        }
        shape
    }

    fn chain(&self, tree: &Tree, at: usize) -> Option<Chain> {
        match tree.parts[at].kind {
            Kind::Binary(Binary::And, ..) => Some(Chain::And),
            Kind::Binary(Binary::Or | Binary::Implies, ..) => Some(Chain::Or),
            _ => None,
        }
    }

    /// The two operands of a part, and whether they are negated.
    fn sides(&self, tree: &Tree, at: usize) -> Option<[(usize, bool); 2]> {
        let Kind::Binary(operator, _, left, right) = tree.parts[at].kind else { return None };
        let (left, right) = (self.core[left], self.core[right]);
        Some([(left.0, left.1 != (operator == Binary::Implies)), right])
    }

    /// All operands of a chain, and whether they are negated.
    fn operands(&self, tree: &Tree, at: usize) -> Vec<(usize, bool)> {
        let (mut open, mut all) = (vec![at], Vec::new());
        while let Some(at) = open.pop() {
            for (operand, negated) in self.sides(tree, at).into_iter().flatten() {
                if self.gathered[operand] {
                    open.push(operand);
                } else {
                    all.push((operand, negated));
                }
            }
        }
        all
    }
}
