//! Trace validation from the text of a log to the text of the report.

use invigil_check::report::Style;
use invigil_explore::Path;
use invigil_explore::trace_validation::{Binding, NameMapping, ValidationOptions};
use invigil_model::{
    Action, Binary, Domain, Expression, Location, Model, ModelParts, Move, Process, Side, Statement, Variable,
};
use invigil_trace::Input;
use invigil_verify::ExecutionTrace;
use invigil_verify::validation::{ValidationReport, ValidationResult, ValidationSettings, validate_trace};
use std::io::Cursor;

/// A queue with three slots. Items are numbered; a worker takes an item and then logs its completion.
fn queue() -> Model {
    let (next, head, len, at, slot) = (0, 1, 2, 3, 4);
    let item = Domain::Integer { low: 0, high: 9 };
    let names = vec!["idle".to_owned(), "busy".to_owned()];
    let variables = vec![
        Variable::scalar("next", item.clone(), 0),
        Variable::scalar("head", item, 0),
        Variable::scalar("len", Domain::Integer { low: 0, high: 3 }, 0),
        Variable::scalar("Worker.location", Domain::Names(names.clone()), 0),
        Variable::array("slot", Domain::Boolean, vec![0; 3]),
    ];
    let locations = names.into_iter().map(|name| Location { name, is_committed: false }).collect();
    let worker = Process { name: "Worker".into(), locations, location: at, side: Side::System };
    let read = Expression::read;
    let number = Expression::Constant;
    let binary = Expression::binary;
    let up = |variable| {
        let more = binary(Binary::Add, read(variable), number(1));
        Statement::assign(variable, binary(Binary::Remainder, more, number(10)))
    };
    let by = |variable, operator| Statement::assign(variable, binary(operator, read(variable), number(1)));
    let before = |variable| Expression::Before(Box::new(read(variable)));
    let fill = |variable: u32, value| Statement::Assign {
        place: invigil_model::LValue {
            variable: slot,
            index: Some(Box::new(binary(Binary::Remainder, read(variable), number(3)))),
        },
        value: number(value),
        wraps: false,
    };
    let push = Action {
        parameters: vec![("n".into(), before(next))],
        guard: binary(Binary::Less, read(len), number(3)),
        effect: vec![fill(next, 1), up(next), by(len, Binary::Add)],
        ..Action::named("push")
    };
    let pop = Action {
        parameters: vec![("n".into(), before(head))],
        moves: vec![Move { process: 0, from: 0, to: 1 }],
        guard: binary(Binary::Greater, read(len), number(0)),
        effect: vec![fill(head, 0), up(head), by(len, Binary::Subtract)],
        ..Action::named("pop")
    };
    let done = Action { moves: vec![Move { process: 0, from: 1, to: 0 }], ..Action::named("done") };
    Model::new(ModelParts {
        name: "queue".into(),
        variables,
        processes: vec![worker],
        actions: vec![push, pop, done],
        ..ModelParts::default()
    })
    .unwrap()
}

fn run(names: &NameMapping, log: &str) -> ValidationReport {
    run_with(names, ValidationOptions::default(), log)
}

fn run_with(names: &NameMapping, options: ValidationOptions, log: &str) -> ValidationReport {
    let model = queue();
    let binding = Binding::new(&model, names).unwrap();
    let settings = ValidationSettings { options, ..ValidationSettings::default() };
    let input = Input::reader("log", Cursor::new(log.to_owned()));
    validate_trace(&binding, vec![input], &settings, |_, _| true)
}

fn hidden(event: &str) -> NameMapping {
    NameMapping { hidden: vec![event.into()], ..NameMapping::default() }
}

fn reported(validation: &ValidationReport) -> String {
    validation.text(&Style::default())
}

const GOOD: &str = "push(n=0)\npush(n=1)\npop(n=0)\ndone\npush(n=2, len=2)\npop(n=1, Worker=busy)\n";

