//! Rendezvous: actions of two processes on an unbuffered channel.

use super::actions::{Actions, ProcessTransition, assigned, before, priority, reads, trigger_span};
use super::ast::Trigger;
use super::check::all;
use super::effects::{Effect, Scratch};
use super::payload_check::fits;
use super::scope::ScopeCursor;
use super::symbols::{Channel, Instance};
use super::syntax::Expr;
use invigil_model::{Action, Expression, Move, Side, Statement};
use std::collections::HashSet;

impl<'a> Actions<'a> {
    /// Checks a receiving transition on its own, so that its errors are reported even without a sender.
    pub(super) fn check_receiver(
        &mut self,
        local: &ProcessTransition<'a>,
        channel: &Channel,
        patterns: &[Expr],
    ) -> Option<()> {
        let kinds = channel.kinds();
        let values: Vec<Expression> = kinds.iter().map(|kind| Expression::Constant(kind.range().0)).collect();
        let span = trigger_span(local.transition, local.transition.span);
        let received = self.received(local.process, span, channel, patterns, &values)?;
        self.moves(local);
        self.guards(local.process, local.transition, &received.bindings);
        let here = ScopeCursor {
            symbols: self.symbols,
            instance: Some(local.process),
            bindings: &received.bindings,
            model: None,
        };
        let mut scratch = Scratch::new(Vec::new());
        Effect::new(self.checker, &mut scratch).block(&here, &local.transition.effect);
        self.unused(local.process, &received.bindings, &[]);
        Some(())
    }

    /// Adds the actions of a sender with all receivers of a channel.
    pub(super) fn add_rendezvous(
        &mut self,
        sender: &ProcessTransition<'a>,
        number: usize,
        values: &[Expression],
    ) -> Option<()> {
        let receivers = self.receivers.get(&number).cloned().unwrap_or_default();
        let others: Vec<ProcessTransition<'a>> =
            receivers.into_iter().filter(|other| other.process != sender.process).collect();
        if others.is_empty() {
            // It can never be taken, but its errors are reported.
            let mut scratch = Scratch::new(Vec::new());
            let here = self.here(sender.process, &[]);
            self.moves(sender);
            self.guards(sender.process, sender.transition, &[]);
            Effect::new(self.checker, &mut scratch).block(&here, &sender.transition.effect);
            return Some(());
        }
        let channel = &self.symbols.channels[number];
        let kinds = channel.kinds();
        let pairs = kinds.iter().zip(values);
        let ranges = &self.scratch.ranges;
        let checked: Vec<Statement> =
            pairs.filter_map(|(kind, value)| fits(ranges, &channel.name, kind, value)).collect();
        for receiver in &others {
            self.pair(sender, receiver, number, values, &checked);
        }
        Some(())
    }

    fn pair(
        &mut self,
        sender: &ProcessTransition<'a>,
        receiver: &ProcessTransition<'a>,
        number: usize,
        values: &[Expression],
        checked: &[Statement],
    ) -> Option<()> {
        let channel = &self.symbols.channels[number];
        let Trigger::Receive { patterns, .. } = &receiver.transition.trigger else { return None };
        let span = trigger_span(receiver.transition, receiver.transition.span);
        let mut received = self.received(receiver.process, span, channel, patterns, values)?;
        let moves = vec![self.moves(sender)?, self.moves(receiver)?];
        let mut conditions = vec![sender.condition.clone(), receiver.condition.clone()];
        conditions.extend(self.guards(sender.process, sender.transition, &[])?);
        conditions.append(&mut received.conditions);
        conditions.extend(self.guards(receiver.process, receiver.transition, &received.bindings)?);
        let own = self.label(sender, &[])?;
        let label = match own {
            Some(label) => Some(label),
            None => self.label(receiver, &received.bindings)?,
        };
        let (event, parameters) = label.unwrap_or_else(|| {
            let name = |at: usize| if values.len() == 1 { "value".to_owned() } else { format!("value{at}") };
            let values = values.iter().enumerate();
            let parameters = values.map(|(at, value)| (name(at), before(value.clone()))).collect();
            (channel.name.split('[').next().unwrap_or_default().to_owned(), parameters)
        });

        let trial = self.made(Some(sender), receiver, &received, false)?;
        let mut changed = HashSet::new();
        for statements in [&trial.stores, &trial.by_sender, &trial.body] {
            assigned(statements, &mut changed);
        }
        let is_stable = received.bindings.iter().all(|binding| !reads(&binding.value.expression, &changed));
        let made = if is_stable { trial } else { self.made(Some(sender), receiver, &received, true)? };
        conditions.extend(made.needs);
        let checked = checked.to_vec();
        let done = [checked, made.first, made.kept, made.stores, made.by_sender, made.body, made.last];

        let (a, b) = (&self.symbols.instances[sender.process], &self.symbols.instances[receiver.process]);
        let words = |instance: &Instance, by: &Move| {
            let states = &instance.states;
            format!("{}: {} → {}", instance.name, states[by.from as usize], states[by.to as usize])
        };
        let is_system = a.unit == Side::System && b.unit == Side::System;
        let action = Action {
            name: format!("{}, {}", words(a, &moves[0]), words(b, &moves[1])),
            event: Some(event),
            parameters,
            moves,
            guard: all(conditions),
            effect: done.into_iter().flatten().collect(),
            priority: self.pair_priority(sender, receiver)?,
            side: if is_system { Side::System } else { Side::Environment },
        };
        self.add(action, sender.transition.span, sender.state.is_atomic || receiver.state.is_atomic);
        Some(())
    }

    fn pair_priority(
        &mut self,
        sender: &ProcessTransition<'a>,
        receiver: &ProcessTransition<'a>,
    ) -> Option<i32> {
        let mut highest = i32::MIN;
        for local in [sender, receiver] {
            let here = self.here(local.process, &[]);
            highest = highest.max(match &local.transition.priority {
                Some(written) => priority(self.checker, &here, written)?,
                None => self.symbols.instances[local.process].priority,
            });
        }
        Some(highest)
    }
}
