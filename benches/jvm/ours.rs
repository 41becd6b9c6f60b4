//! Invigil on a live Java program: the same calls that `invigil run` makes.

use super::Outcome;
use invigil_expr::diag::{Diagnostic, SourceId};
use invigil_jvm::{Launch, Stream, Target};
use invigil_lang::medl::Names;
use invigil_lang::{medl, pedl, prop};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::Catalog;
use invigil_monitor::mac::Plan;
use invigil_session::subject::{Ending, Resume};
use invigil_session::{Listener, Options, Recorder, Session, Speaker};
use invigil_trace::Format;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, sink};
use std::sync::Arc;

/// What a program is watched for.
#[derive(Default)]
pub(crate) struct Watching {
    automata: Vec<Arc<Automaton>>,
    catalog: Catalog,
    plans: Vec<Plan>,
    /// Every event is told to the tool, and recorded.
    recorded: bool,
}

/// What became of a watched run.
#[derive(Debug)]
pub(crate) struct Watched {
    /// What the program printed.
    pub(crate) output: String,
    /// How many events there were.
    pub(crate) events: u64,
    /// How many transitions each property took.
    pub(crate) steps: Vec<u64>,
    /// How many slices each had.
    pub(crate) slices: Vec<u64>,
}

fn wrong(problems: &[Diagnostic]) -> String {
    format!("a script of the benchmark is wrong: {problems:?}")
}

impl Watching {
    /// Nothing: the agent is there, and no probe.
    pub(crate) fn nothing() -> Watching {
        Watching::default()
    }

    /// A property.
    pub(crate) fn property(text: &str) -> Outcome<Watching> {
        Watching::properties(&[("property".to_owned(), text.to_owned())])
    }

    /// Properties, each with its name.
    pub(crate) fn properties(all: &[(String, String)]) -> Outcome<Watching> {
        let mut watching = Watching::default();
        for (name, text) in all {
            let (property, mut problems) = prop::parse(SourceId(0), text);
            let (automaton, more) = prop::lower::lower(name, &property, &[], &mut watching.catalog);
            problems.extend(more);
            watching.automata.push(Arc::new(automaton.ok_or_else(|| wrong(&problems))?));
        }
        Ok(watching)
    }

    /// A pair of scripts, which step inside the program.
    pub(crate) fn scripts(monitoring: &str, requirements: &str) -> Outcome<Watching> {
        let mut watching = Watching::default();
        let (script, problems) = pedl::parse(SourceId(0), monitoring);
        let (recogniser, more) = pedl::lower(&script, &|_| None);
        let recogniser = recogniser.ok_or_else(|| wrong(&[problems, more].concat()))?;
        let (script, problems) = medl::parse(SourceId(1), requirements);
        let (checker, more) = medl::lower(&script, Some(&recogniser));
        let checker = checker.ok_or_else(|| wrong(&[problems, more].concat()))?;
        let watched = medl::watch(&recogniser, &checker, Names::WithTypes, false, &mut watching.catalog)?;
        watching.automata = watched.automata.into_iter().map(Arc::new).collect();
        watching.plans = vec![watched.plan];
        Ok(watching)
    }

    /// Whether it is scripts that watch; then what they find are the events.
    pub(crate) fn has_scripts(&self) -> bool {
        !self.plans.is_empty()
    }

    /// The tool is told every event, one by one.
    pub(crate) fn recorded(mut self) -> Watching {
        self.recorded = true;
        self
    }

    /// Runs `java` with these arguments to its end.
    pub(crate) fn run(&self, args: Vec<OsString>) -> Outcome<Watched> {
        let file = |error: std::io::Error| format!("no file for what the program prints: {error}");
        let mut output = tempfile::tempfile().map_err(file)?;
        let mut launch = Launch::new("java").args(args);
        launch.stdin = Stream::Null;
        // As `invigil run --batch`: there is no prompt.
        launch.unstepped = true;
        launch.stdout = Stream::File(output.try_clone().map_err(file)?.into());
        let report = self.watch(&launch)?;
        Ok(Watched { output: text_of(&mut output).map_err(file)?, ..report })
    }

    fn watch(&self, launch: &Launch) -> Outcome<Watched> {
        let words = |trouble: invigil_session::subject::Trouble| trouble.to_string();
        let target = Target::launch(launch).map_err(words)?;
        let (automata, catalog) = (self.automata.clone(), self.catalog.clone());
        let mut session = Session::new(Box::new(target), automata, catalog, Vec::new(), Options::default());
        session.set_listener(Box::new(Aloud));
        if self.recorded {
            let recorder = Recorder::new(Box::new(sink()), Format::JsonLines, &self.catalog);
            session.set_recorder(recorder.map_err(|error| error.to_string())?);
        }
        session.set_scripts(self.plans.clone())?;
        let started = session.start().map_err(|error| error.to_string())?;
        if let Some(outcome) = started.outcome {
            return Err(format!("the session did not start: {outcome:?}"));
        }
        let outcome = session.run(&Resume::Continue).map_err(words)?;
        if outcome != invigil_session::Outcome::Ended(Ending::Exited(0)) {
            return Err(format!("the watched program did not end well: {outcome:?}"));
        }
        let report = session.report();
        Ok(Watched {
            output: String::new(),
            events: report.events,
            steps: report.properties.iter().map(|property| property.steps).collect(),
            slices: report.properties.iter().map(|property| property.slices).collect(),
        })
    }
}

fn text_of(file: &mut File) -> std::io::Result<String> {
    let mut text = String::new();
    file.rewind()?;
    file.read_to_string(&mut text)?;
    Ok(text)
}

/// Says what the session has to say: a benchmark must not hide it.
struct Aloud;

impl Listener for Aloud {
    fn line(&mut self, _: Speaker, line: &str) {
        println!("  note: {line}");
    }
}
