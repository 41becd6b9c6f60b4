//! Formulae as they were written: every operator and every parenthesis, each with its place.

use super::{Binary, Unary, words};
use crate::formula::Proposition;
use std::fmt::{self, Write};
use std::ops::Range;

/// A formula as it was written. Printed, it has our spellings and none of the parentheses that say nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// Parts before what they are part of; the whole is the last.
    pub(super) parts: Vec<Part>,
}

/// A part of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) kind: Kind,
    /// The operator, or all of what has none.
    pub(super) span: Range<usize>,
}

/// The kinds of parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Constant(bool),
    Atom(Proposition),
    /// What stands in parentheses.
    Group(usize),
    Unary(Unary, Option<Box<Bound>>, usize),
    Binary(Binary, Option<Box<Bound>>, usize, usize),
}

/// The instants that an operator looks at, as distances from now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) from: u64,
    pub(super) to: Option<u64>,
    pub(super) span: Range<usize>,
}

impl Tree {
    /// Its atoms and references, in the order in which they are written, each with its place in bytes of the
    /// text.
    pub fn atoms(&self) -> impl Iterator<Item = (&Proposition, Range<usize>)> {
        self.parts.iter().filter_map(|part| match &part.kind {
            Kind::Atom(proposition) => Some((proposition, part.span.clone())),
            _ => None,
        })
    }

    /// The names of the monitors that it refers to, with their places.
    pub(super) fn references(&self) -> impl Iterator<Item = (&str, &Range<usize>)> {
        self.parts.iter().filter_map(|part| match &part.kind {
            Kind::Atom(Proposition::Monitor(name)) => Some((name.as_str(), &part.span)),
            _ => None,
        })
    }

    /// The operands of a chain of one operator, `&` or `|`, at the top; or the whole.
    pub(super) fn operands(&self) -> (Option<Binary>, Vec<usize>) {
        let mut at = self.parts.len() - 1;
        let Kind::Binary(operator @ (Binary::And | Binary::Or), ..) = self.parts[at].kind else {
            return (None, vec![at]);
        };
        let mut operands = Vec::new();
        while let Kind::Binary(found, _, left, right) = self.parts[at].kind
            && found == operator
        {
            operands.push(right);
            at = left;
        }
        operands.push(at);
        operands.reverse();
        (Some(operator), operands)
    }

    /// The whole, without parentheses around all of it.
    pub(super) fn root(&self) -> usize {
        let mut at = self.parts.len() - 1;
        while let Kind::Group(inner) = self.parts[at].kind {
            at = inner;
        }
        at
    }

    /// Whether a part is written in parentheses: only those around two operands say something.
    fn in_parentheses(&self, mut at: usize) -> bool {
        let group = matches!(self.parts[at].kind, Kind::Group(_));
        while let Kind::Group(inner) = self.parts[at].kind {
            at = inner;
        }
        group && matches!(self.parts[at].kind, Kind::Binary(..))
    }

    /// Writes a part.
    pub(super) fn write(&self, part: usize, out: &mut impl Write) -> fmt::Result {
        enum Piece {
            Part(usize),
            Operator(usize),
            Close,
        }
        let mut open = vec![Piece::Part(part)];
        while let Some(piece) = open.pop() {
            let at = match piece {
                Piece::Close => {
                    out.write_char(')')?;
                    continue;
                }
                Piece::Operator(at) | Piece::Part(at) => at,
            };
            match &self.parts[at].kind {
                Kind::Constant(value) => write!(out, "{value}")?,
                Kind::Atom(proposition) => out.write_str(&atom(proposition))?,
                Kind::Group(inner) => {
                    if matches!(self.parts[*inner].kind, Kind::Binary(..)) {
                        out.write_char('(')?;
                        open.push(Piece::Close);
                    }
                    open.push(Piece::Part(*inner));
                }
                Kind::Unary(operator, bound, inner) => {
                    out.write_str(operator.text())?;
                    write_bound(bound.as_deref(), operator.steps(), out)?;
                    if *operator != Unary::Not && !self.in_parentheses(*inner) {
                        out.write_char(' ')?;
                    }
                    open.push(Piece::Part(*inner));
                }
                Kind::Binary(operator, bound, ..) if matches!(piece, Piece::Operator(_)) => {
                    write!(out, " {}", operator.text())?;
                    write_bound(bound.as_deref(), false, out)?;
                    out.write_char(' ')?;
                }
                Kind::Binary(.., left, right) => {
                    open.extend([Piece::Part(*right), Piece::Operator(at), Piece::Part(*left)]);
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(self.root(), f)
    }
}

fn write_bound(bound: Option<&Bound>, steps: bool, out: &mut impl Write) -> fmt::Result {
    match bound {
        None => Ok(()),
        Some(bound) if steps => write!(out, "[{}]", bound.from),
        Some(Bound { from, to: Some(to), .. }) => write!(out, "[{from},{to}]"),
        Some(Bound { from, to: None, .. }) => write!(out, "[{from},inf]"),
    }
}

/// An atom as it is read again.
pub(crate) fn atom(proposition: &Proposition) -> String {
    match proposition {
        Proposition::Name(name) if words::is_plain(name) => name.clone(),
        Proposition::Name(name) => words::quoted(name, '\''),
        Proposition::Expression(text) => words::quoted(text, '"'),
        Proposition::Monitor(name) if words::is_name(name) => format!("@{name}"),
        Proposition::Monitor(name) => format!("@{}", words::quoted(name, '\'')),
        Proposition::Fresh(_) => proposition.to_string(),
    }
}
