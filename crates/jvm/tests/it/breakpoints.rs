//! Breakpoints, watchpoints and steps.

use crate::common::{Live, launch};
use invigil_monitor::event::{EventCatalog, EventKind};
use invigil_target::prelude::*;
use invigil_target::{
    BreakpointKind, BreakpointSpec, Owner, ResumeMode, StopReason, TargetError, Termination,
};
use invigil_test_support::language::declare;

fn at(place: &str) -> BreakpointSpec {
    BreakpointSpec::new(BreakpointKind::Location(place.to_owned()))
}

#[test]
fn breakpoints_stop_at_methods_and_lines() {
    let mut live = Live::start(&launch("Shop", &["3"]), EventCatalog::default());
    let push = live.target.set_breakpoint(Owner::User, &at("Queue.push")).unwrap();
    let line = live.target.set_breakpoint(Owner::User, &at("Shop.java:18")).unwrap();
    assert!(
        live.target.breakpoints().iter().all(|point| point.locations.is_empty()),
        "nothing is loaded yet"
    );
    let points = |points: &[_]| StopReason::Breakpoints { owner: Owner::User, breakpoints: points.to_vec() };
    assert_eq!(live.run(), points(&[push]));
    assert_eq!(live.stack(), ["app.Queue.push:13", "app.Shop.main:15"]);
    assert_eq!(live.run(), points(&[push]));
    live.target.set_breakpoint_enabled(push, false).unwrap();
    assert_eq!(live.run(), points(&[line]));
    assert_eq!(live.stack(), ["app.Shop.main:18"]);
    assert_eq!(live.target.evaluate("sum").as_deref(), Ok("30"));
    live.target.set_breakpoint_enabled(push, true).unwrap();
    live.target.remove_breakpoint(line).unwrap();
    assert_eq!(live.run(), points(&[push]));
    let here = live.target.breakpoints().pop().unwrap();
    assert_eq!((here.hits, here.enabled), (3, true));
    assert_eq!(live.run(), StopReason::Ended(Termination::Exited(0)));
}

#[test]
fn conditions_and_ignore_counts_are_honoured() {
    let mut live = Live::start(&launch("Shop", &["5"]), EventCatalog::default());
    let some = BreakpointSpec { condition: Some("weight > 2".to_owned()), ignore: 1, ..at("Queue.push") };
    let point = live.target.set_breakpoint(Owner::Scenario, &some).unwrap();
    let once =
        live.target.set_breakpoint(Owner::User, &BreakpointSpec { once: true, ..at("Queue.pop") }).unwrap();
    assert_eq!(live.run(), StopReason::Breakpoints { owner: Owner::User, breakpoints: vec![once] });
    assert_eq!(live.run(), StopReason::Breakpoints { owner: Owner::Scenario, breakpoints: vec![point] });
    assert_eq!(live.target.evaluate("weight").as_deref(), Ok("3.5"));
    live.target.remove_breakpoint(point).unwrap();
    assert_eq!(live.run(), StopReason::Ended(Termination::Exited(0)));
}

#[test]
fn watchpoints_stop_at_writes_only() {
    let mut live = Live::start(&launch("Shop", &["1"]), EventCatalog::default());
    let what = |read, write| {
        BreakpointSpec::new(BreakpointKind::Watch { expression: "Queue.size".into(), read, write })
    };
    let point = live.target.set_breakpoint(Owner::User, &what(false, true)).unwrap();
    assert_eq!(live.run(), StopReason::Breakpoints { owner: Owner::User, breakpoints: vec![point] });
    assert_eq!(live.target.evaluate("size").as_deref(), Ok("1"));
    assert!(matches!(
        live.target.set_breakpoint(Owner::User, &what(true, true)),
        Err(TargetError::Request(_))
    ));
}

