//! Sent values, and the patterns that receive them.

use super::actions::{Actions, ProcessTransition, Reception, before, trigger_span};
use super::ast::{State, Transition, Trigger};
use super::check::{Type, Typed, all, any};
use super::effects::{along, kind_of, layout_of, many};
use super::parse_process::parameter_name;
use super::predicate::type_of;
use super::scope::{Binding, ScopeCursor};
use super::symbols::{Channel, Layout, Mailbox};
use super::syntax::{Expr, Name, Shape};
use invigil_expr::diag::{Diagnostic, Span, nearest};
use invigil_model::{Binary, Domain, Expression};
use std::cell::Cell;

impl<'a> Actions<'a> {
    /// Lowers the values of a sender to scalars.
    pub(super) fn sent(
        &mut self,
        local: &ProcessTransition<'a>,
        channel: &Channel,
        values: &[Expr],
    ) -> Option<Vec<Expression>> {
        if values.len() != channel.values.len() {
            let carried = many(channel.values.len());
            let message = format!("`{}` carries {carried}, not {}", channel.name, values.len());
            let span = local.transition.span;
            return self
                .checker
                .report(Diagnostic::error(trigger_span(local.transition, span), message).label("here"));
        }
        let here = self.here(local.process, &[]);
        let mut found = Vec::new();
        for (value, layout) in values.iter().zip(&channel.values) {
            if let Layout::Scalar(kind) = &**layout {
                found.push(self.checker.expect(&here, value, &type_of(kind))?.expression);
                continue;
            }
            let Shape::Path(path) = &value.shape else {
                let problem =
                    Diagnostic::error(value.span, "expected an array or record, found a single value");
                return self.checker.report(problem.label("single value"));
            };
            for (way, kind) in layout.leaves() {
                let part =
                    Expr { shape: Shape::Path(along(path, &way)), span: value.span, depth: value.depth };
                found.push(self.checker.expect(&here, &part, &type_of(&kind))?.expression);
            }
        }
        Some(found)
    }

    /// Matches patterns with the values of a channel.
    pub(super) fn received(
        &mut self,
        process: usize,
        span: Span,
        channel: &Channel,
        patterns: &[Expr],
        values: &[Expression],
    ) -> Option<Reception> {
        if patterns.len() != channel.values.len() {
            let carried = many(channel.values.len());
            let message = format!("`{}` carries {carried}, not {}", channel.name, patterns.len());
            return self.checker.report(Diagnostic::error(span, message).label("here"));
        }
        let mut received = Reception::default();
        let mut values = values.iter();
        for (pattern, layout) in patterns.iter().zip(&channel.values) {
            let leaves = layout.leaves();
            if let [(way, kind)] = &leaves[..]
                && way.is_empty()
            {
                let value = values.next()?;
                self.pattern(process, pattern, value, kind, &mut received)?;
                continue;
            }
            let Shape::Path(path) = &pattern.shape else {
                let problem = Diagnostic::error(pattern.span, "this parameter is an array or record");
                return self.checker.report(problem.label("expected a variable of its type"));
            };
            let here = self.here(process, &[]);
            let target = here.resolve(self.checker, path, None)?;
            if layout_of(&target).is_none_or(|of| of.leaves().len() != leaves.len()) {
                let problem = Diagnostic::error(pattern.span, "this variable cannot hold the received value");
                return self.checker.report(problem.label("wrong type"));
            }
            for (way, kind) in leaves {
                received.assigned.push((along(path, &way), values.next()?.clone(), kind));
            }
        }
        Some(received)
    }

