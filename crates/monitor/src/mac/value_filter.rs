//! Filter for values that need not be reported.

use super::abstraction::{Abstraction, Constant, Threshold};
use super::cell::Cell;
use super::operator::Binary;
use super::value::{Type, Value};
use alloc::string::String;
use alloc::vec::Vec;

/// Decides which values of one variable must be reported: all others have no effect.
///
/// It caches the region around the last value that contains no threshold, so that most values cost two
/// comparisons, however many thresholds there are.
///
/// ```
/// use invigil_monitor::mac::{Abstraction, Binary, Constant, ValueFilter, Threshold, Type, Value};
/// let ten = Threshold { operator: Binary::AtMost, ty: Type::Int, constant: Constant::Whole(10) };
/// let mut filter = ValueFilter::new(&Abstraction::Thresholds(vec![ten]));
/// let reported = [1, 5, 10, 11, 12, 3].map(|value| filter.passes(Value::Int(value)));
/// assert_eq!(reported, [true, false, false, true, false, true]);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ValueFilter {
    /// `None` if all values are reported.
    thresholds: Option<Vec<Threshold>>,
    region: Region,
    /// The last value.
    last: LastValue,
}

/// A region of values without an effect.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Region {
    Nothing,
    Whole(i64, i64),
    Floating(f64, f64),
}

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum LastValue {
    Nothing,
    Plain(Cell, Type),
    Text(String),
}

impl LastValue {
    fn value(&self) -> Value<'_> {
        match self {
            LastValue::Nothing => Value::Undefined,
            LastValue::Text(text) => Value::String(text),
            LastValue::Plain(cell, ty) => {
                cell.value(*ty, &super::cell::Texts { kept: &[], scratch: &[], constant: &[] })
            }
        }
    }
}

impl ValueFilter {
    /// A filter in its initial state.
    pub fn new(abstraction: &Abstraction) -> ValueFilter {
        let thresholds = match abstraction {
            Abstraction::Off(_) => None,
            Abstraction::Thresholds(thresholds) => Some(thresholds.clone()),
        };
        ValueFilter { thresholds, region: Region::Nothing, last: LastValue::Nothing }
    }

    /// Whether it has the thresholds of another filter, in any state.
    pub(super) fn is_like(&self, other: &ValueFilter) -> bool {
        self.thresholds == other.thresholds
    }

    /// Whether a new value must be reported.
    ///
    /// That is the first one, one that changes a threshold, and every value without abstraction.
    /// [`Value::Undefined`] is reported, and resets the filter.
    #[inline]
    pub fn passes(&mut self, value: Value<'_>) -> bool {
        let is_in_region = match (self.region, value) {
            (Region::Nothing, _) => false,
            (Region::Floating(low, high), Value::Double(value)) => (low..=high).contains(&value),
            (Region::Floating(low, high), Value::Float(value)) => (low..=high).contains(&value.into()),
            (Region::Floating(..), _) | (_, Value::Float(_) | Value::Double(_)) => false,
            (Region::Whole(low, high), value) => match Cell::plain(value) {
                Some(cell) if cell.is_known() => (low..=high).contains(&cell.as_whole()),
                _ => false,
            },
        };
        !is_in_region && self.passes_uncached(value)
    }

    /// Like [`passes`](ValueFilter::passes), but compares with all thresholds instead of the cached region.
    #[cold]
    fn passes_uncached(&mut self, value: Value<'_>) -> bool {
        let Some(thresholds) = &self.thresholds else { return true };
        let (last, first) = (self.last.value(), matches!(self.last, LastValue::Nothing));
        let report = first
            || value.ty() != last.ty()
            || thresholds.iter().any(|threshold| threshold.holds(last) != threshold.holds(value));
        self.region = region(thresholds, value);
        match (&mut self.last, value) {
            (LastValue::Text(text), Value::String(value)) => {
                text.clear();
                text.push_str(value);
            }
            (last, Value::String(value)) => *last = LastValue::Text(value.into()),
            (last, value) => {
                *last = match (Cell::plain(value), value.ty()) {
                    (Some(cell), Some(ty)) => LastValue::Plain(cell, ty),
                    _ => LastValue::Nothing,
                };
            }
        }
        report
    }
}

/// The region around a value, if all thresholds are compared without conversion.
fn region(thresholds: &[Threshold], value: Value<'_>) -> Region {
    let (Some(ty), Some(cell)) = (value.ty(), Cell::plain(value)) else { return Region::Nothing };
    let fraction = matches!(ty, Type::Float | Type::Double);
    let (mut whole, mut floating) = ((i64::MIN, i64::MAX), (f64::NEG_INFINITY, f64::INFINITY));
    for threshold in thresholds {
        match threshold.constant {
            Constant::Whole(at) if !fraction => {
                let neighbours = (at.saturating_sub(1), at.saturating_add(1));
                narrow(&mut whole, threshold.operator, cell.as_whole(), at, neighbours);
            }
            Constant::Floating(at) if fraction && !at.is_nan() => {
                let neighbours = (at.next_down(), at.next_up());
                narrow(&mut floating, threshold.operator, cell.as_floating(), at, neighbours);
            }
            Constant::Floating(_) if fraction => {}
            _ => return Region::Nothing,
        }
    }
    match fraction {
        false => Region::Whole(whole.0, whole.1),
        true if cell.as_floating().is_nan() => Region::Nothing,
        true => Region::Floating(floating.0, floating.1),
    }
}

/// Shrinks a region around `value` at the threshold `at`; `below` and `above` are its neighbours.
fn narrow<T: PartialOrd + Copy>(
    (low, high): &mut (T, T),
    operator: Binary,
    value: T,
    at: T,
    (below, above): (T, T),
) {
    let (max, min) = match operator {
        Binary::Less | Binary::AtLeast if value < at => (Some(below), None),
        Binary::Less | Binary::AtLeast => (None, Some(at)),
        Binary::AtMost | Binary::Greater if value <= at => (Some(at), None),
        Binary::AtMost | Binary::Greater => (None, Some(above)),
        _ if value < at => (Some(below), None),
        _ if value > at => (None, Some(above)),
        _ => (Some(at), Some(at)),
    };
    if let Some(max) = max
        && max < *high
    {
        *high = max;
    }
    if let Some(min) = min
        && min > *low
    {
        *low = min;
    }
}
