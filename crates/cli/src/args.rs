//! The command line: verbs, options and their help texts.

use crate::completions::{Completions, Man};
use crate::debug::Debug;
use crate::decent::args::Decent;
use crate::explore::args::Explore;
use crate::mac::args::Mac;
use crate::node::Node;
use crate::record::args::Record;
use crate::run::args::{Attach, Run};
use crate::validate::ValidateArgs;
use clap::{Args as Options, ColorChoice, Parser, Subcommand};
use invigil_trace::Format;
use std::path::PathBuf;

/// Runtime verification, debugging and model checking: monitors live programs, checks traces, explores models,
/// and explains how a violation came about.
#[derive(Parser)]
#[command(name = "invigil", version, after_help = OVERVIEW, max_term_width = 100)]
pub(crate) struct Args {
    /// Colour the output: auto (on a terminal), always or never
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
  invigil demo                             a guided example, without any setup
  invigil run -p queue.prop -- ./program   stop the program at a violation
  invigil record -p queue.prop -- ./program
                                           record its events at full speed
  invigil check -p queue.prop trace.jsonl  check a trace against a property
  invigil check -p 'ltl:G(open -> F close)' trace.jsonl
                                           check a trace against a formula
  invigil explain 'G(open -> F close)'     what does this formula mean?
  invigil explore crossing.model           explore every behaviour of a model
  invigil debug crossing.model             step through a model, also backwards

`invigil COMMAND --help` has details and examples.";

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
    /// Debug a bundled program with a bug, as a guided example
    ///
    /// Compiles a small faulty C program, runs it under a property, and explains each step. It needs only a C
    /// compiler. Where programs cannot be traced, it checks a recorded trace instead.
    Demo,
    Completions(Completions),
    Man(Man),
}

/// Check a trace against properties
///
/// Reads events from files or from standard input and monitors every property,
/// with one instance per slice. Reports each violation with its event and the
/// sequence of states that led to it; when reading from a pipe, as it occurs.
///
/// A trace is text with one event per line, optionally compressed with gzip or
/// zstd, in one of three formats:
///   jsonl   {"event": "queue_push", "time": 1.25, "queue": 7, "c": "i"}
///   csv     a header `event,time,queue,c`, then `queue_push,1.25,7,i`
///   line    @1.25 queue_push(queue=7, c="i")
///
/// For formulae, a trace may also be a table of states: records without an event,
/// whose Boolean fields are the formula's propositions.
///
/// With `-m MODEL` instead of properties, checks whether the trace is a possible
/// execution of the model.
#[derive(Options)]
#[command(after_help = CHECK, verbatim_doc_comment)]
pub(crate) struct Check {
    /// Property to check: FILE.prop, FILE.ltl, or a formula such as 'ltl:G(open -> F close)'; `-` is standard input;
    /// repeatable
    #[arg(short, long = "property", value_name = "PROPERTY", required_unless_present = "model")]
    pub(crate) properties: Vec<PathBuf>,

    /// Traces; several are merged by time; `-` or none is standard input
    #[arg(value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,

    /// Python file with functions for the properties' blocks; repeatable
    #[arg(long, value_name = "FILE.py")]
    pub(crate) functions: Vec<PathBuf>,

    /// Format of the traces: jsonl, csv or line [default: detected from the first line]
    #[arg(long, value_name = "FORMAT", default_value = "auto", hide_default_value = true, value_parser = parse_format)]
    pub(crate) format: FormatChoice,

    /// Number of threads that read the trace [default: one per core]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,

    /// Treat unreadable lines and events without a required parameter as errors instead of skipping them
    #[arg(long)]
    pub(crate) strict: bool,

    /// Stop at the first violation
    #[arg(long)]
    pub(crate) first: bool,

    /// Report only the first N violations in full; all are counted
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true, value_parser = parse_count)]
    pub(crate) limit: usize,

    /// Maximum length of a line in bytes; longer lines are skipped
    #[arg(long, value_name = "BYTES", default_value_t = 16 << 20, allow_negative_numbers = true, value_parser = parse_count)]
    pub(crate) max_line: usize,

    /// Show what the properties' blocks print
    #[arg(long, conflicts_with_all = ["quiet", "json"])]
    pub(crate) prints: bool,

    /// Print only errors and warnings; the exit status shows the result
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
    pub(crate) validate: ValidateArgs,
}

