//! `invigil demo`: a guided example with a program and a property that are embedded in this binary.

mod live;
mod recorded;

use crate::CliError;
use crate::terminal::Terminal;
use std::process::ExitCode;

const PROGRAM: &str = include_str!("../../../../examples/queue/faulty.c");
const PROPERTY: &str = include_str!("../../../../examples/queue/queue.prop");

const INTRODUCTION: &str = "\
A small C program, `faulty.c`, sorts the letters of \"oh, a nasty bug is here!\"
into consonants and vowels. It prints:

  consonants: hnstbgshr
  vowels: raayuiee

There is an `r` among the vowels, and the first `o` is missing. The letters are
stored in a queue of capacity 16. The property `queue.prop` states what must hold
for every queue:

  slice on queue                            one instance per queue
  event queue_push(queue, c: str)
    { return N < maxSize }                  guard: the queue is not full
    success { N = N + 1 } queue_ready       if so, count the new element
    failure sink                            otherwise, it is a violation

";

const NEXT_STEPS: &str = "\
Next:
  invigil run -p FILE.prop -- PROGRAM   run your own program under a property and
                                        get a prompt at a violation
  invigil check -p FILE.prop TRACE      check a recorded trace
  invigil explain FILE.prop             explain a property, as text or as a graph

The files of this example are in examples/queue of the source code.
";

pub(crate) fn run(terminal: &Terminal) -> Result<ExitCode, CliError> {
    terminal.print(INTRODUCTION)?;
    if let live::DemoOutcome::Unavailable(why) = live::play(terminal)? {
        terminal.print(&format!(
            "Next, the program would run under the property, but it cannot be traced here:\n  {why}\n\n"
        ))?;
        recorded::play(terminal)?;
    }
    terminal.print(NEXT_STEPS)?;
    Ok(ExitCode::SUCCESS)
}

/// The error if the demo's output differs from its narration.
fn unexpected_result() -> CliError {
    CliError::new("the demo gave an unexpected result; please report this")
}
