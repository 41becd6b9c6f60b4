//! Events of methods and fields.

use crate::common::{Live, launch, printed};
use invigil_monitor::event::{EventCatalog, EventKind};
use invigil_target::{StopReason, Termination};
use invigil_test_support::language::declare;

#[test]
fn events_have_arguments_results_and_object_ids() {
    let mut catalog = EventCatalog::default();
    declare(&mut catalog, EventKind::After, "Queue.new", &["this", "capacity"]);
    declare(
        &mut catalog,
        EventKind::Before,
        "app.Queue.push",
        &["this", "weight", "name=item.name", "arg 2"],
    );
    declare(
        &mut catalog,
        EventKind::After,
        "Queue.push",
        &["this", "ret", "n=size", "full=size == items.length"],
    );
    declare(&mut catalog, EventKind::Before, "Queue.mix", &["b", "s", "c", "l", "f", "z"]);
    declare(&mut catalog, EventKind::After, "Queue.mix", &["b", "ret"]);
    declare(
        &mut catalog,
        EventKind::Before,
        "Shop.feel(Mood, Integer, Object)",
        &["mood: str", "strength", "nothing", "limit"],
    );
    declare(&mut catalog, EventKind::After, "Queue.pop", &["price=ret.price"]);
    let launch = launch("Shop", &["1"]);
    let mut live = Live::start(&launch, catalog);
    assert_eq!(live.run(), StopReason::Ended(Termination::Exited(0)));
    assert_eq!(printed(&launch), "sum 1\n");
    let expected = [
        "after Queue.new(this=1, capacity=2)",
        "after Queue.new(this=2, capacity=1)",
        "app.Queue.push(this=1, weight=0.5, name=item0, arg 2=0.5)",
        "after Queue.push(this=1, ret=Bool, n=1, full=Bool)",
        "after Queue.pop(price=0)",
        "app.Queue.push(this=2, weight=1.0, name=a name of more than fourteen bytes, arg 2=1.0)",
        "after Queue.push(this=2, ret=Bool, n=1, full=Bool)",
        "Queue.mix(b=-1, s=-2, c=c, l=1099511627776, f=1.5, z=Bool)",
        "after Queue.mix(b=-1, ret=199)",
        "Shop.feel(Mood, Integer, Object)(mood=BAD, strength=42, nothing=None, limit=3)",
    ];
    assert_eq!(live.events, expected, "the exception out of `pop` is no return");
}

#[test]
fn field_writes_are_reported() {
    let mut catalog = EventCatalog::default();
    declare(&mut catalog, EventKind::Write, "Queue.size", &["this", "size", "ret"]);
    declare(&mut catalog, EventKind::Write, "Shop.limit", &["limit"]);
    declare(&mut catalog, EventKind::Write, "Queue.pushes", &["ret"]);
    declare(&mut catalog, EventKind::Write, "Item.made", &[]);
    let mut live = Live::start(&launch("Shop", &["1"]), catalog);
    assert_eq!(live.run(), StopReason::Ended(Termination::Exited(0)));
    let expected = [
        "write Shop.limit(limit=3)",
        "write Item.made()",
        "write Queue.size(this=1, size=1, ret=1)",
        "write Queue.pushes(ret=1)",
        "write Queue.size(this=1, size=0, ret=0)",
        "write Item.made()",
        "write Queue.size(this=2, size=1, ret=1)",
        "write Queue.pushes(ret=2)",
        "write Shop.limit(limit=42)",
    ];
    assert_eq!(live.events, expected);
}

#[test]
fn inherited_and_implemented_methods_are_reported() {
    let mut catalog = EventCatalog::default();
    declare(&mut catalog, EventKind::Before, "Child.speak", &["words"]);
    declare(&mut catalog, EventKind::Before, "Countdown.next", &[]);
    declare(&mut catalog, EventKind::After, "java.util.ArrayList$Itr.next", &["ret"]);
    let mut live = Live::start(&launch("Walk", &[]), catalog);
    assert_eq!(live.run(), StopReason::Ended(Termination::Exited(0)));
    let ours: Vec<&String> = live
        .events
        .iter()
        .filter(|event| !event.contains("Itr") || event.ends_with("=a)") || event.ends_with("=b)"))
        .collect();
    let expected = [
        "after java.util.ArrayList$Itr.next(ret=a)",
        "after java.util.ArrayList$Itr.next(ret=b)",
        "Countdown.next()",
        "Countdown.next()",
        "Child.speak(words=hello)",
    ];
    assert_eq!(ours, expected);
}