const CHECK: &str = "\
Examples:
  invigil check -p queue.prop trace.jsonl
      one property, one trace
  invigil check -p 'ltl:G(request -> F grant)' trace.jsonl
      a formula: at each event, the event's name is true
  invigil check -p 'ltlf[id]:G(open -> F close)' trace.jsonl
      one instance per id, on a complete trace
  invigil check -p 'mutex=ltl:G !(a & b)' states.csv
      a named formula, on a table of states with columns `a` and `b`
  invigil check -p a.prop -p b.prop node1.csv node2.csv.zst
      two properties, the traces of two programs merged by time
  tail -f program.log | invigil check -p queue.prop --first
      the log of a running program, until the first violation
  invigil check -q -p queue.prop trace.jsonl && echo ok
      in shell scripts
  invigil check -p queue.prop --junit out.xml --sarif out.sarif trace.jsonl
      in continuous integration
  invigil check -m protocol.model trace.jsonl
      is the trace an execution of the model? see `docs/validation.md`

Exit status, the first that applies:
    1  a property is violated, or the trace is not an execution of the model,
       even if there were other errors
  130  interrupted with Ctrl-C
    2  no result: a property, an option or the trace is invalid, a block
       failed, or a report could not be written
    0  no property is violated: each holds or is undecided at the end of the
       trace; for `ltlf:` nothing stays undecided";

/// Explain a property: its states, the events it needs, and suspicious parts
///
/// Lists each state with its verdict, the events that are needed there, and its transitions. Also lists the variables,
/// the slice parameters of each event, unreachable states, and transitions that are never taken.
///
/// For a formula: its meaning in English, its class, its monitorability, good and bad prefixes, example runs, and the
/// states of its monitor.
#[derive(Options)]
#[command(after_help = EXPLAIN)]
pub(crate) struct Explain {
    /// Properties: FILE.prop, FILE.ltl, or formulae; `-` is standard input
    #[arg(required = true, value_name = "PROPERTY")]
    pub(crate) properties: Vec<PathBuf>,

    /// Python file with functions for the properties' blocks; repeatable
    #[arg(long, value_name = "FILE.py")]
    pub(crate) functions: Vec<PathBuf>,

    /// Write the automaton as a Graphviz graph; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) dot: Option<PathBuf>,

    /// Write the automaton as an SVG picture; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// Write a formula's Büchi automaton in the HOA format; `-` is standard output
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
  invigil explain queue.prop                     as text
  invigil explain queue.prop --svg queue.svg     also as a picture
  invigil explain queue.prop --dot - | dot -Tpdf -o queue.pdf
  invigil explain 'G(request -> F grant)'        a formula
  invigil explain 'a U b' --hoa -                its automaton in HOA format";

/// Format properties
///
/// Rewrites the files in the standard style and keeps all comments. Files with errors are not changed.
#[derive(Options)]
#[command(after_help = FMT)]
pub(crate) struct Fmt {
    /// Files of properties or formulae; `-` formats a property from standard input to standard output
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Only list the files that are not formatted; exit with status 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,
}

const FMT: &str = "\
Examples:
  invigil fmt *.prop *.ltl        format files in place
  invigil fmt --check *.prop      in continuous integration
  invigil fmt - < queue.prop      from an editor";

/// The trace format: detected from the first line, or given.
#[derive(Clone, Copy)]
pub(crate) enum FormatChoice {
    Auto,
    Always(Format),
}

fn parse_format(word: &str) -> Result<FormatChoice, String> {
    match word {
        "auto" => Ok(FormatChoice::Auto),
        word => word.parse().map(FormatChoice::Always),
    }
}

/// Parses a count. The error states the expected form, unlike that of the standard library.
pub(crate) fn parse_count(word: &str) -> Result<usize, String> {
    word.parse().map_err(|_| "expected a non-negative whole number".to_owned())
}

#[cfg(test)]
mod tests {
    use super::Args;
    use clap::CommandFactory;

    #[test]
    fn command_line_definition_is_consistent() {
        Args::command().debug_assert();
    }
}
