//! Compares trace validation with a naive search through all executions, on random models and logs.

use invigil_explore::trace_validation::{
    Binding, LogValue, NameMapping, Record, RecordOutcome, ValidationOptions, Validator,
};
use invigil_model::{
    Action, Binary, Domain, Expression, Location, Model, ModelParts, Move, Process, Side, State, Statement,
    Step, Unary, Variable,
};
use invigil_semantics::Semantics;
use invigil_test_support::{Rng, at_least, cases};
use std::collections::HashSet;

const X: u32 = 0;
const BUSY: u32 = 1;
const SLOT: u32 = 2;
const AT: u32 = 3;
const INVENTED: u32 = 4;

fn number(rng: &Rng) -> Expression {
    match rng.below(5) {
        0 => Expression::Constant(rng.below(4) as i64),
        1 => Expression::read(X),
        2 => Expression::element(SLOT, Expression::Constant(rng.below(2) as i64)),
        3 => Expression::binary(Binary::Add, Expression::read(X), Expression::Constant(1)),
        _ => Expression::read(BUSY),
    }
}

fn condition(rng: &Rng) -> Expression {
    let operators = [Binary::Less, Binary::Equal, Binary::NotEqual, Binary::GreaterOrEqual];
    match rng.below(6) {
        0 => Expression::read(BUSY),
        1 => Expression::unary(Unary::Not, Expression::read(BUSY)),
        2 => Expression::binary(Binary::And, condition(rng), condition(rng)),
        3 => Expression::Constant(1),
        _ => Expression::binary(rng.pick(&operators), number(rng), number(rng)),
    }
}

fn statement(rng: &Rng) -> Statement {
    match rng.below(6) {
        0 => Statement::Choose { place: invigil_model::LValue::scalar(X), low: 0, high: 1 },
        1 => Statement::Require(condition(rng)),
        2 => Statement::assign(BUSY, condition(rng)),
        3 => Statement::Assign {
            place: invigil_model::LValue {
                variable: SLOT,
                index: Some(Box::new(Expression::Constant(rng.below(2) as i64))),
            },
            value: number(rng),
            wraps: true,
        },
        // This may raise a fault.
        _ => Statement::assign(X, number(rng)),
    }
}

fn model(rng: &Rng) -> Model {
    let names = vec!["idle".to_owned(), "work".to_owned(), "done".to_owned()];
    let mut invented = Variable::scalar("invented", Domain::Boolean, 0);
    invented.is_hidden = true;
    let variables = vec![
        Variable::scalar("x", Domain::Integer { low: 0, high: 2 }, 0),
        Variable::scalar("busy", Domain::Boolean, rng.below(2) as i64),
        Variable::array("slot", Domain::Integer { low: 0, high: 3 }, vec![0, 1]),
        Variable::scalar("P.location", Domain::Names(names.clone()), 0),
        invented,
    ];
    let committed = rng.below(6);
    let locations =
        (0..).zip(names).map(|(at, name)| Location { name, is_committed: at == committed }).collect();
    let process = Process { name: "P".into(), locations, location: AT, side: Side::System };
    let mut actions = Vec::new();
    for at in 0..2 + rng.below(4) {
        let mut action = Action::named(format!("action {at}"));
        action.event = rng.pick(&[Some("a".to_owned()), Some("b".to_owned()), Some("c".to_owned()), None]);
        if rng.one_in(2) {
            action.parameters.push(("p".into(), number(rng)));
        }
        if rng.one_in(3) {
            action.parameters.push(("x".into(), Expression::Before(Box::new(Expression::read(X)))));
        }
        if rng.one_in(2) {
            action.moves.push(Move { process: 0, from: rng.below(3) as u32, to: rng.below(3) as u32 });
        }
        action.guard = condition(rng);
        action.effect = (0..rng.below(3)).map(|_| statement(rng)).collect();
        if rng.one_in(3) {
            let flip = Expression::unary(Unary::Not, Expression::read(INVENTED));
            action.effect.push(Statement::assign(INVENTED, flip));
        }
        action.priority = i32::from(rng.one_in(6));
        actions.push(action);
    }
    let start = if rng.one_in(3) { vec![statement(rng)] } else { Vec::new() };
    Model::new(ModelParts { variables, processes: vec![process], actions, start, ..ModelParts::default() })
        .unwrap()
}

/// A value that owns its text.
#[derive(Clone, Debug)]
enum Value {
    Number(i64),
    Text(String),
}

