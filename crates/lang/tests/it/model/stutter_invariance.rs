//! Formulas on reduced models, compared with full ones: if an automaton is invariant under stuttering, the order of
//! independent steps may be ignored.

use invigil_explore::cycles::{CycleSearchResult, find_accepting_cycle};
use invigil_explore::interpreted_model::InterpretedModel;
use invigil_explore::partial_order::{PartialOrderReduction, Reduced};
use invigil_explore::product::Product;
use invigil_explore::{Limits, SearchOptions, StateSpace, bfs, label_evaluator};
use invigil_expr::diag::SourceId;
use invigil_lang::model::never_claim;
use invigil_model::{
    Action, Binary, Domain, Expression, Location, Model, ModelParts, Move, OmegaAutomaton, Process, Side,
    Statement, Variable,
};
use invigil_test_support::{Rng, at_least, cases};

const PROCESSES: u32 = 3;
const LOCATIONS: u32 = 4;
/// The variables of the processes, and two that are shared.
const VARIABLES: u32 = PROCESSES + 2;

fn model(random: &Rng) -> Model {
    let actions = (0..3 + random.below(12)).map(|at| action(random, at)).collect();
    with(actions)
}

/// The processes with these actions.
fn with(actions: Vec<Action>) -> Model {
    let names = |count: u32| (0..count).map(|at| format!("l{at}")).collect::<Vec<_>>();
    let number = |at| Variable::scalar(format!("v{at}"), Domain::Integer { low: 0, high: 2 }, 0);
    let mut variables: Vec<Variable> = (0..VARIABLES).map(number).collect();
    let place = |at| Variable::scalar(format!("P{at}.location"), Domain::Names(names(LOCATIONS)), 0);
    variables.extend((0..PROCESSES).map(place));
    let locations = || names(LOCATIONS).into_iter().map(|name| Location { name, is_committed: false });
    let process = |at| Process {
        name: format!("P{at}"),
        locations: locations().collect(),
        location: VARIABLES + at,
        side: Side::System,
    };
    let processes = (0..PROCESSES).map(process).collect();
    Model::new(ModelParts { variables, processes, actions, ..ModelParts::default() }).expect("a model")
}

/// Actions mostly use local variables. Some raise faults.
fn action(random: &Rng, at: u32) -> Action {
    let process = random.below(PROCESSES);
    let from = random.below(LOCATIONS);
    let to = if random.one_in(4) { random.below(LOCATIONS) } else { (from + 1) % LOCATIONS };
    let mut moves = vec![Move { process, from, to }];
    if random.one_in(10) {
        moves.push(Move { process: (process + 1) % PROCESSES, from: to, to: from });
    }
    let variable = || if random.one_in(5) { PROCESSES + random.below(2) } else { process };
    let (look, count) = (variable(), variable());
    let up = Expression::binary(Binary::Add, Expression::read(count), Expression::Constant(1));
    let value = match random.one_in(6) {
        true => up,
        false => Expression::binary(Binary::Remainder, up, Expression::Constant(3)),
    };
    let bound = Expression::Constant(i64::from(random.below(3)));
    Action {
        moves,
        guard: Expression::binary(Binary::LessOrEqual, Expression::read(look), bound),
        effect: vec![Statement::assign(count, value)],
        event: Some(format!("a{at}")),
        ..Action::named(format!("a{at}"))
    }
}

fn atom(random: &Rng, model: &Model) -> String {
    match random.below(8) {
        0..4 => format!("\"v{} == {}\"", random.below(VARIABLES), random.below(3)),
        4..7 => format!("P{}.l{}", random.below(PROCESSES), random.below(LOCATIONS)),
        _ => format!("\"enabled(a{})\"", random.below(model.parts().actions.len() as u32)),
    }
}

fn formula(random: &Rng, model: &Model, depth: u32) -> String {
    if depth == 0 {
        return atom(random, model);
    }
    let part = |random: &Rng| {
        let depth = random.below(depth);
        formula(random, model, depth)
    };
    match random.below(16) {
        0..3 => format!("G ({})", part(random)),
        3..6 => format!("F ({})", part(random)),
        6..8 => format!("G F ({})", part(random)),
        8 => format!("!({})", part(random)),
        9 => format!("X ({})", part(random)),
        at => {
            let (one, other) = (part(random), part(random));
            let operator = ["U", "W", "R", "&", "|", "->"][at as usize - 10];
            format!("({one}) {operator} ({other})")
        }
    }
}

