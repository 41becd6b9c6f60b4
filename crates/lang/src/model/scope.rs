//! What paths mean where they stand.

use super::check::{Checker, Scope, Type, Typed, all, binary};
use super::predicate::{Names, type_of};
use super::syntax::{Argument, Name, Path, Segment};
use super::world::{Meaning, Queue, Thing, World};
use invigil_expr::diag::{Diagnostic, Span, nearest};
use invigil_model::{Binary, Expression, Kind, Model, Statement, VariableId};
use std::cell::Cell;
use std::rc::Rc;

/// A name for something that was received.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    pub(super) name: Name,
    pub(super) value: Typed,
    pub(super) is_used: Cell<bool>,
}

/// A place in a model: inside of a process, or outside of all.
#[derive(Clone, Copy)]
pub(super) struct Here<'a> {
    pub(super) world: &'a World,
    pub(super) instance: Option<usize>,
    pub(super) bindings: &'a [Binding],
    /// The whole model, where actions can be looked at.
    pub(super) model: Option<&'a Model>,
}

/// What a path means.
pub(super) enum Resolved {
    Thing(Thing),
    Value(Typed),
    Element(VariableId, Kind, Typed),
    /// One of several things, from index `low`.
    Select {
        index: Typed,
        low: i64,
        guard: VariableId,
        items: Vec<Resolved>,
    },
}

