//! Sessions for the tests, and what is said in them.

use crate::fake::{Arg, Fake, Log, Op};
use invigil_expr::diag::{Diagnostic, SourceId, Sources};
use invigil_lang::{prop, report, scn};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::Catalog;
use invigil_session::subject::Resume;
use invigil_session::{Listener, Options, Outcome, Reason, Session, Speaker};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// The property of the thesis (figure 5.6), for a queue of any size.
pub(crate) const QUEUE: &str = r"
slice on queue
initialization {
    N = 0
    max = 0
}
state init accepting {
    transition { event queue_new(queue, size: int) { max = size } success queue_ready }
}
state queue_ready accepting {
    transition {
        event queue_push(queue) { return N < max }
        success { N = N + 1 } queue_ready
        failure sink
    }
}
state sink non-accepting
";

/// A program that makes a queue and pushes too often: `i` counts.
pub(crate) fn pushing(size: i64, pushes: i64) -> Vec<Op> {
    vec![
        Op::Call("queue_new", vec![("queue", Arg::Number(7)), ("size", Arg::Number(size))]),
        Op::Set("i", 0),
        Op::Call("queue_push", vec![("queue", Arg::Number(7)), ("c", Arg::Variable("i"))]),
        Op::Add("i", 1),
        Op::JumpIfLess("i", pushes, 2),
    ]
}

pub(crate) struct Said(pub(crate) Rc<RefCell<Vec<String>>>);

impl Listener for Said {
    fn line(&mut self, by: Speaker, line: &str) {
        let by = match by {
            Speaker::Property(property) => format!("property {property}"),
            Speaker::Scenario(scenario) => format!("scenario {scenario}"),
            Speaker::Session => "session".to_owned(),
        };
        self.0.borrow_mut().push(format!("{by}: {line}"));
    }
}

/// A session, with what the program and the blocks did beside it.
pub(crate) struct Test {
    pub(crate) session: Session,
    pub(crate) log: Rc<RefCell<Log>>,
    pub(crate) said: Rc<RefCell<Vec<String>>>,
}

/// A session of a program, properties by their names, and scenarios.
pub(crate) fn session(
    ops: Vec<Op>,
    properties: &[(&str, &str)],
    scenarios: &[&str],
    options: Options,
) -> Test {
    let mut catalog = Catalog::default();
    let automata: Vec<Arc<Automaton>> = properties
        .iter()
        .map(|(name, text)| {
            let (property, problems) = prop::parse(SourceId(0), text);
            assert!(problems.is_empty(), "{}", show(text, &problems));
            let (automaton, problems) = prop::lower::lower(name, &property, &[], &mut catalog);
            Arc::new(automaton.unwrap_or_else(|| panic!("{}", show(text, &problems))))
        })
        .collect();
    let known: Vec<&Automaton> = automata.iter().map(|automaton| &**automaton).collect();
    let scenarios = scenarios
        .iter()
        .map(|text| {
            let (scenario, problems) = scn::parse(SourceId(0), text);
            assert!(problems.is_empty(), "{}", show(text, &problems));
            let (scenario, problems) = scn::lower("test", &scenario, &known);
            Arc::new(scenario.unwrap_or_else(|| panic!("{}", show(text, &problems))))
        })
        .collect();
    let (fake, log) = Fake::new(ops);
    let mut session = Session::new(Box::new(fake), automata, catalog, scenarios, options);
    let said = Rc::new(RefCell::new(Vec::new()));
    session.set_listener(Box::new(Said(Rc::clone(&said))));
    Test { session, log, said }
}

/// A session of the queue property with one scenario.
pub(crate) fn queue(ops: Vec<Op>, scenario: &str) -> Test {
    session(ops, &[("queue", QUEUE)], &[scenario], Options::default())
}

pub(crate) fn show(text: &str, problems: &[Diagnostic]) -> String {
    let mut sources = Sources::default();
    sources.add("test", text);
    report::render(&sources, problems, false)
}

impl Test {
    pub(crate) fn go(&mut self) -> Outcome {
        self.session.run(&Resume::Continue).expect("it can be run")
    }

    /// What was said since the last time.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.said.borrow_mut())
    }

    pub(crate) fn value(&mut self, expression: &str) -> String {
        self.session.subject().print(expression).expect("a variable")
    }

    pub(crate) fn states(&self, property: usize) -> Vec<String> {
        let watch = self.session.watch(property).expect("a property");
        watch.current_states().map(str::to_owned).collect()
    }
}

/// Who suspended, in short.
pub(crate) fn reasons(outcome: &Outcome) -> Vec<String> {
    let Outcome::Suspended(reasons) = outcome else { panic!("not suspended: {outcome:?}") };
    let told = reasons.iter().map(|reason| match reason {
        Reason::Verdict(change) => format!("{}: {change} at {}", change.property, change.event),
        Reason::Point(point) => format!("point {}", point.0),
        Reason::Start => "start".to_owned(),
        Reason::Property(property) => format!("property {property}"),
        Reason::PropertyFailed { property, failure } => {
            format!("property {property} failed: {}", failure.message)
        }
        Reason::ScenarioFailed { scenario, failure } => {
            format!("scenario {scenario} failed: {}", failure.message)
        }
    });
    told.collect()
}
