//! Small models, built by hand, and sessions with them.

use crate::written::readers;
use invigil_cockpit::multiverse::{Ending, Input, Setting, debug};
use invigil_explore::finder::Execution;
use invigil_model::{
    Action, ActionId, Binary, Expression, Kind, Location, Model, Move, Parts, Place, Process, State,
    Statement, Unary, Unit, Variable,
};

/// Philosophers around a table: each takes the fork on the left, then the one on the right, eats and puts both back.
pub(crate) fn philosophers(count: u32) -> Model {
    let places = ["thinking", "waiting", "eating"].map(str::to_owned);
    let mut parts = Parts { name: "philosophers".to_owned(), ..Parts::default() };
    parts.variables.push(Variable::array("taken", Kind::Boolean, vec![0; count as usize]));
    for who in 0..count {
        let name = format!("P[{who}]");
        parts.variables.push(Variable::scalar(name.clone(), Kind::Names(places.to_vec()), 0));
        let location = |name: &String| Location { name: name.clone(), is_committed: false };
        let locations = places.iter().map(location).collect();
        parts.processes.push(Process {
            name: name.clone(),
            locations,
            location: who + 1,
            unit: Unit::System,
        });
        let fork = |which: u32| Expression::Constant(i64::from(which % count));
        let is_free = |which| Expression::unary(Unary::Not, Expression::element(0, fork(which)));
        let set = |which, value| Statement::Assign {
            place: Place { variable: 0, index: Some(Box::new(fork(which))) },
            value: Expression::Constant(value),
            wraps: false,
        };
        let action = |event: &str, from, to, guard, effect| Action {
            name: format!("{name} {event}"),
            event: Some(event.split(' ').next().unwrap_or_default().to_owned()),
            moves: vec![Move { process: who, from, to }],
            guard,
            effect,
            ..Action::named("")
        };
        parts.actions.push(action("takes left", 0, 1, is_free(who), vec![set(who, 1)]));
        parts.actions.push(action("eats", 1, 2, is_free(who + 1), vec![set(who + 1, 1)]));
        let both = vec![set(who, 0), set(who + 1, 0)];
        parts.actions.push(action("puts down", 2, 0, Expression::Constant(1), both));
    }
    Model::new(parts).unwrap()
}

/// A die that starts with one of two numbers, can be cast, and breaks when it is pushed over its edge.
pub(crate) fn die() -> Model {
    let n = Variable::scalar("n", Kind::Integer { low: 1, high: 4 }, 1);
    let choose = |low, high| Statement::Choose { place: Place::scalar(0), low, high };
    let more = Expression::binary(Binary::Add, Expression::read(0), Expression::Constant(1));
    let cast = Action { effect: vec![choose(1, 3)], ..Action::named("cast") };
    let push = Action { effect: vec![Statement::assign(0, more)], ..Action::named("push") };
    let parts = Parts {
        name: "die".to_owned(),
        variables: vec![n],
        actions: vec![cast, push],
        start: vec![choose(1, 2)],
        ..Parts::default()
    };
    Model::new(parts).unwrap()
}

/// Runs a script; gives what was said, and how it ended.
pub(crate) fn session(model: &Model, script: &str) -> (String, Ending) {
    session_with(model, None, script)
}

/// The same for an execution that was found elsewhere.
pub(crate) fn session_with(
    model: &Model,
    opened: Option<&Execution<State, ActionId>>,
    script: &str,
) -> (String, Ending) {
    let mut out = Vec::new();
    let setting = Setting { name: model.parts().name.clone(), ..Setting::default() };
    let lines = Input::Lines(&mut script.as_bytes());
    let ending = debug(model, &readers(model), opened, setting, lines, &mut out).unwrap();
    (String::from_utf8(out).unwrap(), ending)
}

/// The session is as written here, commands included.
pub(crate) fn expect(model: &Model, expected: &str) {
    let is_command = |line: &&str| line.starts_with("(invigil) ");
    let script: Vec<&str> = expected.lines().filter(is_command).map(|line| &line[10..]).collect();
    let (said, _) = session(model, &script.join("\n"));
    assert_eq!(said.trim_end(), expected.trim(), "\n--- said:\n{said}");
}
