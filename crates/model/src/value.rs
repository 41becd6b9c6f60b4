//! Evaluation of expressions. This is the reference semantics with which every optimised engine must agree.

use crate::action::ActionId;
use crate::expression::{Binary, Expression, LValue, Unary};
use crate::fault::{Fault, FaultReason};
use crate::model::Model;

/// The step in which an expression is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The words of the source; `None` for the initial step.
    pub source: Option<&'a [u64]>,
    /// The action; `None` for the initial step and for idling.
    pub action: Option<ActionId>,
    /// The words of the target.
    pub target: &'a [u64],
}

impl<'a> Step<'a> {
    /// The initial step into `target`; also used to evaluate expressions over a single state.
    pub fn at(target: &'a [u64]) -> Step<'a> {
        Step { source: None, action: None, target }
    }

    /// The single-configuration step in which `before(…)` is evaluated.
    fn before(self) -> Step<'a> {
        Step::at(self.source.unwrap_or(self.target))
    }
}

impl Model {
    /// The value of an expression in a step.
    pub fn value(&self, expression: &Expression, step: Step<'_>) -> Result<i64, FaultReason> {
        Ok(match expression {
            Expression::Constant(value) => *value,
            Expression::Read(place) => {
                let index = self.index(place, step)?;
                self.layout().slots[place.variable as usize].read(step.target, index)
            }
            Expression::Unary(operator, operand) => {
                let value = self.value(operand, step)?;
                match operator {
                    Unary::Not => i64::from(value == 0),
                    Unary::Negate => value.wrapping_neg(),
                    Unary::Complement => !value,
                }
            }
            Expression::Binary(operator, both) => {
                let left = self.value(&both.0, step)?;
                match (operator, left != 0) {
                    (Binary::And, false) => 0,
                    (Binary::Or, true) | (Binary::Implies, false) => 1,
                    _ => binary(*operator, left, self.value(&both.1, step)?)?,
                }
            }
            Expression::If(parts) => {
                let part = if self.value(&parts.0, step)? != 0 { &parts.1 } else { &parts.2 };
                self.value(part, step)?
            }
            Expression::Before(inside) => self.value(inside, step.before())?,
            Expression::Happens(actions) => {
                i64::from(step.action.is_some_and(|action| actions.binary_search(&action).is_ok()))
            }
            Expression::Enabled(actions) => {
                let mut is_enabled = false;
                for action in actions {
                    // An action whose guard raises a fault counts as enabled.
                    is_enabled |= self.is_enabled(step.target, *action).unwrap_or(true);
                }
                i64::from(is_enabled)
            }
        })
    }

    /// Whether a predicate is true in a step.
    pub fn holds(&self, predicate: &Expression, step: Step<'_>) -> Result<bool, Fault> {
        let value = self.value(predicate, step);
        value.map(|value| value != 0).map_err(|reason| Fault { action: None, reason })
    }

    /// The index of the element that `place` denotes.
    pub(crate) fn index(&self, place: &LValue, step: Step<'_>) -> Result<u32, FaultReason> {
        let Some(index) = &place.index else { return Ok(0) };
        let (variable, index) = (self.variable(place.variable), self.value(index, step)?);
        let length = variable.elements();
        match u32::try_from(index) {
            Ok(at) if at < length => Ok(at),
            _ => Err(FaultReason::NoElement { array: variable.name.clone(), index, length }),
        }
    }
}

fn binary(operator: Binary, left: i64, right: i64) -> Result<i64, FaultReason> {
    let shift = || match right {
        0..=63 => Ok(right as u32),
        _ => Err(FaultReason::Shift(right)),
    };
    Ok(match operator {
        Binary::Add => left.wrapping_add(right),
        Binary::Subtract => left.wrapping_sub(right),
        Binary::Multiply => left.wrapping_mul(right),
        Binary::Divide | Binary::Remainder if right == 0 => return Err(FaultReason::DivisionByZero),
        Binary::Divide => left.wrapping_div(right),
        Binary::Remainder => left.wrapping_rem(right),
        Binary::BitAnd => left & right,
        Binary::BitOr => left | right,
        Binary::BitXor => left ^ right,
        Binary::ShiftLeft => left.wrapping_shl(shift()?),
        Binary::ShiftRight => left.wrapping_shr(shift()?),
        Binary::Equal => i64::from(left == right),
        Binary::NotEqual => i64::from(left != right),
        Binary::Less => i64::from(left < right),
        Binary::LessOrEqual => i64::from(left <= right),
        Binary::Greater => i64::from(left > right),
        Binary::GreaterOrEqual => i64::from(left >= right),
        // The left operand was not decisive.
        Binary::And | Binary::Or | Binary::Implies => i64::from(right != 0),
    })
}
