//! Options of `invigil mac`.

use clap::{Args as Options, Subcommand};
use invigil_lang::pedl::ast::Literal;
use invigil_mac::{Channel, StreamFormat};
use std::path::PathBuf;
use std::time::Duration;

/// Monitor and check with PEDL and MEDL scripts, in one process or in stages
///
/// A monitoring script (PEDL) defines events and conditions of a program; a
/// requirement script (MEDL) states what must hold. `docs/mac.md` describes both
/// languages and the formats between the stages.
#[derive(Options)]
#[command(verbatim_doc_comment, after_help = MAC)]
pub(crate) struct Mac {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

const MAC: &str = "\
Examples:
  invigil mac run gate.pedl gate.medl --from trace.jsonl
      check a log, in one process
  ./filter | invigil mac run gate.pedl gate.medl
      check a filter's output, lines such as `update Control.gatePos 2 @1050`
  invigil mac check gate.medl --from tcp-listen:8050 &
  invigil mac recognize gate.pedl --from tcp-listen:8040 --to tcp:8050
      start the checker first, then the recogniser, then the program
  invigil mac run gate.pedl gate.medl --from trace.jsonl --record run.mac
  invigil mac check stricter.medl --from run.mac
      record now, check later against other requirements

A CHANNEL is a file, a FIFO, `-` for standard input or output, `tcp:[HOST:]PORT`
and `unix:PATH` to connect, or `tcp-listen:[HOST:]PORT` and `unix-listen:PATH`
to wait for a connection.

Exit status, the first that applies:
    1  a property is violated, or an alarm was raised
  130  interrupted with Ctrl-C
    2  no result, or some input could not be read or delivered
    0  all requirements hold";

#[derive(Subcommand)]
pub(crate) enum Verb {
    Compile(Compile),
    Instrument(Instrument),
    #[command(alias = "recognise")]
    Recognize(Recognize),
    Check(Check),
    Run(Run),
}

/// Compile scripts for the stages and for an instrumentor
///
/// For a monitoring script, writes NAME.recogniser.json and
/// NAME.instrumentation.json; for a requirement script, NAME.checker.json. With
/// both, the imports of the requirement script are checked against the exports of
/// the monitoring script.
#[derive(Options)]
#[command(verbatim_doc_comment)]
pub(crate) struct Compile {
    /// SCRIPT.pedl, SCRIPT.medl or both
    #[arg(required = true, num_args = 1..=2, value_name = "SCRIPT")]
    pub(crate) scripts: Vec<PathBuf>,

    /// Output directory; it is created if necessary
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) program: ConstantArgs,
}

/// Weave probes into the classes of a Java program on disk
///
/// Writes the instrumented classes to a directory, with a table of their probes.
/// They run only with Invigil's agent, which does not instrument them again:
/// `invigil run … -- java -cp DIR:CLASSES Main`. This step is optional: normally
/// the agent instruments classes when they are loaded.
#[derive(Options)]
#[command(verbatim_doc_comment)]
pub(crate) struct Instrument {
    /// SCRIPT.pedl
    #[arg(value_name = "PEDL")]
    pub(crate) script: PathBuf,

    /// Directories of classes, and jar files
    #[arg(required = true, value_name = "CLASSES")]
    pub(crate) classes: Vec<PathBuf>,

    /// Output directory; it is created if necessary
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) program: ConstantArgs,
}

/// Recognise events and conditions in the output of a filter or in a log
#[derive(Options)]
pub(crate) struct Recognize {
    /// SCRIPT.pedl, or its output of `mac compile`
    #[arg(value_name = "PEDL")]
    pub(crate) script: PathBuf,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// Channel to the checker
    #[arg(long, value_name = "CHANNEL", default_value = "-")]
    pub(crate) to: Channel,

    /// Format for the checker: lines, or bytes (the published format)
    #[arg(long, value_name = "FORMAT", default_value = "lines")]
    pub(crate) to_format: StreamFormat,

    /// Buffer size in bytes; the buffer is sent when it is full or when no input is available
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 10, value_parser = crate::args::parse_count)]
    pub(crate) buffer: usize,

    /// Save undelivered data to this file if the connection is lost
    #[arg(long, value_name = "FILE")]
    pub(crate) keep: Option<PathBuf>,

    /// Also write everything sent to the checker to a file
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) program: ConstantArgs,

    /// Print only errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Check requirements on the output of a recogniser, live or recorded
