//! Programs are changed only by probes: a program that inspects itself by reflection sees no difference.

use crate::common::{Live, classes, launch, printed};
use invigil_monitor::event::{EventCatalog, EventKind};
use invigil_target::{StopReason, Termination};
use invigil_test_support::language::declare;
use std::process::Command;

#[test]
fn reflection_does_not_see_probes() {
    let alone = Command::new("java").arg("-cp").arg(classes()).arg("app.Mirror").output().unwrap();
    assert!(alone.status.success());
    let alone = String::from_utf8(alone.stdout).unwrap();

    let mut catalog = EventCatalog::default();
    for method in ["work", "run", "new", "compareTo", "trace", "look", "main"] {
        declare(&mut catalog, EventKind::Before, &format!("Mirror.{method}"), &["#thread"]);
        declare(&mut catalog, EventKind::After, &format!("Mirror.{method}"), &["#thread"]);
    }
    declare(&mut catalog, EventKind::Before, "Shape.area", &["this"]);
    declare(&mut catalog, EventKind::After, "Square.area", &["ret", "side"]);
    for field in ["Mirror.total", "Mirror.count", "Mirror.name", "Square.side"] {
        declare(&mut catalog, EventKind::Write, field, &["ret"]);
    }
    let launch = launch("Mirror", &[]);
    let mut live = Live::start(&launch, catalog);
    assert_eq!(live.run(), StopReason::Ended(Termination::Exited(0)));
    let watched = printed(&launch);

    // The probes were present and reported events.
    for part in ["Mirror.work", "after Mirror.run", "Mirror.total", "Mirror.count", "after Square.area"] {
        assert!(live.events.iter().any(|event| event.contains(part)), "{part} in {:?}", live.events);
    }
    // Everything is equal except for the helper class.
    assert!(alone.contains("  at app.Mirror.work(Mirror.java:51)"), "{alone}");
    assert!(alone.ends_with("helper none\n") && watched.ends_with("helper java.lang.Invigil\n"), "{watched}");
    let rest =
        |text: &str| text.lines().filter(|line| !line.starts_with("helper")).map(str::to_owned).collect();
    let (alone, watched): (Vec<String>, Vec<String>) = (rest(&alone), rest(&watched));
    assert_eq!(alone, watched);
}
