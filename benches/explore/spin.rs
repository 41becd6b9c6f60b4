//! SPIN's compiled verifier, on the same models.

use invigil_benches::{Time, timed};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Result of SPIN.
pub(crate) struct Found {
    pub(crate) states: u64,
    pub(crate) time: Time,
}

/// Generates, compiles and runs the verifier of a model on the full state space with exact storage. Only the run is
/// measured. None if SPIN is not installed.
pub(crate) fn run(promela: &str, folder: &Path) -> Result<Found, String> {
    fs::write(folder.join("model.pml"), promela).map_err(|error| error.to_string())?;
    let all_well = |command: &mut Command| {
        let done =
            command.current_dir(folder).stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
        match done.status.success() {
            true => Ok(String::from_utf8_lossy(&done.stdout).into_owned()),
            false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
        }
    };
    // Without optimisations that merge states by dropping variables: all tools must count the same states.
    all_well(Command::new("spin").args(["-o1", "-o2", "-a", "model.pml"]))?;
    all_well(Command::new("gcc").args(["-O2", "-DNOREDUCE", "-DSAFETY", "-w", "-o", "pan", "pan.c"]))?;
    // No check for invalid end states, so that deadlocks do not stop it; a table large enough for the models.
    let (time, reported) = timed(|| all_well(Command::new("./pan").args(["-E", "-m40000000", "-w26"])));
    let reported = reported?;
    let number = |behind: &str| {
        let line = reported.lines().find(|line| line.contains(behind))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    let states = number("states, stored").ok_or_else(|| format!("no number of states in\n{reported}"))?;
    Ok(Found { states: states as u64, time })
}
