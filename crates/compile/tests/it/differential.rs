//! Compiled models agree with interpreted ones, on random models, word for word and flag for flag.

use invigil_compile::{CompiledLabels, CompiledModel};
use invigil_explore::interpreted_model::InterpretedModel;
use invigil_explore::label_evaluator::{self, LabelEvaluator};
use invigil_explore::{BAD, FAULT, StateSpace, Successors};
use invigil_model::{Expression, Model, Step};
use invigil_test_support::{Rng, at_least, cases};
use std::time::Instant;

/// Counts of the covered features, so that the tests cannot pass vacuously.
#[derive(Debug, Default)]
struct Seen {
    successors: usize,
    faults: usize,
    bad: usize,
    dead: usize,
}

fn compare(seed: u64, model: &Model, bad: &[Expression], states: usize, seen: &mut Seen) {
    let random = &Rng::new(seed ^ 0xabcd);
    let plain = InterpretedModel::new(model, bad.to_vec());
    let compiled = CompiledModel::new(model, bad).unwrap();
    let (mut expected, mut found) = (Successors::default(), Successors::default());
    plain.initial(&mut expected);
    compiled.initial(&mut found);
    assert_eq!((&expected.words, &expected.transitions), (&found.words, &found.transitions));
    let width = plain.width();
    let (mut all, mut bulk, mut ends) = (Vec::new(), Successors::default(), Vec::new());
    let mut state = crate::random_models::state(random, model);
    for _ in 0..states {
        all.extend_from_slice(&state);
        expected.clear();
        found.clear();
        plain.successors(&state, &mut expected);
        compiled.successors(&state, &mut found);
        assert_eq!(
            (&expected.words, &expected.transitions),
            (&found.words, &found.transitions),
            "seed {seed}, state {state:?}, bad {bad:?}, of {:#?}, {:?}",
            model.parts(),
            model.layout()
        );
        seen.successors += found.len();
        seen.faults += found.transitions.iter().filter(|transition| transition.flags & FAULT != 0).count();
        seen.bad += found.transitions.iter().filter(|transition| transition.flags & BAD != 0).count();
        seen.dead += usize::from(found.is_empty());
        // Continue with a successor, or with a random configuration.
        state = match random.below(found.len() as u64 + 1) as usize {
            at if at < found.len() && random.below(3) > 0 => found.state(at, width).to_vec(),
            _ => crate::random_models::state(random, model),
        };
    }
    compiled.bulk_successors(&all, &mut bulk, &mut ends);
    expected.clear();
    let mut expected_ends = Vec::new();
    plain.bulk_successors(&all, &mut expected, &mut expected_ends);
    assert_eq!((expected.words, expected.transitions, expected_ends), (bulk.words, bulk.transitions, ends));
}

#[test]
fn random_models_agree_with_interpreter() {
    let mut seen = Seen::default();
    for seed in 0..cases(250) {
        let random = &Rng::new(seed);
        let actions = random.below(20) + 1;
        let model = crate::random_models::model(random, actions);
        compare(seed, &model, &[], 400, &mut seen);
    }
    println!("{seen:?}");
    assert!(seen.successors > at_least(10_000) && seen.faults > at_least(1000) && seen.dead > at_least(1000));
}

#[test]
fn models_with_several_parts_agree_with_interpreter() {
    let mut seen = Seen::default();
    for seed in 1000..1005 {
        let random = &Rng::new(seed);
        let model = crate::random_models::model(random, 450);
        compare(seed, &model, &[], 400, &mut seen);
    }
    println!("{seen:?}");
    assert!(seen.successors > at_least(10_000));
}

#[test]
fn random_predicates_agree_with_interpreter() {
    let mut seen = Seen::default();
    for seed in 2000..2150 {
        let random = &Rng::new(seed);
        let actions = random.below(8) + 1;
        let model = crate::random_models::model(random, actions);
        let bad = crate::random_models::bad(random, &model);
        compare(seed, &model, &bad, 200, &mut seen);
    }
    println!("{seen:?}");
    assert!(seen.bad > at_least(1000));
}

