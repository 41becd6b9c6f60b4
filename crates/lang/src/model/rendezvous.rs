//! Rendezvous: actions of two processes on an unbuffered channel.

use super::actions::{
    ActionBuilder, ProcessTransition, before, collect_assigned, priority, reads, trigger_span,
};
use super::ast::Trigger;
use super::check::conjunction;
use super::effects::{Effect, Scratch};
use super::payload_check::payload_assertion;
use super::scope::ModelScope;
use super::symbols::{Channel, Instance};
use super::syntax::Expr;
use invigil_model::{Action, Expression, Move, Side, Statement};
use std::collections::HashSet;

impl<'a> ActionBuilder<'a> {
    /// Checks a receiving transition on its own, so that its errors are reported even without a sender.
    pub(super) fn check_receiver(
        &mut self,
        local: &ProcessTransition<'a>,
        channel: &Channel,
        patterns: &[Expr],
    ) -> Option<()> {
        let kinds = channel.domains();
        let values: Vec<Expression> = kinds.iter().map(|kind| Expression::Constant(kind.range().0)).collect();
        let span = trigger_span(local.transition, local.transition.span);
        let received = self.match_patterns(local.process, span, channel, patterns, &values)?;
        self.move_of(local);
        self.guards(local.process, local.transition, &received.bindings);
        let scope = ModelScope {
            symbols: self.symbols,
            instance: Some(local.process),
            bindings: &received.bindings,
            model: None,
        };
        let mut scratch = Scratch::new(Vec::new());
        Effect::new(self.checker, &mut scratch).lower_block(&scope, &local.transition.effect);
        self.warn_unused_bindings(local.process, &received.bindings, &[]);
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
            // The sender is never enabled, but its errors are reported.
            let mut scratch = Scratch::new(Vec::new());
            let scope = self.scope(sender.process, &[]);
            self.move_of(sender);
            self.guards(sender.process, sender.transition, &[]);
            Effect::new(self.checker, &mut scratch).lower_block(&scope, &sender.transition.effect);
            return Some(());
        }
        let channel = &self.symbols.channels[number];
        let kinds = channel.domains();
        let pairs = kinds.iter().zip(values);
        let ranges = &self.scratch.ranges;
        let assertions: Vec<Statement> =
            pairs.filter_map(|(kind, value)| payload_assertion(ranges, &channel.name, kind, value)).collect();
        for receiver in &others {
            self.add_pair(sender, receiver, number, values, &assertions);
        }
        Some(())
    }

    fn add_pair(
        &mut self,
        sender: &ProcessTransition<'a>,
        receiver: &ProcessTransition<'a>,
        number: usize,
        values: &[Expression],
        assertions: &[Statement],
    ) -> Option<()> {
        let channel = &self.symbols.channels[number];
        let Trigger::Receive { patterns, .. } = &receiver.transition.trigger else { return None };
        let span = trigger_span(receiver.transition, receiver.transition.span);
        let mut received = self.match_patterns(receiver.process, span, channel, patterns, values)?;
        let moves = vec![self.move_of(sender)?, self.move_of(receiver)?];
        let mut conditions = vec![sender.condition.clone(), receiver.condition.clone()];
        conditions.extend(self.guards(sender.process, sender.transition, &[])?);
        conditions.append(&mut received.conditions);
        conditions.extend(self.guards(receiver.process, receiver.transition, &received.bindings)?);
        let sender_label = self.event_label(sender, &[])?;
        let label = match sender_label {
            Some(label) => Some(label),
            None => self.event_label(receiver, &received.bindings)?,
        };
        let (event, parameters) = label.unwrap_or_else(|| {
            let name = |at: usize| if values.len() == 1 { "value".to_owned() } else { format!("value{at}") };
            let values = values.iter().enumerate();
            let parameters = values.map(|(at, value)| (name(at), before(value.clone()))).collect();
            (channel.name.split('[').next().unwrap_or_default().to_owned(), parameters)
        });

        let trial = self.lower_effect(Some(sender), receiver, &received, false)?;
        let mut changed = HashSet::new();
        for statements in [&trial.stores, &trial.sender_body, &trial.body] {
            collect_assigned(statements, &mut changed);
        }
        let are_bindings_stable =
            received.bindings.iter().all(|binding| !reads(&binding.value.expression, &changed));
        let lowered = if are_bindings_stable {
            trial
        } else {
            self.lower_effect(Some(sender), receiver, &received, true)?
        };
        conditions.extend(lowered.space_conditions);
        let assertions = assertions.to_vec();
        let ordered_effect = [
            assertions,
            lowered.choices,
            lowered.saved_values,
            lowered.stores,
            lowered.sender_body,
            lowered.body,
            lowered.resets,
        ];

        let (a, b) = (&self.symbols.instances[sender.process], &self.symbols.instances[receiver.process]);
        let describe = |instance: &Instance, moved: &Move| {
            let states = &instance.states;
            format!("{}: {} → {}", instance.name, states[moved.from as usize], states[moved.to as usize])
        };
        let is_system = a.side == Side::System && b.side == Side::System;
        let action = Action {
            name: format!("{}, {}", describe(a, &moves[0]), describe(b, &moves[1])),
            event: Some(event),
            parameters,
            moves,
            guard: conjunction(conditions),
            effect: ordered_effect.into_iter().flatten().collect(),
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
            let scope = self.scope(local.process, &[]);
            highest = highest.max(match &local.transition.priority {
                Some(syntax) => priority(self.checker, &scope, syntax)?,
                None => self.symbols.instances[local.process].priority,
            });
        }
        Some(highest)
    }
}
