//! Trace validation against a naive twin: a search through all executions, on random models and logs.

use invigil_explore::validate::{Binding, Given, Names, Options, Record, Taken, Validator};
use invigil_model::{
    Action, Binary, Expression, Kind, Location, Model, Move, Parts, Process, State, Statement, Step, Unary,
    Unit, Variable,
};
use invigil_semantics::Semantics;
use std::collections::HashSet;

/// A small generator of numbers that look random.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % sides
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.roll(chances) == 0
    }

    fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.roll(choices.len() as u64) as usize].clone()
    }
}

const X: u32 = 0;
const BUSY: u32 = 1;
const SLOT: u32 = 2;
const AT: u32 = 3;
const INVENTED: u32 = 4;

fn number(dice: &mut Dice) -> Expression {
    match dice.roll(5) {
        0 => Expression::Constant(dice.roll(4) as i64),
        1 => Expression::read(X),
        2 => Expression::element(SLOT, Expression::Constant(dice.roll(2) as i64)),
        3 => Expression::binary(Binary::Add, Expression::read(X), Expression::Constant(1)),
        _ => Expression::read(BUSY),
    }
}

fn condition(dice: &mut Dice) -> Expression {
    let operators = [Binary::Less, Binary::Equal, Binary::NotEqual, Binary::GreaterOrEqual];
    match dice.roll(6) {
        0 => Expression::read(BUSY),
        1 => Expression::unary(Unary::Not, Expression::read(BUSY)),
        2 => Expression::binary(Binary::And, condition(dice), condition(dice)),
        3 => Expression::Constant(1),
        _ => Expression::binary(dice.of(&operators), number(dice), number(dice)),
    }
}

fn statement(dice: &mut Dice) -> Statement {
    match dice.roll(6) {
        0 => Statement::Choose { place: invigil_model::Place::scalar(X), low: 0, high: 1 },
        1 => Statement::Require(condition(dice)),
        2 => Statement::assign(BUSY, condition(dice)),
        3 => Statement::Assign {
            place: invigil_model::Place {
                variable: SLOT,
                index: Some(Box::new(Expression::Constant(dice.roll(2) as i64))),
            },
            value: number(dice),
            wraps: true,
        },
        // This may go wrong.
        _ => Statement::assign(X, number(dice)),
    }
}

fn model(dice: &mut Dice) -> Model {
    let names = vec!["idle".to_owned(), "work".to_owned(), "done".to_owned()];
    let mut invented = Variable::scalar("invented", Kind::Boolean, 0);
    invented.is_hidden = true;
    let variables = vec![
        Variable::scalar("x", Kind::Integer { low: 0, high: 2 }, 0),
        Variable::scalar("busy", Kind::Boolean, dice.roll(2) as i64),
        Variable::array("slot", Kind::Integer { low: 0, high: 3 }, vec![0, 1]),
        Variable::scalar("P.location", Kind::Names(names.clone()), 0),
        invented,
    ];
    let committed = dice.roll(6);
    let locations =
        (0..).zip(names).map(|(at, name)| Location { name, is_committed: at == committed }).collect();
    let process = Process { name: "P".into(), locations, location: AT, unit: Unit::System };
    let mut actions = Vec::new();
    for at in 0..2 + dice.roll(4) {
        let mut action = Action::named(format!("action {at}"));
        action.event = dice.of(&[Some("a".to_owned()), Some("b".to_owned()), Some("c".to_owned()), None]);
        if dice.one_in(2) {
            action.parameters.push(("p".into(), number(dice)));
        }
        if dice.one_in(3) {
            action.parameters.push(("x".into(), Expression::Before(Box::new(Expression::read(X)))));
        }
        if dice.one_in(2) {
            action.moves.push(Move { process: 0, from: dice.roll(3) as u32, to: dice.roll(3) as u32 });
        }
        action.guard = condition(dice);
        action.effect = (0..dice.roll(3)).map(|_| statement(dice)).collect();
        if dice.one_in(3) {
            let flip = Expression::unary(Unary::Not, Expression::read(INVENTED));
            action.effect.push(Statement::assign(INVENTED, flip));
        }
        action.priority = i32::from(dice.one_in(6));
        actions.push(action);
    }
    let start = if dice.one_in(3) { vec![statement(dice)] } else { Vec::new() };
    Model::new(Parts { variables, processes: vec![process], actions, start, ..Parts::default() }).unwrap()
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

/// What the twin thinks a value is.
fn same(model: &Model, variable: u32, value: &Value, has: i64) -> bool {
    match value {
        Value::Number(number) => *number == has,
        Value::Text(text) => *text == model.variable(variable).kind.show(has),
    }
}

fn number_is(value: &Value, has: i64) -> bool {
    matches!(value, Value::Number(number) if *number == has)
}

/// Whether a step is what a line says, name by name.
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
            // The parameter of another action: nothing is said about this one.
            _ => true,
        }
    })
}

struct Twin<'m> {
    model: &'m Model,
    names: &'m Names,
    longest: Option<u32>,
    log: &'m [Line],
    seen: HashSet<(usize, u32, State)>,
    matched: Option<usize>,
}

