//! `invigil completions` and `invigil man`: files for shells and for `man`, generated from the command line's definition.

use crate::CliError;
use crate::args::Args as CommandLine;
use crate::terminal::Terminal;
use clap::{Args, Command, CommandFactory};
use clap_complete::{Shell, generate};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Name of the command in completions and man pages.
const NAME: &str = "invigil";

/// Print a completion script for a shell
#[derive(Args)]
#[command(after_help = COMPLETIONS)]
pub(crate) struct Completions {
    /// Shell: bash, elvish, fish, powershell or zsh
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    shell: Shell,
}

const COMPLETIONS: &str = "\
Examples:
  invigil completions bash > ~/.local/share/bash-completion/completions/invigil
  invigil completions zsh > ~/.zfunc/_invigil
      with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc
  invigil completions fish > ~/.config/fish/completions/invigil.fish";

/// Print the man page, or write the man pages of all verbs
#[derive(Args)]
#[command(after_help = MAN)]
pub(crate) struct Man {
    /// Write invigil.1 and a page for each verb, such as invigil-run.1, to this directory; it is created if necessary
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

const MAN: &str = "\
Examples:
  invigil man | man -l -
  invigil man ~/.local/share/man/man1 && man invigil-run";

/// Prints the completion script of a shell.
pub(crate) fn completions(options: &Completions, terminal: &Terminal) -> Result<ExitCode, CliError> {
    let mut script = Vec::new();
    generate(options.shell, &mut CommandLine::command(), NAME, &mut script);
    terminal.print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the man page of the command, or writes the pages of all verbs to a directory.
pub(crate) fn man(options: &Man, terminal: &Terminal) -> Result<ExitCode, CliError> {
    let command = CommandLine::command();
    match &options.directory {
        None => terminal.print(&String::from_utf8_lossy(&page(command, NAME)?))?,
        Some(directory) => {
            let failed = |error| {
                CliError::new(format_args!("{}: cannot write the man pages: {error}", directory.display()))
            };
            fs::create_dir_all(directory).map_err(failed)?;
            write_pages(command, NAME, directory)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the pages of a command and of its visible subcommands. `name` is the page's name, such as `invigil-mac-run`.
fn write_pages(command: Command, name: &str, directory: &Path) -> Result<(), CliError> {
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        write_pages(verb.clone(), &format!("{name}-{}", verb.get_name()), directory)?;
    }
    let path = directory.join(format!("{name}.1"));
    let failed = |error| CliError::new(format_args!("{}: cannot write the file: {error}", path.display()));
    fs::write(&path, page(command, name)?).map_err(failed)
}

/// The page of one command in roff. The synopsis has blanks where the page's name has hyphens.
fn page(command: Command, name: &str) -> Result<Vec<u8>, CliError> {
    let mut text = Vec::new();
    let command = command
        .display_name(name.to_owned())
        .bin_name(name.replace('-', " "))
        .version(env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(command)
        .title(name.to_uppercase())
        .manual("Invigil")
        .render(&mut text)
        .map_err(|error| CliError::new(format_args!("cannot generate the man page: {error}")))?;
    Ok(text)
}