/// A record that owns its names.
#[derive(Clone, Debug)]
struct Line {
    event: Option<String>,
    fields: Vec<(String, Value)>,
}

/// Whether a value of the log equals one of the model.
fn same(model: &Model, variable: u32, value: &Value, has: i64) -> bool {
    match value {
        Value::Number(number) => *number == has,
        Value::Text(text) => *text == model.variable(variable).domain.show(has),
    }
}

fn number_is(value: &Value, has: i64) -> bool {
    matches!(value, Value::Number(number) if *number == has)
}

/// Whether a step matches a line of the log.
fn says(model: &Model, line: &Line, source: &State, action: Option<u32>, target: &State) -> bool {
    line.fields.iter().all(|(name, value)| {
        let parameters = action.map_or(&[][..], |action| &model.action(action).parameters);
        if let Some((_, expression)) = parameters.iter().find(|(known, _)| known == name) {
            let step = Step { source: Some(&source.words), action, target: &target.words };
            return model.value(expression, step).is_ok_and(|has| number_is(value, has));
        }
        let read = |variable: u32, index: u32, state: &State| {
            model.layout().slots[variable as usize].read(&state.words, index)
        };
        match name.as_str() {
            "x" => same(model, X, value, read(X, 0, target)),
            "busy" => same(model, BUSY, value, read(BUSY, 0, target)),
            "slot[0]" => same(model, SLOT, value, read(SLOT, 0, target)),
            "slot[1]" => same(model, SLOT, value, read(SLOT, 1, target)),
            "P" => same(model, AT, value, read(AT, 0, target)),
            "old" => same(model, X, value, read(X, 0, source)),
            // The parameter of another action does not constrain this one.
            _ => true,
        }
    })
}

struct Twin<'m> {
    model: &'m Model,
    names: &'m NameMapping,
    max_hidden_steps: Option<u32>,
    log: &'m [Line],
    seen: HashSet<(usize, u32, State)>,
    matched: Option<usize>,
}

impl Twin<'_> {
    /// Tries every execution from a configuration for the lines from `at` on, after `hidden` consecutive hidden steps.
    fn search(&mut self, at: usize, hidden: u32, config: &State) {
        // The number of hidden steps is irrelevant without a limit.
        let hidden = if self.max_hidden_steps.is_some() { hidden } else { 0 };
        if config.fault.is_some() || !self.seen.insert((at, hidden, config.clone())) {
            return;
        }
        self.matched = self.matched.max(Some(at));
        let is_ignored =
            |line: &&Line| line.event.as_ref().is_some_and(|event| self.names.ignore.contains(event));
        if self.log.get(at).filter(is_ignored).is_some() {
            return self.search(at + 1, hidden, config);
        }
        for (action, target) in self.model.steps(config) {
            let event = self.model.action(action).event.as_deref();
            let is_hidden = event.is_none_or(|event| self.names.hidden.iter().any(|name| name == event));
            if is_hidden && self.max_hidden_steps.is_none_or(|max_hidden_steps| hidden < max_hidden_steps) {
                self.search(at, hidden + 1, &target);
            }
            if let Some(line) = self.log.get(at)
                && target.fault.is_none()
                && event.is_some()
                && line.event.as_deref() == event
                && says(self.model, line, config, Some(action), &target)
            {
                self.search(at + 1, 0, &target);
            }
        }
        let Some(line) = self.log.get(at) else { return };
        let event = line.event.as_deref();
        if event.is_none_or(|event| self.names.stutter.iter().any(|name| name == event)) {
            // Without a step there are no parameters; variables must still match.
            let by = event.and_then(|event| self.model.actions_named(event).first().copied());
            let own = by.map_or(&[][..], |by| &self.model.action(by).parameters);
            let mut about = line.clone();
            about.fields.retain(|(name, _)| !own.iter().any(|(known, _)| known == name));
            if says(self.model, &about, config, None, config) {
                self.search(at + 1, 0, config);
            }
        }
    }
}

