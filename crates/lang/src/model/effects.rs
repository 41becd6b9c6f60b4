//! Lowers the statements of effects.

use super::ast::{Overflow, Statement as StatementNode, StatementKind};
use super::check::{Checker, Type, Typed, binary};
use super::payload_check::fits;
use super::predicate::type_of;
use super::scope::{Resolved, ScopeCursor, select_statements};
use super::symbols::{Decl, Layout, Part, Queue};
use super::syntax::{Expr, Name, Path, Segment, Shape};
use invigil_expr::diag::{Diagnostic, Span, nearest};
use invigil_model::{Binary, Domain, Expression, LValue, Statement, Variable, VariableId};
use std::collections::HashMap;

/// Hidden variables that are used within an action and reset at its end.
pub(super) struct Scratch {
    /// The id of the first one.
    pub(super) from: VariableId,
    pub(super) variables: Vec<Variable>,
    /// The ranges of all variables of the model, and of these.
    pub(super) ranges: Vec<(i64, i64)>,
    /// By range, and by the number of variables of that range the action already uses.
    known: HashMap<(i64, i64, usize), VariableId>,
}

impl Scratch {
    /// Creates the pool; `ranges` are those of the variables declared before it.
    pub(super) fn new(ranges: Vec<(i64, i64)>) -> Scratch {
        let from = ranges.len() as VariableId;
        Scratch { from, variables: Vec::new(), ranges, known: HashMap::new() }
    }
}

/// The effect of an action under construction.
pub(super) struct Effect<'a> {
    pub(super) checker: &'a mut Checker,
    pub(super) scratch: &'a mut Scratch,
    /// Statements before all others: choices.
    pub(super) first: Vec<Statement>,
    /// Statements after all others: resets of scratch variables.
    pub(super) last: Vec<Statement>,
    /// Conditions of the action in addition to its guard: free space for the events it sends.
    pub(super) needs: Vec<Expression>,
    used: HashMap<(i64, i64), usize>,
    /// The number of sends to each blocking mailbox.
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

    /// Returns a hidden variable for values of the given range.
    pub(super) fn hidden(&mut self, (low, high): (i64, i64)) -> VariableId {
        let used = self.used.entry((low, high)).or_default();
        let nth = *used;
        *used += 1;
        let next = self.scratch.from + self.scratch.variables.len() as VariableId;
        let id = *self.scratch.known.entry((low, high, nth)).or_insert(next);
        if id == next {
            let kind = Domain::Integer { low, high };
            let variable = Variable::scalar(format!("scratch {low}..{high} #{nth}"), kind, low);
            self.scratch.variables.push(Variable { is_hidden: true, ..variable });
            self.scratch.ranges.push((low, high));
        }
        self.last.push(Statement::assign(id, Expression::Constant(low)));
        id
    }

    /// Lowers a list of statements.
    pub(super) fn block(
        &mut self,
        here: &ScopeCursor<'_>,
        written: &[StatementNode],
    ) -> Option<Vec<Statement>> {
        let mut done = Vec::new();
        let mut is_right = true;
        for statement in written {
            is_right &= self.statement(here, statement, &mut done).is_some();
        }
        is_right.then_some(done)
    }

    fn statement(
        &mut self,
        here: &ScopeCursor<'_>,
        written: &StatementNode,
        out: &mut Vec<Statement>,
    ) -> Option<()> {
        self.checker.spend(written.span, 1)?;
        match &written.kind {
            StatementKind::Assign { place, operator, value } => {
                let target = here.resolve(self.checker, place, None)?;
                self.assign(here, place, target, *operator, value, out)
            }
            StatementKind::Choose { place, range } => {
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
                // The choice is made unconditionally, and used only where the condition holds.
                let hidden = self.hidden((low, high));
                self.first.push(Statement::Choose { place: LValue::scalar(hidden), low, high });
                out.extend(store(target, &Expression::read(hidden))?);
                Some(())
            }
            StatementKind::If { condition, then, otherwise } => {
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
            StatementKind::For { name, range, body } => {
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
            StatementKind::Assert { condition, message } => {
                let condition = self.checker.expect(here, condition, &Type::Boolean)?.expression;
                out.push(Statement::Assert { condition, message: message.clone() });
                Some(())
            }
            StatementKind::Require(condition) => {
                let condition = self.checker.expect(here, condition, &Type::Boolean)?.expression;
                out.push(Statement::Require(condition));
                Some(())
            }
            StatementKind::Send { to, event, values } => {
                let target = here.resolve(self.checker, to, None)?;
                out.extend(self.send(here, to.span, target, event, values)?);
                Some(())
            }
        }
    }

    fn not_assignable<T>(&mut self, place: &Path, target: &Resolved) -> Option<T> {
        let what = match target {
            Resolved::Decl(Decl::Process(_)) => "a process",
            Resolved::Decl(Decl::Channel(_)) => "a channel",
            Resolved::Decl(_) | Resolved::Select { .. } => "more than one value",
            _ => "an expression",
        };
        let problem = Diagnostic::error(place.span, format!("cannot assign to {what}"));
        self.checker.report(problem.label(what))
    }

    pub(super) fn assign(
        &mut self,
        here: &ScopeCursor<'_>,
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
                return self.checker.report(Diagnostic::error(place.span, "expected a number"));
            }
            let read = Expr { shape: Shape::Path(place.clone()), span: place.span, depth: 1 };
            let old = self.checker.expect(here, &read, &Type::Integer)?;
            found.expression = binary(operator, old.expression, found.expression);
        }
        if let Some(known) = found.constant()
            && !kind.holds(known)
        {
            let (low, high) = kind.range();
            let problem = Diagnostic::error(value.span, format!("{known} is outside {low}..{high}"));
            return self.checker.report(problem.label("cannot be held"));
        }
        out.extend(store(target, &found.expression)?);
        Some(())
    }

    /// Assigns all scalar elements of an array or record.
    fn copy(
        &mut self,
        here: &ScopeCursor<'_>,
        place: &Path,
        layout: &Layout,
        value: &Expr,
        out: &mut Vec<Statement>,
    ) -> Option<()> {
        let Shape::Path(from) = &value.shape else {
            let problem = Diagnostic::error(value.span, "expected an array or record, found a single value");
            return self.checker.report(problem.label("single value").help("assign the elements one by one"));
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
        here: &ScopeCursor<'_>,
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
            Resolved::Decl(Decl::Process(process)) => process,
            _ => {
                let problem = Diagnostic::error(span, "this is not a process")
                    .label("events can only be sent to processes");
                return self.checker.report(problem.help("to send values over a channel, write `c!1`"));
            }
        };
        let instance = &here.symbols.instances[process];
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
            let message = format!("the mailbox of `{}` has no event `{}`", instance.name, event.text);
            let mut problem = Diagnostic::error(event.span, message).label("unknown");
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
        // The cells of the mailbox may be wider than this event: they fit those of all events.
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
                let message = format!("there is space in the mailbox of {}", instance.name);
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
                // Space for an event that is not sent on this path is not required.
                core::iter::once(Statement::Require(has_room)).chain(checked).chain(done).collect()
            }
        })
    }
}

