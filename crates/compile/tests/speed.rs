//! How fast compiled models are, and how long it takes to compile them. Prints; to be run with
//! `cargo test --release -p invigil-compile --test speed -- --ignored --nocapture`.

use invigil_compile::Compiled;
use invigil_explore::plain::Plain;
use invigil_explore::{Space, Successors};
use invigil_model::{
    Action, Binary, Expression, Kind, Location, Model, Move, Parts, Place, Process, Statement, Unit, Variable,
};
use std::collections::HashSet;
use std::time::SystemTime;

fn number(value: i64) -> Expression {
    Expression::Constant(value)
}

/// Peterson's algorithm for `n` processes, with bytes for variables.
fn peterson(n: i64) -> Model {
    let byte = Kind::Integer { low: 0, high: 255 };
    let zeros = || vec![0; n as usize];
    let mut variables =
        vec![Variable::array("pos", byte.clone(), zeros()), Variable::array("step", byte.clone(), zeros())];
    let (mut processes, mut actions) = (Vec::new(), Vec::new());
    for i in 0..n {
        let names = ["NCS", "CS", "wait", "q2", "q3"];
        let [j, k, at] = [0, 1, 2].map(|more| variables.len() as u32 + more);
        variables.push(Variable::scalar(format!("P{i}.j"), byte.clone(), 0));
        variables.push(Variable::scalar(format!("P{i}.k"), byte.clone(), 0));
        let kind = Kind::Names(names.map(str::to_owned).to_vec());
        variables.push(Variable::scalar(format!("P{i}"), kind, 0));
        let location = |name: &str| Location { name: name.to_owned(), is_committed: false };
        let locations = names.map(location).to_vec();
        processes.push(Process { name: format!("P{i}"), locations, location: at, unit: Unit::System });

        let (read, is) = (Expression::read, Expression::binary);
        let more = |variable| Expression::binary(Binary::Add, read(variable), number(1));
        let previous = || Expression::binary(Binary::Subtract, read(j), number(1));
        let put = |array, index, value| Statement::Assign {
            place: Place { variable: array, index: Some(Box::new(index)) },
            value,
            wraps: false,
        };
        let mut add = |from: u32, to: u32, guard: Expression, effect: Vec<Statement>| {
            let moves = vec![Move { process: i as u32, from, to }];
            actions.push(Action {
                moves,
                guard,
                effect,
                ..Action::named(format!("P{i}: {from} to {to}, {}", actions.len()))
            });
        };
        add(0, 2, number(1), vec![Statement::assign(j, number(1))]);
        add(1, 0, number(1), vec![put(0, number(i), number(0))]);
        add(2, 3, is(Binary::Less, read(j), number(n)), vec![put(0, number(i), read(j))]);
        add(2, 1, is(Binary::Equal, read(j), number(n)), vec![]);
        add(3, 4, number(1), vec![put(1, previous(), number(i)), Statement::assign(k, number(0))]);
        let passed = is(
            Binary::Or,
            is(Binary::Equal, read(k), number(i)),
            is(Binary::Less, Expression::element(0, read(k)), read(j)),
        );
        let may_pass = is(Binary::And, is(Binary::Less, read(k), number(n)), passed);
        add(4, 4, may_pass, vec![Statement::assign(k, more(k))]);
        let last = is(Binary::NotEqual, Expression::element(1, previous()), number(i));
        let may_leave = is(Binary::Or, last, is(Binary::Equal, read(k), number(n)));
        add(4, 2, may_leave, vec![Statement::assign(j, more(j))]);
    }
    Model::new(Parts { variables, processes, actions, ..Parts::default() }).unwrap()
}

