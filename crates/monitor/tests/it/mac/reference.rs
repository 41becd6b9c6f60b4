//! Reference semantics of scripts: evaluates the defining tables over the whole history.

use crate::mac::java_arithmetic;
use crate::mac::script::{E, Reaction, Script, Val, X};
use invigil_monitor::mac::{Binary, Truth, Unary};
use std::cell::RefCell;
use std::collections::HashMap;

/// Inputs of one instant.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) time: i64,
    pub(crate) update: Option<(usize, Option<Val>)>,
    pub(crate) start: Option<(usize, Vec<Option<Val>>)>,
    pub(crate) end: Option<(usize, Vec<Option<Val>>, Option<Val>)>,
    pub(crate) gone: Vec<usize>,
    pub(crate) changed: Option<(usize, Option<Val>)>,
    /// For each imported event its values, if it occurs.
    pub(crate) events: Vec<Option<Vec<Option<Val>>>>,
    /// The value of every imported condition.
    pub(crate) conditions: Vec<Truth>,
}

/// A value or none; `true` if there is none because of a fault.
pub(crate) type Got = Result<Val, bool>;

/// The reader of a value: decides which value an unprimed variable has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A definition or an update, by its node in the dependency graph.
    Node(usize),
    /// A property or an alarm, or a condition evaluated for one.
    After,
}

