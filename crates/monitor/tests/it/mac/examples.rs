//! Examples of the publications, and the documented decisions.

use crate::mac::script::{Def, E, Guard, Reaction, Script, Val, X, expr, occurrence};
use Binary::*;
use invigil_monitor::event::EventId;
use invigil_monitor::mac::{
    Action, AuxiliaryId, Binary, CheckOutput, Checker, ConditionId, Definition, EventDeriver, EventGroup,
    FaultKind, Interface, MethodId, Recogniser, ScriptDef, ScriptError, ScriptEventId, ScriptOutputs,
    ScriptPlan, Snapshot, SnapshotError, SnapshotInput, Truth, Type, Unary, Value, VariableId,
};

fn int(value: i32) -> Box<X> {
    X::Const(Val::Int(value)).into()
}

fn long(value: i64) -> Box<X> {
    X::Const(Val::Long(value)).into()
}

fn bin(operator: Binary, a: impl Into<Box<X>>, b: impl Into<Box<X>>) -> Box<X> {
    X::Bin(operator, a.into(), b.into()).into()
}

fn var(at: usize) -> Box<X> {
    X::Var(at).into()
}

fn aux(variable: usize) -> Box<X> {
    X::Aux { variable, primed: false }.into()
}

fn primed(variable: usize) -> Box<X> {
    X::Aux { variable, primed: true }.into()
}

fn named(at: usize) -> Box<E> {
    E::Named(at).into()
}

fn set(variable: usize, value: impl Into<Box<X>>) -> Reaction {
    Reaction::Assign(variable, *value.into())
}

fn recogniser(script: &Script) -> Recogniser {
    Recogniser::new(script.parts().expect("well typed")).expect("no cycles")
}

fn checker(script: &Script) -> Checker {
    Checker::new(script.parts().expect("well typed")).expect("no cycles")
}

fn update(recogniser: &mut Recogniser, variable: u32, value: i32, time: i64) -> EventGroup {
    recogniser.snapshot(Snapshot::Update(VariableId(variable), Value::Int(value)), time).unwrap().clone()
}

fn value_of(checker: &Checker, variable: u32) -> Option<Value<'_>> {
    checker.auxiliary(AuxiliaryId(variable))
}

fn event_numbers(group: &EventGroup) -> Vec<u32> {
    group.events().map(|event| event.event).collect()
}

/// An instant with these events, without values, and these changes.
fn instant(checker: &mut Checker, time: i64, events: &[u32], conditions: &[(u32, Truth)]) -> CheckOutput {
    let mut group = EventGroup::default();
    group.begin(time);
    events.iter().for_each(|event| group.event(*event));
    conditions.iter().for_each(|(condition, truth)| group.condition(*condition, *truth));
    checker.instant(&group).clone()
}

/// Each change of the first property, as its value.
fn judged(findings: &CheckOutput) -> Option<Truth> {
    findings.properties().iter().find(|judged| judged.property == 0).map(|judged| judged.truth)
}

fn raised(findings: &CheckOutput) -> Vec<u32> {
    findings.alarms().iter().map(|raised| raised.alarm).collect()
}

/// `condition c1 = A.x > 3; event e1 = start(c1 && A.y < 10)`, with A.y = 5 and A.x from 2 to 5.
#[test]
fn start_event_occurs_only_when_condition_becomes_true() {
    let mut parts = ScriptDef::default();
    parts.variable("A.x", Type::Int);
    parts.variable("A.y", Type::Int);
    let more = expr(&mut parts, &bin(Greater, var(0), int(3))).unwrap();
    parts.define_condition("c1", more).unwrap();
    let both = bin(And, X::Cond(0), bin(Less, var(1), int(10)));
    let start = occurrence(&mut parts, &E::Start(both)).unwrap();
    let e1 = parts.define_event("e1", start).unwrap();
    parts.export_event(e1).unwrap();
    assert_eq!(parts.exports(), Interface { events: vec!["e1".into()], conditions: vec![] });

    let mut recogniser = Recogniser::new(parts).unwrap();
    assert!(update(&mut recogniser, 1, 5, 10).is_empty());
    assert!(update(&mut recogniser, 0, 2, 20).is_empty());
    let group = update(&mut recogniser, 0, 5, 30);
    assert_eq!((event_numbers(&group), group.conditions()), (vec![0], &[][..]), "c1 is not exported");
    assert!(update(&mut recogniser, 0, 7, 40).is_empty(), "it holds already");
    assert!(update(&mut recogniser, 1, 10, 50).is_empty());
    assert_eq!(event_numbers(&update(&mut recogniser, 1, 9, 60)), [0]);
}

