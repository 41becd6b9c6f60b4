//! Small models, and sessions with them.

use crate::multiverse::expression_language::readers;
use invigil_cockpit::multiverse::{Input, ReplConfig, ReplOutcome, debug};
use invigil_explore::breakpoint_search::Execution;
use invigil_model::{
    Action, ActionId, Binary, Domain, Expression, LValue, Location, Model, ModelParts, Move, Process, Side,
    State, Statement, Unary, Variable,
};

/// Philosophers around a table: each takes the fork on the left, then the one on the right, eats and puts both back.
pub(crate) fn philosophers(count: u32) -> Model {
    let places = ["thinking", "waiting", "eating"].map(str::to_owned);
    let mut parts = ModelParts { name: "philosophers".to_owned(), ..ModelParts::default() };
    parts.variables.push(Variable::array("taken", Domain::Boolean, vec![0; count as usize]));
    for who in 0..count {
        let name = format!("P[{who}]");
        parts.variables.push(Variable::scalar(name.clone(), Domain::Names(places.to_vec()), 0));
        let location = |name: &String| Location { name: name.clone(), is_committed: false };
        let locations = places.iter().map(location).collect();
        parts.processes.push(Process {
            name: name.clone(),
            locations,
            location: who + 1,
            side: Side::System,
        });
        let fork = |which: u32| Expression::Constant(i64::from(which % count));
        let is_free = |which| Expression::unary(Unary::Not, Expression::element(0, fork(which)));
        let set = |which, value| Statement::Assign {
            place: LValue { variable: 0, index: Some(Box::new(fork(which))) },
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

/// A die with two initial numbers: `cast` has three outcomes, and `push` raises a fault beyond 4.
pub(crate) fn die() -> Model {
    let n = Variable::scalar("n", Domain::Integer { low: 1, high: 4 }, 1);
    let choose = |low, high| Statement::Choose { place: LValue::scalar(0), low, high };
    let more = Expression::binary(Binary::Add, Expression::read(0), Expression::Constant(1));
    let cast = Action { effect: vec![choose(1, 3)], ..Action::named("cast") };
    let push = Action { effect: vec![Statement::assign(0, more)], ..Action::named("push") };
    let parts = ModelParts {
        name: "die".to_owned(),
        variables: vec![n],
        actions: vec![cast, push],
        start: vec![choose(1, 2)],
        ..ModelParts::default()
    };
    Model::new(parts).unwrap()
}

/// Runs a script and returns its output and how it ended.
pub(crate) fn session(model: &Model, script: &str) -> (String, ReplOutcome) {
    session_with(model, None, script)
}

/// Runs a script on an opened execution.
pub(crate) fn session_with(
    model: &Model,
    opened: Option<&Execution<State, ActionId>>,
    script: &str,
) -> (String, ReplOutcome) {
    let mut out = Vec::new();
    let config = ReplConfig { name: model.parts().name.clone(), ..ReplConfig::default() };
    let lines = Input::Lines(&mut script.as_bytes());
    let ending = debug(model, &readers(model), opened, config, lines, &mut out).unwrap();
    (String::from_utf8(out).unwrap(), ending)
}

/// Runs the commands of an expected transcript and compares the output.
pub(crate) fn expect(model: &Model, expected: &str) {
    let is_command = |line: &&str| line.starts_with("(invigil) ");
    let script: Vec<&str> = expected.lines().filter(is_command).map(|line| &line[10..]).collect();
    let (said, _) = session(model, &script.join("\n"));
    assert_eq!(said.trim_end(), expected.trim(), "\n--- said:\n{said}");
}
