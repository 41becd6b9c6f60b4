//! Products of models and automata, with and without fairness, compared with a naive search that guesses how each
//! process is treated.

use invigil_explore::cycles::find_accepting_cycle;
use invigil_explore::fairness::{Fair, FairnessConstraint, Strength};
use invigil_explore::product::Product;
use invigil_explore::{IDLE, Incomplete, Limits, Path, interpreted_model, label_evaluator};
use invigil_model::{
    Action, Binary, Domain, Expression, LValue, Model, ModelParts, OmegaAutomaton, OmegaEdge, Statement,
    Step, Unary, Variable,
};
use invigil_test_support::{Rng, at_least, cases};
use std::collections::BTreeSet;

fn is(value: u64) -> Expression {
    Expression::binary(Binary::Equal, Expression::read(0), Expression::Constant(value as i64))
}

/// A model with one variable. Some actions are nondeterministic, some raise faults, some change nothing.
fn model(random: &Rng) -> Model {
    let states = 1 + random.below(4);
    let action = |number: u64| {
        let target = random.below(states);
        let effect = match random.below(10) {
            0 => vec![Statement::assign(0, Expression::Constant(states as i64))],
            1 => vec![Statement::Choose { place: LValue::scalar(0), low: 0, high: target as i64 }],
            2 => vec![Statement::Require(is(target))],
            _ => vec![Statement::assign(0, Expression::Constant(target as i64))],
        };
        Action { guard: is(random.below(states)), effect, ..Action::named(format!("a{number}")) }
    };
    let high = states as i64 - 1;
    Model::new(ModelParts {
        variables: vec![Variable::scalar("s", Domain::Integer { low: 0, high }, 0)],
        actions: (0..1 + random.below(6)).map(action).collect(),
        start: match random.one_in(4) {
            true => vec![Statement::Choose { place: LValue::scalar(0), low: 0, high }],
            false => vec![],
        },
        ..ModelParts::default()
    })
    .unwrap()
}

fn some_actions(random: &Rng, model: &Model) -> Vec<u32> {
    (0..model.parts().actions.len() as u32).filter(|_| random.one_in(2)).collect()
}

fn omega(random: &Rng, model: &Model) -> OmegaAutomaton {
    let (states, sets) = (1 + random.below(3), random.below(3) as u32);
    let label = || match random.below(14) {
        0..=4 => is(random.below(4)),
        5 | 6 => Expression::unary(Unary::Not, is(random.below(4))),
        7 => Expression::Happens(some_actions(random, model)),
        8 => Expression::Enabled(some_actions(random, model)),
        9 => Expression::Before(Box::new(is(random.below(4)))),
        10 => Expression::binary(Binary::Divide, Expression::Constant(1), is(random.below(4))),
        _ => Expression::Constant(1),
    };
    let edge = |_| OmegaEdge {
        label: label(),
        marks: (0..sets).fold(0, |all, set| all | u64::from(random.one_in(3)) << set),
        target: random.below(states) as u32,
    };
    let edges = (0..states).map(|_| (0..random.below(4)).map(edge).collect()).collect();
    OmegaAutomaton {
        name: "random".into(),
        initial: random.below(states) as u32,
        edges,
        sets,
        is_stutter_invariant: false,
    }
}

/// A configuration of the product.
type Node = (Box<[u64]>, u32);

#[derive(Clone, Debug, PartialEq)]
struct Edge {
    source: Node,
    action: Option<u32>,
    target: Node,
    marks: u64,
    /// The actions enabled in the source, including those with faults.
    enabled: Vec<u32>,
}

/// The product, computed naively from the definitions.
struct Naive<'a> {
    model: &'a Model,
    omega: &'a OmegaAutomaton,
    demands: &'a [FairnessConstraint],
    initial: Vec<Node>,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