/// `e = update(x) when y == 2`: `y` is read at the instant of the update.
#[test]
fn when_reads_variables_at_the_instant_of_the_update() {
    let event = E::When(E::Update(0).into(), bin(Equal, var(1), int(2)));
    let script = Script { variables: vec![Type::Int; 2], defs: vec![Def::Event(event)], ..Script::default() };
    let happened = |order: &[(u32, i32)]| {
        let mut recogniser = recogniser(&script);
        order
            .iter()
            .map(|(variable, value)| update(&mut recogniser, *variable, *value, 0).events().len())
            .sum::<usize>()
    };
    assert_eq!(happened(&[(1, 2), (0, 1), (1, 1)]), 1);
    assert_eq!(happened(&[(1, 2), (1, 1), (0, 1)]), 0);
}

/// `int Foo.sum(int, int)`: the values of its entry and exit, also through `when` and through names.
#[test]
fn method_events_have_argument_and_result_values() {
    let start = E::When(E::StartM(0).into(), bin(Greater, X::Value(E::StartM(0).into(), 1), int(0)));
    let script = Script {
        methods: vec![(vec![Type::Int; 2], Some(Type::Int))],
        defs: vec![
            Def::Event(start),
            Def::Event(E::Named(0)),
            Def::Event(E::EndM(0)),
            Def::Condition(*bin(Equal, X::Value(named(1), 0), X::Value(named(2), 2))),
            Def::Condition(X::Inside(0)),
        ],
        ..Script::default()
    };
    let mut recogniser = recogniser(&script);
    let sum = MethodId(0);
    let group = recogniser.snapshot(Snapshot::Start(sum, &[Value::Int(3), Value::Int(2)]), 1).unwrap();
    let values: Vec<Vec<Value<'_>>> = group.events().map(|event| event.values().collect()).collect();
    assert_eq!(values, vec![vec![Value::Int(3), Value::Int(2)]; 2]);
    assert_eq!(group.conditions(), [(1, Truth::True)], "inside");
    let end = Snapshot::End(sum, &[Value::Int(3), Value::Int(2)], Value::Int(3));
    let group = recogniser.snapshot(end, 2).unwrap();
    assert_eq!(group.events().next().unwrap().values().len(), 3);
    assert_eq!(group.conditions(), [(0, Truth::True), (1, Truth::False)]);
    // The condition is false: neither the event nor its values exist.
    let group = recogniser.snapshot(Snapshot::Start(sum, &[Value::Int(9), Value::Int(0)]), 3).unwrap();
    assert_eq!((group.events().len(), group.conditions()), (0, &[(1, Truth::True)][..]));
    // Recursion: the method is active until the last call returns.
    assert!(recogniser.snapshot(Snapshot::Start(sum, &[]), 4).unwrap().is_empty());
    assert!(
        recogniser.snapshot(Snapshot::End(sum, &[], Value::Undefined), 5).unwrap().conditions()
            == [(0, Truth::Undefined)]
    );
    assert_eq!(
        recogniser.snapshot(Snapshot::End(sum, &[], Value::Int(3)), 6).unwrap().conditions(),
        [(0, Truth::True), (1, Truth::False)]
    );
}

/// Variables are undefined before they are assigned and after their object is freed.
#[test]
fn undefined_operands_make_conditions_undefined() {
    let script = Script {
        variables: vec![Type::Int],
        defs: vec![
            Def::Condition(*bin(Greater, var(0), int(0))),
            Def::Condition(X::Defined(X::Cond(0).into())),
            Def::Event(E::End(X::Defined(X::Cond(0).into()).into())),
            Def::Event(E::End(X::Cond(0).into())),
        ],
        ..Script::default()
    };
    let mut recogniser = recogniser(&script);
    assert_eq!(recogniser.snapshot(Snapshot::Tick, 0).unwrap().conditions(), [(1, Truth::False)]);
    assert_eq!(update(&mut recogniser, 0, 1, 1).conditions(), [(0, Truth::True), (1, Truth::True)]);
    let group = recogniser.snapshot(Snapshot::Invalidated(&[VariableId(0)]), 2).unwrap();
    assert_eq!(group.conditions(), [(0, Truth::Undefined), (1, Truth::False)]);
    assert_eq!(event_numbers(group), [0, 1], "true to undefined is an end");
}

