//! `invigil demo`: a story that runs, with a program and a property that are part of this command.

mod live;
mod recorded;

use crate::Trouble;
use crate::terminal::Terminal;
use std::process::ExitCode;

const PROGRAM: &str = include_str!("../../../../examples/queue/faulty.c");
const PROPERTY: &str = include_str!("../../../../examples/queue/queue.prop");

const BEFORE: &str = "\
A small C program, `faulty.c`, sorts the letters of \"oh, a nasty bug is here!\"
into consonants and vowels. It says:

  consonants: hnstbgshr
  vowels: raayuiee

An `r` among the vowels, and the first `o` is gone. The letters are kept in a
queue of size 16. A property, `queue.prop`, says what must hold for any queue:

  slice on queue                            each queue is followed by itself
  event queue_push(queue, c: str)
    { return N < maxSize }                  before a push there must be room,
    success { N = N + 1 } queue_ready       then there is one element more;
    failure sink                            else the property is violated

";

const AFTER: &str = "\
Next:
  invigil run -p FILE.prop -- PROGRAM   the same with a program of your own, and
                                        a prompt where it goes wrong
  invigil check -p FILE.prop TRACE      the same on a recorded run
  invigil explain FILE.prop             what a property says, in words or drawn

The files of this story are in examples/queue.
";

pub(crate) fn run(terminal: &Terminal) -> Result<ExitCode, Trouble> {
    terminal.print(BEFORE)?;
    if let live::Told::Impossible(why) = live::tell(terminal)? {
        terminal.print(&format!(
            "The program would now run under the property, but that cannot be done here:\n  {why}\n\n"
        ))?;
        recorded::tell(terminal)?;
    }
    terminal.print(AFTER)?;
    Ok(ExitCode::SUCCESS)
}

fn not_as_told() -> Trouble {
    Trouble::new("this is not what the demonstration should find: please report it")
}
