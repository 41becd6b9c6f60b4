//! Options of `record`.

use crate::run::args::{LaunchArgs, ProbeArgs, parse_bytes};
use clap::Args as Options;
use invigil_trace::Format;
use std::ffi::OsString;
use std::path::PathBuf;

/// Record the events of a native program as a trace, at full speed
///
/// Writes every event that the properties need but does not check the properties, so the program hardly slows down. Probes in
/// the program pass each event on through a ring buffer in shared memory. A trap stops the thread at each event for
/// which no probe fits, and at all events if a property needs variable accesses or system calls. Use `invigil check` to
/// check the trace, from the file or through a pipe.
///
/// No event is lost: if events occur faster than they can be written, the program waits. With `--lossy` it does not
/// wait, and the number of lost events is reported. All events before a crash or a kill are recorded.
#[derive(Options)]
#[command(after_help = RECORD, override_usage = USAGE)]
pub(crate) struct Record {
    /// The program (a path, or a name that is looked up in PATH) and its arguments
    #[arg(value_name = "PROGRAM", required_unless_present = "process", trailing_var_arg = true)]
    pub(crate) program: Vec<OsString>,

    /// Property whose events are recorded: FILE.prop, FILE.ltl, or a formula such as 'ltl:G(open -> F close)'; repeatable
    #[arg(short, long = "property", value_name = "PROPERTY", required = true)]
    pub(crate) properties: Vec<PathBuf>,

    /// File for the events; its name ends in .jsonl, .csv or .trace. `-` is standard output; the program's own output then
    /// goes to standard error
    #[arg(short, long, value_name = "FILE", default_value = "trace.jsonl")]
    pub(crate) output: PathBuf,

    /// Format: jsonl, csv or line [default: from the file name; jsonl on standard output]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,

    /// Drop events instead of making the program wait; the number of lost events is reported
    #[arg(long)]
    pub(crate) lossy: bool,

    /// Record the time of each event. This needs a system call, which costs more than everything else done for the event
    #[arg(long)]
    pub(crate) time: bool,

    /// Size of the event buffer, such as 64K or 256M; an event takes 64 bytes or more
    #[arg(long, value_name = "BYTES", default_value = "16M", value_parser = parse_bytes)]
    pub(crate) ring: u64,

    /// Python file with functions for the properties' blocks; repeatable
    #[arg(long, value_name = "FILE.py")]
    pub(crate) functions: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) probing: ProbeArgs,

    /// Print a summary as one JSON document to standard output
    #[arg(long)]
    pub(crate) json: bool,

    /// Print only errors
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,

    /// Attach to a running process and record until it exits or until Ctrl-C, after which it keeps running
    #[arg(
        long = "pid",
        value_name = "PID",
        value_parser = clap::value_parser!(i32).range(1..),
        allow_negative_numbers = true,
        conflicts_with_all = ["program", "env", "dir", "stdin", "stdout", "stderr", "aslr"]
    )]
    pub(crate) process: Option<i32>,

    #[command(flatten)]
    pub(crate) launch: LaunchArgs,
}

const USAGE: &str = "\
invigil record [OPTIONS] -p <PROPERTY> [--] <PROGRAM> [ARGUMENT]…
       invigil record [OPTIONS] -p <PROPERTY> --pid <PID>";

const RECORD: &str = "\
Examples:
  invigil record -p queue.prop -- ./faulty
  invigil check -p queue.prop trace.jsonl
      record the events into trace.jsonl, then check them
  invigil record -p queue.prop -o - -- ./faulty | invigil check -p queue.prop
      record and check at the same time, each on its own core
  invigil record -p queue.prop -o run.csv --lossy -- ./server
      a program that must not be slowed down
  invigil record -p queue.prop -o run.jsonl --pid $(pidof server)
      a running program, until Ctrl-C

Exit status, the first that applies:
    2  a property or an option is invalid, a property names a function that
       the program does not have, or the events cannot be written; the program
       is then terminated, or detached if it was running before
  130  interrupted with Ctrl-C, SIGTERM, SIGHUP or SIGQUIT; the events up to
       that point are recorded
    3  the program cannot be run or controlled
    0  otherwise, even if events were lost; the program's own exit status is
       reported but not returned";
