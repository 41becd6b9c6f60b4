//! Lowers transitions to actions: internal steps, rendezvous between two processes, and buffered sends and receives.

use super::expressions::count_values;
use super::lower::{LoweredSync, LoweredTransition, Lowering};
use super::variables::Buffer;
use invigil_expr::diag::Diagnostic;
use invigil_model::{Action, Binary, Expression, LValue, Move, Statement, VariableId};
use std::collections::HashMap;

impl<'a> Lowering<'a> {
    /// Adds the actions of `system async`.
    pub(super) fn add_async_actions(&mut self, transitions_by_process: &[&Vec<LoweredTransition<'a>>]) {
        let mut receivers: HashMap<usize, Vec<(&LoweredTransition<'a>, &LoweredSync)>> = HashMap::new();
        for lowered in transitions_by_process.iter().copied().flatten() {
            if let Some(sync) = lowered.sync.as_ref().filter(|sync| !sync.is_send) {
                receivers.entry(sync.channel).or_default().push((lowered, sync));
            }
        }
        for lowered in transitions_by_process.iter().copied().flatten() {
            let is_within_budget = match &lowered.sync {
                None => self.add_internal_action(lowered),
                Some(sync) => match self.buffers[sync.channel].clone() {
                    Some(buffer) if sync.is_send => self.add_send(lowered, sync, &buffer),
                    Some(buffer) => self.add_receive(lowered, sync, &buffer),
                    None if sync.is_send => {
                        let partners = receivers.get(&sync.channel).map_or(&[][..], Vec::as_slice);
                        partners.iter().all(|receiver| self.add_rendezvous((lowered, sync), *receiver))
                    }
                    None => true,
                },
            };
            if !is_within_budget {
                return;
            }
        }
    }

    /// Describes the state change of a process for users.
    pub(super) fn describe(&self, lowered: &LoweredTransition<'a>) -> String {
        let LoweredTransition { syntax, process, .. } = lowered;
        format!("{}: {} → {}", self.name_of(*process), syntax.from.text, syntax.to.text)
    }

    pub(super) fn moves(&self, lowered: &LoweredTransition<'a>) -> Move {
        Move { process: self.processes[lowered.process].id, from: lowered.from, to: lowered.to }
    }

    /// The effects of a transition, in which reads of the process's location yield the new one.
    pub(super) fn effects(&self, lowered: &LoweredTransition<'a>) -> Vec<Statement> {
        substitute_location(&lowered.effects, self.processes[lowered.process].location, lowered.to)
    }

    fn action(&self, lowered: &LoweredTransition<'a>) -> Action {
        let name = self.describe(lowered);
        Action {
            event: Some(format!("{}.{}", self.name_of(lowered.process), lowered.syntax.to.text)),
            moves: vec![self.moves(lowered)],
            guard: lowered.guard.clone(),
            ..Action::named(name)
        }
    }

    /// Adds an action in which one process moves without communication. Returns false once the action budget is exhausted.
    fn add_internal_action(&mut self, lowered: &LoweredTransition<'a>) -> bool {
        let action = Action { effect: self.effects(lowered), ..self.action(lowered) };
        self.spend(lowered.size, lowered.syntax.span) && self.add(action, lowered.syntax.span)
    }

    /// Adds an action that sends to a buffered channel. Returns false once the action budget is exhausted.
    fn add_send(&mut self, lowered: &LoweredTransition<'a>, sync: &LoweredSync, buffer: &Buffer) -> bool {
        let length = Expression::read(buffer.length);
        let capacity = Expression::Constant(i64::from(buffer.capacity));
        let has_room = Expression::binary(Binary::Less, length.clone(), capacity);
        let mut effect = Vec::new();
        for (array, value) in buffer.arrays.iter().zip(&sync.values) {
            let place = LValue { variable: *array, index: Some(Box::new(length.clone())) };
            effect.push(self.assign(place, value.clone()));
        }
        let longer = Expression::binary(Binary::Add, length, Expression::Constant(1));
        effect.push(Statement::assign(buffer.length, longer));
        effect.extend(self.effects(lowered));
        let action = self.action(lowered);
        let action = Action {
            name: format!("{} ({}!)", action.name, self.channel_name(sync)),
            event: Some(format!("{}.send", self.channel_name(sync))),
            parameters: parameters(&sync.values),
            guard: and(has_room, action.guard),
            effect,
            ..action
        };
        self.spend(lowered.size, lowered.syntax.span) && self.add(action, lowered.syntax.span)
    }

    /// Adds an action that receives from a buffered channel. Returns false once the action budget is exhausted.
    fn add_receive(&mut self, lowered: &LoweredTransition<'a>, sync: &LoweredSync, buffer: &Buffer) -> bool {
        let element = |array, index: u32| Expression::element(array, Expression::Constant(i64::from(index)));
        let length = Expression::read(buffer.length);
        let has_message = Expression::binary(Binary::Greater, length.clone(), Expression::Constant(0));
        let oldest: Vec<Expression> = buffer.arrays.iter().map(|array| element(*array, 0)).collect();
        let mut effect = Vec::new();
        for (place, value) in sync.targets.iter().zip(&oldest) {
            effect.push(self.assign(place.clone(), value.clone()));
        }
        for array in &buffer.arrays {
            for index in 0..buffer.capacity {
                let next = if index + 1 < buffer.capacity {
                    element(*array, index + 1)
                } else {
                    Expression::Constant(0)
                };
                let place = LValue {
                    variable: *array,
                    index: Some(Box::new(Expression::Constant(i64::from(index)))),
                };
                effect.push(Statement::Assign { place, value: next, wraps: false });
            }
        }
        let shorter = Expression::binary(Binary::Subtract, length, Expression::Constant(1));
        effect.push(Statement::assign(buffer.length, shorter));
        effect.extend(self.effects(lowered));
        let action = self.action(lowered);
        let action = Action {
            name: format!("{} ({}?)", action.name, self.channel_name(sync)),
            event: Some(format!("{}.receive", self.channel_name(sync))),
            parameters: parameters(&oldest),
            guard: and(has_message, action.guard),
            effect,
            ..action
        };
        self.spend(lowered.size, lowered.syntax.span) && self.add(action, lowered.syntax.span)
    }

    /// Adds a rendezvous action. Returns false once the action budget is exhausted.
    fn add_rendezvous(
        &mut self,
        sends: (&LoweredTransition<'a>, &LoweredSync),
        receives: (&LoweredTransition<'a>, &LoweredSync),
    ) -> bool {
        let ((sender, sent), (receiver, received)) = (sends, receives);
        let span = sender.syntax.span;
        // If one participant is in a committed location, the other must be as well.
        let can_synchronise =
            sender.process != receiver.process && self.is_committed(sender) == self.is_committed(receiver);
        if !can_synchronise {
            return self.spend(1, span);
        }
        if !self.spend(sender.size + receiver.size, span) {
            return false;
        }
        if sent.values.len() != received.targets.len() {
            self.report_count_mismatch(sends, receives);
            return true;
        }
        let mut effect = Vec::new();
        if let Some(variable) = self.conflicting_variable(sender, receiver) {
            effect.push(self.conflict_fault(variable, sender.process, receiver.process));
        }
        let value_types = self.file.channels[sent.channel].value_types.as_deref().unwrap_or(&[]);
        for (at, (place, value)) in received.targets.iter().zip(&sent.values).enumerate() {
            let mut value = value.clone();
            if let Some((low, high)) = value_types.get(at).map(|value_type| value_type.range()) {
                match self.options.wraps {
                    true => value = wrap(value, low, high),
                    false => effect.push(Statement::Assert {
                        condition: is_within(&value, low, high),
                        message: format!(
                            "value sent on `{}` is outside its range {low}..{high}",
                            self.channel_name(sent)
                        ),
                    }),
                }
            }
            effect.push(self.assign(place.clone(), value));
        }
        effect.extend(self.effects(receiver));
        let sender_effects = substitute_location(
            &self.effects(sender),
            self.processes[receiver.process].location,
            receiver.to,
        );
        effect.extend(sender_effects);
        let channel = self.channel_name(sent);
        let action = Action {
            event: Some(channel.to_owned()),
            parameters: parameters(&sent.values),
            moves: vec![self.moves(sender), self.moves(receiver)],
            guard: and(sender.guard.clone(), receiver.guard.clone()),
            effect,
            ..Action::named(format!("{}, {} ({channel})", self.describe(sender), self.describe(receiver)))
        };
        self.add(action, span)
    }

    fn channel_name(&self, sync: &LoweredSync) -> &'a str {
        &self.file.channels[sync.channel].name.text
    }

    fn is_committed(&self, lowered: &LoweredTransition<'a>) -> bool {
        let process = self.processes[lowered.process].id as usize;
        self.parts.processes[process].locations[lowered.from as usize].is_committed
    }

    /// Reports that sender and receiver disagree on the number of values.
    fn report_count_mismatch(
        &mut self,
        sends: (&LoweredTransition<'a>, &LoweredSync),
        receives: (&LoweredTransition<'a>, &LoweredSync),
    ) {
        let (Some(sender), Some(receiver)) = (&sends.0.syntax.sync, &receives.0.syntax.sync) else {
            return;
        };
        // Report it once per receiver.
        if self.diagnostics.iter().any(|reported| reported.span == receiver.span) {
            return;
        }
        let message = format!(
            "`{}` carries {} here and {} elsewhere",
            receiver.channel.text,
            count_values(receiver.values.len()),
            count_values(sender.values.len())
        );
        let diagnostic = Diagnostic::error(receiver.span, message)
            .label(format!("expects {}", count_values(receiver.values.len())))
            .related(sender.span, format!("sends {}", count_values(sender.values.len())))
            .help("both sides of a channel exchange the same number of values");
        self.report(diagnostic);
    }

    /// Returns a global variable that the effects of both transitions assign.
    fn conflicting_variable(
        &self,
        one: &LoweredTransition<'a>,
        other: &LoweredTransition<'a>,
    ) -> Option<VariableId> {
        let is_shared = |variable: &VariableId| (*variable as usize) < self.shared_count;
        assigned_variables(&one.effects)
            .filter(is_shared)
            .find(|variable| assigned_variables(&other.effects).any(|assigned| assigned == *variable))
    }

    /// The fault raised when two processes change a variable in one step.
    pub(super) fn conflict_fault(&self, variable: VariableId, one: usize, other: usize) -> Statement {
        let name = &self.parts.variables[variable as usize].name;
        let (one, other) = (self.name_of(one), self.name_of(other));
        let message = format!("`{one}` and `{other}` both change `{name}` in one step");
        Statement::Assert { condition: Expression::Constant(0), message }
    }
}

/// The variables assigned by statements.
pub(super) fn assigned_variables(statements: &[Statement]) -> impl Iterator<Item = VariableId> + '_ {
    statements.iter().filter_map(|statement| match statement {
        Statement::Assign { place, .. } => Some(place.variable),
        _ => None,
    })
}

/// Conjunction, with constant operands removed.
pub(super) fn and(one: Expression, other: Expression) -> Expression {
    let parts = [one, other].into_iter().filter(|part| *part != Expression::Constant(1)).collect();
    Expression::all(parts)
}

/// The event parameters, evaluated before the step.
fn parameters(values: &[Expression]) -> Vec<(String, Expression)> {
    let name = |at: usize| if values.len() == 1 { "value".to_owned() } else { format!("value{}", at + 1) };
    let before = |value: &Expression| Expression::Before(Box::new(value.clone()));
    values.iter().enumerate().map(|(at, value)| (name(at), before(value))).collect()
}

fn is_within(value: &Expression, low: i64, high: i64) -> Expression {
    let above = Expression::binary(Binary::GreaterOrEqual, value.clone(), Expression::Constant(low));
    let below = Expression::binary(Binary::LessOrEqual, value.clone(), Expression::Constant(high));
    and(above, below)
}

/// Wraps a value into a range whose size is a power of two.
fn wrap(value: Expression, low: i64, high: i64) -> Expression {
    let distance = Expression::binary(Binary::Subtract, value, Expression::Constant(low));
    let kept = Expression::binary(Binary::BitAnd, distance, Expression::Constant(high - low));
    Expression::binary(Binary::Add, kept, Expression::Constant(low))
}

/// Substitutes the new location of a process in statements.
fn substitute_location(
    statements: &[Statement],
    location: Option<VariableId>,
    new_location: u32,
) -> Vec<Statement> {
    let substitution = |place: &LValue| {
        (Some(place.variable) == location).then(|| Expression::Constant(i64::from(new_location)))
    };
    statements.iter().map(|statement| substitute_in_statement(statement, &substitution)).collect()
}

/// Replaces the variables that a statement reads, where `substitution` returns an expression.
pub(super) fn substitute_in_statement(
    statement: &Statement,
    substitution: &impl Fn(&LValue) -> Option<Expression>,
) -> Statement {
    match statement {
        Statement::Assign { place, value, wraps } => {
            let index = place.index.as_ref().map(|index| Box::new(substitute(index, substitution)));
            let place = LValue { variable: place.variable, index };
            Statement::Assign { place, value: substitute(value, substitution), wraps: *wraps }
        }
        // Effects are assignments only.
        other => other.clone(),
    }
}

fn substitute(expression: &Expression, substitution: &impl Fn(&LValue) -> Option<Expression>) -> Expression {
    match expression {
        Expression::Read(place) => {
            let index = place.index.as_ref().map(|index| Box::new(substitute(index, substitution)));
            let place = LValue { variable: place.variable, index };
            substitution(&place).unwrap_or(Expression::Read(place))
        }
        Expression::Unary(operator, operand) => {
            Expression::unary(*operator, substitute(operand, substitution))
        }
        Expression::Binary(operator, operands) => Expression::binary(
            *operator,
            substitute(&operands.0, substitution),
            substitute(&operands.1, substitution),
        ),
        other => other.clone(),
    }
}
