//! Events that lack a parameter, and lines that could not be read as they stand, in words.

use super::Report;
use super::words::{count, printable};
use crate::outcome::{Missing, Mistakes, PropertyOutcome};
use crate::silent::Silent;
use invigil_lang::ltl::unglued;

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

/// What no event told.
pub(super) fn never_told(property: &PropertyOutcome, silent: &Silent) -> String {
    let (event, param, name) = (&silent.event, &silent.param, printable(&property.name));
    let told = if silent.is_truth { " as true or false" } else { "" };
    format!("no `{event}` of the trace tells `{param}`{told}, which {name} reads: it counts as false there")
}

/// What a name probably stands for that was read as one, though it begins with operators.
pub(super) fn meant(names: &[String]) -> String {
    let apart = names.iter().find_map(|name| unglued(name));
    apart.map_or(String::new(), |apart| format!("; did you mean `{apart}`?"))
}

/// Which events that a formula names are not in the trace.
pub(super) fn never_came(property: &PropertyOutcome) -> Option<String> {
    let names: Vec<String> = property.absent.iter().map(|name| format!("`{}`", printable(name))).collect();
    let last = names.last()?;
    let meant = meant(&property.absent);
    let or = match &names[..names.len() - 1] {
        [] => last.clone(),
        others => format!("{} or {last}", others.join(", ")),
    };
    let name = printable(&property.name);
    Some(format!("no event {or} is in the trace, which {name} mentions{meant}"))
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
