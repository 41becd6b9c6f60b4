//! Lowers transitions to actions.

use super::ast::{State, Transition, Trigger};
use super::check::{Checker, conjunction, unary};
use super::effects::{Effect, Scratch, dequeue, enqueue, has_space, store};
use super::scope::{Binding, ModelScope, Resolved};
use super::symbols::{Decl, Mailbox, SymbolTable};
use super::syntax::{Expr, Name, Path};
use invigil_expr::diag::{Diagnostic, Span, nearest};
use invigil_model::{Action, Binary, Domain, Expression, Move, Statement, Unary, VariableId};
use std::collections::{HashMap, HashSet};

/// The maximum number of actions of a model.
const MAX_ACTIONS: usize = 1 << 16;

/// Builds the actions of all processes.
pub(super) struct ActionBuilder<'a> {
    pub(super) symbols: &'a SymbolTable,
    pub(super) checker: &'a mut Checker,
    pub(super) scratch: &'a mut Scratch,
    pub(super) actions: Vec<Action>,
    /// The position of each action.
    pub(super) spans: Vec<Span>,
    /// Whether each action leaves an atomic state.
    is_atomic: Vec<bool>,
    /// The names in use.
    names: HashSet<String>,
    /// Whether the limit is reached.
    is_full: bool,
    /// The possible receivers on each rendezvous channel.
    pub(super) receivers: HashMap<usize, Vec<ProcessTransition<'a>>>,
}

/// A transition of a process, with the condition under which its channel index selects the current channel.
#[derive(Clone)]
pub(super) struct ProcessTransition<'a> {
    pub(super) process: usize,
    pub(super) state: &'a State,
    pub(super) transition: &'a Transition,
    pub(super) condition: Expression,
}

/// The event by which properties observe an action: its name and parameters.
pub(super) type EventLabel = (String, Vec<(String, Expression)>);

/// The effect of receiving values from a queue or a sender.
#[derive(Default)]
pub(super) struct Reception {
    /// The conditions for receiving.
    pub(super) conditions: Vec<Expression>,
    /// The variables assigned by patterns, with the values.
    pub(super) assigned: Vec<(Path, Expression, Domain)>,
    pub(super) bindings: Vec<Binding>,
    /// The value range of each binding.
    pub(super) ranges: Vec<(i64, i64)>,
    /// The event parameters.
    pub(super) parameters: Vec<(String, Expression)>,
}

/// An effect in its execution order; senders precede receivers.
#[derive(Default)]
pub(super) struct LoweredEffect {
    pub(super) choices: Vec<Statement>,
    /// Copies of values that later statements overwrite.
    pub(super) saved_values: Vec<Statement>,
    /// Assignments of received values.
    pub(super) stores: Vec<Statement>,
    pub(super) sender_body: Vec<Statement>,
    pub(super) body: Vec<Statement>,
    pub(super) resets: Vec<Statement>,
    /// Conditions of the action: there is space for the events that it sends.
    pub(super) space_conditions: Vec<Expression>,
}