impl<'a> Naive<'a> {
    fn new(model: &'a Model, omega: &'a OmegaAutomaton, demands: &'a [FairnessConstraint]) -> Naive<'a> {
        let mut naive = Naive { model, omega, demands, initial: vec![], nodes: vec![], edges: vec![] };
        for start in model.initial_states() {
            assert!(start.fault.is_none());
            for (at, _) in naive.read(omega.initial, Step::at(&start.words)) {
                if !naive.nodes.contains(&(start.words.clone(), at)) {
                    naive.nodes.push((start.words.clone(), at));
                }
            }
        }
        naive.initial = naive.nodes.clone();
        let mut next = 0;
        while next < naive.nodes.len() {
            let source = naive.nodes[next].clone();
            naive.expand(&source);
            next += 1;
        }
        naive
    }

    fn read(&self, at: u32, step: Step<'_>) -> Vec<(u32, u64)> {
        let edges = &self.omega.edges[at as usize];
        let transition: Result<Vec<bool>, _> =
            edges.iter().map(|edge| self.model.holds(&edge.label, step)).collect();
        let Ok(transition) = transition else { return Vec::new() };
        edges
            .iter()
            .zip(transition)
            .filter(|(_, transition)| *transition)
            .map(|(edge, _)| (edge.target, edge.marks))
            .collect()
    }

    fn expand(&mut self, source: &Node) {
        let words = &source.0;
        let outcomes = |action: &u32| self.model.outcomes(words, *action);
        let mut enabled: Vec<u32> =
            self.model.enabled(words).into_iter().filter(|action| !outcomes(action).is_empty()).collect();
        let mut found = Vec::new();
        for action in &enabled {
            for target in outcomes(action).into_iter().filter(|target| target.fault.is_none()) {
                found.push((Some(*action), target.words));
            }
        }
        // If every action raises a fault, no action is treated unfairly.
        if found.is_empty() {
            enabled.clear();
            found.push((None, words.clone()));
        }
        for (action, target) in found {
            let step = Step { source: Some(words), action, target: &target };
            for (at, marks) in self.read(source.1, step) {
                let target = (target.clone(), at);
                if !self.nodes.contains(&target) {
                    self.nodes.push(target.clone());
                }
                let (source, enabled) = (source.clone(), enabled.clone());
                self.edges.push(Edge { source, action, target, marks, enabled });
            }
        }
    }

    fn is_enabled(demand: &FairnessConstraint, edge: &Edge) -> bool {
        edge.enabled.iter().any(|action| demand.actions.contains(action))
    }

    fn is_taken(demand: &FairnessConstraint, edge: &Edge) -> bool {
        edge.action.is_some_and(|action| demand.actions.contains(&action))
    }

    /// Whether an execution that repeats exactly these steps is accepted and fair.
    fn is_accepted(&self, edges: &[&Edge]) -> bool {
        let marks = edges.iter().fold(0, |all, edge| all | edge.marks);
        let is_fair = |demand: &FairnessConstraint| match demand.strength {
            Strength::Weak => {
                edges.iter().any(|edge| !Self::is_enabled(demand, edge) || Self::is_taken(demand, edge))
            }
            Strength::Strong => {
                edges.iter().all(|edge| !Self::is_enabled(demand, edge))
                    || edges.iter().any(|edge| Self::is_taken(demand, edge))
            }
        };
        (0..self.omega.sets).all(|set| marks >> set & 1 == 1) && self.demands.iter().all(is_fair)
    }

    fn has_cycle(&self) -> bool {
        let strong: Vec<&FairnessConstraint> =
            self.demands.iter().filter(|demand| demand.strength == Strength::Strong).collect();
        // Guesses the actions that are enabled only finitely often.
        (0u32..1 << strong.len()).any(|guess| {
            let is_idle = |edge: &Edge| {
                let mut idle = strong.iter().enumerate().filter(|(at, _)| guess >> at & 1 == 1);
                idle.all(|(_, demand)| !Self::is_enabled(demand, edge))
            };
            let open: Vec<&Edge> = self.edges.iter().filter(|edge| is_idle(edge)).collect();
            self.nodes.iter().any(|node| {
                let from = reached(node, &open, |edge| (&edge.source, &edge.target));
                let to = reached(node, &open, |edge| (&edge.target, &edge.source));
                let both: BTreeSet<&Node> = from.intersection(&to).copied().collect();
                let inside = |edge: &&&Edge| both.contains(&edge.source) && both.contains(&edge.target);
                let round: Vec<&Edge> = open.iter().filter(inside).copied().collect();
                !round.is_empty() && self.is_accepted(&round)
            })
        })
    }

    /// Whether the path belongs to the product, is accepted and fair.
    fn replays(&self, path: &[Node], actions: &[Option<u32>], to: usize) -> bool {
        assert!(self.initial.contains(&path[0]));
        let mut round = Vec::new();
        for (at, action) in actions.iter().enumerate() {
            let target = path.get(at + 1).unwrap_or(&path[to]);
            let is_taken =
                |edge: &&Edge| edge.source == path[at] && edge.action == *action && edge.target == *target;
            let transition: Vec<&Edge> = self.edges.iter().filter(is_taken).collect();
            assert!(!transition.is_empty(), "step {at} is none of the product");
            if at >= to {
                round.extend(transition);
            }
        }
        self.is_accepted(&round)
    }
}

fn reached<'e>(
    from: &'e Node,
    edges: &[&'e Edge],
    ends: impl Fn(&'e Edge) -> (&'e Node, &'e Node),
) -> BTreeSet<&'e Node> {
    let mut reached = BTreeSet::from([from]);
    loop {
        let before = reached.len();
        for edge in edges {
            let (source, target) = ends(edge);
            if reached.contains(source) {
                reached.insert(target);
            }
        }
        if reached.len() == before {
            return reached;
        }
    }
}

/// The path, projected to the model as for display.
fn is_run(model: &Model, path: &Path) {
    let (to, by) = path.loop_back.unwrap();
    assert!(model.initial_states().iter().any(|start| start.words == path.states[0]));
    let actions = path.actions.iter().copied().map(Some).chain([by]);
    for (at, action) in actions.enumerate() {
        let target = path.states.get(at + 1).unwrap_or(&path.states[to]);
        match action {
            Some(action) => {
                assert!(model.enabled(&path.states[at]).contains(&action));
                assert!(model.outcomes(&path.states[at], action).iter().any(|out| out.words == *target));
            }
            None => {
                assert_eq!((at, to), (path.states.len() - 1, path.states.len() - 1));
                let outcomes = |action: &u32| model.outcomes(&path.states[at], *action);
                let nothing = |action: &u32| outcomes(action).iter().all(|out| out.fault.is_some());
                assert!(model.enabled(&path.states[at]).iter().all(nothing));
            }
        }
    }
}

fn compare(
    seed: u64,
    repetitions: usize,
    demands: impl Fn(&Rng, &Model) -> Vec<FairnessConstraint>,
) -> usize {
    let random = Rng::new(seed);
    let mut found = 0;
    for _ in 0..cases(repetitions) {
        let model = model(&random);
        let omega = omega(&random, &model);
        let demands = demands(&random, &model);
        let naive = Naive::new(&model, &omega, &demands);
        let space = Fair::new(interpreted_model::InterpretedModel::new(&model, vec![]), &demands).unwrap();
        let spare = if random.one_in(2) { model.layout().spare } else { 0 };
        let product =
            Product::new(space, label_evaluator::InterpretedLabels { model: &model, omega: &omega }, spare)
                .unwrap();
        let result = find_accepting_cycle(&product, &Limits::default(), &());
        let Some(path) = &result.path else {
            assert_eq!(result.incomplete, None);
            assert!(!naive.has_cycle(), "{model:#?} {omega:#?} {demands:?}");
            let totals = (result.totals.states, result.totals.transitions);
            assert_eq!(totals, (naive.nodes.len() as u64, naive.edges.len() as u64));
            continue;
        };
        found += 1;
        assert_eq!(result.incomplete, Some(Incomplete::Found));
        let nodes: Vec<Node> = path.states.iter().map(|state| product.split(state)).collect();
        let (to, by) = path.loop_back.unwrap();
        let actions = path.actions.iter().map(|action| (*action != IDLE).then_some(*action)).chain([by]);
        assert!(
            naive.replays(&nodes, &actions.collect::<Vec<_>>(), to),
            "{model:#?} {omega:#?} {demands:?} {path:?}"
        );
        is_run(&model, &product.subject_path(path));
    }
    found
}

#[test]
fn product_search_agrees_with_naive_search() {
    let found = compare(0x1234_5678_9abc_def1, 1500, |_, _| Vec::new());
    assert!(found > at_least(200) && found < cases(1300), "{found}");
}

#[test]
fn fair_product_search_agrees_with_naive_search() {
    let found = compare(0xfeed_5678_9abc_def1, 2500, |random, model| {
        let demand = |_| FairnessConstraint {
            actions: some_actions(random, model),
            strength: if random.one_in(3) { Strength::Weak } else { Strength::Strong },
        };
        (0..random.below(4)).map(demand).collect()
    });
    assert!(found > at_least(200) && found < cases(2000), "{found}");
}

#[test]
fn too_many_fairness_constraints_are_rejected() {
    let random = Rng::new(99);
    let model = model(&random);
    let demand = |strength| FairnessConstraint { actions: vec![0], strength };
    let weak = vec![demand(Strength::Weak); 64];
    let strong = vec![demand(Strength::Strong); 33];
    let space = || interpreted_model::InterpretedModel::new(&model, vec![]);
    assert!(Fair::new(space(), &weak).is_ok());
    let error = Fair::new(space(), &strong).err().unwrap();
    assert!(error.to_string().contains("need 66 acceptance marks, but at most 64 are supported"));
    let edges = vec![vec![OmegaEdge { label: Expression::Constant(1), marks: 1, target: 0 }]];
    let omega =
        OmegaAutomaton { name: String::new(), initial: 0, edges, sets: 1, is_stutter_invariant: false };
    let reading = || label_evaluator::InterpretedLabels { model: &model, omega: &omega };
    let fair = |count: usize| Fair::new(space(), &weak[..count]).unwrap();
    assert_eq!(Product::new(fair(64), reading(), 0).err().unwrap().needed, 65);
    // With one constraint less, all marks are used.
    let product = Product::new(fair(63), reading(), 0).unwrap();
    assert!(find_accepting_cycle(&product, &Limits::default(), &()).path.is_some());
}
