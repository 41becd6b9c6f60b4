//! Statements of effects become statements of the lowered form.

use super::ast::{Doing, Overflow, Statement as Written};
use super::carried::fits;
use super::check::{Checker, Type, Typed, binary};
use super::predicate::type_of;
use super::scope::{Here, Resolved, select_statements};
use super::syntax::{Expr, Name, Path, Segment, Shape};
use super::world::{Layout, Part, Queue, Thing};
use invigil_expr::diag::{Diagnostic, Span, nearest};
use invigil_model::{Binary, Expression, Kind, Place, Statement, Variable, VariableId};
use std::collections::HashMap;

/// Hidden variables that hold something while an action is done: at its end they are as before.
pub(super) struct Scratch {
    /// The number of the first.
    pub(super) from: VariableId,
    pub(super) variables: Vec<Variable>,
    /// The ranges of all variables of the model, and of these.
    pub(super) ranges: Vec<(i64, i64)>,
    /// By range, and by how many of this range an action has already.
    known: HashMap<(i64, i64, usize), VariableId>,
}

impl Scratch {
    /// Variables that come after others, which have these ranges.
    pub(super) fn new(ranges: Vec<(i64, i64)>) -> Scratch {
        let from = ranges.len() as VariableId;
        Scratch { from, variables: Vec::new(), ranges, known: HashMap::new() }
    }
}

/// The effect of one action, while it is made.
pub(super) struct Effect<'a> {
    pub(super) checker: &'a mut Checker,
    pub(super) scratch: &'a mut Scratch,
    /// What comes before all others: choices.
    pub(super) first: Vec<Statement>,
    /// What comes after all others: scratch variables are reset.
    pub(super) last: Vec<Statement>,
    /// What the action needs besides its guard: room for what it sends.
    pub(super) needs: Vec<Expression>,
    used: HashMap<(i64, i64), usize>,
    /// How often each mailbox that blocks was sent to.
    sent: HashMap<VariableId, i64>,
    is_under_condition: bool,
}