#[test]
fn interface_method_denotes_all_implementations() {
    let mut catalog = EventCatalog::default();
    declare(&mut catalog, EventKind::After, "java.util.Iterator.next", &["ret"]);
    let mut live = Live::start(&launch("Walk", &[]), catalog);
    assert_eq!(live.run(), StopReason::Ended(Termination::Exited(0)));
    for value in ["a", "b", "2", "1"] {
        let reported = format!("after java.util.Iterator.next(ret={value})");
        assert!(live.events.contains(&reported), "{reported} in {:?}", live.events);
    }
}

#[test]
fn only_needed_events_are_reported() {
    use invigil_monitor::event::{EventId, EventSet};
    use invigil_target::prelude::*;
    let mut catalog = EventCatalog::default();
    declare(&mut catalog, EventKind::Before, "Queue.push", &[]);
    declare(&mut catalog, EventKind::Before, "Queue.pop", &[]);
    let mut live = Live::start(&launch("Shop", &["3"]), catalog);
    live.run_to("push");
    live.run_to("pop");
    let mut needs = EventSet::default();
    needs.insert(EventId(1));
    live.target.instrument(&needs).unwrap();
    live.run_to("pop");
    live.target.instrument(&EventSet::default()).unwrap();
    assert_eq!(live.run(), StopReason::Ended(Termination::Exited(0)));
    assert_eq!(live.events, ["Queue.push()", "Queue.pop()", "Queue.pop()"]);
}

#[test]
fn events_of_many_threads_have_one_order() {
    let mut catalog = EventCatalog::default();
    declare(&mut catalog, EventKind::Before, "Crowd.enter", &["#thread", "number", "turn", "count"]);
    let launch = launch("Crowd", &[]);
    let mut live = Live::start(&launch, catalog);
    assert_eq!(live.run(), StopReason::Ended(Termination::Exited(0)));
    assert_eq!(printed(&launch), "count 200\n");
    // The method is synchronized, so the events have the order in which it was entered.
    for (at, reported) in live.events.iter().enumerate() {
        assert!(reported.ends_with(&format!("count={at})")), "{reported} at {at}");
    }
    assert_eq!(live.events.len(), 200);
    let threads: std::collections::BTreeSet<&str> =
        live.events.iter().filter_map(|reported| reported.split(", turn").next()).collect();
    assert_eq!(threads.len(), 4, "each worker has a number of its own: {threads:?}");
}

#[test]
fn unknown_members_suggest_the_nearest() {
    let mut catalog = EventCatalog::default();
    declare(&mut catalog, EventKind::Before, "Queue.psuh", &[]);
    declare(&mut catalog, EventKind::Before, "Queue.push", &["itme"]);
    declare(&mut catalog, EventKind::Write, "Queue.sise", &[]);
    declare(&mut catalog, EventKind::Before, "Qeue.push", &[]);
    declare(&mut catalog, EventKind::Read, "Queue.size", &[]);
    declare(&mut catalog, EventKind::Before, "java.lang.Math.floor", &["ret"]);
    declare(&mut catalog, EventKind::Before, "SmallQueue.grow", &[]);
    declare(&mut catalog, EventKind::Before, "System.nanoTime", &[]);
    declare(&mut catalog, EventKind::Before, "java.lang.System.nanoTime", &[]);
    let (_, unknown) = Live::try_start(&launch("Shop", &["1"]), catalog);
    let said = |symbol: u32| {
        let all = unknown.iter().filter(|unknown| unknown.event.0 == symbol);
        all.map(|unknown| format!("{}; {} {}", unknown.reason, unknown.help, unknown.pending))
            .collect::<String>()
    };
    assert!(said(0).contains("no method `psuh`") && said(0).contains("`push`? false"), "{}", said(0));
    assert!(said(1).contains("no parameter `itme`") && said(1).contains("`item`"), "{}", said(1));
    assert!(said(2).contains("no field `sise`") && said(2).contains("`size`"), "{}", said(2));
    assert!(
        said(3).contains("no class `Qeue`") && said(3).contains("`Queue`") && said(3).ends_with("true"),
        "{}",
        said(3)
    );
    assert!(said(4).contains("reads of") && said(4).contains("event write"), "{}", said(4));
    assert!(said(5).contains("after event"), "{}", said(5));
    assert!(said(6).contains("nor one that it extends"), "{}", said(6));
    assert!(said(7).ends_with("true"), "classes of the platform are named in full: {}", said(7));
    assert!(said(8).contains("native"), "{}", said(8));
}
