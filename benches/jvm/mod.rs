//! Cost of monitoring a live Java program: the experiments of [Kim01 §7.4] and [Jak19 §6.2.2], with
//! AspectJ and a debugger client in the same run.

mod bank;
mod evaluator;
mod events;
mod figures;
mod ours;
mod programs;
mod scripts;
mod sieve;
mod start;
mod sweep;
#[cfg(test)]
mod tests;

use crate::native::requirements::Requirements;
use crate::print_machine;
use programs::Programs;

/// Size of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// About a minute.
    Quick,
    /// About five minutes.
    Full,
}

impl Size {
    /// The first value for `quick`, otherwise the second.
    fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Size::Quick => quick,
            Size::Full => full,
        }
    }
}

/// Result of a part of the benchmark. The error says why it cannot be measured.
pub(crate) type Outcome<T = ()> = Result<T, String>;

type Part = fn(&Programs, Size, &mut Requirements) -> Outcome;

const PARTS: [(&str, Part); 8] = [
    ("events", events::run),
    ("objects", events::run_objects),
    ("scripts", events::run_scripts),
    ("start", start::run),
    ("sweep", sweep::run),
    ("sieve", sieve::run),
    ("evaluator", evaluator::run),
    ("bank", bank::run),
];

/// Runs the benchmark, or the given parts of it, and prints the results.
///
/// # Errors
/// If a program cannot be run or a count is wrong.
pub fn run(size: Size, parts: &[String]) -> Result<(), String> {
    if let Some(unknown) = parts.iter().find(|part| !PARTS.iter().any(|(name, _)| name == part)) {
        let known = PARTS.map(|(name, _)| name).join(", ");
        return Err(format!("unknown part `{unknown}`; expected {known} or `quick`"));
    }
    print_machine();
    let programs = Programs::build()?;
    let mut requirements = Requirements::default();
    for (name, part) in PARTS {
        if parts.is_empty() || parts.iter().any(|word| word == name) {
            part(&programs, size, &mut requirements)?;
        }
    }
    requirements.print();
    Ok(())
}
