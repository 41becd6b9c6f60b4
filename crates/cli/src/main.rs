#![forbid(unsafe_code)]
//! The command `invigil`: parses the command line and runs one verb.
//!
//! Each verb has a module with its options, help text and a `run` function. The work is done by the other crates; here are
//! only arguments, files, reports and exit statuses.

mod args;
mod check;
mod check_listener;
mod completions;
mod debug;
mod decent;
mod demo;
mod explain;
mod explore;
mod files;
mod fmt;
mod inputs;
mod interrupt;
mod java_classes;
mod load;
mod mac;
mod models;
mod node;
mod progress;
mod record;
mod remote;
mod run;
mod terminal;
mod validate;

use args::{Args, Verb};
use clap::{CommandFactory, Parser};
use std::fmt::Display;
use std::process::ExitCode;
use terminal::Terminal;

/// Exit status: a property is violated, or a file is not formatted.
const VIOLATED: u8 = 1;
/// Exit status: an argument or a file of the user is invalid, or there is no result.
const INVALID_INPUT: u8 = 2;
/// Exit status: the program or the remote language cannot be run or controlled.
const SUBJECT_FAILED: u8 = 3;
/// Exit status: interrupted by the user.
const INTERRUPTED: u8 = 130;

/// Error that ends a verb: what is wrong, where, and the remedy.
struct CliError {
    /// Whether `message` is already rendered with its prefix and source positions.
    rendered: bool,
    message: String,
    /// The exit status.
    status: u8,
}

impl CliError {
    fn new(message: impl Display) -> CliError {
        CliError { rendered: false, message: message.to_string(), status: INVALID_INPUT }
    }

    fn rendered(message: String) -> CliError {
        CliError { rendered: true, message, status: INVALID_INPUT }
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    let terminal = Terminal::new(args.color);
    let result = match args.verb {
        Some(Verb::Run(options)) => run::run(&options, &terminal),
        Some(Verb::Attach(options)) => run::attach(&options, &terminal),
        Some(Verb::Record(options)) => record::run(&options, &terminal),
        Some(Verb::Check(options)) => check::run(&options, &terminal),
        Some(Verb::Explore(options)) => explore::run(&options, &terminal),
        Some(Verb::Debug(options)) => debug::run(&options, &terminal),
        Some(Verb::Fmt(options)) => fmt::run(&options, &terminal),
        Some(Verb::Explain(options)) => explain::run(&options, &terminal),
        Some(Verb::Mac(options)) => mac::run(&options, &terminal),
        Some(Verb::Decent(options)) => decent::run(&options, &terminal),
        Some(Verb::Node(options)) => node::run(&options),
        Some(Verb::Demo) => demo::run(&terminal),
        Some(Verb::Completions(options)) => completions::completions(&options, &terminal),
        Some(Verb::Man(options)) => completions::man(&options, &terminal),
        None => overview(&terminal),
    };
    result.unwrap_or_else(|error| {
        if error.rendered {
            terminal.eprint(&error.message);
        } else {
            terminal.error(&error.message);
        }
        ExitCode::from(error.status)
    })
}

/// Prints the short help when no verb is given.
fn overview(terminal: &Terminal) -> Result<ExitCode, CliError> {
    let help = Args::command().render_help();
    terminal.print(&if terminal.style.colour { help.ansi().to_string() } else { help.to_string() })?;
    Ok(ExitCode::SUCCESS)
}
