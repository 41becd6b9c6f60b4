//! Compiles the programs once, runs them, and notes what is told.

use invigil_jvm::{Launch, Stream, Target};
use invigil_monitor::event::{Catalog, EventSet, Kind, Param, Source, Type};
use invigil_session::subject::{Done, Resume, Stop, Subject, Unknown};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// The folder with the compiled programs. They are compiled once for all tests.
pub(crate) fn classes() -> PathBuf {
    compiled(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java/app"), &["-g"])
}

/// The folder with the classes of the programs in another one, compiled with these options.
pub(crate) fn compiled(folder: &Path, options: &[&str]) -> PathBuf {
    let files = fs::read_dir(folder).expect("the programs are there").map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|end| end == "java")).collect();
    files.sort();
    let mut hasher = DefaultHasher::new();
    options.hash(&mut hasher);
    files.iter().for_each(|file| fs::read(file).unwrap().hash(&mut hasher));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("java-{:x}", hasher.finish()));
    if !target.is_dir() {
        let fresh = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let done = Command::new("javac").args(options).arg("-d").arg(fresh.path()).args(&files).status();
        assert!(done.expect("there is javac").success());
        // Another test may have been faster.
        let _ = fs::rename(fresh.path(), &target);
    }
    assert!(target.is_dir());
    target
}

/// A program of the tests that is about to run.
pub(crate) fn launch(main: &str, args: &[&str]) -> Launch {
    launch_with("java".into(), main, args)
}

/// The same, with another Java.
pub(crate) fn launch_with(java: PathBuf, main: &str, args: &[&str]) -> Launch {
    let mut launch = Launch::new(java)
        .args(["-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp"])
        .args([classes()])
        .args([format!("app.{main}")])
        .args(args.iter().copied());
    launch.stdout = Stream::File(tempfile::tempfile().unwrap().into());
    launch
}

/// What a program printed.
pub(crate) fn printed(launch: &Launch) -> String {
    use io::{Read, Seek};
    let Stream::File(file) = &launch.stdout else { panic!("its output is not kept") };
    let mut file = fs::File::from(file.try_clone().unwrap());
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    text
}

/// An event of a catalog: its kind, its name, and its parameters as `name`, `arg 1`, `ret`, `#thread`, or `name=expression`,
/// with `:type` behind.
pub(crate) fn event(catalog: &mut Catalog, kind: Kind, name: &str, params: &[&str]) {
    let symbol = catalog.symbol(name, kind);
    for text in params {
        let (text, ty) = match text.rsplit_once(':') {
            Some((text, ty)) => (text, Type::from_word(ty)),
            None => (*text, None),
        };
        let (name, source) = match text.split_once('=') {
            Some((name, expression)) => (name, Source::Expression(expression.to_owned())),
            None => (
                text,
                match text {
                    "ret" => Source::Ret,
                    "#thread" => Source::Thread,
                    text => match text.strip_prefix("arg ") {
                        Some(number) => Source::Arg(number.parse().unwrap()),
                        None => Source::Name(text.to_owned()),
                    },
                },
            ),
        };
        catalog.param(symbol, &Param { source, name: name.to_owned(), ty });
    }
}

pub(crate) struct Live {
    pub(crate) target: Target,
    catalog: Catalog,
    /// The events so far: `push(item=1, weight=0.5)`.
    pub(crate) events: Vec<String>,
}

impl Live {
    pub(crate) fn start(launch: &Launch, catalog: Catalog) -> Live {
        let (live, unknown) = Live::try_start(launch, catalog);
        assert!(unknown.iter().all(|unknown| unknown.pending), "{unknown:?}");
        live
    }

    pub(crate) fn try_start(launch: &Launch, catalog: Catalog) -> (Live, Vec<Unknown>) {
        Live::watch(Target::launch(launch).expect("it starts"), catalog)
    }

    pub(crate) fn watch(mut target: Target, catalog: Catalog) -> (Live, Vec<Unknown>) {
        let unknown = target.prepare(&catalog).expect("it can be prepared");
        let mut all = EventSet::default();
        catalog.iter().for_each(|(symbol, _)| all.insert(symbol));
        target.instrument(&all).expect("it can be instrumented");
        (Live { target, catalog, events: Vec::new() }, unknown)
    }

    /// Runs to the next stop; events are noted.
    pub(crate) fn next(&mut self) -> Done<Stop> {
        self.step(&Resume::Continue)
    }

    pub(crate) fn step(&mut self, how: &Resume) -> Done<Stop> {
        let stop = self.target.resume(how)?;
        if stop == Stop::Events {
            for at in 0..self.target.events().len() {
                self.note(at);
            }
        }
        Ok(stop)
    }

    fn note(&mut self, at: usize) {
        let event = self.target.events().event(at);
        let symbol = self.catalog.get(event.symbol).unwrap();
        let values = symbol.params.iter().zip(event.params).map(|(param, value)| {
            let shown = match (value.as_int(), value.as_float(), value.as_text()) {
                (Some(int), _, _) => int.to_string(),
                (_, Some(float), _) => format!("{float:?}"),
                (_, _, Some((start, length))) => event.text[start as usize..][..length as usize].to_owned(),
                _ => match value.as_short() {
                    Some(short) => short.to_owned(),
                    None => format!("{:?}", value.tag()),
                },
            };
            format!("{}={shown}", param.name)
        });
        let values: Vec<String> = values.collect();
        let kind =
            if symbol.kind == Kind::Before { String::new() } else { format!("{} ", symbol.kind.word()) };
        self.events.push(format!("{kind}{}({})", symbol.name, values.join(", ")));
    }

    /// Runs until something else than an event happens.
    #[track_caller]
    pub(crate) fn run(&mut self) -> Stop {
        self.run_as(&Resume::Continue)
    }

    #[track_caller]
    pub(crate) fn run_as(&mut self, how: &Resume) -> Stop {
        loop {
            match self.step(how).expect("it runs") {
                Stop::Events => {}
                stop => return stop,
            }
        }
    }

    /// Runs to the event that is shown like this.
    #[track_caller]
    pub(crate) fn run_to(&mut self, event: &str) {
        loop {
            match self.next().expect("it runs") {
                Stop::Events if self.events.last().is_some_and(|last| last.contains(event)) => break,
                Stop::Events => {}
                stop => panic!("{stop:?} before {event}; {:?}", self.events),
            }
        }
        self.target.hold().expect("it stands still");
    }

    /// The innermost frames, as `app.Queue.push:12`.
    #[track_caller]
    pub(crate) fn stack(&mut self) -> Vec<String> {
        let frames = self.target.frames(20).expect("it stands still");
        frames
            .iter()
            .map(|frame| format!("{}:{}", frame.function, frame.line.as_ref().map_or(0, |line| line.line)))
            .collect()
    }
}
