//! Skipping values without an effect does not change the results.

use crate::mac::differential::feed;
use crate::mac::random::{self, RandomValues};
use crate::mac::script::{Def, E, Script, Val, X};
use invigil_monitor::mac::{
    Abstraction, Binary, EventGroup, NotAbstracted, Recogniser, ScriptDef, Type, Unary, Value, ValueFilter,
};
use invigil_test_support::{Rng, at_least, cases};

/// Results with and without abstraction, and the number of skipped assignments.
fn both(script: &Script, random: &Rng) -> (Vec<EventGroup>, Vec<EventGroup>, usize) {
    let parts = script.parts().expect("well typed");
    let mut filters: Vec<ValueFilter> = parts.abstractions().iter().map(ValueFilter::new).collect();
    let mut plain = Recogniser::new(parts).expect("no cycles");
    let mut abstracted = plain.clone();
    let (mut all, mut some, mut left_out) = (Vec::new(), Vec::new(), 0);
    for world in random::snapshots(random, script, 30) {
        all.push(feed(&mut plain, &world).clone());
        if let Some((variable, value)) = world.update.as_ref().or(world.changed.as_ref()) {
            let value = value.as_ref().map_or(Value::Undefined, Val::value);
            if !filters[*variable].passes(value) {
                left_out += 1;
                continue;
            }
        }
        for variable in &world.gone {
            assert!(filters[*variable].passes(Value::Undefined));
        }
        some.push(feed(&mut abstracted, &world).clone());
    }
    all.retain(|group| !group.is_empty());
    some.retain(|group| !group.is_empty());
    (all, some, left_out)
}

#[test]
fn abstraction_of_random_scripts_preserves_exports() {
    for seed in 0..cases(4_000) {
        let random = Rng::new(seed + 2_000_000);
        let script = random::monitoring(&random);
        let (all, some, _) = both(&script, &random);
        assert_eq!(format!("{all:?}"), format!("{some:?}"), "seed {seed}: {script:#?}");
    }
}

#[test]
fn abstraction_of_random_comparisons_preserves_exports() {
    let mut left_out = 0;
    for seed in 0..cases(6_000) {
        let random = Rng::new(seed + 3_000_000);
        let script = simple(&random);
        let (all, some, without) = both(&script, &random);
        assert_eq!(all, some, "seed {seed}: {script:#?}");
        left_out += without;
    }
    assert!(left_out > at_least(30_000), "{left_out}");
}

/// A script that mostly compares variables with constants.
fn simple(random: &Rng) -> Script {
    let variables: Vec<Type> = (0..1 + random.below(3)).map(|_| random.ty()).collect();
    let mut script = Script { variables, ..Script::default() };
    let mut conditions = 0;
    for _ in 0..1 + random.below(4) {
        let mut condition = comparison(random, &script);
        for _ in 0..random.below(4) {
            let other = match random.below(4) {
                0 if conditions > 0 => X::Cond(random.below(conditions)),
                _ => comparison(random, &script),
            };
            let operator = random.pick(&[Binary::And, Binary::Or, Binary::Implies]);
            condition = X::Bin(operator, Box::new(condition), Box::new(other));
        }
        if random.one_in(2) {
            script.defs.push(Def::Condition(condition));
            conditions += 1;
        } else {
            let event = if random.one_in(2) { E::Start(condition.into()) } else { E::End(condition.into()) };
            let event = match random.below(4) {
                0 => E::When(event.into(), comparison(random, &script).into()),
                1 if random.one_in(3) => E::Either(event.into(), E::Update(0).into()),
                _ => event,
            };
            script.defs.push(Def::Event(event));
        }
    }
    script
}