#[test]
fn unknown_locations_are_refused_with_help() {
    let mut live = Live::start(&launch("Shop", &["1"]), EventCatalog::default());
    let mut refused = |place: &str| match live.target.set_breakpoint(Owner::User, &at(place)) {
        Err(TargetError::Request(words)) => words,
        other => panic!("{place}: {other:?}"),
    };
    assert!(refused("Queue.psuh").contains("`push`"));
    assert!(refused("*0x1234").contains("no addresses"));
    assert!(refused("12").contains("the current file is unknown"));
    assert!(refused("nonsense").contains("names no class"));
    let bad = BreakpointSpec { condition: Some("weigth > 2".to_owned()), ..at("Queue.push") };
    let Err(TargetError::Request(words)) = live.target.set_breakpoint(Owner::User, &bad) else {
        panic!("no such name")
    };
    assert!(words.contains("`weight`"), "{words}");
}

#[test]
fn user_is_notified_before_monitors() {
    let mut catalog = EventCatalog::default();
    declare(&mut catalog, EventKind::Before, "Queue.push", &[]);
    let mut live = Live::start(&launch("Shop", &["1"]), catalog);
    let scenario = live.target.set_breakpoint(Owner::Scenario, &at("Queue.push")).unwrap();
    let developer = live.target.set_breakpoint(Owner::User, &at("Queue.push")).unwrap();
    assert_eq!(live.next(), Ok(StopReason::Breakpoints { owner: Owner::User, breakpoints: vec![developer] }));
    assert_eq!(
        live.next(),
        Ok(StopReason::Breakpoints { owner: Owner::Scenario, breakpoints: vec![scenario] })
    );
    assert_eq!(live.next(), Ok(StopReason::Events));
    assert_eq!(live.events, ["Queue.push()"]);
}

#[test]
fn steps_follow_lines() {
    let mut live = Live::start(&launch("Steps", &[]), EventCatalog::default());
    assert!(
        matches!(live.target.resume(&ResumeMode::Line), Err(TargetError::Request(words)) if words.contains("has not started"))
    );
    live.target.set_breakpoint(Owner::User, &at("Steps.main")).unwrap();
    live.run();
    assert_eq!(live.stack(), ["app.Steps.main:5"]);
    let stepped = StopReason::Stepped { returned: None };
    assert_eq!(live.run_as(&ResumeMode::NextLine), stepped);
    assert_eq!(live.stack(), ["app.Steps.main:6"]);
    assert_eq!(live.run_as(&ResumeMode::Line), stepped);
    assert_eq!(live.stack(), ["app.Steps.twice:12", "app.Steps.main:6"]);
    assert_eq!(live.target.evaluate("x").as_deref(), Ok("1"));
    assert_eq!(live.run_as(&ResumeMode::Finish), StopReason::Stepped { returned: Some("2".to_owned()) });
    assert_eq!(live.stack(), ["app.Steps.main:6"]);
    assert_eq!(live.run_as(&ResumeMode::NextLine), stepped);
    assert_eq!(live.stack(), ["app.Steps.main:7"]);
    assert_eq!(live.run_as(&ResumeMode::NextLine), stepped);
    assert_eq!(live.run_as(&ResumeMode::NextLine), stepped);
    assert_eq!(live.run_as(&ResumeMode::NextLine), StopReason::Ended(Termination::Exited(0)));
}

#[test]
fn steps_continue_across_events_and_until_a_location() {
    let mut catalog = EventCatalog::default();
    declare(&mut catalog, EventKind::Before, "Steps.twice", &["x"]);
    let mut live = Live::start(&launch("Steps", &[]), catalog);
    live.target.set_breakpoint(Owner::User, &at("Steps.java:6")).unwrap();
    live.run();
    assert_eq!(live.run_as(&ResumeMode::NextLine), StopReason::Stepped { returned: None });
    assert_eq!(live.stack(), ["app.Steps.main:7"]);
    assert_eq!(live.events, ["Steps.twice(x=1)"]);
    assert_eq!(live.run_as(&ResumeMode::Until("8".to_owned())), StopReason::Stepped { returned: None });
    assert_eq!(live.stack(), ["app.Steps.main:8"]);
}