impl<'a> ActionBuilder<'a> {
    pub(super) fn new(
        symbols: &'a SymbolTable,
        checker: &'a mut Checker,
        scratch: &'a mut Scratch,
    ) -> ActionBuilder<'a> {
        ActionBuilder {
            symbols,
            checker,
            scratch,
            actions: Vec::new(),
            spans: Vec::new(),
            is_atomic: Vec::new(),
            names: HashSet::new(),
            is_full: false,
            receivers: HashMap::new(),
        }
    }

    /// Builds all actions, process by process, in source order.
    pub(super) fn build_all(&mut self) {
        self.collect_receivers();
        for process in 0..self.symbols.instances.len() {
            // Errors in the first members of an array also occur in the others.
            if self.is_full || self.checker.is_exhausted() {
                break;
            }
            let symbols = self.symbols;
            let instance = &symbols.instances[process];
            for state in &instance.declared.states {
                for transition in &state.transitions {
                    let local =
                        ProcessTransition { process, state, transition, condition: Expression::Constant(1) };
                    self.add_transition(&local);
                }
                if let Some(mailbox) = &instance.mailbox {
                    self.drop_event(process, state, mailbox);
                }
            }
        }
        self.prioritise_atomic_actions();
    }

    pub(super) fn scope(&self, process: usize, bindings: &'a [Binding]) -> ModelScope<'a> {
        ModelScope { symbols: self.symbols, instance: Some(process), bindings, model: None }
    }

    fn collect_receivers(&mut self) {
        let symbols = self.symbols;
        for (process, instance) in symbols.instances.iter().enumerate() {
            for state in &instance.declared.states {
                for transition in &state.transitions {
                    let Trigger::Receive { channel, .. } = &transition.trigger else { continue };
                    for (number, condition) in self.channels(process, channel).unwrap_or_default() {
                        if symbols.channels[number].queue.is_none() {
                            let local = ProcessTransition { process, state, transition, condition };
                            self.receivers.entry(number).or_default().push(local);
                        }
                    }
                }
            }
        }
    }

    /// Returns the channels that a path can refer to, each with its condition.
    fn channels(&mut self, process: usize, path: &Path) -> Option<Vec<(usize, Expression)>> {
        let scope = ModelScope { symbols: self.symbols, instance: Some(process), bindings: &[], model: None };
        let resolved = scope.resolve(self.checker, path, None)?;
        let mut found = Vec::new();
        let mut pending = vec![(resolved, Vec::new())];
        while let Some((resolved, conditions)) = pending.pop() {
            match resolved {
                Resolved::Decl(Decl::Channel(channel)) => found.push((channel, conjunction(conditions))),
                Resolved::Select { index, low, items, .. } => {
                    for (at, item) in (low..).zip(items) {
                        let is_selected = Expression::binary(
                            Binary::Equal,
                            index.expression.clone(),
                            Expression::Constant(at),
                        );
                        let mut conditions = conditions.clone();
                        conditions.push(is_selected);
                        pending.push((item, conditions));
                    }
                }
                _ => {
                    let diagnostic =
                        Diagnostic::error(path.span, format!("`{}` is not a channel", path.head.text));
                    return self.checker.report(diagnostic.label("expected a channel"));
                }
            }
        }
        found.sort_by_key(|(channel, _)| *channel);
        Some(found)
    }

    fn add_transition(&mut self, local: &ProcessTransition<'a>) -> Option<()> {
        let symbols = self.symbols;
        let instance = &symbols.instances[local.process];
        match &local.transition.trigger {
            Trigger::Nothing => self.add_single(local, Reception::default(), None, None),
            Trigger::Event { name, patterns } => {
                let Some(mailbox) = &instance.mailbox else {
                    if instance.declared.mailbox.is_some() {
                        return None;
                    }
                    let message = format!("`{}` has no mailbox", instance.declared.name.text);
                    let diagnostic = Diagnostic::error(name.span, message).label("it receives no events");
                    return self.checker.report(diagnostic.help("add `mailbox fifo[3] of Signal` to it"));
                };
                let positions = if mailbox.is_deferred { mailbox.queue.capacity } else { 1 };
                for position in 0..positions {
                    let mut received = self.match_event(local.process, mailbox, name, patterns, position)?;
                    for before in 0..position {
                        let handled = self.handles_event(local.process, local.state, mailbox, before)?;
                        received.conditions.push(unary(Unary::Not, handled));
                    }
                    let dequeued = (dequeue(&mailbox.queue, position), Some(mailbox.queue.length));
                    self.add_single(local, received, Some(dequeued), Some(&name.text))?;
                }
                Some(())
            }
            Trigger::Send { channel, values } => {
                for (number, condition) in self.channels(local.process, channel)? {
                    let one = ProcessTransition { condition, ..local.clone() };
                    let channel = &symbols.channels[number];
                    let values = self.sent_values(&one, channel, values)?;
                    match &channel.queue {
                        Some(queue) => {
                            let mut received = Reception::default();
                            received.conditions.push(has_space(queue, 0));
                            self.add_buffered_send(&one, received, enqueue(queue, &values))?;
                        }
                        None => self.add_rendezvous(&one, number, &values)?,
                    }
                }
                Some(())
            }
            Trigger::Receive { channel, patterns } => {
                for (number, condition) in self.channels(local.process, channel)? {
                    let one = ProcessTransition { condition, ..local.clone() };
                    let channel = &symbols.channels[number];
                    if let Some(queue) = &channel.queue {
                        let head = |cell: &VariableId| Expression::element(*cell, Expression::Constant(0));
                        let values: Vec<Expression> = queue.cells.iter().map(head).collect();
                        let span = one.transition.span;
                        let mut received =
                            self.match_patterns(one.process, span, channel, patterns, &values)?;
                        let length = Expression::read(queue.length);
                        let has_message =
                            Expression::binary(Binary::Greater, length, Expression::Constant(0));
                        received.conditions.insert(0, has_message);
                        let dequeued = (dequeue(queue, 0), Some(queue.length));
                        self.add_single(&one, received, Some(dequeued), None)?;
                    } else {
                        self.check_receiver(&one, channel, patterns)?;
                    }
                }
                Some(())
            }
        }
    }

    /// Adds the action that drops an event that the state does not handle, unless the mailbox is deferred.
    fn drop_event(&mut self, process: usize, state: &'a State, mailbox: &Mailbox) -> Option<()> {
        let handles_events = |transition: &Transition| matches!(transition.trigger, Trigger::Event { .. });
        if mailbox.is_deferred || !state.transitions.iter().any(handles_events) {
            return None;
        }
        let handled = self.handles_event(process, state, mailbox, 0)?;
        let length = Expression::read(mailbox.queue.length);
        let has_message = Expression::binary(Binary::Greater, length, Expression::Constant(0));
        let instance = &self.symbols.instances[process];
        let location = self.location(process, &state.name)?;
        let action = Action {
            name: format!("{}: {} drops an event", instance.name, state.name.text),
            event: None,
            parameters: Vec::new(),
            moves: vec![Move { process: process as u32, from: location, to: location }],
            guard: conjunction(vec![has_message, unary(Unary::Not, handled)]),
            effect: dequeue(&mailbox.queue, 0),
            priority: instance.priority,
            side: instance.side,
        };
        self.add(action, state.name.span, state.is_atomic);
        Some(())
    }

    fn location(&mut self, process: usize, name: &Name) -> Option<u32> {
        let instance = &self.symbols.instances[process];
        if let Some(at) = instance.states.iter().position(|state| *state == name.text) {
            return Some(at as u32);
        }
        let message = format!("`{}` has no state `{}`", instance.declared.name.text, name.text);
        let mut diagnostic = Diagnostic::error(name.span, message).label("unknown");
        if let Some(near) = nearest(&name.text, instance.states.iter().map(String::as_str)) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        }
        self.checker.report(diagnostic)
    }

    pub(super) fn move_of(&mut self, local: &ProcessTransition<'a>) -> Option<Move> {
        let from = self.location(local.process, &local.state.name)?;
        let to = match &local.transition.target {
            Some(target) => self.location(local.process, target)?,
            None => from,
        };
        Some(Move { process: local.process as u32, from, to })
    }

    /// Returns the event of a transition, as properties observe it.
    pub(super) fn event_label(
        &mut self,
        local: &ProcessTransition<'a>,
        bindings: &[Binding],
    ) -> Option<Option<EventLabel>> {
        let Some(label) = &local.transition.label else { return Some(None) };
        let scope =
            ModelScope { symbols: self.symbols, instance: Some(local.process), bindings, model: None };
        let mut parameters = Vec::new();
        for (name, value) in &label.arguments {
            let found = self.checker.check(&scope, value, None)?;
            parameters.push((name.clone(), before(found.expression)));
        }
        Some(Some((label.name.text.clone(), parameters)))
    }

    /// Adds an action of a single process. The statements in `dequeued` remove its message from a queue, whose length
    /// variable they change.
    fn add_single(
        &mut self,
        local: &ProcessTransition<'a>,
        received: Reception,
        dequeued: Option<(Vec<Statement>, Option<VariableId>)>,
        event: Option<&str>,
    ) -> Option<()> {
        let moved = self.move_of(local);
        let instance = &self.symbols.instances[local.process];
        let guards = self.guards(local.process, local.transition, &received.bindings);
        let label = self.event_label(local, &received.bindings);
        let used_before: Vec<bool> =
            received.bindings.iter().map(|binding| binding.is_used.replace(false)).collect();

        let trial = self.lower_effect(None, local, &received, false)?;
        self.warn_unused_bindings(local.process, &received.bindings, &used_before);
        let (dequeued, queue) = dequeued.unwrap_or_default();
        self.checker.spend(local.transition.span, 4 * dequeued.len())?;
        let mut changed = HashSet::new();
        collect_assigned(&trial.body, &mut changed);
        let uses_queue =
            queue.is_some_and(|length| changed.contains(&length) || statements_read(&trial.body, length));
        let lowered = match uses_queue && !received.bindings.is_empty() {
            // Bound values must be saved before they leave the queue.
            true => self.lower_effect(None, local, &received, true)?,
            false => trial,
        };
        let (early, late) = if uses_queue { (dequeued, Vec::new()) } else { (Vec::new(), dequeued) };
        let space_conditions = lowered.space_conditions;
        let ordered_effect = [
            lowered.choices,
            lowered.saved_values,
            lowered.stores,
            early,
            lowered.body,
            late,
            lowered.resets,
        ];

        let parameters = received.parameters;
        let parameters_of_event = |event: &str| (event.to_owned(), parameters);
        let (event, parameters) = match label?.or_else(|| event.map(parameters_of_event)) {
            Some((event, parameters)) => (Some(event), parameters),
            None => (None, Vec::new()),
        };
        let mut conditions = vec![local.condition.clone()];
        conditions.extend(received.conditions);
        conditions.extend(guards?);
        conditions.extend(space_conditions);
        let scope = self.scope(local.process, &[]);
        let priority = match &local.transition.priority {
            Some(syntax) => priority(self.checker, &scope, syntax)?,
            None => instance.priority,
        };
        let moved = moved?;
        let states = &instance.states;
        let action = Action {
            name: format!(
                "{}: {} → {}",
                instance.name, states[moved.from as usize], states[moved.to as usize]
            ),
            event,
            parameters,
            moves: vec![moved],
            guard: conjunction(conditions),
            effect: ordered_effect.into_iter().flatten().collect(),
            priority,
            side: instance.side,
        };
        self.add(action, local.transition.span, local.state.is_atomic);
        Some(())
    }

    /// Builds the effect. If `saves_values`, bound values are copied before anything changes.
    pub(super) fn lower_effect(
        &mut self,
        sender: Option<&ProcessTransition<'a>>,
        local: &ProcessTransition<'a>,
        received: &Reception,
        saves_values: bool,
    ) -> Option<LoweredEffect> {
        let top_level = self.scope(local.process, &[]);
        let mut effect = Effect::new(self.checker, self.scratch);
        let mut lowered = LoweredEffect::default();
        let mut bindings = received.bindings.clone();
        if saves_values {
            for (binding, range) in bindings.iter_mut().zip(&received.ranges) {
                let hidden = effect.scratch_variable(*range);
                let value = core::mem::replace(&mut binding.value.expression, Expression::read(hidden));
                lowered.saved_values.push(Statement::assign(hidden, value));
            }
        }
        let is_multiple = sender.is_some() && received.assigned.len() > 1;
        for (path, value, kind) in &received.assigned {
            let mut value = value.clone();
            // Values of a multiple assignment are computed before all its assignments.
            if is_multiple && !matches!(value, Expression::Constant(_)) {
                let hidden = effect.scratch_variable(kind.range());
                lowered.saved_values.push(Statement::assign(hidden, value));
                value = Expression::read(hidden);
            }
            let target = top_level.resolve(effect.checker, path, None)?;
            lowered.stores.extend(store(target, &value)?);
        }
        if let Some(sender) = sender {
            let scope = ModelScope { instance: Some(sender.process), ..top_level };
            lowered.sender_body = effect.lower_block(&scope, &sender.transition.effect)?;
        }
        let visible = if saves_values { &bindings } else { &received.bindings };
        let scope = ModelScope {
            symbols: self.symbols,
            instance: Some(local.process),
            bindings: visible,
            model: None,
        };
        lowered.body = effect.lower_block(&scope, &local.transition.effect)?;
        (lowered.choices, lowered.resets, lowered.space_conditions) =
            (effect.choices, effect.resets, effect.space_conditions);
        Some(lowered)
    }

    /// Adds an action that sends to a buffered channel.
    fn add_buffered_send(
        &mut self,
        local: &ProcessTransition<'a>,
        received: Reception,
        sent: Vec<Statement>,
    ) -> Option<()> {
        let before = self.actions.len();
        self.add_single(local, received, None, None)?;
        // The value is computed in the state of the guard: it is sent before the effect.
        if let Some(action) = self.actions.get_mut(before) {
            let rest = core::mem::replace(&mut action.effect, sent);
            action.effect.extend(rest);
        }
        Some(())
    }

    /// Warns about unused bindings, which may be misspelt variables.
    pub(super) fn warn_unused_bindings(
        &mut self,
        process: usize,
        bindings: &[Binding],
        used_before: &[bool],
    ) {
        for (at, binding) in bindings.iter().enumerate() {
            let is_used = binding.is_used.get() || used_before.get(at).copied().unwrap_or(false);
            if is_used || binding.name.text.starts_with('_') {
                continue;
            }
            let message = format!("`{}` is not used", binding.name.text);
            let mut diagnostic =
                Diagnostic::warning(binding.name.span, message).label("binds the received value");
            let known = self.symbols.names.keys().chain(self.symbols.instances[process].names.keys());
            diagnostic = match nearest(&binding.name.text, known.map(String::as_str)) {
                Some(near) => {
                    diagnostic.help(format!("did you mean `{near}`? write `_` to ignore the value"))
                }
                None => diagnostic.help("write `_` to ignore the value"),
            };
            self.checker.report::<()>(diagnostic);
        }
    }

    /// Adds an action under a unique name. Actions that are never enabled are dropped.
    pub(super) fn add(&mut self, mut action: Action, span: Span, is_atomic: bool) {
        if action.guard == Expression::Constant(0) {
            return;
        }
        if self.actions.len() >= MAX_ACTIONS {
            let diagnostic =
                Diagnostic::error(span, format!("the model has more than {MAX_ACTIONS} actions"));
            self.checker.report::<()>(diagnostic.label("limit reached here").help("use smaller arrays"));
            self.is_full = true;
            return;
        }
        if self.names.contains(&action.name)
            && let Some(event) = &action.event
        {
            action.name = format!("{} ({event})", action.name);
        }
        let base = action.name.clone();
        let mut number = 1;
        while !self.names.insert(action.name.clone()) {
            number += 1;
            action.name = format!("{base} #{number}");
        }
        self.actions.push(action);
        self.spans.push(span);
        self.is_atomic.push(is_atomic);
    }

    /// Gives actions that leave atomic states priority over all others.
    fn prioritise_atomic_actions(&mut self) {
        let highest = self.actions.iter().map(|action| action.priority).max().unwrap_or(0);
        for (action, is_atomic) in self.actions.iter_mut().zip(&self.is_atomic) {
            if *is_atomic {
                action.priority = highest.saturating_add(1);
            }
        }
    }
}