impl Twin<'_> {
    /// Tries every execution from a configuration, for the lines from `at` on, after so many hidden steps in a row.
    fn search(&mut self, at: usize, hidden: u32, config: &State) {
        // How many steps it took does not matter if there is no limit to it.
        let hidden = if self.longest.is_some() { hidden } else { 0 };
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
            if is_hidden && self.longest.is_none_or(|longest| hidden < longest) {
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
            // Of a step that is none there are no parameters; what it says of variables must hold.
            let by = event.and_then(|event| self.model.actions_called(event).first().copied());
            let own = by.map_or(&[][..], |by| &self.model.action(by).parameters);
            let mut about = line.clone();
            about.fields.retain(|(name, _)| !own.iter().any(|(known, _)| known == name));
            if says(self.model, &about, config, None, config) {
                self.search(at + 1, 0, config);
            }
        }
    }
}

/// A log that comes from an execution, mostly, and is then changed a little, sometimes.
fn log(dice: &mut Dice, model: &Model, names: &Names) -> Vec<Line> {
    let mut log = Vec::new();
    let starts: Vec<State> = model.initial().into_iter().filter(|start| start.fault.is_none()).collect();
    if starts.is_empty() {
        return log;
    }
    let mut config = dice.of(&starts);
    for _ in 0..1 + dice.roll(12) {
        let steps: Vec<(u32, State)> =
            model.steps(&config).into_iter().filter(|(_, target)| target.fault.is_none()).collect();
        if steps.is_empty() {
            break;
        }
        let (action, target) = dice.of(&steps);
        let by = model.action(action);
        let may_hide = by.event.as_ref().is_none_or(|event| names.hidden.contains(event) && dice.one_in(2));
        let mut line = Line { event: by.event.clone().filter(|_| !may_hide), fields: Vec::new() };
        let step = Step { source: Some(&config.words), action: Some(action), target: &target.words };
        if line.event.is_some() {
            for (name, value) in &by.parameters {
                if dice.one_in(2)
                    && let Ok(value) = model.value(value, step)
                {
                    line.fields.push((name.clone(), Value::Number(value)));
                }
            }
            if dice.one_in(6) {
                line.fields
                    .push(("old".into(), Value::Number(model.layout().slots[0].read(&config.words, 0))));
            }
        }
        if line.event.is_some() || dice.one_in(3) {
            observe(dice, model, &target, &mut line);
            log.push(line);
        }
        config = target;
    }
    match dice.roll(4) {
        0 if log.len() > 1 => drop(log.remove(dice.roll(log.len() as u64) as usize)),
        1 if log.len() > 1 => {
            let at = dice.roll(log.len() as u64 - 1) as usize;
            log.swap(at, at + 1);
        }
        2 if !log.is_empty() => {
            let at = dice.roll(log.len() as u64) as usize;
            if let Some((_, Value::Number(value))) = log[at].fields.first_mut() {
                *value += 1;
            } else {
                log[at].event = Some(dice.of(&["a", "b", "c"]).to_owned());
            }
        }
        _ => {}
    }
    log
}

/// Tells some variables.
fn observe(dice: &mut Dice, model: &Model, state: &State, line: &mut Line) {
    for (name, variable, index) in
        [("x", X, 0), ("busy", BUSY, 0), ("slot[0]", SLOT, 0), ("slot[1]", SLOT, 1), ("P", AT, 0)]
    {
        // A parameter of this name is told already, or not.
        if dice.one_in(4) && !(name == "x" && line.event.is_some()) {
            let value = model.layout().slots[variable as usize].read(&state.words, index);
            let value = match variable {
                AT => Value::Text(model.variable(AT).kind.show(value)),
                _ => Value::Number(value),
            };
            line.fields.push((name.to_owned(), value));
        }
    }
}

fn record<'a>(binding: &Binding<'_>, line: &'a Line) -> Record<'a> {
    let values = line.fields.iter().filter_map(|(name, value)| {
        let given = match value {
            Value::Number(number) => Given::Integer(*number),
            Value::Text(text) => Given::Text(text),
        };
        Some((binding.field(name)?, given))
    });
    Record { event: line.event.as_deref(), values: values.collect() }
}

