//! `invigil demo`: a story that runs, on a trace and a property that are part of this command.

use crate::Trouble;
use crate::load::bundled;
use crate::terminal::Terminal;
use invigil_check::report::Report;
use invigil_check::{Finding, Options, Outcome, Quiet, check};
use invigil_trace::Input;
use std::process::ExitCode;

const PROPERTY: &str = include_str!("../../../examples/queue/queue.prop");
const TRACE: &str = include_str!("../../../examples/queue/queue.jsonl");

const BEFORE: &str = "\
A small C program sorts the letters of \"oh, a nasty bug is here!\" into vowels
and consonants. It prints:

  consonants: hnstbgshr
  vowels: raayuiee

An `r` among the vowels? The program keeps its letters in a queue of size 16.
A property, `queue.prop`, says what must hold for every queue:

  slice on queue                            each queue is followed by itself
  event queue_push(queue, c)
    { return N < maxSize }                  before a push there must be room,
    success { N = N + 1 } queue_ready       then there is one element more;
    failure sink                            else the property is violated

The program ran, and its calls were recorded in `queue.jsonl`, one to a line:

";

const AFTER: &str = "
The 17th push, of the `i` in `is`, comes when N = 16 elements are in the queue
already. Nobody checks the limit, and the letters that follow run over the end
of an array. The bug is here, long before the `r` that gave it away.

Next:
  invigil explain FILE.prop          what a property says; a picture with --svg
  invigil check -p FILE.prop TRACE   the same on a trace of your own
  invigil check --help               formats of traces, reports for machines

The files of this story are in examples/queue.
";

/// How many of the events of the trace are shown.
const SHOWN: usize = 3;

pub(crate) fn run(terminal: &Terminal) -> Result<ExitCode, Trouble> {
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
    let mut story = BEFORE.to_owned();
    for line in TRACE.lines().take(SHOWN) {
        story += &format!("  {line}\n");
    }
    story += &format!("  … and {} more\n\n", TRACE.lines().count() - SHOWN);
    story += "$ invigil check -p queue.prop queue.jsonl\n\n";
    story += &report.text(&terminal.style);
    if !is_as_told(&outcome) {
        terminal.print(&story)?;
        return Err(Trouble::new("this is not what the demonstration should find: please report it"));
    }
    terminal.print(&(story + AFTER))?;
    Ok(ExitCode::SUCCESS)
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
