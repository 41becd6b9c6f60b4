//! Engine and reference tables agree on random scripts and histories.

use crate::mac::random;
use crate::mac::reference::{Got, Reader, Tables, World};
use crate::mac::script::{Script, Val};
use invigil_monitor::mac::{
    Action, AuxiliaryId, Checker, Definition, EventGroup, Recogniser, ScriptError, Snapshot, Truth, Value,
    VariableId,
};
use invigil_monitor::mac::{ConditionId, MethodId};
use invigil_test_support::{Rng, at_least, cases};

fn values(values: &[Option<Val>]) -> Vec<Value<'_>> {
    values.iter().map(|value| value.as_ref().map_or(Value::Undefined, Val::value)).collect()
}

/// Passes the inputs of one instant to a recogniser.
pub(crate) fn feed<'r>(recogniser: &'r mut Recogniser, world: &World) -> &'r EventGroup {
    let gone: Vec<VariableId> = world.gone.iter().map(|at| VariableId(*at as u32)).collect();
    let arguments;
    let what = if let Some((variable, value)) = &world.update {
        let value = value.as_ref().map_or(Value::Undefined, Val::value);
        Snapshot::Update(VariableId(*variable as u32), value)
    } else if let Some((variable, value)) = &world.changed {
        let value = value.as_ref().map_or(Value::Undefined, Val::value);
        Snapshot::Changed(VariableId(*variable as u32), value)
    } else if let Some((method, given)) = &world.start {
        arguments = values(given);
        Snapshot::Start(MethodId(*method as u32), &arguments)
    } else if let Some((method, given, result)) = &world.end {
        arguments = values(given);
        let result = result.as_ref().map_or(Value::Undefined, Val::value);
        Snapshot::End(MethodId(*method as u32), &arguments, result)
    } else if !gone.is_empty() {
        Snapshot::Invalidated(&gone)
    } else {
        Snapshot::Tick
    };
    recogniser.snapshot(what, world.time).expect("it fits")
}

/// An event with its values.
type Carrying = (u32, Vec<Option<Val>>);

/// The events and conditions of a group, in order, with owned values.
fn reported(group: &EventGroup) -> (Vec<Carrying>, Vec<(u32, Truth)>) {
    let events = group.events().map(|event| (event.event, event.values().map(Val::of).collect()));
    let mut events: Vec<_> = events.collect();
    events.sort_by_key(|(number, _)| *number);
    let mut conditions = group.conditions().to_vec();
    conditions.sort_by_key(|(number, _)| *number);
    (events, conditions)
}

#[test]
fn random_recogniser_equals_reference() {
    let mut happened = 0;
    for seed in 0..cases(20_000) {
        let random = Rng::new(seed);
        let script = random::monitoring(&random);
        let worlds = random::snapshots(&random, &script, 10);
        let tables = Tables::new(&script, worlds);
        let mut recogniser = Recogniser::new(script.parts().expect("well typed")).expect("no cycles");
        for (t, world) in tables.worlds.iter().enumerate() {
            let got = reported(feed(&mut recogniser, world));
            let events: Vec<_> = script
                .events()
                .iter()
                .enumerate()
                .filter(|(at, _)| tables.event(*at, t))
                .map(|(at, definition)| (at as u32, tables.carried(definition.unwrap(), t)))
                .collect();
            happened += events.len();
            let node = |at| Reader::Node(script.events().len() + at);
            let truth = |at: usize, t: usize| match tables.condition(at, t, node(at)) {
                Ok(value) => Truth::from(value == Val::Bool(true)),
                Err(_) => Truth::Undefined,
            };
            let conditions: Vec<_> = (0..script.conditions().len())
                .filter(|at| truth(*at, t) != if t == 0 { Truth::Undefined } else { truth(*at, t - 1) })
                .map(|at| (at as u32, truth(at, t)))
                .collect();
            assert_eq!(same(&got.0), same(&events), "seed {seed}, instant {t}: {script:#?} {world:?}");
            assert_eq!(got.1, conditions, "seed {seed}, instant {t}: {script:#?} {world:?}");

            let fault = |at: usize, t: usize| {
                tables.value(script.conditions()[at].unwrap(), t, node(at)) == Err(true)
            };
            for at in 0..script.conditions().len() {
                let wanted = fault(at, t) && (t == 0 || !fault(at, t - 1));
                let definition = Definition::Condition(ConditionId(at as u32));
                // Events inside the condition may have faults of their own.
                let reported =
                    recogniser.faults().iter().filter(|fault| fault.definition == definition).count();
                assert!(reported >= usize::from(wanted), "seed {seed}, instant {t}: {script:#?}");
            }
        }
    }
    assert!(happened > at_least(10_000), "events happened: {happened}");
}

/// Values as text, so that NaN equals NaN.
fn same(events: &[Carrying]) -> String {
    format!("{events:?}")
}

fn group(world: &World, before: Option<&World>) -> EventGroup {
    let mut group = EventGroup::default();
    group.begin(world.time);
    for (at, event) in world.events.iter().enumerate() {
        if let Some(given) = event {
            group.event(at as u32);
            values(given).into_iter().for_each(|value| group.value(value));
        }
    }
    for (at, truth) in world.conditions.iter().enumerate() {
        let before = before.map_or(Truth::Undefined, |before| before.conditions[at]);
        if *truth != before {
            group.condition(at as u32, *truth);
        }
    }
    group
}