/// Searches for an execution that the automaton accepts.
fn violation(model: &Model, omega: &OmegaAutomaton, space: impl StateSpace) -> CycleSearchResult {
    let reading = label_evaluator::InterpretedLabels { model, omega };
    let product = Product::new(space, reading, model.layout().spare).expect("few marks");
    let found = find_accepting_cycle(&product, &Limits::default(), &());
    assert_eq!(found.incomplete.filter(|_| found.path.is_none()), None);
    found
}

#[test]
fn stutter_reduction_preserves_verdicts() {
    let random = Rng::new(5);
    let everything = SearchOptions { exhaustive: true, ..SearchOptions::default() };
    let (mut compared, mut fewer, mut holding, mut violated) = (0, 0, 0, 0);
    for case in 0..cases(8_000) {
        let model = model(&random);
        let text = formula(&random, &model, 3);
        let omega =
            never_claim(&model, SourceId(0), &text, "claim").unwrap_or_else(|why| panic!("{text}: {why:?}"));
        let seen: Vec<&Expression> = omega.edges.iter().flatten().map(|edge| &edge.label).collect();
        let Ok(reduction) = PartialOrderReduction::of(&model, &seen, &[]) else { continue };
        if !omega.is_stutter_invariant {
            assert!(text.contains('X'), "{text} counts no steps");
            continue;
        }
        let whole = violation(&model, &omega, InterpretedModel::new(&model, vec![]));
        let reduced =
            violation(&model, &omega, Reduced::new(InterpretedModel::new(&model, vec![]), &reduction));
        assert_eq!(
            whole.path.is_some(),
            reduced.path.is_some(),
            "case {case}: {text}\n{:#?}",
            model.parts().actions
        );
        compared += 1;
        violated += u32::from(whole.path.is_some());
        holding += u32::from(whole.path.is_none() && reduced.totals.states < whole.totals.states);
        let states = |space: &dyn StateSpace| bfs(&space, &everything, &()).totals.states;
        let plain = InterpretedModel::new(&model, vec![]);
        fewer += u32::from(states(&Reduced::new(&plain, &reduction)) < states(&plain));
    }
    println!("{compared} compared, {violated} violated, {fewer} reduced, {holding} of them hold");
    assert!(
        compared > at_least(4000)
            && violated > at_least(1000)
            && fewer > at_least(1500)
            && holding > at_least(300)
    );
}

#[test]
fn fault_in_one_branch_does_not_stop_search() {
    let step = |process, value| Action {
        moves: vec![Move { process, from: 0, to: 1 }],
        effect: vec![Statement::assign(process, Expression::Constant(value))],
        ..Action::named("step")
    };
    let model = with(vec![step(0, 7), step(1, 1)]);
    let omega = never_claim(&model, SourceId(0), "F P1.l1", "claim").unwrap();
    let seen: Vec<&Expression> = omega.edges.iter().flatten().map(|edge| &edge.label).collect();
    let reduction = PartialOrderReduction::of(&model, &seen, &[]).expect("the first minds its own business");
    let plain = || InterpretedModel::new(&model, vec![]);
    assert_eq!(violation(&model, &omega, plain()).path, None);
    assert_eq!(violation(&model, &omega, Reduced::new(plain(), &reduction)).path, None);
}

#[test]
fn step_counting_formulas_are_stutter_sensitive() {
    let model = model(&Rng::new(1));
    let is_invariant =
        |text: &str| never_claim(&model, SourceId(0), text, "claim").unwrap().is_stutter_invariant;
    assert!(is_invariant("G F P0.l1"));
    assert!(is_invariant("F (P0.l1 & X P0.l1) -> F P0.l1"), "it is true, however it is written");
    assert!(!is_invariant("X P0.l1"));
    assert!(!is_invariant("G F a0"), "it looks at steps");
    assert!(!is_invariant("G \"v0' == v0\""));
}
