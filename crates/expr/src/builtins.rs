//! Built-in functions: `len`, `str`, `min`, `sorted` and others.

use crate::compare::{Number, ValueReader, number};
use crate::fault::{EvalResult, Fault, FaultKind};
use crate::heap::{ObjectKind, is_str};
use crate::operators::{EvalContext, as_float, overflow};
use crate::program::Builtin;
use crate::show::FormatSpec;
use crate::value::Value;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;

impl Builtin {
    /// All built-in functions with their names and numbers of arguments.
    pub const ALL: [(Builtin, &'static str, core::ops::RangeInclusive<usize>); 23] = [
        (Builtin::Len, "len", 1..=1),
        (Builtin::Str, "str", 0..=1),
        (Builtin::Repr, "repr", 1..=1),
        (Builtin::Int, "int", 1..=2),
        (Builtin::Float, "float", 1..=1),
        (Builtin::Bool, "bool", 1..=1),
        (Builtin::Abs, "abs", 1..=1),
        (Builtin::Min, "min", 1..=64),
        (Builtin::Max, "max", 1..=64),
        (Builtin::Sum, "sum", 1..=2),
        (Builtin::Sorted, "sorted", 1..=1),
        (Builtin::Reversed, "reversed", 1..=1),
        (Builtin::Any, "any", 1..=1),
        (Builtin::All, "all", 1..=1),
        (Builtin::Round, "round", 1..=2),
        (Builtin::Hex, "hex", 1..=1),
        (Builtin::Range, "range", 1..=3),
        (Builtin::Enumerate, "enumerate", 1..=2),
        (Builtin::Zip, "zip", 2..=8),
        (Builtin::List, "list", 0..=1),
        (Builtin::Tuple, "tuple", 0..=1),
        (Builtin::Set, "set", 0..=1),
        (Builtin::Dict, "dict", 0..=1),
    ];
}

impl EvalContext<'_> {
    pub(crate) fn builtin(&mut self, builtin: Builtin, args: &[Value]) -> EvalResult<Value> {
        match (builtin, args) {
            (Builtin::Len, [a]) => self.length(*a).map(|n| Value::int(n as i64)),
            (Builtin::Str, []) => self.heap.new_str(""),
            (Builtin::Str, [a]) => self.text(|view, out| view.write_str(out, *a)),
            (Builtin::Repr, [a]) => self.text(|view, out| view.write_repr(out, *a)),
            (Builtin::Int, [a]) => self.int_of(*a, 10),
            (Builtin::Int, [a, base]) => {
                let base = self.expect_int(*base)?;
                self.int_of(*a, base)
            }
            (Builtin::Float, [a]) => self.float_of(*a),
            (Builtin::Bool, [a]) => Ok(Value::bool(self.view().truth(*a))),
            (Builtin::Abs, [a]) => match number(*a) {
                Some(Number::Int(i)) => i.checked_abs().map(Value::int).ok_or_else(overflow),
                Some(Number::Float(f)) => Ok(Value::float(if f < 0.0 { -f } else { f })),
                None => Err(self.not_a_number(*a)),
            },
            (Builtin::Min, [a]) => self.best(*a, Ordering::Less),
            (Builtin::Max, [a]) => self.best(*a, Ordering::Greater),
            (Builtin::Min, many) => self.best_of(many, Ordering::Less),
            (Builtin::Max, many) => self.best_of(many, Ordering::Greater),
            (Builtin::Sum, [a, rest @ ..]) => {
                let mut sum = rest.first().copied().unwrap_or(Value::int(0));
                for item in self.elements(*a)? {
                    sum = self.add(sum, item)?;
                }
                Ok(sum)
            }
            (Builtin::Sorted, [a]) => {
                let mut items = self.elements(*a)?;
                self.sort(&mut items)?;
                self.sequence(ObjectKind::List, &items)
            }
            (Builtin::Reversed, [a]) => {
                let mut items = self.elements(*a)?;
                items.reverse();
                self.sequence(ObjectKind::List, &items)
            }
            (Builtin::Any, [a]) => {
                let items = self.elements(*a)?;
                Ok(Value::bool(items.iter().any(|item| self.view().truth(*item))))
            }
            (Builtin::All, [a]) => {
                let items = self.elements(*a)?;
                Ok(Value::bool(items.iter().all(|item| self.view().truth(*item))))
            }
            (Builtin::Round, [a, rest @ ..]) => self.round(*a, rest.first().copied()),
            (Builtin::Hex, [a]) => {
                let i = self.expect_int(*a)?;
                let sign = if i < 0 { "-" } else { "" };
                self.heap.new_str(&format!("{sign}0x{:x}", i.unsigned_abs()))
            }
            (Builtin::Range, args) => {
                let (mut at, end, step) = self.range(args)?;
                let mut items = Vec::new();
                while if step > 0 { at < end } else { at > end } {
                    self.budget.spend(1)?;
                    items.push(Value::int(at));
                    let Some(next) = at.checked_add(step) else { break };
                    at = next;
                }
                self.sequence(ObjectKind::List, &items)
            }
            (Builtin::Enumerate, [a, rest @ ..]) => {
                let first = rest.first().map_or(Ok(0), |first| self.expect_int(*first))?;
                let mut pairs = self.elements(*a)?;
                for (i, item) in pairs.iter_mut().enumerate() {
                    let number = Value::int(first.checked_add(i as i64).ok_or_else(overflow)?);
                    *item = self.sequence(ObjectKind::Tuple, &[number, *item])?;
                }
                self.sequence(ObjectKind::List, &pairs)
            }
            (Builtin::Zip, many) => {
                let columns = many.iter().map(|a| self.elements(*a)).collect::<EvalResult<Vec<_>>>()?;
                let rows = columns.iter().map(Vec::len).min().unwrap_or(0);
                let mut tuples = Vec::with_capacity(rows);
                for row in 0..rows {
                    let items: Vec<Value> = columns.iter().map(|column| column[row]).collect();
                    tuples.push(self.sequence(ObjectKind::Tuple, &items)?);
                }
                self.sequence(ObjectKind::List, &tuples)
            }
            (Builtin::List, args) => self.collect(ObjectKind::List, args),
            (Builtin::Tuple, args) => self.collect(ObjectKind::Tuple, args),
            (Builtin::Set, args) => {
                let items = args.first().map_or(Ok(Vec::new()), |a| self.elements(*a))?;
                self.set_of(&items)
            }
            (Builtin::Dict, []) => self.heap.new_table(ObjectKind::Dict, 0).map(Value::object),
            (Builtin::Dict, [a]) => match self.heap.object_of(*a, ObjectKind::Dict) {
                Some(_) => Ok(*a),
                None => Err(Fault::new(FaultKind::Type, "the argument of dict() must be a dict")),
            },
            // The compiler has checked the number of arguments.
            _ => Err(Fault::new(FaultKind::Type, "wrong number of arguments")),
        }
    }

