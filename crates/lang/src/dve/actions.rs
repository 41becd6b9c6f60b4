//! Lowers transitions to actions: of one process, rendezvous of two processes, buffered communication.

use super::expressions::values;
use super::lower::{LoweredSync, LoweredTransition, Lowering};
use super::variables::Buffer;
use invigil_expr::diag::Diagnostic;
use invigil_model::{Action, Binary, Expression, LValue, Move, Statement, VariableId};
use std::collections::HashMap;

impl<'a> Lowering<'a> {
    /// Adds the actions of `system async`.
    pub(super) fn interleaved(&mut self, movers: &[&Vec<LoweredTransition<'a>>]) {
        let mut receivers: HashMap<usize, Vec<(&LoweredTransition<'a>, &LoweredSync)>> = HashMap::new();
        for lowered in movers.iter().copied().flatten() {
            if let Some(sync) = lowered.sync.as_ref().filter(|sync| !sync.is_send) {
                receivers.entry(sync.channel).or_default().push((lowered, sync));
            }
        }
        for lowered in movers.iter().copied().flatten() {
            let is_added = match &lowered.sync {
                None => self.alone(lowered),
                Some(sync) => match self.buffers[sync.channel].clone() {
                    Some(buffer) if sync.is_send => self.send_buffered(lowered, sync, &buffer),
                    Some(buffer) => self.receive_buffered(lowered, sync, &buffer),
                    None if sync.is_send => {
                        let partners = receivers.get(&sync.channel).map_or(&[][..], Vec::as_slice);
                        partners.iter().all(|receiver| self.rendezvous((lowered, sync), *receiver))
                    }
                    None => true,
                },
            };
            if !is_added {
                return;
            }
        }
    }

    /// Describes the state change of a process for users.
    pub(super) fn describe(&self, lowered: &LoweredTransition<'a>) -> String {
        let LoweredTransition { written, process, .. } = lowered;
        format!("{}: {} → {}", self.name_of(*process), written.from.text, written.to.text)
    }

    pub(super) fn moves(&self, lowered: &LoweredTransition<'a>) -> Move {
        Move { process: self.processes[lowered.process].id, from: lowered.from, to: lowered.to }
    }

    /// The effects of a transition, which already read the new location of the process.
    pub(super) fn effects(&self, lowered: &LoweredTransition<'a>) -> Vec<Statement> {
        arrived(&lowered.effects, self.processes[lowered.process].location, lowered.to)
    }

    fn action(&self, lowered: &LoweredTransition<'a>) -> Action {
        let name = self.describe(lowered);
        Action {
            event: Some(format!("{}.{}", self.name_of(lowered.process), lowered.written.to.text)),
            moves: vec![self.moves(lowered)],
            guard: lowered.guard.clone(),
            ..Action::named(name)
        }
    }

    fn alone(&mut self, lowered: &LoweredTransition<'a>) -> bool {
        let action = Action { effect: self.effects(lowered), ..self.action(lowered) };
        self.spend(lowered.size, lowered.written.span) && self.add(action, lowered.written.span)
    }

    /// Adds an action that sends to a buffered channel.
    fn send_buffered(
        &mut self,
        lowered: &LoweredTransition<'a>,
        sync: &LoweredSync,
        buffer: &Buffer,
    ) -> bool {
        let length = Expression::read(buffer.length);
        let capacity = Expression::Constant(i64::from(buffer.capacity));
        let has_room = Expression::binary(Binary::Less, length.clone(), capacity);
        let mut effect = Vec::new();
        for (cell, value) in buffer.cells.iter().zip(&sync.values) {
            let place = LValue { variable: *cell, index: Some(Box::new(length.clone())) };
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
            guard: both(has_room, action.guard),
            effect,
            ..action
        };
        self.spend(lowered.size, lowered.written.span) && self.add(action, lowered.written.span)
    }

    /// Adds an action that receives from a buffered channel.
    fn receive_buffered(
        &mut self,
        lowered: &LoweredTransition<'a>,
        sync: &LoweredSync,
        buffer: &Buffer,
    ) -> bool {
        let cell = |cell, index: u32| Expression::element(cell, Expression::Constant(i64::from(index)));
        let length = Expression::read(buffer.length);
        let is_there = Expression::binary(Binary::Greater, length.clone(), Expression::Constant(0));
        let oldest: Vec<Expression> = buffer.cells.iter().map(|of| cell(*of, 0)).collect();
        let mut effect = Vec::new();
        for (place, value) in sync.places.iter().zip(&oldest) {
            effect.push(self.assign(place.clone(), value.clone()));
        }
        for of in &buffer.cells {
            for index in 0..buffer.capacity {
                let next =
                    if index + 1 < buffer.capacity { cell(*of, index + 1) } else { Expression::Constant(0) };
                let place =
                    LValue { variable: *of, index: Some(Box::new(Expression::Constant(i64::from(index)))) };
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
            guard: both(is_there, action.guard),
            effect,
            ..action
        };
        self.spend(lowered.size, lowered.written.span) && self.add(action, lowered.written.span)
    }

    /// Adds a rendezvous action. Returns false if there are too many actions.
    fn rendezvous(
        &mut self,
        sends: (&LoweredTransition<'a>, &LoweredSync),
        receives: (&LoweredTransition<'a>, &LoweredSync),
    ) -> bool {
        let ((sender, sent), (receiver, received)) = (sends, receives);
        let span = sender.written.span;
        // While a process is committed, both participants must be: otherwise the rendezvous is impossible.
        let is_meeting =
            sender.process != receiver.process && self.is_committed(sender) == self.is_committed(receiver);
        if !is_meeting {
            return self.spend(1, span);
        }
        if !self.spend(sender.size + receiver.size, span) {
            return false;
        }
        if sent.values.len() != received.places.len() {
            self.mismatch(sends, receives);
            return true;
        }
        let mut effect = Vec::new();
        if let Some(variable) = self.in_conflict(sender, receiver) {
            effect.push(self.conflict(variable, sender.process, receiver.process));
        }
        let carries = self.file.channels[sent.channel].carries.as_deref().unwrap_or(&[]);
        for (at, (place, value)) in received.places.iter().zip(&sent.values).enumerate() {
            let mut value = value.clone();
            if let Some((low, high)) = carries.get(at).map(|of| of.range()) {
                match self.options.wraps {
                    true => value = cut(value, low, high),
                    false => effect.push(Statement::Assert {
                        condition: lies_within(&value, low, high),
                        message: format!("`{}` carries {low} to {high}", self.channel_name(sent)),
                    }),
                }
            }
            effect.push(self.assign(place.clone(), value));
        }
        effect.extend(self.effects(receiver));
        let after = arrived(&self.effects(sender), self.processes[receiver.process].location, receiver.to);
        effect.extend(after);
        let channel = self.channel_name(sent);
        let action = Action {
            event: Some(channel.to_owned()),
            parameters: parameters(&sent.values),
            moves: vec![self.moves(sender), self.moves(receiver)],
            guard: both(sender.guard.clone(), receiver.guard.clone()),
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

    /// Reports that sender and receiver disagree in the number of values.
    fn mismatch(
        &mut self,
        sends: (&LoweredTransition<'a>, &LoweredSync),
        receives: (&LoweredTransition<'a>, &LoweredSync),
    ) {
        let (Some(sender), Some(receiver)) = (&sends.0.written.sync, &receives.0.written.sync) else {
            return;
        };
        // Report it once per receiver.
        if self.problems.iter().any(|reported| reported.span == receiver.span) {
            return;
        }
        let message = format!(
            "`{}` carries {} here and {} elsewhere",
            receiver.channel.text,
            values(receiver.values.len()),
            values(sender.values.len())
        );
        let problem = Diagnostic::error(receiver.span, message)
            .label(format!("expects {}", values(receiver.values.len())))
            .related(sender.span, format!("sends {}", values(sender.values.len())))
            .help("both sides of a channel exchange the same number of values");
        self.report(problem);
    }

    /// Returns a global variable that the effects of both change.
    fn in_conflict(&self, one: &LoweredTransition<'a>, other: &LoweredTransition<'a>) -> Option<VariableId> {
        let is_shared = |variable: &VariableId| (*variable as usize) < self.shared;
        written(&one.effects)
            .filter(is_shared)
            .find(|variable| written(&other.effects).any(|by| by == *variable))
    }

    /// The fault raised when two processes change a variable in one step.
    pub(super) fn conflict(&self, variable: VariableId, one: usize, other: usize) -> Statement {
        let name = &self.parts.variables[variable as usize].name;
        let (one, other) = (self.name_of(one), self.name_of(other));
        let message = format!("`{one}` and `{other}` both change `{name}` in one step");
        Statement::Assert { condition: Expression::Constant(0), message }
    }
}

/// The variables assigned by statements.
pub(super) fn written(statements: &[Statement]) -> impl Iterator<Item = VariableId> + '_ {
    statements.iter().filter_map(|statement| match statement {
        Statement::Assign { place, .. } => Some(place.variable),
        _ => None,
    })
}

/// Conjunction, with constant operands removed.
pub(super) fn both(one: Expression, other: Expression) -> Expression {
    let parts = [one, other].into_iter().filter(|part| *part != Expression::Constant(1)).collect();
    Expression::all(parts)
}

/// The event parameters, evaluated before the step.
fn parameters(values: &[Expression]) -> Vec<(String, Expression)> {
    let name = |at: usize| if values.len() == 1 { "value".to_owned() } else { format!("value{}", at + 1) };
    let before = |value: &Expression| Expression::Before(Box::new(value.clone()));
    values.iter().enumerate().map(|(at, value)| (name(at), before(value))).collect()
}

fn lies_within(value: &Expression, low: i64, high: i64) -> Expression {
    let above = Expression::binary(Binary::GreaterOrEqual, value.clone(), Expression::Constant(low));
    let below = Expression::binary(Binary::LessOrEqual, value.clone(), Expression::Constant(high));
    both(above, below)
}

/// Truncates a value to the bits of a range that uses all values of its bits.
fn cut(value: Expression, low: i64, high: i64) -> Expression {
    let distance = Expression::binary(Binary::Subtract, value, Expression::Constant(low));
    let kept = Expression::binary(Binary::BitAnd, distance, Expression::Constant(high - low));
    Expression::binary(Binary::Add, kept, Expression::Constant(low))
}

/// Substitutes the new location of a process in statements.
fn arrived(statements: &[Statement], location: Option<VariableId>, state: u32) -> Vec<Statement> {
    let with =
        |place: &LValue| (Some(place.variable) == location).then(|| Expression::Constant(i64::from(state)));
    statements.iter().map(|statement| rewritten(statement, &with)).collect()
}

/// Substitutes the reads of a statement as `with` specifies.
pub(super) fn rewritten(statement: &Statement, with: &impl Fn(&LValue) -> Option<Expression>) -> Statement {
    match statement {
        Statement::Assign { place, value, wraps } => {
            let index = place.index.as_ref().map(|index| Box::new(replaced(index, with)));
            let place = LValue { variable: place.variable, index };
            Statement::Assign { place, value: replaced(value, with), wraps: *wraps }
        }
        // Effects are assignments only.
        other => other.clone(),
    }
}

fn replaced(expression: &Expression, with: &impl Fn(&LValue) -> Option<Expression>) -> Expression {
    match expression {
        Expression::Read(place) => {
            let index = place.index.as_ref().map(|index| Box::new(replaced(index, with)));
            let place = LValue { variable: place.variable, index };
            with(&place).unwrap_or(Expression::Read(place))
        }
        Expression::Unary(operator, operand) => Expression::unary(*operator, replaced(operand, with)),
        Expression::Binary(operator, both) => {
            Expression::binary(*operator, replaced(&both.0, with), replaced(&both.1, with))
        }
        other => other.clone(),
    }
}
