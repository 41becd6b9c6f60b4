//! Lowers the statements of effects.

use super::ast::{Overflow, Statement as StatementNode, StatementKind};
use super::check::{Checker, Type, Typed, binary};
use super::payload_check::payload_assertion;
use super::predicate::type_of;
use super::scope::{ModelScope, Resolved, select_statements};
use super::symbols::{Decl, Layout, Queue, Selector};
use super::syntax::{Expr, ExprKind, Name, Path, Segment};
use invigil_expr::diag::{Diagnostic, Span, nearest};
use invigil_model::{Binary, Domain, Expression, LValue, Statement, Variable, VariableId};
use std::collections::HashMap;

/// Hidden variables that are used within an action and reset at its end.
pub(super) struct Scratch {
    /// The id of the first one.
    pub(super) first_id: VariableId,
    pub(super) variables: Vec<Variable>,
    /// The ranges of all variables of the model, and of these.
    pub(super) ranges: Vec<(i64, i64)>,
    /// The ids of the variables by range, and by the number of variables of that range that the action already uses.
    ids: HashMap<(i64, i64, usize), VariableId>,
}

impl Scratch {
    /// Creates the pool; `ranges` are those of the variables declared before it.
    pub(super) fn new(ranges: Vec<(i64, i64)>) -> Scratch {
        let first_id = ranges.len() as VariableId;
        Scratch { first_id, variables: Vec::new(), ranges, ids: HashMap::new() }
    }
}

/// The effect of an action under construction.
pub(super) struct Effect<'a> {
    pub(super) checker: &'a mut Checker,
    pub(super) scratch: &'a mut Scratch,
    /// Choices, which are executed before all other statements.
    pub(super) choices: Vec<Statement>,
    /// Resets of scratch variables, which are executed after all other statements.
    pub(super) resets: Vec<Statement>,
    /// Conditions in addition to the guard: there is space for the events that the action sends.
    pub(super) space_conditions: Vec<Expression>,
    /// The number of scratch variables in use, by range.
    used_scratch: HashMap<(i64, i64), usize>,
    /// The number of sends to each blocking mailbox.
    send_counts: HashMap<VariableId, i64>,
    /// Whether the current statement is executed only under a condition.
    is_under_condition: bool,
}