#[test]
fn possible_trace_is_accepted_in_every_format() {
    let json = "{\"event\": \"push\", \"n\": 0}\n{\"event\": \"pop\", \"n\": 0, \"slot\": [false, false, null]}\n\
        {\"head\": 1, \"Worker\": \"busy\", \"slot[1]\": false}\n";
    let csv = "event,n,len,Worker\npush,0,1,\npush,1,,idle\npop,0,,busy\n,,1,busy\n";
    for log in [GOOD, json, csv] {
        let validation = run(&NameMapping::default(), log);
        assert!(validation.is_possible(), "{log}\n{}", reported(&validation));
        assert_eq!(validation.matched as usize, log.lines().count() - usize::from(log == csv));
    }
    assert_eq!(
        reported(&run(&NameMapping::default(), GOOD)),
        "queue can produce log\n  6 events; the configuration is always known\n"
    );
}

#[test]
fn wrong_value_is_reported_with_expected_value() {
    let validation = run(&NameMapping::default(), &GOOD.replace("pop(n=1", "pop(n=4"));
    assert_eq!(
        reported(&validation),
        "\
queue cannot produce log
  log:6: the first 5 events match, the next does not

  event  line  configurations
      2     2               1  push(n = 1)
      3     3               1  pop(n = 0)
      4     4               1  done
      5     5               1  push(n = 2, len = 2)
      6     6               0  pop(n = 4, Worker = busy)

Before it, the model is in this configuration:
  1  next = 3, head = 1, len = 2, Worker.location = idle, slot = [false, true, true]

Why it does not match:
  pop: the log has n = 4, the model has 1

Possible instead: push(n = 3); pop(n = 1)
"
    );
}

#[test]
fn missing_event_is_reported_as_wrong_location() {
    let validation = run(&NameMapping::default(), &GOOD.replace("done\n", ""));
    let text = reported(&validation);
    assert!(text.contains("log:5: the first 4 events match"), "{text}");
    assert!(text.contains("  pop: Worker is at busy, not at idle\n"), "{text}");
    assert!(text.contains(
        "note: no record so far is `done`; events that are not logged can be hidden: `--hidden 'done'`"
    ));
    assert!(text.contains("Possible instead: push(n = 3); done\n"), "{text}");
    // The hint in the note is applied.
    let validation = run(&hidden("done"), &GOOD.replace("done\n", ""));
    assert!(validation.is_possible());
    let logged = NameMapping { logged: vec!["p*".into()], ..NameMapping::default() };
    assert!(run(&logged, &GOOD.replace("done\n", "")).is_possible());
    // Hidden events may still occur in the log.
    assert!(run(&hidden("done"), GOOD).is_possible());
    let validation = run(&hidden("*"), "pop(n=3)\n");
    assert!(validation.is_possible(), "{}", reported(&validation));
}

#[test]
fn events_in_wrong_order_are_reported_with_false_condition() {
    let validation = run(&NameMapping::default(), "pop(n=0)\npush(n=0)\n");
    let text = reported(&validation);
    assert!(text.contains("log:1: not even the first event matches"), "{text}");
    assert!(text.contains("  pop: `len > 0` is false: len = 0\n"), "{text}");
    let validation = run(&NameMapping::default(), "push\npush\npush\npush\n");
    assert!(reported(&validation).contains("  push: `len < 3` is false: len = 3\n"));
    assert!(reported(&validation).contains("note: no record of `push` has its parameter `n`\n"));
}

#[test]
fn rejection_lists_nearest_configurations_first() {
    let validation = run(&hidden("*"), "push(n=0)\n{\"len\": 9}\n".split('\n').next().unwrap());
    assert!(validation.is_possible());
    let log = "push(n=0)\npush(n=5, len=7)\n";
    let validation = run(&hidden("pop"), log);
    let ValidationResult::Impossible(rejection, rejected) = &validation.result else {
        panic!("{:?}", validation.result)
    };
    assert_eq!((rejected.number, rejected.position.line, rejection.count), (2, 2, 2));
    let reasons: Vec<String> = rejection.near_misses.iter().map(ToString::to_string).collect();
    assert_eq!(
        reasons,
        [
            "push: the log has n = 5, the model has 1; the log has len = 7, the model has 2",
            "push: the log has n = 5, the model has 1; the log has len = 7, the model has 1",
        ]
    );
    assert!(reported(&validation).contains("Before it, the model can be in 2 configurations:"));
    assert!(reported(&validation).contains("has 2 (in 1)\n"), "{}", reported(&validation));
}

