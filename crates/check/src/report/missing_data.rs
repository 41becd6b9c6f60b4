//! Messages about missing parameters, absent events and malformed lines.

use super::Report;
use super::format::{count, printable};
use crate::result::{MalformedLines, PropertyResult, SkippedEvents};
use crate::supplied::NeverSupplied;
use invigil_lang::ltl::separate_operators;

/// Describes events skipped because of a missing parameter.
pub(super) fn skipped_events(
    report: &Report<'_>,
    property: &PropertyResult,
    skipped: &SkippedEvents,
) -> String {
    let (lack, were) = if skipped.count == 1 { ("lacks", "it was") } else { ("lack", "they were") };
    let fields: Vec<String> = skipped.fields.iter().map(|field| format!("`{field}`")).collect();
    let called = match skipped.fields.contains(&skipped.param) {
        true => format!("which {} reads", property.name),
        false => format!("which {} reads as `{}`", property.name, skipped.param),
    };
    // A value of the wrong type counts as missing.
    let the = if report.outcome.malformed_lines().partial > 0 { "a valid" } else { "the" };
    format!(
        "{} `{}` {lack} {the} field {}, {called}, first at {}: {were} skipped",
        count(skipped.count, "event"),
        skipped.event,
        fields.join(" or "),
        printable(&report.position_text(skipped.first)),
    )
}

/// Describes a parameter that no event supplied.
pub(super) fn never_supplied(property: &PropertyResult, parameter: &NeverSupplied) -> String {
    let (event, param, name) = (&parameter.event, &parameter.param, printable(&property.name));
    let values = if parameter.is_truth { " (true or false)" } else { "" };
    format!(
        "no `{event}` in the trace has a value for `{param}`{values}, which {name} reads: it is treated as false"
    )
}

/// Suggests a correction for a name that was parsed as one word although it starts with operators.
pub(super) fn suggestion(names: &[String]) -> String {
    let apart = names.iter().find_map(|name| separate_operators(name));
    apart.map_or(String::new(), |apart| format!("; did you mean `{apart}`?"))
}

/// Describes the events that a formula names and that do not occur in the trace.
pub(super) fn absent_events(property: &PropertyResult) -> Option<String> {
    let names: Vec<String> = property.absent.iter().map(|name| format!("`{}`", printable(name))).collect();
    let last = names.last()?;
    let suggestion = suggestion(&property.absent);
    let or = match &names[..names.len() - 1] {
        [] => last.clone(),
        others => format!("{} or {last}", others.join(", ")),
    };
    let name = printable(&property.name);
    Some(format!("no event {or} (mentioned by {name}) occurs in the trace{suggestion}"))
}

/// Describes the numbers of skipped and partially read lines.
pub(super) fn malformed_count(malformed: &MalformedLines<'_>) -> String {
    let were = |lines: u64| if lines == 1 { "was" } else { "were" };
    let skipped = format!("{} {} skipped", count(malformed.skipped, "line"), were(malformed.skipped));
    let partial = format!(
        "{} {} read without a value of the wrong type",
        count(malformed.partial, "line"),
        were(malformed.partial)
    );
    match (malformed.skipped, malformed.partial) {
        (_, 0) => skipped,
        (0, _) => partial,
        _ => format!("{skipped}, {partial}"),
    }
}
