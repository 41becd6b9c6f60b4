//! Transitions become actions.

use super::ast::{State, Transition, Trigger};
use super::check::{Checker, all, unary};
use super::effects::{Effect, Scratch, dequeue, enqueue, room, store};
use super::scope::{Binding, Here, Resolved};
use super::syntax::{Expr, Name, Path};
use super::world::{Mailbox, Thing, World};
use invigil_expr::diag::{Diagnostic, Span, nearest};
use invigil_model::{Action, Binary, Expression, Kind, Move, Statement, Unary, VariableId};
use std::collections::{HashMap, HashSet};

/// The most actions of a model.
const MAX_ACTIONS: usize = 1 << 16;

/// Makes the actions of all processes.
pub(super) struct Actions<'a> {
    pub(super) world: &'a World,
    pub(super) checker: &'a mut Checker,
    pub(super) scratch: &'a mut Scratch,
    pub(super) actions: Vec<Action>,
    pub(super) spans: Vec<Span>,
    /// Which actions leave an atomic state.
    atomic: Vec<bool>,
    names: HashSet<String>,
    /// Whether there are too many.
    is_full: bool,
    /// Who can receive on each channel on which sender and receiver meet.
    pub(super) receivers: HashMap<usize, Vec<Half<'a>>>,
}

/// A transition of a process, which waits for a channel that may depend on an index.
#[derive(Clone)]
pub(super) struct Half<'a> {
    pub(super) process: usize,
    pub(super) state: &'a State,
    pub(super) transition: &'a Transition,
    pub(super) condition: Expression,
}

/// What properties call an action, and what they are told with it.
pub(super) type Told = (String, Vec<(String, Expression)>);

/// What comes with a transition: from a queue, or from a sender.
#[derive(Default)]
pub(super) struct Received {
    /// What must hold for it.
    pub(super) conditions: Vec<Expression>,
    /// What is assigned to variables: the pattern, and the value.
    pub(super) assigned: Vec<(Path, Expression, Kind)>,
    pub(super) bindings: Vec<Binding>,
    /// The range of what each binding stands for.
    pub(super) ranges: Vec<(i64, i64)>,
    /// What properties are told.
    pub(super) told: Vec<(String, Expression)>,
}

/// The parts of an effect, in the order in which they are done; senders come before receivers.
#[derive(Default)]
pub(super) struct Made {
    pub(super) first: Vec<Statement>,
    pub(super) kept: Vec<Statement>,
    pub(super) stores: Vec<Statement>,
    pub(super) by_sender: Vec<Statement>,
    pub(super) body: Vec<Statement>,
    pub(super) last: Vec<Statement>,
    pub(super) needs: Vec<Expression>,
}

