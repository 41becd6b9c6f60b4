//! The demo on a recorded trace, for systems on which programs cannot be traced.

use super::{PROPERTY, unexpected_result};
use crate::CliError;
use crate::load::bundled;
use crate::terminal::Terminal;
use invigil_check::report::Report;
use invigil_check::{CheckOptions, CheckResult, NoopListener, Violation, check};
use invigil_trace::Input;

const TRACE: &str = include_str!("../../../../examples/queue/queue.jsonl");

/// Number of events of the trace that are printed.
const SHOWN: usize = 3;

/// Checks the trace and prints the narration with the report.
pub(super) fn play(terminal: &Terminal) -> Result<(), CliError> {
    let loaded = bundled("queue", "queue.prop", PROPERTY)?;
    let open = || vec![Input::reader("queue.jsonl", TRACE.as_bytes())];
    let outcome = check(&loaded.automata, &loaded.catalog, open, &CheckOptions::default(), &mut NoopListener);
    let report = Report {
        outcome: &outcome,
        automata: &loaded.automata,
        catalog: &loaded.catalog,
        sources: &loaded.sources,
        interrupted: false,
    };
    let mut story = "Its calls were recorded in `queue.jsonl`, one per line:\n\n".to_owned();
    for line in TRACE.lines().take(SHOWN) {
        story += &format!("  {line}\n");
    }
    story += &format!("  … and {} more\n\n", TRACE.lines().count() - SHOWN);
    story += "$ invigil check -p queue.prop queue.jsonl\n\n";
    story += &report.text(&terminal.style);
    if !is_expected(&outcome) {
        terminal.print(&story)?;
        return Err(unexpected_result());
    }
    story += "\nThe 17th push, of the `i` in `is`, occurs when the queue already has N = 16 elements.\n\n";
    terminal.print(&story)
}

/// Whether the result matches the narration: one violation, at the 17th push, with 16 elements.
fn is_expected(outcome: &CheckResult) -> bool {
    let is_the_bug = |violation: &Violation| {
        let event = violation.event.as_ref();
        let env = violation.path.last().map_or(&[][..], |step| &step.env);
        event.is_some_and(|event| event.index == 18 && event.name == "queue_push")
            && env.iter().any(|variable| variable.name == "N" && variable.value.text == "16")
    };
    outcome.violation_count() == 1 && matches!(&outcome.violations[..], [violation] if is_the_bug(violation))
}
