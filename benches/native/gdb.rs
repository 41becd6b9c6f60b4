//! The peer: GDB with breakpoints in Python, as a user runs it.

use super::Outcome;
use std::path::Path;
use std::process::{Command, Stdio};

/// Action of a breakpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    /// Nothing.
    Raw,
    /// Takes a step of an automaton.
    Property,
    /// Reads the argument with `read_var`, and takes a step of the automaton for its value.
    ReadVar,
    /// The same with `parse_and_eval`.
    ParseAndEval,
}

/// Numbers of hits and of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hits {
    pub(crate) hits: u64,
    pub(crate) steps: u64,
}

/// Version of GDB, if it is installed with Python.
pub(crate) fn version() -> Option<String> {
    let python = ["-nx", "-batch", "-ex", "python print(gdb.VERSION)"];
    let output = Command::new("gdb").args(python).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// Runs a program until it exits, with a breakpoint on `tick`.
pub(crate) fn watch(program: &Path, args: &[String], watch: Watch) -> Outcome<Hits> {
    let (script, hits) = (program.with_extension("gdb.py"), program.with_extension("hits"));
    std::fs::write(&script, include_str!("gdb.py")).map_err(|error| format!("gdb.py: {error}"))?;
    let what = match watch {
        Watch::Raw => "raw",
        Watch::Property => "property",
        Watch::ReadVar => "read_var",
        Watch::ParseAndEval => "parse_and_eval",
    };
    let output = Command::new("gdb")
        .args(["-nx", "-batch", "-x"])
        .arg(&script)
        .arg("--args")
        .arg(program)
        .args(args)
        .env("WATCH", what)
        .env("HITS", &hits)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("gdb: {error}"))?;
    let text = std::fs::read_to_string(&hits)
        .map_err(|_| format!("gdb failed: {}", String::from_utf8_lossy(&output.stderr)))?;
    let _ = std::fs::remove_file(&hits);
    let mut numbers = text.split_whitespace().filter_map(|number| number.parse().ok());
    match (numbers.next(), numbers.next()) {
        (Some(hits), Some(steps)) => Ok(Hits { hits, steps }),
        _ => Err(format!("gdb left `{text}`")),
    }
}
