//! Shell completions and man pages, generated from the definition of the command line.

use super::Args;
use clap::{Args as Options, CommandFactory};
use clap_complete::Shell;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Name of the command in completions and man pages.
const NAME: &str = "invigil-node";

/// Print a completion script for a shell
#[derive(Options)]
pub(crate) struct Completions {
    /// Shell: bash, elvish, fish, powershell or zsh
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    shell: Shell,
}

/// Write the man pages to a directory
#[derive(Options)]
pub(crate) struct Man {
    /// Directory for invigil-node.1 and a page for each verb; it is created if necessary
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

pub(crate) fn completions(options: &Completions) -> Result<ExitCode, String> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Args::command(), NAME, &mut script);
    match io::stdout().write_all(&script) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write to standard output: {error}"))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

pub(crate) fn man(options: &Man) -> Result<ExitCode, String> {
    let pages = fs::create_dir_all(&options.directory).and_then(|()| {
        clap_mangen::generate_to(Args::command().disable_help_subcommand(true), &options.directory)
    });
    match pages {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(format!("{}: cannot write the man pages: {error}", options.directory.display())),
    }
}
