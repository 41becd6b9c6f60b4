//! The interactive monitor: inspection, changes, callbacks.

use invigil_expr::value::Value;
use invigil_monitor::automaton::Branch;
use invigil_monitor::event::{Event, EventCatalog, EventId, EventKind};
use invigil_monitor::interactive::{CheckpointId, InteractiveMonitor, MonitorError, Request, UserValue};
use invigil_monitor::slices::SliceId;
use invigil_monitor::verdict::Verdict;
use invigil_test_support::cases;
use invigil_test_support::language;
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

/// The property of the session reproduced in [Jak19 §2.5].
const QUEUE: &str = r#"
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
        event queue_push(queue) {
            return N < max
        }
        success {
            print("nb push: " + str(N))
            N = N + 1
        } queue_ready
        failure sink
    }
    transition { event queue_free(queue) success gone }
}
state sink non-accepting
state gone accepting final
"#;

const THE_QUEUE: i64 = 93824992252512;

struct Session {
    watch: InteractiveMonitor,
    catalog: EventCatalog,
}

impl Session {
    fn new(text: &str) -> Session {
        let (automaton, catalog) = language::compile(text);
        Session { watch: InteractiveMonitor::new(Arc::new(automaton)), catalog }
    }

    fn symbol(&self, name: &str) -> EventId {
        self.catalog.find(name, EventKind::Before).expect("an event of the property")
    }

    /// Applies an event; its parameters in source order.
    fn apply(&mut self, name: &str, params: &[i64]) -> invigil_monitor::interactive::ApplyResult {
        let params: Vec<Value> = params.iter().map(|value| Value::int(*value)).collect();
        let symbol = self.symbol(name);
        self.watch.apply(&Event { id: symbol, params: &params, text: "" })
    }

    fn states(&self) -> Vec<&str> {
        self.watch.current_states().collect()
    }

    fn needs(&self) -> Vec<String> {
        let needs = self.watch.needed_events();
        let all: Vec<_> =
            self.catalog.iter().filter(|(id, _)| needs.contains(*id)).map(|(_, s)| s.to_string()).collect();
        all
    }
}

/// A list that callbacks write to.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn note(&self, text: impl Into<String>) -> Request {
        self.0.lock().unwrap().push(text.into());
        Request::Continue
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Records all notifications of a monitor.
fn listen(watch: &mut InteractiveMonitor) -> Log {
    let log = Log::default();
    let to = log.clone();
    watch.on_event_applied(move |_, verdict| to.note(format!("applied: {verdict}")));
    let to = log.clone();
    watch.on_state_changed(move |scene, states| {
        let names: Vec<_> = states.iter().map(|state| scene.automaton.state_name(*state)).collect();
        to.note(format!("states: {}", names.join(" ")))
    });
    let to = log.clone();
    watch.on_transition_taken(move |scene, taken| {
        let name = |state| scene.automaton.state_name(state);
        let (from, to_state) = (name(taken.from), name(taken.to));
        let n = scene.slices.show(scene.slices.env(taken.slice)[0]);
        to.note(format!("taken: slice {} {from} -{}-> {to_state} N={n}", taken.slice.0, taken.branch.word()))
    });
    log
}

#[test]
fn thesis_session_is_reproduced() {
    let mut session = Session::new(QUEUE);
    assert_eq!(session.watch.to_string(), "  Slice 1 <None>: init\n      N: 0\n      max: 0\n");
    assert_eq!(session.needs(), ["queue_new"]);
    let applied = session.apply("queue_new", &[THE_QUEUE, 16]);
    assert_eq!((applied.verdict, applied.handled), (Some(Verdict::Accepting), true));
    assert_eq!(
        session.watch.to_string(),
        "  Slice 1 <None>: init
      N: 0
      max: 0
  Slice 2 <93824992252512>: queue_ready
      N: 0
      max: 16
"
    );
    assert_eq!(session.needs(), ["queue_new", "queue_push", "queue_free"]);
    for n in 0..16 {
        assert_eq!(session.apply("queue_push", &[THE_QUEUE]).verdict, Some(Verdict::Accepting));
        assert_eq!(session.watch.printed(), [format!("nb push: {n}")]);
        assert_eq!(
            session.watch.to_string(),
            format!(
                "  Slice 1 <None>: init
      N: 0
      max: 0
  Slice 2 <93824992252512>: queue_ready (from queue_ready)
      N: {}
      max: 16
",
                n + 1
            )
        );
    }
    assert_eq!(session.apply("queue_push", &[THE_QUEUE]).verdict, Some(Verdict::NonAccepting));
    assert_eq!(
        session.watch.to_string(),
        "  Slice 1 <None>: init
      N: 0
      max: 0
  Slice 2 <93824992252512>: sink (from queue_ready) non-accepting
      N: 16
      max: 16
"
    );
    assert_eq!(session.states(), ["init", "sink"]);
    assert_eq!(session.needs(), ["queue_new"], "nothing more is asked about pushes");
    let late = session.apply("queue_push", &[THE_QUEUE]);
    assert_eq!((late.verdict, late.handled), (None, false));
}

