//! What can be said to `invigil mac`.

use clap::{Args as Options, Subcommand};
use invigil_lang::pedl::ast::Literal;
use invigil_mac::{Channel, Format};
use std::path::PathBuf;
use std::time::Duration;

/// Monitor and check with PEDL and MEDL: in one process, or stage by stage
///
/// A monitoring script (PEDL) makes events and conditions of what happens in a
/// program; a requirement script (MEDL) says what must hold. `docs/mac.md` has
/// both languages and the formats between the stages.
#[derive(Options)]
#[command(verbatim_doc_comment, after_help = MAC)]
pub(crate) struct Mac {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

const MAC: &str = "\
Examples:
  invigil mac run gate.pedl gate.medl --from trace.jsonl
      a log, in one process
  ./filter | invigil mac run gate.pedl gate.medl
      a filter that writes lines such as `update Control.gatePos 2 @1050`
  invigil mac check gate.medl --from tcp-listen:8050 &
  invigil mac recognize gate.pedl --from tcp-listen:8040 --to tcp:8050
      the checker first, then the recogniser, then the program
  invigil mac run gate.pedl gate.medl --from trace.jsonl --record run.mac
  invigil mac check stricter.medl --from run.mac
      record now, check later against something else

A CHANNEL is a file, a FIFO, `-` for standard input or output, `tcp:[HOST:]PORT`
and `unix:PATH` to connect, or `tcp-listen:[HOST:]PORT` and `unix-listen:PATH`
to wait for a connection.

Exit status, the first that applies:
    1  a property is violated, or an alarm was raised
  130  stopped with Ctrl-C before the end
    2  no answer, or not everything was read or delivered; the message says why
    0  all is well";

#[derive(Subcommand)]
pub(crate) enum Verb {
    Compile(Compile),
    Instrument(Instrument),
    #[command(alias = "recognise")]
    Recognize(Recognize),
    Check(Check),
    Run(Run),
}

/// Check scripts, and write what the stages and an instrumentor need
///
/// Of a monitoring script: NAME.recogniser.json and NAME.instrumentation.json.
/// Of a requirement script: NAME.checker.json. With both, the requirement
/// script is checked against what the other one exports.
#[derive(Options)]
#[command(verbatim_doc_comment)]
pub(crate) struct Compile {
    /// SCRIPT.pedl, SCRIPT.medl or both
    #[arg(required = true, num_args = 1..=2, value_name = "SCRIPT")]
    pub(crate) scripts: Vec<PathBuf>,

    /// The folder that the files are written to; it is made if need be
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) program: Program,
}

/// Put probes into the classes of a Java program, on disk
///
/// Classes that something is to be told of are written to a folder, with a file
/// that says which probe is what. They run with Invigil's agent, which leaves
/// them as they are: `invigil run … -- java -cp DIR:CLASSES Main`. Without the
/// agent they do not run. Programs need not be instrumented so: the agent
/// does it when classes are loaded.
#[derive(Options)]
#[command(verbatim_doc_comment)]
pub(crate) struct Instrument {
    /// SCRIPT.pedl
    #[arg(value_name = "PEDL")]
    pub(crate) script: PathBuf,

    /// Folders of classes, and jars
    #[arg(required = true, value_name = "CLASSES")]
    pub(crate) classes: Vec<PathBuf>,

    /// The folder that classes with probes are written to; it is made if need be
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) program: Program,
}

/// Make events and conditions of what a filter or a log tells
#[derive(Options)]
pub(crate) struct Recognize {
    /// SCRIPT.pedl, or what `mac compile` made of it
    #[arg(value_name = "PEDL")]
    pub(crate) script: PathBuf,

    #[command(flatten)]
    pub(crate) source: Source,

    /// Where the checker is
    #[arg(long, value_name = "CHANNEL", default_value = "-")]
    pub(crate) to: Channel,

    /// How the checker is told: lines, or bytes in the published format
    #[arg(long, value_name = "FORMAT", default_value = "lines")]
    pub(crate) to_format: Format,

    /// How much is gathered before it is sent, in bytes; what is there is sent when nothing else comes
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 10, value_parser = crate::args::number)]
    pub(crate) buffer: usize,

    /// Where to write what cannot be delivered, should the connection be lost
    #[arg(long, value_name = "FILE")]
    pub(crate) keep: Option<PathBuf>,

    /// Write all that is told to the checker into a file, too
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) program: Program,

    /// Say nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Check requirements against what a recogniser tells, or has told
