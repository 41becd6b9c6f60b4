//! Options of `run` and `attach`.

use crate::CliError;
use crate::args::parse_count;
use crate::explore::args::SetupArgs;
use clap::error::ErrorKind;
use clap::{Arg, Args as Options, Command, Error, ValueEnum};
use invigil_native::ProbeMode;
use std::ffi::OsString;
use std::path::PathBuf;

/// Run a program under properties and stop it at a violation
///
/// Starts the program and monitors its function calls and variable accesses. When a property is violated, the program
/// is stopped exactly at that event and you get a prompt: inspect the program and the property, go back to an earlier
/// event, or continue. Without a property, it is an ordinary debugger.
///
/// If standard input or output is not a terminal, Invigil prints a report instead of opening a prompt: the violation,
/// how it came about, and where the program was stopped.
///
/// With FILE.model or FILE.dve instead of a program, prints one execution of the model. The options for models are
/// listed by `invigil run --help-models`.
#[derive(Options)]
#[command(after_help = RUN, mut_args = hide_model_options, override_usage = "invigil run [OPTIONS] [--] <PROGRAM> [ARGUMENT]…")]
pub(crate) struct Run {
    /// The program (a path, or a name that is looked up in PATH) and its arguments; or a model, FILE.model or FILE.dve
    // The first field: the heading of the options for models applies to all fields after them.
    #[arg(value_name = "PROGRAM", required_unless_present = "help_models", trailing_var_arg = true)]
    pub(crate) program: Vec<OsString>,

    #[command(flatten)]
    pub(crate) monitor: MonitorArgs,

    #[command(flatten)]
    pub(crate) launch: LaunchArgs,

    #[command(flatten)]
    pub(crate) model: ModelArgs,

    /// List the options for models: `invigil run FILE.model`
    #[arg(long, exclusive = true)]
    pub(crate) help_models: bool,
}

/// Heading of the options that apply to models only.
const MODEL_HEADING: &str = "Options for models";

/// Options of `run` that apply to programs and to models.
const SHARED_OPTIONS: [&str; 6] = ["properties", "functions", "record", "quiet", "help", "color"];

/// Hides an option of `run` that applies to models only: `run --help` is about programs.
fn hide_model_options(arg: Arg) -> Arg {
    let is_hidden = arg.get_help_heading() == Some(MODEL_HEADING);
    arg.hide(is_hidden)
}

/// The help of `invigil run --help-models`: the options of `run` that apply to models.
pub(super) fn model_help(command: Command) -> Error {
    let show = |arg: Arg| {
        let applies =
            arg.get_help_heading() == Some(MODEL_HEADING) || SHARED_OPTIONS.contains(&arg.get_id().as_str());
        let is_positional = arg.is_positional();
        arg.hide(!applies && !is_positional)
    };
    let command = command.mut_subcommand("run", |run| {
        run.about(MODEL_ABOUT)
            .long_about(None)
            .override_usage("invigil run [OPTIONS] <MODEL>")
            .after_help(MODEL_EXAMPLES)
            .mut_args(show)
    });
    match command.try_get_matches_from(["invigil", "run", "--help"]) {
        Err(help) => help,
        Ok(_) => Error::new(ErrorKind::DisplayHelp),
    }
}

const MODEL_ABOUT: &str = "Print one execution of a model. `invigil explore` checks all executions.";

const MODEL_EXAMPLES: &str = "\
Examples:
  invigil run crossing.model
      a random execution; the same seed gives the same execution
  invigil run --scheduler round-robin -p gate.prop crossing.model
      one execution under the scheduler of the target system, with a property
  invigil run --seed 7 --steps 1000 --record run.jsonl crossing.model
      record the execution; `invigil debug crossing.model run.jsonl` opens it

Exit status, the first that applies:
    1  a claim is violated, or an action raises a fault
  130  interrupted with Ctrl-C
    2  the model, a property or an option is invalid
    0  no claim is violated (a deadlock is not an error here)";

/// Options for starting a program.
#[derive(Options)]
pub(crate) struct LaunchArgs {
    /// Set an environment variable of the program; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_variable, help_heading = "Options for starting the program")]
    pub(crate) env: Vec<(OsString, OsString)>,

    /// Start the program in this directory
    #[arg(long, value_name = "DIR", help_heading = "Options for starting the program")]
    pub(crate) dir: Option<PathBuf>,

    /// Redirect the program's standard input from a file
    #[arg(long, value_name = "FILE", help_heading = "Options for starting the program")]
    pub(crate) stdin: Option<PathBuf>,

