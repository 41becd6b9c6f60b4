//! `invigil debug`: a person, or a script, among all the universes of a model.

mod attended;
mod conversation;

use crate::interrupt::Interrupt;
use crate::models::{self, Manner};
use crate::remote::{self, RemoteArgs};
use crate::terminal::Terminal;
use crate::{Trouble, UNRUNNABLE, UNUSABLE, explore, files};
use attended::Attended;
use clap::Args;
use conversation::Spoken;
use invigil_cockpit::Bell;
use invigil_cockpit::multiverse::{Dialect, Ending, Input, Readers, Setting, debug};
use invigil_explore::finder::Stop;
use invigil_expr::diag::{Diagnostic, Sources};
use invigil_lang::{model, report};
use invigil_model::Model;
use invigil_remote::Address;
use invigil_semantics::{Describe, Evaluate, Semantics};
use std::io::{self, Cursor, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, thread};

/// Walk through the behaviours of a model: step, go back, jump, run to a breakpoint
///
/// A model can do many things from each configuration: they are shown with
/// numbers, and `step` takes one. Where you have been is a tree: `back` and `jump`
/// go anywhere in it, and another choice there begins another universe. `break`
/// takes conditions, actions, formulae, patterns and properties, and `run` finds
/// the shortest way to where one holds.
#[derive(Args)]
#[command(after_help = EXAMPLES, verbatim_doc_comment)]
pub(crate) struct Debug {
    /// The model: FILE.model or FILE.dve; or a language of another program: 'remote:COMMAND', tcp:PORT or unix:PATH
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// An execution to begin with: a counterexample of `explore --trace`, or what `save` wrote
    #[arg(value_name = "EXECUTION")]
    execution: Option<PathBuf>,

    /// Run the commands of a file, one to a line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    commands: Option<PathBuf>,

    /// Numbers of a DVE model that are too large wrap around, instead of being an error
    #[arg(long)]
    wrap: bool,

    #[command(flatten)]
    remote: RemoteArgs,
}

const EXAMPLES: &str = "\
Examples:
  invigil debug philosophers.model
      a prompt; `help` lists the commands
  invigil explore lift.model --trace bad.jsonl; invigil debug lift.model bad.jsonl
      a counterexample, step by step
  invigil debug lift.model --commands story.txt
      a session that was written down
  invigil debug 'remote:python3 language.py lamp.soup'
      a program of a language of one's own

Exit status:
    3  a language of another program failed
    2  something given is wrong, or a command of a script could not be done
    0  otherwise";

/// How often Ctrl-C is looked for.
const OFTEN: Duration = Duration::from_millis(50);

pub(crate) fn run(args: &Debug, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    match remote::address(&args.model) {
        Some(address) => far(&address?, args, terminal),
        None => near(args, terminal),
    }
}

/// Debugs a program of a language of another program.
fn far(address: &Address, args: &Debug, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    if args.execution.is_some() || args.wrap {
        let option = if args.wrap { "`--wrap`" } else { "an execution to begin with" };
        return Err(Trouble::new(format_args!("{option} is for models: leave it out")));
    }
    let remote = remote::start(address, &args.remote)?;
    let ended = converse(&Attended::new(&remote, terminal), &Spoken(&remote), args, terminal)?;
    Ok(if remote.failure().is_some() { ExitCode::from(UNRUNNABLE) } else { ended })
}

fn near(args: &Debug, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    let given =
        models::load(&args.model, Manner { wraps: args.wrap, ..Manner::default() }, terminal.errors.colour)?;
    explore::warn(&given, terminal);
    let model = &given.loaded.model;
    let colour = terminal.style.colour;
    let readers = Readers {
        model,
        expression: Box::new(move |text| {
            let (sources, source) = typed(text);
            model::predicate(model, source, text).map_err(|problems| shown(&sources, &problems, colour))
        }),
        formula: Box::new(move |text| {
            // The automaton of a formula's violations is that of its negation.
            let negated = format!("!({text})");
            let (sources, source) = typed(&negated);
            model::never(model, source, &negated, text).map_err(|problems| shown(&sources, &problems, colour))
        }),
        property: Box::new(move |file| property(model, file, colour)),
    };
    converse(model, &readers, args, terminal)
}

/// Takes commands until there are no more.
fn converse<'a, S: Semantics + Evaluate + Describe, D: Dialect<S>>(
    subject: &'a S,
    dialect: &'a D,
    args: &Debug,
    terminal: &Terminal,
) -> Result<ExitCode, Trouble>
where
    S::Expr: Clone + Send + Sync + 'a,
{
    let bell = Bell::default();
    listen(&bell);
    let setting = Setting {
        name: args.model.display().to_string(),
        style: terminal.style,
        bell,
        first: args.execution.as_ref().map(|path| format!("open {}", path.display())),
        ..Setting::default()
    };
    let script = match &args.commands {
        Some(path) => Some(files::read(path, "file of commands")?),
        None if io::stdin().is_terminal() && io::stdout().is_terminal() => None,
        None => Some(files::text(io::stdin(), files::STDIN, "file of commands")?),
    };
    let mut lines = script.map(Cursor::new);
    let input = lines.as_mut().map_or(Input::Terminal, |lines| Input::Lines(lines));
    let mut out = io::stdout();
    let ended = debug(subject, dialect, None, setting, input, &mut out);
    // Whoever does not read on has seen enough.
    let _ = out.flush();
    match ended.map_err(Trouble::new)? {
        Ending::Done => Ok(ExitCode::SUCCESS),
        Ending::Failed => Ok(ExitCode::from(UNUSABLE)),
    }
}

fn typed(text: &str) -> (Sources, invigil_expr::diag::SourceId) {
    let mut sources = Sources::default();
    let source = sources.add("<typed>", text);
    (sources, source)
}

fn shown(sources: &Sources, problems: &[Diagnostic], colour: bool) -> String {
    report::render(sources, problems, colour)
}

fn property<'a>(model: &'a Model, file: &str, colour: bool) -> Result<Stop<'a, Model>, String> {
    let words = |words: &dyn fmt::Display| words.to_string();
    let loaded =
        crate::load::load(&[PathBuf::from(file)], &[], colour).map_err(|trouble| words(&trouble.message))?;
    let Some(automaton) = loaded.automata.into_iter().next() else {
        return Err(format!("{file}: there is no property in it"));
    };
    Ok(Stop::violation(model, &loaded.catalog, Arc::new(automaton)))
}

/// Lets Ctrl-C end a search, not the program.
fn listen(bell: &Bell) {
    let (interrupt, bell) = (Interrupt::again_and_again(), bell.clone());
    thread::spawn(move || {
        loop {
            if interrupt.take() {
                bell.ring();
            }
            thread::sleep(OFTEN);
        }
    });
}