#[test]
fn inspection_shows_states_and_variables() {
    let mut session = Session::new(QUEUE);
    session.apply("queue_new", &[7, 2]);
    let watch = &session.watch;
    assert_eq!(watch.states().collect::<Vec<_>>(), ["init", "queue_ready", "sink", "gone"]);
    assert_eq!(watch.env_keys(), ["N", "max"]);
    let slices: Vec<SliceId> = watch.slices().iter().collect();
    let bindings: Vec<_> = watch.slice_bindings().map(|(id, values)| (id, values[0].as_int())).collect();
    assert_eq!(bindings, [(slices[0], None), (slices[1], Some(7))]);
    let env: Vec<_> = watch.env(slices[1]).unwrap().map(|(name, v)| (name, v.as_int())).collect();
    assert_eq!(env, [("N", Some(0)), ("max", Some(2))]);
    assert_eq!(watch.env_value(slices[1], "max").unwrap().as_int(), Some(2));
}

#[test]
fn unknown_names_are_reported() {
    let mut session = Session::new(
        "state init { transition { event a(x) success { y = x } init }
        transition { event b() { return y > 1 } success init } }",
    );
    let watch = &mut session.watch;
    let root = watch.slices().root().unwrap();
    let said = |result: Result<(), MonitorError>| result.unwrap_err().to_string();
    assert_eq!(said(watch.env_value(root, "y").map(drop)), "`y` has no value yet");
    assert_eq!(said(watch.env_value(root, "z").map(drop)), "there is no variable `z`");
    assert_eq!(said(watch.env(SliceId(4)).map(drop)), "there is no slice 5");
    assert_eq!(said(watch.set_env_value(SliceId(4), "y", 1)), "there is no slice 5");
    assert_eq!(said(watch.set_env_value(root, "other", 1)), "there is no variable `other`");
    assert_eq!(said(watch.set_env_value(root, "y", Value::UNSET)), "`y` cannot get this value");
    assert_eq!(said(watch.set_env_value(root, "y", Value::text(0, 20))), "`y` cannot get this value");
    assert_eq!(said(watch.set_current_state("imit")), "there is no state `imit`: did you mean `init`?");
    assert_eq!(said(watch.restore(CheckpointId(3))), "there is no checkpoint 3");
    assert_eq!(said(watch.drop_checkpoint(CheckpointId(3))), "there is no checkpoint 3");
    watch.set_env_value(root, "y", 3).unwrap();
    assert!(session.apply("b", &[]).handled);
}

#[test]
fn callbacks_are_called_in_order() {
    let mut session = Session::new(QUEUE);
    let log = listen(&mut session.watch);
    session.apply("queue_new", &[7, 1]);
    assert_eq!(
        log.take(),
        ["taken: slice 1 init -success-> queue_ready N=0", "states: init queue_ready", "applied: accepting"]
    );
    session.apply("queue_push", &[7]);
    assert_eq!(
        log.take(),
        ["taken: slice 1 queue_ready -success-> queue_ready N=1", "applied: accepting"],
        "the state did not change"
    );
    session.apply("queue_push", &[7]);
    assert_eq!(
        log.take(),
        ["taken: slice 1 queue_ready -failure-> sink N=1", "states: init sink", "applied: non-accepting"]
    );
    session.apply("queue_push", &[7]);
    assert!(log.take().is_empty(), "not delivered");
    session.apply("queue_new", &[8, 1]);
    session.apply("queue_free", &[8]);
    assert_eq!(
        log.take()[3..],
        ["taken: slice 2 queue_ready -success-> gone N=0", "states: init sink", "applied: accepting"]
    );
}