#[test]
fn division_by_zero_is_a_fault_and_evaluation_continues() {
    let safe = bin(And, bin(NotEqual, var(1), int(0)), bin(Greater, bin(Divide, var(0), var(1)), int(1)));
    let script = Script {
        variables: vec![Type::Int; 2],
        defs: vec![
            Def::Condition(*bin(Greater, bin(Divide, var(0), var(1)), int(1))),
            Def::Condition(*safe),
            Def::Condition(X::Un(Unary::Not, X::Cond(0).into())),
        ],
        ..Script::default()
    };
    let mut recogniser = recogniser(&script);
    update(&mut recogniser, 0, 6, 1);
    assert_eq!(update(&mut recogniser, 1, 3, 2).conditions().len(), 3);
    let group = update(&mut recogniser, 1, 0, 3);
    assert_eq!(group.conditions(), [(0, Truth::Undefined), (1, Truth::False), (2, Truth::Undefined)]);
    let faults = recogniser.faults();
    assert_eq!(faults.len(), 1, "guarded by `&&` it is none, and it is reported where it is: {faults:?}");
    assert_eq!(faults[0].definition, Definition::Condition(ConditionId(0)));
    assert_eq!(faults[0].kind, FaultKind::DividedByZero);
    assert_eq!(faults[0].definition.name(recogniser.script()), "`d0`");
    update(&mut recogniser, 0, 7, 4);
    assert!(recogniser.faults().is_empty(), "it still is, which is not news");
    assert_eq!(recogniser.fault_count(), 1);
    // The least number divided by minus one wraps.
    update(&mut recogniser, 0, i32::MIN, 5);
    update(&mut recogniser, 1, -1, 6);
    assert!(recogniser.faults().is_empty());
}

/// `[e1, e2)`: the end wins if both occur, and a second start has no effect.
#[test]
fn interval_holds_from_start_until_end_event() {
    let script = Script {
        imported_events: vec![vec![], vec![]],
        properties: vec![X::Interval(named(0), named(1))],
        ..Script::default()
    };
    let mut checker = checker(&script);
    let history: [(&[u32], Option<Truth>); 8] = [
        (&[], Some(Truth::False)),
        (&[0, 1], None),
        (&[0], Some(Truth::True)),
        (&[0], None),
        (&[], None),
        (&[0, 1], Some(Truth::False)),
        (&[1], None),
        (&[0], Some(Truth::True)),
    ];
    for (time, (events, wanted)) in history.into_iter().enumerate() {
        assert_eq!(judged(&instant(&mut checker, time as i64, events, &[])), wanted, "instant {time}");
    }
}

/// The gate must be down within 30 seconds of `CloseGate`, unless `OpenGate` comes first.
fn gate() -> Script {
    let (open, close, down) = (0, 1, 0);
    let closing = E::When(named(close), X::Un(Unary::Not, X::Cond(down).into()).into());
    let over = E::Either(named(open), E::Start(X::Cond(down).into()).into());
    let in_time = bin(Greater, bin(Add, aux(0), bin(Multiply, int(30), int(1000))), X::Now);
    Script {
        imported_events: vec![vec![], vec![]],
        imported_conditions: 1,
        auxiliaries: vec![(Type::Float, None)],
        properties: vec![*bin(Implies, X::Interval(closing.into(), over.into()), in_time)],
        guards: vec![Guard { event: close, actions: vec![set(0, X::Time(named(close)))] }],
        ..Script::default()
    }
}

#[test]
fn gate_controller_example_gives_published_results() {
    let mut checker = checker(&gate());
    let (open, close, down) = (0, 1, 0);
    assert_eq!(judged(&instant(&mut checker, 0, &[], &[(down, Truth::False)])), Some(Truth::True));
    assert_eq!(judged(&instant(&mut checker, 1_000, &[close], &[])), None, "it has just begun");
    assert_eq!(judged(&instant(&mut checker, 20_000, &[], &[(down, Truth::True)])), None, "in time");
    // Much later: the time of the first closing must not count for the second.
    assert_eq!(judged(&instant(&mut checker, 90_000, &[open], &[(down, Truth::False)])), None);
    assert_eq!(judged(&instant(&mut checker, 100_000, &[close], &[])), None);
    assert_eq!(judged(&instant(&mut checker, 129_000, &[], &[])), None);
    let findings = instant(&mut checker, 130_000, &[], &[]);
    assert_eq!(judged(&findings), Some(Truth::False));
    assert_eq!(findings.properties()[0].violations, 1);
    assert_eq!(judged(&instant(&mut checker, 140_000, &[], &[])), None, "reported once");
    assert_eq!(judged(&instant(&mut checker, 150_000, &[open], &[])), Some(Truth::True));
    assert_eq!(checker.property(0), Some(Truth::True));
}