impl<'a> Effect<'a> {
    pub(super) fn new(checker: &'a mut Checker, scratch: &'a mut Scratch) -> Effect<'a> {
        Effect {
            checker,
            scratch,
            choices: Vec::new(),
            resets: Vec::new(),
            space_conditions: Vec::new(),
            used_scratch: HashMap::new(),
            send_counts: HashMap::new(),
            is_under_condition: false,
        }
    }

    /// Returns a hidden variable for values of the given range.
    pub(super) fn scratch_variable(&mut self, (low, high): (i64, i64)) -> VariableId {
        let used = self.used_scratch.entry((low, high)).or_default();
        let nth = *used;
        *used += 1;
        let next = self.scratch.first_id + self.scratch.variables.len() as VariableId;
        let id = *self.scratch.ids.entry((low, high, nth)).or_insert(next);
        if id == next {
            let kind = Domain::Integer { low, high };
            let variable = Variable::scalar(format!("scratch {low}..{high} #{nth}"), kind, low);
            self.scratch.variables.push(Variable { is_hidden: true, ..variable });
            self.scratch.ranges.push((low, high));
        }
        self.resets.push(Statement::assign(id, Expression::Constant(low)));
        id
    }

    /// Lowers a list of statements.
    pub(super) fn lower_block(
        &mut self,
        scope: &ModelScope<'_>,
        syntax: &[StatementNode],
    ) -> Option<Vec<Statement>> {
        let mut statements = Vec::new();
        let mut is_complete = true;
        for statement in syntax {
            is_complete &= self.lower_statement(scope, statement, &mut statements).is_some();
        }
        is_complete.then_some(statements)
    }

    fn lower_statement(
        &mut self,
        scope: &ModelScope<'_>,
        syntax: &StatementNode,
        out: &mut Vec<Statement>,
    ) -> Option<()> {
        self.checker.spend(syntax.span, 1)?;
        match &syntax.kind {
            StatementKind::Assign { place, operator, value } => {
                let target = scope.resolve(self.checker, place, None)?;
                self.assign(scope, place, target, *operator, value, out)
            }
            StatementKind::Choose { place, range } => {
                let target = scope.resolve(self.checker, place, None)?;
                let Some(kind) = domain_of(&target) else {
                    return self.report_not_assignable(place, &target);
                };
                let (low, high) =
                    super::declare::choice_bounds(self.checker, scope, &kind, range.as_ref(), syntax.span)?;
                if !self.is_under_condition
                    && let Some(place) = place_of(&target)
                {
                    out.push(Statement::Choose { place, low, high });
                    return Some(());
                }
                // The choice is made unconditionally, and used only where the condition holds.
                let hidden = self.scratch_variable((low, high));
                self.choices.push(Statement::Choose { place: LValue::scalar(hidden), low, high });
                out.extend(store(target, &Expression::read(hidden))?);
                Some(())
            }
            StatementKind::If { condition, then, otherwise } => {
                let condition = self.checker.expect(scope, condition, &Type::Boolean);
                let was_under_condition = core::mem::replace(&mut self.is_under_condition, true);
                let then = self.lower_block(scope, then);
                let otherwise = self.lower_block(scope, otherwise);
                self.is_under_condition = was_under_condition;
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
                let (low, high) = self.checker.bounds(scope, range)?;
                for number in low..=high {
                    self.checker.spend(syntax.span, 1)?;
                    self.checker.locals.push((name.text.clone(), number));
                    let statements = self.lower_block(scope, body);
                    self.checker.locals.pop();
                    out.extend(statements?);
                }
                Some(())
            }
            StatementKind::Assert { condition, message } => {
                let condition = self.checker.expect(scope, condition, &Type::Boolean)?.expression;
                out.push(Statement::Assert { condition, message: message.clone() });
                Some(())
            }
            StatementKind::Require(condition) => {
                let condition = self.checker.expect(scope, condition, &Type::Boolean)?.expression;
                out.push(Statement::Require(condition));
                Some(())
            }
            StatementKind::Send { to, event, values } => {
                let target = scope.resolve(self.checker, to, None)?;
                out.extend(self.send(scope, to.span, target, event, values)?);
                Some(())
            }
        }
    }

    fn report_not_assignable<T>(&mut self, place: &Path, target: &Resolved) -> Option<T> {
        let what = match target {
            Resolved::Decl(Decl::Process(_)) => "a process",
            Resolved::Decl(Decl::Channel(_)) => "a channel",
            Resolved::Decl(_) | Resolved::Select { .. } => "more than one value",
            _ => "an expression",
        };
        let diagnostic = Diagnostic::error(place.span, format!("cannot assign to {what}"));
        self.checker.report(diagnostic.label(what))
    }

    pub(super) fn assign(
        &mut self,
        scope: &ModelScope<'_>,
        place: &Path,
        target: Resolved,
        operator: Option<Binary>,
        value: &Expr,
        out: &mut Vec<Statement>,
    ) -> Option<()> {
        let Some(kind) = domain_of(&target) else {
            let Some(layout) = layout_of(&target) else { return self.report_not_assignable(place, &target) };
            return self.copy(scope, place, &layout, value, out);
        };
        let mut found = self.checker.expect(scope, value, &type_of(&kind))?;
        if let Some(operator) = operator {
            if type_of(&kind) != Type::Integer {
                return self.checker.report(Diagnostic::error(place.span, "expected a number"));
            }
            let read = Expr { kind: ExprKind::Path(place.clone()), span: place.span, depth: 1 };
            let old = self.checker.expect(scope, &read, &Type::Integer)?;
            found.expression = binary(operator, old.expression, found.expression);
        }
        if let Some(known) = found.constant()
            && !kind.holds(known)
        {
            let (low, high) = kind.range();
            let diagnostic = Diagnostic::error(value.span, format!("{known} is outside {low}..{high}"));
            return self.checker.report(diagnostic.label("does not fit"));
        }
        out.extend(store(target, &found.expression)?);
        Some(())
    }

    /// Assigns all scalar elements of an array or record.
    fn copy(
        &mut self,
        scope: &ModelScope<'_>,
        place: &Path,
        layout: &Layout,
        value: &Expr,
        out: &mut Vec<Statement>,
    ) -> Option<()> {
        let ExprKind::Path(from) = &value.kind else {
            let diagnostic =
                Diagnostic::error(value.span, "expected an array or record, found a single value");
            return self
                .checker
                .report(diagnostic.label("single value").help("assign the elements one by one"));
        };
        for (selectors, _) in layout.leaves() {
            self.checker.spend(value.span, 2)?;
            let (to, from) = (append_selectors(place, &selectors), append_selectors(from, &selectors));
            let target = scope.resolve(self.checker, &to, None)?;
            let part = Expr { span: value.span, kind: ExprKind::Path(from), depth: value.depth };
            self.assign(scope, &to, target, None, &part, out)?;
        }
        Some(())
    }

    fn send(
        &mut self,
        scope: &ModelScope<'_>,
        span: Span,
        target: Resolved,
        event: &Name,
        values: &[Expr],
    ) -> Option<Vec<Statement>> {
        let process = match target {
            Resolved::Select { index, low, guard, items } => {
                let was_under_condition = core::mem::replace(&mut self.is_under_condition, true);
                let mut choices = Vec::new();
                for item in items {
                    let choice = self.send(scope, span, item, event, values);
                    choices.extend(choice);
                }
                self.is_under_condition = was_under_condition;
                return Some(select_statements(&index.expression, (low, guard), choices));
            }
            Resolved::Decl(Decl::Process(process)) => process,
            _ => {
                let diagnostic = Diagnostic::error(span, "this is not a process")
                    .label("events can only be sent to processes");
                return self.checker.report(diagnostic.help("to send values over a channel, write `c!1`"));
            }
        };
        let instance = &scope.symbols.instances[process];
        let Some(mailbox) = &instance.mailbox else {
            if instance.declared.mailbox.is_some() {
                return None;
            }
            let diagnostic = Diagnostic::error(span, format!("`{}` has no mailbox", instance.name));
            return self
                .checker
                .report(diagnostic.label("cannot receive").help("add `mailbox fifo[3] of Signal` to it"));
        };
        let Some(number) = mailbox.events.variants.iter().position(|(name, _)| *name == event.text) else {
            let message = format!("the mailbox of `{}` has no event `{}`", instance.name, event.text);
            let mut diagnostic = Diagnostic::error(event.span, message).label("unknown");
            let known = mailbox.events.variants.iter().map(|(name, _)| name.as_str());
            if let Some(near) = nearest(&event.text, known) {
                diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
            }
            return self.checker.report(diagnostic);
        };
        let kinds = &mailbox.events.variants[number].1;
        if kinds.len() != values.len() {
            let message =
                format!("`{}` carries {}, not {}", event.text, count_values(kinds.len()), values.len());
            return self.checker.report(Diagnostic::error(event.span, message).label("here"));
        }
        let mut sent = vec![Expression::Constant(number as i64 + 1)];
        // The cells of the mailbox may be wider than this event: they fit those of all events.
        let mut assertions = Vec::new();
        for (value, kind) in values.iter().zip(kinds) {
            let value = self.checker.expect(scope, value, &type_of(kind))?.expression;
            assertions.extend(payload_assertion(&self.scratch.ranges, &event.text, kind, &value));
            sent.push(value);
        }
        let queue = &mailbox.queue;
        let statements = enqueue(queue, &sent);
        let has_room = has_space(queue, 0);
        Some(match mailbox.overflow {
            Overflow::Fault => {
                let message = format!("there is space in the mailbox of {}", instance.name);
                assertions.push(Statement::Assert { condition: has_room, message });
                assertions.into_iter().chain(statements).collect()
            }
            Overflow::Lossy => {
                assertions.push(Statement::If {
                    condition: has_room,
                    then: statements,
                    otherwise: Vec::new(),
                });
                assertions
            }
            Overflow::Blocking => {
                if !self.is_under_condition {
                    let before = self.send_counts.entry(queue.length).or_default();
                    self.space_conditions.push(has_space(queue, *before));
                    *before += 1;
                }
                // Space for an event that is not sent on this path is not required.
                core::iter::once(Statement::Require(has_room)).chain(assertions).chain(statements).collect()
            }
        })
    }
}

