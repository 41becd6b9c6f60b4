//! Reduced spaces against whole ones.

use invigil_explore::plain::Plain;
use invigil_explore::reduced::{Reduced, Reduction, Unsound};
use invigil_explore::{BAD, Space, Successors};
use invigil_model::{
    Action, Binary, Expression, Kind, Location, Model, Move, Parts, Process, Statement, Unit, Variable,
};
use proptest::prelude::*;
use std::collections::{BTreeSet, HashSet};

const LOCATIONS: u32 = 4;

/// A transition: process, from, to, the variable it looks at, the bound, the variable it counts up, and the process
/// that takes part, if any.
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

/// Three processes, a variable of each and two shared ones. Most of the time a process minds its own business.
fn model(rows: &[Row]) -> Model {
    let names = |count: u32| (0..count).map(|at| format!("l{at}")).collect::<Vec<_>>();
    let mut variables: Vec<Variable> =
        (0..5).map(|at| Variable::scalar(format!("v{at}"), Kind::Integer { low: 0, high: 2 }, 0)).collect();
    variables.extend((0..3).map(|at| Variable::scalar(format!("P{at}"), Kind::Names(names(LOCATIONS)), 0)));
    let processes = (0..3)
        .map(|at| Process {
            name: format!("P{at}"),
            locations: names(LOCATIONS)
                .into_iter()
                .map(|name| Location { name, is_committed: false })
                .collect(),
            location: 5 + at,
            unit: Unit::System,
        })
        .collect();
    let actions = rows
        .iter()
        .enumerate()
        .map(|(at, &(process, from, to, look, bound, count, other))| {
            // Variables 3 and 4 are shared; the others belong to the process.
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
    Model::new(Parts { variables, processes, actions, ..Parts::default() }).unwrap()
}

/// How many configurations there are, which of them are stuck, and whether a bad one is reached.
fn survey(space: &impl Space) -> (usize, BTreeSet<Vec<u64>>, bool) {
    let (mut seen, mut waiting) = (HashSet::new(), Vec::new());
    let (mut stuck, mut is_bad) = (BTreeSet::new(), false);
    let mut out = Successors::default();
    space.initial(&mut out);
    let mut take = |out: &Successors, waiting: &mut Vec<Vec<u64>>, is_bad: &mut bool| {
        for at in 0..out.len() {
            *is_bad |= out.taken[at].flags & BAD != 0;
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
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn deadlocks_and_violations_remain(rows in rows(), look in 0..8_u32, value in 1..3_i64) {
        let model = model(&rows);
        let bad = Expression::binary(Binary::Equal, Expression::read(look), Expression::Constant(value));
        let (states, stuck, is_bad) = survey(&Plain::new(&model, vec![bad.clone()]));
        let Ok(reduction) = Reduction::of(&model, &[&bad], &[]) else { return Ok(()) };
        let space = Reduced::new(Plain::new(&model, vec![bad]), &reduction);
        let (fewer, still_stuck, is_still_bad) = survey(&space);
        prop_assert!(fewer <= states);
        prop_assert_eq!(stuck, still_stuck);
        prop_assert_eq!(is_bad, is_still_bad);
    }
}

#[test]
fn it_reduces() {
    // Three processes that walk through three locations, each minding its own business.
    let rows: Vec<Row> = (0..3).flat_map(|p| (0..3).map(move |at| (p, at, at + 1, 0, 2, 1, None))).collect();
    let model = model(&rows);
    let (states, ..) = survey(&Plain::new(&model, Vec::new()));
    let reduction = Reduction::of(&model, &[], &[]).unwrap();
    let (fewer, stuck, _) = survey(&Reduced::new(Plain::new(&model, Vec::new()), &reduction));
    assert_eq!((states, fewer, stuck.len()), (64, 10, 1));
}

#[test]
fn what_somebody_watches_is_not_reduced() {
    let rows: Vec<Row> = (0..3).map(|process| (process, 0, 1, 0, 2, 1, None)).collect();
    let model = model(&rows);
    let all: Vec<Expression> = (5..8).map(Expression::read).collect();
    assert_eq!(Reduction::of(&model, &all.iter().collect::<Vec<_>>(), &[]), Err(Unsound::Nothing));
    assert_eq!(Reduction::of(&model, &[], &["a0", "a1", "a2"]), Err(Unsound::Nothing));
    assert!(Reduction::of(&model, &[], &["a0"]).is_ok());
}
