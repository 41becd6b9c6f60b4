//! Methods of strings, lists, sets and dicts: queries, and mutations of a variable.

use crate::compare::ValueReader;
use crate::fault::{EvalResult, Fault, FaultKind};
use crate::heap::ObjectKind;
use crate::operators::EvalContext;
use crate::program::{Method, Mutation};
use crate::show::MAX_TEXT;
use crate::value::Value;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

impl Method {
    /// All methods that do not change their object, with their numbers of arguments.
    pub const ALL: [(Method, &'static str, RangeInclusive<usize>); 23] = [
        (Method::Get, "get", 1..=2),
        (Method::Keys, "keys", 0..=0),
        (Method::Values, "values", 0..=0),
        (Method::Items, "items", 0..=0),
        (Method::Copy, "copy", 0..=0),
        (Method::Count, "count", 1..=1),
        (Method::Index, "index", 1..=1),
        (Method::Union, "union", 1..=1),
        (Method::Intersection, "intersection", 1..=1),
        (Method::Difference, "difference", 1..=1),
        (Method::IsSubset, "issubset", 1..=1),
        (Method::IsSuperset, "issuperset", 1..=1),
        (Method::IsDisjoint, "isdisjoint", 1..=1),
        (Method::StartsWith, "startswith", 1..=1),
        (Method::EndsWith, "endswith", 1..=1),
        (Method::Lower, "lower", 0..=0),
        (Method::Upper, "upper", 0..=0),
        (Method::Strip, "strip", 0..=0),
        (Method::Split, "split", 0..=1),
        (Method::Join, "join", 1..=1),
        (Method::Replace, "replace", 2..=2),
        (Method::Find, "find", 1..=1),
        (Method::IsDigit, "isdigit", 0..=0),
    ];
}

impl Mutation {
    /// All methods that change their variable, with their numbers of arguments.
    pub const METHODS: [(Mutation, &'static str, RangeInclusive<usize>); 12] = [
        (Mutation::Append, "append", 1..=1),
        (Mutation::Extend, "extend", 1..=1),
        (Mutation::Insert, "insert", 2..=2),
        (Mutation::Pop, "pop", 0..=2),
        (Mutation::Remove, "remove", 1..=1),
        (Mutation::Discard, "discard", 1..=1),
        (Mutation::Add, "add", 1..=1),
        (Mutation::Update, "update", 1..=1),
        (Mutation::Clear, "clear", 0..=0),
        (Mutation::Sort, "sort", 0..=0),
        (Mutation::Reverse, "reverse", 0..=0),
        (Mutation::SetDefault, "setdefault", 1..=2),
    ];
}

/// Faults if a string of this many bytes is too long.
fn check_size(bytes: usize) -> EvalResult<()> {
    match bytes > MAX_TEXT {
        true => Err(Fault::new(FaultKind::Limit, "string too long: the limit is 16 MiB")),
        false => Ok(()),
    }
}

impl EvalContext<'_> {
    fn no_method(&self, name: &str, receiver: Value) -> Box<Fault> {
        Fault::new(FaultKind::Type, format!("{} has no method {name}", self.view().type_name(receiver)))
    }

    /// `receiver.method(args)`
    pub(crate) fn method(&mut self, method: Method, receiver: Value, args: &[Value]) -> EvalResult<Value> {
        let name = Method::ALL.iter().find(|(m, _, _)| *m == method).map_or("", |(_, name, _)| name);
        match (receiver.as_object().map(|object| (object, self.heap.kind(object))), method) {
            (Some((object, ObjectKind::Dict)), _) => self.dict_method(method, name, receiver, object, args),
            (Some((_, ObjectKind::Set)), Method::Copy) => Ok(receiver),
            (Some((object, ObjectKind::Set)), _) => self.set_method(method, name, receiver, object, args),
            (Some((object, ObjectKind::List | ObjectKind::Tuple)), _) => match (method, args) {
                (Method::Copy, _) => Ok(receiver),
                (Method::Count, [item]) => {
                    let view = ValueReader { heap: self.heap, texts: self.texts };
                    let mut count = 0;
                    for i in 0..view.heap.len(object) {
                        self.budget.spend(1)?;
                        count += i64::from(view.equal(view.heap.item(object, i), *item, self.budget)?);
                    }
                    Ok(Value::int(count))
                }
                (Method::Index, [item]) => match self.find_item(object, *item)? {
                    Some(i) => Ok(Value::int(i as i64)),
                    None => Err(self.not_found("list", *item)),
                },
                _ => Err(self.no_method(name, receiver)),
            },
            _ => self.str_method(method, name, receiver, args),
        }
    }

