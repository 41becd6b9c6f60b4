//! External tools and data.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Whether a command is installed. If not, a note says that the test is skipped.
pub fn is_installed(command: &str) -> bool {
    let mut probe = Command::new(command);
    let found = probe.arg("--version").stdin(Stdio::null()).output().is_ok();
    if !found {
        eprintln!("skipped: {command} is not installed");
    }
    found
}

/// The folder of published models and formulae: `INVIGIL_SHARED`, or `shared` beside the project.
///
/// Files in it may be missing; tests that need them are skipped then.
pub fn shared() -> PathBuf {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    std::env::var_os("INVIGIL_SHARED").map_or_else(|| beside.into(), PathBuf::from)
}
