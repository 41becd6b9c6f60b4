//! `invigil decent`: decentralized monitoring in a simulated network.

pub(crate) mod args;
mod black_boxes;
mod check;
mod detect;
mod draw;
mod experiment;
mod gen_day;
mod generate;
mod inputs;
mod loaded_spec;
mod peers;
mod program_input;
mod rate;
mod run;

use crate::CliError;
use crate::terminal::Terminal;
use args::{Decent, Verb};
use std::process::ExitCode;

pub(crate) fn run(args: &Decent, terminal: &Terminal) -> Result<ExitCode, CliError> {
    match &args.verb {
        Verb::Run(args) => run::run(args, terminal),
        Verb::Experiment(args) => experiment::run(args, terminal),
        Verb::GenTrace(args) => generate::traces(args, terminal),
        Verb::GenSpec(args) => generate::formulae(args, terminal),
        Verb::Draw(args) => draw::run(args, terminal),
        Verb::CheckSpec(args) => check::run(args, terminal),
        Verb::AnalyzeRate(args) => rate::run(args, terminal),
        Verb::GenDay(args) => gen_day::run(args, terminal),
        Verb::Detect(args) => detect::run(args, terminal),
    }
}
