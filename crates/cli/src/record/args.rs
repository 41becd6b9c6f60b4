//! What can be said to `record`.

use crate::run::args::{Noticing, Starting, bytes};
use clap::Args as Options;
use invigil_trace::Format;
use std::ffi::OsString;
use std::path::PathBuf;

/// Write down the events of a native program while it runs, to be checked later or elsewhere
///
/// Writes every event that the properties mention, and does not follow them: the program is not stopped, and hardly slowed down. Its
/// functions have jumps to code that is put into it, which hands each event to this command through memory that both
/// have. `invigil check` reads what is written, from the file or through a pipe.
///
/// Nothing is lost: when events come faster than they can be written, the program waits. With `--lossy` it does not
/// wait, and you are told how many events are missing. What a program does before it crashes or is killed is all there.
#[derive(Options)]
#[command(after_help = RECORD)]
pub(crate) struct Record {
    /// A property whose events are recorded: FILE.prop, FILE.ltl, or a formula such as 'ltl:G(open -> F close)'; may be
    /// given several times
    #[arg(short, long = "property", value_name = "PROPERTY", required = true)]
    pub(crate) properties: Vec<PathBuf>,

    /// Where events are written: the name ends with .jsonl, .csv or .trace; `-` is standard output, and then the program's own
    /// output goes to standard error
    #[arg(short, long, value_name = "FILE", default_value = "trace.jsonl")]
    pub(crate) output: PathBuf,

    /// The format: jsonl, csv or line [default: told by the end of the name; jsonl on standard output]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,

    /// Lose events rather than have the program wait; how many is told at the end
    #[arg(long)]
    pub(crate) lossy: bool,

    /// Record when each event happened. This takes a system call, which costs more than all the rest
    #[arg(long)]
    pub(crate) time: bool,

    /// So many bytes of events may wait to be written, as in 64K or 256M; an event takes 64 or more
    #[arg(long, value_name = "BYTES", default_value = "16M", value_parser = bytes)]
    pub(crate) ring: u64,

    /// Functions that the properties' blocks may call; may be given several times
    #[arg(long, value_name = "FILE.py")]
    pub(crate) functions: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) noticing: Noticing,

    /// Say what was recorded as one JSON document on standard output
    #[arg(long)]
    pub(crate) json: bool,

    /// Say nothing but errors
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,

    /// Record a process that is running already, until it ends or Ctrl-C; it runs on then
    #[arg(
        long = "pid",
        value_name = "PID",
        value_parser = clap::value_parser!(i32).range(1..),
        allow_negative_numbers = true,
        conflicts_with_all = ["program", "env", "dir", "stdin", "stdout", "stderr", "aslr"]
    )]
    pub(crate) process: Option<i32>,

    #[command(flatten)]
    pub(crate) starting: Starting,

    /// The program, by its path or by a name that is looked for in PATH, and its arguments
    #[arg(value_name = "PROGRAM", required_unless_present = "process", trailing_var_arg = true)]
    pub(crate) program: Vec<OsString>,
}

const RECORD: &str = "\
Examples:
  invigil record -p queue.prop -- ./faulty
  invigil check -p queue.prop trace.jsonl
      first the events, into trace.jsonl; then what they mean
  invigil record -p queue.prop -o - -- ./faulty | invigil check -p queue.prop
      both at once, each on a core of its own
  invigil record -p queue.prop -o run.csv --lossy -- ./server
      a program that must not wait
  invigil record -p queue.prop -o run.jsonl --pid $(pidof server)
      a program that is running, until Ctrl-C

Exit status, the first that applies:
    2  a property or an option is wrong, a property is about a function that
       the program does not have, or the events cannot be written any more;
       then the program is ended, or let go if it was running before
  130  stopped with Ctrl-C before the end, or with SIGTERM, SIGHUP or SIGQUIT;
       what happened until then is recorded
    3  the program cannot be run or controlled
    0  otherwise, lost events included: the program's own exit status is told,
       not passed on";
