//! Equality, order and hash of values.
//!
//! Equality is that of Python: numbers are compared by value, not by type (`1 == 1.0 == True`); sequences
//! element by element; sets and dicts regardless of the order of their entries.

use crate::fault::{Budget, EvalResult, Fault, FaultKind};
use crate::heap::{Heap, ObjectKind};
use crate::text::TextArenas;
use crate::value::{Tag, Value};
use core::cmp::Ordering;

/// Reads values: a heap and the texts that strings may refer to.
#[derive(Clone, Copy, Debug)]
pub struct ValueReader<'a> {
    /// The large values.
    pub heap: &'a Heap,
    /// The texts of the event and the program.
    pub texts: TextArenas<'a>,
}

/// A number as an operand of arithmetic.
#[derive(Clone, Copy)]
pub(crate) enum Number {
    Int(i64),
    Float(f64),
}

/// The numeric value of an int, float or bool.
#[inline]
pub(crate) fn number(value: Value) -> Option<Number> {
    match value.tag() {
        Tag::Int => value.as_int().map(Number::Int),
        Tag::Bool => value.as_bool().map(|b| Number::Int(i64::from(b))),
        Tag::Float => value.as_float().map(Number::Float),
        _ => None,
    }
}

/// Compares an integer with a float exactly. Converting the integer could round it.
fn compare_int_float(i: i64, f: f64) -> Option<Ordering> {
    const TWO_63: f64 = 9_223_372_036_854_775_808.0;
    if f.is_nan() {
        None
    } else if f >= TWO_63 {
        Some(Ordering::Less)
    } else if f < -TWO_63 {
        Some(Ordering::Greater)
    } else {
        let whole = f as i64;
        Some(i.cmp(&whole).then_with(|| 0.0_f64.partial_cmp(&(f - whole as f64)).unwrap_or(Ordering::Equal)))
    }
}

pub(crate) fn compare_numbers(a: Number, b: Number) -> Option<Ordering> {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
        (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b),
        (Number::Int(a), Number::Float(b)) => compare_int_float(a, b),
        (Number::Float(a), Number::Int(b)) => compare_int_float(b, a).map(Ordering::reverse),
    }
}

/// Hashes two words; all bits of the result are usable.
///
/// Addresses of objects have regular distances. One multiplication would keep them regular, and entries would
/// cluster in a table; hence the second one.
#[inline(always)]
pub fn mix(a: u64, b: u64) -> u64 {
    fold(fold(a ^ 0x9e37_79b9_7f4a_7c15, b ^ 0xd6e8_feb8_6659_fd93), 0x9fb2_1c65_1e98_df25)
}

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hash = mix(bytes.len() as u64, 0x5bd1_e995);
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        hash = mix(hash, u64::from_le_bytes(word));
    }
    let mut word = [0; 8];
    word[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    mix(hash, u64::from_le_bytes(word))
}

impl<'a> ValueReader<'a> {
    /// The text of a string; `None` if `value` is not a string.
    #[inline]
    pub fn str<'b>(&'b self, value: &'b Value) -> Option<&'b str> {
        self.texts.str(self.heap, value)
    }

    /// Whether two values are equal.
    #[inline]
    pub fn equal(&self, a: Value, b: Value, budget: &mut Budget) -> EvalResult<bool> {
        if a.bits() == b.bits() {
            return Ok(!a.as_float().is_some_and(f64::is_nan));
        }
        if a.is(Tag::Int) && b.is(Tag::Int) || a.is(Tag::Short) && b.is(Tag::Short) {
            return Ok(false);
        }
        self.equal_slowly(a, b, budget)
    }