/// A log of an execution, sometimes with small changes.
fn log(rng: &Rng, model: &Model, names: &NameMapping) -> Vec<Line> {
    let mut log = Vec::new();
    let starts: Vec<State> = model.initial().into_iter().filter(|start| start.fault.is_none()).collect();
    if starts.is_empty() {
        return log;
    }
    let mut config = rng.pick(&starts);
    for _ in 0..1 + rng.below(12) {
        let steps: Vec<(u32, State)> =
            model.steps(&config).into_iter().filter(|(_, target)| target.fault.is_none()).collect();
        if steps.is_empty() {
            break;
        }
        let (action, target) = rng.pick(&steps);
        let by = model.action(action);
        let may_hide = by.event.as_ref().is_none_or(|event| names.hidden.contains(event) && rng.one_in(2));
        let mut line = Line { event: by.event.clone().filter(|_| !may_hide), fields: Vec::new() };
        let step = Step { source: Some(&config.words), action: Some(action), target: &target.words };
        if line.event.is_some() {
            for (name, value) in &by.parameters {
                if rng.one_in(2)
                    && let Ok(value) = model.value(value, step)
                {
                    line.fields.push((name.clone(), Value::Number(value)));
                }
            }
            if rng.one_in(6) {
                line.fields
                    .push(("old".into(), Value::Number(model.layout().slots[0].read(&config.words, 0))));
            }
        }
        if line.event.is_some() || rng.one_in(3) {
            observe(rng, model, &target, &mut line);
            log.push(line);
        }
        config = target;
    }
    match rng.below(4) {
        0 if log.len() > 1 => drop(log.remove(rng.below(log.len() as u64) as usize)),
        1 if log.len() > 1 => {
            let at = rng.below(log.len() as u64 - 1) as usize;
            log.swap(at, at + 1);
        }
        2 if !log.is_empty() => {
            let at = rng.below(log.len() as u64) as usize;
            if let Some((_, Value::Number(value))) = log[at].fields.first_mut() {
                *value += 1;
            } else {
                log[at].event = Some(rng.pick(&["a", "b", "c"]).to_owned());
            }
        }
        _ => {}
    }
    log
}

/// Adds some variables to a line.
fn observe(rng: &Rng, model: &Model, state: &State, line: &mut Line) {
    for (name, variable, index) in
        [("x", X, 0), ("busy", BUSY, 0), ("slot[0]", SLOT, 0), ("slot[1]", SLOT, 1), ("P", AT, 0)]
    {
        // A parameter of this name may be present already.
        if rng.one_in(4) && !(name == "x" && line.event.is_some()) {
            let value = model.layout().slots[variable as usize].read(&state.words, index);
            let value = match variable {
                AT => Value::Text(model.variable(AT).domain.show(value)),
                _ => Value::Number(value),
            };
            line.fields.push((name.to_owned(), value));
        }
    }
}

fn record<'a>(binding: &Binding<'_>, line: &'a Line) -> Record<'a> {
    let values = line.fields.iter().filter_map(|(name, value)| {
        let given = match value {
            Value::Number(number) => LogValue::Integer(*number),
            Value::Text(text) => LogValue::Text(text),
        };
        Some((binding.field(name)?, given))
    });
    Record { event: line.event.as_deref(), values: values.collect() }
}

#[test]
fn validator_agrees_with_exhaustive_search() {
    let (mut valid, mut invalid, mut halted) = (0, 0, 0);
    for seed in 1..=cases(30_000_u64) {
        let rng = Rng::new(seed);
        let model = model(&rng);
        let has = |event: &str| !model.actions_named(event).is_empty();
        let some = |rng: &Rng| match rng.below(4) {
            0 => rng.pick(&["a", "b", "c"]).to_owned(),
            _ => String::new(),
        };
        let names = NameMapping {
            map: vec![("old".into(), "before.x".into())],
            ignore: vec![some(&rng)],
            stutter: vec![some(&rng)],
            hidden: [some(&rng)].into_iter().filter(|event| has(event)).collect(),
            logged: Vec::new(),
        };
        let max_hidden_steps = rng.pick(&[None, None, Some(0), Some(1), Some(2)]);
        let log = log(&rng, &model, &names);
        let mut twin = Twin {
            model: &model,
            names: &names,
            max_hidden_steps,
            log: &log,
            seen: HashSet::new(),
            matched: None,
        };
        for start in model.initial() {
            twin.search(0, 0, &start);
        }
        let binding = Binding::new(&model, &names).unwrap();
        let options =
            ValidationOptions { max_hidden_steps, history_length: 3, ..ValidationOptions::default() };
        let mut validator = Validator::new(&binding, options).unwrap();
        let mut matched = 0;
        for line in &log {
            match validator.take(&record(&binding, line)) {
                Ok(RecordOutcome::Rejected) => break,
                Ok(RecordOutcome::Matched | RecordOutcome::Ignored) => matched += 1,
                // A changed log may name an unknown event.
                Err(_) => {
                    halted += 1;
                    matched = usize::MAX;
                    break;
                }
            }
        }
        if matched == usize::MAX {
            continue;
        }
        assert_eq!(twin.matched.unwrap_or(0), matched, "seed {seed}: {names:?} {max_hidden_steps:?} {log:?}");
        if matched == log.len() {
            valid += usize::from(log.len() > 2);
            assert!(validator.rejection().is_none());
        } else {
            invalid += usize::from(log.len() > 2);
            let rejection = validator.rejection().unwrap();
            assert!(
                rejection.near_misses.iter().all(|miss| !miss.reasons.is_empty()),
                "seed {seed}: {rejection:#?}"
            );
            assert_eq!(rejection.count == 0, rejection.configurations.is_empty());
        }
        let graph = validator.graph();
        assert!(graph.edges.iter().all(|edge| edge.from < graph.nodes.len() && edge.to < graph.nodes.len()));
        // Every configuration has a predecessor, except in the first layer.
        let begins = |at: usize| graph.nodes[at].layer == 0;
        assert!((0..graph.nodes.len()).all(|at| begins(at) || graph.edges.iter().any(|edge| edge.to == at)));
    }
    assert!(
        valid > at_least(2000) && invalid > at_least(2000),
        "{valid} valid, {invalid} invalid, {halted} unusable"
    );
}

