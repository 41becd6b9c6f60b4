//! Resolves paths within a scope.

use super::check::{Checker, Scope, Type, Typed, binary, conjunction};
use super::predicate::{ModelNames, type_of};
use super::symbols::{Decl, NameKind, Queue, SymbolTable};
use super::syntax::{Argument, Name, Path, Segment};
use invigil_expr::diag::{Diagnostic, Span, nearest};
use invigil_model::{Binary, Domain, Expression, Model, Statement, VariableId};
use std::cell::Cell;
use std::rc::Rc;

/// A name bound to a received value.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    pub(super) name: Name,
    pub(super) value: Typed,
    pub(super) is_used: Cell<bool>,
}

/// A scope in a model: a process, or the top level.
#[derive(Clone, Copy)]
pub(super) struct ModelScope<'a> {
    pub(super) symbols: &'a SymbolTable,
    pub(super) instance: Option<usize>,
    pub(super) bindings: &'a [Binding],
    /// The compiled model, where actions can be referred to.
    pub(super) model: Option<&'a Model>,
}

/// What a path refers to.
pub(super) enum Resolved {
    Decl(Decl),
    Value(Typed),
    Element(VariableId, Domain, Typed),
    /// One of several objects, selected by an index that starts at `low`.
    Select {
        index: Typed,
        low: i64,
        guard: VariableId,
        items: Vec<Resolved>,
    },
}

impl<'a> ModelScope<'a> {
    /// The top-level scope.
    pub(super) fn top_level(symbols: &'a SymbolTable) -> ModelScope<'a> {
        ModelScope { symbols, instance: None, bindings: &[], model: None }
    }

    fn lookup(&self, name: &str) -> Option<NameKind> {
        if let Some(binding) = self.bindings.iter().rev().find(|binding| binding.name.text == name) {
            binding.is_used.set(true);
            return Some(NameKind::Predicate(binding.value.clone()));
        }
        if let Some(id) = self.instance {
            let instance = &self.symbols.instances[id];
            if let Some(meaning) = instance.names.get(name) {
                return Some(meaning.clone());
            }
            if name == "self" {
                return Some(NameKind::Decl(Decl::Process(id)));
            }
        }
        self.symbols.names.get(name).cloned()
    }

    /// Whether a name is defined, enum values included.
    pub(super) fn is_defined(&self, name: &str) -> bool {
        let is_value =
            || self.symbols.enums.iter().any(|of| of.variants.iter().any(|(other, _)| other == name));
        self.lookup(name).is_some() || is_value()
    }

    /// The names of constants.
    fn constants(&self) -> Vec<(String, Type, i64)> {
        let names = self.symbols.names.iter();
        let constant = |(name, meaning): (&String, &NameKind)| match meaning {
            NameKind::Constant(value, kind) => Some((name.clone(), kind.clone(), *value)),
            _ => None,
        };
        names.filter_map(constant).collect()
    }

    fn candidates(&self) -> Vec<String> {
        let mut known: Vec<String> = self.symbols.names.keys().cloned().collect();
        if let Some(id) = self.instance {
            known.extend(self.symbols.instances[id].names.keys().cloned());
        }
        known.extend(self.bindings.iter().map(|binding| binding.name.text.clone()));
        for of in &self.symbols.enums {
            known.extend(of.names());
        }
        known.sort();
        known
    }

    /// Resolves a path; returns `None` after reporting an error.
    pub(super) fn resolve(
        &self,
        checker: &mut Checker,
        path: &Path,
        expected: Option<&Type>,
    ) -> Option<Resolved> {
        let name = &path.head.text;
        let start = match self.lookup(name) {
            Some(NameKind::Decl(decl)) => Resolved::Decl(decl),
            Some(NameKind::Constant(value, kind)) => {
                Resolved::Value(Typed::leaf(Expression::Constant(value), kind))
            }
            Some(NameKind::Predicate(found)) => {
                let mut size = 0;
                found.expression.visit(&mut |_| size += 1);
                checker.spend(path.span, size)?;
                Resolved::Value(found)
            }
            Some(NameKind::Enum(of)) => return self.enum_value(checker, path, &of),
            Some(NameKind::Broken) => return None,
            Some(NameKind::StepPredicate) => {
                let message = format!("`{name}` is a predicate over steps and cannot be used here");
                let diagnostic = Diagnostic::error(path.span, message).label("refers to steps");
                return checker.report(diagnostic.help("declare predicates before they are used"));
            }
            Some(NameKind::Layout(_) | NameKind::Template) => {
                let diagnostic = Diagnostic::error(path.head.span, format!("`{name}` is not a value"));
                return checker.report(diagnostic.label("type or template"));
            }
            None => return self.unqualified_value(checker, path, expected).map(Resolved::Value),
        };
        self.resolve_segments(checker, start, &path.rest)
    }

    /// Resolves `Colour.red`.
    fn enum_value(&self, checker: &mut Checker, path: &Path, of: &super::symbols::Enum) -> Option<Resolved> {
        let [Segment::Field(field)] = &path.rest[..] else {
            let diagnostic = Diagnostic::error(path.span, format!("`{}` is an enum, not a value", of.name));
            return checker.report(diagnostic.label("type").help(format!("write `{}.…`", of.name)));
        };
        let names = of.names();
        match names.iter().position(|name| *name == field.text) {
            Some(at) => {
                let kind = Type::Names(Rc::new(names));
                Some(Resolved::Value(Typed::leaf(Expression::Constant(at as i64), kind)))
            }
            None => {
                let message = format!("`{}` has no `{}`", of.name, field.text);
                let mut diagnostic = Diagnostic::error(field.span, message).label("unknown");
                if let Some(near) = nearest(&field.text, names.iter().map(String::as_str)) {
                    diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
                }
                checker.report(diagnostic)
            }
        }
    }

    /// Resolves an enum value or state without a qualifier.
    fn unqualified_value(
        &self,
        checker: &mut Checker,
        path: &Path,
        expected: Option<&Type>,
    ) -> Option<Typed> {
        let name = &path.head.text;
        let of = |names: &Rc<Vec<String>>| {
            let at = names.iter().position(|other| other == name)?;
            Some(Typed::leaf(Expression::Constant(at as i64), Type::Names(Rc::clone(names))))
        };
        if path.rest.is_empty() {
            if let Some(Type::Names(names)) = expected
                && let Some(found) = of(names)
            {
                return Some(found);
            }
            let lists: Vec<Rc<Vec<String>>> =
                self.symbols.enums.iter().map(|of| Rc::new(of.names())).collect();
            let mut found = lists.iter().filter_map(of);
            match (found.next(), found.next()) {
                (Some(only), None) => return Some(only),
                (Some(_), Some(_)) => {
                    let diagnostic = Diagnostic::error(path.span, format!("`{name}` is ambiguous"));
                    return checker
                        .report(diagnostic.label("several enums have it").help("write `Enum.name`"));
                }
                _ => {}
            }
        }
        let mut diagnostic =
            Diagnostic::error(path.head.span, format!("unknown name `{name}`")).label("unknown");
        let mut known = self.candidates();
        if let Some(Type::Names(names)) = expected {
            known.extend(names.iter().cloned());
        }
        if let Some(near) = nearest(name, known.iter().map(String::as_str)) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        }
        checker.report(diagnostic)
    }

