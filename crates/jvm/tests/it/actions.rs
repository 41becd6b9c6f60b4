//! Actions that scripts invoke reach the program: a method is called, or a scenario reacts.

use crate::common::{classes, compiled};
use crate::scripts::{Begun, begin, example, run, watched_in};
use invigil_session::StartError;
use invigil_target::UnresolvedEvent;

#[test]
fn invoked_method_corrects_the_program() {
    // Without the action, the decision of the module has no effect, and the rod falls.
    let story = run("pendulum", "steer.pedl", "steer.medl", &["CHARON", "deaf", "12"]);
    assert_eq!(story.violations, [""; 0]);
    let expected = [
        "The rod tilts: the safe controller takes over!",
        "The rod stands: the basic controller takes over!",
    ];
    assert_eq!(story.said, expected);
    let printed: Vec<&str> = story.printed.lines().collect();
    assert_eq!(printed[..2], ["EC is replaced by SC", "SC is replaced by BC"]);
    assert!(printed[2].starts_with("after 12 s the cart is at 0.5"), "{printed:?}");
}

const STEERED: &str = "MonScr  export event high, low;  monobj int Steered.level;
    event high = start(Steered.level > 10);  event low = start(Steered.level < -10);  End";

/// A script that calls this method when the level is high.
fn calling(method: &str) -> String {
    format!("ReqSpec  import event high;  import action act = {method};  high -> {{ invoke act; }}  End")
}

fn steered(method: &str) -> Vec<String> {
    let path = classes().display().to_string();
    let story = watched_in(&path, STEERED, &calling(method), &["app.Steered"]);
    story.printed.lines().map(str::to_owned).chain(story.said).collect()
}

#[test]
fn static_methods_accept_arguments_of_every_type() {
    assert_eq!(steered("app.Steered.reset()"), ["reset on main", "level 0"]);
    assert_eq!(
        steered(r#"Steered.all(true, 1, 'c', -2, 3, 4L, 0.5f, 6, "seven")"#),
        ["all true 1 c -2 3 4 0.5 6.0 seven", "level 11"]
    );
    // The overload with the best match.
    assert_eq!(steered("Steered.pick(1)"), ["int 1", "level 11"]);
    assert_eq!(steered("Steered.pick(1L)"), ["long 1", "level 11"]);
}

#[test]
fn events_in_invoked_methods_can_invoke_again() {
    let medl = "ReqSpec  import event high, low;
        import action down = Steered.set(-11), up = Steered.set(5);
        high -> { print \"high\"; invoke down; }  low -> { print \"low\"; invoke up; }  End";
    let story = watched_in(&classes().display().to_string(), STEERED, medl, &["app.Steered"]);
    assert_eq!(story.said, ["high", "low"]);
    assert_eq!(story.printed, "set -11\nset 5\nlevel 5\n");
}

#[test]
fn exception_in_invoked_method_is_reported() {
    let lines = steered("Steered.fail()");
    assert_eq!(lines[0], "level 11");
    assert!(
        lines[1].contains("`Steered.fail()` was not called: it threw `java.lang.IllegalStateException`"),
        "{lines:?}"
    );
    let lines = steered("Steered.nobody.one()");
    assert!(lines[1].contains("`app.Steered.nobody` is null"), "{lines:?}");
}

fn refused(method: &str) -> (String, String) {
    let Begun { mut session, catalog, .. } =
        begin(&classes().display().to_string(), STEERED, &calling(method), None, &["app.Steered"]);
    let Err(StartError::Unresolved(unknown)) = session.start() else { panic!("{method} is there") };
    let [UnresolvedEvent { event: symbol, reason, help, pending: false, .. }] = &unknown[..] else {
        panic!("{unknown:?}")
    };
    // The error has its position in the script.
    assert_eq!(catalog.get(*symbol).map(|symbol| symbol.name.as_str()), Some("#invoke act"));
    (reason.clone(), help.clone())
}

#[test]
fn invoked_methods_are_checked_against_class_files() {
    for (method, reason, help) in [
        ("Steered.rest()", "the class `app.Steered` has no method `rest`", "did you mean `reset`?"),
        ("Stered.reset()", "`Stered` matches no class on the class path", "did you mean `Steered`?"),
        ("Steered.set(0.5)", "can be called as `Steered.set(double)`", "there is `set(int)`"),
        ("Steered.set(\"5\")", "can be called as `Steered.set(String)`", "there is `set(int)`"),
        ("Steered.set()", "can be called as `Steered.set()`", "there is `set(int)`"),
        ("Steered.one()", "`app.Steered.one` is not static", "a static field"),
        ("Steered.own.one()", "`app.Steered.own` is not static", "a static field"),
        ("Steered.nobdy.one()", "the class `app.Steered` has no field `nobdy`", "did you mean `nobody`?"),
        ("Steered.level.one()", "`Steered.level` is of type `int`", ""),
    ] {
        let reported = refused(method);
        assert!(reported.0.contains(reason) && reported.1.contains(help), "{method}: {reported:?}");
    }
}

#[test]
fn scenario_reacts_to_an_action() {
    let medl = "ReqSpec  import event high;  import action act;  high -> { invoke act; }  End";
    let scenario = "on entering state invoked of act { print(\"acts\") }";
    let path = compiled(&example("../crates/jvm/tests/java/app"), &["-g"]).display().to_string();
    let story = begin(&path, STEERED, medl, Some(scenario), &["app.Steered"]).run();
    assert_eq!((story.said.join(" "), story.printed.as_str()), ("acts".to_owned(), "level 11\n"));
}