pub(super) fn before(expression: Expression) -> Expression {
    match expression {
        Expression::Constant(_) => expression,
        _ => Expression::Before(Box::new(expression)),
    }
}

/// The position of a transition's trigger.
pub(super) fn trigger_span(transition: &Transition, otherwise: Span) -> Span {
    match &transition.trigger {
        Trigger::Send { channel, .. } | Trigger::Receive { channel, .. } => channel.span,
        Trigger::Event { name, .. } => name.span,
        Trigger::Nothing => otherwise,
    }
}

/// Evaluates a priority, a small constant.
pub(super) fn priority(checker: &mut Checker, scope: &ModelScope<'_>, syntax: &Expr) -> Option<i32> {
    let value = checker.constant(scope, syntax)?;
    match i32::try_from(value) {
        Ok(value) if value < i32::MAX => Some(value),
        _ => checker.report(Diagnostic::error(syntax.span, "priority out of range").label("too large")),
    }
}

/// Collects the variables that statements change.
pub(super) fn collect_assigned(statements: &[Statement], found: &mut HashSet<VariableId>) {
    for statement in statements {
        match statement {
            Statement::Assign { place, .. } | Statement::Choose { place, .. } => {
                found.insert(place.variable);
            }
            Statement::If { then, otherwise, .. } => {
                collect_assigned(then, found);
                collect_assigned(otherwise, found);
            }
            Statement::Require(_) | Statement::Assert { .. } => {}
        }
    }
}

/// Whether statements read a variable.
fn statements_read(statements: &[Statement], variable: VariableId) -> bool {
    let only = HashSet::from([variable]);
    statements.iter().any(|statement| match statement {
        Statement::Assign { place, value, .. } => {
            reads(value, &only) || place.index.as_ref().is_some_and(|index| reads(index, &only))
        }
        Statement::Choose { .. } => false,
        Statement::Require(condition) | Statement::Assert { condition, .. } => reads(condition, &only),
        Statement::If { condition, then, otherwise } => {
            reads(condition, &only) || statements_read(then, variable) || statements_read(otherwise, variable)
        }
    })
}

pub(super) fn reads(expression: &Expression, variables: &HashSet<VariableId>) -> bool {
    let mut is_read = false;
    expression.visit(&mut |inside| {
        is_read |= matches!(inside, Expression::Read(place) if variables.contains(&place.variable));
    });
    is_read
}