/// The stock client: a period of about a second, and old data only after retries and failures.
#[test]
fn stock_client_example_gives_published_results() {
    let [start_program, period_start, failed, resent, old_used] = [0, 1, 2, 3, 4];
    let [period, last, retries, failures] = [0, 1, 2, 3];
    let good = bin(And, bin(AtLeast, primed(period), int(900)), bin(AtMost, primed(period), int(1100)));
    let few = bin(Or, bin(Less, primed(retries), int(4)), bin(Less, primed(failures), int(3)));
    let reset = |event: usize, first: Vec<Reaction>| {
        let mut actions = first;
        actions.extend([set(retries, int(0)), set(failures, int(0))]);
        Guard { event, actions }
    };
    let more = |variable| vec![set(variable, bin(Add, aux(variable), int(1)))];
    let time = |event| Box::new(X::Time(named(event)));
    let script = Script {
        imported_events: vec![vec![]; 5],
        auxiliaries: vec![(Type::Long, None), (Type::Long, None), (Type::Int, None), (Type::Int, None)],
        alarms: vec![E::End(good), E::When(named(old_used), few)],
        guards: vec![
            reset(
                start_program,
                vec![set(period, int(1000)), set(last, bin(Subtract, time(start_program), int(1000)))],
            ),
            reset(
                period_start,
                vec![
                    set(period, bin(Subtract, time(period_start), aux(last))),
                    set(last, time(period_start)),
                ],
            ),
            Guard { event: resent, actions: more(retries) },
            Guard { event: failed, actions: more(failures) },
        ],
        ..Script::default()
    };
    let mut checker = checker(&script);
    let mut at = |time, event: usize| raised(&instant(&mut checker, time, &[event as u32], &[]));
    assert_eq!(at(10_000, start_program), []);
    assert_eq!(at(10_050, period_start), [], "1050 ms since the start that was made up");
    assert_eq!(at(11_060, period_start), []);
    assert_eq!(at(12_300, period_start), [0], "1240 ms");
    assert_eq!(at(12_301, old_used), [1], "nothing failed yet");
    for n in 0..4 {
        assert_eq!(at(12_310 + n, resent), []);
    }
    for n in 0..3 {
        assert_eq!(at(12_320 + n, failed), []);
    }
    assert_eq!(at(12_330, old_used), []);
    assert_eq!(at(13_300, period_start), [], "back to a good period");
    assert_eq!(at(15_300, period_start), [0]);
}

/// The flying vehicles: alerts are counted per second; an increase of more than a tenth is an alarm. The event
/// that ends a period depends on a variable that its own guard sets.
#[test]
fn vehicles_example_gives_published_results() {
    let [init, alert, end_period] = [0, 1, 2];
    let [count, previous, current, since] = [0, 1, 2, 3];
    let over = bin(Greater, bin(Subtract, X::Time(named(alert)), aux(since)), int(1000));
    let grows = bin(Greater, primed(current), bin(Multiply, aux(previous), X::Const(Val::Double(1.1))));
    let script = Script {
        imported_events: vec![vec![]; 2],
        auxiliaries: vec![(Type::Int, None), (Type::Float, None), (Type::Float, None), (Type::Long, None)],
        defs: vec![Def::Event(E::Start(over))],
        alarms: vec![E::Start(grows)],
        guards: vec![
            Guard {
                event: init,
                actions: vec![
                    set(since, X::Time(named(init))),
                    set(count, int(0)),
                    set(previous, int(0)),
                    set(current, int(0)),
                ],
            },
            Guard { event: alert, actions: vec![set(count, bin(Add, aux(count), int(1)))] },
            Guard {
                event: end_period,
                actions: vec![
                    set(since, X::Time(named(end_period))),
                    set(previous, aux(current)),
                    set(current, aux(count)),
                    set(count, int(0)),
                ],
            },
        ],
        ..Script::default()
    };
    let mut checker = checker(&script);
    let mut time = 0;
    assert_eq!(raised(&instant(&mut checker, 0, &[init as u32], &[])), []);
    let mut second = |alerts: i64| {
        let mut found = Vec::new();
        for n in 1..=alerts {
            let last = n == alerts;
            let at = if last { time + 1_001 } else { time + n };
            found.extend(raised(&instant(&mut checker, at, &[alert as u32], &[])));
        }
        time += 1_001;
        found
    };
    assert_eq!(second(11), [0], "from none to ten: the one that ends the period is not counted");
    assert_eq!(second(11), []);
    assert_eq!(second(12), [], "eleven are exactly a tenth more");
    assert_eq!(second(20), [0]);
    assert_eq!(second(5), []);
}