/// Szymanski's algorithm for `n` processes: small variables, waiting loops.
fn szymanski(n: i64) -> Model {
    let small = Kind::Integer { low: 0, high: 4 };
    let counter = Kind::Integer { low: 0, high: n };
    let mut variables = vec![Variable::array("flag", small, vec![0; n as usize])];
    let (mut processes, mut actions) = (Vec::new(), Vec::new());
    for i in 0..n {
        let names = ["NCS", "p2", "p3", "p4", "p5", "p6", "p7", "CS", "p9", "p10", "p11", "p12"];
        let [j, at] = [0, 1].map(|more| variables.len() as u32 + more);
        variables.push(Variable::scalar(format!("P{i}.j"), counter.clone(), 0));
        let kind = Kind::Names(names.map(str::to_owned).to_vec());
        variables.push(Variable::scalar(format!("P{i}"), kind, 0));
        let location = |name: &str| Location { name: name.to_owned(), is_committed: false };
        let locations = names.map(location).to_vec();
        processes.push(Process { name: format!("P{i}"), locations, location: at, unit: Unit::System });
        let is = Expression::binary;
        let read_j = || Expression::read(j);
        let flag = || Expression::element(0, read_j());
        let set = |value| Statement::Assign {
            place: Place { variable: 0, index: Some(Box::new(number(i))) },
            value: number(value),
            wraps: false,
        };
        let start = || Statement::assign(j, number(0));
        let next = || Statement::assign(j, is(Binary::Add, read_j(), number(1)));
        let more = |condition| is(Binary::And, is(Binary::Less, read_j(), number(n)), condition);
        let at_end = |end: i64| is(Binary::Equal, read_j(), number(end));
        let mut add = |from: u32, to: u32, guard: Expression, effect: Vec<Statement>| {
            let moves = vec![Move { process: i as u32, from, to }];
            let name = format!("P{i}: {from} to {to}, {}", actions.len());
            actions.push(Action { moves, guard, effect, ..Action::named(name) });
        };
        let less = |value| is(Binary::Less, flag(), number(value));
        let equal = |value| is(Binary::Equal, flag(), number(value));
        add(0, 1, number(1), vec![set(1), start()]);
        add(1, 1, more(less(3)), vec![next()]);
        add(1, 2, at_end(n), vec![set(3), start()]);
        add(2, 3, more(equal(1)), vec![set(2), start()]);
        add(2, 2, more(is(Binary::NotEqual, flag(), number(1))), vec![next()]);
        add(2, 4, at_end(n), vec![set(4), start()]);
        add(3, 3, more(is(Binary::NotEqual, flag(), number(4))), vec![next()]);
        add(3, 3, at_end(n), vec![start()]);
        add(3, 4, more(equal(4)), vec![set(4), start()]);
        add(4, 4, is(Binary::And, is(Binary::Less, read_j(), number(i)), less(2)), vec![next()]);
        add(4, 7, at_end(i), vec![Statement::assign(j, number((i + 1).min(n)))]);
        let safe = is(Binary::Or, less(2), is(Binary::Greater, flag(), number(3)));
        add(7, 7, more(safe), vec![next()]);
        add(7, 0, at_end(n), vec![set(0), start()]);
    }
    Model::new(Parts { variables, processes, actions, ..Parts::default() }).unwrap()
}

/// Up to `most` configurations that can be reached.
fn reachable(space: &dyn Space, most: usize) -> Vec<u64> {
    let (width, mut out) = (space.width(), Successors::default());
    space.initial(&mut out);
    let (mut all, mut seen, mut at) = (Vec::new(), HashSet::new(), 0);
    loop {
        for (state, taken) in out.words.chunks_exact(width).zip(&out.taken) {
            if taken.flags == 0 && seen.len() < most && seen.insert(state.to_vec()) {
                all.extend_from_slice(state);
            }
        }
        out.clear();
        if at == all.len() {
            return all;
        }
        space.successors(&all[at..at + width], &mut out);
        at += width;
    }
}

/// Seconds for which this thread had a processor, where the system tells; else the time of day. The machine may have
/// other things to do.
fn seconds() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let busy = told.and_then(|told| told.split(' ').next().and_then(|first| first.parse::<u64>().ok()));
    let clock = || SystemTime::UNIX_EPOCH.elapsed().map_or(0.0, |time| time.as_secs_f64());
    busy.map_or_else(clock, |nanoseconds| nanoseconds as f64 / 1e9)
}

/// Seconds that something takes, as a mean of many times: the system counts in large steps.
fn mean(mut what: impl FnMut()) -> f64 {
    let (since, mut times) = (seconds(), 0);
    loop {
        what();
        times += 1;
        let passed = seconds() - since;
        if passed > 0.3 {
            return passed / f64::from(times);
        }
    }
}

fn measure(name: &str, model: &Model) {
    let compiled = Compiled::new(model, &[]).unwrap();
    let actions = model.parts().actions.len();
    let compile_time = mean(|| drop(Compiled::new(model, &[])));
    let all = reachable(&compiled, 400_000);
    let (mut out, mut ends) = (Successors::default(), Vec::new());
    let (width, plain) = (compiled.width(), Plain::new(model, Vec::new()));
    let (states, mut transitions) = (all.len() / width, 0);
    let time = mean(|| {
        transitions = 0;
        for batch in all.chunks(64 * width) {
            out.clear();
            ends.clear();
            compiled.bulk(batch, &mut out, &mut ends);
            transitions += out.len();
        }
    });
    let some = &all[..all.len().min(1000 * width)];
    let interpreted = mean(|| {
        out.clear();
        plain.bulk(some, &mut out, &mut ends);
    });
    println!(
        "{name}: {width} words, {states} states, {transitions} transitions, {:.1} ns a transition ({:.1} a state), \
         interpreted {:.0}; {actions} actions compiled in {:.2} ms, {:.0} µs each",
        time * 1e9 / transitions as f64,
        time * 1e9 / states as f64,
        interpreted * 1e9 / out.len() as f64,
        compile_time * 1e3,
        compile_time * 1e6 / actions as f64,
    );
}

#[test]
#[ignore = "prints figures"]
fn successors_alone() {
    for n in [3, 4] {
        measure(&format!("peterson, {n} processes"), &peterson(n));
    }
    for n in [3, 4, 8, 30] {
        measure(&format!("szymanski, {n} processes"), &szymanski(n));
    }
}
