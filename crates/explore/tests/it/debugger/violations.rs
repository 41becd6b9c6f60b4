//! Property automata as breakpoints, on models.

use invigil_explore::breakpoint_search::{Breakpoint, BreakpointFinder, HasModel};
use invigil_explore::debugger::{DebugAction, Debugger, Multiverse};
use invigil_model::{Action, Binary, Domain, Expression, Model, ModelParts, Statement, Variable};
use invigil_monitor::automaton::{Automaton, AutomatonDef as Written, BranchEffect, State, Transition};
use invigil_monitor::event::{EventCatalog, EventKind as When};
use invigil_monitor::verdict::Verdict;
use invigil_semantics::{Compose, Evaluate, RoundRobin, Semantics};
use std::sync::Arc;

/// A counter that is incremented and decremented.
fn counter() -> Model {
    let n = Variable::scalar("n", Domain::Integer { low: 0, high: 9 }, 0);
    let by = |operator| Expression::binary(operator, Expression::read(0), Expression::Constant(1));
    let up = Action { effect: vec![Statement::assign(0, by(Binary::Add))], ..Action::named("up") };
    let down = Action {
        guard: Expression::read(0),
        effect: vec![Statement::assign(0, by(Binary::Subtract))],
        ..Action::named("down")
    };
    Model::new(ModelParts { variables: vec![n], actions: vec![up, down], ..ModelParts::default() }).unwrap()
}

/// "It goes down at most once."
fn once(catalog: &mut EventCatalog) -> Arc<Automaton> {
    let down = catalog.declare("down", When::Before);
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
        event: down,
        guard: None,
        failure: None,
        reads: vec![],
        condition: None,
        span: Default::default(),
        success: Some(BranchEffect { target: Some(target), ..BranchEffect::default() }),
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

fn actions<S: Semantics + Evaluate + HasModel>(subject: &S, stop: Breakpoint<'_, S>) -> Vec<u32> {
    let starts: Vec<S::Config> = subject.initial().into_iter().collect();
    let found = BreakpointFinder::new(subject).run(&starts, &[stop]);
    found.witnesses[0].execution.steps.iter().map(|(action, _)| S::action(action)).collect()
}

#[test]
fn breakpoint_on_violation_finds_shortest_execution() {
    let (model, mut catalog) = (counter(), EventCatalog::default());
    let once = once(&mut catalog);
    let stop = || Breakpoint::violation(&model, &catalog, Arc::clone(&once));
    assert_eq!(actions(&model, stop()), [0, 0, 1, 1]);
    let mut debugger: Debugger<'_, Model, Multiverse<_, _>> = Debugger::new(&model);
    debugger.breakpoints.push(stop());
    let ran = debugger.act(&debugger.initial_config(), &DebugAction::Run).unwrap();
    assert_eq!(ran.history.len(), 5);
}

/// The unchanged property also works on the model under a scheduler.
#[test]
fn violation_breakpoint_works_on_scheduled_model() {
    let (model, mut catalog) = (counter(), EventCatalog::default());
    let once = once(&mut catalog);
    let fair = (&model).scheduled(RoundRobin::new(|action: &u32| *action));
    assert_eq!(actions(&fair, Breakpoint::violation(&model, &catalog, once)), [0, 1, 0, 1]);
}
