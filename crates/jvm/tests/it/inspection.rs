//! Inspecting and changing a stopped program.

use crate::common::{Live, launch, printed};
use invigil_monitor::event::{EventCatalog, EventKind};
use invigil_target::prelude::*;
use invigil_target::{StopReason, TargetError, Termination};
use invigil_test_support::language::declare;

fn at_pop() -> (invigil_jvm::Launch, Live) {
    let mut catalog = EventCatalog::default();
    declare(&mut catalog, EventKind::Before, "Queue.pop", &["n=size"]);
    let launch = launch("Shop", &["3"]);
    let mut live = Live::start(&launch, catalog);
    live.run_to("Queue.pop");
    live.run_to("Queue.pop");
    (launch, live)
}

#[test]
fn frames_locals_and_values_are_shown() {
    let (_, mut live) = at_pop();
    assert_eq!(live.stack(), ["app.Queue.pop:23", "app.Shop.main:16"]);
    let line = live.target.source_line(None).unwrap().unwrap();
    assert!(line.file.ends_with("app/Queue.java"), "{line:?}");
    live.target.select_frame(1).unwrap();
    let locals = live.target.locals().unwrap();
    let locals: Vec<String> = locals.iter().map(|local| format!("{}={}", local.name, local.value)).collect();
    assert_eq!(
        locals[1..],
        ["rounds=3", "queue=app.Queue@1", "other=app.SmallQueue@2", "sum=0", "i=1", "item=app.Item@3"]
    );
    let target = &mut live.target;
    for (text, value) in [
        ("item.codes[1] + i * 2", "10"),
        ("item.name", "\"item1\""),
        ("item.codes", "int[3] {7, 8, 9}"),
        ("item.codes.length", "3"),
        ("item.next", "null"),
        ("queue.items[0].price", "10"),
        ("item.name == \"item1\" && sum == 0", "true"),
        ("Item.made", "2"),
        ("app.Shop.limit", "3"),
        ("limit", "3"),
        ("args", "java.lang.String[1] {\"3\"}"),
    ] {
        assert_eq!(target.evaluate(text).as_deref(), Ok(value), "{text}");
    }
    assert!(
        target
            .evaluate("queue")
            .unwrap()
            .starts_with("app.Queue@1 {size = 1, items = app.Item[2] {app.Item@")
    );
    assert_eq!(target.type_of("queue.items").as_deref(), Ok("app.Item[]"));
    for (text, words) in [
        ("nothing", "there is no `nothing` here"),
        ("item.nxt", "did you mean `next`?"),
        ("item.next.price", "`item.next` is null"),
        ("item.codes[3]", "the array has 3"),
        ("queue.size()", "methods are not called"),
        ("1 / 0", "division by zero"),
    ] {
        let Err(TargetError::Request(said)) = target.evaluate(text) else { panic!("{text} has a value") };
        assert!(said.contains(words), "{text}: {said}");
    }
    assert!(target.checkpoints().is_err_and(|why| why.0.contains("--record")));
    let facts = target.info();
    assert!(facts.iter().any(|(name, value)| name == "classes woven" && value == "1"), "{facts:?}");
}

#[test]
fn assignment_affects_the_run() {
    let (launch, mut live) = at_pop();
    live.target.select_frame(1).unwrap();
    live.target.assign("rounds", "2").unwrap();
    live.target.assign("item.price", "1000").unwrap();
    live.target.assign("item.codes[0]", "-1").unwrap();
    assert_eq!(live.target.evaluate("item.codes").as_deref(), Ok("int[3] {-1, 8, 9}"));
    for (place, value, words) in [
        ("rounds", "\"two\"", "does not fit into a `int`"),
        ("rounds", "5000000000", "does not fit"),
        ("queue", "item", "does not fit into a `app.Queue`"),
        ("rounds + 1", "2", "cannot be assigned to"),
    ] {
        let Err(TargetError::Request(said)) = live.target.assign(place, value) else {
            panic!("{place} = {value}")
        };
        assert!(said.contains(words), "{said}");
    }
    assert_eq!(live.run(), StopReason::Ended(Termination::Exited(0)));
    assert_eq!(printed(&launch), "sum 1001\n");
}

#[test]
fn all_threads_are_stopped() {
    let mut catalog = EventCatalog::default();
    declare(&mut catalog, EventKind::Before, "Crowd.enter", &["number", "turn"]);
    let mut live = Live::start(&launch("Crowd", &[]), catalog);
    live.run_to("turn=20");
    let threads = live.target.threads();
    let current = live.target.current_thread();
    assert!(
        threads
            .iter()
            .any(|thread| thread.selected && thread.id == current && thread.name.starts_with("worker-"))
    );
    let main = threads.iter().find(|thread| thread.name == "main").expect("there is main");
    assert!(!main.location.is_empty(), "{main:?}");
    live.target.select_thread(main.id).unwrap();
    assert!(live.stack().iter().any(|frame| frame.starts_with("app.Crowd.main:")));
    let before = live.target.evaluate("Crowd.count").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(live.target.evaluate("Crowd.count").unwrap(), before);
    assert!(live.target.select_thread(4711).is_err());
    assert_eq!(live.run(), StopReason::Ended(Termination::Exited(0)));
    assert_eq!(live.events.len(), 200);
}

/// The home of another Java with virtual threads, if one is installed.
fn newer_java() -> Option<std::path::PathBuf> {
    let homes = std::fs::read_dir("/usr/lib/jvm").ok()?;
    let java = |home: std::path::PathBuf| {
        let release = std::fs::read_to_string(home.join("release")).ok()?;
        let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
        let major: u32 = version.split(['.', '"']).next()?.parse().ok()?;
        (major >= 21).then(|| home.join("bin/java"))
    };
    homes.flatten().find_map(|entry| java(entry.path()))
}

#[test]
fn virtual_threads_are_inspected() {
    let Some(java) = newer_java() else {
        eprintln!("skipped: there is no Java 21 or later in /usr/lib/jvm");
        return;
    };
    let mut catalog = EventCatalog::default();
    declare(&mut catalog, EventKind::Before, "Light.glow", &["watts"]);
    declare(&mut catalog, EventKind::Before, "Queue.pop", &[]);
    let launch = crate::common::launch_with(java, "Light", &[]);
    let mut live = Live::start(&launch, catalog);
    live.run_to("Light.glow(watts=7)");
    assert_eq!(live.stack()[0], "app.Light.glow:15");
    assert_eq!(live.target.evaluate("watts * 2").as_deref(), Ok("14"));
    assert!(
        live.target.threads().iter().any(|thread| thread.selected && thread.location.contains("Light.glow"))
    );
    assert_eq!(live.run(), StopReason::Ended(Termination::Exited(0)));
    assert_eq!(printed(&launch), "out\n");
}

#[test]
fn construction_in_virtual_threads_is_tracked() {
    let Some(java) = newer_java() else {
        eprintln!("skipped: no Java with virtual threads is installed");
        return;
    };
    let mut catalog = EventCatalog::default();
    declare(&mut catalog, EventKind::Write, "app.Threads.root.value", &["ret"]);
    let mut launch = crate::common::launch_with(java, "Threads", &[]);
    launch = launch.env("JDK_JAVA_OPTIONS", "-Djdk.virtualThreadScheduler.parallelism=1");
    let mut live = Live::start(&launch, catalog);
    live.run();
    // Constructions in the other thread, with fewer frames, do not end this one.
    assert_eq!(live.events, ["write app.Threads.root.value(ret=1)", "write app.Threads.root.value(ret=2)"]);
}
