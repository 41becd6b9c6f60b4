//! Subjects compiled on the spot, and a catalog written in a line.

use invigil_monitor::event::{Catalog, EventSet, Kind, Param, Source, Type};
use invigil_native::{Launch, Stream, Target};
use invigil_session::subject::{Owner, PointId, PointSpec, Resume, Stop, Subject, What};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program in a directory of its own, which goes when this does.
pub(crate) struct Built {
    dir: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

impl Built {
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn launch(&self) -> Launch {
        let mut launch = Launch::new(&self.path);
        launch.stdout = Stream::Null;
        launch
    }

    pub(crate) fn start(&self) -> Target {
        Target::launch(&self.launch()).expect("the program starts")
    }
}

/// Compiles a C program.
pub(crate) fn c(source: &str, flags: &[&str]) -> Built {
    compile("cc", "program.c", source, flags)
}

/// Compiles with any compiler that understands `-o`.
pub(crate) fn compile(compiler: &str, name: &str, source: &str, flags: &[&str]) -> Built {
    let dir = tempfile::tempdir().expect("a directory");
    let (file, path) = (dir.path().join(name), dir.path().join("program"));
    std::fs::write(&file, source).expect("the source is written");
    let done = Command::new(compiler)
        .current_dir(dir.path())
        .arg(name)
        .args(["-o", "program"])
        .args(flags)
        .output()
        .expect("there is a compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Built { dir, path }
}

/// Where a parameter comes from, as it is written in a property: `x`, `arg 1`, `ret`, `*p`, `&x`, `^x`.
pub(crate) fn source(text: &str) -> Source {
    let inner = |rest: &str| Box::new(source(rest));
    match text.split_at(1) {
        ("*", rest) => Source::Deref(inner(rest)),
        ("&", rest) => Source::Address(inner(rest)),
        ("^", rest) => Source::Outer(inner(rest)),
        _ if text == "ret" => Source::Ret,
        _ if text == "#thread" => Source::Thread,
        _ => match text.strip_prefix("arg ") {
            Some(number) => Source::Arg(number.parse().expect("a number")),
            None if text.chars().all(|c| c.is_alphanumeric() || c == '_') => Source::Name(text.into()),
            None => Source::Expression(text.into()),
        },
    }
}

/// A catalog of one or more events, all of which are needed.
pub(crate) fn catalog(events: &[(&str, Kind, &[&str])]) -> (Catalog, EventSet) {
    let mut catalog = Catalog::default();
    let mut needs = EventSet::default();
    for (name, kind, params) in events {
        let symbol = catalog.symbol(name, *kind);
        for param in *params {
            let (text, ty) = match param.split_once(": ") {
                Some((text, ty)) => (text, Type::from_word(ty)),
                None => (*param, None),
            };
            catalog.param(symbol, &Param { source: source(text), name: text.into(), ty });
        }
        needs.insert(symbol);
    }
    (catalog, needs)
}

/// Asks for events; all of them must be known.
pub(crate) fn ask(target: &mut Target, events: &[(&str, Kind, &[&str])]) -> (Catalog, EventSet) {
    let (catalog, needs) = catalog(events);
    let unknown = target.prepare(&catalog).expect("the events are looked up");
    assert!(unknown.is_empty(), "{unknown:?}");
    target.instrument(&needs).expect("the events are asked for");
    (catalog, needs)
}

/// An event in words: `push(1, "x")`, with `-` for what is not there.
pub(crate) fn shown(target: &Target, catalog: &Catalog, at: usize) -> String {
    let event = target.events().event(at);
    let symbol = catalog.get(event.symbol).expect("a symbol of the catalog");
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

/// Runs to the end; gives all events in words, and how it stopped.
pub(crate) fn run(target: &mut Target, catalog: &Catalog) -> (Vec<String>, Stop) {
    let mut all = Vec::new();
    loop {
        match target.resume(&Resume::Continue).expect("the program goes on") {
            Stop::Events => all.extend((0..target.events().len()).map(|at| shown(target, catalog, at))),
            stop => return (all, stop),
        }
    }
}

/// Compiles a C++ program.
pub(crate) fn cpp(source: &str, flags: &[&str]) -> Built {
    compile("c++", "program.cc", source, flags)
}

/// What a program writes, through a file.
pub(crate) fn with_output(program: &Built) -> (Launch, PathBuf) {
    let path = program.dir().join("output");
    let file = std::fs::File::create(&path).expect("a file for the output");
    let mut launch = program.launch();
    launch.stdout = Stream::File(file.into());
    (launch, path)
}

/// Processes that have this variable in their environment: what is left of a subject.
pub(crate) fn processes_with(variable: &str) -> Vec<i32> {
    let all = std::fs::read_dir("/proc").expect("the processes").flatten();
    let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let mine = |process: &i32| {
        let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        environment.windows(variable.len()).any(|part| part == variable.as_bytes())
    };
    numbers.filter(mine).collect()
}

/// Waits until something is so, ten seconds at most.
pub(crate) fn eventually(mut so: impl FnMut() -> bool) -> bool {
    (0..1000).any(|_| {
        so() || {
            std::thread::sleep(std::time::Duration::from_millis(10));
            false
        }
    })
}

/// A point of the developer; gives its number.
pub(crate) fn stop_at(target: &mut Target, place: &str) -> PointId {
    let spec = PointSpec::new(What::Reach(place.into()));
    target.set_point(Owner::Developer, &spec).expect("the point is set")
}

/// Goes on.
pub(crate) fn go(target: &mut Target) -> Stop {
    target.resume(&Resume::Continue).expect("the program goes on")
}

/// Goes on to a point of the developer, and nowhere else.
pub(crate) fn go_to(target: &mut Target, id: PointId) {
    let stop = go(target);
    assert_eq!(stop, Stop::Points { owner: Owner::Developer, points: vec![id] });
}

/// What an expression is, in words.
pub(crate) fn print(target: &mut Target, expression: &str) -> String {
    target.print(expression).unwrap_or_else(|trouble| format!("<{trouble}>"))
}

/// What an expression is, as a number.
pub(crate) fn number(target: &mut Target, expression: &str) -> i64 {
    let shown = print(target, expression);
    shown.parse().unwrap_or_else(|_| panic!("{expression} is {shown}"))
}

/// The function and line of the innermost frame: `f:12`.
pub(crate) fn at(target: &mut Target) -> String {
    let frames = target.frames(1).expect("there are frames");
    let line = frames[0].line.as_ref().map_or(0, |line| line.line);
    format!("{}:{line}", frames[0].function)
}