/// A counter with very many values, each of which is logged: every configuration is new.
fn counter(high: i64) -> Model {
    let variables = vec![Variable::scalar("n", Domain::Integer { low: 0, high }, 0)];
    let more = Expression::binary(Binary::Add, Expression::read(0), Expression::Constant(1));
    let up = Action { effect: vec![Statement::assign(0, more)], ..Action::named("up") };
    let stop = Action { event: None, ..Action::named("nothing") };
    Model::new(ModelParts { variables, actions: vec![up, stop], ..ModelParts::default() }).unwrap()
}

#[test]
fn long_logs_use_bounded_memory() {
    let model = counter(1 << 40);
    let binding = Binding::new(&model, &NameMapping::default()).unwrap();
    let field = binding.field("n").unwrap();
    let mut validator = Validator::new(&binding, ValidationOptions::default()).unwrap();
    // More configurations than are kept, so that some are dropped.
    for n in 1..=1_200_000 {
        let record = Record { event: Some("up"), values: vec![(field, LogValue::Integer(n))] };
        assert_eq!(validator.take(&record), Ok(RecordOutcome::Matched), "{n}");
    }
    let record = Record { event: Some("up"), values: vec![(field, LogValue::Integer(0))] };
    assert_eq!(validator.take(&record), Ok(RecordOutcome::Rejected));
    let rejection = validator.rejection().unwrap();
    assert_eq!(rejection.near_misses[0].to_string(), "up: the log has n = 0, the model has 1200001");
    let graph = validator.graph();
    assert_eq!(graph.nodes.len(), 11);
    assert!(graph.nodes.iter().all(|node| node.survives), "{graph:?}");
}

#[test]
fn repeated_records_hit_the_cache() {
    // A twelve-hour clock whose position is only known from earlier records.
    let variables = vec![Variable::scalar("hour", Domain::Integer { low: 0, high: 11 }, 0)];
    let more = Expression::binary(Binary::Add, Expression::read(0), Expression::Constant(1));
    let round = Expression::binary(Binary::Remainder, more, Expression::Constant(12));
    let tick = Action { effect: vec![Statement::assign(0, round)], ..Action::named("tick") };
    let place = invigil_model::LValue::scalar(0);
    let start = vec![Statement::Choose { place, low: 0, high: 11 }];
    let parts = ModelParts { variables, actions: vec![tick], start, ..ModelParts::default() };
    let model = Model::new(parts).unwrap();
    let binding = Binding::new(&model, &NameMapping::default()).unwrap();
    let mut validator = Validator::new(&binding, ValidationOptions::default()).unwrap();
    let (tick, hour) = (Some("tick"), binding.field("hour").unwrap());
    for _ in 0..1_000_000 {
        assert_eq!(validator.take(&Record { event: tick, values: Vec::new() }), Ok(RecordOutcome::Matched));
    }
    assert_eq!(validator.configurations(), 12);
    let noon = Record { event: tick, values: vec![(hour, LogValue::Integer(0))] };
    assert_eq!(validator.take(&noon), Ok(RecordOutcome::Matched));
    assert_eq!(validator.survivors().runs, [(12, 1_000_001), (1, 1)]);
    assert_eq!(validator.take(&noon), Ok(RecordOutcome::Rejected));
}
