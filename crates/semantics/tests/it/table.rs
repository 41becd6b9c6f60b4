//! Finite semantics and properties as tables, generators of random ones, and their reachable graphs.

use core::fmt;
use std::collections::{BTreeSet, HashSet};
use std::hash::Hash;

use invigil_semantics::{
    Accepting, Dependent, Describe, Evaluate, Fields, Language, Semantics, Step, StepRef,
};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;

/// For each configuration, by index, its enabled actions with their outcomes.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub initial: Vec<u8>,
    pub moves: Vec<Vec<(u8, Vec<u8>)>>,
    pub accepting: BTreeSet<u8>,
}

impl Language for Table {
    type Config = u8;
    type Action = u8;
}

impl Semantics for Table {
    fn initial(&self) -> impl IntoIterator<Item = u8> {
        self.initial.iter().copied()
    }

    fn actions(&self, at: &u8) -> impl IntoIterator<Item = u8> {
        self.moves[usize::from(*at)].iter().map(|(action, _)| *action)
    }

    fn execute(&self, at: &u8, action: &u8) -> impl IntoIterator<Item = u8> {
        let row = self.moves[usize::from(*at)].iter().find(|(enabled, _)| enabled == action);
        row.into_iter().flat_map(|(_, targets)| targets.iter().copied())
    }
}

/// An expression over steps of a table. Each kind reads one part of the step; one has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expr {
    True,
    Starts,
    Idles,
    Source(u8),
    Action(u8),
    Target(u8),
    Fails,
}

impl Expr {
    /// The reference value for `evaluate`.
    pub(crate) fn value(self, source: Option<u8>, action: Option<u8>, target: u8) -> Result<bool, NoValue> {
        match self {
            Expr::True => Ok(true),
            Expr::Starts => Ok(source.is_none()),
            Expr::Idles => Ok(source.is_some() && action.is_none()),
            Expr::Source(config) => Ok(source == Some(config)),
            Expr::Action(wanted) => Ok(action == Some(wanted)),
            Expr::Target(config) => Ok(target == config),
            Expr::Fails => Err(NoValue),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoValue;

impl fmt::Display for NoValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no value")
    }
}

impl std::error::Error for NoValue {}

impl Evaluate for Table {
    type Expr = Expr;
    type Error = NoValue;

    fn evaluate(&self, expr: &Expr, step: StepRef<'_, Self>) -> Result<bool, NoValue> {
        expr.value(step.source.copied(), step.action.copied(), *step.target)
    }
}

impl Accepting for Table {
    fn is_accepting(&self, at: &u8) -> bool {
        self.accepting.contains(at)
    }
}

impl Describe for Table {
    fn describe_config(&self, config: &u8) -> Fields {
        Fields::new().with("state", config)
    }

    fn describe_action(&self, action: &u8) -> String {
        format!("a{action}")
    }
}

/// A rule of a property: in configuration `at`, on a step on which `guard` is true, `action` leads to
/// `targets`. A guard without a value is false.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub initial: Vec<u8>,
    pub rules: Vec<Rule>,
    pub accepting: BTreeSet<u8>,
}

#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub at: u8,
    pub guard: Expr,
    pub targets: Vec<u8>,
}

impl Language for Rules {
    type Config = u8;
    /// The index of the rule.
    type Action = usize;
}

impl<S: Evaluate<Expr = Expr>> Dependent<S> for Rules {
    fn initial(&self, _: &S) -> impl IntoIterator<Item = u8> {
        self.initial.iter().copied()
    }

    fn actions(&self, subject: &S, step: StepRef<'_, S>, at: &u8) -> impl IntoIterator<Item = usize> {
        let holds = move |rule: &Rule| rule.at == *at && subject.evaluate(&rule.guard, step).unwrap_or(false);
        self.rules.iter().enumerate().filter(move |(_, rule)| holds(rule)).map(|(index, _)| index)
    }

    fn execute(&self, _: &S, _: StepRef<'_, S>, _: &u8, rule: &usize) -> impl IntoIterator<Item = u8> {
        self.rules[*rule].targets.iter().copied()
    }
}

impl Accepting for Rules {
    fn is_accepting(&self, at: &u8) -> bool {
        self.accepting.contains(at)
    }
}

impl Evaluate for Rules {
    /// True after a step into this configuration.
    type Expr = u8;
    type Error = NoValue;

    fn evaluate(&self, expr: &u8, step: StepRef<'_, Self>) -> Result<bool, NoValue> {
        Ok(step.target == expr)
    }
}

impl Describe for Rules {
    fn describe_config(&self, config: &u8) -> Fields {
        Fields::new().with("state", config)
    }

