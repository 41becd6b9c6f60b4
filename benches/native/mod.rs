//! What it costs to watch a live native program: the experiments of the thesis' sections 6.1.4, 6.1.7 and
//! 6.1.8, with GDB beside us in the same run; probes beside their peers, and a property over the heap beside valgrind.

pub(crate) mod asked;
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
mod stack;
#[cfg(test)]
mod tests;
mod threads;

use crate::print_machine;
use asked::Asked;
use programs::Programs;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// About a minute.
    Quick,
    /// About seven minutes.
    Full,
}

/// What becomes of a part of the benchmark: what keeps it from being measured, in words.
pub(crate) type Outcome<T = ()> = Result<T, String>;

type Part = fn(&Programs, Size, &mut Asked) -> Outcome;

const PARTS: [(&str, Part); 6] = [
    ("probes", probes::run),
    ("heap", heap::run),
    ("cost", cost::run),
    ("stack", stack::run),
    ("checkpoints", checkpoints::run),
    ("threads", threads::run),
];

/// Runs the benchmark, or these parts of it, and prints what it finds.
///
/// # Errors
/// If something does not work, or a count is wrong.
pub fn run(size: Size, parts: &[String]) -> Result<(), String> {
    if let Some(unknown) = parts.iter().find(|part| !PARTS.iter().any(|(name, _)| name == part)) {
        let known = PARTS.map(|(name, _)| name).join(", ");
        return Err(format!("there is no part `{unknown}`; there are {known}, and the word `quick`"));
    }
    print_machine();
    let programs = Programs::build()?;
    let mut asked = Asked::default();
    for (name, part) in PARTS {
        if parts.is_empty() || parts.iter().any(|word| word == name) {
            part(&programs, size, &mut asked)?;
        }
    }
    asked.print();
    Ok(())
}

/// Does something on a thread of its own. The thread that watches a program may be bound to one processor for
/// it, and what is started from here afterwards must not inherit that.
pub(crate) fn on_own_thread<T: Send>(run: impl FnOnce() -> Outcome<T> + Send) -> Outcome<T> {
    std::thread::scope(|scope| match scope.spawn(run).join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}
