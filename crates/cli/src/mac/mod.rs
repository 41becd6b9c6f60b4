//! `invigil mac`: monitoring and checking with PEDL and MEDL scripts.

mod actions;
pub(crate) mod args;
mod check;
mod compile;
mod instrument;
mod recognize;
mod report;
mod result_sink;
mod scripts;
mod source;

use crate::CliError;
use crate::terminal::Terminal;
use args::{Mac, Verb};
use std::process::ExitCode;

pub(crate) fn run(args: &Mac, terminal: &Terminal) -> Result<ExitCode, CliError> {
    match &args.verb {
        Verb::Compile(args) => compile::run(args, terminal),
        Verb::Instrument(args) => instrument::run(args, terminal),
        Verb::Recognize(args) => recognize::run(args, terminal),
        Verb::Check(args) => check::run(args, terminal),
        Verb::Run(args) => check::run_recogniser_and_checker(args, terminal),
    }
}
