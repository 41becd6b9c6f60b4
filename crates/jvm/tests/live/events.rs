//! What is told of methods and fields.

use crate::common::{Live, event, launch, printed};
use invigil_monitor::event::{Catalog, Kind};
use invigil_session::subject::{Ending, Stop};

#[test]
fn arguments_results_and_identity() {
    let mut catalog = Catalog::default();
    event(&mut catalog, Kind::After, "Queue.new", &["this", "capacity"]);
    event(&mut catalog, Kind::Before, "app.Queue.push", &["this", "weight", "name=item.name", "arg 2"]);
    event(&mut catalog, Kind::After, "Queue.push", &["this", "ret", "n=size", "full=size == items.length"]);
    event(&mut catalog, Kind::Before, "Queue.mix", &["b", "s", "c", "l", "f", "z"]);
    event(&mut catalog, Kind::After, "Queue.mix", &["b", "ret"]);
    event(
        &mut catalog,
        Kind::Before,
        "Shop.feel(Mood, Integer, Object)",
        &["mood:str", "strength", "nothing", "limit"],
    );
    event(&mut catalog, Kind::After, "Queue.pop", &["price=ret.price"]);
    let launch = launch("Shop", &["1"]);
    let mut live = Live::start(&launch, catalog);
    assert_eq!(live.run(), Stop::Ended(Ending::Exited(0)));
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
fn writes_of_fields() {
    let mut catalog = Catalog::default();
    event(&mut catalog, Kind::Write, "Queue.size", &["this", "size", "ret"]);
    event(&mut catalog, Kind::Write, "Shop.limit", &["limit"]);
    event(&mut catalog, Kind::Write, "Queue.pushes", &["ret"]);
    event(&mut catalog, Kind::Write, "Item.made", &[]);
    let mut live = Live::start(&launch("Shop", &["1"]), catalog);
    assert_eq!(live.run(), Stop::Ended(Ending::Exited(0)));
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
fn inherited_and_implemented_methods() {
    let mut catalog = Catalog::default();
    event(&mut catalog, Kind::Before, "Child.speak", &["words"]);
    event(&mut catalog, Kind::Before, "Countdown.next", &[]);
    event(&mut catalog, Kind::After, "java.util.ArrayList$Itr.next", &["ret"]);
    let mut live = Live::start(&launch("Walk", &[]), catalog);
    assert_eq!(live.run(), Stop::Ended(Ending::Exited(0)));
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
fn an_interface_means_all_who_implement_it() {
    let mut catalog = Catalog::default();
    event(&mut catalog, Kind::After, "java.util.Iterator.next", &["ret"]);
    let mut live = Live::start(&launch("Walk", &[]), catalog);
    assert_eq!(live.run(), Stop::Ended(Ending::Exited(0)));
    for value in ["a", "b", "2", "1"] {
        let told = format!("after java.util.Iterator.next(ret={value})");
        assert!(live.events.contains(&told), "{told} in {:?}", live.events);
    }
}

#[test]
fn only_what_is_needed_is_told() {
    use invigil_monitor::event::{EventSet, SymbolId};
    use invigil_session::subject::Subject;
    let mut catalog = Catalog::default();
    event(&mut catalog, Kind::Before, "Queue.push", &[]);
    event(&mut catalog, Kind::Before, "Queue.pop", &[]);
    let mut live = Live::start(&launch("Shop", &["3"]), catalog);
    live.run_to("push");
    live.run_to("pop");
    let mut needs = EventSet::default();
    needs.insert(SymbolId(1));
    live.target.instrument(&needs).unwrap();
    live.run_to("pop");
    live.target.instrument(&EventSet::default()).unwrap();
    assert_eq!(live.run(), Stop::Ended(Ending::Exited(0)));
    assert_eq!(live.events, ["Queue.push()", "Queue.pop()", "Queue.pop()"]);
}

#[test]
fn many_threads_tell_in_one_order() {
    let mut catalog = Catalog::default();
    event(&mut catalog, Kind::Before, "Crowd.enter", &["#thread", "number", "turn", "count"]);
    let launch = launch("Crowd", &[]);
    let mut live = Live::start(&launch, catalog);
    assert_eq!(live.run(), Stop::Ended(Ending::Exited(0)));
    assert_eq!(printed(&launch), "count 200\n");
    // The method is synchronized: the events come in the order in which it was entered.
    for (at, told) in live.events.iter().enumerate() {
        assert!(told.ends_with(&format!("count={at})")), "{told} at {at}");
    }
    assert_eq!(live.events.len(), 200);
    let threads: std::collections::BTreeSet<&str> =
        live.events.iter().filter_map(|told| told.split(", turn").next()).collect();
    assert_eq!(threads.len(), 4, "each worker has a number of its own: {threads:?}");
}

#[test]
fn what_is_not_there_is_said_with_the_nearest() {
    let mut catalog = Catalog::default();
    event(&mut catalog, Kind::Before, "Queue.psuh", &[]);
    event(&mut catalog, Kind::Before, "Queue.push", &["itme"]);
    event(&mut catalog, Kind::Write, "Queue.sise", &[]);
    event(&mut catalog, Kind::Before, "Qeue.push", &[]);
    event(&mut catalog, Kind::Read, "Queue.size", &[]);
    event(&mut catalog, Kind::Before, "java.lang.Math.floor", &["ret"]);
    event(&mut catalog, Kind::Before, "SmallQueue.grow", &[]);
    event(&mut catalog, Kind::Before, "System.nanoTime", &[]);
    event(&mut catalog, Kind::Before, "java.lang.System.nanoTime", &[]);
    let (_, unknown) = Live::try_start(&launch("Shop", &["1"]), catalog);
    let said = |symbol: u32| {
        let all = unknown.iter().filter(|unknown| unknown.symbol.0 == symbol);
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
    assert!(said(4).contains("reading") && said(4).contains("event write"), "{}", said(4));
    assert!(said(5).contains("after event"), "{}", said(5));
    assert!(said(6).contains("nor one that it extends"), "{}", said(6));
    assert!(said(7).ends_with("true"), "classes of the platform are named in full: {}", said(7));
    assert!(said(8).contains("native"), "{}", said(8));
}
