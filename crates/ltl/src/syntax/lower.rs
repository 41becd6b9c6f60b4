//! Lowering of syntax trees to formulae.

use super::tree::{NodeKind, SyntaxTree};
use super::{Binary, SyntaxError, Unary};
use crate::TooLarge;
use crate::formula::{Formula, Formulae, Node, Proposition};

/// Maximum number of operands that conjunctions and disjunctions may process, per formula of the budget. Without this limit,
/// formulae such as `!!(!!(a & b) & c) & …` would take quadratic time and memory.
const OPERANDS_PER_FORMULA: usize = 16;

/// Lowering of syntax trees with a shared budget for operands.
pub(super) struct Lowering<'a> {
    pub(super) formulae: &'a mut Formulae,
    /// Operands processed so far.
    charged: usize,
}

/// Kind of a chain of operators: of `&`, or of `|` and `->`.
#[derive(Clone, Copy, PartialEq)]
enum ChainKind {
    And,
    Or,
}

impl<'a> Lowering<'a> {
    pub(super) fn new(formulae: &'a mut Formulae) -> Self {
        Lowering { formulae, charged: 0 }
    }

    /// Lowers a tree. `resolve` returns the formulae of references; unknown references stay atoms.
    pub(super) fn formula(
        &mut self,
        tree: &SyntaxTree,
        resolve: impl Fn(&str) -> Option<Formula>,
    ) -> Result<Formula, SyntaxError> {
        let chains = Chains::of(tree);
        let mut values: Vec<Formula> = Vec::with_capacity(tree.nodes.len());
        for (at, node) in tree.nodes.iter().enumerate() {
            let span = match &node.kind {
                NodeKind::Unary(_, Some(bound), _) | NodeKind::Binary(_, Some(bound), ..) => &bound.span,
                _ => &node.span,
            };
            let too_large = |error: TooLarge| SyntaxError::new(error.to_string(), span.clone());
            let value = match &node.kind {
                _ if chains.merged[at] => Ok(Formula::FALSE),
                NodeKind::Constant(value) => Ok(self.formulae.constant(*value)),
                NodeKind::Atom(Proposition::Monitor(name)) if resolve(name).is_some() => {
                    Ok(resolve(name).unwrap_or(Formula::FALSE))
                }
                NodeKind::Atom(proposition) => {
                    let atom = self.formulae.atom_for(proposition.clone());
                    self.formulae.atom(atom)
                }
                NodeKind::Group(inner) => Ok(values[*inner]),
                NodeKind::Unary(Unary::Not, _, inner) => self.formulae.not(values[*inner]),
                NodeKind::Unary(operator, Some(bound), inner) => {
                    self.check_bound(bound, if operator.is_step() { 1 } else { 2 })?;
                    self.bounded_unary(*operator, bound, values[*inner])
                }
                NodeKind::Unary(operator, None, inner) => self.unary(*operator, values[*inner]),
                NodeKind::Binary(Binary::And | Binary::Or | Binary::Implies, ..) => {
                    let operands = chains.operands(tree, at);
                    self.chain(&operands, &values, chains.kind(tree, at))
                }
                NodeKind::Binary(operator, Some(bound), left, right) => {
                    self.check_bound(bound, 5)?;
                    self.bounded_binary(*operator, bound, values[*left], values[*right])
                }
                NodeKind::Binary(operator, None, left, right) => {
                    self.binary(*operator, values[*left], values[*right])
                }
            };
            values.push(value.map_err(too_large)?);
        }
        Ok(values.last().copied().unwrap_or(Formula::TRUE))
    }

    /// Joins the operands of a chain, each with a flag for negation.
    fn chain(
        &mut self,
        operands: &[(usize, bool)],
        values: &[Formula],
        chain: Option<ChainKind>,
    ) -> Result<Formula, TooLarge> {
        let mut all = Vec::with_capacity(operands.len());
        for (operand, negated) in operands {
            let value = values[*operand];
            all.push(if *negated { self.formulae.not(value)? } else { value });
        }
        match chain {
            Some(ChainKind::And) => self.and(&all),
            _ => self.or(&all),
        }
    }

    pub(super) fn and(&mut self, all: &[Formula]) -> Result<Formula, TooLarge> {
        self.charge_operands(all)?;
        self.formulae.and(all.iter().copied())
    }

    pub(super) fn or(&mut self, all: &[Formula]) -> Result<Formula, TooLarge> {
        self.charge_operands(all)?;
        self.formulae.or(all.iter().copied())
    }

    /// Charges the operands of the given formulae to the budget.
    fn charge_operands(&mut self, all: &[Formula]) -> Result<(), TooLarge> {
        let count = |formula: &Formula| match self.formulae.node(*formula) {
            Node::And(parts) | Node::Or(parts) => parts.len(),
            _ => 1,
        };
        self.charged += all.iter().map(count).sum::<usize>();
        let limit = self.formulae.limit().saturating_mul(OPERANDS_PER_FORMULA);
        if self.charged > limit {
            return Err(TooLarge { resource: "operands of conjunctions and disjunctions", limit });
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
                self.charge_operands(&[a, b])?;
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

/// Chains of operators in a tree, modulo parentheses and double negations. A chain of a million operands becomes a single
/// conjunction, not a million growing ones.
struct Chains {
    /// For each node, the node without parentheses and negations, and whether it is negated.
    core: Vec<(usize, bool)>,
    /// The nodes that are part of a larger chain of the same kind.
    merged: Vec<bool>,
}

impl Chains {
    fn of(tree: &SyntaxTree) -> Chains {
        let mut core: Vec<(usize, bool)> = Vec::with_capacity(tree.nodes.len());
        for (at, node) in tree.nodes.iter().enumerate() {
            core.push(match node.kind {
                NodeKind::Group(inner) => core[inner],
                NodeKind::Unary(Unary::Not, _, inner) => (core[inner].0, !core[inner].1),
                _ => (at, false),
            });
        }
        let mut chains = Chains { core, merged: vec![false; tree.nodes.len()] };
        for at in 0..tree.nodes.len() {
            let Some(chain) = chains.kind(tree, at) else { continue };
            for (operand, negated) in chains.sides(tree, at).into_iter().flatten() {
                chains.merged[operand] = !negated && chains.kind(tree, operand) == Some(chain);
            }
        }
        chains
    }

    fn kind(&self, tree: &SyntaxTree, at: usize) -> Option<ChainKind> {
        match tree.nodes[at].kind {
            NodeKind::Binary(Binary::And, ..) => Some(ChainKind::And),
            NodeKind::Binary(Binary::Or | Binary::Implies, ..) => Some(ChainKind::Or),
            _ => None,
        }
    }

    /// Returns the operands of a binary node, and whether they are negated.
    fn sides(&self, tree: &SyntaxTree, at: usize) -> Option<[(usize, bool); 2]> {
        let NodeKind::Binary(operator, _, left, right) = tree.nodes[at].kind else { return None };
        let (left, right) = (self.core[left], self.core[right]);
        Some([(left.0, left.1 != (operator == Binary::Implies)), right])
    }

    /// Returns all operands of a chain, and whether they are negated.
    fn operands(&self, tree: &SyntaxTree, at: usize) -> Vec<(usize, bool)> {
        let (mut open, mut all) = (vec![at], Vec::new());
        while let Some(at) = open.pop() {
            for (operand, negated) in self.sides(tree, at).into_iter().flatten() {
                if self.merged[operand] {
                    open.push(operand);
                } else {
                    all.push((operand, negated));
                }
            }
        }
        all
    }
}