/// Renders a count: `2 values`.
pub(super) fn count_values(count: usize) -> String {
    match count {
        0 => "no value".to_owned(),
        1 => "one value".to_owned(),
        _ => format!("{count} values"),
    }
}

/// The condition that a queue has space for one more value after `others` others.
pub(super) fn has_space(queue: &Queue, others: i64) -> Expression {
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
    let mut statements: Vec<Statement> = queue.cells.iter().zip(values).map(cell).collect();
    // An event may carry fewer values than others; unused cells already have their lowest value.
    statements.push(Statement::assign(queue.length, binary(Binary::Add, length(), Expression::Constant(1))));
    statements
}

/// Statements that remove the values at a position of a queue and move up those after it.
pub(super) fn dequeue(queue: &Queue, position: u32) -> Vec<Statement> {
    let mut statements = Vec::new();
    let index = |at: u32| Expression::Constant(i64::from(at));
    for (variable, low) in queue.cells.iter().zip(&queue.lowest) {
        for at in position..queue.capacity {
            let value = match at + 1 < queue.capacity {
                true => Expression::element(*variable, index(at + 1)),
                false => Expression::Constant(*low),
            };
            let place = LValue { variable: *variable, index: Some(Box::new(index(at))) };
            statements.push(Statement::Assign { place, value, wraps: false });
        }
    }
    let length = Expression::read(queue.length);
    statements
        .push(Statement::assign(queue.length, binary(Binary::Subtract, length, Expression::Constant(1))));
    statements
}

