//! Sent values, and the patterns that receive them.

use super::actions::{ActionBuilder, ProcessTransition, Reception, before, trigger_span};
use super::ast::{State, Transition, Trigger};
use super::check::{Type, Typed, conjunction, disjunction};
use super::effects::{append_selectors, count_values, domain_of, layout_of};
use super::parse_process::parameter_name;
use super::predicate::type_of;
use super::scope::{Binding, ModelScope};
use super::symbols::{Channel, Layout, Mailbox};
use super::syntax::{Expr, ExprKind, Name};
use invigil_expr::diag::{Diagnostic, Span, nearest};
use invigil_model::{Binary, Domain, Expression};
use std::cell::Cell;

impl<'a> ActionBuilder<'a> {
    /// Lowers the values of a sender to scalars.
    pub(super) fn sent_values(
        &mut self,
        local: &ProcessTransition<'a>,
        channel: &Channel,
        values: &[Expr],
    ) -> Option<Vec<Expression>> {
        if values.len() != channel.values.len() {
            let value_count = count_values(channel.values.len());
            let message = format!("`{}` carries {value_count}, not {}", channel.name, values.len());
            let span = local.transition.span;
            return self
                .checker
                .report(Diagnostic::error(trigger_span(local.transition, span), message).label("here"));
        }
        let scope = self.scope(local.process, &[]);
        let mut found = Vec::new();
        for (value, layout) in values.iter().zip(&channel.values) {
            if let Layout::Scalar(kind) = &**layout {
                found.push(self.checker.expect(&scope, value, &type_of(kind))?.expression);
                continue;
            }
            let ExprKind::Path(path) = &value.kind else {
                let diagnostic =
                    Diagnostic::error(value.span, "expected an array or record, found a single value");
                return self.checker.report(diagnostic.label("single value"));
            };
            for (selectors, kind) in layout.leaves() {
                let part = Expr {
                    kind: ExprKind::Path(append_selectors(path, &selectors)),
                    span: value.span,
                    depth: value.depth,
                };
                found.push(self.checker.expect(&scope, &part, &type_of(&kind))?.expression);
            }
        }
        Some(found)
    }

    /// Matches patterns with the values of a channel.
    pub(super) fn match_patterns(
        &mut self,
        process: usize,
        span: Span,
        channel: &Channel,
        patterns: &[Expr],
        values: &[Expression],
    ) -> Option<Reception> {
        if patterns.len() != channel.values.len() {
            let value_count = count_values(channel.values.len());
            let message = format!("`{}` carries {value_count}, not {}", channel.name, patterns.len());
            return self.checker.report(Diagnostic::error(span, message).label("here"));
        }
        let mut received = Reception::default();
        let mut values = values.iter();
        for (pattern, layout) in patterns.iter().zip(&channel.values) {
            let leaves = layout.leaves();
            if let [(selectors, kind)] = &leaves[..]
                && selectors.is_empty()
            {
                let value = values.next()?;
                self.match_pattern(process, pattern, value, kind, &mut received)?;
                continue;
            }
            let ExprKind::Path(path) = &pattern.kind else {
                let diagnostic = Diagnostic::error(pattern.span, "this parameter is an array or record");
                return self.checker.report(diagnostic.label("expected a variable of its type"));
            };
            let scope = self.scope(process, &[]);
            let target = scope.resolve(self.checker, path, None)?;
            if layout_of(&target).is_none_or(|of| of.leaves().len() != leaves.len()) {
                let diagnostic =
                    Diagnostic::error(pattern.span, "this variable cannot hold the received value");
                return self.checker.report(diagnostic.label("wrong type"));
            }
            for (selectors, kind) in leaves {
                received.assigned.push((append_selectors(path, &selectors), values.next()?.clone(), kind));
            }
        }
        Some(received)
    }

    /// Matches a pattern: a variable is assigned, an unknown name is bound, anything else must be equal.
    fn match_pattern(
        &mut self,
        process: usize,
        pattern: &Expr,
        value: &Expression,
        kind: &Domain,
        received: &mut Reception,
    ) -> Option<()> {
        let scope = self.scope(process, &[]);
        if let ExprKind::Path(path) = &pattern.kind {
            match path.bare() {
                Some("_") => return Some(()),
                Some(name) if !scope.is_defined(name) => {
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
            let resolved = scope.resolve(self.checker, path, Some(&type_of(kind)))?;
            if let Some(target) = domain_of(&resolved) {
                if type_of(&target) != type_of(kind) {
                    let message = format!(
                        "expected {}, found {}",
                        type_of(kind).describe(),
                        type_of(&target).describe()
                    );
                    return self.checker.report(Diagnostic::error(path.span, message).label("wrong type"));
                }
                received.assigned.push((path.clone(), value.clone(), kind.clone()));
                return Some(());
            }
        }
        let expected = self.checker.expect(&scope, pattern, &type_of(kind))?;
        received.conditions.push(Expression::binary(Binary::Equal, value.clone(), expected.expression));
        Some(())
    }

    /// Matches an event at a position of a mailbox.
    pub(super) fn match_event(
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
            let mut diagnostic = Diagnostic::error(name.span, message).label("not an event of this mailbox");
            if let Some(near) = nearest(&name.text, variants.iter().map(|(name, _)| name.as_str())) {
                diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
            }
            return self.checker.report(diagnostic);
        };
        let kinds = &variants[number].1;
        if !patterns.is_empty() && patterns.len() != kinds.len() {
            let message =
                format!("`{}` carries {}, not {}", name.text, count_values(kinds.len()), patterns.len());
            return self.checker.report(Diagnostic::error(name.span, message).label("here"));
        }
        let element = |variable| Expression::element(variable, Expression::Constant(i64::from(position)));
        let is_event = Expression::binary(
            Binary::Equal,
            element(mailbox.queue.cells[0]),
            Expression::Constant(number as i64 + 1),
        );
        let mut received = Reception { conditions: vec![is_event], ..Reception::default() };
        for ((pattern, kind), variable) in patterns.iter().zip(kinds).zip(&mailbox.queue.cells[1..]) {
            self.match_pattern(process, pattern, &element(*variable), kind, &mut received)?;
            received
                .parameters
                .push((parameter_name(pattern, received.parameters.len()), before(element(*variable))));
        }
        Some(received)
    }

    /// The condition that a state handles the event at a position of the mailbox.
    pub(super) fn handles_event(
        &mut self,
        process: usize,
        state: &State,
        mailbox: &Mailbox,
        position: u32,
    ) -> Option<Expression> {
        let mut alternatives = Vec::new();
        for transition in &state.transitions {
            let Trigger::Event { name, patterns } = &transition.trigger else { continue };
            let received = self.match_event(process, mailbox, name, patterns, position)?;
            let mut conditions = received.conditions.clone();
            conditions.extend(self.guards(process, transition, &received.bindings)?);
            alternatives.push(conjunction(conditions));
        }
        Some(disjunction(alternatives))
    }

    pub(super) fn guards(
        &mut self,
        process: usize,
        transition: &Transition,
        bindings: &[Binding],
    ) -> Option<Vec<Expression>> {
        let scope = ModelScope { symbols: self.symbols, instance: Some(process), bindings, model: None };
        let mut found = Vec::new();
        for guard in &transition.guards {
            found.push(self.checker.expect(&scope, guard, &Type::Boolean)?.expression);
        }
        Some(found)
    }
}
