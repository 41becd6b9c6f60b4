//! `invigil decent gen-day`.

use super::experiment::make;
use crate::terminal::Terminal;
use crate::{Trouble, files};
use clap::Args as Options;
use invigil_lab::generate::{Household, day};
use std::path::PathBuf;
use std::process::ExitCode;

/// Write a day of sensors, and what was done
///
/// Somebody lives in a household: its file says which sensors there are, what
/// activities do to them, and when they are done.
#[derive(Options)]
#[command(verbatim_doc_comment, after_help = GEN_DAY)]
pub(crate) struct Args {
    /// The household: `docs/experiments.md` has its language
    #[arg(value_name = "HOUSEHOLD")]
    household: PathBuf,

    /// The folder for the files: one for each sensor, their list `sensors.csv`, and `activities.csv`
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,

    /// Where chance comes from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

const GEN_DAY: &str = "\
Examples:
  invigil decent gen-day apartment.home day/ --seed 3
  invigil decent analyze-rate day/
  invigil decent detect apartment.dec --sensors day/";

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    let text = files::read(&args.household, "household")?;
    let household = Household::read(&text, &args.household.display().to_string()).map_err(Trouble::new)?;
    let lived = day(&household, args.seed);
    make(&args.folder)?;
    let write = |name: &str, text: &str| files::write(&args.folder.join(name), text, terminal);
    for (number, sensor) in household.sensors.iter().enumerate() {
        let lines: String = lived.lines(number).map(|line| line + "\n").collect();
        write(&format!("{}.csv", sensor.name), &format!("time,value\n{lines}"))?;
    }
    write("sensors.csv", &household.list())?;
    write("activities.csv", &lived.activities())?;
    let (changes, noted) = (lived.sensors.iter().map(Vec::len).sum::<usize>(), lived.diary.len());
    let sensors = household.sensors.len();
    terminal.print(&format!(
        "{}: {sensors} sensors with {changes} lines, {noted} activities\n",
        args.folder.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}
