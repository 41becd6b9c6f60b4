//! What it costs to watch a live Java program: the experiments of section 7.4 of M. Kim's thesis (2001), and those of
//! section 6.2.2 of R. Jakse's (2019), with AspectJ and a debugger's client beside us in the same run.

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

use crate::native::asked::Asked;
use crate::print_machine;
use programs::Programs;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// About a minute.
    Quick,
    /// About five minutes.
    Full,
}

impl Size {
    /// The first when it must be quick, else the second.
    fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Size::Quick => quick,
            Size::Full => full,
        }
    }
}

/// What becomes of a part of the benchmark: what keeps it from being measured, in words.
pub(crate) type Outcome<T = ()> = Result<T, String>;

type Part = fn(&Programs, Size, &mut Asked) -> Outcome;

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
