//! Events that lack a parameter, and lines that could not be read as they stand, in words.

use super::Report;
use super::words::{count, printable};
use crate::outcome::{Missing, Mistakes, PropertyOutcome};

/// Which events lack what, where, and what became of them.
pub(super) fn lack(report: &Report<'_>, property: &PropertyOutcome, missing: &Missing) -> String {
    let (lack, were) = if missing.count == 1 { ("lacks", "it was") } else { ("lack", "they were") };
    let fields: Vec<String> = missing.fields.iter().map(|field| format!("`{field}`")).collect();
    let called = match missing.fields.contains(&missing.param) {
        true => format!("which {} reads", property.name),
        false => format!("which {} reads as `{}`", property.name, missing.param),
    };
    // A value that does not fit was taken out.
    let the = if report.outcome.mistakes().partial > 0 { "a fitting" } else { "the" };
    format!(
        "{} `{}` {lack} {the} field {}, {called}, first at {}: {were} skipped",
        count(missing.count, "event"),
        missing.event,
        fields.join(" or "),
        printable(&report.place(missing.first)),
    )
}

/// How many lines were skipped, and how many were read in part.
pub(super) fn mistaken(mistakes: &Mistakes<'_>) -> String {
    let were = |lines: u64| if lines == 1 { "was" } else { "were" };
    let skipped = format!("{} {} skipped", count(mistakes.skipped, "line"), were(mistakes.skipped));
    let partial = format!(
        "{} {} read without a value that does not fit",
        count(mistakes.partial, "line"),
        were(mistakes.partial)
    );
    match (mistakes.skipped, mistakes.partial) {
        (_, 0) => skipped,
        (0, _) => partial,
        _ => format!("{skipped}, {partial}"),
    }
}
