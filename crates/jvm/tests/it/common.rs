//! Compiles the test programs once, runs them and logs their events.

use invigil_jvm::{JavaTarget, Launch, Stream};
use invigil_monitor::event::{EventCatalog, EventKind, EventSet};
use invigil_target::prelude::*;
use invigil_target::{ResumeMode, StopReason, TargetResult, UnresolvedEvent};
use invigil_test_support::java;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The directory with the compiled programs, which are compiled once for all tests.
pub(crate) fn classes() -> PathBuf {
    compiled(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java/app"), &["-g"])
}

/// The directory of classes inside another one, compiled with these options.
pub(crate) fn compiled(folder: &Path, options: &[&str]) -> PathBuf {
    java::compile_once(folder, options, Path::new(env!("CARGO_TARGET_TMPDIR")))
}

/// A test program that is about to run.
pub(crate) fn launch(main: &str, args: &[&str]) -> Launch {
    launch_with("java".into(), main, args)
}

/// A test program that is about to run with another Java.
pub(crate) fn launch_with(java: PathBuf, main: &str, args: &[&str]) -> Launch {
    let mut launch = Launch::new(java)
        .args(["-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp"])
        .args([classes()])
        .args([format!("app.{main}")])
        .args(args.iter().copied());
    launch.stdout = Stream::File(tempfile::tempfile().unwrap().into());
    launch
}

/// The output of a program.
pub(crate) fn printed(launch: &Launch) -> String {
    use io::{Read, Seek};
    let Stream::File(file) = &launch.stdout else { panic!("its output is not kept") };
    let mut file = fs::File::from(file.try_clone().unwrap());
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    text
}

pub(crate) struct Live {
    pub(crate) target: JavaTarget,
    catalog: EventCatalog,
    /// The events so far: `push(item=1, weight=0.5)`.
    pub(crate) events: Vec<String>,
}

impl Live {
    pub(crate) fn start(launch: &Launch, catalog: EventCatalog) -> Live {
        let (live, unknown) = Live::try_start(launch, catalog);
        assert!(unknown.iter().all(|unknown| unknown.pending), "{unknown:?}");
        live
    }

    pub(crate) fn try_start(launch: &Launch, catalog: EventCatalog) -> (Live, Vec<UnresolvedEvent>) {
        Live::watch(JavaTarget::launch(launch).expect("it starts"), catalog)
    }

    pub(crate) fn watch(mut target: JavaTarget, catalog: EventCatalog) -> (Live, Vec<UnresolvedEvent>) {
        let unknown = target.prepare(&catalog).expect("it can be prepared");
        let mut all = EventSet::default();
        catalog.iter().for_each(|(symbol, _)| all.insert(symbol));
        target.instrument(&all).expect("it can be instrumented");
        (Live { target, catalog, events: Vec::new() }, unknown)
    }

    /// Runs to the next stop and logs its events.
    pub(crate) fn next(&mut self) -> TargetResult<StopReason> {
        self.step(&ResumeMode::Continue)
    }

    pub(crate) fn step(&mut self, how: &ResumeMode) -> TargetResult<StopReason> {
        let stop = self.target.resume(how)?;
        if stop == StopReason::Events {
            for at in 0..self.target.events().len() {
                self.note(at);
            }
        }
        Ok(stop)
    }

    fn note(&mut self, at: usize) {
        let event = self.target.events().event(at);
        let symbol = self.catalog.get(event.id).unwrap();
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
            if symbol.kind == EventKind::Before { String::new() } else { format!("{} ", symbol.kind.word()) };
        self.events.push(format!("{kind}{}({})", symbol.name, values.join(", ")));
    }

    /// Runs to the next stop that is not an event.
    #[track_caller]
    pub(crate) fn run(&mut self) -> StopReason {
        self.run_as(&ResumeMode::Continue)
    }

    #[track_caller]
    pub(crate) fn run_as(&mut self, how: &ResumeMode) -> StopReason {
        loop {
            match self.step(how).expect("it runs") {
                StopReason::Events => {}
                stop => return stop,
            }
        }
    }

    /// Runs to the event that is shown like this.
    #[track_caller]
    pub(crate) fn run_to(&mut self, event: &str) {
        loop {
            match self.next().expect("it runs") {
                StopReason::Events if self.events.last().is_some_and(|last| last.contains(event)) => break,
                StopReason::Events => {}
                stop => panic!("{stop:?} before {event}; {:?}", self.events),
            }
        }
        self.target.stop_all().expect("it stands still");
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