#[test]
fn random_labels_agree_with_interpreter() {
    let (mut edges, mut faults) = (0, 0);
    for seed in 3000..3100 {
        let random = &Rng::new(seed);
        let model = crate::random_models::model(random, 4);
        let omega = crate::random_models::omega(random, &model);
        let plain = label_evaluator::InterpretedLabels { model: &model, omega: &omega };
        let compiled = CompiledLabels::new(&model, &omega).unwrap();
        assert_eq!(
            (plain.initial(), plain.acceptance_set_count()),
            (compiled.initial(), compiled.acceptance_set_count())
        );
        for _ in 0..200 {
            let (source, target) =
                (crate::random_models::state(random, &model), crate::random_models::state(random, &model));
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
    assert!(edges > at_least(1000) && faults > at_least(100));
}

#[test]
fn thousand_actions_compile() {
    let model = crate::random_models::model(&Rng::new(7), 1000);
    let since = Instant::now();
    CompiledModel::new(&model, &[]).unwrap();
    println!("1000 actions compiled in {:?}", since.elapsed());
    compare(7, &model, &[], 20, &mut Seen::default());
}

#[test]
fn threads_share_compiled_model() {
    let model = crate::random_models::model(&Rng::new(5), 12);
    let compiled = CompiledModel::new(&model, &[]).unwrap();
    let plain = InterpretedModel::new(&model, Vec::new());
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (compiled, plain, model) = (&compiled, &plain, &model);
            scope.spawn(move || {
                let random = &Rng::new(seed);
                for _ in 0..300 {
                    let state = crate::random_models::state(random, model);
                    let (mut expected, mut found) = (Successors::default(), Successors::default());
                    plain.successors(&state, &mut expected);
                    compiled.successors(&state, &mut found);
                    assert_eq!((expected.words, expected.transitions), (found.words, found.transitions));
                }
            });
        }
    });
}

/// Unreachable words may give meaningless results, but must be memory-safe.
#[test]
fn arbitrary_words_are_memory_safe() {
    for seed in 4000..4040 {
        let random = &Rng::new(seed);
        let model = crate::random_models::model(random, 12);
        let bad: Vec<Expression> = crate::random_models::bad(random, &model);
        let compiled = CompiledModel::new(&model, &bad).unwrap();
        let mut out = Successors::default();
        for _ in 0..300 {
            let words: Vec<u64> = (0..compiled.width()).map(|_| random.next_u64()).collect();
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
fn unsupported_models_are_reported() {
    use invigil_model::{Action, Domain, LValue, ModelParts, Statement, Unary, Variable};
    let deep = (0..3000).fold(Expression::read(0), |of, _| Expression::unary(Unary::Complement, of));
    let parts = ModelParts {
        variables: vec![Variable::scalar("x", Domain::Boolean, 0)],
        actions: vec![Action { guard: deep, ..Action::named("a") }],
        ..ModelParts::default()
    };
    let why = CompiledModel::new(&Model::new(parts).unwrap(), &[]).err().unwrap();
    assert!(why.to_string().contains("nested more than 1000 deep"), "{why}");

    let choose = Statement::Choose { place: LValue::scalar(0), low: 0, high: 65_535 };
    let many = |at| Action { effect: vec![choose.clone()], ..Action::named(format!("a{at}")) };
    let parts = ModelParts {
        variables: vec![Variable::scalar("x", Domain::Integer { low: 0, high: 65_535 }, 0)],
        actions: (0..1000).map(many).collect(),
        ..ModelParts::default()
    };
    let model = Model::new(parts).unwrap();
    let why = CompiledModel::new(&model, &[]).err().unwrap();
    assert!(why.to_string().contains("65536000 successors"), "{why}");
    let why = CompiledModel::new(&model, &[Expression::read(9)]).err().unwrap();
    assert!(why.to_string().contains("uses variable 9"), "{why}");
}