    fn describe_action(&self, rule: &usize) -> String {
        format!("rule {rule}")
    }
}

/// The number of actions of random tables.
pub(crate) const ACTIONS: u8 = 4;

fn subset(of: u8, at_least: usize) -> impl Strategy<Value = Vec<u8>> {
    btree_set(0..of, at_least..=usize::from(of).min(3))
        .prop_map(|set| set.into_iter().collect::<Vec<_>>())
        .prop_shuffle()
}

/// A table of up to `configs` configurations, with deadlocks and blocking actions.
pub(crate) fn table(configs: u8) -> impl Strategy<Value = Table> {
    (1..=configs).prop_flat_map(|n| {
        let row = btree_map(0..ACTIONS, subset(n, 0), 0..=3)
            .prop_map(|row| row.into_iter().collect::<Vec<_>>())
            .prop_shuffle();
        (subset(n, 1), vec(row, usize::from(n)), btree_set(0..n, 0..=usize::from(n)))
            .prop_map(|(initial, moves, accepting)| Table { initial, moves, accepting })
    })
}

pub(crate) fn expr() -> impl Strategy<Value = Expr> {
    prop_oneof![
        2 => Just(Expr::True),
        1 => Just(Expr::Starts),
        1 => Just(Expr::Idles),
        2 => (0..4u8).prop_map(Expr::Source),
        2 => (0..ACTIONS).prop_map(Expr::Action),
        4 => (0..4u8).prop_map(Expr::Target),
        1 => Just(Expr::Fails),
    ]
}

/// A property of up to three configurations and eight rules.
pub(crate) fn rules() -> impl Strategy<Value = Rules> {
    let rule = (0..3u8, expr(), subset(3, 0)).prop_map(|(at, guard, targets)| Rule { at, guard, targets });
    (subset(3, 1), vec(rule, 1..8), btree_set(0..3u8, 0..=3)).prop_map(|(initial, rules, accepting)| Rules {
        initial,
        rules,
        accepting,
    })
}

/// The reachable part of a finite semantics.
#[derive(Debug)]
pub(crate) struct Graph<C, A> {
    pub initial: Vec<C>,
    pub configs: HashSet<C>,
    pub transitions: Vec<(C, A, C)>,
}

pub(crate) fn explore<S: Semantics>(semantics: &S) -> Graph<S::Config, S::Action> {
    let initial: Vec<_> = semantics.initial().into_iter().collect();
    let mut configs: HashSet<_> = initial.iter().cloned().collect();
    let mut waiting: Vec<_> = configs.iter().cloned().collect();
    let mut transitions = Vec::new();
    while let Some(source) = waiting.pop() {
        for action in semantics.actions(&source) {
            for target in semantics.execute(&source, &action) {
                if configs.insert(target.clone()) {
                    waiting.push(target.clone());
                }
                transitions.push((source.clone(), action.clone(), target));
            }
        }
    }
    Graph { initial, configs, transitions }
}

impl<C: Clone + Eq + Hash, A> Graph<C, A> {
    /// The same graph with other names.
    pub(crate) fn rename<D: Eq + Hash, B>(
        self,
        config: impl Fn(C) -> D,
        action: impl Fn(A) -> B,
    ) -> Graph<D, B> {
        Graph {
            initial: self.initial.into_iter().map(&config).collect(),
            configs: self.configs.into_iter().map(&config).collect(),
            transitions: self
                .transitions
                .into_iter()
                .map(|(source, by, target)| (config(source), action(by), config(target)))
                .collect(),
        }
    }
}

/// Collects a sequence; fails if it has duplicates.
pub(crate) fn set<T: Eq + Hash + fmt::Debug>(elements: impl IntoIterator<Item = T>) -> HashSet<T> {
    let mut set = HashSet::new();
    for element in elements {
        assert!(!set.contains(&element), "given twice: {element:?}");
        set.insert(element);
    }
    set
}

impl<C: Eq + Hash + fmt::Debug, A: Eq + Hash + fmt::Debug> PartialEq for Graph<C, A> {
    /// Equality as sets; fails on duplicates.
    fn eq(&self, other: &Self) -> bool {
        set(&self.initial) == set(&other.initial)
            && self.configs == other.configs
            && set(&self.transitions) == set(&other.transitions)
    }
}

/// The steps of a graph, including the virtual initial ones.
pub(crate) fn steps<C: Clone, A: Clone>(graph: &Graph<C, A>) -> Vec<Step<C, A>> {
    let starts = graph.initial.iter().cloned().map(Step::initial);
    let taken = graph
        .transitions
        .iter()
        .cloned()
        .map(|(source, action, target)| Step::by_action(source, action, target));
    starts.chain(taken).collect()
}