    /// Builds a list or tuple; strings outside the heap are copied into it.
    pub(crate) fn sequence(&mut self, kind: ObjectKind, items: &[Value]) -> EvalResult<Value> {
        self.budget.spend(items.len() as u64 / 8)?;
        let object = self.heap.allocate(kind, 2 * items.len())?;
        for item in items {
            let item = self.texts.own(self.heap, *item)?;
            self.heap.push(object, item)?;
        }
        Ok(Value::object(object))
    }

    /// Builds a set; strings outside the heap are copied into it.
    pub(crate) fn set_of(&mut self, items: &[Value]) -> EvalResult<Value> {
        let mut set = self.heap.new_table(ObjectKind::Set, items.len())?;
        for item in items {
            self.budget.spend(1)?;
            let item = self.texts.own(self.heap, *item)?;
            set = self.insert(set, item, Value::UNSET)?;
        }
        Ok(Value::object(set))
    }

    /// Builds a dict from alternating keys and values; strings outside the heap are copied into it.
    pub(crate) fn dict_of(&mut self, items: &[Value]) -> EvalResult<Value> {
        let mut dict = self.heap.new_table(ObjectKind::Dict, items.len() / 2)?;
        for pair in items.chunks_exact(2) {
            let key = self.texts.own(self.heap, pair[0])?;
            let value = self.texts.own(self.heap, pair[1])?;
            dict = self.insert(dict, key, value)?;
        }
        Ok(Value::object(dict))
    }