impl<'a> Effect<'a> {
    pub(super) fn new(checker: &'a mut Checker, scratch: &'a mut Scratch) -> Effect<'a> {
        Effect {
            checker,
            scratch,
            first: Vec::new(),
            last: Vec::new(),
            needs: Vec::new(),
            used: HashMap::new(),
            sent: HashMap::new(),
            is_under_condition: false,
        }
    }

    /// A hidden variable for values of that range.
    pub(super) fn hidden(&mut self, (low, high): (i64, i64)) -> VariableId {
        let used = self.used.entry((low, high)).or_default();
        let nth = *used;
        *used += 1;
        let next = self.scratch.from + self.scratch.variables.len() as VariableId;
        let id = *self.scratch.known.entry((low, high, nth)).or_insert(next);
        if id == next {
            let kind = Kind::Integer { low, high };
            let variable = Variable::scalar(format!("scratch {low}..{high} #{nth}"), kind, low);
            self.scratch.variables.push(Variable { is_hidden: true, ..variable });
            self.scratch.ranges.push((low, high));
        }
        self.last.push(Statement::assign(id, Expression::Constant(low)));
        id
    }

    /// All of these statements.
    pub(super) fn block(&mut self, here: &Here<'_>, written: &[Written]) -> Option<Vec<Statement>> {
        let mut done = Vec::new();
        let mut is_right = true;
        for statement in written {
            is_right &= self.statement(here, statement, &mut done).is_some();
        }
        is_right.then_some(done)
    }

    fn statement(&mut self, here: &Here<'_>, written: &Written, out: &mut Vec<Statement>) -> Option<()> {
        self.checker.spend(written.span, 1)?;
        match &written.doing {
            Doing::Assign { place, operator, value } => {
                let target = here.resolve(self.checker, place, None)?;
                self.assign(here, place, target, *operator, value, out)
            }
            Doing::Choose { place, range } => {
                let target = here.resolve(self.checker, place, None)?;
                let Some(kind) = kind_of(&target) else { return self.not_assignable(place, &target) };
                let (low, high) =
                    super::declare::choice(self.checker, here, &kind, range.as_ref(), written.span)?;
                if !self.is_under_condition
                    && let Some(place) = place_of(&target)
                {
                    out.push(Statement::Choose { place, low, high });
                    return Some(());
                }
                // A choice is made always, and used where the condition holds.
                let hidden = self.hidden((low, high));
                self.first.push(Statement::Choose { place: Place::scalar(hidden), low, high });
                out.extend(store(target, &Expression::read(hidden))?);
                Some(())
            }
            Doing::If { condition, then, otherwise } => {
                let condition = self.checker.expect(here, condition, &Type::Boolean);
                let was = core::mem::replace(&mut self.is_under_condition, true);
                let then = self.block(here, then);
                let otherwise = self.block(here, otherwise);
                self.is_under_condition = was;
                let (condition, then, otherwise) = (condition?, then?, otherwise?);
                match condition.constant() {
                    Some(0) => out.extend(otherwise),
                    Some(_) => out.extend(then),
                    None => {
                        out.push(Statement::If { condition: condition.expression, then, otherwise });
                    }
                }
                Some(())
            }
            Doing::For { name, range, body } => {
                let (low, high) = self.checker.bounds(here, range)?;
                for number in low..=high {
                    self.checker.spend(written.span, 1)?;
                    self.checker.locals.push((name.text.clone(), number));
                    let done = self.block(here, body);
                    self.checker.locals.pop();
                    out.extend(done?);
                }
                Some(())
            }
            Doing::Assert { condition, message } => {
                let condition = self.checker.expect(here, condition, &Type::Boolean)?.expression;
                out.push(Statement::Assert { condition, message: message.clone() });
                Some(())
            }
            Doing::Require(condition) => {
                let condition = self.checker.expect(here, condition, &Type::Boolean)?.expression;
                out.push(Statement::Require(condition));
                Some(())
            }
            Doing::Send { to, event, values } => {
                let target = here.resolve(self.checker, to, None)?;
                out.extend(self.send(here, to.span, target, event, values)?);
                Some(())
            }
        }
    }

    fn not_assignable<T>(&mut self, place: &Path, target: &Resolved) -> Option<T> {
        let what = match target {
            Resolved::Thing(Thing::Process(_)) => "a process",
            Resolved::Thing(Thing::Channel(_)) => "a channel",
            Resolved::Thing(_) | Resolved::Select { .. } => "more than one value",
            _ => "no variable",
        };
        let problem = Diagnostic::error(place.span, format!("this cannot be assigned: it is {what}"));
        self.checker.report(problem.label(what))
    }

    pub(super) fn assign(
        &mut self,
        here: &Here<'_>,
        place: &Path,
        target: Resolved,
        operator: Option<Binary>,
        value: &Expr,
        out: &mut Vec<Statement>,
    ) -> Option<()> {
        let Some(kind) = kind_of(&target) else {
            let Some(layout) = layout_of(&target) else { return self.not_assignable(place, &target) };
            return self.copy(here, place, &layout, value, out);
        };
        let mut found = self.checker.expect(here, value, &type_of(&kind))?;
        if let Some(operator) = operator {
            if type_of(&kind) != Type::Integer {
                return self.checker.report(Diagnostic::error(place.span, "this is no number"));
            }
            let read = Expr { shape: Shape::Path(place.clone()), span: place.span, depth: 1 };
            let old = self.checker.expect(here, &read, &Type::Integer)?;
            found.expression = binary(operator, old.expression, found.expression);
        }
        if let Some(known) = found.constant()
            && !kind.holds(known)
        {
            let (low, high) = kind.range();
            let problem = Diagnostic::error(value.span, format!("{known} is not in {low}..{high}"));
            return self.checker.report(problem.label("cannot be held"));
        }
        out.extend(store(target, &found.expression)?);
        Some(())
    }

    /// All single values of an array or a record.
    fn copy(
        &mut self,
        here: &Here<'_>,
        place: &Path,
        layout: &Layout,
        value: &Expr,
        out: &mut Vec<Statement>,
    ) -> Option<()> {
        let Shape::Path(from) = &value.shape else {
            let problem = Diagnostic::error(value.span, "this is one value, and several are wanted");
            return self.checker.report(problem.label("one value").help("assign the parts one by one"));
        };
        for (way, _) in layout.leaves() {
            self.checker.spend(value.span, 2)?;
            let (to, from) = (along(place, &way), along(from, &way));
            let target = here.resolve(self.checker, &to, None)?;
            let part = Expr { span: value.span, shape: Shape::Path(from), depth: value.depth };
            self.assign(here, &to, target, None, &part, out)?;
        }
        Some(())
    }

    fn send(
        &mut self,
        here: &Here<'_>,
        span: Span,
        target: Resolved,
        event: &Name,
        values: &[Expr],
    ) -> Option<Vec<Statement>> {
        let process = match target {
            Resolved::Select { index, low, guard, items } => {
                let was = core::mem::replace(&mut self.is_under_condition, true);
                let mut choices = Vec::new();
                for item in items {
                    let choice = self.send(here, span, item, event, values);
                    choices.extend(choice);
                }
                self.is_under_condition = was;
                return Some(select_statements(&index.expression, (low, guard), choices));
            }
            Resolved::Thing(Thing::Process(process)) => process,
            _ => {
                let problem =
                    Diagnostic::error(span, "this is no process").label("events are sent to processes");
                return self.checker.report(problem.help("values go through channels: `c!1`"));
            }
        };
        let instance = &here.world.instances[process];
        let Some(mailbox) = &instance.mailbox else {
            if instance.declared.mailbox.is_some() {
                return None;
            }
            let problem = Diagnostic::error(span, format!("`{}` has no mailbox", instance.name));
            return self
                .checker
                .report(problem.label("cannot receive").help("add `mailbox fifo[3] of Signal` to it"));
        };
        let Some(number) = mailbox.events.variants.iter().position(|(name, _)| *name == event.text) else {
            let message = format!("`{}` takes no event `{}`", instance.name, event.text);
            let mut problem = Diagnostic::error(event.span, message).label("not known");
            let known = mailbox.events.variants.iter().map(|(name, _)| name.as_str());
            if let Some(near) = nearest(&event.text, known) {
                problem = problem.help(format!("did you mean `{near}`?"));
            }
            return self.checker.report(problem);
        };
        let kinds = &mailbox.events.variants[number].1;
        if kinds.len() != values.len() {
            let message = format!("`{}` carries {}, not {}", event.text, many(kinds.len()), values.len());
            return self.checker.report(Diagnostic::error(event.span, message).label("here"));
        }
        let mut sent = vec![Expression::Constant(number as i64 + 1)];
        // The cells of the mailbox may be wider than this event: they hold those of all events.
        let mut checked = Vec::new();
        for (value, kind) in values.iter().zip(kinds) {
            let value = self.checker.expect(here, value, &type_of(kind))?.expression;
            checked.extend(fits(&self.scratch.ranges, &event.text, kind, &value));
            sent.push(value);
        }
        let queue = &mailbox.queue;
        let done = enqueue(queue, &sent);
        let has_room = room(queue, 0);
        Some(match mailbox.overflow {
            Overflow::Fault => {
                let message = format!("there is room in the mailbox of {}", instance.name);
                checked.push(Statement::Assert { condition: has_room, message });
                checked.into_iter().chain(done).collect()
            }
            Overflow::Lossy => {
                checked.push(Statement::If { condition: has_room, then: done, otherwise: Vec::new() });
                checked
            }
            Overflow::Blocking => {
                if !self.is_under_condition {
                    let before = self.sent.entry(queue.length).or_default();
                    self.needs.push(room(queue, *before));
                    *before += 1;
                }
                // What is not sent yet does no harm.
                core::iter::once(Statement::Require(has_room)).chain(checked).chain(done).collect()
            }
        })
    }
}

