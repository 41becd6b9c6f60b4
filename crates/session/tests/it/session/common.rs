//! Sessions for the tests, with a log of their messages.

use super::fake_target::{Arg, Fake, Log, Op};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::EventCatalog;
use invigil_session::{Listener, MessageSource, RunOutcome, Session, SessionOptions, SuspendReason};
use invigil_target::ResumeMode;
use invigil_test_support::language;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// The queue property of [Jakse 2019, figure 5.6], for a queue of any size.
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

/// A program that creates a queue and pushes too often; `i` counts the pushes.
pub(crate) fn pushing(size: i64, pushes: i64) -> Vec<Op> {
    vec![
        Op::Call("queue_new", vec![("queue", Arg::Number(7)), ("size", Arg::Number(size))]),
        Op::Set("i", 0),
        Op::Call("queue_push", vec![("queue", Arg::Number(7)), ("c", Arg::Variable("i"))]),
        Op::Add("i", 1),
        Op::JumpIfLess("i", pushes, 2),
    ]
}

pub(crate) struct Messages(pub(crate) Rc<RefCell<Vec<String>>>);

impl Listener for Messages {
    fn message(&mut self, by: MessageSource, line: &str) {
        let by = match by {
            MessageSource::Property(property) => format!("property {property}"),
            MessageSource::Scenario(scenario) => format!("scenario {scenario}"),
            MessageSource::Session => "session".to_owned(),
        };
        self.0.borrow_mut().push(format!("{by}: {line}"));
    }
}

/// A session, with what its target did and its messages.
pub(crate) struct Test {
    pub(crate) session: Session,
    pub(crate) log: Rc<RefCell<Log>>,
    pub(crate) said: Rc<RefCell<Vec<String>>>,
}

/// A session for a program, properties with their names, and scenarios.
pub(crate) fn session(
    ops: Vec<Op>,
    properties: &[(&str, &str)],
    scenarios: &[&str],
    options: SessionOptions,
) -> Test {
    let mut catalog = EventCatalog::default();
    let automata: Vec<Arc<Automaton>> = properties
        .iter()
        .map(|(name, text)| Arc::new(language::property(name, text, &mut catalog)))
        .collect();
    let known: Vec<&Automaton> = automata.iter().map(|automaton| &**automaton).collect();
    let scenarios = scenarios.iter().map(|text| Arc::new(language::scenario("test", text, &known))).collect();
    let (fake, log) = Fake::new(ops);
    let mut session = Session::new(Box::new(fake), automata, catalog, scenarios, options);
    let said = Rc::new(RefCell::new(Vec::new()));
    session.set_listener(Box::new(Messages(Rc::clone(&said))));
    Test { session, log, said }
}

/// A session for the queue property and one scenario.
pub(crate) fn queue(ops: Vec<Op>, scenario: &str) -> Test {
    session(ops, &[("queue", QUEUE)], &[scenario], SessionOptions::default())
}

impl Test {
    pub(crate) fn go(&mut self) -> RunOutcome {
        self.session.run(&ResumeMode::Continue).expect("it can be run")
    }

    /// The messages since the last call.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.said.borrow_mut())
    }

    pub(crate) fn value(&mut self, expression: &str) -> String {
        self.session.target().evaluate(expression).expect("a variable")
    }

    pub(crate) fn states(&self, property: usize) -> Vec<String> {
        let watch = self.session.monitor(property).expect("a property");
        watch.current_states().map(str::to_owned).collect()
    }
}

/// The reasons for a suspension, in short.
pub(crate) fn reasons(outcome: &RunOutcome) -> Vec<String> {
    let RunOutcome::Suspended(reasons) = outcome else { panic!("not suspended: {outcome:?}") };
    let reported = reasons.iter().map(|reason| match reason {
        SuspendReason::StateChange(change) => format!("{}: {change} at {}", change.property, change.event),
        SuspendReason::Breakpoint(point) => format!("point {}", point.0),
        SuspendReason::Start => "start".to_owned(),
        SuspendReason::Property(property) => format!("property {property}"),
        SuspendReason::PropertyFailed { property, failure } => {
            format!("property {property} failed: {}", failure.message)
        }
        SuspendReason::ScenarioFailed { scenario, failure } => {
            format!("scenario {scenario} failed: {}", failure.message)
        }
    });
    reported.collect()
}
