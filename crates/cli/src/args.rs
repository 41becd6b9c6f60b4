//! What can be said on the command line, and the help that explains it.

use crate::debug::Debug;
use crate::decent::args::Decent;
use crate::explore::args::Explore;
use crate::mac::args::Mac;
use crate::node::Node;
use crate::record::args::Record;
use crate::run::args::{Attach, Run};
use crate::validate::Validate;
use clap::{Args as Options, ColorChoice, Parser, Subcommand};
use invigil_trace::Format;
use std::path::PathBuf;

/// Watches executions: runs programs under properties and stops them where one is violated, checks traces,
/// and tells how a violation came about.
#[derive(Parser)]
#[command(name = "invigil", version, after_help = OVERVIEW, max_term_width = 78)]
pub(crate) struct Args {
    /// Colour the output: on a terminal, always or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        display_order = 900
    )]
    pub(crate) color: ColorChoice,

    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
}

const OVERVIEW: &str = "\
Start here:
  invigil demo                             a story that runs by itself
  invigil run -p queue.prop -- ./program   stop where it goes wrong, and look
  invigil record -p queue.prop -- ./program
                                           write its events down, at full speed
  invigil check -p queue.prop trace.jsonl  is it violated, where, and how?
  invigil check -p 'ltl:G(open -> F close)' trace.jsonl
                                           the same for a formula
  invigil explain 'G(open -> F close)'     what does it say?
  invigil explore crossing.model           everything a model can do
  invigil debug crossing.model             step through it, back and across

`invigil VERB --help` tells more, with examples.";

#[derive(Subcommand)]
pub(crate) enum Verb {
    Run(Run),
    Attach(Attach),
    Record(Record),
    Check(Check),
    Explore(Explore),
    Debug(Debug),
    Explain(Explain),
    Fmt(Fmt),
    Mac(Mac),
    Decent(Decent),
    Node(Node),
    /// Show what a check is like, on a bundled program with a bug
    ///
    /// Checks the recorded trace of a small faulty program and tells what the report means. It needs nothing
    /// but this command.
    Demo,
}

/// Check a trace against properties
///
/// Reads events from files or from standard input and follows every property
/// through them, one instance for each slice. Tells each violation with the event
/// and the path of states that led to it; of a pipe, as soon as it is found.
///
/// A trace is text with one event per line, plain or compressed by gzip or zstd,
/// in one of three formats:
///   jsonl   {"event": "queue_push", "time": 1.25, "queue": 7, "c": "i"}
///   csv     a header `event,time,queue,c`, then `queue_push,1.25,7,i`
///   line    @1.25 queue_push(queue=7, c="i")
///
/// A formula also reads tables of states: records without an event, in which its
/// names are fields that are true or false.
///
/// With `-m MODEL` in place of properties: can the model do what the trace says?
#[derive(Options)]
#[command(after_help = CHECK, verbatim_doc_comment)]
pub(crate) struct Check {
    /// A property to check: FILE.prop, FILE.ltl, or a formula such as 'ltl:G(open -> F close)'; may be given several
    /// times; `-` is standard input
    #[arg(short, long = "property", value_name = "PROPERTY", required_unless_present = "model")]
    pub(crate) properties: Vec<PathBuf>,

    /// The traces; several are merged by time; `-` or none is standard input
    #[arg(value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,

    /// Functions that the properties' blocks may call; may be given several times
    #[arg(long, value_name = "FILE.py")]
    pub(crate) functions: Vec<PathBuf>,

    /// The format of the traces: jsonl, csv or line [default: told from the first line]
    #[arg(long, value_name = "FORMAT", default_value = "auto", hide_default_value = true, value_parser = format)]
    pub(crate) format: FormatChoice,

    /// How many threads read the trace [default: one per core]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,

    /// Make lines that cannot be read and events that lack a parameter an error, instead of skipping them
    #[arg(long)]
    pub(crate) strict: bool,

    /// Stop at the first violation
    #[arg(long)]
    pub(crate) first: bool,

    /// Tell this many violations in full, the first ones; all are counted
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true, value_parser = number)]
    pub(crate) limit: usize,

    /// The longest line that is read, in bytes; longer ones are skipped
    #[arg(long, value_name = "BYTES", default_value_t = 16 << 20, allow_negative_numbers = true, value_parser = number)]
    pub(crate) max_line: usize,

    /// Show what the properties' blocks print
    #[arg(long, conflicts_with_all = ["quiet", "json"])]
    pub(crate) prints: bool,

    /// Say nothing but errors and why the answer may be wrong: the exit status is the answer
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,

    /// Print the report as one JSON document
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the report as JUnit XML; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,

    /// Write the report as SARIF 2.1.0; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) validate: Validate,
}

