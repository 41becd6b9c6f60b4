//! Starting a session from files and a target.

use crate::commands::BlockCommands;
use crate::console::Console;
use crate::interrupt_handle::InterruptHandle;
use crate::message_sink::{MessageSink, SessionPrinter};
use crate::session_factory::{Files, LoadedFiles, SessionFactory};
use invigil_check::report::Style;
use invigil_expr::diag::Diagnostic;
use invigil_lang::report::render;
use invigil_session::{Recorder, RunOutcome, Session, SessionOptions, StartError};
use invigil_target::{TargetError, UnresolvedEvent};
use invigil_trace::Format;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Everything that starting a session needs, and how its output is printed.
pub struct SessionConfig {
    /// Loads the files and starts the target.
    pub factory: Box<dyn SessionFactory>,
    /// The user's files.
    pub files: Files,
    /// The limits of the session.
    pub options: SessionOptions,
    /// File to which the events are recorded, if any.
    pub record: Option<PathBuf>,
    /// Destination of messages while the target runs.
    pub messages: MessageSink,
    /// Layout and colours of the output.
    pub style: Style,
    /// Interrupts the running target.
    pub interrupt: InterruptHandle,
    /// The terminal, if the target shares it.
    pub console: Option<Rc<dyn Console>>,
    /// Whether commands may ask for confirmation.
    pub asks_for_confirmation: bool,
    /// Whether the debugger attached to a running process: on exit it is detached instead of killed.
    pub attached: bool,
}

/// Error of starting a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// The user's input is invalid; the message is already rendered.
    Input(String),
    /// The target cannot be started or controlled.
    Target(String),
}

impl OpenError {
    /// The message for the user.
    pub fn message(&self) -> &str {
        match self {
            OpenError::Input(message) | OpenError::Target(message) => message,
        }
    }
}

impl From<TargetError> for OpenError {
    fn from(error: TargetError) -> OpenError {
        match error {
            TargetError::Request(message) => OpenError::Input(format!("error: {message}")),
            other => OpenError::Target(other.to_string()),
        }
    }
}

/// A session that has started.
pub(crate) struct StartedSession {
    pub(crate) session: Session,
    pub(crate) loaded: Rc<LoadedFiles>,
    /// Notes to print before the target runs.
    pub(crate) notes: Vec<String>,
    /// Outcome of the scenario's reactions to the initial verdicts.
    pub(crate) outcome: Option<RunOutcome>,
}

/// Loads the files, starts the target and the session. On failure no process started here is left running.
pub(crate) fn open(config: &mut SessionConfig) -> Result<StartedSession, OpenError> {
    let loaded = Rc::new(config.factory.load(&config.files).map_err(OpenError::Input)?);
    open_loaded(config, loaded)
}

/// Starts a session from compiled files.
pub(crate) fn open_loaded(
    config: &mut SessionConfig,
    loaded: Rc<LoadedFiles>,
) -> Result<StartedSession, OpenError> {
    let recorder = match &config.record {
        Some(path) => {
            Some(recorder(path, &loaded).map_err(|message| OpenError::Input(format!("error: {message}")))?)
        }
        None => None,
    };
    let mut target = config.factory.start_target()?;
    config.interrupt.set_interrupter(target.interrupter());
    let (automata, scenarios) = (loaded.automata.clone(), loaded.scenarios.clone());
    let options = config.options.clone();
    let catalog = loaded.catalog.clone();
    if !target.is_alive() {
        // The process has already exited, so an error of `kill` is irrelevant.
        let _ = target.kill();
        return Err(OpenError::Target("the program exited before it could be monitored".to_owned()));
    }
    let mut session = Session::new(target, automata, catalog, scenarios, options);
    let names = loaded.automata.iter().map(|automaton| automaton.name.clone()).collect();
    session.set_listener(Box::new(SessionPrinter { sink: config.messages.clone(), names }));
    session.set_command_runner(Box::new(BlockCommands::new(Rc::clone(&loaded))));
    if let Some(recorder) = recorder {
        session.set_recorder(recorder);
    }
    if let Err(message) = session.set_scripts(loaded.scripts.clone()) {
        // The first error is the one to report.
        let _ = if config.attached { session.detach() } else { session.kill() };
        return Err(OpenError::Input(format!("error: {message}")));
    }
    match session.start() {
        Ok(started) => {
            let mut notes: Vec<String> = started.pending.iter().map(pending_note).collect();
            // Entry and exit of one function are two events with the same note.
            notes.dedup();
            let has_events = !loaded.automata.is_empty() || !loaded.scripts.is_empty();
            notes.extend(
                session.target().probe_failure().filter(|_| has_events).map(|why| missing_probes_note(&why)),
            );
            Ok(StartedSession { notes, outcome: started.outcome, session, loaded })
        }
        Err(error) => {
            let failed = match error {
                StartError::Unresolved(unresolved) => {
                    OpenError::Input(render_unresolved(&loaded, &unresolved, &config.style))
                }
                StartError::Target(error) => error.into(),
            };
            // The first error is the one to report.
            let _ = if config.attached { session.detach() } else { session.kill() };
            Err(failed)
        }
    }
}