    /// Redirect the program's standard output to a file
    #[arg(long, value_name = "FILE", help_heading = "Options for starting the program")]
    pub(crate) stdout: Option<PathBuf>,

    /// Redirect the program's standard error to a file
    #[arg(long, value_name = "FILE", help_heading = "Options for starting the program")]
    pub(crate) stderr: Option<PathBuf>,

    /// Keep address space layout randomization on; by default it is off, so that runs are comparable
    #[arg(long, help_heading = "Options for starting the program")]
    pub(crate) aslr: bool,
}

/// Options for running a model. `run --help` hides them, `run --help-models` shows them.
#[derive(Options)]
#[command(next_help_heading = MODEL_HEADING)]
pub(crate) struct ModelArgs {
    #[command(flatten)]
    pub(crate) setup: SetupArgs,

    /// Seed for the random choice among the actions that the scheduler permits
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Maximum number of steps
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) steps: u64,
}

const RUN: &str = "\
Examples:
  invigil run -p queue.prop -- ./faulty
      run until the property is violated, then open a prompt
  invigil run -p 'ltl[queue]:G(queue_show -> O queue_push)' -- ./faulty
      a formula over function calls, one instance per queue
  invigil run -p queue.prop -s record.scn -- ./faulty
      a scenario automates the reactions to changes of the property's state
  invigil run -p queue.prop --checkpoint-every 100 -- ./faulty
      make `back` fast in long runs
  invigil run --batch -p queue.prop -- ./faulty < input.txt
      no prompt; print a report to standard error
  invigil run --json -p queue.prop -- ./faulty > report.json
      print the report as JSON; the program's output goes to standard error
  invigil run -p iterator.prop -- java -cp classes app.Main
      a Java program; events are method calls, such as `Queue.push(item)`
  invigil run --pedl gate.pedl --medl gate.medl -- java -cp classes Main
      a monitoring script and a requirement script
  invigil run -- ./program
      an ordinary debugger
  invigil run crossing.model
      one execution of a model; see `invigil run --help-models`

Exit status, the first that applies:
    1  a property is violated
  130  interrupted with Ctrl-C, SIGTERM, SIGHUP or SIGQUIT
    2  a property, a scenario, a command or an option is invalid, a property
       names a function that the program does not have, or a block failed
    3  the program cannot be run or controlled
    0  otherwise; the program's own exit status is reported but not returned";

/// Attach to a running program and monitor it
///
/// Works like `run` from the current state of the program on. When you leave, the program continues to run, unless you
/// terminate it with `kill`.
#[derive(Options)]
#[command(after_help = ATTACH)]
pub(crate) struct Attach {
    #[command(flatten)]
    pub(crate) monitor: MonitorArgs,

    /// Process to attach to
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..), allow_negative_numbers = true)]
    pub(crate) process: i32,
}

const ATTACH: &str = "\
Examples:
  invigil attach -p queue.prop 4321
  invigil attach --batch -p queue.prop $(pidof server)

The exit status is the same as for `invigil run`.";

/// Options of both `run` and `attach`.
#[derive(Options)]
pub(crate) struct MonitorArgs {
    /// Property to monitor: FILE.prop, FILE.ltl, or a formula such as 'ltl:G(open -> F close)'; repeatable
    #[arg(short, long = "property", value_name = "PROPERTY")]
    pub(crate) properties: Vec<PathBuf>,

    /// Scenario: reactions to changes of the properties' states; repeatable [default: suspend the program at a
    /// violation]
    #[arg(short, long = "scenario", value_name = "FILE.scn")]
    pub(crate) scenarios: Vec<PathBuf>,

    /// Monitoring script (PEDL), paired with a --medl; repeatable
    #[arg(long, value_name = "FILE.pedl", requires = "medl")]
    pub(crate) pedl: Vec<PathBuf>,

    /// Requirement script (MEDL), one for each --pedl
    #[arg(long, value_name = "FILE.medl", requires = "pedl")]
    pub(crate) medl: Vec<PathBuf>,

    /// Treat an undefined property of a requirement script as violated
    #[arg(long, alias = "strict", requires = "medl")]
    pub(crate) undefined_violates: bool,

