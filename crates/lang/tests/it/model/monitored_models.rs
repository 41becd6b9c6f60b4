//! Models under property files, compared with monitors that are stepped separately.

use invigil_explore::monitored::Monitored;
use invigil_explore::{BAD, FAULT, StateSpace, Successors, interpreted_model};
use invigil_expr::value::Value;
use invigil_model::{
    Action, Binary, Domain, Expression, LValue, Model, ModelParts, Statement, Step, Unary, Variable,
};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::{Event, EventCatalog};
use invigil_monitor::observer::NoopObserver;
use invigil_monitor::slices::SliceTable;
use invigil_monitor::{Monitor, Scratch};
use invigil_test_support::language;
use std::collections::{HashSet, VecDeque};

/// Three files that can be opened and closed in any order, the last two chosen by one action.
fn model() -> Model {
    let is_open = |file: i64| Expression::element(0, Expression::Constant(file));
    let set = |index, value| Statement::Assign {
        place: LValue { variable: 0, index: Some(Box::new(index)) },
        value: Expression::Constant(value),
        wraps: false,
    };
    let file = |number: Expression| vec![("file".to_owned(), number)];
    let open = |number: i64| Action {
        event: Some("open".into()),
        parameters: file(Expression::Constant(number)),
        effect: vec![set(Expression::Constant(number), 1)],
        ..Action::named(format!("open {number}"))
    };
    let close = |number: i64| Action {
        event: Some("close".into()),
        parameters: file(Expression::Constant(number)),
        guard: is_open(number),
        effect: vec![set(Expression::Constant(number), 0)],
        ..Action::named(format!("close {number}"))
    };
    let any = Action {
        event: Some("open".into()),
        parameters: vec![
            ("file".into(), Expression::read(1)),
            ("mode".into(), Expression::read(2)),
            ("again".into(), Expression::binary(Binary::Equal, Expression::read(1), Expression::Constant(2))),
        ],
        effect: vec![
            Statement::Choose { place: LValue::scalar(1), low: 1, high: 2 },
            set(Expression::read(1), 1),
        ],
        ..Action::named("open any")
    };
    let quiet = Action {
        event: None,
        effect: vec![Statement::assign(1, Expression::Constant(1))],
        ..Action::named("quiet")
    };
    let modes = Domain::Names(vec!["reading".into(), "writing_with_a_long_name".into()]);
    Model::new(ModelParts {
        variables: vec![
            Variable::array("open", Domain::Boolean, vec![0, 0, 0]),
            Variable::scalar("last", Domain::Integer { low: 0, high: 2 }, 1),
            Variable::scalar("mode", modes, 1),
        ],
        actions: vec![open(0), close(0), close(1), any, quiet],
        ..ModelParts::default()
    })
    .unwrap()
}

const TWICE: &str = "
slice on file
state init accepting {
    transition { event open(file) success opened }
}
state opened accepting {
    transition { event open(file) success twice }
    transition { event close(file) success init }
}
state twice non-accepting {}
";

const MODES: &str = "
initialization { n = 0 }
state init accepting {
    transition { event open(mode: str) { return mode == 'writing_with_a_long_name' and n < 3 } success { n = n + 1 } init }
    transition { event close(file: int) { return file == 1 } success quiet }
}
state quiet accepting {
    transition { event open(again: bool) { return again } success bad }
}
state bad non-accepting {}
";

fn properties(catalog: &mut EventCatalog) -> Vec<Automaton> {
    let mut automata = vec![];
    automata.extend([TWICE, MODES].map(|text| language::property("property", text, catalog)));
    automata.push(formula("ltl:G(close -> X open)", catalog));
    automata
}

fn formula(text: &str, catalog: &mut EventCatalog) -> Automaton {
    language::formula(text, catalog).expect("a formula")
}

/// The configuration of the model and of each monitor.
type Node = (Box<[u64]>, Vec<SliceTable>);

/// Steps every monitor manually.
fn step(
    catalog: &EventCatalog,
    automata: &[Automaton],
    model: &Model,
    step: Step<'_>,
    at: &[SliceTable],
) -> Vec<SliceTable> {
    let mut after = at.to_vec();
    let action = model.action(step.action.unwrap());
    let Some((symbol, of)) = catalog.iter().find(|(_, of)| Some(&of.name) == action.event.as_ref()) else {
        return after;
    };
    let read = |variable: usize| model.layout().slots[variable].read(step.target, 0);
    let number = action.name.split(' ').nth(1).and_then(|number| number.parse().ok());
    let text = "writing_with_a_long_name";
    let value = |name: &str| match name {
        "file" => Value::int(number.unwrap_or_else(|| read(1))),
        "mode" if number.is_none() => Value::text(0, text.len() as u32),
        "again" if number.is_none() => Value::bool(read(1) == 2),
        _ => Value::UNSET,
    };
    let params: Vec<Value> = of.params.iter().map(|param| value(&param.name)).collect();
    for (automaton, state) in automata.iter().zip(&mut after) {
        automaton.step(
            state,
            &mut Scratch::default(),
            &Event { id: symbol, params: &params, text },
            &mut NoopObserver,
        );
    }
    after
}