/// Note that every event costs a trap, and why.
pub fn missing_probes_note(why: &str) -> String {
    format!("probes cannot be used in this program, so each event stops a thread (trap): {why}")
}

/// Creates the recorder for a trace file.
pub(crate) fn recorder(path: &Path, loaded: &LoadedFiles) -> Result<Recorder, String> {
    let (name, format) = (path.display(), format_from_path(path)?);
    let file = File::create(path).map_err(|error| format!("{name}: cannot write the recording: {error}"))?;
    Recorder::new(Box::new(file), format, &loaded.catalog).map_err(|error| format!("{name}: {error}"))
}

/// Determines the format of a recording from the extension of its path.
///
/// # Errors
/// If the extension is unknown: a message for the user.
pub fn format_from_path(path: &Path) -> Result<Format, String> {
    Format::of_path(path).ok_or_else(|| {
        format!(
            "{}: unknown trace format; use the extension .jsonl, .csv, or .trace for plain lines",
            path.display()
        )
    })
}

/// Note on an event whose location may be in a library that is not loaded yet.
pub fn pending_note(event: &UnresolvedEvent) -> String {
    format!("{}: it may be in a library that is loaded later", event.reason)
}

/// Renders diagnostics for events that the target does not have, positioned in the property or script.
pub fn render_unresolved(loaded: &LoadedFiles, unresolved: &[UnresolvedEvent], style: &Style) -> String {
    let mut diagnostics = Vec::new();
    for event in unresolved {
        let mut transitions = loaded.automata.iter().flat_map(|automaton| &automaton.transitions);
        let transition = transitions.find(|transition| transition.event == event.event);
        let in_property = transition.map(|found| event_span(loaded, found.span, event).unwrap_or(found.span));
        let in_script = || loaded.entity_spans.iter().find(|(id, _)| *id == event.event);
        let shown = match in_property.or_else(|| in_script().map(|(_, span)| *span)) {
            Some(span) => {
                let mut diagnostic = Diagnostic::error(span, &event.reason);
                if !event.help.is_empty() {
                    diagnostic = diagnostic.help(&event.help);
                }
                render(&loaded.sources, &[diagnostic], style.colour)
            }
            None => format!("error: {}", event.reason),
        };
        // Entry and exit of one method are two events with the same diagnostic.
        if !diagnostics.contains(&shown) {
            diagnostics.push(shown);
        }
    }
    diagnostics.join("\n\n")
}

/// Span of the event's name, or of its parameter, within a transition.
fn event_span(
    loaded: &LoadedFiles,
    transition: invigil_expr::diag::Span,
    unresolved: &UnresolvedEvent,
) -> Option<invigil_expr::diag::Span> {
    let decl = loaded.catalog.get(unresolved.event)?;
    let text = loaded.sources.text_of(transition);
    let name = decl.name.as_str();
    let event = text.find(name)?;
    let (at, len) = match unresolved.param.and_then(|param| decl.params.get(param)) {
        Some(param) => {
            let source = param.source.to_string();
            let after = event + name.len();
            (after + text.get(after..)?.find(&source)?, source.len())
        }
        None => (event, name.len()),
    };
    let start = transition.start + at as u32;
    Some(invigil_expr::diag::Span::new(transition.source, start, start + len as u32))
}