fn comparison(random: &Rng, script: &Script) -> X {
    let at = random.below(script.variables.len());
    let (ty, variable) = (script.variables[at], Box::new(X::Var(at)));
    if random.one_in(10) {
        return X::Defined(variable);
    }
    match ty {
        Type::Boolean if random.one_in(2) => X::Un(Unary::Not, variable),
        Type::Boolean => *variable,
        Type::String => {
            let operator = random.pick(&[Binary::Equal, Binary::NotEqual]);
            X::Bin(operator, variable, X::Const(random.val(ty)).into())
        }
        _ => {
            let operator = random.pick(&[
                Binary::Less,
                Binary::AtMost,
                Binary::Greater,
                Binary::AtLeast,
                Binary::Equal,
                Binary::NotEqual,
            ]);
            let of = random.pick(&[ty, ty, Type::Int, Type::Float, Type::Double, Type::Long]);
            let mut constant: Box<X> = X::Const(random.val(of)).into();
            if random.one_in(4) {
                constant = X::Un(Unary::Minus, constant).into();
            }
            if random.one_in(2) {
                X::Bin(operator, variable, constant)
            } else {
                X::Bin(operator, constant, variable)
            }
        }
    }
}

/// `c1 = (3 < x && x < 10) || y > 10 || z > 10; c2 = x > 5 && w > 2*z + 3`: values of x and y are skipped; z
/// and w are compared with each other.
#[test]
fn five_simple_expressions_report_only_changes() {
    let int = |value| Box::new(X::Const(Val::Int(value)));
    let var = |at| Box::new(X::Var(at));
    let bin = |operator, a, b| Box::new(X::Bin(operator, a, b));
    use Binary::*;
    let inside = bin(And, bin(Less, int(3), var(0)), bin(Less, var(0), int(10)));
    let c1 = bin(Or, bin(Or, inside, bin(Greater, var(1), int(10))), bin(Greater, var(2), int(10)));
    let line = bin(Add, bin(Multiply, int(2), var(2)), int(3));
    let c2 = bin(And, bin(Greater, var(0), int(5)), bin(Greater, var(3), line));
    let script = Script {
        variables: vec![Type::Int; 4],
        defs: vec![Def::Condition(*c1), Def::Condition(*c2)],
        ..Script::default()
    };
    let abstractions = script.parts().unwrap().abstractions();
    let counts = abstractions.iter().map(|abstraction| match abstraction {
        Abstraction::Thresholds(thresholds) => Ok(thresholds.len()),
        Abstraction::Off(because) => Err(*because),
    });
    let counts: Vec<_> = counts.collect();
    assert_eq!(counts, [Ok(3), Ok(1), Err(NotAbstracted::Computed), Err(NotAbstracted::Computed)]);

    let mut x = ValueFilter::new(&abstractions[0]);
    let passed: Vec<i32> =
        [0, 1, 3, 4, 5, 6, 7, 9, 10, 11, 4].into_iter().filter(|v| x.passes(Value::Int(*v))).collect();
    assert_eq!(passed, [0, 4, 6, 10, 4]);
}

/// The sieve: of a counter, only the first value and the two crossings are reported; all values of variables in
/// `update` are.
#[test]
fn sieve_example_reports_fewer_values() {
    let mut parts = ScriptDef::default();
    let (tested, primes) = (parts.variable("numTested", Type::Int), parts.variable("numPrimes", Type::Int));
    let (low, read) = (parts.constant(Value::Int(99_990)), parts.read(tested).unwrap());
    let from = parts.binary(Binary::AtMost, low, read).unwrap();
    let (read, high) = (parts.read(tested).unwrap(), parts.constant(Value::Int(100_000)));
    let to = parts.binary(Binary::AtMost, read, high).unwrap();
    let within = parts.binary(Binary::And, from, to).unwrap();
    let update = parts.update_of(primes).unwrap();
    let found = parts.when(update, within).unwrap();
    parts.define_event("foundPrime", found).unwrap();
    let abstractions = parts.abstractions();
    let mut filter = ValueFilter::new(&abstractions[0]);
    let passed: Vec<i32> = (3..200_000).filter(|value| filter.passes(Value::Int(*value))).collect();
    assert_eq!(passed, [3, 99_990, 100_001]);
    assert_eq!(abstractions[1], Abstraction::Off(NotAbstracted::Update));
}