#[test]
fn it_agrees_with_a_search_through_all_executions() {
    let (mut valid, mut invalid, mut halted) = (0, 0, 0);
    for seed in 1..=30_000_u64 {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let model = model(&mut dice);
        let has = |event: &str| !model.actions_called(event).is_empty();
        let some = |dice: &mut Dice| match dice.roll(4) {
            0 => dice.of(&["a", "b", "c"]).to_owned(),
            _ => String::new(),
        };
        let names = Names {
            map: vec![("old".into(), "before.x".into())],
            ignore: vec![some(&mut dice)],
            stutter: vec![some(&mut dice)],
            hidden: [some(&mut dice)].into_iter().filter(|event| has(event)).collect(),
            logged: Vec::new(),
        };
        let longest = dice.of(&[None, None, Some(0), Some(1), Some(2)]);
        let log = log(&mut dice, &model, &names);
        let mut twin =
            Twin { model: &model, names: &names, longest, log: &log, seen: HashSet::new(), matched: None };
        for start in model.initial() {
            twin.search(0, 0, &start);
        }
        let binding = Binding::new(&model, &names).unwrap();
        let options = Options { longest_hidden: longest, remembered: 3, ..Options::default() };
        let mut validator = Validator::new(&binding, options).unwrap();
        let mut matched = 0;
        for line in &log {
            match validator.take(&record(&binding, line)) {
                Ok(Taken::Lost) => break,
                Ok(Taken::Matched | Taken::Ignored) => matched += 1,
                // A changed log may name an event that no action has.
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
        assert_eq!(twin.matched.unwrap_or(0), matched, "seed {seed}: {names:?} {longest:?} {log:?}");
        if matched == log.len() {
            valid += usize::from(log.len() > 2);
            assert!(validator.refusal().is_none());
        } else {
            invalid += usize::from(log.len() > 2);
            let refusal = validator.refusal().unwrap();
            assert!(refusal.misses.iter().all(|miss| !miss.reasons.is_empty()), "seed {seed}: {refusal:#?}");
            assert_eq!(refusal.count == 0, refusal.configurations.is_empty());
        }
        let graph = validator.graph();
        assert!(graph.edges.iter().all(|edge| edge.from < graph.nodes.len() && edge.to < graph.nodes.len()));
        // Every configuration comes from one before it, except for those that the graph begins with.
        let begins = |at: usize| graph.nodes[at].layer == 0;
        assert!((0..graph.nodes.len()).all(|at| begins(at) || graph.edges.iter().any(|edge| edge.to == at)));
    }
    assert!(valid > 2000 && invalid > 2000, "{valid} valid, {invalid} invalid, {halted} unusable");
}

/// A counter that goes on for very long, told by its value: every configuration is a new one.
fn counter(high: i64) -> Model {
    let variables = vec![Variable::scalar("n", Kind::Integer { low: 0, high }, 0)];
    let more = Expression::binary(Binary::Add, Expression::read(0), Expression::Constant(1));
    let up = Action { effect: vec![Statement::assign(0, more)], ..Action::named("up") };
    let stop = Action { event: None, ..Action::named("nothing") };
    Model::new(Parts { variables, actions: vec![up, stop], ..Parts::default() }).unwrap()
}

#[test]
fn long_logs_do_not_fill_the_memory() {
    let model = counter(1 << 40);
    let binding = Binding::new(&model, &Names::default()).unwrap();
    let field = binding.field("n").unwrap();
    let mut validator = Validator::new(&binding, Options::default()).unwrap();
    // More than are kept, so that some are forgotten on the way.
    for n in 1..=1_200_000 {
        let record = Record { event: Some("up"), values: vec![(field, Given::Integer(n))] };
        assert_eq!(validator.take(&record), Ok(Taken::Matched), "{n}");
    }
    let record = Record { event: Some("up"), values: vec![(field, Given::Integer(0))] };
    assert_eq!(validator.take(&record), Ok(Taken::Lost));
    let refusal = validator.refusal().unwrap();
    assert_eq!(refusal.misses[0].to_string(), "up: the log says n = 0, the model has 1200001");
    let graph = validator.graph();
    assert_eq!(graph.nodes.len(), 11);
    assert!(graph.nodes.iter().all(|node| node.survives), "{graph:?}");
}

#[test]
fn what_a_log_repeats_is_computed_once() {
    // A clock of twelve hours that loses its hands: where it is depends on all that was seen.
    let variables = vec![Variable::scalar("hour", Kind::Integer { low: 0, high: 11 }, 0)];
    let more = Expression::binary(Binary::Add, Expression::read(0), Expression::Constant(1));
    let round = Expression::binary(Binary::Remainder, more, Expression::Constant(12));
    let tick = Action { effect: vec![Statement::assign(0, round)], ..Action::named("tick") };
    let place = invigil_model::Place::scalar(0);
    let start = vec![Statement::Choose { place, low: 0, high: 11 }];
    let parts = Parts { variables, actions: vec![tick], start, ..Parts::default() };
    let model = Model::new(parts).unwrap();
    let binding = Binding::new(&model, &Names::default()).unwrap();
    let mut validator = Validator::new(&binding, Options::default()).unwrap();
    let (tick, hour) = (Some("tick"), binding.field("hour").unwrap());
    for _ in 0..1_000_000 {
        assert_eq!(validator.take(&Record { event: tick, values: Vec::new() }), Ok(Taken::Matched));
    }
    assert_eq!(validator.configurations(), 12);
    let noon = Record { event: tick, values: vec![(hour, Given::Integer(0))] };
    assert_eq!(validator.take(&noon), Ok(Taken::Matched));
    assert_eq!(validator.survivors().runs, [(12, 1_000_001), (1, 1)]);
    assert_eq!(validator.take(&noon), Ok(Taken::Lost));
}
