//! Expressions as the document prints them: `(¬⟨1,s⟩ ∧ ¬⟨2,s⟩) ∨ (⟨1,s⟩ ∧ ¬⟨2,s⟩)`.

use super::{Expression, Node, Pool};
use crate::memory::Atom;
use std::fmt;

/// An expression that can be printed; see [`Pool::written`].
pub struct Written<'a> {
    pool: &'a Pool,
    expression: Expression,
    name: &'a dyn Fn(Atom) -> String,
}

/// What is still to be printed.
enum Piece {
    /// An expression, and whether it needs brackets if it has several parts.
    Expression(Expression, bool),
    Text(&'static str),
}

impl Pool {
    /// An expression, to be printed as the document does.
    ///
    /// ```
    /// use invigil_decent::expression::Pool;
    /// use invigil_decent::memory::{Atom, Obligation};
    /// use invigil_decent::system::PropositionId;
    ///
    /// let mut pool = Pool::default();
    /// let atom = Atom::Observed(PropositionId(0));
    /// let [first, second] = [1, 2].map(|at| pool.literal(Obligation { at, atom }, at == 1));
    /// let both = pool.and([first, second]);
    /// assert_eq!(pool.written(both, &|_| "s".into()).to_string(), "⟨1,s⟩ ∧ ¬⟨2,s⟩");
    /// ```
    pub fn written<'a>(&'a self, expression: Expression, name: &'a dyn Fn(Atom) -> String) -> Written<'a> {
        Written { pool: self, expression, name }
    }
}

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut open = vec![Piece::Expression(self.expression, false)];
        while let Some(piece) = open.pop() {
            let (expression, inside) = match piece {
                Piece::Text(text) => {
                    f.write_str(text)?;
                    continue;
                }
                Piece::Expression(expression, inside) => (expression, inside),
            };
            let (parts, between) = match self.pool.node(expression) {
                Node::Constant(true) => ("⊤", None),
                Node::Constant(false) => ("⊥", None),
                Node::Atom(obligation) => {
                    write!(f, "⟨{},{}⟩", obligation.at, (self.name)(obligation.atom))?;
                    ("", None)
                }
                Node::Not(part) => {
                    open.push(Piece::Expression(*part, true));
                    ("¬", None)
                }
                Node::And(parts) => ("", Some((parts, " ∧ "))),
                Node::Or(parts) => ("", Some((parts, " ∨ "))),
            };
            f.write_str(parts)?;
            let Some((parts, between)) = between else { continue };
            if inside {
                open.push(Piece::Text(")"));
            }
            for (place, part) in parts.iter().enumerate().rev() {
                open.push(Piece::Expression(*part, true));
                if place > 0 {
                    open.push(Piece::Text(between));
                }
            }
            if inside {
                f.write_str("(")?;
            }
        }
        Ok(())
    }
}
