//! `invigil decent`: decentralized monitoring, in simulation.

pub(crate) mod args;
mod boxes;
mod check;
mod day;
mod detect;
mod draw;
mod experiment;
mod generate;
mod listen;
mod observed;
mod program;
mod rate;
mod run;
mod subject;

use crate::Trouble;
use crate::terminal::Terminal;
use args::{Decent, Verb};
use std::process::ExitCode;

pub(crate) fn run(args: &Decent, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    match &args.verb {
        Verb::Run(args) => run::run(args, terminal),
        Verb::Experiment(args) => experiment::run(args, terminal),
        Verb::GenTrace(args) => generate::traces(args, terminal),
        Verb::GenSpec(args) => generate::formulae(args, terminal),
        Verb::Draw(args) => draw::run(args, terminal),
        Verb::CheckSpec(args) => check::run(args, terminal),
        Verb::AnalyzeRate(args) => rate::run(args, terminal),
        Verb::GenDay(args) => day::run(args, terminal),
        Verb::Detect(args) => detect::run(args, terminal),
    }
}
