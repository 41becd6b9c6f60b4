#![forbid(unsafe_code)]
//! The command `invigil-node`: nodes, and clients that start and inspect runs.

mod command;

use clap::Parser;
use command::{Args, Command, bench, deploy, node, shell_files, status};
use std::process::ExitCode;

/// Exit status for invalid input and network errors.
const FAILED: u8 = 2;

fn main() -> ExitCode {
    let result = match Args::parse().command {
        Command::Serve(options) => node::serve(&options),
        Command::Run(options) => deploy::run(&options),
        Command::Wait(options) => deploy::wait(&options),
        Command::Status(options) => status::status(&options),
        Command::Stop(options) => status::stop(&options),
        Command::Bench(options) => bench::run(&options),
        Command::Completions(options) => shell_files::completions(&options),
        Command::Man(options) => shell_files::man(&options),
    };
    result.unwrap_or_else(|why| {
        eprintln!("error: {why}");
        ExitCode::from(FAILED)
    })
}