/// Returns the domain of a scalar; `None` for composite values and non-variables.
pub(super) fn domain_of(target: &Resolved) -> Option<Domain> {
    match target {
        Resolved::Decl(Decl::Scalar(_, kind)) | Resolved::Element(_, kind, _) => Some(kind.clone()),
        Resolved::Select { items, .. } => {
            let kind = domain_of(items.first()?)?;
            items.iter().all(|item| domain_of(item).as_ref() == Some(&kind)).then_some(kind)
        }
        _ => None,
    }
}

/// Returns the type of a composite value.
pub(super) fn layout_of(target: &Resolved) -> Option<Layout> {
    match target {
        Resolved::Decl(decl) => layout_of_decl(decl),
        Resolved::Select { items, .. } => layout_of(items.first()?),
        _ => None,
    }
}

fn layout_of_decl(decl: &Decl) -> Option<Layout> {
    Some(match decl {
        Decl::Scalar(_, kind) => Layout::Scalar(kind.clone()),
        Decl::ScalarArray(_, kind, length) => Layout::Array(*length, Layout::Scalar(kind.clone()).into()),
        Decl::Array { low: 0, items, .. } => {
            Layout::Array(items.len() as u32, layout_of_decl(items.first()?)?.into())
        }
        Decl::Record(record, _) => Layout::Record(record.clone()),
        _ => return None,
    })
}

fn place_of(target: &Resolved) -> Option<LValue> {
    match target {
        Resolved::Decl(Decl::Scalar(variable, _)) => Some(LValue::scalar(*variable)),
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

/// Extends a path to a part of the value that it names.
pub(super) fn append_selectors(path: &Path, selectors: &[Selector]) -> Path {
    let mut longer = path.clone();
    longer.rest.extend(selectors.iter().map(|part| match part {
        Selector::Field(name) => Segment::Field(Name { text: name.clone(), span: path.span }),
        Selector::Element(number) => {
            Segment::Index(Expr { kind: ExprKind::Number(*number), span: path.span, depth: 1 })
        }
    }));
    longer
}
