#![forbid(unsafe_code)]
//! The command `invigil`: reads what the user wants, and has the crates do it.

mod args;
mod check;
mod debug;
mod decent;
mod demo;
mod explain;
mod explore;
mod files;
mod fmt;
mod inputs;
mod interrupt;
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
mod watch;

use args::{Args, Verb};
use clap::{CommandFactory, Parser};
use std::fmt::Display;
use std::process::ExitCode;
use terminal::Terminal;

/// A property is violated, or a file is not formatted.
const VIOLATED: u8 = 1;
/// What the user gave cannot be used.
const UNUSABLE: u8 = 2;
/// The program to be watched cannot be run.
const UNRUNNABLE: u8 = 3;
/// The user broke off.
const INTERRUPTED: u8 = 130;

/// What the user is told when a verb cannot do its work: the place, what is wrong, and the remedy.
struct Trouble {
    /// Whether `message` already is as it is to be shown, carets and all.
    rendered: bool,
    message: String,
    /// The exit status.
    status: u8,
}

impl Trouble {
    fn new(message: impl Display) -> Trouble {
        Trouble { rendered: false, message: message.to_string(), status: UNUSABLE }
    }

    fn rendered(message: String) -> Trouble {
        Trouble { rendered: true, message, status: UNUSABLE }
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    let terminal = Terminal::new(args.color);
    let done = match args.verb {
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
        None => overview(&terminal),
    };
    done.unwrap_or_else(|trouble| {
        if trouble.rendered {
            terminal.complain(&trouble.message);
        } else {
            terminal.error(&trouble.message);
        }
        ExitCode::from(trouble.status)
    })
}

/// What is shown to someone who gives no verb.
fn overview(terminal: &Terminal) -> Result<ExitCode, Trouble> {
    let help = Args::command().render_help();
    terminal.print(&if terminal.style.colour { help.ansi().to_string() } else { help.to_string() })?;
    Ok(ExitCode::SUCCESS)
}