    /// Python file with functions for the properties' blocks; repeatable
    #[arg(long, value_name = "FILE.py")]
    pub(crate) functions: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) probing: ProbeArgs,

    /// Run prompt commands from a file, one per line, instead of just running the program; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) commands: Option<PathBuf>,

    /// Open the prompt before the program runs
    #[arg(long, conflicts_with_all = ["batch", "json"])]
    pub(crate) pause: bool,

    /// Print a report instead of opening a prompt
    #[arg(long)]
    pub(crate) batch: bool,

    /// Action at a violation when there is no prompt
    #[arg(long, value_name = "ACTION", default_value = "stop")]
    pub(crate) on_violation: OnViolation,

    /// Write the events as a trace; the file name ends in .jsonl, .csv or .trace
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    /// Print the report as one JSON document to standard output; implies --batch
    #[arg(long)]
    pub(crate) json: bool,

    /// Print only errors; the exit status shows the result
    #[arg(short, long, conflicts_with_all = ["json", "prints"])]
    pub(crate) quiet: bool,

    /// Show what the properties' blocks print, even without a prompt
    #[arg(long)]
    pub(crate) prints: bool,

    /// Report only the first N violations in full; all are counted
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true, value_parser = parse_count)]
    pub(crate) limit: usize,

    /// Take a checkpoint at the start and then every N events
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), allow_negative_numbers = true, help_heading = "Checkpoints")]
    pub(crate) checkpoint_every: Option<u64>,

    /// Maximum number of checkpoints; the oldest automatic ones are dropped first
    #[arg(long, value_name = "N", default_value_t = 64, allow_negative_numbers = true, value_parser = parse_count, help_heading = "Checkpoints")]
    pub(crate) max_checkpoints: usize,

    /// Maximum memory for checkpoints, in bytes or with a unit, such as 512M or 2G
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = parse_bytes, help_heading = "Checkpoints")]
    pub(crate) max_checkpoint_memory: u64,
}

/// Instrumentation of native programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProbeChoice {
    /// Jump-based probes, and traps where a probe does not fit
    Inline,
    /// Traps only
    Trap,
}

/// Options for the instrumentation of programs.
#[derive(Options)]
pub(crate) struct ProbeArgs {
    /// Allow events of functions from libraries, or of classes, that are loaded at run time
    #[arg(long)]
    pub(crate) later: bool,

    /// How functions of a native program are instrumented: probes take nanoseconds for an event, traps microseconds
    /// [default: the environment variable INVIGIL_PROBES, or inline]
    #[arg(long, value_name = "HOW")]
    probes: Option<ProbeChoice>,
}

impl ProbeArgs {
    /// The probe mode from the option or, without it, from the environment.
    pub(crate) fn probes(&self) -> Result<ProbeMode, CliError> {
        let choice = match (self.probes, std::env::var("INVIGIL_PROBES")) {
            (Some(probing), _) => probing,
            (None, Ok(word)) => ProbeChoice::from_str(&word, false).map_err(|_| {
                CliError::new(format_args!("INVIGIL_PROBES is `{word}`; expected `inline` or `trap`"))
            })?,
            (None, Err(_)) => return Ok(ProbeMode::default()),
        };
        Ok(match choice {
            ProbeChoice::Inline => ProbeMode::Inline,
            ProbeChoice::Trap => ProbeMode::Trap,
        })
    }
}

/// Reaction to a violation when there is no prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnViolation {
    /// End the run and report
    Stop,
    /// Continue until the program ends
    Continue,
}

fn parse_variable(word: &str) -> Result<(OsString, OsString), String> {
    match word.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

/// Parses an amount of memory: a number of bytes, or one with a unit.
pub(crate) fn parse_bytes(word: &str) -> Result<u64, String> {
    let invalid = || "expected a number of bytes, optionally with the unit K, M or G".to_owned();
    let units = [('K', 10), ('M', 20), ('G', 30)];
    let unit = units.iter().find_map(|(letter, shift)| {
        let digits = word.strip_suffix([*letter, letter.to_ascii_lowercase()])?;
        Some((digits, *shift))
    });
    let (digits, shift) = unit.unwrap_or((word, 0));
    let number: u64 = digits.parse().map_err(|_| invalid())?;
    number.checked_mul(1 << shift).ok_or_else(invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_accept_units_and_reject_other_text() {
        assert_eq!(parse_bytes("4096"), Ok(4096));
        assert_eq!(parse_bytes("2k"), Ok(2048));
        assert_eq!(parse_bytes("512M"), Ok(512 << 20));
        assert!(
            parse_bytes("lots").is_err()
                && parse_bytes("-1").is_err()
                && parse_bytes("99999999999G").is_err()
        );
    }

    #[test]
    fn variable_requires_name() {
        assert_eq!(parse_variable("A=b=c"), Ok(("A".into(), "b=c".into())));
        assert_eq!(parse_variable("A="), Ok(("A".into(), "".into())));
        assert!(parse_variable("A").is_err() && parse_variable("=b").is_err());
    }
}