impl<'a> Actions<'a> {
    pub(super) fn new(world: &'a World, checker: &'a mut Checker, scratch: &'a mut Scratch) -> Actions<'a> {
        Actions {
            world,
            checker,
            scratch,
            actions: Vec::new(),
            spans: Vec::new(),
            atomic: Vec::new(),
            names: HashSet::new(),
            is_full: false,
            receivers: HashMap::new(),
        }
    }

    /// All actions, process by process, in the order of the file.
    pub(super) fn all(&mut self) {
        self.collect_receivers();
        for process in 0..self.world.instances.len() {
            // What is wrong with the first processes is wrong with those that follow.
            if self.is_full || self.checker.is_out_of_room() {
                break;
            }
            let world = self.world;
            let instance = &world.instances[process];
            for state in &instance.declared.states {
                for transition in &state.transitions {
                    let half = Half { process, state, transition, condition: Expression::Constant(1) };
                    self.transition(&half);
                }
                if let Some(mailbox) = &instance.mailbox {
                    self.drop_event(process, state, mailbox);
                }
            }
        }
        self.raise_atomic();
    }

    pub(super) fn here(&self, process: usize, bindings: &'a [Binding]) -> Here<'a> {
        Here { world: self.world, instance: Some(process), bindings, model: None }
    }

    fn collect_receivers(&mut self) {
        let world = self.world;
        for (process, instance) in world.instances.iter().enumerate() {
            for state in &instance.declared.states {
                for transition in &state.transitions {
                    let Trigger::Receive { channel, .. } = &transition.trigger else { continue };
                    for (number, condition) in self.channels(process, channel).unwrap_or_default() {
                        if world.channels[number].queue.is_none() {
                            let half = Half { process, state, transition, condition };
                            self.receivers.entry(number).or_default().push(half);
                        }
                    }
                }
            }
        }
    }

    /// The channels that a path can mean, and when it means each.
    fn channels(&mut self, process: usize, path: &Path) -> Option<Vec<(usize, Expression)>> {
        let here = Here { world: self.world, instance: Some(process), bindings: &[], model: None };
        let resolved = here.resolve(self.checker, path, None)?;
        let mut found = Vec::new();
        let mut open = vec![(resolved, Vec::new())];
        while let Some((resolved, conditions)) = open.pop() {
            match resolved {
                Resolved::Thing(Thing::Channel(channel)) => found.push((channel, all(conditions))),
                Resolved::Select { index, low, items, .. } => {
                    for (at, item) in (low..).zip(items) {
                        let is_it = Expression::binary(
                            Binary::Equal,
                            index.expression.clone(),
                            Expression::Constant(at),
                        );
                        let mut conditions = conditions.clone();
                        conditions.push(is_it);
                        open.push((item, conditions));
                    }
                }
                _ => {
                    let problem = Diagnostic::error(path.span, format!("`{}` is no channel", path.head.text));
                    return self.checker.report(problem.label("expected a channel"));
                }
            }
        }
        found.sort_by_key(|(channel, _)| *channel);
        Some(found)
    }

    fn transition(&mut self, half: &Half<'a>) -> Option<()> {
        let world = self.world;
        let instance = &world.instances[half.process];
        match &half.transition.trigger {
            Trigger::Nothing => self.alone(half, Received::default(), None, None),
            Trigger::Event { name, patterns } => {
                let Some(mailbox) = &instance.mailbox else {
                    if instance.declared.mailbox.is_some() {
                        return None;
                    }
                    let message = format!("`{}` has no mailbox", instance.declared.name.text);
                    let problem = Diagnostic::error(name.span, message).label("no event comes");
                    return self.checker.report(problem.help("add `mailbox fifo[3] of Signal` to it"));
                };
                let positions = if mailbox.is_deferred { mailbox.queue.capacity } else { 1 };
                for position in 0..positions {
                    let mut received = self.event(half.process, mailbox, name, patterns, position)?;
                    for before in 0..position {
                        let handled = self.handled(half.process, half.state, mailbox, before)?;
                        received.conditions.push(unary(Unary::Not, handled));
                    }
                    let taken = (dequeue(&mailbox.queue, position), Some(mailbox.queue.length));
                    self.alone(half, received, Some(taken), Some(&name.text))?;
                }
                Some(())
            }
            Trigger::Send { channel, values } => {
                for (number, condition) in self.channels(half.process, channel)? {
                    let one = Half { condition, ..half.clone() };
                    let channel = &world.channels[number];
                    let values = self.sent(&one, channel, values)?;
                    match &channel.queue {
                        Some(queue) => {
                            let mut received = Received::default();
                            received.conditions.push(room(queue, 0));
                            self.buffered(&one, received, enqueue(queue, &values))?;
                        }
                        None => self.meet(&one, number, &values)?,
                    }
                }
                Some(())
            }
            Trigger::Receive { channel, patterns } => {
                for (number, condition) in self.channels(half.process, channel)? {
                    let one = Half { condition, ..half.clone() };
                    let channel = &world.channels[number];
                    if let Some(queue) = &channel.queue {
                        let head = |cell: &VariableId| Expression::element(*cell, Expression::Constant(0));
                        let values: Vec<Expression> = queue.cells.iter().map(head).collect();
                        let span = one.transition.span;
                        let mut received = self.received(one.process, span, channel, patterns, &values)?;
                        let length = Expression::read(queue.length);
                        let waits = Expression::binary(Binary::Greater, length, Expression::Constant(0));
                        received.conditions.insert(0, waits);
                        let taken = (dequeue(queue, 0), Some(queue.length));
                        self.alone(&one, received, Some(taken), None)?;
                    } else {
                        self.received_by_somebody(&one, channel, patterns)?;
                    }
                }
                Some(())
            }
        }
    }

    /// What waits in a mailbox and is not taken by the state is dropped, if the mailbox does so.
    fn drop_event(&mut self, process: usize, state: &'a State, mailbox: &Mailbox) -> Option<()> {
        let takes = |transition: &Transition| matches!(transition.trigger, Trigger::Event { .. });
        if mailbox.is_deferred || !state.transitions.iter().any(takes) {
            return None;
        }
        let handled = self.handled(process, state, mailbox, 0)?;
        let length = Expression::read(mailbox.queue.length);
        let waits = Expression::binary(Binary::Greater, length, Expression::Constant(0));
        let instance = &self.world.instances[process];
        let own = self.location(process, &state.name)?;
        let action = Action {
            name: format!("{}: {} drops an event", instance.name, state.name.text),
            event: None,
            parameters: Vec::new(),
            moves: vec![Move { process: process as u32, from: own, to: own }],
            guard: all(vec![waits, unary(Unary::Not, handled)]),
            effect: dequeue(&mailbox.queue, 0),
            priority: instance.priority,
            unit: instance.unit,
        };
        self.add(action, state.name.span, state.is_atomic);
        Some(())
    }

    fn location(&mut self, process: usize, name: &Name) -> Option<u32> {
        let instance = &self.world.instances[process];
        if let Some(at) = instance.states.iter().position(|state| *state == name.text) {
            return Some(at as u32);
        }
        let message = format!("`{}` has no state `{}`", instance.declared.name.text, name.text);
        let mut problem = Diagnostic::error(name.span, message).label("not known");
        if let Some(near) = nearest(&name.text, instance.states.iter().map(String::as_str)) {
            problem = problem.help(format!("did you mean `{near}`?"));
        }
        self.checker.report(problem)
    }

    pub(super) fn moves(&mut self, half: &Half<'a>) -> Option<Move> {
        let from = self.location(half.process, &half.state.name)?;
        let to = match &half.transition.target {
            Some(target) => self.location(half.process, target)?,
            None => from,
        };
        Some(Move { process: half.process as u32, from, to })
    }

    /// What properties call a transition, and what they are told with it.
    pub(super) fn label(&mut self, half: &Half<'a>, bindings: &[Binding]) -> Option<Option<Told>> {
        let Some(label) = &half.transition.label else { return Some(None) };
        let here = Here { world: self.world, instance: Some(half.process), bindings, model: None };
        let mut parameters = Vec::new();
        for (name, value) in &label.arguments {
            let found = self.checker.check(&here, value, None)?;
            parameters.push((name.clone(), before(found.expression)));
        }
        Some(Some((label.name.text.clone(), parameters)))
    }

    /// An action of one process. What it takes from a queue is `taken` out by these statements, which change the
    /// queue's length.
    fn alone(
        &mut self,
        half: &Half<'a>,
        received: Received,
        taken: Option<(Vec<Statement>, Option<VariableId>)>,
        event: Option<&str>,
    ) -> Option<()> {
        let by = self.moves(half);
        let instance = &self.world.instances[half.process];
        let guards = self.guards(half.process, half.transition, &received.bindings);
        let label = self.label(half, &received.bindings);
        let used_before: Vec<bool> =
            received.bindings.iter().map(|binding| binding.is_used.replace(false)).collect();

        let trial = self.made(None, half, &received, false)?;
        self.unused(half.process, &received.bindings, &used_before);
        let (taken, queue) = taken.unwrap_or_default();
        self.checker.spend(half.transition.span, 4 * taken.len())?;
        let mut touched = HashSet::new();
        assigned(&trial.body, &mut touched);
        let touches = queue.is_some_and(|length| touched.contains(&length) || reads_in(&trial.body, length));
        let made = match touches && !received.bindings.is_empty() {
            // What is bound must outlast its place in the queue.
            true => self.made(None, half, &received, true)?,
            false => trial,
        };
        let (early, late) = if touches { (taken, Vec::new()) } else { (Vec::new(), taken) };
        let needs = made.needs;
        let done = [made.first, made.kept, made.stores, early, made.body, late, made.last];

        let told = received.told;
        let parameters_of_event = |event: &str| (event.to_owned(), told);
        let (event, parameters) = match label?.or_else(|| event.map(parameters_of_event)) {
            Some((event, parameters)) => (Some(event), parameters),
            None => (None, Vec::new()),
        };
        let mut conditions = vec![half.condition.clone()];
        conditions.extend(received.conditions);
        conditions.extend(guards?);
        conditions.extend(needs);
        let here = self.here(half.process, &[]);
        let priority = match &half.transition.priority {
            Some(written) => priority(self.checker, &here, written)?,
            None => instance.priority,
        };
        let by = by?;
        let states = &instance.states;
        let action = Action {
            name: format!("{}: {} → {}", instance.name, states[by.from as usize], states[by.to as usize]),
            event,
            parameters,
            moves: vec![by],
            guard: all(conditions),
            effect: done.into_iter().flatten().collect(),
            priority,
            unit: instance.unit,
        };
        self.add(action, half.transition.span, half.state.is_atomic);
        Some(())
    }

    /// The parts of an effect. If what is bound is `kept`, it is copied before anything changes.
    pub(super) fn made(
        &mut self,
        sender: Option<&Half<'a>>,
        half: &Half<'a>,
        received: &Received,
        is_kept: bool,
    ) -> Option<Made> {
        let outside = self.here(half.process, &[]);
        let mut effect = Effect::new(self.checker, self.scratch);
        let mut made = Made::default();
        let mut bindings = received.bindings.clone();
        if is_kept {
            for (binding, range) in bindings.iter_mut().zip(&received.ranges) {
                let hidden = effect.hidden(*range);
                let value = core::mem::replace(&mut binding.value.expression, Expression::read(hidden));
                made.kept.push(Statement::assign(hidden, value));
            }
        }
        let is_several = sender.is_some() && received.assigned.len() > 1;
        for (path, value, kind) in &received.assigned {
            let mut value = value.clone();
            // Several values are those before all assignments.
            if is_several && !matches!(value, Expression::Constant(_)) {
                let hidden = effect.hidden(kind.range());
                made.kept.push(Statement::assign(hidden, value));
                value = Expression::read(hidden);
            }
            let target = outside.resolve(effect.checker, path, None)?;
            made.stores.extend(store(target, &value)?);
        }
        if let Some(sender) = sender {
            let here = Here { instance: Some(sender.process), ..outside };
            made.by_sender = effect.block(&here, &sender.transition.effect)?;
        }
        let seen = if is_kept { &bindings } else { &received.bindings };
        let here = Here { world: self.world, instance: Some(half.process), bindings: seen, model: None };
        made.body = effect.block(&here, &half.transition.effect)?;
        (made.first, made.last, made.needs) = (effect.first, effect.last, effect.needs);
        Some(made)
    }

    /// A value goes into a channel that has room, before the effect.
    fn buffered(&mut self, half: &Half<'a>, received: Received, sent: Vec<Statement>) -> Option<()> {
        let before = self.actions.len();
        self.alone(half, received, None, None)?;
        // The value is that of the guard's state: it is sent before anything changes.
        if let Some(action) = self.actions.get_mut(before) {
            let rest = core::mem::replace(&mut action.effect, sent);
            action.effect.extend(rest);
        }
        Some(())
    }

    /// Warns of names that look like misspelt variables.
    pub(super) fn unused(&mut self, process: usize, bindings: &[Binding], used_before: &[bool]) {
        for (at, binding) in bindings.iter().enumerate() {
            let is_used = binding.is_used.get() || used_before.get(at).copied().unwrap_or(false);
            if is_used || binding.name.text.starts_with('_') {
                continue;
            }
            let message = format!("`{}` is not used", binding.name.text);
            let mut problem =
                Diagnostic::warning(binding.name.span, message).label("a new name for what comes");
            let known = self.world.names.keys().chain(self.world.instances[process].names.keys());
            problem = match nearest(&binding.name.text, known.map(String::as_str)) {
                Some(near) => problem.help(format!("did you mean `{near}`? `_` is for what is not wanted")),
                None => problem.help("write `_` for what is not wanted"),
            };
            self.checker.report::<()>(problem);
        }
    }

    /// Adds an action under a name of its own; one that is never enabled is left out.
    pub(super) fn add(&mut self, mut action: Action, span: Span, is_atomic: bool) {
        if action.guard == Expression::Constant(0) {
            return;
        }
        if self.actions.len() >= MAX_ACTIONS {
            let problem = Diagnostic::error(span, format!("this model has more than {MAX_ACTIONS} actions"));
            self.checker.report::<()>(problem.label("too many here").help("smaller arrays would do"));
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
        self.atomic.push(is_atomic);
    }

    /// Actions that leave atomic states come before all others.
    fn raise_atomic(&mut self) {
        let highest = self.actions.iter().map(|action| action.priority).max().unwrap_or(0);
        for (action, is_atomic) in self.actions.iter_mut().zip(&self.atomic) {
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

/// Where a transition says what it waits for.
pub(super) fn trigger_span(transition: &Transition, otherwise: Span) -> Span {
    match &transition.trigger {
        Trigger::Send { channel, .. } | Trigger::Receive { channel, .. } => channel.span,
        Trigger::Event { name, .. } => name.span,
        Trigger::Nothing => otherwise,
    }
}

/// A priority: a small number.
pub(super) fn priority(checker: &mut Checker, here: &Here<'_>, written: &Expr) -> Option<i32> {
    let value = checker.constant(here, written)?;
    match i32::try_from(value) {
        Ok(value) if value < i32::MAX => Some(value),
        _ => {
            checker.report(Diagnostic::error(written.span, "a priority is a small number").label("too large"))
        }
    }
}

/// The variables that statements change.
pub(super) fn assigned(statements: &[Statement], found: &mut HashSet<VariableId>) {
    for statement in statements {
        match statement {
            Statement::Assign { place, .. } | Statement::Choose { place, .. } => {
                found.insert(place.variable);
            }
            Statement::If { then, otherwise, .. } => {
                assigned(then, found);
                assigned(otherwise, found);
            }
            Statement::Require(_) | Statement::Assert { .. } => {}
        }
    }
}

/// Whether statements look at a variable.
fn reads_in(statements: &[Statement], variable: VariableId) -> bool {
    let only = HashSet::from([variable]);
    statements.iter().any(|statement| match statement {
        Statement::Assign { place, value, .. } => {
            reads(value, &only) || place.index.as_ref().is_some_and(|index| reads(index, &only))
        }
        Statement::Choose { .. } => false,
        Statement::Require(condition) | Statement::Assert { condition, .. } => reads(condition, &only),
        Statement::If { condition, then, otherwise } => {
            reads(condition, &only) || reads_in(then, variable) || reads_in(otherwise, variable)
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
