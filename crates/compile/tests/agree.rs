//! Compiled models agree with interpreted ones, on random models, word for word and flag for flag.

mod random;

use invigil_compile::{Compiled, CompiledReading};
use invigil_explore::plain::Plain;
use invigil_explore::reading::{self, Reading};
use invigil_explore::{BAD, FAULT, Space, Successors};
use invigil_model::{Expression, Model, Step};
use random::Random;
use std::time::Instant;

/// How often each thing was seen, so that the tests are known to test something.
#[derive(Debug, Default)]
struct Seen {
    successors: usize,
    faults: usize,
    bad: usize,
    dead: usize,
}

fn compare(seed: u64, model: &Model, bad: &[Expression], states: usize, seen: &mut Seen) {
    let random = &mut Random(seed ^ 0xabcd);
    let plain = Plain::new(model, bad.to_vec());
    let compiled = Compiled::new(model, bad).unwrap();
    let (mut expected, mut found) = (Successors::default(), Successors::default());
    plain.initial(&mut expected);
    compiled.initial(&mut found);
    assert_eq!((&expected.words, &expected.taken), (&found.words, &found.taken));
    let width = plain.width();
    let (mut all, mut bulk, mut ends) = (Vec::new(), Successors::default(), Vec::new());
    let mut state = random::state(random, model);
    for _ in 0..states {
        all.extend_from_slice(&state);
        expected.clear();
        found.clear();
        plain.successors(&state, &mut expected);
        compiled.successors(&state, &mut found);
        assert_eq!(
            (&expected.words, &expected.taken),
            (&found.words, &found.taken),
            "seed {seed}, state {state:?}, bad {bad:?}, of {:#?}, {:?}",
            model.parts(),
            model.layout()
        );
        seen.successors += found.len();
        seen.faults += found.taken.iter().filter(|taken| taken.flags & FAULT != 0).count();
        seen.bad += found.taken.iter().filter(|taken| taken.flags & BAD != 0).count();
        seen.dead += usize::from(found.is_empty());
        // Some steps further, or somewhere else.
        state = match random.below(found.len() as u64 + 1) as usize {
            at if at < found.len() && random.below(3) > 0 => found.state(at, width).to_vec(),
            _ => random::state(random, model),
        };
    }
    compiled.bulk(&all, &mut bulk, &mut ends);
    expected.clear();
    let mut expected_ends = Vec::new();
    plain.bulk(&all, &mut expected, &mut expected_ends);
    assert_eq!((expected.words, expected.taken, expected_ends), (bulk.words, bulk.taken, ends));
}

#[test]
fn random_models_agree() {
    let mut seen = Seen::default();
    for seed in 0..250 {
        let random = &mut Random(seed);
        let actions = random.below(20) + 1;
        let model = random::model(random, actions);
        compare(seed, &model, &[], 400, &mut seen);
    }
    println!("{seen:?}");
    assert!(seen.successors > 10_000 && seen.faults > 1000 && seen.dead > 1000);
}

#[test]
fn models_of_several_parts_agree() {
    let mut seen = Seen::default();
    for seed in 1000..1005 {
        let random = &mut Random(seed);
        let model = random::model(random, 450);
        compare(seed, &model, &[], 400, &mut seen);
    }
    println!("{seen:?}");
    assert!(seen.successors > 10_000);
}

#[test]
fn random_predicates_agree() {
    let mut seen = Seen::default();
    for seed in 2000..2150 {
        let random = &mut Random(seed);
        let actions = random.below(8) + 1;
        let model = random::model(random, actions);
        let bad = random::bad(random, &model);
        compare(seed, &model, &bad, 200, &mut seen);
    }
    println!("{seen:?}");
    assert!(seen.bad > 1000);
}