#[test]
fn monitored_model_matches_manual_stepping() {
    let model = model();
    let mut catalog = EventCatalog::default();
    let automata = properties(&mut catalog);
    let start = |automaton: &Automaton| automaton.start(&mut Scratch::default(), &mut NoopObserver);
    let first: Node = (model.initial_states()[0].words.clone(), automata.iter().map(start).collect());

    let watched = Monitored::new(
        interpreted_model::InterpretedModel::new(&model, vec![]),
        &model,
        &catalog,
        &automata.iter().collect::<Vec<_>>(),
    );
    let mut out = Successors::default();
    watched.initial(&mut out);
    assert_eq!((out.len(), out.transitions[0].flags), (1, 0));
    // Both in lockstep: the same configurations, steps and flags.
    let mut open = VecDeque::from([(out.state(0, watched.width()).to_vec(), first.clone())]);
    let (mut ours, mut theirs) = (HashSet::from([open[0].0.clone()]), HashSet::from([first]));
    let (mut steps, mut bad) = (0, 0);
    while let Some((state, node)) = open.pop_front() {
        assert_eq!(watched.monitors(&state), node.1);
        out.clear();
        watched.successors(&state, &mut out);
        let mut found = out.words.chunks(watched.width()).zip(&out.transitions);
        for action in model.enabled(&node.0) {
            for target in model.outcomes(&node.0, action) {
                let (next, taken) = found.next().unwrap();
                steps += 1;
                assert_eq!((taken.action, &next[..1]), (action, &target.words[..]));
                let taken_step = Step { source: Some(&node.0), action: Some(action), target: &target.words };
                let after = step(&catalog, &automata, &model, taken_step, &node.1);
                let enters = after
                    .iter()
                    .zip(&node.1)
                    .any(|(after, before)| after.is_violated() && !before.is_violated());
                assert_eq!(taken.flags, if enters { BAD } else { 0 });
                bad += u32::from(enters);
                let is_new = theirs.insert((target.words.clone(), after.clone()));
                assert_eq!(ours.insert(next.to_vec()), is_new, "equal states have equal numbers");
                if is_new {
                    open.push_back((next.to_vec(), (target.words, after)));
                }
            }
        }
        assert!(found.next().is_none());
    }
    assert!(ours.len() > 100 && bad > 10, "{} {steps} {bad}", ours.len());
}

#[test]
fn fault_in_parameter_faults_the_action() {
    let zero = Expression::binary(Binary::Divide, Expression::Constant(1), Expression::read(0));
    let open = Action { parameters: vec![("file".into(), zero)], ..Action::named("open") };
    let variables = vec![Variable::scalar("x", Domain::Boolean, 0)];
    let model = Model::new(ModelParts { variables, actions: vec![open], ..ModelParts::default() }).unwrap();
    let mut catalog = EventCatalog::default();
    let automata = properties(&mut catalog);
    let watched = Monitored::new(
        interpreted_model::InterpretedModel::new(&model, vec![]),
        &model,
        &catalog,
        &[&automata[0]],
    );
    let mut out = Successors::default();
    watched.successors(&[0, 0], &mut out);
    assert_eq!((out.len(), out.transitions[0].flags), (1, FAULT));
}

#[test]
fn end_of_run_violates_open_obligations() {
    let not_yet = Expression::unary(Unary::Not, Expression::read(0));
    let open = Action {
        guard: not_yet,
        effect: vec![Statement::assign(0, Expression::Constant(1))],
        ..Action::named("open")
    };
    let variables = vec![Variable::scalar("opened", Domain::Boolean, 0)];
    let model = Model::new(ModelParts { variables, actions: vec![open], ..ModelParts::default() }).unwrap();
    let mut catalog = EventCatalog::default();
    let automata = ["ltlf:G(open -> F close)", "ltlf:F open"].map(|text| formula(text, &mut catalog));
    let watched = Monitored::new(
        interpreted_model::InterpretedModel::new(&model, vec![]),
        &model,
        &catalog,
        &[&automata[0], &automata[1]],
    );
    let mut out = Successors::default();
    watched.initial(&mut out);
    assert_eq!(watched.violated_at_end(out.state(0, 2)), [1]);
    let start = out.words.clone();
    watched.successors(&start, &mut out);
    assert_eq!((out.len(), watched.violated_at_end(out.state(1, 2))), (2, vec![0]));
}