impl<'a> Here<'a> {
    /// Outside of all processes.
    pub(super) fn outside(world: &'a World) -> Here<'a> {
        Here { world, instance: None, bindings: &[], model: None }
    }

    fn meaning(&self, name: &str) -> Option<Meaning> {
        if let Some(binding) = self.bindings.iter().rev().find(|binding| binding.name.text == name) {
            binding.is_used.set(true);
            return Some(Meaning::Predicate(binding.value.clone()));
        }
        if let Some(own) = self.instance {
            let instance = &self.world.instances[own];
            if let Some(meaning) = instance.names.get(name) {
                return Some(meaning.clone());
            }
            if name == "self" {
                return Some(Meaning::Thing(Thing::Process(own)));
            }
        }
        self.world.names.get(name).cloned()
    }

    /// Whether a name means something, values of enums included.
    pub(super) fn knows(&self, name: &str) -> bool {
        let is_value =
            || self.world.enums.iter().any(|of| of.variants.iter().any(|(other, _)| other == name));
        self.meaning(name).is_some() || is_value()
    }

    /// Names for numbers.
    fn constants(&self) -> Vec<(String, Type, i64)> {
        let names = self.world.names.iter();
        let constant = |(name, meaning): (&String, &Meaning)| match meaning {
            Meaning::Constant(value, kind) => Some((name.clone(), kind.clone(), *value)),
            _ => None,
        };
        names.filter_map(constant).collect()
    }

    fn candidates(&self) -> Vec<String> {
        let mut known: Vec<String> = self.world.names.keys().cloned().collect();
        if let Some(own) = self.instance {
            known.extend(self.world.instances[own].names.keys().cloned());
        }
        known.extend(self.bindings.iter().map(|binding| binding.name.text.clone()));
        for of in &self.world.enums {
            known.extend(of.names());
        }
        known.sort();
        known
    }

    /// What a path means; none after a complaint.
    pub(super) fn resolve(
        &self,
        checker: &mut Checker,
        path: &Path,
        expected: Option<&Type>,
    ) -> Option<Resolved> {
        let name = &path.head.text;
        let start = match self.meaning(name) {
            Some(Meaning::Thing(thing)) => Resolved::Thing(thing),
            Some(Meaning::Constant(value, kind)) => {
                Resolved::Value(Typed::leaf(Expression::Constant(value), kind))
            }
            Some(Meaning::Predicate(found)) => {
                let mut size = 0;
                found.expression.visit(&mut |_| size += 1);
                checker.spend(path.span, size)?;
                Resolved::Value(found)
            }
            Some(Meaning::Enum(of)) => return self.enum_value(checker, path, &of),
            Some(Meaning::Broken) => return None,
            Some(Meaning::StepPredicate) => {
                let message = format!("`{name}` looks at steps, and cannot be used here");
                let problem = Diagnostic::error(path.span, message).label("about steps");
                return checker.report(problem.help("predicates are declared before they are used"));
            }
            Some(Meaning::Shape(_) | Meaning::Template) => {
                let problem = Diagnostic::error(path.head.span, format!("`{name}` is no value"));
                return checker.report(problem.label("the name of a type or template"));
            }
            None => return self.bare_value(checker, path, expected).map(Resolved::Value),
        };
        self.walk(checker, start, &path.rest)
    }

    /// `Colour.red`
    fn enum_value(&self, checker: &mut Checker, path: &Path, of: &super::world::Enum) -> Option<Resolved> {
        let [Segment::Field(field)] = &path.rest[..] else {
            let problem = Diagnostic::error(path.span, format!("`{}` is an enum, no value", of.name));
            return checker.report(problem.label("a type").help(format!("write `{}.…`", of.name)));
        };
        let names = of.names();
        match names.iter().position(|name| *name == field.text) {
            Some(at) => {
                let kind = Type::Names(Rc::new(names));
                Some(Resolved::Value(Typed::leaf(Expression::Constant(at as i64), kind)))
            }
            None => {
                let message = format!("`{}` has no `{}`", of.name, field.text);
                let mut problem = Diagnostic::error(field.span, message).label("not known");
                if let Some(near) = nearest(&field.text, names.iter().map(String::as_str)) {
                    problem = problem.help(format!("did you mean `{near}`?"));
                }
                checker.report(problem)
            }
        }
    }

    /// A name of an enum or of a state that stands alone.
    fn bare_value(&self, checker: &mut Checker, path: &Path, expected: Option<&Type>) -> Option<Typed> {
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
            let lists: Vec<Rc<Vec<String>>> = self.world.enums.iter().map(|of| Rc::new(of.names())).collect();
            let mut found = lists.iter().filter_map(of);
            match (found.next(), found.next()) {
                (Some(only), None) => return Some(only),
                (Some(_), Some(_)) => {
                    let problem = Diagnostic::error(path.span, format!("several enums have `{name}`"));
                    return checker.report(problem.label("of which?").help("write `Enum.name`"));
                }
                _ => {}
            }
        }
        let mut problem =
            Diagnostic::error(path.head.span, format!("there is no `{name}`")).label("not known");
        let mut known = self.candidates();
        if let Some(Type::Names(names)) = expected {
            known.extend(names.iter().cloned());
        }
        if let Some(near) = nearest(name, known.iter().map(String::as_str)) {
            problem = problem.help(format!("did you mean `{near}`?"));
        }
        checker.report(problem)
    }

