//! Expressions against their values under all valuations.

use crate::encoding::reference::atom;
use invigil_decent::expression::{Expression, Node, Pool, evaluate, simplify};
use invigil_decent::memory::{Memory, Obligation};
use invigil_test_support::{Rng, cases};

const PLACES: usize = 5;

fn place(number: usize) -> Obligation {
    Obligation { at: 1 + number as u32 / 2, atom: atom(number % 2) }
}

fn random(rng: &Rng, pool: &mut Pool, size: usize) -> Expression {
    if size <= 1 {
        return match rng.below(12) {
            0 => Expression::TRUE,
            1 => Expression::FALSE,
            _ => pool.atom(place(rng.below(PLACES))),
        };
    }
    match rng.below(3) {
        0 => {
            let part = random(rng, pool, size - 1);
            pool.not(part)
        }
        kind => {
            let left = 1 + rng.below(size - 1);
            let parts = [left, size - left].map(|size| random(rng, pool, size));
            if kind == 1 { pool.and(parts) } else { pool.or(parts) }
        }
    }
}

/// Evaluates by definition.
fn value(pool: &Pool, expression: Expression, bits: usize) -> bool {
    match pool.node(expression) {
        Node::Constant(value) => *value,
        Node::Atom(obligation) => bits >> (0..PLACES).find(|at| place(*at) == *obligation).unwrap() & 1 == 1,
        Node::Not(part) => !value(pool, *part, bits),
        Node::And(parts) => parts.iter().all(|part| value(pool, *part, bits)),
        Node::Or(parts) => parts.iter().any(|part| value(pool, *part, bits)),
    }
}

#[test]
fn rewriting_evaluation_and_simplification_preserve_meaning() {
    for seed in 0..cases(2000) {
        let rng = Rng::new(seed);
        let mut pool = Pool::default();
        let size = 1 + rng.below(14);
        let expression = random(&rng, &mut pool, size);
        let (mut memory, mut mask, mut values) = (Memory::default(), 0, 0);
        for at in (0..PLACES).filter(|_| rng.below(3) == 0).collect::<Vec<_>>() {
            let bit = rng.below(2);
            memory.learn(place(at).at, place(at).atom, bit == 1);
            (mask, values) = (mask | 1 << at, values | bit << at);
        }
        let agree = || (0..1_usize << PLACES).filter(|bits| bits & mask == values);
        let all = agree().all(|bits| value(&pool, expression, bits));
        let none = !agree().any(|bits| value(&pool, expression, bits));
        let expected = if all { Some(true) } else { none.then_some(false) };
        assert_eq!(evaluate(&pool, expression, &memory), expected, "case {seed}");

        let mut other = Pool::default();
        let rewritten = pool.rewrite([expression], &memory, &mut other)[0];
        assert!(agree().all(|bits| value(&pool, expression, bits) == value(&other, rewritten, bits)));
        assert!(other.obligations([rewritten]).iter().all(|left| memory.get(left.at, left.atom).is_none()));

        let simple = simplify(&mut pool, expression).unwrap();
        assert!((0..1 << PLACES).all(|bits| value(&pool, expression, bits) == value(&pool, simple, bits)));
        assert_eq!(simplify(&mut pool, simple).unwrap(), simple);
        irredundant(&pool, simple);
    }
}

/// Checks that a sum of products is irredundant: no product and no literal can be removed.
fn irredundant(pool: &Pool, sum: Expression) {
    let products = match pool.node(sum) {
        Node::Or(products) => products.clone(),
        _ => vec![sum],
    };
    let same =
        |pool: &Pool, other| (0..1 << PLACES).all(|bits| value(pool, sum, bits) == value(pool, other, bits));
    for (left_out, product) in products.iter().enumerate() {
        let mut pool = pool.clone();
        let others: Vec<_> =
            products.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, one)| *one).collect();
        let without = pool.or(others.clone());
        assert!(sum.constant().is_some() || !same(&pool, without));
        if let Node::And(literals) = pool.node(*product).clone() {
            for literal in &literals {
                let less = pool.and(literals.iter().copied().filter(|other| other != literal));
                let shorter = pool.or(others.iter().copied().chain([less]));
                assert!(!same(&pool, shorter));
            }
        }
    }
}

