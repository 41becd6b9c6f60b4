//! Programs compiled by the tests, and event catalogs written in one line.

use invigil_monitor::event::{EventCatalog, EventKind, EventSet};
use invigil_native::{Launch, NativeTarget, Stream};
use invigil_target::prelude::*;
use invigil_target::{BreakpointId, BreakpointKind, BreakpointSpec, Owner, ResumeMode, StopReason};
use invigil_test_support::{Program, language};
use std::ops::Deref;
use std::path::PathBuf;

/// A compiled program.
pub(crate) struct Built(Program);

impl Deref for Built {
    type Target = Program;

    fn deref(&self) -> &Program {
        &self.0
    }
}

impl Built {
    pub(crate) fn launch(&self) -> Launch {
        let mut launch = Launch::new(&self.path);
        launch.stdout = Stream::Null;
        launch
    }

    pub(crate) fn start(&self) -> NativeTarget {
        NativeTarget::launch(&self.launch()).expect("the program starts")
    }
}

/// Compiles a C program.
pub(crate) fn c(source: &str, flags: &[&str]) -> Built {
    Built(Program::c(source, flags))
}

/// A catalog of one or more events, all of which are needed.
pub(crate) fn catalog(events: &[(&str, EventKind, &[&str])]) -> (EventCatalog, EventSet) {
    let mut catalog = EventCatalog::default();
    let mut needs = EventSet::default();
    for (name, kind, params) in events {
        needs.insert(language::declare(&mut catalog, *kind, name, params));
    }
    (catalog, needs)
}

/// Prepares and instruments events, all of which must be resolved.
pub(crate) fn instrument_events(
    target: &mut NativeTarget,
    events: &[(&str, EventKind, &[&str])],
) -> (EventCatalog, EventSet) {
    let (catalog, needs) = catalog(events);
    let unknown = target.prepare(&catalog).expect("the events are looked up");
    assert!(unknown.is_empty(), "{unknown:?}");
    target.instrument(&needs).expect("the events are instrumented");
    (catalog, needs)
}

/// An event as text: `push(1, "x")`, with `-` for unset parameters.
pub(crate) fn shown(target: &mut NativeTarget, catalog: &EventCatalog, at: usize) -> String {
    let event = target.events().event(at);
    let symbol = catalog.get(event.id).expect("a symbol of the catalog");
    let values: Vec<String> = event
        .params
        .iter()
        .map(|value| match (value.as_int(), value.as_float(), value.as_bool(), value.as_short()) {
            _ if value.is_unset() => "-".to_owned(),
            (Some(i), ..) => i.to_string(),
            (_, Some(f), ..) => f.to_string(),
            (_, _, Some(b), _) => b.to_string(),
            (.., Some(text)) => format!("{text:?}"),
            _ => "…".to_owned(),
        })
        .collect();
    format!("{symbol}({})", values.join(", "))
}

/// Runs to the end. Returns all events as text, and the final stop reason.
pub(crate) fn run(target: &mut NativeTarget, catalog: &EventCatalog) -> (Vec<String>, StopReason) {
    let mut all = Vec::new();
    loop {
        match target.resume(&ResumeMode::Continue).expect("the program continues") {
            StopReason::Events => all.extend((0..target.events().len()).map(|at| shown(target, catalog, at))),
            stop => return (all, stop),
        }
    }
}

/// Compiles a Rust program.
pub(crate) fn rust(source: &str, flags: &[&str]) -> Built {
    Built(Program::rust(source, flags))
}

/// Compiles a C++ program.
pub(crate) fn cpp(source: &str, flags: &[&str]) -> Built {
    Built(Program::cpp(source, flags))
}

/// Output of a program, through a file.
pub(crate) fn with_output(program: &Built) -> (Launch, PathBuf) {
    let path = program.dir().join("output");
    let file = std::fs::File::create(&path).expect("a file for the output");
    let mut launch = program.launch();
    launch.stdout = Stream::File(file.into());
    (launch, path)
}

/// Processes with this variable in their environment: leftovers of a target.
pub(crate) fn processes_with(variable: &str) -> Vec<i32> {
    let all = std::fs::read_dir("/proc").expect("the processes").flatten();
    let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let mine = |process: &i32| {
        let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        environment.windows(variable.len()).any(|part| part == variable.as_bytes())
    };
    numbers.filter(mine).collect()
}

/// Waits until a condition holds, at most ten seconds.
pub(crate) fn eventually(mut so: impl FnMut() -> bool) -> bool {
    (0..1000).any(|_| {
        so() || {
            std::thread::sleep(std::time::Duration::from_millis(10));
            false
        }
    })
}

/// Sets a breakpoint of the user.
pub(crate) fn stop_at(target: &mut NativeTarget, place: &str) -> BreakpointId {
    let spec = BreakpointSpec::new(BreakpointKind::Location(place.into()));
    target.set_breakpoint(Owner::User, &spec).expect("the breakpoint is set")
}

/// Continues.
pub(crate) fn go(target: &mut NativeTarget) -> StopReason {
    target.resume(&ResumeMode::Continue).expect("the program continues")
}

/// Continues to a breakpoint of the user, which must be the next stop.
pub(crate) fn go_to(target: &mut NativeTarget, id: BreakpointId) {
    let stop = go(target);
    assert_eq!(stop, StopReason::Breakpoints { owner: Owner::User, breakpoints: vec![id] });
}

/// Value of an expression as text.
pub(crate) fn print(target: &mut NativeTarget, expression: &str) -> String {
    target.evaluate(expression).unwrap_or_else(|error| format!("<{error}>"))
}

/// Value of an expression as a number.
pub(crate) fn number(target: &mut NativeTarget, expression: &str) -> i64 {
    let shown = print(target, expression);
    shown.parse().unwrap_or_else(|_| panic!("{expression} is {shown}"))
}

/// Function and line of the innermost frame: `f:12`.
pub(crate) fn at(target: &mut NativeTarget) -> String {
    let frames = target.frames(1).expect("there are frames");
    let line = frames[0].line.as_ref().map_or(0, |line| line.line);
    format!("{}:{line}", frames[0].function)
}
