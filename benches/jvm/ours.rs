//! Invigil on a live Java program: the same calls that `invigil run` makes.

use super::Outcome;
use invigil_expr::diag::{Diagnostic, SourceId};
use invigil_jvm::{JavaTarget, Launch, Stream};
use invigil_lang::medl::MethodNaming;
use invigil_lang::{medl, pedl, prop};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::EventCatalog;
use invigil_monitor::mac::ScriptPlan;
use invigil_session::{Listener, MessageSource, Recorder, Session, SessionOptions};
use invigil_target::{ResumeMode, Termination};
use invigil_trace::Format;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, sink};
use std::sync::Arc;

/// Properties or scripts to monitor.
#[derive(Default)]
pub(crate) struct Watching {
    automata: Vec<Arc<Automaton>>,
    catalog: EventCatalog,
    plans: Vec<ScriptPlan>,
    /// Every event is sent to the debugger and recorded.
    recorded: bool,
}

/// Result of a monitored run.
#[derive(Debug)]
pub(crate) struct Watched {
    /// Output of the program.
    pub(crate) output: String,
    /// Number of events.
    pub(crate) events: u64,
    /// Number of transitions of each property.
    pub(crate) steps: Vec<u64>,
    /// Number of slices of each property.
    pub(crate) slices: Vec<u64>,
}

fn script_error(diagnostics: &[Diagnostic]) -> String {
    format!("a script of the benchmark has errors: {diagnostics:?}")
}

impl Watching {
    /// Nothing: the agent without probes.
    pub(crate) fn nothing() -> Watching {
        Watching::default()
    }

    /// One property.
    pub(crate) fn property(text: &str) -> Outcome<Watching> {
        Watching::properties(&[("property".to_owned(), text.to_owned())])
    }

    /// Several named properties.
    pub(crate) fn properties(all: &[(String, String)]) -> Outcome<Watching> {
        let mut watching = Watching::default();
        for (name, text) in all {
            let (property, mut diagnostics) = prop::parse(SourceId(0), text);
            let (automaton, more) = prop::lower::lower(name, &property, &[], &mut watching.catalog);
            diagnostics.extend(more);
            watching.automata.push(Arc::new(automaton.ok_or_else(|| script_error(&diagnostics))?));
        }
        Ok(watching)
    }

    /// A pair of scripts, which step inside the target.
    pub(crate) fn scripts(monitoring: &str, requirements: &str) -> Outcome<Watching> {
        let mut watching = Watching::default();
        let (script, diagnostics) = pedl::parse(SourceId(0), monitoring);
        let (recogniser, more) = pedl::lower(&script, &|_| None);
        let recogniser = recogniser.ok_or_else(|| script_error(&[diagnostics, more].concat()))?;
        let (script, diagnostics) = medl::parse(SourceId(1), requirements);
        let (checker, more) = medl::lower(&script, Some(&recogniser));
        let checker = checker.ok_or_else(|| script_error(&[diagnostics, more].concat()))?;
        let watched =
            medl::connect(&recogniser, &checker, MethodNaming::WithTypes, false, &mut watching.catalog)?;
        watching.automata = watched.automata.into_iter().map(Arc::new).collect();
        watching.plans = vec![watched.plan];
        Ok(watching)
    }

    /// Whether scripts are monitored. Their results then count as the events.
    pub(crate) fn has_scripts(&self) -> bool {
        !self.plans.is_empty()
    }

    /// Sends every event to the debugger one by one.
    pub(crate) fn recorded(mut self) -> Watching {
        self.recorded = true;
        self
    }

    /// Runs `java` with these arguments until it exits.
    pub(crate) fn run(&self, args: Vec<OsString>) -> Outcome<Watched> {
        let file = |error: std::io::Error| format!("cannot create the output file: {error}");
        let mut output = tempfile::tempfile().map_err(file)?;
        let mut launch = Launch::new("java").args(args);
        launch.stdin = Stream::Null;
        // As `invigil run --batch`, without a prompt.
        launch.no_stepping = true;
        launch.stdout = Stream::File(output.try_clone().map_err(file)?.into());
        let report = self.watch(&launch)?;
        Ok(Watched { output: text_of(&mut output).map_err(file)?, ..report })
    }

    fn watch(&self, launch: &Launch) -> Outcome<Watched> {
        let message = |error: invigil_target::TargetError| error.to_string();
        let target = JavaTarget::launch(launch).map_err(message)?;
        let (automata, catalog) = (self.automata.clone(), self.catalog.clone());
        let mut session =
            Session::new(Box::new(target), automata, catalog, Vec::new(), SessionOptions::default());
        session.set_listener(Box::new(PrintingListener));
        if self.recorded {
            let recorder = Recorder::new(Box::new(sink()), Format::JsonLines, &self.catalog);
            session.set_recorder(recorder.map_err(|error| error.to_string())?);
        }
        session.set_scripts(self.plans.clone())?;
        let started = session.start().map_err(|error| error.to_string())?;
        if let Some(outcome) = started.outcome {
            return Err(format!("the session did not start: {outcome:?}"));
        }
        let outcome = session.run(&ResumeMode::Continue).map_err(message)?;
        if outcome != invigil_session::RunOutcome::Ended(Termination::Exited(0)) {
            return Err(format!("the monitored program did not end normally: {outcome:?}"));
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

/// Prints the messages of the session, which a benchmark must not hide.
struct PrintingListener;

impl Listener for PrintingListener {
    fn message(&mut self, _: MessageSource, line: &str) {
        println!("  note: {line}");
    }
}
