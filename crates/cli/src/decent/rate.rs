//! `invigil decent analyze-rate`.

use super::args::AnalyzeRate as Args;
use crate::Trouble;
use crate::terminal::Terminal;
use invigil_decent::system::PropositionId;
use invigil_lab::periphery::{Clock, Listed, Reading, Sensor, listed};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// A sensor as the user names it.
struct Named {
    name: String,
    file: String,
    reading: Reading,
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    let mut sensors = Vec::new();
    for text in &args.sensors {
        match Path::new(text).is_dir() {
            true => sensors.extend(folder(Path::new(text))?),
            false => sensors.push(named(text)?),
        }
    }
    let width = |of: fn(&Named) -> usize| sensors.iter().map(of).max().unwrap_or(0).max(16);
    let (names, file_names) = (width(|sensor| sensor.name.len()), width(|sensor| sensor.file.len()));
    let mut out = String::new();
    let mut all: Option<(i64, i64)> = None;
    for Named { name, file, reading } in &sensors {
        // Only the changes matter: nobody asks at any time.
        let clock = Clock { start: 0, step: 1, end: 0 };
        let sensor =
            Sensor::open(Path::new(file), *reading, PropositionId(0), false, clock).map_err(Trouble::new)?;
        let kind = if matches!(reading, Reading::Switch) { "switch" } else { "threshold" };
        // Writing to a string does not fail.
        let _ = match sensor.rates() {
            Some((least, most)) => {
                let (shortest, longest) = all.unwrap_or((least, most));
                all = Some((shortest.min(least), longest.max(most)));
                writeln!(
                    out,
                    "{name:names$}  {kind:9}  {file:file_names$}  min {least:>12}  max {most:>12}  ms  ok"
                )
            }
            None => writeln!(
                out,
                "{name:names$}  {kind:9}  {file:file_names$}  it never changes{:>23}  skipped",
                ""
            ),
        };
    }
    let _ = match all {
        Some((least, most)) => writeln!(
            out,
            "{:names$}  {:9}  {:file_names$}  min {least:>12}  max {most:>12}  ms\n\
             Ask every {least} ms: then no sensor changes twice in between.",
            "all of them", "", ""
        ),
        None => writeln!(out, "No sensor ever changes: any rate will do."),
    };
    terminal.print(&out)?;
    Ok(ExitCode::SUCCESS)
}

fn folder(path: &Path) -> Result<impl Iterator<Item = Named>, Trouble> {
    let listed = listed(path).map_err(Trouble::new)?;
    let named = |sensor: Listed| Named {
        name: sensor.name,
        file: sensor.file.display().to_string(),
        reading: sensor.reading,
    };
    Ok(listed.into_iter().map(named))
}

fn named(text: &str) -> Result<Named, Trouble> {
    let (name, rest) = text.split_once('=').ok_or_else(|| {
        Trouble::new(format_args!("`{text}`: write a sensor as NAME=FILE.csv, or NAME=FILE.csv:THRESHOLD"))
    })?;
    let threshold =
        rest.rsplit_once(':').and_then(|(file, number)| Some((file, number.parse::<f64>().ok()?)));
    let (file, reading) =
        threshold.map_or((rest, Reading::Switch), |(file, above)| (file, Reading::Above(above)));
    Ok(Named { name: name.to_owned(), file: file.to_owned(), reading })
}