#[derive(Options)]
pub(crate) struct Check {
    /// SCRIPT.medl, or what `mac compile` made of it
    #[arg(value_name = "MEDL")]
    pub(crate) script: PathBuf,

    /// Where the recogniser, or what it recorded, is
    #[arg(long, value_name = "CHANNEL", default_value = "-")]
    pub(crate) from: Channel,

    /// How it tells: lines, or bytes in the published format
    #[arg(long, value_name = "FORMAT", default_value = "lines")]
    pub(crate) format: Format,

    /// End with the first thing that cannot be read, instead of leaving it aside
    #[arg(long)]
    pub(crate) strict: bool,

    #[command(flatten)]
    pub(crate) wait: Wait,

    #[command(flatten)]
    pub(crate) judging: Judging,
}

/// Recognise and check in one process
#[derive(Options)]
pub(crate) struct Run {
    /// SCRIPT.pedl, or what `mac compile` made of it
    #[arg(value_name = "PEDL")]
    pub(crate) monitoring: PathBuf,

    /// SCRIPT.medl, or what `mac compile` made of it
    #[arg(value_name = "MEDL")]
    pub(crate) requirements: PathBuf,

    #[command(flatten)]
    pub(crate) source: Source,

    /// Write what is recognised into a file, for `mac check`
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) program: Program,

    #[command(flatten)]
    pub(crate) judging: Judging,
}

/// Where snapshots come from.
#[derive(Options)]
pub(crate) struct Source {
    /// Where the filter or the log is
    #[arg(long, value_name = "CHANNEL", default_value = "-")]
    pub(crate) from: Channel,

    /// What comes: `lines` or `bytes` of a filter, or a `trace` (JSON Lines, CSV, lines of events); `auto` tells lines and
    /// traces from the first line
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = source_format)]
    pub(crate) format: SourceFormat,

    /// End with the first thing that cannot be read, instead of leaving it aside
    #[arg(long)]
    pub(crate) strict: bool,

    #[command(flatten)]
    pub(crate) wait: Wait,
}

#[derive(Options)]
pub(crate) struct Wait {
    /// How long someone who should be listening may take to begin with it
    #[arg(long = "wait", value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    pub(crate) patience: Duration,
}

/// What is known of the program.
#[derive(Options)]
pub(crate) struct Program {
    /// A constant of the program that the script names, such as `Control.GATE_DOWN=1`; may be given several times
    #[arg(long = "constant", value_name = "NAME=VALUE", value_parser = named_constant)]
    pub(crate) constants: Vec<(String, Literal)>,
}

/// What is done with the findings.
#[derive(Options)]
pub(crate) struct Judging {
    /// What `invoke NAME` does: COMMAND is run by the shell, with the time in milliseconds behind it; may be given several
    /// times
    #[arg(long = "action", value_name = "NAME=COMMAND", value_parser = action)]
    pub(crate) actions: Vec<(String, String)>,

    /// Count a property that is undefined as violated
    #[arg(long)]
    pub(crate) undefined_violates: bool,

    /// Print the report as one JSON document
    #[arg(long)]
    pub(crate) json: bool,

    /// Say nothing but errors and why the answer may be wrong: the exit status is the answer
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SourceFormat {
    Auto,
    Filter(Format),
    Trace,
}

fn source_format(word: &str) -> Result<SourceFormat, String> {
    match word {
        "auto" => Ok(SourceFormat::Auto),
        "trace" => Ok(SourceFormat::Trace),
        word => {
            let format: Result<Format, _> = word.parse();
            format
                .map(SourceFormat::Filter)
                .map_err(|_| "the formats are auto, lines, bytes and trace".to_owned())
        }
    }
}

fn seconds(word: &str) -> Result<Duration, String> {
    let seconds: f64 = word.parse().map_err(|_| "give a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| "give a number of seconds that is not negative".to_owned())
}

fn named_constant(text: &str) -> Result<(String, Literal), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    Ok((name.trim().to_owned(), invigil_mac::constant(value.trim())?))
}

fn action(text: &str) -> Result<(String, String), String> {
    let (name, command) = text.split_once('=').ok_or("write NAME=COMMAND")?;
    Ok((name.trim().to_owned(), command.to_owned()))
}
