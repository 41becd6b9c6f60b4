//! Operators of the block language.

use crate::compare::{Number, ValueReader, number};
use crate::fault::{Budget, EvalResult, Fault, FaultKind};
use crate::heap::{Heap, ObjectKind, is_str};
use crate::program::{Binary, Comparison, Unary};
use crate::text::TextArenas;
use crate::value::Value;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::cmp::Ordering;

/// Context of an evaluation: heap, texts and budget.
pub(crate) struct EvalContext<'a> {
    pub(crate) heap: &'a mut Heap,
    pub(crate) texts: TextArenas<'a>,
    pub(crate) budget: &'a mut Budget,
    /// Buffer for building text.
    pub(crate) scratch: &'a mut String,
}

#[cold]
pub(crate) fn overflow() -> Box<Fault> {
    Fault::new(FaultKind::Overflow, "integer overflow: the result does not fit 64 bits")
}

#[cold]
fn division_by_zero() -> Box<Fault> {
    Fault::new(FaultKind::ZeroDivision, "division by zero")
}

impl EvalContext<'_> {
    pub(crate) fn view(&self) -> ValueReader<'_> {
        ValueReader { heap: self.heap, texts: self.texts }
    }

    #[cold]
    pub(crate) fn type_fault(&self, operation: &str, a: Value, b: Value) -> Box<Fault> {
        let view = self.view();
        let mut message = format!("cannot {operation} {} and {}", view.type_name(a), view.type_name(b));
        if is_str(self.heap, a) != is_str(self.heap, b) {
            message.push_str("; str() turns a value into text");
        }
        Fault::new(FaultKind::Type, message)
    }

    /// `a + b`
    pub(crate) fn add(&mut self, a: Value, b: Value) -> EvalResult<Value> {
        match (number(a), number(b)) {
            (Some(Number::Int(x)), Some(Number::Int(y))) => {
                return x.checked_add(y).map(Value::int).ok_or_else(overflow);
            }
            (Some(x), Some(y)) => return Ok(Value::float(as_float(x) + as_float(y))),
            _ => {}
        }
        let view = ValueReader { heap: self.heap, texts: self.texts };
        if let (Some(x), Some(y)) = (view.str(&a), view.str(&b)) {
            self.scratch.clear();
            self.scratch.push_str(x);
            self.scratch.push_str(y);
            self.budget.spend(self.scratch.len() as u64 / 64)?;
            return self.heap.new_str(self.scratch);
        }
        for kind in [ObjectKind::List, ObjectKind::Tuple] {
            if let (Some(x), Some(y)) = (self.heap.object_of(a, kind), self.heap.object_of(b, kind)) {
                let (m, n) = (self.heap.len(x), self.heap.len(y));
                self.budget.spend((m + n) as u64)?;
                let joined = self.heap.allocate(kind, 2 * (m + n))?;
                self.heap.copy_values(x, joined, 0..m)?;
                self.heap.copy_values(y, joined, 0..n)?;
                return Ok(Value::object(joined));
            }
        }
        Err(self.type_fault("add", a, b))
    }

    /// `a - b`
    pub(crate) fn subtract(&mut self, a: Value, b: Value) -> EvalResult<Value> {
        match (number(a), number(b)) {
            (Some(Number::Int(x)), Some(Number::Int(y))) => {
                x.checked_sub(y).map(Value::int).ok_or_else(overflow)
            }
            (Some(x), Some(y)) => Ok(Value::float(as_float(x) - as_float(y))),
            _ => match self.sets(a, b) {
                Some((x, y)) => self.combine(x, y, |_, in_y| !in_y, false),
                None => Err(self.type_fault("subtract", a, b)),
            },
        }
    }

    pub(crate) fn binary(&mut self, op: Binary, a: Value, b: Value) -> EvalResult<Value> {
        match (number(a), number(b)) {
            (Some(Number::Int(x)), Some(Number::Int(y))) => return int_binary(op, x, y),
            (Some(x), Some(y)) => {
                if let Some(result) = float_binary(op, as_float(x), as_float(y)) {
                    return result;
                }
            }
            _ => {}
        }
        if let Some((x, y)) = self.sets(a, b) {
            match op {
                Binary::BitAnd => return self.combine(x, y, |in_x, in_y| in_x && in_y, false),
                Binary::BitOr => return self.combine(x, y, |_, _| true, true),
                Binary::BitXor => return self.combine(x, y, |in_x, in_y| in_x != in_y, true),
                _ => {}
            }
        }
        if op == Binary::Mul {
            for (sequence, times) in [(a, b), (b, a)] {
                if let Some(n) = times.as_int()
                    && let Some(result) = self.repeat(sequence, n)?
                {
                    return Ok(result);
                }
            }
        }
        if op == Binary::Mod && is_str(self.heap, a) {
            return Err(Fault::new(FaultKind::Type, "the left operand of % must be a string literal"));
        }
        let operation = match op {
            Binary::Mul => "multiply",
            Binary::Div | Binary::FloorDiv | Binary::Mod => "divide",
            Binary::Pow => "raise to a power",
            Binary::Shl | Binary::Shr => "shift",
            Binary::BitAnd | Binary::BitOr | Binary::BitXor => "apply a bitwise operator to",
        };
        Err(self.type_fault(operation, a, b))
    }

    fn repeat(&mut self, sequence: Value, times: i64) -> EvalResult<Option<Value>> {
        let times = times.max(0) as usize;
        if let Some(text) = self.view().str(&sequence) {
            let len = text.len().saturating_mul(times);
            if len > 16 << 20 {
                return Err(Fault::new(FaultKind::Limit, "string too long: the limit is 16 MiB"));
            }
            let repeated = text.repeat(times);
            self.budget.spend(len as u64 / 64)?;
            return self.heap.new_str(&repeated).map(Some);
        }
        for kind in [ObjectKind::List, ObjectKind::Tuple] {
            if let Some(object) = self.heap.object_of(sequence, kind) {
                let len = self.heap.len(object);
                let times = if len == 0 { 0 } else { times };
                self.budget.spend(len.saturating_mul(times) as u64)?;
                let repeated = self.heap.allocate(kind, 2 * len * times)?;
                for _ in 0..times {
                    self.heap.copy_values(object, repeated, 0..len)?;
                }
                return Ok(Some(Value::object(repeated)));
            }
        }
        Ok(None)
    }

    pub(crate) fn sets(&self, a: Value, b: Value) -> Option<(u32, u32)> {
        self.heap.object_of(a, ObjectKind::Set).zip(self.heap.object_of(b, ObjectKind::Set))
    }

    /// The set of the elements of `x` (and of `y` if `both`) for which `keep(in_x, in_y)` holds.
    pub(crate) fn combine(
        &mut self,
        x: u32,
        y: u32,
        keep: impl Fn(bool, bool) -> bool,
        both: bool,
    ) -> EvalResult<Value> {
        let mut result = self.heap.new_table(ObjectKind::Set, self.heap.len(x))?;
        for (from, other, first) in [(x, y, true), (y, x, false)] {
            if !first && !both {
                break;
            }
            for entry in 0..self.heap.len(from) {
                let key = self.heap.key(from, entry);
                if key.is_unset() {
                    continue;
                }
                self.budget.spend(1)?;
                let found =
                    ValueReader { heap: self.heap, texts: self.texts }.find(other, key, self.budget)?;
                let (in_x, in_y) = if first { (true, found.is_some()) } else { (found.is_some(), true) };
                if keep(in_x, in_y) {
                    result = self.insert(result, key, Value::UNSET)?;
                }
            }
        }
        Ok(Value::object(result))
    }

    #[inline]
    pub(crate) fn compare(&mut self, op: Comparison, a: Value, b: Value) -> EvalResult<bool> {
        if let (Some(x), Some(y)) = (a.as_int(), b.as_int()) {
            match op {
                Comparison::Lt => return Ok(x < y),
                Comparison::Le => return Ok(x <= y),
                Comparison::Gt => return Ok(x > y),
                Comparison::Ge => return Ok(x >= y),
                Comparison::Eq | Comparison::Is => return Ok(x == y),
                Comparison::Ne | Comparison::IsNot => return Ok(x != y),
                Comparison::In | Comparison::NotIn => {}
            }
        }
        self.compare_slowly(op, a, b)
    }

    fn compare_slowly(&mut self, op: Comparison, a: Value, b: Value) -> EvalResult<bool> {
        let view = ValueReader { heap: self.heap, texts: self.texts };
        let budget = &mut *self.budget;
        Ok(match op {
            Comparison::Eq => view.equal(a, b, budget)?,
            Comparison::Ne => !view.equal(a, b, budget)?,
            Comparison::Is => a.bits() == b.bits(),
            Comparison::IsNot => a.bits() != b.bits(),
            Comparison::In => self.contains(b, a)?,
            Comparison::NotIn => !self.contains(b, a)?,
            Comparison::Lt | Comparison::Le | Comparison::Gt | Comparison::Ge => {
                if let Some((x, y)) = self.sets(a, b) {
                    return self.compare_sets(op, x, y);
                }
                let order = ValueReader { heap: self.heap, texts: self.texts }.compare(a, b, self.budget)?;
                match op {
                    Comparison::Lt => order == Some(Ordering::Less),
                    Comparison::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
                    Comparison::Gt => order == Some(Ordering::Greater),
                    _ => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
                }
            }
        })
    }

    /// Sets are ordered by inclusion.
    fn compare_sets(&mut self, op: Comparison, x: u32, y: u32) -> EvalResult<bool> {
        let size = |set| self.heap.len(set) - self.heap.aux(set);
        let strict = size(x) != size(y);
        Ok(match op {
            Comparison::Lt => strict && self.includes(y, x)?,
            Comparison::Le => self.includes(y, x)?,
            Comparison::Gt => strict && self.includes(x, y)?,
            _ => self.includes(x, y)?,
        })
    }

    /// Whether every element of `small` is in `large`.
    pub(crate) fn includes(&mut self, large: u32, small: u32) -> EvalResult<bool> {
        let view = ValueReader { heap: self.heap, texts: self.texts };
        for entry in view.entries(small) {
            self.budget.spend(1)?;
            if view.find(large, view.key(small, entry), self.budget)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// `item in container`
    pub(crate) fn contains(&mut self, container: Value, item: Value) -> EvalResult<bool> {
        let view = ValueReader { heap: self.heap, texts: self.texts };
        if let Some(text) = view.str(&container) {
            self.budget.spend(text.len() as u64 / 64)?;
            return match view.str(&item) {
                Some(part) => Ok(text.contains(part)),
                None => Err(self.type_fault("search", container, item)),
            };
        }
        let Some(object) = container.as_object() else {
            return Err(Fault::new(
                FaultKind::Type,
                format!("{} is not a container", view.type_name(container)),
            ));
        };
        match view.heap.kind(object) {
            ObjectKind::Set | ObjectKind::Dict => Ok(view.find(object, item, self.budget)?.is_some()),
            _ => {
                for i in 0..view.heap.len(object) {
                    self.budget.spend(1)?;
                    if view.equal(view.heap.item(object, i), item, self.budget)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    pub(crate) fn unary(&mut self, op: Unary, a: Value) -> EvalResult<Value> {
        if op == Unary::Not {
            return Ok(Value::bool(!self.view().truth(a)));
        }
        match (op, number(a)) {
            (Unary::Neg, Some(Number::Int(i))) => i.checked_neg().map(Value::int).ok_or_else(overflow),
            (Unary::Neg, Some(Number::Float(f))) => Ok(Value::float(-f)),
            (Unary::Plus, Some(Number::Int(i))) => Ok(Value::int(i)),
            (Unary::Plus, Some(Number::Float(f))) => Ok(Value::float(f)),
            (Unary::Invert, Some(Number::Int(i))) => Ok(Value::int(!i)),
            _ => Err(Fault::new(FaultKind::Type, format!("{} is not a number", self.view().type_name(a)))),
        }
    }

    /// Index `i` of a sequence of `len` elements; negative indexes count from the end.
    pub(crate) fn position(&self, i: Value, len: usize) -> EvalResult<usize> {
        let Some(index) = i.as_int() else {
            return Err(Fault::new(
                FaultKind::Type,
                format!("an index must be an int, not {}", self.view().type_name(i)),
            ));
        };
        let at = if index < 0 { index + len as i64 } else { index };
        match usize::try_from(at) {
            Ok(at) if at < len => Ok(at),
            _ => {
                Err(Fault::new(FaultKind::Index, format!("index {index} out of range: the length is {len}")))
            }
        }
    }

    /// `a[b]`
    pub(crate) fn index(&mut self, a: Value, b: Value) -> EvalResult<Value> {
        let view = ValueReader { heap: self.heap, texts: self.texts };
        if let Some(text) = view.str(&a) {
            self.budget.spend(text.len() as u64 / 16)?;
            let at = self.position(b, text.chars().count())?;
            let mut one = [0; 4];
            let c: &str = text.chars().nth(at).map_or("", |c| c.encode_utf8(&mut one));
            return Ok(Value::short(c).unwrap_or(Value::NONE));
        }
        let Some(object) = a.as_object() else {
            return Err(Fault::new(FaultKind::Type, format!("{} cannot be indexed", view.type_name(a))));
        };
        match view.heap.kind(object) {
            ObjectKind::Dict => match view.find(object, b, self.budget)? {
                Some(entry) => Ok(view.entry_value(object, entry)),
                None => {
                    let mut message = String::from("there is no key ");
                    view.write_repr(&mut message, b)?;
                    Err(Fault::new(FaultKind::Key, message))
                }
            },
            ObjectKind::Set => Err(Fault::new(FaultKind::Type, "a set cannot be indexed")),
            _ => Ok(view.heap.item(object, self.position(b, view.heap.len(object))?)),
        }
    }

    /// `a[start:stop:step]`; omitted bounds are `None`.
    pub(crate) fn slice(&mut self, a: Value, start: Value, stop: Value, step: Value) -> EvalResult<Value> {
        let kind = a.as_object().map(|object| self.heap.kind(object));
        if !is_str(self.heap, a) && !matches!(kind, Some(ObjectKind::List | ObjectKind::Tuple)) {
            return Err(Fault::new(
                FaultKind::Type,
                format!("{} cannot be sliced", self.view().type_name(a)),
            ));
        }
        let len = self.length(a)?;
        let step = if step.is_none() { 1 } else { self.expect_int(step)? };
        if step == 0 {
            return Err(Fault::new(FaultKind::Value, "the step of a slice must not be zero"));
        }
        let clamp = |i: i64| {
            let at = if i < 0 { i + len as i64 } else { i };
            if step > 0 { at.clamp(0, len as i64) } else { at.clamp(-1, len as i64 - 1) }
        };
        let (low, high) = if step > 0 { (0, len as i64) } else { (len as i64 - 1, -1) };
        let from = if start.is_none() { low } else { clamp(self.expect_int(start)?) };
        let to = if stop.is_none() { high } else { clamp(self.expect_int(stop)?) };
        let mut positions = alloc::vec::Vec::new();
        let mut at = from;
        while if step > 0 { at < to } else { at > to } {
            self.budget.spend(1)?;
            positions.push(at as usize);
            let Some(next) = at.checked_add(step) else { break };
            at = next;
        }
        if let Some(text) = self.view().str(&a) {
            let chars: alloc::vec::Vec<char> = text.chars().collect();
            let part: String = positions.iter().map(|i| chars[*i]).collect();
            return self.heap.new_str(&part);
        }
        let object = a.as_object().unwrap_or(0);
        let part = self.heap.allocate(self.heap.kind(object), 2 * positions.len())?;
        for i in positions {
            self.heap.copy_values(object, part, i..i + 1)?;
        }
        Ok(Value::object(part))
    }

    /// The value as an integer. Faults if it is not one.
    pub(crate) fn expect_int(&self, value: Value) -> EvalResult<i64> {
        match number(value) {
            Some(Number::Int(i)) => Ok(i),
            _ => Err(Fault::new(
                FaultKind::Type,
                format!("expected an int, got {}", self.view().type_name(value)),
            )),
        }
    }

    /// `len(a)`
    pub(crate) fn length(&mut self, a: Value) -> EvalResult<usize> {
        let view = ValueReader { heap: self.heap, texts: self.texts };
        if let Some(text) = view.str(&a) {
            self.budget.spend(text.len() as u64 / 64)?;
            return Ok(text.chars().count());
        }
        match a.as_object() {
            Some(object) => Ok(self.heap.len(object) - self.heap.aux(object)),
            None => Err(Fault::new(FaultKind::Type, format!("{} has no length", view.type_name(a)))),
        }
    }
}

pub(crate) fn as_float(n: Number) -> f64 {
    match n {
        Number::Int(i) => i as f64,
        Number::Float(f) => f,
    }
}

fn int_binary(op: Binary, x: i64, y: i64) -> EvalResult<Value> {
    let checked = match op {
        Binary::Mul => x.checked_mul(y),
        Binary::Div if y == 0 => return Err(division_by_zero()),
        Binary::Div => return Ok(Value::float(x as f64 / y as f64)),
        Binary::FloorDiv | Binary::Mod if y == 0 => return Err(division_by_zero()),
        // As in Python: round down; the remainder has the sign of the divisor.
        Binary::FloorDiv => {
            x.checked_div(y).map(|q| if x % y != 0 && (x < 0) != (y < 0) { q - 1 } else { q })
        }
        Binary::Mod => {
            Some(x.checked_rem(y).map_or(0, |r| if r != 0 && (r < 0) != (y < 0) { r + y } else { r }))
        }
        Binary::Pow if y < 0 => return Ok(Value::float(libm::pow(x as f64, y as f64))),
        Binary::Pow => u32::try_from(y).ok().and_then(|y| x.checked_pow(y)).or(match x {
            0 | 1 => Some(x),
            -1 => Some(if y % 2 == 0 { 1 } else { -1 }),
            _ => None,
        }),
        Binary::BitAnd => Some(x & y),
        Binary::BitOr => Some(x | y),
        Binary::BitXor => Some(x ^ y),
        Binary::Shl | Binary::Shr if y < 0 => {
            return Err(Fault::new(FaultKind::Value, "negative shift count"));
        }
        Binary::Shl if y < 64 => {
            x.checked_mul(1_i64.checked_shl(y as u32).unwrap_or(0)).filter(|_| y < 63 || x == 0)
        }
        Binary::Shl => (x == 0).then_some(0),
        Binary::Shr => Some(x >> y.min(63)),
    };
    checked.map(Value::int).ok_or_else(overflow)
}

fn float_binary(op: Binary, x: f64, y: f64) -> Option<EvalResult<Value>> {
    Some(match op {
        Binary::Mul => Ok(Value::float(x * y)),
        Binary::Div | Binary::FloorDiv | Binary::Mod if y == 0.0 => Err(division_by_zero()),
        Binary::Div => Ok(Value::float(x / y)),
        Binary::FloorDiv => Ok(Value::float(libm::floor(x / y))),
        Binary::Mod => {
            let r = x % y;
            Ok(Value::float(if r != 0.0 && (r < 0.0) != (y < 0.0) { r + y } else { r }))
        }
        Binary::Pow => Ok(Value::float(libm::pow(x, y))),
        _ => return None,
    })
}