#[test]
fn log_names_are_mapped_to_model_names() {
    let names = NameMapping {
        map: vec![
            ("enqueue".into(), "push".into()),
            ("item".into(), "n".into()),
            ("was".into(), "before.len".into()),
            ("len".into(), String::new()),
        ],
        ignore: vec!["debug*".into()],
        stutter: vec!["snapshot".into(), "pop".into()],
        ..NameMapping::default()
    };
    let log = "enqueue(item=0, was=0, len=99)\ndebug.1(next=7)\nsnapshot(next=1)\npop(next=1)\npop(0)\n";
    let validation = run(&names, log);
    assert!(validation.is_possible(), "{}", reported(&validation));
    assert_eq!(validation.ignored, 1);
    let validation = run(&names, "snapshot(next=1)\n");
    assert!(reported(&validation).contains("  the log has next = 1, the model has 0\n"));
    let validation = run(&names, "enqueue(was=1)\n");
    assert!(reported(&validation).contains("push: the log has len = 1 beforehand, the model has 0\n"));
    assert!(run(&NameMapping::default(), "after pop(n=1)").errors()[0].contains("no event `after pop`"));
}

#[test]
fn unknown_names_are_reported_with_suggestions() {
    let validation = run(&NameMapping::default(), "push\npsuh(n=1)\npop\nsleep\npsuh\n");
    assert_eq!(
        validation.errors(),
        [
            "log:2: the model has no event `psuh` (2 times); if it is `push`, use `--map 'psuh=push'`; \
             else `--ignore 'psuh'`",
            "log:4: the model has no event `sleep`; to skip it, use `--ignore 'sleep'`; \
             to map it, `--map 'sleep=ACTION'`",
        ]
    );
    assert_eq!(validation.matched, 1);
    assert!(!validation.is_possible() && !validation.is_impossible());
    assert!(reported(&validation).starts_with("no answer: queue can produce log so far (1 event)\n"));

    let validation = run(&NameMapping::default(), "push(nxet=1, host=a)\n");
    assert!(validation.is_possible());
    let text = reported(&validation);
    assert!(text.contains("if it is `next`, use `--map 'nxet=next'`"), "{text}");
    assert!(text.contains("note: not read, because the model has no such names: `host`"), "{text}");
    let validation = run(&NameMapping::default(), "event,nxet\npush,1\n");
    assert!(reported(&validation).contains("`nxet`"), "{}", reported(&validation));
    let validation = run(&NameMapping::default(), "{\"evnt\": \"push\"}\n");
    assert_eq!(
        validation.errors(),
        [
            "log:1: the record has neither an event nor a variable of the model; name the event in a field `event`"
        ]
    );

    let model = queue();
    let names = NameMapping {
        map: vec![("a".into(), "pusch".into()), ("b".into(), "before.lne".into())],
        hidden: vec!["don".into(), "d*".into()],
        logged: vec!["pish".into()],
        ..NameMapping::default()
    };
    let errors = Binding::new(&model, &names).unwrap_err();
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        errors,
        [
            "the model has no event, action, parameter or variable `pusch`",
            "the model has no event, action, parameter or variable `before.lne`",
            "the model has no event or action `don` that could be hidden",
            "the model has no event or action `pish` that could be logged",
        ]
    );
}

