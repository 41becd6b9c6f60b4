//! The programs that are watched: C, compiled when the benchmark runs, as a developer compiles them.

use super::Outcome;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Each with what the compiler is told besides.
const SOURCES: [(&str, &str, &[&str]); 6] = [
    ("ticks", include_str!("ticks.c"), &[]),
    ("stack", include_str!("stack.c"), &[]),
    ("memory", include_str!("memory.c"), &[]),
    ("threads", include_str!("threads.c"), &[]),
    ("queues", include_str!("queues.c"), &[]),
    ("queues-pg", include_str!("queues.c"), &["-pg"]),
];

/// The compiled programs, in a directory that goes when this does.
pub(crate) struct Programs {
    dir: tempfile::TempDir,
}

impl Programs {
    pub(crate) fn build() -> Outcome<Programs> {
        let dir = tempfile::tempdir().map_err(|error| format!("no directory for the programs: {error}"))?;
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
                .map_err(|error| format!("there is no C compiler `cc`: {error}"))?;
            if !done.status.success() {
                return Err(format!("{name}.c: {}", String::from_utf8_lossy(&done.stderr)));
            }
        }
        Ok(Programs { dir })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A file for what a program has to say.
    pub(crate) fn result(&self) -> PathBuf {
        self.dir.path().join("result")
    }
}

/// Reads the number that a program left, and removes it: the next run must leave its own.
pub(crate) fn take_number(path: &Path) -> Outcome<f64> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("the program left no result: {error}"))?;
    std::fs::remove_file(path).map_err(|error| format!("{}: {error}", path.display()))?;
    text.trim().parse().map_err(|_| format!("the program left `{}`, which is no number", text.trim()))
}

/// Runs a program, watched by nobody.
pub(crate) fn alone(program: &Path, args: &[String]) -> Outcome {
    let status = Command::new(program).args(args).stdout(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{}: {status}", program.display())),
        Err(error) => Err(format!("{}: {error}", program.display())),
    }
}