const CHECK: &str = "\
Examples:
  invigil check -p queue.prop trace.jsonl
      one property, one trace
  invigil check -p 'ltl:G(request -> F grant)' trace.jsonl
      a formula: an event is an instant, at which its name holds
  invigil check -p 'ltlf[id]:G(open -> F close)' trace.jsonl
      one instance for each id, on a trace that is complete
  invigil check -p 'mutex=ltl:G !(a & b)' states.csv
      a formula with a name, on a table with columns `a` and `b`
  invigil check -p a.prop -p b.prop node1.csv node2.csv.zst
      two properties, the traces of two programs merged by time
  tail -f program.log | invigil check -p queue.prop --first
      a running program, until something is wrong
  invigil check -q -p queue.prop trace.jsonl && echo fine
      for scripts
  invigil check -p queue.prop --junit out.xml --sarif out.sarif trace.jsonl
      for continuous integration
  invigil check -m protocol.model trace.jsonl
      can the model do what the trace says? `docs/validation.md`

Exit status, the first that applies:
    1  a property is violated, or the model cannot do it, whatever else
       went wrong
  130  stopped with Ctrl-C before the end
    2  no answer: a property, an option or the trace is wrong, a block
       failed, or a report could not be written; the message says why
    0  no property is violated: each holds, or is undecided at the end;
       with `ltlf:` the end decides";

/// Say what a property says: its states, the events it needs, and what is odd about it
///
/// For each state: what being in it means, the events that are needed there, and its transitions. Also the
/// variables, which event belongs to which slice, states that cannot be reached, and transitions that are
/// never taken.
///
/// Of a formula: what it says in words, its class, whether and when events can decide on it, examples, and the
/// states of its monitor.
#[derive(Options)]
#[command(after_help = EXPLAIN)]
pub(crate) struct Explain {
    /// The properties: FILE.prop, FILE.ltl, or formulae; `-` is standard input
    #[arg(required = true, value_name = "PROPERTY")]
    pub(crate) properties: Vec<PathBuf>,

    /// Functions that the properties' blocks may call; may be given several times
    #[arg(long, value_name = "FILE.py")]
    pub(crate) functions: Vec<PathBuf>,

    /// Draw the automaton for Graphviz; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) dot: Option<PathBuf>,

    /// Draw the automaton as a picture for browsers; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// Write a formula's Büchi automaton in the HOA format, for other tools; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) hoa: Option<PathBuf>,

    /// Write a formula's Büchi automaton as a never claim for SPIN; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) spin: Option<PathBuf>,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

const EXPLAIN: &str = "\
Examples:
  invigil explain queue.prop                     in words
  invigil explain queue.prop --svg queue.svg     as a picture too
  invigil explain queue.prop --dot - | dot -Tpdf -o queue.pdf
  invigil explain 'G(request -> F grant)'        a formula
  invigil explain 'a U b' --hoa -                its automaton for other tools";

/// Format properties
///
/// Rewrites the files in one style, without losing a comment. A file with a mistake in it is left alone.
#[derive(Options)]
#[command(after_help = FMT)]
pub(crate) struct Fmt {
    /// The files, properties and formulae; `-` formats a property on standard input to standard output
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Change nothing; list the files that are not formatted, and exit with 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,
}

const FMT: &str = "\
Examples:
  invigil fmt *.prop *.ltl        format files in place
  invigil fmt --check *.prop      for continuous integration
  invigil fmt - < queue.prop      for editors";

/// A trace format, or the first line's word for it.
#[derive(Clone, Copy)]
pub(crate) enum FormatChoice {
    Auto,
    Always(Format),
}

fn format(word: &str) -> Result<FormatChoice, String> {
    match word {
        "auto" => Ok(FormatChoice::Auto),
        word => word.parse().map(FormatChoice::Always),
    }
}

/// A count, with a message that says more than that a digit is wrong.
pub(crate) fn number(word: &str) -> Result<usize, String> {
    word.parse().map_err(|_| "give a whole number that is not negative".to_owned())
}

#[cfg(test)]
mod tests {
    use super::Args;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }
}