    /// Resolves the rest of a path. The recursion over non-constant indices is bounded by the nesting of arrays.
    fn resolve_segments(
        &self,
        checker: &mut Checker,
        mut at: Resolved,
        rest: &[Segment],
    ) -> Option<Resolved> {
        for (number, segment) in rest.iter().enumerate() {
            at = match (at, segment) {
                (Resolved::Decl(Decl::Record(record, fields)), Segment::Field(field)) => {
                    match record.fields.iter().position(|of| of.name == field.text) {
                        Some(number) => Resolved::Decl(fields[number].clone()),
                        None => {
                            let message = format!("`{}` has no field `{}`", record.name, field.text);
                            let diagnostic = Diagnostic::error(field.span, message).label("unknown");
                            let names = record.fields.iter().map(|of| of.name.as_str());
                            return checker.report(match nearest(&field.text, names) {
                                Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                                None => diagnostic,
                            });
                        }
                    }
                }
                (Resolved::Decl(Decl::Process(process)), Segment::Field(field)) => {
                    self.resolve_in_process(checker, process, field)?
                }
                (Resolved::Decl(Decl::ScalarArray(variable, kind, length)), Segment::Index(index)) => {
                    let found = checker.expect(self, index, &Type::Integer)?;
                    let span = index.span;
                    check_index(checker, &found, span, 0, i64::from(length) - 1)?;
                    Resolved::Element(variable, kind, found)
                }
                (Resolved::Decl(Decl::Array { guard, low, items }), Segment::Index(index)) => {
                    let found = checker.expect(self, index, &Type::Integer)?;
                    check_index(checker, &found, index.span, low, low + items.len() as i64 - 1)?;
                    match found.constant() {
                        Some(value) => Resolved::Decl(items[(value - low) as usize].clone()),
                        None => {
                            let mut selected = Vec::new();
                            for item in items.iter() {
                                checker.spend(index.span, 4)?;
                                let item = Resolved::Decl(item.clone());
                                selected.push(self.resolve_segments(checker, item, &rest[number + 1..])?);
                            }
                            return Some(Resolved::Select { index: found, low, guard, items: selected });
                        }
                    }
                }
                (_, Segment::Field(field)) => {
                    let diagnostic = Diagnostic::error(field.span, format!("unknown field `{}`", field.text));
                    return checker.report(diagnostic.label("the value before the dot has no fields"));
                }
                (_, Segment::Index(index)) => {
                    let diagnostic = Diagnostic::error(index.span, "this is not an array");
                    return checker.report(diagnostic.label("unexpected index"));
                }
            };
        }
        Some(at)
    }