    fn equal_slowly(&self, a: Value, b: Value, budget: &mut Budget) -> EvalResult<bool> {
        if let (Some(a), Some(b)) = (number(a), number(b)) {
            return Ok(compare_numbers(a, b) == Some(Ordering::Equal));
        }
        if let (Some(a), Some(b)) = (self.str(&a), self.str(&b)) {
            budget.spend(a.len() as u64 / 64)?;
            return Ok(a == b);
        }
        let (Some(a), Some(b)) = (a.as_object(), b.as_object()) else { return Ok(false) };
        let heap = self.heap;
        let kind = heap.kind(a);
        if kind != heap.kind(b) || heap.len(a) - heap.aux(a) != heap.len(b) - heap.aux(b) {
            return Ok(false);
        }
        budget.spend(heap.len(a) as u64 + 1)?;
        match kind {
            ObjectKind::Str => Ok(heap.str(a) == heap.str(b)),
            ObjectKind::List | ObjectKind::Tuple => {
                for i in 0..heap.len(a) {
                    if !self.equal(heap.item(a, i), heap.item(b, i), budget)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            ObjectKind::Set | ObjectKind::Dict => {
                for entry in self.entries(a) {
                    let Some(other) = self.find(b, self.key(a, entry), budget)? else { return Ok(false) };
                    if kind == ObjectKind::Dict
                        && !self.equal(self.entry_value(a, entry), self.entry_value(b, other), budget)?
                    {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    /// A hash; equal values have equal hashes.
    pub fn hash(&self, value: Value, budget: &mut Budget) -> EvalResult<u64> {
        Ok(match value.tag() {
            Tag::Int | Tag::Bool | Tag::Float => hash_number(value),
            Tag::Unset | Tag::None => mix(value.bits().0, 0),
            Tag::Short | Tag::Text | Tag::Pool => hash_bytes(self.str(&value).unwrap_or("").as_bytes()),
            Tag::Object => return self.hash_object(value.as_object().unwrap_or(0), budget),
        })
    }

    fn hash_object(&self, object: u32, budget: &mut Budget) -> EvalResult<u64> {
        let heap = self.heap;
        let kind = heap.kind(object);
        budget.spend(heap.len(object) as u64 / if kind == ObjectKind::Str { 64 } else { 1 } + 1)?;
        let mut hash = kind as u64;
        match kind {
            ObjectKind::Str => return Ok(hash_bytes(heap.str(object).as_bytes())),
            ObjectKind::List | ObjectKind::Tuple => {
                for i in 0..heap.len(object) {
                    hash = mix(hash, self.hash(heap.item(object, i), budget)?);
                }
            }
            // Summed, because equal tables may differ in the order of their entries.
            ObjectKind::Set | ObjectKind::Dict => {
                for entry in self.entries(object) {
                    let key = self.hash(self.key(object, entry), budget)?;
                    let value = match kind {
                        ObjectKind::Dict => self.hash(self.entry_value(object, entry), budget)?,
                        _ => 0,
                    };
                    hash = hash.wrapping_add(mix(key, value));
                }
            }
        }
        Ok(hash)
    }

    /// The order of two values for `<` and `sorted`; `None` if one is NaN.
    pub fn compare(&self, a: Value, b: Value, budget: &mut Budget) -> EvalResult<Option<Ordering>> {
        if let (Some(a), Some(b)) = (number(a), number(b)) {
            return Ok(compare_numbers(a, b));
        }
        if let (Some(a), Some(b)) = (self.str(&a), self.str(&b)) {
            budget.spend(a.len() as u64 / 64)?;
            return Ok(Some(a.cmp(b)));
        }
        if let (Some(a), Some(b)) = (a.as_object(), b.as_object())
            && self.heap.kind(a) == self.heap.kind(b)
            && matches!(self.heap.kind(a), ObjectKind::List | ObjectKind::Tuple)
        {
            budget.spend(self.heap.len(a) as u64 + 1)?;
            for i in 0..self.heap.len(a).min(self.heap.len(b)) {
                let (x, y) = (self.heap.item(a, i), self.heap.item(b, i));
                if !self.equal(x, y, budget)? {
                    return self.compare(x, y, budget);
                }
            }
            return Ok(Some(self.heap.len(a).cmp(&self.heap.len(b))));
        }
        Err(Fault::new(
            FaultKind::Type,
            alloc::format!("{} and {} cannot be ordered", self.type_name(a), self.type_name(b)),
        ))
    }

    /// The truth value.
    #[inline]
    pub fn truth(&self, value: Value) -> bool {
        match value.tag() {
            Tag::Unset | Tag::None => false,
            Tag::Bool | Tag::Int => value.bits().1 != 0,
            Tag::Float => value.as_float() != Some(0.0),
            Tag::Short => value.as_short() != Some(""),
            Tag::Text | Tag::Pool => true,
            Tag::Object => {
                let object = value.as_object().unwrap_or(0);
                self.heap.len(object) > self.heap.aux(object)
            }
        }
    }

    /// The last element of a non-empty list or tuple.
    pub fn last(&self, value: Value) -> Option<Value> {
        let object = [ObjectKind::List, ObjectKind::Tuple]
            .into_iter()
            .find_map(|kind| self.heap.object_of(value, kind))?;
        let last = self.heap.len(object).checked_sub(1)?;
        Some(self.heap.item(object, last))
    }

    /// The name of the type in Python.
    pub fn type_name(&self, value: Value) -> &'static str {
        match value.tag() {
            Tag::Unset => "nothing",
            Tag::None => "None",
            Tag::Bool => "bool",
            Tag::Int => "int",
            Tag::Float => "float",
            Tag::Short | Tag::Text | Tag::Pool => "str",
            Tag::Object => match self.heap.kind(value.as_object().unwrap_or(0)) {
                ObjectKind::Str => "str",
                ObjectKind::List => "list",
                ObjectKind::Tuple => "tuple",
                ObjectKind::Set => "set",
                ObjectKind::Dict => "dict",
            },
        }
    }
}

fn hash_number(value: Value) -> u64 {
    match number(value) {
        Some(Number::Int(i)) => mix(i as u64, 1),
        // An integral float must have the hash of the equal integer.
        Some(Number::Float(f)) if f == (f as i64) as f64 => mix(f as i64 as u64, 1),
        Some(Number::Float(f)) => mix(f.to_bits(), 2),
        None => 0,
    }
}
