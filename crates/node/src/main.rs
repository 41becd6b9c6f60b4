#![forbid(unsafe_code)]
//! The command `invigil-node`: nodes, and what people do with them.

mod command;

use clap::Parser;
use command::{Args, Verb, bench, deploy, look, node};
use std::process::ExitCode;

/// What the user gave cannot be used, or the network cannot.
const UNUSABLE: u8 = 2;

fn main() -> ExitCode {
    let done = match Args::parse().verb {
        Verb::Serve(options) => node::serve(&options),
        Verb::Run(options) => deploy::run(&options),
        Verb::Wait(options) => deploy::wait(&options),
        Verb::Status(options) => look::status(&options),
        Verb::Stop(options) => look::stop(&options),
        Verb::Bench(options) => bench::run(&options),
    };
    done.unwrap_or_else(|why| {
        eprintln!("error: {why}");
        ExitCode::from(UNUSABLE)
    })
}