/// `2 values`
pub(super) fn many(count: usize) -> String {
    match count {
        0 => "no value".to_owned(),
        1 => "one value".to_owned(),
        _ => format!("{count} values"),
    }
}

/// Whether there is room for more, after that many others.
pub(super) fn room(queue: &Queue, others: i64) -> Expression {
    let limit = Expression::Constant(i64::from(queue.capacity) - others);
    Expression::binary(Binary::Less, Expression::read(queue.length), limit)
}

/// Values come into a queue, which has room for them.
pub(super) fn enqueue(queue: &Queue, values: &[Expression]) -> Vec<Statement> {
    let length = || Expression::read(queue.length);
    let cell = |(variable, value): (&VariableId, &Expression)| {
        let place = Place { variable: *variable, index: Some(Box::new(length())) };
        Statement::Assign { place, value: value.clone(), wraps: false }
    };
    let mut done: Vec<Statement> = queue.cells.iter().zip(values).map(cell).collect();
    // An event may carry fewer values than others; what is not used is already the lowest value.
    done.push(Statement::assign(queue.length, binary(Binary::Add, length(), Expression::Constant(1))));
    done
}

/// The values at a position leave a queue, and those behind them come nearer.
pub(super) fn dequeue(queue: &Queue, position: u32) -> Vec<Statement> {
    let mut done = Vec::new();
    let index = |at: u32| Expression::Constant(i64::from(at));
    for (variable, low) in queue.cells.iter().zip(&queue.lowest) {
        for at in position..queue.capacity {
            let value = match at + 1 < queue.capacity {
                true => Expression::element(*variable, index(at + 1)),
                false => Expression::Constant(*low),
            };
            let place = Place { variable: *variable, index: Some(Box::new(index(at))) };
            done.push(Statement::Assign { place, value, wraps: false });
        }
    }
    let length = Expression::read(queue.length);
    done.push(Statement::assign(queue.length, binary(Binary::Subtract, length, Expression::Constant(1))));
    done
}