/// Renders a count: `2 values`.
pub(super) fn many(count: usize) -> String {
    match count {
        0 => "no value".to_owned(),
        1 => "one value".to_owned(),
        _ => format!("{count} values"),
    }
}

/// The condition that a queue has space for one more value after `others` others.
pub(super) fn room(queue: &Queue, others: i64) -> Expression {
    let limit = Expression::Constant(i64::from(queue.capacity) - others);
    Expression::binary(Binary::Less, Expression::read(queue.length), limit)
}

/// Statements that append values to a queue.
pub(super) fn enqueue(queue: &Queue, values: &[Expression]) -> Vec<Statement> {
    let length = || Expression::read(queue.length);
    let cell = |(variable, value): (&VariableId, &Expression)| {
        let place = LValue { variable: *variable, index: Some(Box::new(length())) };
        Statement::Assign { place, value: value.clone(), wraps: false }
    };
    let mut done: Vec<Statement> = queue.cells.iter().zip(values).map(cell).collect();
    // An event may carry fewer values than others; unused cells already have their lowest value.
    done.push(Statement::assign(queue.length, binary(Binary::Add, length(), Expression::Constant(1))));
    done
}

/// Statements that remove the values at a position of a queue and move up those behind it.
pub(super) fn dequeue(queue: &Queue, position: u32) -> Vec<Statement> {
    let mut done = Vec::new();
    let index = |at: u32| Expression::Constant(i64::from(at));
    for (variable, low) in queue.cells.iter().zip(&queue.lowest) {
        for at in position..queue.capacity {
            let value = match at + 1 < queue.capacity {
                true => Expression::element(*variable, index(at + 1)),
                false => Expression::Constant(*low),
            };
            let place = LValue { variable: *variable, index: Some(Box::new(index(at))) };
            done.push(Statement::Assign { place, value, wraps: false });
        }
    }
    let length = Expression::read(queue.length);
    done.push(Statement::assign(queue.length, binary(Binary::Subtract, length, Expression::Constant(1))));
    done
}

/// Returns the kind of a scalar; `None` for composite values and non-variables.
pub(super) fn kind_of(target: &Resolved) -> Option<Domain> {
    match target {
        Resolved::Decl(Decl::Cell(_, kind)) | Resolved::Element(_, kind, _) => Some(kind.clone()),
        Resolved::Select { items, .. } => {
            let kind = kind_of(items.first()?)?;
            items.iter().all(|item| kind_of(item).as_ref() == Some(&kind)).then_some(kind)
        }
        _ => None,
    }
}

/// Returns the type of a composite value.
pub(super) fn layout_of(target: &Resolved) -> Option<Layout> {
    match target {
        Resolved::Decl(thing) => layout_of_thing(thing),
        Resolved::Select { items, .. } => layout_of(items.first()?),
        _ => None,
    }
}

fn layout_of_thing(thing: &Decl) -> Option<Layout> {
    Some(match thing {
        Decl::Cell(_, kind) => Layout::Scalar(kind.clone()),
        Decl::Row(_, kind, length) => Layout::Array(*length, Layout::Scalar(kind.clone()).into()),
        Decl::Many { low: 0, items, .. } => {
            Layout::Array(items.len() as u32, layout_of_thing(items.first()?)?.into())
        }
        Decl::Record(record, _) => Layout::Record(record.clone()),
        _ => return None,
    })
}

fn place_of(target: &Resolved) -> Option<LValue> {
    match target {
        Resolved::Decl(Decl::Cell(variable, _)) => Some(LValue::scalar(*variable)),
        Resolved::Element(variable, _, Typed { expression, .. }) => {
            Some(LValue { variable: *variable, index: Some(Box::new(expression.clone())) })
        }
        _ => None,
    }
}

/// Statements that assign a value.
pub(super) fn store(target: Resolved, value: &Expression) -> Option<Vec<Statement>> {
    if let Some(place) = place_of(&target) {
        return Some(vec![Statement::Assign { place, value: value.clone(), wraps: false }]);
    }
    let Resolved::Select { index, low, guard, items } = target else { return None };
    let choices: Option<Vec<Vec<Statement>>> = items.into_iter().map(|item| store(item, value)).collect();
    Some(select_statements(&index.expression, (low, guard), choices?))
}

/// Extends a path.
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