#[test]
fn callbacks_can_be_added_and_removed() {
    let mut session = Session::new(QUEUE);
    let seen = Log::default();
    let to = seen.clone();
    let first = session.watch.on_transition_taken(move |_, taken| {
        assert_eq!(taken.branch, Branch::Success);
        to.note("first")
    });
    let to = seen.clone();
    session.watch.on_transition_taken(move |_, _| to.note("second"));
    session.apply("queue_new", &[7, 1]);
    assert_eq!(seen.take(), ["first", "second"]);
    assert!(session.watch.unregister(first));
    assert!(!session.watch.unregister(first));
    session.apply("queue_push", &[7]);
    assert_eq!(seen.take(), ["second"]);
}

#[test]
fn strongest_request_wins_and_stop_suspends() {
    let mut session = Session::new(QUEUE);
    session.watch.on_event_applied(|_, _| Request::Continue);
    let shell = session.watch.on_transition_taken(|_, _| Request::Suspend);
    assert_eq!(session.apply("queue_new", &[7, 1]).request, Request::Suspend);
    assert!(!session.watch.is_suspended());
    session.watch.unregister(shell);
    assert_eq!(session.apply("queue_push", &[7]).request, Request::Continue);
    session.watch.on_state_changed(|_, _| Request::Stop);
    session.watch.on_event_applied(|_, _| Request::Suspend);
    assert_eq!(session.apply("queue_push", &[7]).request, Request::Stop);
    assert!(session.watch.is_suspended());
}

#[test]
fn unhandled_events_are_reported() {
    let mut session = Session::new(
        "slice on q
        state init accepting {
            transition { event use(q) { return q > 5 } success used }
        }
        state used accepting { transition { event free(q) success init } }
        ",
    );
    let log = Log::default();
    let to = log.clone();
    assert_eq!(session.needs(), ["use"]);
    session.watch.set_unhandled(move |_, slice| to.note(format!("{slice:?}")));
    assert_eq!(session.needs(), ["use", "free"], "whoever wants to know must be reported");
    let applied = session.apply("free", &[3]);
    assert_eq!((applied.verdict, applied.handled), (None, false));
    assert_eq!(log.take(), ["None"], "no slice has a transition on it");
    let applied = session.apply("use", &[3]);
    assert_eq!((applied.verdict, applied.handled), (Some(Verdict::Accepting), false));
    assert_eq!(log.take(), ["Some(SliceId(1))"], "the guard said no");
    session.apply("use", &[6]);
    assert!(log.take().is_empty());
    session.apply("free", &[3]);
    assert_eq!(log.take(), ["None"], "some slice waits for it, but not this one");
    session.watch.clear_unhandled();
    session.apply("free", &[3]);
    assert!(log.take().is_empty());
}

#[test]
fn event_with_missing_parameter_is_not_applied() {
    let mut session = Session::new(QUEUE);
    let log = listen(&mut session.watch);
    let event = Event { id: session.symbol("queue_new"), params: &[Value::int(7), Value::UNSET], text: "" };
    let applied = session.watch.apply(&event);
    assert_eq!((applied.verdict, applied.missing), (None, Some(1)));
    assert!(log.take().is_empty() && session.watch.slices().len() == 1);
}

#[test]
fn suspend_resume_and_reset_change_the_monitor() {
    let mut session = Session::new(QUEUE);
    session.apply("queue_new", &[7, 4]);
    session.watch.suspend();
    assert!(session.needs().is_empty());
    assert_eq!(session.apply("queue_push", &[7]).verdict, None);
    session.watch.resume();
    assert_eq!(session.needs(), ["queue_new", "queue_push", "queue_free"]);
    session.apply("queue_push", &[7]);
    assert_eq!(session.watch.env_value(SliceId(1), "N").unwrap().as_int(), Some(1));
    let seen = listen(&mut session.watch);
    let saved = session.watch.checkpoint();
    session.watch.reset();
    assert_eq!(session.watch.to_string(), Session::new(QUEUE).watch.to_string());
    session.apply("queue_new", &[7, 4]);
    assert_eq!(seen.take().len(), 3, "callbacks stay");
    session.watch.restore(saved).unwrap();
    assert_eq!(session.watch.env_value(SliceId(1), "N").unwrap().as_int(), Some(1), "checkpoints stay");
}