#[test]
fn random_checker_equals_reference() {
    let (mut violated, mut cycles, mut raised) = (0, 0, 0);
    for seed in 0..cases(30_000) {
        let random = Rng::new(seed + 1_000_000);
        let script = random::requirement(&random);
        let worlds = random::instants(&random, &script, 10);
        let tables = Tables::new(&script, worlds);
        let parts = script.parts().expect("well typed");
        let mut checker = match Checker::new(parts) {
            Ok(checker) => checker,
            Err(ScriptError::Cycles(found)) => {
                assert!(tables.cyclic(), "seed {seed}: {found:?} {script:#?}");
                cycles += 1;
                continue;
            }
            Err(other) => panic!("{other}"),
        };
        assert!(!tables.cyclic(), "seed {seed}: {script:#?}");
        let (violations, alarms) = follow(&mut checker, &tables, seed);
        violated += violations;
        raised += alarms;
    }
    assert!(
        violated > at_least(2_000) && cycles > at_least(100) && raised > at_least(5_000),
        "{violated} {cycles} {raised}"
    );
}

/// Runs a history on the engine and the tables; returns the numbers of violations and alarms.
fn follow(checker: &mut Checker, tables: &Tables<'_>, seed: u64) -> (u64, u64) {
    let script = tables.script;
    let mut violations = vec![0; script.properties.len()];
    let mut alarms = vec![0; script.alarms.len()];
    for (t, world) in tables.worlds.iter().enumerate() {
        let context = || format!("seed {seed}, instant {t}: {script:#?} {:#?}", &tables.worlds[..=t]);
        let before = t.checked_sub(1).map(|t| &tables.worlds[t]);
        let findings = checker.instant(&group(world, before)).clone();
        for (at, property) in script.properties.iter().enumerate() {
            let truth = tables.truth(property, t, Reader::After);
            let before = if t == 0 { Truth::Undefined } else { tables.truth(property, t - 1, Reader::After) };
            assert_eq!(checker.property(at as u32), Some(truth), "{}", context());
            let reported = findings.properties().iter().find(|judged| judged.property == at as u32);
            assert_eq!(reported.is_some(), truth != before, "{}", context());
            violations[at] += u64::from(truth == Truth::False && before != Truth::False);
            if let Some(reported) = reported {
                assert_eq!((reported.truth, reported.violations), (truth, violations[at]), "{}", context());
            }
        }
        let mut raised = Vec::new();
        for (at, alarm) in script.alarms.iter().enumerate() {
            if tables.happens(alarm, t, Reader::After) {
                alarms[at] += 1;
                raised.push((at as u32, alarms[at]));
            }
        }
        let mut got: Vec<_> = findings.alarms().iter().map(|raised| (raised.alarm, raised.count)).collect();
        got.sort_unstable();
        assert_eq!(got, raised, "{}", context());
        for at in 0..script.auxiliaries.len() {
            let value = checker.auxiliary(AuxiliaryId(at as u32)).map(Val::of).expect("it is there");
            let wanted: Got = tables.new_value(at, t);
            assert_eq!(format!("{value:?}"), format!("{:?}", wanted.ok()), "a{at}, {}", context());
        }
        let printed: Vec<String> = findings
            .actions()
            .filter_map(|done| match done {
                Action::Print(line) => Some(line.to_owned()),
                Action::Invoke(_) => None,
            })
            .collect();
        assert_eq!(printed, tables.printed(t), "{}", context());
    }
    (violations.iter().sum(), alarms.iter().sum())
}

#[test]
fn restored_state_continues_identically() {
    for seed in 0..cases(300) {
        let random = Rng::new(seed + 5_000_000);
        let script = random::monitoring(&random);
        let worlds = random::snapshots(&random, &script, 20);
        let mut recogniser = Recogniser::new(script.parts().expect("well typed")).expect("no cycles");
        worlds[..8].iter().for_each(|world| drop(feed(&mut recogniser, world).clone()));
        let kept = recogniser.state().clone();
        let went_on = |recogniser: &mut Recogniser| {
            let groups = worlds[8..].iter().map(|world| feed(recogniser, world).clone());
            (groups.collect::<Vec<_>>(), recogniser.state().clone())
        };
        let first = went_on(&mut recogniser);
        recogniser.restore(&kept).expect("of the same script");
        assert!(recogniser.state() == &kept);
        assert!(went_on(&mut recogniser) == first, "seed {seed}: {script:#?}");

        let script = random::requirement(&random);
        let worlds = random::instants(&random, &script, 20);
        let Ok(mut checker) = Checker::new(script.parts().expect("well typed")) else { continue };
        let group = |t: usize| group(&worlds[t], t.checked_sub(1).map(|t| &worlds[t]));
        (0..8).for_each(|t| drop(checker.instant(&group(t)).clone()));
        let kept = checker.state().clone();
        let went_on = |checker: &mut Checker| {
            let findings = (8..20).map(|t| checker.instant(&group(t)).clone());
            (findings.collect::<Vec<_>>(), checker.state().clone())
        };
        let first = went_on(&mut checker);
        checker.restore(&kept).expect("of the same script");
        assert!(went_on(&mut checker) == first, "seed {seed}: {script:#?}");
    }
    let other = Recogniser::new(Script::default().parts().unwrap()).unwrap();
    let mut recogniser = Recogniser::new(random::monitoring(&Rng::new(1)).parts().unwrap()).unwrap();
    assert!(recogniser.restore(other.state()).is_err());
}
