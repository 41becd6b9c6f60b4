//! Compares bulk scheduling with the operators of the semantic interface.

use invigil_explore::interpreted_model::InterpretedModel;
use invigil_explore::scheduled::{Actor, Filter, Scheduled, Scheduler, SchedulerConfig};
use invigil_explore::{StateSpace, Successors};
use invigil_model::{
    Action, Binary, Domain, Expression, Model, ModelParts, Side, State, Statement, Variable,
};
use invigil_semantics::{
    Binding, Compose, FixedPriority, Interleave, Language, Only, ReactiveHypothesis, RoundRobin,
    SchedulingPolicy, SeededRandom, Semantics,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;

/// A graph up to the names of its nodes: for each node in breadth-first order, its successors and whether it is
/// initial.
fn shape<C: Clone + Eq + Hash>(starts: Vec<C>, next: impl Fn(&C) -> Vec<(u32, C)>) -> Vec<Vec<(u32, usize)>> {
    let mut numbers: HashMap<C, usize> = HashMap::new();
    let mut order: Vec<C> = Vec::new();
    let number = |config: C, order: &mut Vec<C>, numbers: &mut HashMap<C, usize>| {
        *numbers.entry(config.clone()).or_insert_with(|| {
            order.push(config);
            order.len() - 1
        })
    };
    let mut graph = vec![Vec::new()];
    for start in starts {
        let at = number(start, &mut order, &mut numbers);
        graph[0].push((u32::MAX, at));
    }
    let mut at = 0;
    while at < order.len() {
        let edges: Vec<_> = next(&order[at].clone())
            .into_iter()
            .map(|(action, target)| (action, number(target, &mut order, &mut numbers)))
            .collect();
        graph.push(edges);
        at += 1;
    }
    graph
}

fn of_space(space: &impl StateSpace) -> Vec<Vec<(u32, usize)>> {
    let all = |out: &Successors| -> Vec<(u32, Vec<u64>)> {
        (0..out.len()).map(|at| (out.transitions[at].action, out.state(at, space.width()).to_vec())).collect()
    };
    let mut out = Successors::default();
    space.initial(&mut out);
    shape(all(&out).into_iter().map(|(_, state)| state).collect(), |state| {
        let mut out = Successors::default();
        space.successors(state, &mut out);
        all(&out)
    })
}

fn of_semantics<S: Semantics>(subject: &S, id: impl Fn(&S::Action) -> u32) -> Vec<Vec<(u32, usize)>> {
    shape(subject.initial().into_iter().collect(), |config| {
        subject.steps(config).into_iter().map(|(action, target)| (id(&action), target)).collect()
    })
}

/// A small model: counters, each of a unit, with guards on other counters.
#[derive(Clone, Debug)]
struct Sketch {
    limits: Vec<i64>,
    actions: Vec<(usize, usize, i64, bool)>,
}

fn sketch() -> impl Strategy<Value = Sketch> {
    let limits = proptest::collection::vec(1..3_i64, 1..4);
    (limits, proptest::collection::vec((0..4_usize, 0..4_usize, 0..3_i64, any::<bool>()), 1..6))
        .prop_map(|(limits, actions)| Sketch { limits, actions })
}

fn model(sketch: &Sketch) -> (Model, Vec<Actor>) {
    let count = sketch.limits.len();
    let variables = sketch
        .limits
        .iter()
        .enumerate()
        .map(|(at, high)| Variable::scalar(format!("v{at}"), Domain::Integer { low: 0, high: *high }, 0))
        .collect();
    let mut actors = Vec::new();
    let actions = sketch
        .actions
        .iter()
        .enumerate()
        .map(|(at, (target, other, bound, is_system))| {
            let (target, other) = ((target % count) as u32, (other % count) as u32);
            actors.push(Actor { process: Some(target), is_system: *is_system });
            let limit = sketch.limits[target as usize];
            let up = Expression::binary(Binary::Add, Expression::read(target), Expression::Constant(1));
            let round = Expression::binary(Binary::Remainder, up, Expression::Constant(limit + 1));
            Action {
                guard: Expression::binary(
                    Binary::LessOrEqual,
                    Expression::read(other),
                    Expression::Constant(*bound),
                ),
                effect: vec![Statement::assign(target, round)],
                side: if *is_system { Side::System } else { Side::Environment },
                ..Action::named(format!("a{at}"))
            }
        })
        .collect();
    (Model::new(ModelParts { variables, actions, ..ModelParts::default() }).unwrap(), actors)
}

/// A generator with few states, so that a random schedule has a finite graph.
struct Coin;

impl<C, A> SchedulingPolicy<C, A> for Coin {
    type State = u64;
    fn initial(&self) -> u64 {
        7
    }
    fn choose<'a>(&self, state: &u64, _: &C, enabled: &'a [A]) -> Option<(&'a A, u64)> {
        let (action, next) = SeededRandom { seed: 7 }.choose(state, &(), enabled)?;
        Some((action, next))
    }
}

