//! Nothing of a program is changed but that probes are in it: one that looks at itself sees what it saw before.

use crate::common::{Live, classes, event, launch, printed};
use invigil_monitor::event::{Catalog, Kind};
use invigil_session::subject::{Ending, Stop};
use std::process::Command;

#[test]
fn a_program_that_looks_at_itself() {
    let alone = Command::new("java").arg("-cp").arg(classes()).arg("app.Mirror").output().unwrap();
    assert!(alone.status.success());
    let alone = String::from_utf8(alone.stdout).unwrap();

    let mut catalog = Catalog::default();
    for method in ["work", "run", "new", "compareTo", "trace", "look", "main"] {
        event(&mut catalog, Kind::Before, &format!("Mirror.{method}"), &["#thread"]);
        event(&mut catalog, Kind::After, &format!("Mirror.{method}"), &["#thread"]);
    }
    event(&mut catalog, Kind::Before, "Shape.area", &["this"]);
    event(&mut catalog, Kind::After, "Square.area", &["ret", "side"]);
    for field in ["Mirror.total", "Mirror.count", "Mirror.name", "Square.side"] {
        event(&mut catalog, Kind::Write, field, &["ret"]);
    }
    let launch = launch("Mirror", &[]);
    let mut live = Live::start(&launch, catalog);
    assert_eq!(live.run(), Stop::Ended(Ending::Exited(0)));
    let watched = printed(&launch);

    // The probes were there, and told.
    for part in ["Mirror.work", "after Mirror.run", "Mirror.total", "Mirror.count", "after Square.area"] {
        assert!(live.events.iter().any(|event| event.contains(part)), "{part} in {:?}", live.events);
    }
    // All is the same but for the class that the probes call.
    assert!(alone.contains("  at app.Mirror.work(Mirror.java:51)"), "{alone}");
    assert!(alone.ends_with("helper none\n") && watched.ends_with("helper java.lang.Invigil\n"), "{watched}");
    let rest =
        |text: &str| text.lines().filter(|line| !line.starts_with("helper")).map(str::to_owned).collect();
    let (alone, watched): (Vec<String>, Vec<String>) = (rest(&alone), rest(&watched));
    assert_eq!(alone, watched);
}