#[derive(Options)]
pub(crate) struct Check {
    /// SCRIPT.medl, or its output of `mac compile`
    #[arg(value_name = "MEDL")]
    pub(crate) script: PathBuf,

    /// Channel from the recogniser, or its recording
    #[arg(long, value_name = "CHANNEL", default_value = "-")]
    pub(crate) from: Channel,

    /// Format of the recogniser: lines, or bytes (the published format)
    #[arg(long, value_name = "FORMAT", default_value = "lines")]
    pub(crate) format: StreamFormat,

    /// Stop at the first unreadable input instead of skipping it
    #[arg(long)]
    pub(crate) strict: bool,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,

    #[command(flatten)]
    pub(crate) results: ResultArgs,
}

/// Recognise and check in one process
#[derive(Options)]
pub(crate) struct Run {
    /// SCRIPT.pedl, or its output of `mac compile`
    #[arg(value_name = "PEDL")]
    pub(crate) monitoring: PathBuf,

    /// SCRIPT.medl, or its output of `mac compile`
    #[arg(value_name = "MEDL")]
    pub(crate) requirements: PathBuf,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// Write the recognised events and conditions to a file for `mac check`
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) program: ConstantArgs,

    #[command(flatten)]
    pub(crate) results: ResultArgs,
}

/// Source of snapshots.
#[derive(Options)]
pub(crate) struct SourceArgs {
    /// Channel from the filter, or the log
    #[arg(long, value_name = "CHANNEL", default_value = "-")]
    pub(crate) from: Channel,

    /// Format: `lines` or `bytes` of a filter, or a `trace` (JSON Lines, CSV, plain lines); `auto` distinguishes lines and
    /// traces by the first line
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = parse_source_format)]
    pub(crate) format: SourceFormat,

    /// Stop at the first unreadable input instead of skipping it
    #[arg(long)]
    pub(crate) strict: bool,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,
}

/// Time-out for connections.
#[derive(Options)]
pub(crate) struct WaitArgs {
    /// Time-out for the other side to start listening
    #[arg(long = "wait", value_name = "SECONDS", default_value = "5", value_parser = parse_seconds)]
    pub(crate) timeout: Duration,
}

/// Constants of the program.
#[derive(Options)]
pub(crate) struct ConstantArgs {
    /// Value of a constant that the script uses, such as `Control.GATE_DOWN=1`; repeatable
    #[arg(long = "constant", value_name = "NAME=VALUE", value_parser = parse_constant)]
    pub(crate) constants: Vec<(String, Literal)>,
}

/// Treatment of the checker's results.
#[derive(Options)]
pub(crate) struct ResultArgs {
    /// Shell command for `invoke NAME`; the time in milliseconds is appended as an argument; repeatable
    #[arg(long = "action", value_name = "NAME=COMMAND", value_parser = parse_action)]
    pub(crate) actions: Vec<(String, String)>,

    /// Treat an undefined property as violated
    #[arg(long)]
    pub(crate) undefined_violates: bool,

    /// Print the report as one JSON document
    #[arg(long)]
    pub(crate) json: bool,

    /// Print only errors and warnings; the exit status shows the result
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SourceFormat {
    Auto,
    Filter(StreamFormat),
    Trace,
}

fn parse_source_format(word: &str) -> Result<SourceFormat, String> {
    match word {
        "auto" => Ok(SourceFormat::Auto),
        "trace" => Ok(SourceFormat::Trace),
        word => {
            let format: Result<StreamFormat, _> = word.parse();
            format.map(SourceFormat::Filter).map_err(|_| "expected auto, lines, bytes or trace".to_owned())
        }
    }
}

fn parse_seconds(word: &str) -> Result<Duration, String> {
    let seconds: f64 = word.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "expected a non-negative number of seconds".to_owned())
}

fn parse_constant(text: &str) -> Result<(String, Literal), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.trim().to_owned(), invigil_mac::parse_constant(value.trim())?))
}

fn parse_action(text: &str) -> Result<(String, String), String> {
    let (name, command) = text.split_once('=').ok_or("expected NAME=COMMAND")?;
    Ok((name.trim().to_owned(), command.to_owned()))
}
