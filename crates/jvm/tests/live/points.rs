//! Points and steps.

use crate::common::{Live, event, launch};
use invigil_monitor::event::{Catalog, Kind};
use invigil_session::subject::{Ending, Owner, PointSpec, Resume, Stop, Subject, Trouble, What};

fn at(place: &str) -> PointSpec {
    PointSpec::new(What::Reach(place.to_owned()))
}

#[test]
fn points_at_methods_and_lines() {
    let mut live = Live::start(&launch("Shop", &["3"]), Catalog::default());
    let push = live.target.set_point(Owner::Developer, &at("Queue.push")).unwrap();
    let line = live.target.set_point(Owner::Developer, &at("Shop.java:18")).unwrap();
    assert!(live.target.points().iter().all(|point| point.places.is_empty()), "nothing is loaded yet");
    let points = |points: &[_]| Stop::Points { owner: Owner::Developer, points: points.to_vec() };
    assert_eq!(live.run(), points(&[push]));
    assert_eq!(live.stack(), ["app.Queue.push:13", "app.Shop.main:15"]);
    assert_eq!(live.run(), points(&[push]));
    live.target.enable_point(push, false).unwrap();
    assert_eq!(live.run(), points(&[line]));
    assert_eq!(live.stack(), ["app.Shop.main:18"]);
    assert_eq!(live.target.print("sum").as_deref(), Ok("30"));
    live.target.enable_point(push, true).unwrap();
    live.target.remove_point(line).unwrap();
    assert_eq!(live.run(), points(&[push]));
    let here = live.target.points().pop().unwrap();
    assert_eq!((here.hits, here.enabled), (3, true));
    assert_eq!(live.run(), Stop::Ended(Ending::Exited(0)));
}

#[test]
fn conditions_and_counts() {
    let mut live = Live::start(&launch("Shop", &["5"]), Catalog::default());
    let some = PointSpec { condition: Some("weight > 2".to_owned()), ignore: 1, ..at("Queue.push") };
    let point = live.target.set_point(Owner::Scenario, &some).unwrap();
    let once = live.target.set_point(Owner::Developer, &PointSpec { once: true, ..at("Queue.pop") }).unwrap();
    assert_eq!(live.run(), Stop::Points { owner: Owner::Developer, points: vec![once] });
    assert_eq!(live.run(), Stop::Points { owner: Owner::Scenario, points: vec![point] });
    assert_eq!(live.target.print("weight").as_deref(), Ok("3.5"));
    live.target.remove_point(point).unwrap();
    assert_eq!(live.run(), Stop::Ended(Ending::Exited(0)));
}

#[test]
fn writes_can_be_watched() {
    let mut live = Live::start(&launch("Shop", &["1"]), Catalog::default());
    let what = |read, write| PointSpec::new(What::Access { of: "Queue.size".into(), read, write });
    let point = live.target.set_point(Owner::Developer, &what(false, true)).unwrap();
    assert_eq!(live.run(), Stop::Points { owner: Owner::Developer, points: vec![point] });
    assert_eq!(live.target.print("size").as_deref(), Ok("1"));
    assert!(matches!(live.target.set_point(Owner::Developer, &what(true, true)), Err(Trouble::Request(_))));
}

#[test]
fn wrong_places_are_refused() {
    let mut live = Live::start(&launch("Shop", &["1"]), Catalog::default());
    let mut refused = |place: &str| match live.target.set_point(Owner::Developer, &at(place)) {
        Err(Trouble::Request(words)) => words,
        other => panic!("{place}: {other:?}"),
    };
    assert!(refused("Queue.psuh").contains("`push`"));
    assert!(refused("*0x1234").contains("no addresses"));
    assert!(refused("12").contains("of which file"));
    assert!(refused("nonsense").contains("names no class"));
    let bad = PointSpec { condition: Some("weigth > 2".to_owned()), ..at("Queue.push") };
    let Err(Trouble::Request(words)) = live.target.set_point(Owner::Developer, &bad) else {
        panic!("no such name")
    };
    assert!(words.contains("`weight`"), "{words}");
}

#[test]
fn the_developer_comes_first_and_the_monitors_last() {
    let mut catalog = Catalog::default();
    event(&mut catalog, Kind::Before, "Queue.push", &[]);
    let mut live = Live::start(&launch("Shop", &["1"]), catalog);
    let scenario = live.target.set_point(Owner::Scenario, &at("Queue.push")).unwrap();
    let developer = live.target.set_point(Owner::Developer, &at("Queue.push")).unwrap();
    assert_eq!(live.next(), Ok(Stop::Points { owner: Owner::Developer, points: vec![developer] }));
    assert_eq!(live.next(), Ok(Stop::Points { owner: Owner::Scenario, points: vec![scenario] }));
    assert_eq!(live.next(), Ok(Stop::Events));
    assert_eq!(live.events, ["Queue.push()"]);
}

#[test]
fn steps_by_lines() {
    let mut live = Live::start(&launch("Steps", &[]), Catalog::default());
    assert!(
        matches!(live.target.resume(&Resume::Line), Err(Trouble::Request(words)) if words.contains("has not begun"))
    );
    live.target.set_point(Owner::Developer, &at("Steps.main")).unwrap();
    live.run();
    assert_eq!(live.stack(), ["app.Steps.main:5"]);
    let stepped = Stop::Stepped { returned: None };
    assert_eq!(live.run_as(&Resume::NextLine), stepped);
    assert_eq!(live.stack(), ["app.Steps.main:6"]);
    assert_eq!(live.run_as(&Resume::Line), stepped);
    assert_eq!(live.stack(), ["app.Steps.twice:12", "app.Steps.main:6"]);
    assert_eq!(live.target.print("x").as_deref(), Ok("1"));
    assert_eq!(live.run_as(&Resume::Finish), Stop::Stepped { returned: Some("2".to_owned()) });
    assert_eq!(live.stack(), ["app.Steps.main:6"]);
    assert_eq!(live.run_as(&Resume::NextLine), stepped);
    assert_eq!(live.stack(), ["app.Steps.main:7"]);
    assert_eq!(live.run_as(&Resume::NextLine), stepped);
    assert_eq!(live.run_as(&Resume::NextLine), stepped);
    assert_eq!(live.run_as(&Resume::NextLine), Stop::Ended(Ending::Exited(0)));
}

#[test]
fn a_step_goes_over_events_and_until_a_place() {
    let mut catalog = Catalog::default();
    event(&mut catalog, Kind::Before, "Steps.twice", &["x"]);
    let mut live = Live::start(&launch("Steps", &[]), catalog);
    live.target.set_point(Owner::Developer, &at("Steps.java:6")).unwrap();
    live.run();
    assert_eq!(live.run_as(&Resume::NextLine), Stop::Stepped { returned: None });
    assert_eq!(live.stack(), ["app.Steps.main:7"]);
    assert_eq!(live.events, ["Steps.twice(x=1)"]);
    assert_eq!(live.run_as(&Resume::Until("8".to_owned())), Stop::Stepped { returned: None });
    assert_eq!(live.stack(), ["app.Steps.main:8"]);
}