/// Unprimed variables: in a guard the value before; in a definition the value after, unless the guard depends
/// on it.
#[test]
fn unprimed_variable_has_value_after_guards_unless_cyclic() {
    let push = 0;
    // condition many = count > 1; event high = start(count > 1); event push2 = push when !many;
    // push2 -> { count' = count + 1 }  high -> { print "high" }  property few = !many; property sees = count < 2;
    let many = bin(Greater, aux(0), int(1));
    let script = Script {
        imported_events: vec![vec![]],
        auxiliaries: vec![(Type::Int, Some(Val::Int(0)))],
        defs: vec![
            Def::Condition(*many.clone()),
            Def::Event(E::Start(many)),
            Def::Event(E::When(named(push), X::Un(Unary::Not, X::Cond(0).into()).into())),
        ],
        properties: vec![X::Un(Unary::Not, X::Cond(0).into()), *bin(Less, aux(0), int(2))],
        guards: vec![
            Guard { event: 2, actions: vec![set(0, bin(Add, aux(0), int(1)))] },
            Guard { event: 1, actions: vec![Reaction::Print(X::Const(Val::Text("high".into())))] },
        ],
        ..Script::default()
    };
    let mut checker = checker(&script);
    instant(&mut checker, 0, &[0], &[]);
    let findings = instant(&mut checker, 1, &[0], &[]);
    let reported: Vec<_> =
        findings.properties().iter().map(|judged| (judged.property, judged.truth)).collect();
    assert_eq!(reported, [(0, Truth::False), (1, Truth::False)], "at once");
    assert_eq!(findings.actions().collect::<Vec<_>>(), [Action::Print("high")], "at once");
    instant(&mut checker, 2, &[0], &[]);
    assert_eq!(checker.auxiliary(AuxiliaryId(0)), Some(Value::Int(2)), "the guard has seen it");
}

#[test]
fn simultaneous_guards_last_assignment_wins() {
    // e -> { x' = y; y' = x; }  f -> { x' = x + 1; }  f -> { x' = x + 10; print x; print x'; }
    let script = Script {
        imported_events: vec![vec![], vec![]],
        auxiliaries: vec![(Type::Int, Some(Val::Int(1))), (Type::Int, Some(Val::Int(2)))],
        guards: vec![
            Guard { event: 0, actions: vec![set(0, aux(1)), set(1, aux(0))] },
            Guard { event: 1, actions: vec![set(0, bin(Add, aux(0), int(1)))] },
            Guard {
                event: 1,
                actions: vec![
                    Reaction::Print(*primed(0)),
                    set(0, bin(Add, aux(0), int(10))),
                    Reaction::Print(*aux(0)),
                ],
            },
        ],
        ..Script::default()
    };
    let mut checker = checker(&script);
    instant(&mut checker, 0, &[0], &[]);
    assert_eq!((value_of(&checker, 0), value_of(&checker, 1)), (Some(Value::Int(2)), Some(Value::Int(1))));
    let findings = instant(&mut checker, 0, &[1], &[]);
    assert_eq!(value_of(&checker, 0), Some(Value::Int(12)));
    assert_eq!(findings.actions().collect::<Vec<_>>(), [Action::Print("12"), Action::Print("2")]);
    instant(&mut checker, 0, &[0, 1], &[]);
    assert_eq!((value_of(&checker, 0), value_of(&checker, 1)), (Some(Value::Int(22)), Some(Value::Int(12))));
}