#[test]
fn random_labels_agree() {
    let (mut edges, mut faults) = (0, 0);
    for seed in 3000..3100 {
        let random = &mut Random(seed);
        let model = random::model(random, 4);
        let omega = random::omega(random, &model);
        let plain = reading::Plain { model: &model, omega: &omega };
        let compiled = CompiledReading::new(&model, &omega).unwrap();
        assert_eq!((plain.initial(), plain.sets()), (compiled.initial(), compiled.sets()));
        for _ in 0..200 {
            let (source, target) = (random::state(random, &model), random::state(random, &model));
            let step = match random.below(3) {
                0 => Step::at(&target),
                1 => Step { source: Some(&source), action: None, target: &target },
                _ => Step { source: Some(&source), action: Some(random.below(4) as u32), target: &target },
            };
            for at in 0..omega.edges.len() as u32 {
                let (mut expected, mut found) = (vec![(7, 7)], vec![(7, 7)]);
                let result = plain.edges(at, step, &mut expected);
                assert_eq!(compiled.edges(at, step, &mut found), result);
                assert_eq!(expected, found, "seed {seed}, {step:?}, {:#?}", omega.edges[at as usize]);
                edges += found.len() - 1;
                faults += usize::from(result.is_err());
            }
        }
    }
    println!("{edges} edges, {faults} faults");
    assert!(edges > 1000 && faults > 100);
}

#[test]
fn a_thousand_actions_are_compiled() {
    let model = random::model(&mut Random(7), 1000);
    let since = Instant::now();
    Compiled::new(&model, &[]).unwrap();
    println!("1000 actions compiled in {:?}", since.elapsed());
    compare(7, &model, &[], 20, &mut Seen::default());
}

#[test]
fn threads_share_a_compiled_model() {
    let model = random::model(&mut Random(5), 12);
    let compiled = Compiled::new(&model, &[]).unwrap();
    let plain = Plain::new(&model, Vec::new());
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (compiled, plain, model) = (&compiled, &plain, &model);
            scope.spawn(move || {
                let random = &mut Random(seed);
                for _ in 0..300 {
                    let state = random::state(random, model);
                    let (mut expected, mut found) = (Successors::default(), Successors::default());
                    plain.successors(&state, &mut expected);
                    compiled.successors(&state, &mut found);
                    assert_eq!((expected.words, expected.taken), (found.words, found.taken));
                }
            });
        }
    });
}

/// Words that no execution leads to may give nonsense, and must not do harm.
#[test]
fn any_words_are_safe() {
    for seed in 4000..4040 {
        let random = &mut Random(seed);
        let model = random::model(random, 12);
        let bad: Vec<Expression> = random::bad(random, &model);
        let compiled = Compiled::new(&model, &bad).unwrap();
        let mut out = Successors::default();
        for _ in 0..300 {
            let words: Vec<u64> = (0..compiled.width()).map(|_| random.next()).collect();
            out.clear();
            compiled.successors(&words, &mut out);
            assert_eq!(out.words.len(), out.len() * compiled.width());
        }
        out.clear();
        compiled.successors(&[], &mut out);
        assert!(out.is_empty(), "what has no words is no configuration");
    }
}

#[test]
fn what_cannot_be_compiled_is_said() {
    use invigil_model::{Action, Kind, Parts, Place, Statement, Unary, Variable};
    let deep = (0..3000).fold(Expression::read(0), |of, _| Expression::unary(Unary::Complement, of));
    let parts = Parts {
        variables: vec![Variable::scalar("x", Kind::Boolean, 0)],
        actions: vec![Action { guard: deep, ..Action::named("a") }],
        ..Parts::default()
    };
    let why = Compiled::new(&Model::new(parts).unwrap(), &[]).err().unwrap();
    assert!(why.to_string().contains("nested more than 1000 deep"), "{why}");

    let choose = Statement::Choose { place: Place::scalar(0), low: 0, high: 65_535 };
    let many = |at| Action { effect: vec![choose.clone()], ..Action::named(format!("a{at}")) };
    let parts = Parts {
        variables: vec![Variable::scalar("x", Kind::Integer { low: 0, high: 65_535 }, 0)],
        actions: (0..1000).map(many).collect(),
        ..Parts::default()
    };
    let model = Model::new(parts).unwrap();
    let why = Compiled::new(&model, &[]).err().unwrap();
    assert!(why.to_string().contains("65536000 successors"), "{why}");
    let why = Compiled::new(&model, &[Expression::read(9)]).err().unwrap();
    assert!(why.to_string().contains("reads variable 9"), "{why}");
}
