//! Checks that sent values fit into messages.

use super::check::{binary, conjunction};
use invigil_model::{Binary, Domain, Expression, Statement, Unary};

/// Returns the assertion that a value fits into a message; a violation is a fault of the sender. Returns `None` if
/// it always fits. `ranges` are the ranges of the variables.
pub(super) fn payload_assertion(
    ranges: &[(i64, i64)],
    message: &str,
    kind: &Domain,
    value: &Expression,
) -> Option<Statement> {
    // Boolean and enum values always fit.
    let Domain::Integer { low, high } = *kind else { return None };
    let (least, most) = range(ranges, value).unwrap_or((i64::MIN, i64::MAX));
    let bound = |operator, bound| binary(operator, value.clone(), Expression::Constant(bound));
    let above = (least < low).then(|| bound(Binary::GreaterOrEqual, low));
    let below = (most > high).then(|| bound(Binary::LessOrEqual, high));
    if above.is_none() && below.is_none() {
        return None;
    }
    let condition = conjunction(above.into_iter().chain(below).collect());
    let message = format!("value carried by {message} is outside {low}..{high}");
    Some(Statement::Assert { condition, message })
}

/// Returns bounds of an expression, as far as they are easy to compute. The recursion is bounded by the maximum depth
/// of expressions.
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
        Expression::Binary(operator, operands) => {
            let (left, right) = (range(ranges, &operands.0), range(ranges, &operands.1));
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