    /// Goes along the rest of a path. It calls itself for indices that are not known, which are no more than there
    /// are arrays in each other.
    fn walk(&self, checker: &mut Checker, mut at: Resolved, rest: &[Segment]) -> Option<Resolved> {
        for (number, segment) in rest.iter().enumerate() {
            at = match (at, segment) {
                (Resolved::Thing(Thing::Record(record, things)), Segment::Field(field)) => {
                    match record.fields.iter().position(|of| of.name == field.text) {
                        Some(number) => Resolved::Thing(things[number].clone()),
                        None => {
                            let message = format!("`{}` has no field `{}`", record.name, field.text);
                            let problem = Diagnostic::error(field.span, message).label("not known");
                            let names = record.fields.iter().map(|of| of.name.as_str());
                            return checker.report(match nearest(&field.text, names) {
                                Some(near) => problem.help(format!("did you mean `{near}`?")),
                                None => problem,
                            });
                        }
                    }
                }
                (Resolved::Thing(Thing::Process(process)), Segment::Field(field)) => {
                    self.of_process(checker, process, field)?
                }
                (Resolved::Thing(Thing::Row(variable, kind, length)), Segment::Index(index)) => {
                    let found = checker.expect(self, index, &Type::Integer)?;
                    let span = index.span;
                    in_range(checker, &found, span, 0, i64::from(length) - 1)?;
                    Resolved::Element(variable, kind, found)
                }
                (Resolved::Thing(Thing::Many { guard, low, items }), Segment::Index(index)) => {
                    let found = checker.expect(self, index, &Type::Integer)?;
                    in_range(checker, &found, index.span, low, low + items.len() as i64 - 1)?;
                    match found.constant() {
                        Some(value) => Resolved::Thing(items[(value - low) as usize].clone()),
                        None => {
                            let mut selected = Vec::new();
                            for item in items.iter() {
                                checker.spend(index.span, 4)?;
                                let item = Resolved::Thing(item.clone());
                                selected.push(self.walk(checker, item, &rest[number + 1..])?);
                            }
                            return Some(Resolved::Select { index: found, low, guard, items: selected });
                        }
                    }
                }
                (_, Segment::Field(field)) => {
                    let problem = Diagnostic::error(field.span, format!("there is no `{}` here", field.text));
                    return checker.report(problem.label("what stands before the dot has no parts"));
                }
                (_, Segment::Index(index)) => {
                    let problem = Diagnostic::error(index.span, "this is no array");
                    return checker.report(problem.label("no index here"));
                }
            };
        }
        Some(at)
    }