    fn not_found(&self, container: &str, item: Value) -> Box<Fault> {
        let mut message = format!("not in the {container}: ");
        match self.view().write_repr(&mut message, item) {
            Ok(()) => {
                Fault::new(if container == "list" { FaultKind::Value } else { FaultKind::Key }, message)
            }
            Err(fault) => fault,
        }
    }

    fn find_item(&mut self, object: u32, item: Value) -> EvalResult<Option<usize>> {
        let view = ValueReader { heap: self.heap, texts: self.texts };
        for i in 0..view.heap.len(object) {
            self.budget.spend(1)?;
            if view.equal(view.heap.item(object, i), item, self.budget)? {
                return Ok(Some(i));
            }
        }
        Ok(None)
    }

    fn dict_method(
        &mut self,
        method: Method,
        name: &str,
        receiver: Value,
        dict: u32,
        args: &[Value],
    ) -> EvalResult<Value> {
        let view = ValueReader { heap: self.heap, texts: self.texts };
        match (method, args) {
            (Method::Get, [key, rest @ ..]) => Ok(match view.find(dict, *key, self.budget)? {
                Some(entry) => view.entry_value(dict, entry),
                None => rest.first().copied().unwrap_or(Value::NONE),
            }),
            (Method::Copy, _) => Ok(receiver),
            (Method::Keys, _) => {
                let keys: Vec<Value> = view.entries(dict).map(|entry| view.key(dict, entry)).collect();
                self.sequence(ObjectKind::List, &keys)
            }
            (Method::Values, _) => {
                let values: Vec<Value> =
                    view.entries(dict).map(|entry| view.entry_value(dict, entry)).collect();
                self.sequence(ObjectKind::List, &values)
            }
            (Method::Items, _) => {
                let mut items: Vec<(Value, Value)> = view
                    .entries(dict)
                    .map(|entry| (view.key(dict, entry), view.entry_value(dict, entry)))
                    .collect();
                self.budget.spend(items.len() as u64)?;
                let pairs = items
                    .drain(..)
                    .map(|(key, value)| self.sequence(ObjectKind::Tuple, &[key, value]))
                    .collect::<EvalResult<Vec<_>>>()?;
                self.sequence(ObjectKind::List, &pairs)
            }
            _ => Err(self.no_method(name, receiver)),
        }
    }

    fn set_method(
        &mut self,
        method: Method,
        name: &str,
        receiver: Value,
        set: u32,
        args: &[Value],
    ) -> EvalResult<Value> {
        let other = match args {
            [other] => {
                let items = self.elements(*other)?;
                self.set_of(&items)?.as_object().unwrap_or(0)
            }
            _ => return Err(self.no_method(name, receiver)),
        };
        match method {
            Method::Union => self.combine(set, other, |_, _| true, true),
            Method::Intersection => self.combine(set, other, |_, in_other| in_other, false),
            Method::Difference => self.combine(set, other, |_, in_other| !in_other, false),
            Method::IsSubset => self.includes(other, set).map(Value::bool),
            Method::IsSuperset => self.includes(set, other).map(Value::bool),
            Method::IsDisjoint => {
                let common = self.combine(set, other, |_, in_other| in_other, false)?;
                Ok(Value::bool(!self.view().truth(common)))
            }
            _ => Err(self.no_method(name, receiver)),
        }
    }

