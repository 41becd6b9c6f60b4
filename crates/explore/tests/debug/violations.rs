//! Property automata as breakpoints, on models.

use invigil_explore::debugger::{Act, Debugger, Multiverse};
use invigil_explore::finder::{Finder, OfModel, Stop};
use invigil_model::{Action, Binary, Expression, Kind, Model, Parts, Statement, Variable};
use invigil_monitor::automaton::{Automaton, End, Parts as Written, State, Transition};
use invigil_monitor::event::{Catalog, Kind as When};
use invigil_monitor::verdict::Verdict;
use invigil_semantics::{Compose, Evaluate, RoundRobin, Semantics};
use std::sync::Arc;

/// A counter that goes up and down.
fn counter() -> Model {
    let n = Variable::scalar("n", Kind::Integer { low: 0, high: 9 }, 0);
    let by = |operator| Expression::binary(operator, Expression::read(0), Expression::Constant(1));
    let up = Action { effect: vec![Statement::assign(0, by(Binary::Add))], ..Action::named("up") };
    let down = Action {
        guard: Expression::read(0),
        effect: vec![Statement::assign(0, by(Binary::Subtract))],
        ..Action::named("down")
    };
    Model::new(Parts { variables: vec![n], actions: vec![up, down], ..Parts::default() }).unwrap()
}

/// "It goes down at most once."
fn once(catalog: &mut Catalog) -> Arc<Automaton> {
    let down = catalog.symbol("down", When::Before);
    let state = |name: &str, verdict| State {
        name: name.into(),
        verdict,
        is_final: false,
        action: None,
        at_end: Default::default(),
        span: Default::default(),
    };
    let to = |from, target| Transition {
        from,
        symbol: down,
        guard: None,
        failure: None,
        reads: vec![],
        condition: None,
        span: Default::default(),
        success: Some(End { target: Some(target), ..End::default() }),
    };
    Arc::new(Automaton::new(Written {
        states: vec![
            state("none", Verdict::Accepting),
            state("one", Verdict::Accepting),
            state("two", Verdict::NonAccepting),
        ],
        transitions: vec![to(0, 1), to(1, 2)],
        ..Written::default()
    }))
}

fn actions<S: Semantics + Evaluate + OfModel>(subject: &S, stop: Stop<'_, S>) -> Vec<u32> {
    let starts: Vec<S::Config> = subject.initial().into_iter().collect();
    let found = Finder::new(subject).run(&starts, &[stop]);
    found.witnesses[0].execution.steps.iter().map(|(action, _)| S::action(action)).collect()
}

#[test]
fn the_shortest_violation_is_found() {
    let (model, mut catalog) = (counter(), Catalog::default());
    let once = once(&mut catalog);
    let stop = || Stop::violation(&model, &catalog, Arc::clone(&once));
    assert_eq!(actions(&model, stop()), [0, 0, 1, 1]);
    let mut debugger: Debugger<'_, Model, Multiverse<_, _>> = Debugger::new(&model);
    debugger.stops.push(stop());
    let ran = debugger.act(&debugger.begin(), &Act::Run).unwrap();
    assert_eq!(ran.history.len(), 5);
}

/// The same property, unchanged, on the model under a scheduler.
#[test]
fn a_scheduled_model_is_watched_alike() {
    let (model, mut catalog) = (counter(), Catalog::default());
    let once = once(&mut catalog);
    let fair = (&model).scheduled(RoundRobin::new(|action: &u32| *action));
    assert_eq!(actions(&fair, Stop::violation(&model, &catalog, once)), [0, 1, 0, 1]);
}