#[test]
fn stepping_and_silent_mode_notify_as_requested() {
    let mut session = Session::new(QUEUE);
    session.watch.step_by_step(true);
    assert_eq!(session.apply("queue_new", &[7, 4]).request, Request::Suspend);
    assert_eq!(session.apply("queue_push", &[7]).request, Request::Suspend);
    assert_eq!(session.watch.printed().len(), 1);
    session.apply("queue_free", &[7]);
    assert_eq!(session.apply("queue_push", &[7]).request, Request::Continue, "not delivered");
    session.watch.step_by_step(false);
    session.watch.set_quiet(true);
    assert_eq!(session.apply("queue_new", &[7, 4]).request, Request::Continue);
    session.apply("queue_push", &[7]);
    assert!(session.watch.printed().is_empty());
    assert_eq!(session.watch.env_value(SliceId(1), "N").unwrap().as_int(), Some(1), "all else is done");
}

#[test]
fn edited_variables_affect_later_steps() {
    let mut session = Session::new(QUEUE);
    session.apply("queue_new", &[7, 2]);
    session.watch.set_env_value(SliceId(1), "max", 0).unwrap();
    assert_eq!(session.apply("queue_push", &[7]).verdict, Some(Verdict::NonAccepting));
    session.watch.set_state(SliceId(1), "queue_ready").unwrap();
    assert_eq!(session.needs(), ["queue_new", "queue_push", "queue_free"]);
    let several = [("max", UserValue::from(5)), ("N", UserValue::from(4))];
    session.watch.set_env(SliceId(1), &several).unwrap();
    assert_eq!(session.apply("queue_push", &[7]).verdict, Some(Verdict::Accepting));
    assert_eq!(session.apply("queue_push", &[7]).verdict, Some(Verdict::NonAccepting));
    // All or nothing.
    let half = [("max", UserValue::from(9)), ("M", UserValue::from(9))];
    assert!(session.watch.set_env(SliceId(1), &half).is_err());
    assert_eq!(session.watch.env_value(SliceId(1), "max").unwrap().as_int(), Some(5));
    // The root slice: new queues start from it.
    session.watch.set_current_state("sink").unwrap();
    assert_eq!(session.states(), ["sink"]);
    assert!(session.needs().is_empty());
}

