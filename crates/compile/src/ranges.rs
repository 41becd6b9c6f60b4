//! Value ranges of expressions, derived from the ranges of variables.
//!
//! They make most checks of the generated code unnecessary. Memory accesses must not rely on them, because the code may
//! be called with words that are not reachable.

use invigil_model::layout::mask;
use invigil_model::{Binary, Expression, LValue, Model, Statement, Unary};

/// The smallest and the largest value of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) low: i64,
    pub(crate) high: i64,
}

impl Range {
    pub(crate) const ALL: Range = Range { low: i64::MIN, high: i64::MAX };
    const TRUTH: Range = Range { low: 0, high: 1 };

    pub(crate) fn of(low: i64, high: i64) -> Range {
        Range { low, high }
    }

    pub(crate) fn only(value: i64) -> Range {
        Range { low: value, high: value }
    }

    pub(crate) fn constant(self) -> Option<i64> {
        (self.low == self.high).then_some(self.low)
    }

    pub(crate) fn contains(self, value: i64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    pub(crate) fn is_within(self, other: Range) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    /// The truth value, if it is the same for all values.
    pub(crate) fn truth(self) -> Option<bool> {
        match self.constant() {
            Some(0) => Some(false),
            _ => (!self.contains(0)).then_some(true),
        }
    }

    pub(crate) fn join(self, other: Range) -> Range {
        Range { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn condition(truth: Option<bool>) -> Range {
        truth.map_or(Range::TRUTH, |is_true| Range::only(i64::from(is_true)))
    }

    /// The range spanned by the corner values; the full range if one of them wraps around.
    fn corners(corners: [i128; 4]) -> Range {
        let (low, high) = corners
            .iter()
            .fold((i128::MAX, i128::MIN), |(low, high), value| (low.min(*value), high.max(*value)));
        match (i64::try_from(low), i64::try_from(high)) {
            (Ok(low), Ok(high)) => Range { low, high },
            _ => Range::ALL,
        }
    }
}

pub(crate) fn unary(operator: Unary, operand: Range) -> Range {
    match operator {
        Unary::Not => Range::condition(operand.truth().map(|is_true| !is_true)),
        Unary::Negate if operand.low == i64::MIN => Range::ALL,
        Unary::Negate => Range::of(-operand.high, -operand.low),
        Unary::Complement => Range::of(!operand.high, !operand.low),
    }
}

/// The range of `left operator right` if it raises no fault.
pub(crate) fn binary(operator: Binary, left: Range, right: Range) -> Range {
    let corners = |operation: fn(i128, i128) -> i128| {
        let corner = |a: i64, b: i64| operation(i128::from(a), i128::from(b));
        Range::corners([
            corner(left.low, right.low),
            corner(left.low, right.high),
            corner(left.high, right.low),
            corner(left.high, right.high),
        ])
    };
    match operator {
        Binary::Add => corners(|a, b| a + b),
        Binary::Subtract => corners(|a, b| a - b),
        Binary::Multiply => corners(|a, b| a * b),
        Binary::Divide if right.low > 0 => corners(|a, b| a / b),
        Binary::Divide => Range::ALL,
        Binary::Remainder => {
            let max = right.low.unsigned_abs().max(right.high.unsigned_abs()).saturating_sub(1);
            let max = i64::try_from(max).unwrap_or(i64::MAX);
            Range::of(left.low.clamp(-max, 0), left.high.clamp(0, max))
        }
        Binary::BitAnd => match (left.low >= 0, right.low >= 0) {
            (true, true) => Range::of(0, left.high.min(right.high)),
            (true, false) => Range::of(0, left.high),
            (false, true) => Range::of(0, right.high),
            (false, false) => Range::ALL,
        },
        Binary::BitOr | Binary::BitXor if left.low >= 0 && right.low >= 0 => {
            let bits = 64 - (left.high | right.high).leading_zeros();
            Range::of(0, mask(bits) as i64)
        }
        Binary::BitOr | Binary::BitXor => Range::ALL,
        Binary::ShiftLeft => match right.constant() {
            Some(distance @ 0..=62) => binary(Binary::Multiply, left, Range::only(1 << distance)),
            _ => Range::ALL,
        },
        Binary::ShiftRight => match right.constant() {
            Some(distance @ 0..=63) => Range::of(left.low >> distance, left.high >> distance),
            _ => Range::of(left.low.min(0), left.high.max(0)),
        },
        Binary::And => Range::condition(match (left.truth(), right.truth()) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        }),
        Binary::Or => Range::condition(match (left.truth(), right.truth()) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        }),
        Binary::Implies => Range::condition(match (left.truth(), right.truth()) {
            (Some(false), _) | (_, Some(true)) => Some(true),
            (Some(true), Some(false)) => Some(false),
            _ => None,
        }),
        Binary::Equal => Range::condition(equal(left, right)),
        Binary::NotEqual => Range::condition(equal(left, right).map(|is_equal| !is_equal)),
        Binary::Less => Range::condition(less(left, right)),
        Binary::Greater => Range::condition(less(right, left)),
        Binary::LessOrEqual => Range::condition(less(right, left).map(|is_less| !is_less)),
        Binary::GreaterOrEqual => Range::condition(less(left, right).map(|is_less| !is_less)),
    }
}

fn equal(left: Range, right: Range) -> Option<bool> {
    if left.high < right.low || right.high < left.low {
        return Some(false);
    }
    (left.constant().is_some() && left == right).then_some(true)
}

fn less(left: Range, right: Range) -> Option<bool> {
    if left.high < right.low {
        Some(true)
    } else if left.low >= right.high {
        Some(false)
    } else {
        None
    }
}

/// Whether `left operator right` can raise a fault.
pub(crate) fn can_fault(operator: Binary, right: Range) -> bool {
    match operator {
        Binary::Divide | Binary::Remainder => right.contains(0),
        Binary::ShiftLeft | Binary::ShiftRight => !right.is_within(Range::of(0, 63)),
        _ => false,
    }
}

/// Maximum number of nodes of an expression that is evaluated even where its value is not needed.
const MAX_SIMPLE_NODES: u32 = 10;

/// A model with the ranges of its variables.
pub(crate) struct ModelRanges<'a> {
    pub(crate) model: &'a Model,
    /// The range of each variable.
    ranges: Vec<Range>,
}