type Key = (&'static str, usize, usize, bool);

pub(crate) struct Tables<'s> {
    pub(crate) script: &'s Script,
    pub(crate) worlds: Vec<World>,
    events: Vec<Option<&'s E>>,
    conditions: Vec<Option<&'s X>>,
    updates: Vec<(usize, &'s Reaction)>,
    /// Reachability in the dependency graph.
    reach: Vec<Vec<bool>>,
    values: RefCell<HashMap<Key, Got>>,
    presence: RefCell<HashMap<Key, bool>>,
}

impl<'s> Tables<'s> {
    pub(crate) fn new(script: &'s Script, worlds: Vec<World>) -> Tables<'s> {
        let updates = script.guards.iter().flat_map(|guard| guard.actions.iter().map(|a| (guard.event, a)));
        let mut tables = Tables {
            script,
            worlds,
            events: script.events(),
            conditions: script.conditions(),
            updates: updates.collect(),
            reach: Vec::new(),
            values: RefCell::default(),
            presence: RefCell::default(),
        };
        let nodes = tables.node_count();
        tables.reach = closure((0..nodes).map(|node| tables.needs(node, |_, _| true)).collect());
        tables
    }

    // Dependency graph: events, conditions, updates, auxiliary variables.

    fn condition_node(&self, at: usize) -> usize {
        self.events.len() + at
    }

    fn update_node(&self, at: usize) -> usize {
        self.events.len() + self.conditions.len() + at
    }

    fn auxiliary_node(&self, at: usize) -> usize {
        self.update_node(self.updates.len()) + at
    }

    fn node_count(&self) -> usize {
        self.auxiliary_node(self.script.auxiliaries.len())
    }

    /// The dependencies of a node; `soft` decides about unprimed variables, by node and variable.
    fn needs(&self, node: usize, soft: impl Fn(usize, usize) -> bool) -> Vec<usize> {
        let mut found = Vec::new();
        let mut after = |x: Found| match x {
            Found::Event(at) => found.push(at),
            Found::Condition(at) => found.push(self.condition_node(at)),
            Found::Auxiliary(at, true) => found.push(self.auxiliary_node(at)),
            Found::Auxiliary(at, false) => {
                let is_update = node >= self.update_node(0);
                if !is_update && soft(node, at) {
                    found.push(self.auxiliary_node(at));
                }
            }
        };
        if node < self.events.len() {
            self.events[node].into_iter().for_each(|e| in_event(e, &mut after));
        } else if node < self.update_node(0) {
            self.conditions[node - self.events.len()].into_iter().for_each(|x| in_expr(x, &mut after));
        } else if node < self.auxiliary_node(0) {
            let (event, action) = self.updates[node - self.update_node(0)];
            after(Found::Event(event));
            match action {
                Reaction::Assign(_, x) | Reaction::Print(x) => in_expr(x, &mut after),
            }
        } else {
            let variable = node - self.auxiliary_node(0);
            for (at, (_, action)) in self.updates.iter().enumerate() {
                if matches!(action, Reaction::Assign(to, _) if *to == variable) {
                    found.push(self.update_node(at));
                }
            }
        }
        found
    }

    fn together(&self, a: usize, b: usize) -> bool {
        a == b || self.reach[a][b] && self.reach[b][a]
    }

    /// Whether there is a cycle even if all readers that can use old values do.
    pub(crate) fn cyclic(&self) -> bool {
        let soft = |node, variable| !self.together(node, self.auxiliary_node(variable));
        let nodes = (0..self.node_count()).map(|node| self.needs(node, soft)).collect();
        closure(nodes).iter().enumerate().any(|(node, reach)| reach[node])
    }

    // Table 4.2.

    pub(crate) fn value(&self, x: &X, t: usize, who: Reader) -> Got {
        match x {
            X::Const(value) => Ok(value.clone()),
            X::Undefined => Err(false),
            X::Var(at) => self.variable(*at, t).ok_or(false),
            X::Now => Ok(Val::Long(self.worlds[t].time)),
            X::Aux { variable, primed } => {
                let old = match who {
                    _ if *primed => false,
                    Reader::After => false,
                    Reader::Node(node) => {
                        node >= self.update_node(0) || self.together(node, self.auxiliary_node(*variable))
                    }
                };
                if old { self.old(*variable, t) } else { self.new_value(*variable, t) }
            }
            X::Cond(at) => match who {
                Reader::Node(node) if self.together(node, self.condition_node(*at)) => {
                    self.condition(*at, t, Reader::Node(self.condition_node(*at)))
                }
                _ => self.condition(*at, t, Reader::After),
            },
            X::Un(Unary::Not, a) => self.value(a, t, who).map(|a| java_arithmetic::unary(Unary::Not, &a)),
            X::Un(operator, a) => self.value(a, t, who).map(|a| java_arithmetic::unary(*operator, &a)),
            X::Bin(operator, a, b) => {
                let (a, b) = (self.value(a, t, who), self.value(b, t, who));
                let is_condition = |x: &Got| !matches!(x, Ok(v) if !matches!(v, Val::Bool(_)));
                match operator {
                    Binary::Or => or(a, b),
                    Binary::And => not(or(not(a), not(b))),
                    Binary::Implies => or(not(a), b),
                    // On conditions they equal the logical operators; so do undefined operands on both sides.
                    Binary::BitOr if is_condition(&a) && is_condition(&b) => or(a, b),
                    Binary::BitAnd if is_condition(&a) && is_condition(&b) => not(or(not(a), not(b))),
                    _ => match (a, b) {
                        (Ok(a), Ok(b)) => java_arithmetic::binary(*operator, &a, &b).ok_or(true),
                        (a, b) => Err(a == Err(true) || b == Err(true)),
                    },
                }
            }
            X::Join(a, b) => match (self.value(a, t, who), self.value(b, t, who)) {
                (Err(true), _) | (_, Err(true)) => Err(true),
                (a, b) => {
                    let show = |x: Got| x.map_or("undefined".into(), |x| java_arithmetic::show(&x));
                    let text = show(a) + &show(b);
                    if text.len() > 65_536 { Err(true) } else { Ok(Val::Text(text)) }
                }
            },
            X::Cast(ty, a) => self.value(a, t, who).map(|a| java_arithmetic::cast(*ty, &a)),
            X::Choose(c, a, b) => match self.value(c, t, who)? {
                Val::Bool(true) => self.value(a, t, who),
                _ => self.value(b, t, who),
            },
            X::Defined(a) => Ok(Val::Bool(self.value(a, t, who).is_ok())),
            X::Inside(at) => {
                let mut depth = 0i32;
                for world in &self.worlds[..=t] {
                    if world.start.as_ref().is_some_and(|(method, _)| method == at) {
                        depth += 1;
                    }
                    if world.end.as_ref().is_some_and(|(method, _, _)| method == at) {
                        depth = (depth - 1).max(0);
                    }
                }
                Ok(Val::Bool(depth > 0))
            }
            X::Interval(e1, e2) => Ok(Val::Bool(
                (0..=t).any(|t0| self.happens(e1, t0, who) && (t0..=t).all(|t1| !self.happens(e2, t1, who))),
            )),
            X::Time(e) => {
                let last = (0..=t).rev().find(|t0| self.happens(e, *t0, who)).ok_or(false)?;
                Ok(Val::Long(self.worlds[last].time))
            }
            X::Value(e, index) => {
                let last = (0..=t).rev().find(|t0| self.happens(e, *t0, who)).ok_or(false)?;
                self.carried(e, last)[*index as usize].clone().ok_or(false)
            }
        }
    }

    // Table 4.3.

    pub(crate) fn happens(&self, e: &E, t: usize, who: Reader) -> bool {
        let world = &self.worlds[t];
        match e {
            E::Named(at) => self.event(*at, t),
            E::Update(at) => world.update.as_ref().is_some_and(|(variable, _)| variable == at),
            E::StartM(at) => world.start.as_ref().is_some_and(|(method, _)| method == at),
            E::EndM(at) => world.end.as_ref().is_some_and(|(method, _, _)| method == at),
            E::Boundary(at) => self.happens(&E::StartM(*at), t, who) || self.happens(&E::EndM(*at), t, who),
            E::Start(c) => self.models(c, t, who) && !(t > 0 && self.models(c, t - 1, who)),
            E::End(c) => !self.models(c, t, who) && t > 0 && self.models(c, t - 1, who),
            E::Both(a, b) => self.happens(a, t, who) && self.happens(b, t, who),
            E::Either(a, b) => self.happens(a, t, who) || self.happens(b, t, who),
            E::When(e, c) => self.happens(e, t, who) && self.models(c, t, who),
        }
    }

    fn models(&self, c: &X, t: usize, who: Reader) -> bool {
        self.value(c, t, who) == Ok(Val::Bool(true))
    }

    pub(crate) fn truth(&self, c: &X, t: usize, who: Reader) -> Truth {
        match self.value(c, t, who) {
            Ok(value) => Truth::from(value == Val::Bool(true)),
            Err(_) => Truth::Undefined,
        }
    }

    fn variable(&self, at: usize, t: usize) -> Option<Val> {
        for world in self.worlds[..=t].iter().rev() {
            if world.gone.contains(&at) {
                return None;
            }
            for (variable, value) in world.update.iter().chain(&world.changed) {
                if *variable == at {
                    return value.clone();
                }
            }
        }
        None
    }

    /// A named event.
    pub(crate) fn event(&self, at: usize, t: usize) -> bool {
        let Some(definition) = self.events[at] else { return self.worlds[t].events[at].is_some() };
        let key = ("event", at, t, false);
        if let Some(known) = self.presence.borrow().get(&key) {
            return *known;
        }
        let happens = self.happens(definition, t, Reader::Node(at));
        self.presence.borrow_mut().insert(key, happens);
        happens
    }

    /// A named condition. Its faults are reported only for itself.
    pub(crate) fn condition(&self, at: usize, t: usize, who: Reader) -> Got {
        let Some(definition) = self.conditions[at] else {
            return match self.worlds[t].conditions[at] {
                Truth::Undefined => Err(false),
                known => Ok(Val::Bool(known == Truth::True)),
            };
        };
        let key = ("condition", at, t, who == Reader::After);
        if let Some(known) = self.values.borrow().get(&key) {
            return known.clone();
        }
        let value = self.value(definition, t, who).map_err(|_| false);
        self.values.borrow_mut().insert(key, value.clone());
        value
    }

    /// The values of an occurring event.
    pub(crate) fn carried(&self, e: &E, t: usize) -> Vec<Option<Val>> {
        let world = &self.worlds[t];
        let padded = |values: &[Option<Val>], count: usize| {
            let mut values = values.to_vec();
            values.resize(count, None);
            values
        };
        match e {
            E::Named(at) => match self.events[*at] {
                Some(definition) => self.carried(definition, t),
                None => world.events[*at].clone().unwrap_or_default(),
            },
            E::Update(at) => vec![self.variable(*at, t)],
            E::StartM(at) => {
                let count = self.script.methods[*at].0.len();
                world.start.as_ref().map_or(Vec::new(), |(_, values)| padded(values, count))
            }
            E::EndM(at) => {
                let (parameters, result) = &self.script.methods[*at];
                world.end.as_ref().map_or(Vec::new(), |(_, values, got)| {
                    let mut values = padded(values, parameters.len());
                    values.extend(result.map(|_| got.clone()));
                    values
                })
            }
            E::When(e, _) => self.carried(e, t),
            _ => Vec::new(),
        }
    }

    // Auxiliary variables.

    pub(crate) fn old(&self, variable: usize, t: usize) -> Got {
        match t {
            0 => self.script.auxiliaries[variable].1.clone().ok_or(false),
            t => self.new_value(variable, t - 1),
        }
    }

    pub(crate) fn new_value(&self, variable: usize, t: usize) -> Got {
        let key = ("new", variable, t, false);
        if let Some(known) = self.values.borrow().get(&key) {
            return known.clone();
        }
        let set = self.updates.iter().enumerate().rev().find_map(|(at, (event, action))| match action {
            Reaction::Assign(to, x) if *to == variable && self.event(*event, t) => Some((at, x)),
            _ => None,
        });
        let value = match set {
            Some((at, x)) => {
                let value = self.value(x, t, Reader::Node(self.update_node(at)));
                value
                    .map(|value| java_arithmetic::cast(self.script.auxiliaries[variable].0, &value))
                    .map_err(|_| false)
            }
            None => self.old(variable, t),
        };
        self.values.borrow_mut().insert(key, value.clone());
        value
    }

    /// What guards print at an instant.
    pub(crate) fn printed(&self, t: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for (at, (event, action)) in self.updates.iter().enumerate() {
            if let Reaction::Print(x) = action
                && self.event(*event, t)
            {
                let value = self.value(x, t, Reader::Node(self.update_node(at)));
                lines.push(value.map_or("undefined".into(), |value| java_arithmetic::show(&value)));
            }
        }
        lines
    }
}

fn not(a: Got) -> Got {
    a.map(|a| Val::Bool(a == Val::Bool(false)))
}

fn or(a: Got, b: Got) -> Got {
    let yes = Ok(Val::Bool(true));
    if a == yes || b == yes {
        return yes;
    }
    match (a, b) {
        (Ok(_), Ok(_)) => Ok(Val::Bool(false)),
        (a, b) => Err(a == Err(true) || b == Err(true)),
    }
}

enum Found {
    Event(usize),
    Condition(usize),
    Auxiliary(usize, bool),
}

fn in_expr(x: &X, found: &mut impl FnMut(Found)) {
    match x {
        X::Const(_) | X::Undefined | X::Var(_) | X::Now | X::Inside(_) => {}
        X::Aux { variable, primed } => found(Found::Auxiliary(*variable, *primed)),
        X::Cond(at) => found(Found::Condition(*at)),
        X::Un(_, a) | X::Cast(_, a) | X::Defined(a) => in_expr(a, found),
        X::Bin(_, a, b) | X::Join(a, b) => {
            in_expr(a, found);
            in_expr(b, found);
        }
        X::Choose(c, a, b) => [c, a, b].into_iter().for_each(|x| in_expr(x, found)),
        X::Interval(a, b) => {
            in_event(a, found);
            in_event(b, found);
        }
        X::Time(e) | X::Value(e, _) => in_event(e, found),
    }
}

fn in_event(e: &E, found: &mut impl FnMut(Found)) {
    match e {
        E::Named(at) => found(Found::Event(*at)),
        E::Update(_) | E::StartM(_) | E::EndM(_) | E::Boundary(_) => {}
        E::Start(c) | E::End(c) => in_expr(c, found),
        E::Both(a, b) | E::Either(a, b) => {
            in_event(a, found);
            in_event(b, found);
        }
        E::When(e, c) => {
            in_event(e, found);
            in_expr(c, found);
        }
    }
}

/// Reachability by paths of at least one step.
fn closure(needs: Vec<Vec<usize>>) -> Vec<Vec<bool>> {
    let count = needs.len();
    let mut reach = vec![vec![false; count]; count];
    for (from, needs) in needs.iter().enumerate() {
        needs.iter().for_each(|to| reach[from][*to] = true);
    }
    for by in 0..count {
        for from in 0..count {
            for to in 0..count {
                reach[from][to] |= reach[from][by] && reach[by][to];
            }
        }
    }
    reach
}