    fn str_method(
        &mut self,
        method: Method,
        name: &str,
        receiver: Value,
        args: &[Value],
    ) -> EvalResult<Value> {
        let view = ValueReader { heap: self.heap, texts: self.texts };
        let Some(text) = view.str(&receiver) else { return Err(self.no_method(name, receiver)) };
        self.budget.spend(text.len() as u64 / 64)?;
        let mut texts = ["", ""];
        if method != Method::Join {
            for (text, arg) in texts.iter_mut().zip(args) {
                *text = view.str(arg).ok_or_else(|| self.type_fault("combine", receiver, *arg))?;
            }
        }
        let [first, second] = texts;
        let result: String = match method {
            Method::StartsWith => return Ok(Value::bool(text.starts_with(first))),
            Method::EndsWith => return Ok(Value::bool(text.ends_with(first))),
            Method::IsDigit => {
                return Ok(Value::bool(!text.is_empty() && text.chars().all(|c| c.is_ascii_digit())));
            }
            Method::Count => return Ok(Value::int(text.matches(first).count() as i64)),
            Method::Find => {
                let at = text.find(first).map_or(-1, |at| text[..at].chars().count() as i64);
                return Ok(Value::int(at));
            }
            Method::Lower => text.to_lowercase(),
            Method::Upper => text.to_uppercase(),
            Method::Strip => text.trim().into(),
            Method::Replace => {
                let grown = text.matches(first).count().saturating_mul(second.len());
                check_size(text.len().saturating_add(grown))?;
                text.replace(first, second)
            }
            Method::Join => return self.join(receiver, args[0]),
            Method::Split => {
                let count = match args {
                    [] => text.split_whitespace().count(),
                    _ => text.matches(first).count(),
                };
                self.budget.spend(count as u64)?;
                let parts: Vec<String> = match args {
                    [] => text.split_whitespace().map(String::from).collect(),
                    _ if first.is_empty() => {
                        return Err(Fault::new(
                            FaultKind::Value,
                            "the separator of split() must not be empty",
                        ));
                    }
                    _ => text.split(first).map(String::from).collect(),
                };
                let parts =
                    parts.iter().map(|part| self.heap.new_str(part)).collect::<EvalResult<Vec<_>>>()?;
                return self.heap.new_seq(ObjectKind::List, &parts);
            }
            _ => return Err(self.no_method(name, receiver)),
        };
        self.budget.spend(result.len() as u64 / 64)?;
        self.heap.new_str(&result)
    }