#[test]
fn guards_invoke_actions_in_order() {
    let mut parts = ScriptDef::default();
    let push = parts.import_event("push", &[]);
    let (stop, slow) = (parts.action("stop"), parts.action("slow"));
    let event = parts.event(push).unwrap();
    let guard = parts.guard(event).unwrap();
    parts.invoke(guard, slow).unwrap();
    let words = parts.constant(Value::String("stopping"));
    parts.print(guard, words).unwrap();
    parts.invoke(guard, stop).unwrap();
    let mut checker = Checker::new(parts).unwrap();
    let findings = instant(&mut checker, 0, &[0], &[]);
    let done: Vec<_> = findings.actions().collect();
    assert_eq!(done, [Action::Invoke(slow), Action::Print("stopping"), Action::Invoke(stop)]);
}

#[test]
fn undefined_property_violates_only_if_requested() {
    let script = Script {
        imported_events: vec![vec![]],
        imported_conditions: 1,
        properties: vec![X::Cond(0)],
        ..Script::default()
    };
    let history = [Truth::Undefined, Truth::True, Truth::Undefined, Truth::False, Truth::True];
    let reported = |mut checker: Checker| {
        let instants = history.iter().enumerate();
        let found = instants.map(|(time, truth)| instant(&mut checker, time as i64, &[], &[(0, *truth)]));
        found.map(|found| found.properties().first().map(|judged| judged.violations)).collect::<Vec<_>>()
    };
    assert_eq!(reported(checker(&script)), [None, Some(0), Some(0), Some(1), Some(1)]);
    assert_eq!(
        reported(checker(&script).undefined_violates(true)),
        [Some(1), Some(1), Some(2), Some(2), Some(2)]
    );
}

#[test]
fn exports_connect_to_imports_by_name() {
    let script = Script {
        imported_events: vec![vec![Type::Double], vec![]],
        imported_conditions: 1,
        properties: vec![X::Cond(0)],
        alarms: vec![E::When(named(0), bin(Equal, X::Value(named(0), 0), long(7)))],
        ..Script::default()
    };
    let mut checker = checker(&script);
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let missing = checker.connect(&Interface { events: names(&["e1"]), conditions: names(&[]) }).unwrap_err();
    assert_eq!(missing.to_string(), "not exported by the monitoring script: event `e0`, condition `c0`");
    let exports = Interface { events: names(&["e1", "other", "e0"]), conditions: names(&["no", "c0"]) };
    checker.connect(&exports).unwrap();
    let mut group = EventGroup::default();
    group.begin(5);
    group.event(1);
    group.value(Value::String("for nobody"));
    group.event(2);
    group.value(Value::Byte(7));
    group.condition(1, Truth::False);
    group.condition(0, Truth::True);
    group.condition(77, Truth::True);
    let findings = checker.instant(&group);
    assert_eq!((judged(findings), raised(findings)), (Some(Truth::False), vec![0]));
}

#[test]
fn mismatches_are_rejected_with_message() {
    let mut parts = ScriptDef::default();
    let x = parts.variable("A.x", Type::Int);
    let f = parts.method("A.f", &[Some(Type::Long), None], None);
    let (read, text) = (parts.read(x).unwrap(), parts.constant(Value::String("a")));
    let words = |mismatch: invigil_monitor::mac::DefinitionError| mismatch.to_string();
    let wrong = parts.binary(And, read, text).map_err(words);
    assert_eq!(wrong, Err("`&&` needs conditions, got int and String".into()));
    assert_eq!(
        parts.define_condition("c", read).map_err(words),
        Err("`c` needs a condition, got int".into())
    );
    let start = parts.start_of(f).unwrap();
    assert!(parts.value(start, 1).map_err(words).unwrap_err().contains("object"));
    assert!(parts.value(start, 2).map_err(words).unwrap_err().contains("numbered from 0"));
    assert!(parts.event(ScriptEventId(3)).is_err());

    let mut recogniser = Recogniser::new(parts.clone()).unwrap();
    let mut words = |snapshot| recogniser.snapshot(snapshot, 0).unwrap_err().to_string();
    assert_eq!(words(Snapshot::Update(x, Value::Long(1))), "`A.x`: expected int, got long");
    assert_eq!(words(Snapshot::Start(f, &[Value::Undefined; 3])), "`A.f` has 2 parameters, got 3 arguments");
    assert!(words(Snapshot::Start(f, &[Value::Long(1), Value::Int(1)])).contains("object"));
    assert!(words(Snapshot::End(f, &[], Value::Int(1))).contains("object"));
    assert_eq!(words(Snapshot::Invalidated(&[VariableId(9)])), "the script has no variable with number 9");
    assert_eq!(
        recogniser.snapshot(Snapshot::Start(MethodId(4), &[]), 0).unwrap_err(),
        SnapshotError::Method(MethodId(4))
    );
    assert!(matches!(Checker::new(parts), Err(ScriptError::Misplaced(_))));
    assert!(matches!(Recogniser::new(gate().parts().unwrap()), Err(ScriptError::Misplaced(_))));
}

