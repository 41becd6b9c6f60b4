//! Expressions in the notation of EH18: `(¬⟨1,s⟩ ∧ ¬⟨2,s⟩) ∨ (⟨1,s⟩ ∧ ¬⟨2,s⟩)`.

use super::{Expression, Node, Pool};
use crate::memory::Atom;
use std::fmt;

/// Prints an expression; see [`Pool::display`].
pub struct ExpressionDisplay<'a> {
    pool: &'a Pool,
    expression: Expression,
    name: &'a dyn Fn(Atom) -> String,
}

/// Pending output.
enum Piece {
    /// An expression, and whether it needs parentheses if it has several operands.
    Expression(Expression, bool),
    Text(&'static str),
}

impl Pool {
    /// Returns a printer in the notation of EH18.
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
    /// assert_eq!(pool.display(both, &|_| "s".into()).to_string(), "⟨1,s⟩ ∧ ¬⟨2,s⟩");
    /// ```
    pub fn display<'a>(
        &'a self,
        expression: Expression,
        name: &'a dyn Fn(Atom) -> String,
    ) -> ExpressionDisplay<'a> {
        ExpressionDisplay { pool: self, expression, name }
    }
}

impl fmt::Display for ExpressionDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut open = vec![Piece::Expression(self.expression, false)];
        while let Some(piece) = open.pop() {
            let (expression, needs_parentheses) = match piece {
                Piece::Text(text) => {
                    f.write_str(text)?;
                    continue;
                }
                Piece::Expression(expression, needs_parentheses) => (expression, needs_parentheses),
            };
            let (text, operands) = match self.pool.node(expression) {
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
            f.write_str(text)?;
            let Some((parts, between)) = operands else { continue };
            if needs_parentheses {
                open.push(Piece::Text(")"));
            }
            for (place, part) in parts.iter().enumerate().rev() {
                open.push(Piece::Expression(*part, true));
                if place > 0 {
                    open.push(Piece::Text(between));
                }
            }
            if needs_parentheses {
                f.write_str("(")?;
            }
        }
        Ok(())
    }
}
