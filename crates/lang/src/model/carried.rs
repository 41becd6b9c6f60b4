//! Whether a message can hold what is sent.

use super::check::{all, binary};
use invigil_model::{Binary, Expression, Kind, Statement, Unary};

/// A message that cannot hold its value is a fault of whoever sends it. None if every value that can come is one that
/// the message holds: `ranges` are those of the variables.
pub(super) fn fits(
    ranges: &[(i64, i64)],
    message: &str,
    kind: &Kind,
    value: &Expression,
) -> Option<Statement> {
    // All truth values, and all names of an enum, can be held.
    let Kind::Integer { low, high } = *kind else { return None };
    let (least, most) = range(ranges, value).unwrap_or((i64::MIN, i64::MAX));
    let bound = |operator, bound| binary(operator, value.clone(), Expression::Constant(bound));
    let above = (least < low).then(|| bound(Binary::GreaterOrEqual, low));
    let below = (most > high).then(|| bound(Binary::LessOrEqual, high));
    if above.is_none() && below.is_none() {
        return None;
    }
    let condition = all(above.into_iter().chain(below).collect());
    let message = format!("{message} carries {low}..{high}, not this value");
    Some(Statement::Assert { condition, message })
}

/// The least and the most that an expression can be, as far as it is easily seen. Expressions are no deeper than they
/// are let be where they are made.
fn range(ranges: &[(i64, i64)], expression: &Expression) -> Option<(i64, i64)> {
    Some(match expression {
        Expression::Constant(value) => (*value, *value),
        Expression::Read(place) => *ranges.get(place.variable as usize)?,
        Expression::Before(inside) => range(ranges, inside)?,
        Expression::Happens(_) | Expression::Enabled(_) | Expression::Unary(Unary::Not, _) => (0, 1),
        Expression::Unary(..) => return None,
        Expression::If(parts) => {
            let (this, that) = (range(ranges, &parts.1)?, range(ranges, &parts.2)?);
            (this.0.min(that.0), this.1.max(that.1))
        }
        Expression::Binary(operator, both) => {
            let (left, right) = (range(ranges, &both.0), range(ranges, &both.1));
            match operator {
                Binary::Add => {
                    let (left, right) = (left?, right?);
                    (left.0.checked_add(right.0)?, left.1.checked_add(right.1)?)
                }
                Binary::Subtract => {
                    let (left, right) = (left?, right?);
                    (left.0.checked_sub(right.1)?, left.1.checked_sub(right.0)?)
                }
                Binary::Remainder => {
                    let (left, right) = (left?, right?);
                    if left.0 < 0 || right.0 < 1 {
                        return None;
                    }
                    (0, left.1.min(right.1 - 1))
                }
                Binary::Multiply
                | Binary::Divide
                | Binary::BitAnd
                | Binary::BitOr
                | Binary::BitXor
                | Binary::ShiftLeft
                | Binary::ShiftRight => return None,
                Binary::Equal
                | Binary::NotEqual
                | Binary::Less
                | Binary::LessOrEqual
                | Binary::Greater
                | Binary::GreaterOrEqual
                | Binary::And
                | Binary::Or
                | Binary::Implies => (0, 1),
            }
        }
    })
}