    /// Matches a pattern: a variable is assigned, an unknown name is bound, anything else must be equal.
    fn pattern(
        &mut self,
        process: usize,
        pattern: &Expr,
        value: &Expression,
        kind: &Domain,
        received: &mut Reception,
    ) -> Option<()> {
        let here = self.here(process, &[]);
        if let Shape::Path(path) = &pattern.shape {
            match path.bare() {
                Some("_") => return Some(()),
                Some(name) if !here.knows(name) => {
                    received.bindings.push(Binding {
                        name: path.head.clone(),
                        value: Typed { expression: value.clone(), kind: type_of(kind), depth: 3 },
                        is_used: Cell::new(false),
                    });
                    received.ranges.push(kind.range());
                    return Some(());
                }
                _ => {}
            }
            let resolved = here.resolve(self.checker, path, Some(&type_of(kind)))?;
            if let Some(own) = kind_of(&resolved) {
                if type_of(&own) != type_of(kind) {
                    let message =
                        format!("expected {}, found {}", type_of(kind).describe(), type_of(&own).describe());
                    return self.checker.report(Diagnostic::error(path.span, message).label("wrong type"));
                }
                received.assigned.push((path.clone(), value.clone(), kind.clone()));
                return Some(());
            }
        }
        let wanted = self.checker.expect(&here, pattern, &type_of(kind))?;
        received.conditions.push(Expression::binary(Binary::Equal, value.clone(), wanted.expression));
        Some(())
    }

    /// Matches an event at a position of a mailbox.
    pub(super) fn event(
        &mut self,
        process: usize,
        mailbox: &Mailbox,
        name: &Name,
        patterns: &[Expr],
        position: u32,
    ) -> Option<Reception> {
        self.checker.spend(name.span, 4)?;
        let variants = &mailbox.events.variants;
        let Some(number) = variants.iter().position(|(other, _)| *other == name.text) else {
            let message = format!("`{}` has no event `{}`", mailbox.events.name, name.text);
            let mut problem = Diagnostic::error(name.span, message).label("not an event of this mailbox");
            if let Some(near) = nearest(&name.text, variants.iter().map(|(name, _)| name.as_str())) {
                problem = problem.help(format!("did you mean `{near}`?"));
            }
            return self.checker.report(problem);
        };
        let kinds = &variants[number].1;
        if !patterns.is_empty() && patterns.len() != kinds.len() {
            let message = format!("`{}` carries {}, not {}", name.text, many(kinds.len()), patterns.len());
            return self.checker.report(Diagnostic::error(name.span, message).label("here"));
        }
        let cell = |variable| Expression::element(variable, Expression::Constant(i64::from(position)));
        let is_there = Expression::binary(
            Binary::Equal,
            cell(mailbox.queue.cells[0]),
            Expression::Constant(number as i64 + 1),
        );
        let mut received = Reception { conditions: vec![is_there], ..Reception::default() };
        for ((pattern, kind), variable) in patterns.iter().zip(kinds).zip(&mailbox.queue.cells[1..]) {
            self.pattern(process, pattern, &cell(*variable), kind, &mut received)?;
            received
                .parameters
                .push((parameter_name(pattern, received.parameters.len()), before(cell(*variable))));
        }
        Some(received)
    }

    /// The condition that a state handles the event at a position of the mailbox.
    pub(super) fn handled(
        &mut self,
        process: usize,
        state: &State,
        mailbox: &Mailbox,
        position: u32,
    ) -> Option<Expression> {
        let mut ways = Vec::new();
        for transition in &state.transitions {
            let Trigger::Event { name, patterns } = &transition.trigger else { continue };
            let received = self.event(process, mailbox, name, patterns, position)?;
            let mut conditions = received.conditions.clone();
            conditions.extend(self.guards(process, transition, &received.bindings)?);
            ways.push(all(conditions));
        }
        Some(any(ways))
    }

    pub(super) fn guards(
        &mut self,
        process: usize,
        transition: &Transition,
        bindings: &[Binding],
    ) -> Option<Vec<Expression>> {
        let here = ScopeCursor { symbols: self.symbols, instance: Some(process), bindings, model: None };
        let mut found = Vec::new();
        for guard in &transition.guards {
            found.push(self.checker.expect(&here, guard, &Type::Boolean)?.expression);
        }
        Some(found)
    }
}