    fn collect(&mut self, kind: ObjectKind, args: &[Value]) -> EvalResult<Value> {
        let items = args.first().map_or(Ok(Vec::new()), |a| self.elements(*a))?;
        self.sequence(kind, &items)
    }

    /// A string written by `write`.
    pub(crate) fn text(
        &mut self,
        write: impl FnOnce(ValueReader<'_>, &mut String) -> EvalResult<()>,
    ) -> EvalResult<Value> {
        self.scratch.clear();
        write(ValueReader { heap: self.heap, texts: self.texts }, self.scratch)?;
        self.budget.spend(self.scratch.len() as u64 / 64)?;
        self.heap.new_str(self.scratch)
    }

    /// The elements of an iterable.
    pub(crate) fn elements(&mut self, a: Value) -> EvalResult<Vec<Value>> {
        let mut items = Vec::new();
        let mut position = 0;
        while let Some((item, next)) = self.element(a, position)? {
            self.budget.spend(1)?;
            items.push(item);
            position = next;
        }
        Ok(items)
    }

    /// The element of an iterable at or after `position`, and the next position.
    ///
    /// Positions count entries of tables, including holes, and bytes of strings.
    pub(crate) fn element(&mut self, a: Value, position: usize) -> EvalResult<Option<(Value, usize)>> {
        let view = self.view();
        if is_str(view.heap, a) {
            let c = match a.as_object() {
                Some(object) => view.heap.char_at(object, position),
                None => view.str(&a).and_then(|text| text.get(position..)?.chars().next()),
            };
            let Some(c) = c else { return Ok(None) };
            let mut one = [0; 4];
            let item = Value::short(c.encode_utf8(&mut one)).unwrap_or(Value::NONE);
            return Ok(Some((item, position + c.len_utf8())));
        }
        let Some(object) = a.as_object() else {
            return Err(Fault::new(FaultKind::Type, format!("{} is not iterable", view.type_name(a))));
        };
        let len = view.heap.len(object);
        match view.heap.kind(object) {
            ObjectKind::Set | ObjectKind::Dict => Ok((position..len)
                .map(|entry| (view.key(object, entry), entry + 1))
                .find(|(key, _)| !key.is_unset())),
            _ => Ok((position < len).then(|| (view.heap.item(object, position), position + 1))),
        }
    }

    /// Start, end and step of `range(…)`.
    pub(crate) fn range(&self, args: &[Value]) -> EvalResult<(i64, i64, i64)> {
        let (start, end, step) = match args {
            [end] => (0, self.expect_int(*end)?, 1),
            [start, end] => (self.expect_int(*start)?, self.expect_int(*end)?, 1),
            [start, end, step] => (self.expect_int(*start)?, self.expect_int(*end)?, self.expect_int(*step)?),
            _ => (0, 0, 1),
        };
        match step {
            0 => Err(Fault::new(FaultKind::Value, "the step of a range must not be zero")),
            _ => Ok((start, end, step)),
        }
    }

    /// Stable sort.
    pub(crate) fn sort(&mut self, items: &mut [Value]) -> EvalResult<()> {
        self.budget.spend(items.len() as u64 * 4)?;
        let view = ValueReader { heap: self.heap, texts: self.texts };
        let mut fault = None;
        items.sort_by(|a, b| match view.compare(*a, *b, self.budget) {
            Ok(order) => order.unwrap_or(Ordering::Equal),
            Err(e) => {
                fault.get_or_insert(e);
                Ordering::Equal
            }
        });
        fault.map_or(Ok(()), Err)
    }

    fn best(&mut self, a: Value, ordering: Ordering) -> EvalResult<Value> {
        let items = self.elements(a)?;
        self.best_of(&items, ordering)
    }

    fn best_of(&mut self, items: &[Value], ordering: Ordering) -> EvalResult<Value> {
        let Some((first, rest)) = items.split_first() else {
            return Err(Fault::new(FaultKind::Value, "min() or max() of an empty sequence"));
        };
        let view = ValueReader { heap: self.heap, texts: self.texts };
        let mut best = *first;
        for item in rest {
            if view.compare(*item, best, self.budget)? == Some(ordering) {
                best = *item;
            }
        }
        Ok(best)
    }

    fn not_a_number(&self, a: Value) -> alloc::boxed::Box<Fault> {
        Fault::new(FaultKind::Type, format!("{} is not a number", self.view().type_name(a)))
    }

    fn int_of(&mut self, a: Value, base: i64) -> EvalResult<Value> {
        let view = self.view();
        if let Some(text) = view.str(&a) {
            let digits = text.trim();
            let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
            let (base, digits) = match (base, digits.get(..2)) {
                (16 | 0, Some("0x" | "0X")) => (16, &digits[2..]),
                (2 | 0, Some("0b" | "0B")) => (2, &digits[2..]),
                (0, _) => (10, digits),
                _ => (base, digits),
            };
            let valid = (2..=36).contains(&base) && digits.starts_with(|c: char| c.is_ascii_alphanumeric());
            return match i64::from_str_radix(&format!("{sign}{digits}"), base.clamp(2, 36) as u32) {
                Ok(i) if valid => Ok(Value::int(i)),
                _ => Err(Fault::new(FaultKind::Value, format!("{text:?} is not an integer"))),
            };
        }
        match number(a) {
            Some(Number::Int(i)) => Ok(Value::int(i)),
            Some(Number::Float(f)) if (-9.2e18..=9.2e18).contains(&f) => Ok(Value::int(f as i64)),
            Some(Number::Float(_)) => Err(overflow()),
            None => Err(self.not_a_number(a)),
        }
    }

    fn float_of(&mut self, a: Value) -> EvalResult<Value> {
        let view = self.view();
        if let Some(text) = view.str(&a) {
            return match text.trim().parse::<f64>() {
                Ok(f) => Ok(Value::float(f)),
                Err(_) => Err(Fault::new(FaultKind::Value, format!("{text:?} is not a number"))),
            };
        }
        number(a).map(|n| Value::float(as_float(n))).ok_or_else(|| self.not_a_number(a))
    }

    /// Rounds half to even, as Python does.
    fn round(&mut self, a: Value, digits: Option<Value>) -> EvalResult<Value> {
        let digits = digits.filter(|d| !d.is_none());
        match (number(a), digits) {
            (Some(Number::Int(i)), _) => Ok(Value::int(i)),
            (Some(Number::Float(f)), None) => {
                let rounded = libm::rint(f);
                self.int_of(Value::float(rounded), 10)
            }
            (Some(Number::Float(f)), Some(digits)) => {
                let precision = self.expect_int(digits)?.clamp(0, 17) as u8;
                let mut text = String::new();
                let format =
                    FormatSpec { precision: Some(precision), conversion: b'f', ..FormatSpec::default() };
                self.view().write_formatted(&mut text, Value::float(f), format)?;
                Ok(Value::float(text.parse().unwrap_or(f)))
            }
            (None, _) => Err(self.not_a_number(a)),
        }
    }
}
