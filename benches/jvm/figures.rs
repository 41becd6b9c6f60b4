//! Parses the figures that the programs print.

use super::Outcome;
use std::ffi::OsString;
use std::process::Command;

/// Minimum of the repetitions in nanoseconds per event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    /// Processor time of the thread.
    pub(crate) cpu: f64,
    /// Wall-clock time.
    pub(crate) wall: f64,
}

/// Reads the lines `figures events=1000 cpu=5421 wall=5733`.
pub(crate) fn read(output: &str) -> Outcome<Figures> {
    let mut best: Option<Figures> = None;
    for line in output.lines().filter(|line| line.starts_with("figures ")) {
        let number = |name: &str| {
            let word = line.split(' ').find_map(|word| word.strip_prefix(name));
            word.and_then(|word| word.parse::<f64>().ok()).ok_or(format!("`{line}` has no `{name}`"))
        };
        let events = number("events=")?.max(1.0);
        let (cpu, wall) = (number("cpu=")? / events, number("wall=")? / events);
        let known = best.unwrap_or(Figures { cpu, wall });
        best = Some(Figures { cpu: known.cpu.min(cpu), wall: known.wall.min(wall) });
    }
    best.ok_or_else(|| format!("the program printed no figures: {output}"))
}

/// A number that the program prints on a separate line, such as `steps 1000`.
pub(crate) fn count(output: &str, word: &str) -> Option<u64> {
    output.lines().find_map(|line| line.strip_prefix(word)?.trim().parse().ok())
}

/// Runs Java without Invigil and returns its output.
pub(crate) fn java(args: &[OsString]) -> Outcome<String> {
    let output = Command::new("java").args(args).output().map_err(|error| {
        format!("`java` cannot be run: {error}; install a JDK, such as openjdk-17-jdk-headless")
    })?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    Err(format!("java {args:?}: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// The arguments for `java`: the options, the main class, and its own.
pub(crate) fn command(options: &[OsString], main: &str, args: &[u64]) -> Vec<OsString> {
    let words = main.split(' ').map(OsString::from);
    options.iter().cloned().chain(words).chain(args.iter().map(|arg| arg.to_string().into())).collect()
}