proptest! {
    #[test]
    fn scheduled_space_agrees_with_operators(sketch in sketch(), reactive: bool) {
        let (model, actors) = model(&sketch);
        let is_system = |action: &u32| actors[*action as usize].is_system;
        let process = |action: &u32| actors[*action as usize].process.unwrap();
        let filters = if reactive { vec![Filter::Reactive] } else { Vec::new() };
        let order: Vec<u32> = (0..4).rev().collect();

        // Only a filter.
        let config = SchedulerConfig { scheduler: None, filters: filters.clone() };
        let ours = of_space(&Scheduled::new(InterpretedModel::new(&model, Vec::new()), &actors, &config));
        if reactive {
            let theirs = of_semantics(&(&model).filtered(ReactiveHypothesis { is_system }), |(action, ())| *action);
            prop_assert_eq!(ours, theirs);
        } else {
            prop_assert_eq!(ours, of_semantics(&model, |action| *action));
        }

        // Fixed priority, highest number first.
        let config = SchedulerConfig { scheduler: Some(Scheduler::FixedPriority(order)), filters: filters.clone() };
        let ours = of_space(&Scheduled::new(InterpretedModel::new(&model, Vec::new()), &actors, &config));
        let policy = Only { selector: is_system, policy: FixedPriority::new(process) };
        let scheduled = (&model).scheduled(policy);
        if reactive {
            let filter = ReactiveHypothesis { is_system: |action: &(u32, ())| is_system(&action.0) };
            prop_assert_eq!(ours, of_semantics(&scheduled.filtered(filter), |((action, ()), ())| *action));
        } else {
            prop_assert_eq!(ours, of_semantics(&scheduled, |(action, ())| *action));
        }

        // Round robin.
        let config = SchedulerConfig { scheduler: Some(Scheduler::RoundRobin), filters };
        let ours = of_space(&Scheduled::new(InterpretedModel::new(&model, Vec::new()), &actors, &config));
        let scheduled = (&model).scheduled(Only { selector: is_system, policy: RoundRobin::new(process) });
        if reactive {
            let filter = ReactiveHypothesis { is_system: |action: &(u32, Option<u32>)| is_system(&action.0) };
            prop_assert_eq!(ours, of_semantics(&scheduled.filtered(filter), |((action, _), ())| *action));
        } else {
            prop_assert_eq!(ours, of_semantics(&scheduled, |(action, _)| *action));
        }
    }

    #[test]
    fn decoupled_environment_preserves_behaviour(sketch in sketch()) {
        let (model, actors) = model(&sketch);
        let is_system = |action: &u32| actors[*action as usize].is_system;
        let process = |action: &u32| actors[*action as usize].process.unwrap();
        let config = SchedulerConfig { scheduler: Some(Scheduler::RoundRobin), filters: Vec::new() };
        let together = of_space(&Scheduled::new(InterpretedModel::new(&model, Vec::new()), &actors, &config));
        let system = OneSide { model: &model, is_here: is_system };
        let environment = OneSide { model: &model, is_here: |action: &u32| !is_system(action) };
        let apart = Interleave {
            left: system.scheduled(RoundRobin::new(process)),
            right: environment,
            binding: Shared,
        };
        let apart = of_semantics(&apart, |action| match action {
            invigil_semantics::Either::Left((action, _)) => *action,
            invigil_semantics::Either::Right(action) => *action,
        });
        prop_assert_eq!(together, apart);
    }
}

/// The actions of one side of a model.
struct OneSide<'a, F> {
    model: &'a Model,
    is_here: F,
}

impl<F> Language for OneSide<'_, F> {
    type Config = State;
    type Action = u32;
}

impl<F: Fn(&u32) -> bool> Semantics for OneSide<'_, F> {
    fn initial(&self) -> impl IntoIterator<Item = State> {
        self.model.initial()
    }
    fn actions(&self, at: &State) -> impl IntoIterator<Item = u32> {
        self.model.actions(at).into_iter().filter(|action| (self.is_here)(action)).collect::<Vec<_>>()
    }
    fn execute(&self, at: &State, action: &u32) -> impl IntoIterator<Item = State> {
        self.model.execute(at, action)
    }
}

/// Both sides see all variables.
struct Shared;

impl<P> Binding<(State, P), State> for Shared {
    type Shared = State;
    fn left(&self, config: &(State, P)) -> State {
        config.0.clone()
    }
    fn right(&self, config: &State) -> State {
        config.clone()
    }
    fn set_left(&self, config: &mut (State, P), shared: State) {
        config.0 = shared;
    }
    fn set_right(&self, config: &mut State, shared: State) {
        *config = shared;
    }
}

#[test]
fn random_scheduler_is_determined_by_seed() {
    let sketch = Sketch { limits: vec![2, 2], actions: vec![(0, 0, 9, true), (1, 1, 9, true)] };
    let (model, actors) = model(&sketch);
    let run = |seed| {
        let config = SchedulerConfig { scheduler: Some(Scheduler::Random(seed)), filters: Vec::new() };
        let space = Scheduled::new(InterpretedModel::new(&model, Vec::new()), &actors, &config);
        let mut out = Successors::default();
        space.initial(&mut out);
        let mut transition = Vec::new();
        for _ in 0..40 {
            let state = out.state(0, space.width()).to_vec();
            out.clear();
            space.successors(&state, &mut out);
            assert_eq!(out.len(), 1, "a scheduler leaves one");
            transition.push(out.transitions[0].action);
        }
        transition
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    let counted = run(1).into_iter().fold(BTreeMap::new(), |mut counted: BTreeMap<u32, u32>, action| {
        *counted.entry(action).or_default() += 1;
        counted
    });
    assert_eq!(
        counted.keys().copied().collect::<BTreeSet<_>>(),
        BTreeSet::from([0, 1]),
        "both get their turn"
    );
    let drawn = (&model).scheduled(Coin);
    let mut at = drawn.initial().into_iter().next().unwrap();
    for action in run(7) {
        let (by, next) = drawn.steps(&at).into_iter().next().unwrap();
        assert_eq!(by.0, action, "the same draws as the operator's");
        at = next;
    }
}