#[test]
fn values_of_wrong_kind_stop_validation() {
    let table = [
        (
            "push(len=many)\n",
            "log:1: `len` is `many`, but the model expects an integer from 0 to 3; \
             to ignore the field, use `--map 'len='`",
        ),
        (
            "push(Worker=bussy)\n",
            "log:1: `Worker` is `bussy`, but the model expects one of idle, busy; did you mean `busy`?",
        ),
        (
            "{\"event\": \"push\", \"n\": 0.5}\n",
            "log:1: `n` is `0.5`, but the model expects an integer from 0 to 9; \
             to ignore the field, use `--map 'n='`",
        ),
        (
            "{\"event\": \"push\", \"slot\": [true]}\n",
            "log:1: `slot` is `[true]`, but the model expects a list of 3 elements, each true or false; \
             to ignore the field, use `--map 'slot='`",
        ),
    ];
    for (log, error) in table {
        assert_eq!(run(&NameMapping::default(), log).errors(), [error]);
    }
    // A number out of range matches no value of the model.
    assert!(run(&NameMapping::default(), "push(len=77)\n").is_impossible());
}

#[test]
fn too_many_configurations_or_broken_trace_gives_no_verdict() {
    let few = ValidationOptions { max_configurations: 5, ..ValidationOptions::default() };
    let validation = run_with(&hidden("*"), few, "push\npush\n");
    assert_eq!(validation.result, ValidationResult::TooManyConfigurations(5));
    assert_eq!(
        validation.errors(),
        ["after 0 events, the model could be in more than 5 configurations; \
          log more in the trace, hide fewer actions, or raise `--max-configurations`"]
    );
    // A limit on consecutive hidden steps bounds the configurations.
    let few = ValidationOptions { max_hidden_steps: Some(0), ..few };
    assert!(run_with(&hidden("*"), few, "push\npush\n").is_possible());
    let validation = run(&NameMapping::default(), "push(n=0)\n=??\npush(n=1)\n");
    assert!(validation.is_possible());
    assert!(reported(&validation).contains("note: 1 line could not be read"), "{}", reported(&validation));
}

#[test]
fn json_report_and_graph_are_complete() {
    let log = "push(n=0)\npush(n=1)\npop(n=0)\npop(n=1)\n";
    let validation = run(&hidden("pop"), log);
    assert!(validation.is_impossible());
    let json = validation.json();
    assert_eq!(json["verdict"], "impossible");
    assert_eq!(json["refusal"]["line"], 4);
    assert_eq!(json["refusal"]["configurations"][0]["Worker.location"], "busy");
    // One configuration at the start and after the first event, then two, then none.
    assert_eq!(json["survivors"]["runs"], serde_json::json!([[1, 2], [2, 1], [1, 1], [0, 1]]));
    let nodes = json["graph"]["nodes"].as_array().unwrap();
    assert!(nodes.iter().any(|node| node["survives"] == false));
    let dot = validation.graph.dot();
    assert!(dot.starts_with("digraph") && dot.contains("style=dashed") && dot.contains("✗"), "{dot}");
}

#[test]
fn execution_traces_validate_against_their_model() {
    let model = queue();
    let mut states = vec![model.initial_states()[0].words.clone()];
    let mut actions = Vec::new();
    for step in 0..40 {
        let here = &states[states.len() - 1];
        let enabled = model.enabled(here);
        let action = enabled[step * 7 % enabled.len()];
        let target = model.outcomes(here, action)[0].words.clone();
        actions.push(action);
        states.push(target);
    }
    let path = Path { states, actions, loop_back: None, fault: None };
    let trace = ExecutionTrace::of(&model, &path).to_json_lines();
    let validation = run(&NameMapping::default(), &trace);
    assert!(validation.is_possible(), "{trace}\n{}", reported(&validation));
    assert_eq!(validation.matched, 41);
    assert!(
        validation.unknown_fields.is_empty() && validation.missing_parameters.is_empty(),
        "{}",
        reported(&validation)
    );
    // The complete log must be valid.
    let wrong = trace.replacen("\"next\":3", "\"next\":4", 1);
    assert!(run(&NameMapping::default(), &wrong).is_impossible());
}