/// What one value at a place can be; none if there are several, or it is no variable.
pub(super) fn kind_of(target: &Resolved) -> Option<Kind> {
    match target {
        Resolved::Thing(Thing::Cell(_, kind)) | Resolved::Element(_, kind, _) => Some(kind.clone()),
        Resolved::Select { items, .. } => {
            let kind = kind_of(items.first()?)?;
            items.iter().all(|item| kind_of(item).as_ref() == Some(&kind)).then_some(kind)
        }
        _ => None,
    }
}

/// The type of several values at a place.
pub(super) fn layout_of(target: &Resolved) -> Option<Layout> {
    match target {
        Resolved::Thing(thing) => layout_of_thing(thing),
        Resolved::Select { items, .. } => layout_of(items.first()?),
        _ => None,
    }
}

fn layout_of_thing(thing: &Thing) -> Option<Layout> {
    Some(match thing {
        Thing::Cell(_, kind) => Layout::Scalar(kind.clone()),
        Thing::Row(_, kind, length) => Layout::Array(*length, Layout::Scalar(kind.clone()).into()),
        Thing::Many { low: 0, items, .. } => {
            Layout::Array(items.len() as u32, layout_of_thing(items.first()?)?.into())
        }
        Thing::Record(record, _) => Layout::Record(record.clone()),
        _ => return None,
    })
}

fn place_of(target: &Resolved) -> Option<Place> {
    match target {
        Resolved::Thing(Thing::Cell(variable, _)) => Some(Place::scalar(*variable)),
        Resolved::Element(variable, _, Typed { expression, .. }) => {
            Some(Place { variable: *variable, index: Some(Box::new(expression.clone())) })
        }
        _ => None,
    }
}

/// A place takes a value.
pub(super) fn store(target: Resolved, value: &Expression) -> Option<Vec<Statement>> {
    if let Some(place) = place_of(&target) {
        return Some(vec![Statement::Assign { place, value: value.clone(), wraps: false }]);
    }
    let Resolved::Select { index, low, guard, items } = target else { return None };
    let choices: Option<Vec<Vec<Statement>>> = items.into_iter().map(|item| store(item, value)).collect();
    Some(select_statements(&index.expression, (low, guard), choices?))
}

/// A path, and a way from there.
pub(super) fn along(path: &Path, way: &[Part]) -> Path {
    let mut longer = path.clone();
    longer.rest.extend(way.iter().map(|part| match part {
        Part::Field(name) => Segment::Field(Name { text: name.clone(), span: path.span }),
        Part::Element(number) => {
            Segment::Index(Expr { shape: Shape::Number(*number), span: path.span, depth: 1 })
        }
    }));
    longer
}