impl<'a> ModelRanges<'a> {
    pub(crate) fn new(model: &'a Model) -> ModelRanges<'a> {
        let parts = model.parts();
        let ranges = parts.variables.iter().map(|variable| variable.domain.range());
        let ranges = ranges.map(|(low, high)| Range::of(low, high)).collect();
        let mut model_ranges = ModelRanges { model, ranges };
        let effects = parts.actions.iter().map(|action| &action.effect[..]);
        effects.chain([&parts.start[..]]).for_each(|effect| model_ranges.widen_wrapping(effect));
        model_ranges
    }

    /// Extends the ranges of variables with wrapping assignments to all values of their bits.
    fn widen_wrapping(&mut self, statements: &[Statement]) {
        for statement in statements {
            match statement {
                Statement::Assign { place, wraps: true, .. } => {
                    self.ranges[place.variable as usize] = self.bit_range(place.variable);
                }
                Statement::If { then, otherwise, .. } => {
                    self.widen_wrapping(then);
                    self.widen_wrapping(otherwise);
                }
                _ => {}
            }
        }
    }

    /// The values that the bits of a variable can represent.
    fn bit_range(&self, variable: u32) -> Range {
        let slot = self.model.layout().slots[variable as usize];
        match i64::try_from(slot.mask()).ok().and_then(|mask| slot.low.checked_add(mask)) {
            Some(high) => Range::of(slot.low, high),
            None => Range::ALL,
        }
    }

    /// The range of an element of a variable in reachable configurations.
    pub(crate) fn range(&self, variable: u32) -> Range {
        self.ranges[variable as usize]
    }

    /// Whether the range of a variable also holds in unreachable configurations.
    pub(crate) fn is_range_unconditional(&self, variable: u32) -> bool {
        self.ranges[variable as usize] == self.bit_range(variable)
    }

    /// The range of an expression that is short and never raises a fault; none for all others.
    pub(crate) fn simple_range(&self, expression: &Expression) -> Option<Range> {
        let mut remaining_nodes = MAX_SIMPLE_NODES;
        self.range_within(expression, &mut remaining_nodes)
    }

    fn range_within(&self, expression: &Expression, remaining_nodes: &mut u32) -> Option<Range> {
        *remaining_nodes = remaining_nodes.checked_sub(1)?;
        match expression {
            Expression::Constant(value) => Some(Range::only(*value)),
            Expression::Read(place) => {
                let range = self.range(place.variable);
                let Some(index) = &place.index else { return Some(range) };
                let length = self.model.variable(place.variable).elements();
                let index = self.range_within(index, remaining_nodes)?;
                // Ranges that do not hold for arbitrary words are checked again where memory is accessed.
                index.is_within(Range::of(0, i64::from(length) - 1)).then_some(range)
            }
            Expression::Unary(operator, operand) => {
                Some(unary(*operator, self.range_within(operand, remaining_nodes)?))
            }
            Expression::Binary(operator, both) => {
                let (a, b) = (
                    self.range_within(&both.0, remaining_nodes)?,
                    self.range_within(&both.1, remaining_nodes)?,
                );
                (!can_fault(*operator, b)).then(|| binary(*operator, a, b))
            }
            Expression::If(parts) => {
                self.range_within(&parts.0, remaining_nodes)?;
                Some(
                    self.range_within(&parts.1, remaining_nodes)?
                        .join(self.range_within(&parts.2, remaining_nodes)?),
                )
            }
            Expression::Before(earlier) => self.range_within(earlier, remaining_nodes),
            Expression::Happens(_) => Some(Range::TRUTH),
            Expression::Enabled(_) => None,
        }
    }

    /// The element that an lvalue denotes, if it is constant and in bounds.
    pub(crate) fn constant_element(&self, place: &LValue) -> Option<u32> {
        let Some(index) = &place.index else { return Some(0) };
        let element = u32::try_from(self.simple_range(index)?.constant()?).ok()?;
        (element < self.model.variable(place.variable).elements()).then_some(element)
    }

    /// The first and the last word of a variable.
    pub(crate) fn word_span(&self, variable: u32) -> (u32, u32) {
        let slot = self.model.layout().slots[variable as usize];
        let last = self.model.variable(variable).elements().saturating_sub(1);
        (slot.at(0).0 as u32, slot.at(last).0 as u32)
    }
}