    fn resolve_in_process(&self, checker: &mut Checker, process: usize, field: &Name) -> Option<Resolved> {
        let instance = &self.symbols.instances[process];
        match instance.names.get(&field.text) {
            Some(NameKind::Decl(decl)) => return Some(Resolved::Decl(decl.clone())),
            Some(NameKind::Constant(value, kind)) => {
                return Some(Resolved::Value(Typed::leaf(Expression::Constant(*value), kind.clone())));
            }
            Some(_) => return None,
            None => {}
        }
        if let Some(at) = instance.states.iter().position(|state| *state == field.text) {
            let at = Expression::Constant(at as i64);
            let expression = Expression::binary(Binary::Equal, Expression::read(instance.location), at);
            return Some(Resolved::Value(Typed { expression, kind: Type::Boolean, depth: 2 }));
        }
        let message = format!("`{}` has no state or variable `{}`", instance.name, field.text);
        let mut diagnostic = Diagnostic::error(field.span, message).label("unknown");
        let known = instance.names.keys().chain(instance.states.iter()).map(String::as_str);
        if let Some(near) = nearest(&field.text, known) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        }
        checker.report(diagnostic)
    }

    /// Reads the value of a resolved path.
    fn value(&self, checker: &mut Checker, resolved: Resolved, span: Span) -> Option<Typed> {
        let report = |checker: &mut Checker, what: &str| {
            let diagnostic = Diagnostic::error(span, format!("expected a single value, found {what}"));
            checker.report(diagnostic.label(what.to_owned()))
        };
        match resolved {
            Resolved::Value(found) => Some(found),
            Resolved::Decl(Decl::Scalar(variable, kind)) => {
                Some(Typed::leaf(Expression::read(variable), type_of(&kind)))
            }
            Resolved::Decl(Decl::Process(process)) => {
                let instance = &self.symbols.instances[process];
                let kind = Type::Names(Rc::clone(&instance.states));
                Some(Typed::leaf(Expression::read(instance.location), kind))
            }
            Resolved::Element(variable, kind, index) => {
                let (expression, depth) = (Expression::element(variable, index.expression), index.depth + 1);
                Some(Typed { expression, kind: type_of(&kind), depth })
            }
            Resolved::Select { index, low, guard, items } => {
                let mut found = Vec::new();
                for item in items {
                    found.push(self.value(checker, item, span)?);
                }
                select(checker, span, &index, (low, guard), found)
            }
            Resolved::Decl(Decl::ScalarArray(..) | Decl::Array { .. }) => report(checker, "an array"),
            Resolved::Decl(Decl::Record(..)) => report(checker, "a record"),
            Resolved::Decl(Decl::Channel(_)) => report(checker, "a channel"),
        }
    }

    /// Applies `length`, `empty` or `full` to a channel or to the mailbox of a process.
    fn queue(&self, checker: &mut Checker, name: &Name, resolved: Resolved, span: Span) -> Option<Typed> {
        let queue = match resolved {
            Resolved::Select { index, low, guard, items } => {
                let mut found = Vec::new();
                for item in items {
                    found.push(self.queue(checker, name, item, span)?);
                }
                return select(checker, span, &index, (low, guard), found);
            }
            Resolved::Decl(Decl::Channel(channel)) => self.symbols.channels[channel].queue.as_ref(),
            Resolved::Decl(Decl::Process(process)) => {
                self.symbols.instances[process].mailbox.as_ref().map(|mailbox| &mailbox.queue)
            }
            _ => None,
        };
        let Some(queue) = queue else {
            let diagnostic = Diagnostic::error(span, "this has no queue").label("not buffered");
            return checker.report(diagnostic.help("use a buffered channel or a process with a mailbox"));
        };
        Some(queue_call(name, queue))
    }
}

fn queue_call(name: &Name, queue: &Queue) -> Typed {
    let length = Expression::read(queue.length);
    let compare = |with| Expression::binary(Binary::Equal, length.clone(), Expression::Constant(with));
    let (expression, kind) = match name.text.as_str() {
        "empty" => (compare(0), Type::Boolean),
        "full" => (compare(i64::from(queue.capacity)), Type::Boolean),
        _ => (length, Type::Integer),
    };
    Typed { expression, kind, depth: 2 }
}

