//! Compares reduced with full state spaces.

use invigil_explore::interpreted_model::InterpretedModel;
use invigil_explore::partial_order::{NotReducible, PartialOrderReduction, Reduced};
use invigil_explore::{BAD, StateSpace, Successors};
use invigil_model::{
    Action, Binary, Domain, Expression, Location, Model, ModelParts, Move, Process, Side, Statement, Variable,
};
use invigil_test_support::cases;
use proptest::prelude::*;
use std::collections::{BTreeSet, HashSet};

const LOCATIONS: u32 = 4;

/// A transition: process, source, target, variable of the guard with its bound, incremented variable, and partner
/// process, if any.
type Row = (u32, u32, u32, u32, i64, u32, Option<u32>);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (
        0..3_u32,
        0..LOCATIONS,
        0..LOCATIONS,
        0..5_u32,
        0..3_i64,
        0..5_u32,
        prop_oneof![9 => Just(None), 1 => (0..3_u32).prop_map(Some)],
    );
    proptest::collection::vec(row, 3..16)
}

/// Three processes with one local variable each and two shared ones. Most actions are local.
fn model(rows: &[Row]) -> Model {
    let names = |count: u32| (0..count).map(|at| format!("l{at}")).collect::<Vec<_>>();
    let mut variables: Vec<Variable> =
        (0..5).map(|at| Variable::scalar(format!("v{at}"), Domain::Integer { low: 0, high: 2 }, 0)).collect();
    variables.extend((0..3).map(|at| Variable::scalar(format!("P{at}"), Domain::Names(names(LOCATIONS)), 0)));
    let processes = (0..3)
        .map(|at| Process {
            name: format!("P{at}"),
            locations: names(LOCATIONS)
                .into_iter()
                .map(|name| Location { name, is_committed: false })
                .collect(),
            location: 5 + at,
            side: Side::System,
        })
        .collect();
    let actions = rows
        .iter()
        .enumerate()
        .map(|(at, &(process, from, to, look, bound, count, other))| {
            // Variables 3 and 4 are shared; the others are local.
            let own = |variable: u32| if variable < 3 { process } else { variable };
            let (look, count) = (own(look), own(count));
            let up = Expression::binary(Binary::Add, Expression::read(count), Expression::Constant(1));
            let mut moves = vec![Move { process, from, to }];
            moves.extend(other.filter(|other| *other != process).map(|process| Move {
                process,
                from: to,
                to: from,
            }));
            Action {
                moves,
                guard: Expression::binary(
                    Binary::LessOrEqual,
                    Expression::read(look),
                    Expression::Constant(bound),
                ),
                effect: vec![Statement::assign(
                    count,
                    Expression::binary(Binary::Remainder, up, Expression::Constant(3)),
                )],
                ..Action::named(format!("a{at}"))
            }
        })
        .collect();
    Model::new(ModelParts { variables, processes, actions, ..ModelParts::default() }).unwrap()
}

/// The number of configurations, the deadlocks, and whether a bad configuration is reachable.
fn survey(space: &impl StateSpace) -> (usize, BTreeSet<Vec<u64>>, bool) {
    let (mut seen, mut waiting) = (HashSet::new(), Vec::new());
    let (mut stuck, mut is_bad) = (BTreeSet::new(), false);
    let mut out = Successors::default();
    space.initial(&mut out);
    let mut take = |out: &Successors, waiting: &mut Vec<Vec<u64>>, is_bad: &mut bool| {
        for at in 0..out.len() {
            *is_bad |= out.transitions[at].flags & BAD != 0;
            let state = out.state(at, space.width()).to_vec();
            if seen.insert(state.clone()) {
                waiting.push(state);
            }
        }
        seen.len()
    };
    let mut count = take(&out, &mut waiting, &mut is_bad);
    while let Some(state) = waiting.pop() {
        out.clear();
        space.successors(&state, &mut out);
        if out.is_empty() {
            stuck.insert(state);
        }
        count = take(&out, &mut waiting, &mut is_bad);
    }
    (count, stuck, is_bad)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(2000)))]
    #[test]
    fn reduction_preserves_deadlocks_and_violations(rows in rows(), look in 0..8_u32, value in 1..3_i64) {
        let model = model(&rows);
        let bad = Expression::binary(Binary::Equal, Expression::read(look), Expression::Constant(value));
        let (states, stuck, is_bad) = survey(&InterpretedModel::new(&model, vec![bad.clone()]));
        let Ok(reduction) = PartialOrderReduction::of(&model, &[&bad], &[]) else { return Ok(()) };
        let space = Reduced::new(InterpretedModel::new(&model, vec![bad]), &reduction);
        let (fewer, still_stuck, is_still_bad) = survey(&space);
        prop_assert!(fewer <= states);
        prop_assert_eq!(stuck, still_stuck);
        prop_assert_eq!(is_bad, is_still_bad);
    }
}

#[test]
fn reduction_shrinks_state_space() {
    // Three processes that pass through three locations with local actions only.
    let rows: Vec<Row> = (0..3).flat_map(|p| (0..3).map(move |at| (p, at, at + 1, 0, 2, 1, None))).collect();
    let model = model(&rows);
    let (states, ..) = survey(&InterpretedModel::new(&model, Vec::new()));
    let reduction = PartialOrderReduction::of(&model, &[], &[]).unwrap();
    let (fewer, stuck, _) = survey(&Reduced::new(InterpretedModel::new(&model, Vec::new()), &reduction));
    assert_eq!((states, fewer, stuck.len()), (64, 10, 1));
}

#[test]
fn observed_actions_are_not_reduced() {
    let rows: Vec<Row> = (0..3).map(|process| (process, 0, 1, 0, 2, 1, None)).collect();
    let model = model(&rows);
    let all: Vec<Expression> = (5..8).map(Expression::read).collect();
    assert_eq!(
        PartialOrderReduction::of(&model, &all.iter().collect::<Vec<_>>(), &[]),
        Err(NotReducible::NoSafeLocation)
    );
    assert_eq!(
        PartialOrderReduction::of(&model, &[], &["a0", "a1", "a2"]),
        Err(NotReducible::NoSafeLocation)
    );
    assert!(PartialOrderReduction::of(&model, &[], &["a0"]).is_ok());
}
