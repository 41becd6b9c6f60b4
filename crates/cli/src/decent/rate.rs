//! `invigil decent analyze-rate`: computes the polling rate for sensors.

use super::args::AnalyzeRate as Args;
use crate::CliError;
use crate::terminal::Terminal;
use invigil_decent::system::PropositionId;
use invigil_lab::inputs::{Clock, ListedSensor, SensorInput, SensorReading, read_sensor_list};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// A sensor from the command line or a list.
struct NamedSensor {
    name: String,
    file: String,
    reading: SensorReading,
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<ExitCode, CliError> {
    let mut sensors = Vec::new();
    for text in &args.sensors {
        match Path::new(text).is_dir() {
            true => sensors.extend(folder(Path::new(text))?),
            false => sensors.push(named(text)?),
        }
    }
    let width = |of: fn(&NamedSensor) -> usize| sensors.iter().map(of).max().unwrap_or(0).max(16);
    let (names, file_names) = (width(|sensor| sensor.name.len()), width(|sensor| sensor.file.len()));
    let mut out = String::new();
    let mut all: Option<(i64, i64)> = None;
    for NamedSensor { name, file, reading } in &sensors {
        // Only the changes matter; the clock is not used.
        let clock = Clock { start: 0, step: 1, end: 0 };
        let sensor = SensorInput::open(Path::new(file), *reading, PropositionId(0), false, clock)
            .map_err(CliError::new)?;
        let kind = if matches!(reading, SensorReading::Switch) { "switch" } else { "threshold" };
        // Writing to a string does not fail.
        let _ = match sensor.change_intervals() {
            Some((least, most)) => {
                let (lowest, highest) = all.unwrap_or((least, most));
                all = Some((lowest.min(least), highest.max(most)));
                writeln!(
                    out,
                    "{name:names$}  {kind:9}  {file:file_names$}  min {least:>12}  max {most:>12}  ms  ok"
                )
            }
            None => {
                writeln!(out, "{name:names$}  {kind:9}  {file:file_names$}  never changes{:>26}  skipped", "")
            }
        };
    }
    let _ = match all {
        Some((least, most)) => writeln!(
            out,
            "{:names$}  {:9}  {:file_names$}  min {least:>12}  max {most:>12}  ms\n\
             Poll every {least} ms: no sensor changes twice between two polls.",
            "all sensors", "", ""
        ),
        None => writeln!(out, "No sensor ever changes; any polling rate is sufficient."),
    };
    terminal.print(&out)?;
    Ok(ExitCode::SUCCESS)
}

fn folder(path: &Path) -> Result<impl Iterator<Item = NamedSensor>, CliError> {
    let listed = read_sensor_list(path).map_err(CliError::new)?;
    let named = |sensor: ListedSensor| NamedSensor {
        name: sensor.name,
        file: sensor.file.display().to_string(),
        reading: sensor.reading,
    };
    Ok(listed.into_iter().map(named))
}

fn named(text: &str) -> Result<NamedSensor, CliError> {
    let (name, rest) = text.split_once('=').ok_or_else(|| {
        CliError::new(format_args!("`{text}`: expected a sensor as NAME=FILE.csv or NAME=FILE.csv:THRESHOLD"))
    })?;
    let threshold =
        rest.rsplit_once(':').and_then(|(file, number)| Some((file, number.parse::<f64>().ok()?)));
    let (file, reading) =
        threshold.map_or((rest, SensorReading::Switch), |(file, above)| (file, SensorReading::Above(above)));
    Ok(NamedSensor { name: name.to_owned(), file: file.to_owned(), reading })
}