#[test]
fn expressions_are_printed_with_needed_parentheses() {
    let mut pool = Pool::default();
    let [a, b, c] = [0, 1, 2].map(|at| pool.atom(place(at)));
    let name = |of| if of == atom(0) { "a".to_owned() } else { "b".to_owned() };
    let either = pool.or([a, b]);
    let neither = pool.not(either);
    let all = pool.and([neither, c]);
    assert_eq!(pool.display(all, &name).to_string(), "⟨2,a⟩ ∧ ¬(⟨1,a⟩ ∨ ⟨1,b⟩)");
    assert_eq!(pool.display(Expression::TRUE, &name).to_string(), "⊤");
    assert_eq!(pool.display(Expression::FALSE, &name).to_string(), "⊥");
    // Three atoms of four and one bytes, a negation, two connectives.
    assert_eq!(pool.size([all], &|_| 1), 3 * 5 + 1 + 2);
}

/// Shared subexpressions are processed once: written out, this one would be astronomically large.
#[test]
fn shared_subexpressions_are_processed_once() {
    let mut pool = Pool::default();
    let mut sum = pool.atom(place(0));
    for at in 2..200 {
        let [yes, no] = [true, false].map(|value| pool.literal(Obligation { at, atom: atom(0) }, value));
        let [one, two] = [yes, no].map(|literal| pool.and([sum, literal]));
        sum = pool.or([one, two]);
    }
    assert_eq!(pool.size([sum], &|_| 1), usize::MAX);
    assert_eq!(evaluate(&pool, sum, &Memory::default()), None);
    let mut memory = Memory::default();
    memory.learn(1, atom(0), true);
    assert_eq!(evaluate(&pool, sum, &memory), Some(true));
    assert_eq!(simplify(&mut pool, sum).unwrap(), pool.atom(place(0)));
}

/// Far more diagrams than the budget allows, one after the other: earlier ones do not get in the way.
#[test]
fn old_diagrams_do_not_exhaust_the_budget() {
    let rng = Rng::new(7);
    for _ in 0..200 {
        let mut pool = Pool::default();
        let mut products = Vec::new();
        for _ in 0..24 {
            let places: Vec<u32> = (0..24).filter(|_| rng.below(3) == 0).collect();
            let literals: Vec<_> = places
                .into_iter()
                .map(|at| pool.literal(Obligation { at, atom: atom(0) }, rng.flip()))
                .collect();
            products.push(pool.and(literals));
        }
        let sum = pool.or(products);
        let other = pool.not(sum);
        let [yes, no] = [true, false].map(|value| pool.literal(Obligation { at: 99, atom: atom(0) }, value));
        let [one, two] = [yes, no].map(|literal| pool.and([sum, literal]));
        let always = pool.or([one, two, other]);
        let never = pool.not(always);
        let nothing = Memory::default();
        assert_eq!([always, never].map(|what| evaluate(&pool, what, &nothing)), [Some(true), Some(false)]);
    }
}

/// A too large expression stays unknown; later ones have the full budget again.
#[test]
fn too_large_expressions_evaluate_to_unknown() {
    let mut pool = Pool::default();
    // The diagram must remember all early values until the late ones occur.
    let mut pairs = Vec::new();
    for at in 1..=20 {
        let [early, late] = [at, 100 + at].map(|at| pool.atom(Obligation { at, atom: atom(0) }));
        pairs.push(pool.and([early, late]));
    }
    let sum = pool.or(pairs);
    let nothing = Memory::default();
    assert_eq!(evaluate(&pool, sum, &nothing), None);
    assert!(simplify(&mut pool, sum).is_err());
    let [a, b] = [0, 1].map(|at| pool.atom(place(at)));
    let [no_a, no_b] = [a, b].map(|part| pool.not(part));
    let [one, two] = [b, no_b].map(|part| pool.and([a, part]));
    let always = pool.or([one, two, no_a]);
    assert_eq!(evaluate(&pool, always, &nothing), Some(true));
}
