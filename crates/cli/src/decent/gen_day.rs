//! `invigil decent gen-day`: generates the sensor data of one day.

use super::experiment::create_folder;
use crate::terminal::Terminal;
use crate::{CliError, files};
use clap::Args as Options;
use invigil_lab::generate::{Household, day};
use std::path::PathBuf;
use std::process::ExitCode;

/// Generate one day of sensor data with annotated activities
///
/// The household file defines the sensors, the activities of the occupant with
/// their effects on sensors, and the times of the activities.
#[derive(Options)]
#[command(verbatim_doc_comment, after_help = GEN_DAY)]
pub(crate) struct Args {
    /// Household file; `docs/experiments.md` describes its language
    #[arg(value_name = "HOUSEHOLD")]
    household: PathBuf,

    /// Output directory: one file per sensor, their list `sensors.csv`, and `activities.csv`
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

const GEN_DAY: &str = "\
Examples:
  invigil decent gen-day apartment.home day/ --seed 3
  invigil decent analyze-rate day/
  invigil decent detect apartment.dec --sensors day/";

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<ExitCode, CliError> {
    let text = files::read(&args.household, "household")?;
    let household = Household::read(&text, &args.household.display().to_string()).map_err(CliError::new)?;
    let generated_day = day(&household, args.seed);
    create_folder(&args.folder)?;
    let write = |name: &str, text: &str| files::write(&args.folder.join(name), text, terminal);
    for (number, sensor) in household.sensors.iter().enumerate() {
        let lines: String = generated_day.lines(number).map(|line| line + "\n").collect();
        write(&format!("{}.csv", sensor.name), &format!("time,value\n{lines}"))?;
    }
    write("sensors.csv", &household.list())?;
    write("activities.csv", &generated_day.annotations_csv())?;
    let (changes, activities) =
        (generated_day.sensors.iter().map(Vec::len).sum::<usize>(), generated_day.annotations.len());
    let sensors = household.sensors.len();
    terminal.print(&format!(
        "{}: {sensors} sensors with {changes} lines, {activities} activities\n",
        args.folder.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}
