//! Making a session of files and a program.

use crate::bell::Bell;
use crate::commands::BlockCommands;
use crate::console::Console;
use crate::voice::{Telling, Voice};
use crate::workshop::{Files, Loaded, Workshop};
use invigil_check::report::Style;
use invigil_expr::diag::Diagnostic;
use invigil_lang::report::render;
use invigil_session::subject::{Trouble, Unknown};
use invigil_session::{Options, Outcome, Recorder, Session, StartError};
use invigil_trace::Format;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What sessions are made of, and how they are told.
pub struct Setting {
    /// Makes the parts.
    pub workshop: Box<dyn Workshop>,
    /// The files that were named.
    pub files: Files,
    /// The limits of the session.
    pub options: Options,
    /// Where events are recorded, if they are.
    pub record: Option<PathBuf>,
    /// What is heard while the program runs.
    pub voice: Voice,
    /// How texts are laid out.
    pub style: Style,
    /// Stops the running program.
    pub bell: Bell,
    /// The terminal, if there is one that the program may use too.
    pub console: Option<Rc<dyn Console>>,
    /// Whether somebody is there to answer a question.
    pub asks: bool,
    /// Whether the program ran before we came. It is let go where one of ours would be ended.
    pub attached: bool,
}

/// Why there is no session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// What the user gave cannot be used; the words are as they are shown.
    Input(String),
    /// The program cannot be run or controlled.
    Subject(String),
}

impl Failed {
    /// What to tell the user.
    pub fn words(&self) -> &str {
        match self {
            Failed::Input(words) | Failed::Subject(words) => words,
        }
    }
}

impl From<Trouble> for Failed {
    fn from(trouble: Trouble) -> Failed {
        match trouble {
            Trouble::Request(words) => Failed::Input(format!("error: {words}")),
            other => Failed::Subject(other.to_string()),
        }
    }
}

/// A session that has started.
pub(crate) struct Opened {
    pub(crate) session: Session,
    pub(crate) loaded: Rc<Loaded>,
    /// What is worth telling before the program runs.
    pub(crate) notes: Vec<String>,
    /// What the scenario made of the initial verdicts.
    pub(crate) outcome: Option<Outcome>,
}

/// Reads the files, begins the program and starts a session. If that fails no program of ours is left behind.
pub(crate) fn open(setting: &mut Setting) -> Result<Opened, Failed> {
    let loaded = Rc::new(setting.workshop.load(&setting.files).map_err(Failed::Input)?);
    open_loaded(setting, loaded)
}

/// The same with files that have been read.
pub(crate) fn open_loaded(setting: &mut Setting, loaded: Rc<Loaded>) -> Result<Opened, Failed> {
    let recorder = match &setting.record {
        Some(path) => {
            Some(recorder(path, &loaded).map_err(|words| Failed::Input(format!("error: {words}")))?)
        }
        None => None,
    };
    let mut subject = setting.workshop.begin()?;
    setting.bell.attach(subject.interrupter());
    let (automata, scenarios) = (loaded.automata.clone(), loaded.scenarios.clone());
    let options = setting.options.clone();
    let catalog = loaded.catalog.clone();
    if !subject.is_alive() {
        // A program that is gone leaves nothing to end.
        let _ = subject.kill();
        return Err(Failed::Subject("the program has ended before it could be watched".to_owned()));
    }
    let mut session = Session::new(subject, automata, catalog, scenarios, options);
    let names = loaded.automata.iter().map(|automaton| automaton.name.clone()).collect();
    session.set_listener(Box::new(Telling { voice: setting.voice.clone(), names }));
    session.set_commander(Box::new(BlockCommands::new(Rc::clone(&loaded))));
    if let Some(recorder) = recorder {
        session.set_recorder(recorder);
    }
    if let Err(words) = session.set_scripts(loaded.scripts.clone()) {
        // The message is about what went wrong first.
        let _ = if setting.attached { session.detach() } else { session.kill() };
        return Err(Failed::Input(format!("error: {words}")));
    }
    match session.start() {
        Ok(started) => {
            let mut notes: Vec<String> = started.pending.iter().map(pending).collect();
            // The begin and the end of one function are two events.
            notes.dedup();
            Ok(Opened { notes, outcome: started.outcome, session, loaded })
        }
        Err(error) => {
            let failed = match error {
                StartError::Unknown(unknown) => Failed::Input(point_out(&loaded, &unknown, &setting.style)),
                StartError::Trouble(trouble) => trouble.into(),
            };
            // The message is about what went wrong first.
            let _ = if setting.attached { session.detach() } else { session.kill() };
            Err(failed)
        }
    }
}

/// Opens a recording.
pub(crate) fn recorder(path: &Path, loaded: &Loaded) -> Result<Recorder, String> {
    let (name, format) = (path.display(), format_of(path)?);
    let file = File::create(path).map_err(|error| format!("{name}: cannot write the recording: {error}"))?;
    Recorder::new(Box::new(file), format, &loaded.catalog).map_err(|error| format!("{name}: {error}"))
}

/// The format of a recording, by the end of its name.
///
/// # Errors
/// In words, if the name does not tell.
pub fn format_of(path: &Path) -> Result<Format, String> {
    match path.extension().and_then(|extension| extension.to_str()).unwrap_or("") {
        "jsonl" | "json" => Ok(Format::JsonLines),
        "csv" => Ok(Format::Csv),
        "line" | "log" | "txt" | "trace" => Ok(Format::Line),
        _ => Err(format!(
            "{}: the end of the name says how to record: .jsonl, .csv, or .trace for plain lines",
            path.display()
        )),
    }
}

/// What is worth telling of an event that may come with a library.
pub fn pending(unknown: &Unknown) -> String {
    format!("{}: it may come with a library that is loaded later", unknown.reason)
}

/// What a property or script is about that the program does not have, with carets into it.
pub fn point_out(loaded: &Loaded, unknown: &[Unknown], style: &Style) -> String {
    let mut words = Vec::new();
    for unknown in unknown {
        let mut transitions = loaded.automata.iter().flat_map(|automaton| &automaton.transitions);
        let transition = transitions.find(|transition| transition.symbol == unknown.symbol);
        let in_property =
            transition.map(|found| event_span(loaded, found.span, unknown).unwrap_or(found.span));
        let in_script = || loaded.places.iter().find(|(symbol, _)| *symbol == unknown.symbol);
        let shown = match in_property.or_else(|| in_script().map(|(_, span)| *span)) {
            Some(span) => {
                let mut diagnostic = Diagnostic::error(span, &unknown.reason);
                if !unknown.help.is_empty() {
                    diagnostic = diagnostic.help(&unknown.help);
                }
                render(&loaded.sources, &[diagnostic], style.colour)
            }
            None => format!("error: {}", unknown.reason),
        };
        // The begin and the end of one method are two events.
        if !words.contains(&shown) {
            words.push(shown);
        }
    }
    words.join("\n\n")
}

/// The name of the event, or of its parameter, in the text of a transition.
fn event_span(
    loaded: &Loaded,
    transition: invigil_expr::diag::Span,
    unknown: &Unknown,
) -> Option<invigil_expr::diag::Span> {
    let symbol = loaded.catalog.get(unknown.symbol)?;
    let text = loaded.sources.text_of(transition);
    let name = symbol.name.as_str();
    let event = text.find(name)?;
    let (at, len) = match unknown.param.and_then(|param| symbol.params.get(param)) {
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