#[test]
fn deeply_nested_script_does_not_overflow_stack() {
    let mut parts = ScriptDef::default();
    let x = parts.variable("x", Type::Int);
    let (mut sum, one) = (parts.read(x).unwrap(), parts.constant(Value::Int(1)));
    for _ in 0..200_000 {
        sum = parts.binary(Add, sum, one).unwrap();
    }
    let bound = parts.constant(Value::Int(200_002));
    let more = parts.binary(Greater, sum, bound).unwrap();
    let mut chain = parts.define_condition("c", more).unwrap();
    for _ in 0..1_000 {
        let read = parts.condition(chain).unwrap();
        let not = parts.unary(Unary::Not, read).unwrap();
        chain = parts.define_condition("n", not).unwrap();
    }
    // Shared parts are evaluated once; otherwise this would take 2^60 steps.
    let mut twice = parts.read(x).unwrap();
    for _ in 0..60 {
        twice = parts.binary(Add, twice, twice).unwrap();
    }
    let zero = parts.constant(Value::Int(0));
    let twice = parts.binary(Equal, twice, zero).unwrap();
    let twice = parts.define_condition("twice", twice).unwrap();
    parts.export_condition(chain).unwrap();
    parts.export_condition(twice).unwrap();
    assert_eq!(parts.abstractions().len(), 1);
    let mut recogniser = Recogniser::new(parts).unwrap();
    assert_eq!(update(&mut recogniser, 0, 2, 0).conditions(), [(0, Truth::False), (1, Truth::True)]);
    assert_eq!(update(&mut recogniser, 0, 3, 0).conditions(), [(0, Truth::True)]);
}

/// Assignments of one instant take effect together: `x < y` holds before and after, and never fails in between.
#[test]
fn snapshot_with_assignments_is_one_instant() {
    let mut parts = ScriptDef::default();
    let (x, y) = (parts.variable("x", Type::Int), parts.variable("y", Type::Int));
    let (left, right) = (parts.read(x).unwrap(), parts.read(y).unwrap());
    let less = parts.binary(Binary::Less, left, right).unwrap();
    let ordered = parts.define_condition("ordered", less).unwrap();
    parts.export_condition(ordered).unwrap();
    let mut recogniser = Recogniser::new(parts).unwrap();
    let pair = |a, b| [(x, Value::Int(a)), (y, Value::Int(b))];
    let group = recogniser.snapshot_with(&pair(1, 2), Snapshot::Tick, 0).unwrap();
    assert_eq!(group.conditions(), [(0, Truth::True)]);
    assert!(recogniser.snapshot_with(&pair(3, 4), Snapshot::Tick, 1).unwrap().is_empty());
    let misfit = recogniser.snapshot_with(&[(x, Value::Int(9)), (y, Value::Long(1))], Snapshot::Tick, 2);
    assert!(misfit.is_err());
    assert!(recogniser.snapshot(Snapshot::Tick, 3).unwrap().is_empty(), "nothing was done with it");
}

/// Plans that refer to undeclared parts of a script are rejected at load.
#[test]
fn mismatched_plans_are_rejected() {
    let plan = |input| ScriptPlan {
        recogniser: ScriptDef::default(),
        checker: ScriptDef::default(),
        inputs: vec![(EventId(0), input)],
        outputs: ScriptOutputs::default(),
        undefined_violates: false,
        abstracts: false,
        tick: None,
        calls: Vec::new(),
    };
    assert!(EventDeriver::new(&plan(SnapshotInput::Tick)).is_ok());
    assert!(EventDeriver::new(&plan(SnapshotInput::Update { variable: VariableId(0), value: 0 })).is_err());
    let start = SnapshotInput::Start { method: MethodId(0), arguments: Vec::new() };
    assert!(EventDeriver::new(&plan(start)).unwrap_err().contains("MethodId(0)"));
}