#[test]
fn strings_of_any_length_are_kept() {
    let mut session = Session::new(
        "initialization { name = \"\" }
        state init accepting {
            transition { event same(x) { return name == \"a name longer than fourteen bytes\" } success bad }
            transition { event keep(x) success { name = name + \"!\" } init }
        }
        state bad non-accepting",
    );
    let root = session.watch.slices().root().unwrap();
    for _ in 0..3 {
        session.watch.set_env_value(root, "name", "a name longer than fourteen bytes, and more").unwrap();
        session.apply("keep", &[0]);
    }
    let shown = session.watch.env_value(root, "name").unwrap();
    assert_eq!(session.watch.slices().show(shown), "'a name longer than fourteen bytes, and more!'");
    assert!(!session.apply("same", &[0]).handled);
    session.watch.set_env_value(root, "name", "a name longer than fourteen bytes").unwrap();
    assert_eq!(session.apply("same", &[0]).verdict, Some(Verdict::NonAccepting));
    let mut twin = Session::new("initialization { name = \"\" }\nstate init accepting");
    let root = twin.watch.slices().root().unwrap();
    let huge = "x".repeat(17 << 20);
    let both = [
        ("name", UserValue::from("long enough to need some room")),
        ("name", UserValue::from(huge.as_str())),
    ];
    assert!(twin.watch.set_env(root, &both).is_err());
    assert_eq!(twin.watch.slices().show(twin.watch.env_value(root, "name").unwrap()), "''");
}

#[test]
fn failing_block_ends_the_monitor_only() {
    let mut session = Session::new(
        "slice on q
        initialization { N = 0 }
        state init accepting {
            transition { event div(q, x) { return 1 // x > 0 } success init }
        }
        state other accepting",
    );
    let log = listen(&mut session.watch);
    let saved = session.watch.checkpoint();
    let applied = session.apply("div", &[1, 0]);
    assert_eq!(applied.verdict, Some(Verdict::Error));
    assert_eq!(log.take(), ["states: init", "applied: error"]);
    assert!(session.watch.fault().is_some() && session.needs().is_empty());
    assert!(session.watch.to_string().contains("Slice 2 <1>: init"), "where it happened is shown");
    assert!(session.watch.to_string().ends_with("zero\n"), "{}", session.watch);
    assert_eq!(session.apply("div", &[1, 1]).verdict, None);
    for slice in [0, 1] {
        session.watch.set_state(SliceId(slice), "other").unwrap();
    }
    assert_eq!(session.states(), ["other"]);
    session.watch.restore(saved).unwrap();
    assert!(session.apply("div", &[1, 1]).handled);
}

#[test]
fn discarded_root_slice_is_reported() {
    let mut session = Session::new(
        "state init accepting { transition { event end() success over } } state over accepting final",
    );
    session.apply("end", &[]);
    assert_eq!(session.watch.set_current_state("init"), Err(MonitorError::NoRoot));
    assert_eq!(session.watch.to_string(), "");
}

#[test]
fn checkpoint_is_dropped_by_name() {
    let mut session = Session::new(QUEUE);
    let (first, second) = (session.watch.checkpoint(), session.watch.checkpoint());
    assert_eq!(session.watch.checkpoints().collect::<Vec<_>>(), [first, second]);
    session.watch.drop_checkpoint(first).unwrap();
    assert_eq!(session.watch.restore(first), Err(MonitorError::NoCheckpoint(first)));
    session.watch.restore(second).unwrap();
    assert_ne!(session.watch.checkpoint(), first, "numbers are not used again");
}

/// Two slice parameters, values on the heap, and slices that are created and discarded.
const TANGLE: &str = r#"
slice on a, b
initialization {
    seen = []
    name = "a name that is too long to be held in a value"
}
state init accepting {
    transition { event one(a, n) { return n % 3 > 0 } success { seen.append(n) } busy }
    transition { event both(a, b, n) success { seen = seen + [str(n) + name] } busy }
}
state busy accepting {
    transition { event both(a, b, n) { return n % 4 > 0 } success { seen.append([n]) } failure bad }
    transition { event all(n) { return n > 3 } success { name = name + str(n) } failure init }
    transition { event one(a, n) { return n > 4 } success gone }
}
state bad non-accepting {
    transition { event one(a, n) success { seen = [] } init }
}
state gone accepting final
"#;

#[derive(Clone, Debug)]
struct Step(&'static str, Vec<i64>);

fn step() -> impl Strategy<Value = Step> {
    let (id, n) = (0..3i64, 0..6i64);
    prop_oneof![
        (id.clone(), n.clone()).prop_map(|(a, n)| Step("one", vec![a, n])),
        (id.clone(), id, n.clone()).prop_map(|(a, b, n)| Step("both", vec![a, b, n])),
        n.prop_map(|n| Step("all", vec![n])),
    ]
}

fn run(session: &mut Session, steps: &[Step]) -> Vec<invigil_monitor::interactive::ApplyResult> {
    steps.iter().map(|Step(name, params)| session.apply(name, params)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(2000)))]

    /// After a restore, the same events lead to the same states, whatever happened in between.
    #[test]
    fn restore_reverts_all_changes(
        before in proptest::collection::vec(step(), 0..12),
        between in proptest::collection::vec(step(), 0..12),
        after in proptest::collection::vec(step(), 0..12),
    ) {
        let mut session = Session::new(TANGLE);
        run(&mut session, &before);
        let saved = session.watch.checkpoint();
        let (slices, shown, needs) =
            (session.watch.slices().clone(), session.watch.to_string(), session.needs());
        let first = run(&mut session, &after);
        let (reached, reached_shown) = (session.watch.slices().clone(), session.watch.to_string());
        run(&mut session, &between);
        session.watch.restore(saved).unwrap();
        prop_assert_eq!(session.watch.slices(), &slices);
        prop_assert_eq!(session.watch.to_string(), shown);
        prop_assert_eq!(session.needs(), needs);
        prop_assert_eq!(run(&mut session, &after), first);
        prop_assert_eq!(session.watch.slices(), &reached);
        prop_assert_eq!(session.watch.to_string(), reached_shown);
        // A monitor that was never restored agrees.
        let mut fresh = Session::new(TANGLE);
        run(&mut fresh, &before);
        run(&mut fresh, &after);
        prop_assert_eq!(fresh.watch.slices(), session.watch.slices());
    }
}
