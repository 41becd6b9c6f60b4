//! Cost of monitoring a live native program: the experiments of [Jak19 §6.1.4, §6.1.7, §6.1.8] with GDB in the same run,
//! probes compared with other tools, and a property over the heap compared with valgrind.

mod checkpoints;
mod cost;
mod gdb;
mod heap;
mod ours;
mod peers;
pub(crate) mod plot;
mod probes;
mod programs;
mod properties;
pub(crate) mod requirements;
mod stack;
#[cfg(test)]
mod tests;
mod threads;

use crate::print_machine;
use programs::Programs;
use requirements::Requirements;

/// Size of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// About a minute.
    Quick,
    /// About seven minutes.
    Full,
}

/// Result of a part of the benchmark. The error says why it cannot be measured.
pub(crate) type Outcome<T = ()> = Result<T, String>;

type Part = fn(&Programs, Size, &mut Requirements) -> Outcome;

const PARTS: [(&str, Part); 6] = [
    ("probes", probes::run),
    ("heap", heap::run),
    ("cost", cost::run),
    ("stack", stack::run),
    ("checkpoints", checkpoints::run),
    ("threads", threads::run),
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

/// Runs a function on a separate thread. The debugger may pin its thread to one processor, which processes started later
/// must not inherit.
pub(crate) fn on_own_thread<T: Send>(run: impl FnOnce() -> Outcome<T> + Send) -> Outcome<T> {
    std::thread::scope(|scope| match scope.spawn(run).join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}