fn check_index(checker: &mut Checker, index: &Typed, span: Span, low: i64, high: i64) -> Option<()> {
    match index.constant() {
        Some(value) if !(low..=high).contains(&value) => {
            let diagnostic = Diagnostic::error(span, format!("index {value} is out of range"));
            checker.report(diagnostic.label(format!("valid indices: {low} to {high}")))
        }
        _ => Some(()),
    }
}

/// The condition that an index is valid for `count` objects, from `low`.
fn is_valid_index(index: &Expression, low: i64, count: usize) -> Expression {
    let at_least = Expression::binary(Binary::GreaterOrEqual, index.clone(), Expression::Constant(low));
    let last = Expression::Constant(low + count as i64 - 1);
    conjunction(vec![at_least, Expression::binary(Binary::LessOrEqual, index.clone(), last)])
}

/// Selects the value with this index; for an invalid index, reading `guard` raises a fault.
fn select(
    checker: &mut Checker,
    span: Span,
    index: &Typed,
    (low, guard): (i64, VariableId),
    values: Vec<Typed>,
) -> Option<Typed> {
    let kind = values.first()?.kind.clone();
    if values.iter().any(|value| value.kind != kind) {
        let diagnostic = Diagnostic::error(span, "the elements have different types");
        return checker.report(diagnostic.label("the type depends on the index"));
    }
    let depth = values.iter().map(|value| value.depth).max().unwrap_or(0).max(index.depth);
    let depth = depth + values.len().ilog2() + 4;
    checker.spend(span, values.len() * 3)?;
    let condition = is_valid_index(&index.expression, low, values.len());
    let values = values.into_iter().map(|value| value.expression).collect();
    let chosen = decision_tree(&index.expression, low, values, &|condition, this, that| {
        Expression::If(Box::new((condition, this, that)))
    })?;
    let none = Expression::element(guard, index.expression.clone());
    Some(Typed { expression: Expression::If(Box::new((condition, chosen, none))), kind, depth })
}

/// Selects the statements with this index; an invalid index raises a fault.
pub(super) fn select_statements(
    index: &Expression,
    (low, guard): (i64, VariableId),
    choices: Vec<Vec<Statement>>,
) -> Vec<Statement> {
    let condition = is_valid_index(index, low, choices.len());
    let chosen = decision_tree(index, low, choices, &|condition, then, otherwise| {
        vec![Statement::If { condition, then, otherwise }]
    });
    let place = invigil_model::LValue { variable: guard, index: Some(Box::new(index.clone())) };
    let none = Statement::Assign { place, value: Expression::Constant(0), wraps: false };
    vec![Statement::If { condition, then: chosen.unwrap_or_default(), otherwise: vec![none] }]
}

/// A balanced decision tree over a valid index.
fn decision_tree<T>(
    index: &Expression,
    low: i64,
    mut values: Vec<T>,
    decide: &impl Fn(Expression, T, T) -> T,
) -> Option<T> {
    if values.len() <= 1 {
        return values.pop();
    }
    let upper = values.split_off(values.len() / 2);
    let middle = low + values.len() as i64;
    let condition = binary(Binary::Less, index.clone(), Expression::Constant(middle));
    let (lower, upper) =
        (decision_tree(index, low, values, decide)?, decision_tree(index, middle, upper, decide)?);
    Some(decide(condition, lower, upper))
}

impl Scope for ModelScope<'_> {
    fn read(&self, checker: &mut Checker, path: &Path, expected: Option<&Type>) -> Option<Typed> {
        if path.is_primed && self.model.is_none() {
            let diagnostic =
                Diagnostic::error(path.span, "primes are only allowed in invariants and predicates");
            return checker.report(diagnostic.label("not allowed here").help("remove the prime"));
        }
        let resolved = self.resolve(checker, path, expected)?;
        self.value(checker, resolved, path.span)
    }

    fn call(&self, checker: &mut Checker, name: &Name, argument: &Argument) -> Option<Typed> {
        let refers_to_actions = matches!(name.text.as_str(), "enabled" | "happens");
        match (self.model, argument) {
            (Some(model), _) if refers_to_actions => {
                ModelNames { model, constants: &self.constants() }.call(checker, name, argument)
            }
            (None, _) if refers_to_actions => {
                let message = format!("`{}` is only allowed in invariants and predicates", name.text);
                let diagnostic = Diagnostic::error(name.span, message).label("cannot be used here");
                checker.report(diagnostic.help("guards and effects cannot refer to actions"))
            }
            (_, Argument::Path(path)) => {
                let resolved = self.resolve(checker, path, None)?;
                self.queue(checker, name, resolved, path.span)
            }
            (_, Argument::Quoted(text)) => {
                checker.report(Diagnostic::error(text.span, "expected a channel or a process"))
            }
        }
    }
}
