//! The story on a recorded run, for where programs cannot be watched.

use super::{PROPERTY, not_as_told};
use crate::Trouble;
use crate::load::bundled;
use crate::terminal::Terminal;
use invigil_check::report::Report;
use invigil_check::{Finding, Options, Outcome, Quiet, check};
use invigil_trace::Input;

const TRACE: &str = include_str!("../../../../examples/queue/queue.jsonl");

/// How many of the events of the trace are shown.
const SHOWN: usize = 3;

/// Tells it.
pub(super) fn tell(terminal: &Terminal) -> Result<(), Trouble> {
    let loaded = bundled("queue", "queue.prop", PROPERTY)?;
    let open = || vec![Input::reader("queue.jsonl", TRACE.as_bytes())];
    let outcome = check(&loaded.automata, &loaded.catalog, open, &Options::default(), &mut Quiet);
    let report = Report {
        outcome: &outcome,
        automata: &loaded.automata,
        catalog: &loaded.catalog,
        sources: &loaded.sources,
        interrupted: false,
    };
    let mut story = "Its calls were recorded in `queue.jsonl`, one to a line:\n\n".to_owned();
    for line in TRACE.lines().take(SHOWN) {
        story += &format!("  {line}\n");
    }
    story += &format!("  … and {} more\n\n", TRACE.lines().count() - SHOWN);
    story += "$ invigil check -p queue.prop queue.jsonl\n\n";
    story += &report.text(&terminal.style);
    if !is_as_told(&outcome) {
        terminal.print(&story)?;
        return Err(not_as_told());
    }
    story += "\nThe 17th push, of the `i` in `is`, comes when N = 16 elements are in the queue already.\n\n";
    terminal.print(&story)
}

/// Whether the report says what the story tells: one violation, at the 17th push, with 16 elements.
fn is_as_told(outcome: &Outcome) -> bool {
    let is_the_bug = |finding: &Finding| {
        let event = finding.event.as_ref();
        let env = finding.path.last().map_or(&[][..], |step| &step.env);
        event.is_some_and(|event| event.index == 18 && event.name == "queue_push")
            && env.iter().any(|variable| variable.name == "N" && variable.value.text == "16")
    };
    outcome.violations() == 1 && matches!(&outcome.findings[..], [finding] if is_the_bug(finding))
}