    fn of_process(&self, checker: &mut Checker, process: usize, field: &Name) -> Option<Resolved> {
        let instance = &self.world.instances[process];
        match instance.names.get(&field.text) {
            Some(Meaning::Thing(thing)) => return Some(Resolved::Thing(thing.clone())),
            Some(Meaning::Constant(value, kind)) => {
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
        let mut problem = Diagnostic::error(field.span, message).label("not known");
        let known = instance.names.keys().chain(instance.states.iter()).map(String::as_str);
        if let Some(near) = nearest(&field.text, known) {
            problem = problem.help(format!("did you mean `{near}`?"));
        }
        checker.report(problem)
    }

    /// What is read at a place.
    fn value(&self, checker: &mut Checker, resolved: Resolved, span: Span) -> Option<Typed> {
        let wrong = |checker: &mut Checker, what: &str| {
            let problem = Diagnostic::error(span, format!("this is {what}, not one value"));
            checker.report(problem.label(what.to_owned()))
        };
        match resolved {
            Resolved::Value(found) => Some(found),
            Resolved::Thing(Thing::Cell(variable, kind)) => {
                Some(Typed::leaf(Expression::read(variable), type_of(&kind)))
            }
            Resolved::Thing(Thing::Process(process)) => {
                let instance = &self.world.instances[process];
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
            Resolved::Thing(Thing::Row(..) | Thing::Many { .. }) => wrong(checker, "an array"),
            Resolved::Thing(Thing::Record(..)) => wrong(checker, "a record"),
            Resolved::Thing(Thing::Channel(_)) => wrong(checker, "a channel"),
        }
    }

    /// What `length`, `empty` and `full` say of a channel, or of the mailbox of a process.
    fn queue(&self, checker: &mut Checker, name: &Name, resolved: Resolved, span: Span) -> Option<Typed> {
        let queue = match resolved {
            Resolved::Select { index, low, guard, items } => {
                let mut found = Vec::new();
                for item in items {
                    found.push(self.queue(checker, name, item, span)?);
                }
                return select(checker, span, &index, (low, guard), found);
            }
            Resolved::Thing(Thing::Channel(channel)) => self.world.channels[channel].queue.as_ref(),
            Resolved::Thing(Thing::Process(process)) => {
                self.world.instances[process].mailbox.as_ref().map(|mailbox| &mailbox.queue)
            }
            _ => None,
        };
        let Some(queue) = queue else {
            let problem = Diagnostic::error(span, "nothing waits here").label("no queue");
            return checker
                .report(problem.help("this is for channels with room, and processes with a mailbox"));
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

fn in_range(checker: &mut Checker, index: &Typed, span: Span, low: i64, high: i64) -> Option<()> {
    match index.constant() {
        Some(value) if !(low..=high).contains(&value) => {
            let problem = Diagnostic::error(span, format!("there is no element {value}"));
            checker.report(problem.label(format!("the elements are {low} to {high}")))
        }
        _ => Some(()),
    }
}

/// Whether an index is that of one of `count` things, from `low`.
fn is_there(index: &Expression, low: i64, count: usize) -> Expression {
    let at_least = Expression::binary(Binary::GreaterOrEqual, index.clone(), Expression::Constant(low));
    let last = Expression::Constant(low + count as i64 - 1);
    all(vec![at_least, Expression::binary(Binary::LessOrEqual, index.clone(), last)])
}

/// The value with that index; where there is none, looking at `guard` goes wrong.
fn select(
    checker: &mut Checker,
    span: Span,
    index: &Typed,
    (low, guard): (i64, VariableId),
    values: Vec<Typed>,
) -> Option<Typed> {
    let kind = values.first()?.kind.clone();
    if values.iter().any(|value| value.kind != kind) {
        let problem = Diagnostic::error(span, "these are of different types");
        return checker.report(problem.label("the type depends on the index"));
    }
    let depth = values.iter().map(|value| value.depth).max().unwrap_or(0).max(index.depth);
    let depth = depth + values.len().ilog2() + 4;
    checker.spend(span, values.len() * 3)?;
    let condition = is_there(&index.expression, low, values.len());
    let values = values.into_iter().map(|value| value.expression).collect();
    let chosen = tree(&index.expression, low, values, &|condition, this, that| {
        Expression::If(Box::new((condition, this, that)))
    })?;
    let none = Expression::element(guard, index.expression.clone());
    Some(Typed { expression: Expression::If(Box::new((condition, chosen, none))), kind, depth })
}

/// The statements with that index; where there are none, it goes wrong.
pub(super) fn select_statements(
    index: &Expression,
    (low, guard): (i64, VariableId),
    choices: Vec<Vec<Statement>>,
) -> Vec<Statement> {
    let condition = is_there(index, low, choices.len());
    let chosen = tree(index, low, choices, &|condition, then, otherwise| {
        vec![Statement::If { condition, then, otherwise }]
    });
    let place = invigil_model::Place { variable: guard, index: Some(Box::new(index.clone())) };
    let none = Statement::Assign { place, value: Expression::Constant(0), wraps: false };
    vec![Statement::If { condition, then: chosen.unwrap_or_default(), otherwise: vec![none] }]
}

/// A balanced tree of decisions over an index that is there.
fn tree<T>(
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
    let (lower, upper) = (tree(index, low, values, decide)?, tree(index, middle, upper, decide)?);
    Some(decide(condition, lower, upper))
}

impl Scope for Here<'_> {
    fn read(&self, checker: &mut Checker, path: &Path, expected: Option<&Type>) -> Option<Typed> {
        if path.is_primed && self.model.is_none() {
            let problem = Diagnostic::error(path.span, "primes are for invariants and predicates");
            return checker.report(problem.label("an effect says what comes after").help("remove the prime"));
        }
        let resolved = self.resolve(checker, path, expected)?;
        self.value(checker, resolved, path.span)
    }

    fn call(&self, checker: &mut Checker, name: &Name, argument: &Argument) -> Option<Typed> {
        let is_of_actions = matches!(name.text.as_str(), "enabled" | "happens");
        match (self.model, argument) {
            (Some(model), _) if is_of_actions => {
                Names { model, constants: &self.constants() }.call(checker, name, argument)
            }
            (None, _) if is_of_actions => {
                let message = format!("`{}` is for invariants and predicates", name.text);
                let problem = Diagnostic::error(name.span, message).label("cannot be used here");
                checker.report(problem.help("actions cannot look at actions"))
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
