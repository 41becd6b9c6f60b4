//! `invigil mac`: monitoring and checking with PEDL and MEDL.

mod actions;
pub(crate) mod args;
mod check;
mod compile;
mod instrument;
mod judge;
mod recognize;
mod report;
mod scripts;
mod source;

use crate::Trouble;
use crate::terminal::Terminal;
use args::{Mac, Verb};
use std::process::ExitCode;

pub(crate) fn run(args: &Mac, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    match &args.verb {
        Verb::Compile(args) => compile::run(args, terminal),
        Verb::Instrument(args) => instrument::run(args, terminal),
        Verb::Recognize(args) => recognize::run(args, terminal),
        Verb::Check(args) => check::run(args, terminal),
        Verb::Run(args) => check::run_both(args, terminal),
    }
}
