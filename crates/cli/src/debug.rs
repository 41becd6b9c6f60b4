//! `invigil debug`: the interactive debugger for models, with a prompt or a file of commands.

mod remote_syntax;
mod reporting_remote;

use crate::interrupt::InterruptFlag;
use crate::models::{self, ModelOptions};
use crate::remote::{self, RemoteArgs};
use crate::terminal::Terminal;
use crate::{CliError, INVALID_INPUT, SUBJECT_FAILED, explore, files};
use clap::Args;
use invigil_cockpit::InterruptHandle;
use invigil_cockpit::multiverse::{Input, ModelSyntax, ReplConfig, ReplOutcome, SubjectSyntax, debug};
use invigil_explore::breakpoint_search::Breakpoint;
use invigil_expr::diag::{Diagnostic, Sources};
use invigil_lang::{model, report};
use invigil_model::Model;
use invigil_remote::Address;
use invigil_semantics::{Describe, Evaluate, Semantics};
use remote_syntax::RemoteSyntax;
use reporting_remote::ReportingRemote;
use std::io::{self, Cursor, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, thread};

/// Step through the behaviours of a model: forwards, backwards, to a breakpoint
///
/// The enabled actions of each configuration are listed with numbers; `step` takes
/// one of them. The visited configurations form a tree: `back` and `jump` go to any
/// of them, and another choice there opens an alternative execution. `break` takes
/// conditions, actions, formulae, patterns and properties, and `run` finds a
/// shortest path to a breakpoint.
#[derive(Args)]
#[command(after_help = EXAMPLES, verbatim_doc_comment)]
pub(crate) struct Debug {
    /// Model: FILE.model or FILE.dve; or a remote language server: 'remote:COMMAND', tcp:PORT or unix:PATH
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// Execution to open: a counterexample of `explore --trace`, or one written by the command `save`
    #[arg(value_name = "EXECUTION")]
    execution: Option<PathBuf>,

    /// Run commands from a file, one per line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    commands: Option<PathBuf>,

    /// Wrap integers of a DVE model around on overflow instead of reporting a fault
    #[arg(long)]
    wrap: bool,

    #[command(flatten)]
    remote: RemoteArgs,
}

const EXAMPLES: &str = "\
Examples:
  invigil debug philosophers.model
      open a prompt; `help` lists the commands
  invigil explore lift.model --trace bad.jsonl; invigil debug lift.model bad.jsonl
      step through a counterexample
  invigil debug lift.model --commands story.txt
      replay a session from a file
  invigil debug 'remote:python3 language.py lamp.soup'
      a program in a language of your own

Exit status:
    3  the remote language server failed
    2  the input is invalid, or a command of the file failed
    0  otherwise";

/// How often the Ctrl-C flag is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

pub(crate) fn run(args: &Debug, terminal: &Terminal) -> Result<ExitCode, CliError> {
    match remote::address(&args.model) {
        Some(address) => debug_remote(&address?, args, terminal),
        None => debug_model(args, terminal),
    }
}

/// Debugs a program in a remote language.
fn debug_remote(address: &Address, args: &Debug, terminal: &Terminal) -> Result<ExitCode, CliError> {
    if args.execution.is_some() || args.wrap {
        let option = if args.wrap { "`--wrap`" } else { "an execution to open" };
        return Err(CliError::new(format_args!("{option} applies to models only, not to remote languages")));
    }
    let remote = remote::start(address, &args.remote)?;
    let outcome =
        run_debugger(&ReportingRemote::new(&remote, terminal), &RemoteSyntax(&remote), args, terminal)?;
    Ok(if remote.error().is_some() { ExitCode::from(SUBJECT_FAILED) } else { outcome })
}

fn debug_model(args: &Debug, terminal: &Terminal) -> Result<ExitCode, CliError> {
    let loaded_model = models::load(
        &args.model,
        ModelOptions { wraps: args.wrap, ..ModelOptions::default() },
        terminal.errors.colour,
    )?;
    explore::warn(&loaded_model, terminal);
    let model = &loaded_model.file.model;
    let colour = terminal.style.colour;
    let syntax = ModelSyntax {
        model,
        expression: Box::new(move |text| {
            let (sources, source) = typed_source(text);
            model::predicate(model, source, text).map_err(|diagnostics| shown(&sources, &diagnostics, colour))
        }),
        formula: Box::new(move |text| {
            // The automaton of a formula's violations is the automaton of its negation.
            let negated = format!("!({text})");
            let (sources, source) = typed_source(&negated);
            model::never_claim(model, source, &negated, text)
                .map_err(|diagnostics| shown(&sources, &diagnostics, colour))
        }),
        property: Box::new(move |file| property(model, file, colour)),
    };
    run_debugger(model, &syntax, args, terminal)
}

/// Runs the debugger on the commands of the user or of a file.
fn run_debugger<'a, S: Semantics + Evaluate + Describe, D: SubjectSyntax<S>>(
    subject: &'a S,
    syntax: &'a D,
    args: &Debug,
    terminal: &Terminal,
) -> Result<ExitCode, CliError>
where
    S::Expr: Clone + Send + Sync + 'a,
{
    let interrupt = InterruptHandle::default();
    forward_ctrl_c(&interrupt);
    let config = ReplConfig {
        name: args.model.display().to_string(),
        style: terminal.style,
        interrupt,
        first_command: args.execution.as_ref().map(|path| format!("open {}", path.display())),
        ..ReplConfig::default()
    };
    let script = match &args.commands {
        Some(path) => Some(files::read(path, "file of commands")?),
        None if io::stdin().is_terminal() && io::stdout().is_terminal() => None,
        None => Some(files::text(io::stdin(), files::STDIN, "file of commands")?),
    };
    let mut lines = script.map(Cursor::new);
    let input = lines.as_mut().map_or(Input::Terminal, |lines| Input::Lines(lines));
    let mut out = io::stdout();
    let outcome = debug(subject, syntax, None, config, input, &mut out);
    // A closed pipe, as with `| head`, is not an error.
    let _ = out.flush();
    match outcome.map_err(CliError::new)? {
        ReplOutcome::Done => Ok(ExitCode::SUCCESS),
        ReplOutcome::Failed => Ok(ExitCode::from(INVALID_INPUT)),
    }
}

fn typed_source(text: &str) -> (Sources, invigil_expr::diag::SourceId) {
    let mut sources = Sources::default();
    let source = sources.add("<typed>", text);
    (sources, source)
}

fn shown(sources: &Sources, diagnostics: &[Diagnostic], colour: bool) -> String {
    report::render(sources, diagnostics, colour)
}

fn property<'a>(model: &'a Model, file: &str, colour: bool) -> Result<Breakpoint<'a, Model>, String> {
    let rendered = |message: &dyn fmt::Display| message.to_string();
    let loaded =
        crate::load::load(&[PathBuf::from(file)], &[], colour).map_err(|error| rendered(&error.message))?;
    let Some(automaton) = loaded.automata.into_iter().next() else {
        return Err(format!("{file}: the file contains no property"));
    };
    Ok(Breakpoint::violation(model, &loaded.catalog, Arc::new(automaton)))
}

/// Makes Ctrl-C interrupt a search instead of terminating the command.
fn forward_ctrl_c(interrupt: &InterruptHandle) {
    let (ctrl_c, interrupt) = (InterruptFlag::install_without_exit(), interrupt.clone());
    thread::spawn(move || {
        loop {
            if ctrl_c.take() {
                interrupt.interrupt();
            }
            thread::sleep(POLL_INTERVAL);
        }
    });
}
