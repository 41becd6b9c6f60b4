//! The monitored C programs, compiled when the benchmark runs with a developer's options.

use super::Outcome;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The programs with additional compiler options.
const SOURCES: [(&str, &str, &[&str]); 6] = [
    ("ticks", include_str!("ticks.c"), &[]),
    ("stack", include_str!("stack.c"), &[]),
    ("memory", include_str!("memory.c"), &[]),
    ("threads", include_str!("threads.c"), &[]),
    ("queues", include_str!("queues.c"), &[]),
    ("queues-pg", include_str!("queues.c"), &["-pg"]),
];

/// The compiled programs in a temporary directory.
pub(crate) struct Programs {
    dir: tempfile::TempDir,
}

impl Programs {
    pub(crate) fn build() -> Outcome<Programs> {
        let dir = tempfile::tempdir().map_err(|error| format!("cannot create a directory: {error}"))?;
        for (name, source, flags) in SOURCES {
            let file = dir.path().join(format!("{name}.c"));
            std::fs::write(&file, source).map_err(|error| format!("{name}.c cannot be written: {error}"))?;
            let done = Command::new("cc")
                .args(["-g", "-O0", "-pthread"])
                .args(flags)
                .arg("-o")
                .arg(dir.path().join(name))
                .arg(&file)
                .output()
                .map_err(|error| format!("cannot run the C compiler `cc`: {error}"))?;
            if !done.status.success() {
                return Err(format!("{name}.c: {}", String::from_utf8_lossy(&done.stderr)));
            }
        }
        Ok(Programs { dir })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// File for the result of a program.
    pub(crate) fn result(&self) -> PathBuf {
        self.dir.path().join("result")
    }
}

/// Reads and removes the result of a program, so that the next run must write its own.
pub(crate) fn take_number(path: &Path) -> Outcome<f64> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("the program wrote no result: {error}"))?;
    std::fs::remove_file(path).map_err(|error| format!("{}: {error}", path.display()))?;
    text.trim().parse().map_err(|_| format!("the program wrote `{}`, which is not a number", text.trim()))
}

/// Runs a program alone.
pub(crate) fn alone(program: &Path, args: &[String]) -> Outcome {
    let status = Command::new(program).args(args).stdout(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{}: {status}", program.display())),
        Err(error) => Err(format!("{}: {error}", program.display())),
    }
}