    fn join(&mut self, separator: Value, items: Value) -> EvalResult<Value> {
        let items = self.elements(items)?;
        let view = self.view();
        let separators = view.str(&separator).unwrap_or("").len().saturating_mul(items.len());
        let length = |item: &Value| view.str(item).map_or(0, str::len);
        check_size(items.iter().map(length).fold(separators, usize::saturating_add))?;
        let mut joined = String::new();
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                joined.push_str(view.str(&separator).unwrap_or(""));
            }
            match view.str(item) {
                Some(text) => joined.push_str(text),
                None => return Err(self.type_fault("join", separator, *item)),
            }
        }
        self.budget.spend(joined.len() as u64 / 64)?;
        self.heap.new_str(&joined)
    }

    /// Applies a mutation to `object`, to which the caller has the only reference.
    ///
    /// Returns the object, which may have moved, and the result of the method. Arguments must be owned.
    pub(crate) fn mutate(
        &mut self,
        mutation: Mutation,
        object: u32,
        args: &[Value],
    ) -> EvalResult<(u32, Value)> {
        let kind = self.heap.kind(object);
        let moved = match (mutation, kind, args) {
            (Mutation::Append, ObjectKind::List, [item]) => self.heap.append(object, *item)?,
            (Mutation::Extend, ObjectKind::List, [items]) => {
                let mut object = object;
                for item in self.elements(*items)? {
                    object = self.heap.append(object, item)?;
                }
                object
            }
            (Mutation::Insert, ObjectKind::List, [at, item]) => {
                let len = self.heap.len(object) as i64;
                self.budget.spend(len as u64 / 8)?;
                let at = self.expect_int(*at)?;
                let at = if at < 0 { (at + len).max(0) } else { at.min(len) };
                self.heap.insert_item(object, at as usize, *item)?
            }
            (Mutation::Pop, ObjectKind::List, [] | [_]) => {
                let at = args.first().copied().unwrap_or(Value::int(-1));
                let len = self.heap.len(object);
                if len == 0 {
                    return Err(Fault::new(FaultKind::Index, "pop() from an empty list"));
                }
                self.budget.spend(len as u64 / 8)?;
                let at = self.position(at, len)?;
                return Ok((object, self.heap.remove_item(object, at)));
            }
            (Mutation::Pop, ObjectKind::Dict, [key, rest @ ..]) => {
                return match (self.remove(object, *key)?, rest) {
                    (Some(removed), _) => Ok(removed),
                    (None, [default]) => Ok((object, *default)),
                    (None, _) => Err(self.not_found("dict", *key)),
                };
            }
            (Mutation::Pop, ObjectKind::Set, []) => {
                self.budget.spend(self.heap.aux(object) as u64 / 8)?;
                let first = self.view().entries(object).next();
                let Some(first) = first else {
                    return Err(Fault::new(FaultKind::Key, "pop() from an empty set"));
                };
                let key = self.heap.key(object, first);
                let removed = self.remove(object, key)?;
                return Ok((removed.map_or(object, |(object, _)| object), key));
            }
            (Mutation::Remove, ObjectKind::List, [item]) => match self.find_item(object, *item)? {
                Some(at) => {
                    self.budget.spend(self.heap.len(object) as u64 / 8)?;
                    self.heap.remove_item(object, at);
                    object
                }
                None => return Err(self.not_found("list", *item)),
            },
            (Mutation::Remove, ObjectKind::Set, [item]) => match self.remove(object, *item)? {
                Some((object, _)) => object,
                None => return Err(self.not_found("set", *item)),
            },
            (Mutation::Discard, ObjectKind::Set, [item]) => {
                self.remove(object, *item)?.map_or(object, |(object, _)| object)
            }
            (Mutation::Add, ObjectKind::Set, [item]) => self.insert(object, *item, Value::UNSET)?,
            (Mutation::Update, ObjectKind::Set, [items]) => {
                let mut object = object;
                for item in self.elements(*items)? {
                    let item = self.texts.own(self.heap, item)?;
                    object = self.insert(object, item, Value::UNSET)?;
                }
                object
            }
            (Mutation::Update, ObjectKind::Dict, [other]) => {
                let Some(other) = self.heap.object_of(*other, ObjectKind::Dict) else {
                    return Err(Fault::new(FaultKind::Type, "the argument of update() must be a dict"));
                };
                let mut object = object;
                for entry in 0..self.heap.len(other) {
                    let key = self.heap.key(other, entry);
                    if !key.is_unset() {
                        self.budget.spend(1)?;
                        let value = self.heap.load(other, 4 * entry + 2);
                        object = self.insert(object, key, value)?;
                    }
                }
                object
            }
            (Mutation::SetDefault, ObjectKind::Dict, [key, rest @ ..]) => {
                let default = rest.first().copied().unwrap_or(Value::NONE);
                let view = ValueReader { heap: self.heap, texts: self.texts };
                return match view.find(object, *key, self.budget)? {
                    Some(entry) => Ok((object, view.entry_value(object, entry))),
                    None => Ok((self.insert(object, *key, default)?, default)),
                };
            }
            (Mutation::Clear, ObjectKind::List, []) => {
                self.heap.new_seq(kind, &[])?.as_object().unwrap_or(object)
            }
            (Mutation::Clear, ObjectKind::Set | ObjectKind::Dict, []) => self.heap.new_table(kind, 0)?,
            (Mutation::Sort | Mutation::Reverse, ObjectKind::List, []) => {
                let mut items = self.elements(Value::object(object))?;
                match mutation {
                    Mutation::Sort => self.sort(&mut items)?,
                    _ => items.reverse(),
                }
                self.heap.new_seq(kind, &items)?.as_object().unwrap_or(object)
            }
            (Mutation::SetItem, ObjectKind::List, [at, item]) => {
                let at = self.position(*at, self.heap.len(object))?;
                self.heap.set_item(object, at, *item)?;
                object
            }
            (Mutation::SetItem, ObjectKind::Dict, [key, value]) => self.insert(object, *key, *value)?,
            (Mutation::DelItem, ObjectKind::List, [at]) => {
                let at = self.position(*at, self.heap.len(object))?;
                self.budget.spend(self.heap.len(object) as u64 / 8)?;
                self.heap.remove_item(object, at);
                object
            }
            (Mutation::DelItem, ObjectKind::Dict, [key]) => match self.remove(object, *key)? {
                Some((object, _)) => object,
                None => return Err(self.not_found("dict", *key)),
            },
            _ => return Err(self.cannot_mutate(mutation, Value::object(object))),
        };
        Ok((moved, Value::NONE))
    }

    #[cold]
    pub(crate) fn cannot_mutate(&self, mutation: Mutation, receiver: Value) -> Box<Fault> {
        match Mutation::METHODS.iter().find(|(m, _, _)| *m == mutation) {
            Some((_, name, _)) => self.no_method(name, receiver),
            None => Fault::new(
                FaultKind::Type,
                format!("the elements of {} cannot be changed", self.view().type_name(receiver)),
            ),
        }
    }
}
