//! Syntax trees: formulae as written, with all operators and parentheses and their positions.

use super::{Binary, Unary, spelling};
use crate::formula::Proposition;
use std::fmt::{self, Write};
use std::ops::Range;

/// Syntax tree of a formula. It is printed with standard spellings and without redundant parentheses around single operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxTree {
    /// The nodes, operands first; the root is the last one.
    pub(super) nodes: Vec<TreeNode>,
}

/// Node of a syntax tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TreeNode {
    pub(super) kind: NodeKind,
    /// The position of the operator, or of the whole node if it has none.
    pub(super) span: Range<usize>,
}

/// Kind of a node, with the indices of its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    Constant(bool),
    Atom(Proposition),
    /// A parenthesised formula.
    Group(usize),
    Unary(Unary, Option<Box<Bound>>, usize),
    Binary(Binary, Option<Box<Bound>>, usize, usize),
}

/// Positions to which a bounded operator applies, as distances from the current one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) from: u64,
    pub(super) to: Option<u64>,
    pub(super) span: Range<usize>,
}

impl SyntaxTree {
    /// Returns the atoms and references in source order, each with its position as a byte range of the text.
    pub fn atoms(&self) -> impl Iterator<Item = (&Proposition, Range<usize>)> {
        self.nodes.iter().filter_map(|node| match &node.kind {
            NodeKind::Atom(proposition) => Some((proposition, node.span.clone())),
            _ => None,
        })
    }

    /// Returns the names after `@`, with their positions.
    pub(super) fn references(&self) -> impl Iterator<Item = (&str, &Range<usize>)> {
        self.nodes.iter().filter_map(|node| match &node.kind {
            NodeKind::Atom(Proposition::Monitor(name)) => Some((name.as_str(), &node.span)),
            _ => None,
        })
    }

    /// Returns the operands of the chain of `&` or `|` at the root, or just the root.
    pub(super) fn operands(&self) -> (Option<Binary>, Vec<usize>) {
        let mut at = self.nodes.len() - 1;
        let NodeKind::Binary(operator @ (Binary::And | Binary::Or), ..) = self.nodes[at].kind else {
            return (None, vec![at]);
        };
        let mut operands = Vec::new();
        while let NodeKind::Binary(found, _, left, right) = self.nodes[at].kind
            && found == operator
        {
            operands.push(right);
            at = left;
        }
        operands.push(at);
        operands.reverse();
        (Some(operator), operands)
    }

    /// Returns the root without enclosing parentheses.
    pub(super) fn root(&self) -> usize {
        let mut at = self.nodes.len() - 1;
        while let NodeKind::Group(inner) = self.nodes[at].kind {
            at = inner;
        }
        at
    }

    /// Whether a node is printed in parentheses, which are kept only around binary operators.
    fn is_parenthesised(&self, mut at: usize) -> bool {
        let group = matches!(self.nodes[at].kind, NodeKind::Group(_));
        while let NodeKind::Group(inner) = self.nodes[at].kind {
            at = inner;
        }
        group && matches!(self.nodes[at].kind, NodeKind::Binary(..))
    }

    /// Writes a node.
    pub(super) fn write(&self, node: usize, out: &mut impl Write) -> fmt::Result {
        /// Output that remains to be written.
        enum Output {
            Node(usize),
            Operator(usize),
            Close,
        }
        let mut open = vec![Output::Node(node)];
        while let Some(output) = open.pop() {
            let at = match output {
                Output::Close => {
                    out.write_char(')')?;
                    continue;
                }
                Output::Operator(at) | Output::Node(at) => at,
            };
            match &self.nodes[at].kind {
                NodeKind::Constant(value) => write!(out, "{value}")?,
                NodeKind::Atom(proposition) => out.write_str(&atom(proposition))?,
                NodeKind::Group(inner) => {
                    if matches!(self.nodes[*inner].kind, NodeKind::Binary(..)) {
                        out.write_char('(')?;
                        open.push(Output::Close);
                    }
                    open.push(Output::Node(*inner));
                }
                NodeKind::Unary(operator, bound, inner) => {
                    out.write_str(operator.text())?;
                    write_bound(bound.as_deref(), operator.is_step(), out)?;
                    if *operator != Unary::Not && !self.is_parenthesised(*inner) {
                        out.write_char(' ')?;
                    }
                    open.push(Output::Node(*inner));
                }
                NodeKind::Binary(operator, bound, ..) if matches!(output, Output::Operator(_)) => {
                    write!(out, " {}", operator.text())?;
                    write_bound(bound.as_deref(), false, out)?;
                    out.write_char(' ')?;
                }
                NodeKind::Binary(.., left, right) => {
                    open.extend([Output::Node(*right), Output::Operator(at), Output::Node(*left)]);
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for SyntaxTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(self.root(), f)
    }
}

fn write_bound(bound: Option<&Bound>, is_step: bool, out: &mut impl Write) -> fmt::Result {
    match bound {
        None => Ok(()),
        Some(bound) if is_step => write!(out, "[{}]", bound.from),
        Some(Bound { from, to: Some(to), .. }) => write!(out, "[{from},{to}]"),
        Some(Bound { from, to: None, .. }) => write!(out, "[{from},inf]"),
    }
}

/// Returns an atom in the syntax that parses to the same proposition.
pub(crate) fn atom(proposition: &Proposition) -> String {
    match proposition {
        Proposition::Name(name) if spelling::is_plain(name) => name.clone(),
        Proposition::Name(name) => spelling::quoted(name, '\''),
        Proposition::Expression(text) => spelling::quoted(text, '"'),
        Proposition::Monitor(name) if spelling::is_name(name) => format!("@{name}"),
        Proposition::Monitor(name) => format!("@{}", spelling::quoted(name, '\'')),
        Proposition::Fresh(_) => proposition.to_string(),
    }
}
