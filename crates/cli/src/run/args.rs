//! What can be said to `run` and `attach`.

use crate::Trouble;
use crate::args::number;
use crate::explore::args::SetupArgs;
use clap::{Args as Options, ValueEnum};
use invigil_native::Probes;
use std::ffi::OsString;
use std::path::PathBuf;

/// Run a program under properties, and stop it where one is violated
///
/// Starts the program and follows every property through its function calls and accesses to variables. Where a
/// property is violated the program stands still, and there is a prompt: look at the program, at the property,
/// go back to an earlier event, go on. Without a property it is a debugger like others.
///
/// When standard input or output is no terminal there is no prompt, but a report: the violation, how it came
/// about, and where the program stood.
#[derive(Options)]
#[command(after_help = RUN)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) watching: Watching,

    #[command(flatten)]
    pub(crate) starting: Starting,

    #[command(flatten)]
    pub(crate) model: ModelArgs,

    /// The program, by its path or by a name that is looked for in PATH, and its arguments; or a model, FILE.model or
    /// FILE.dve
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true)]
    pub(crate) program: Vec<OsString>,
}

/// How a program is started.
#[derive(Options)]
pub(crate) struct Starting {
    /// Set a variable of the program's environment; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable, help_heading = "The program")]
    pub(crate) env: Vec<(OsString, OsString)>,

    /// Start the program in this directory
    #[arg(long, value_name = "DIR", help_heading = "The program")]
    pub(crate) dir: Option<PathBuf>,

    /// The program reads its standard input from a file
    #[arg(long, value_name = "FILE", help_heading = "The program")]
    pub(crate) stdin: Option<PathBuf>,

    /// The program writes its standard output to a file
    #[arg(long, value_name = "FILE", help_heading = "The program")]
    pub(crate) stdout: Option<PathBuf>,

    /// The program writes its standard error to a file
    #[arg(long, value_name = "FILE", help_heading = "The program")]
    pub(crate) stderr: Option<PathBuf>,

    /// Let addresses differ from run to run, as they usually do; a fixed layout makes runs comparable
    #[arg(long, help_heading = "The program")]
    pub(crate) aslr: bool,
}

/// What can be said about running a model.
#[derive(Options)]
#[command(next_help_heading = "A model")]
pub(crate) struct ModelArgs {
    #[command(flatten)]
    pub(crate) setup: SetupArgs,

    /// What the scheduler leaves open is drawn at random, from this seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// The most steps
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) steps: u64,
}

const RUN: &str = "\
Examples:
  invigil run -p queue.prop -- ./faulty
      until the property is violated; then there is a prompt
  invigil run -p 'ltl[queue]:G(queue_show -> O queue_push)' -- ./faulty
      a formula over calls of functions, one instance for each queue
  invigil run -p queue.prop -s record.scn -- ./faulty
      a scenario says what to do when the property changes its state
  invigil run -p queue.prop --checkpoint-every 100 -- ./faulty
      so that `back` can go back to any event
  invigil run --batch -p queue.prop -- ./faulty < input.txt
      no prompt: a report on standard error
  invigil run --json -p queue.prop -- ./faulty > report.json
      the same for programs; what the program prints goes to standard error
  invigil run -p iterator.prop -- java -cp classes app.Main
      a Java program: events are methods, as in `event Queue.push(item)`
  invigil run --pedl gate.pedl --medl gate.medl -- java -cp classes Main
      scripts: what to tell of the program, and what must hold of that
  invigil run -- ./program
      just a debugger
  invigil run --scheduler round-robin -p gate.prop crossing.model
      one execution of a model, as its target would run it

Exit status, the first that applies:
    1  a property is violated
  130  stopped with Ctrl-C before the end, or with SIGTERM, SIGHUP or SIGQUIT
    2  a property, a scenario, a command or an option is wrong, a property
       is about a function that the program does not have, or a block failed
    3  the program cannot be run or controlled
    0  otherwise: the program's own exit status is told, not passed on";

/// Watch a program that is running already
///
/// As `run`, from now on. When you leave, the program runs on, unless you end it with `kill`.
#[derive(Options)]
#[command(after_help = ATTACH)]
pub(crate) struct Attach {
    #[command(flatten)]
    pub(crate) watching: Watching,

    /// The process
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..), allow_negative_numbers = true)]
    pub(crate) process: i32,
}

const ATTACH: &str = "\
Examples:
  invigil attach -p queue.prop 4321
  invigil attach --batch -p queue.prop $(pidof server)

The exit status is that of `invigil run`.";

/// What `run` and `attach` share.
#[derive(Options)]
pub(crate) struct Watching {
    /// A property to watch: FILE.prop, FILE.ltl, or a formula such as 'ltl:G(open -> F close)'; may be given several
    /// times
    #[arg(short, long = "property", value_name = "PROPERTY")]
    pub(crate) properties: Vec<PathBuf>,

    /// What to do when properties change their states; may be given several times [default: suspend the program
    /// where a property is violated]
    #[arg(short, long = "scenario", value_name = "FILE.scn")]
    pub(crate) scenarios: Vec<PathBuf>,

    /// What to tell of the program, as PEDL says it; goes with --medl, and may be given several times
    #[arg(long, value_name = "FILE.pedl", requires = "medl")]
    pub(crate) pedl: Vec<PathBuf>,

    /// What must hold of that, as MEDL says it: one for each --pedl
    #[arg(long, value_name = "FILE.medl", requires = "pedl")]
    pub(crate) medl: Vec<PathBuf>,

    /// A property of a requirement script that is undefined is violated
    #[arg(long, requires = "medl")]
    pub(crate) strict: bool,

    /// Functions that the properties' blocks may call; may be given several times
    #[arg(long, value_name = "FILE.py")]
    pub(crate) functions: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) noticing: Noticing,

    /// Run the commands of a file, one to a line, instead of the program right away; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) commands: Option<PathBuf>,

    /// Give the prompt before the program runs
    #[arg(long, conflicts_with_all = ["batch", "json"])]
    pub(crate) pause: bool,

    /// Never give a prompt, but a report
    #[arg(long)]
    pub(crate) batch: bool,

    /// Without a prompt, what to do where there would be one
    #[arg(long, value_name = "WHAT", default_value = "stop")]
    pub(crate) on_violation: OnViolation,

    /// Write the events as a trace; the name ends with .jsonl, .csv or .trace
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    /// Print the report as one JSON document on standard output; never give a prompt
    #[arg(long)]
    pub(crate) json: bool,

    /// Say nothing but errors: the exit status is the answer
    #[arg(short, long, conflicts_with_all = ["json", "prints"])]
    pub(crate) quiet: bool,

    /// Show what the properties' blocks print, in a report too
    #[arg(long)]
    pub(crate) prints: bool,

    /// Tell this many violations in full, the first ones; all are counted
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true, value_parser = number)]
    pub(crate) limit: usize,

    /// Take a checkpoint at the start, and then every so many events
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), allow_negative_numbers = true, help_heading = "Checkpoints")]
    pub(crate) checkpoint_every: Option<u64>,

    /// Keep no more checkpoints than this; the oldest automatic ones go first
    #[arg(long, value_name = "N", default_value_t = 64, allow_negative_numbers = true, value_parser = number, help_heading = "Checkpoints")]
    pub(crate) max_checkpoints: usize,

    /// Let checkpoints take no more memory than this: bytes, or as in 512M or 2G
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = bytes, help_heading = "Checkpoints")]
    pub(crate) max_checkpoint_memory: u64,
}

/// How events of a native program are noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Probing {
    /// By probes inside the program, and by traps where none fits
    Inline,
    /// By traps
    Trap,
}

/// What can be said of how events are noticed.
#[derive(Options)]
pub(crate) struct Noticing {
    /// Functions that the program does not have may come with libraries that it loads later
    #[arg(long)]
    pub(crate) later: bool,

    /// How calls of functions are noticed in a native program: by jumps to code that is put into it, in nanoseconds, or by
    /// traps [default: inline, or what the environment variable INVIGIL_PROBES says]
    #[arg(long, value_name = "HOW")]
    probes: Option<Probing>,
}

impl Noticing {
    /// How events of a native program are noticed, by what was said.
    pub(crate) fn probes(&self) -> Result<Probes, Trouble> {
        let said = match (self.probes, std::env::var("INVIGIL_PROBES")) {
            (Some(probing), _) => probing,
            (None, Ok(word)) => Probing::from_str(&word, false).map_err(|_| {
                Trouble::new(format_args!("INVIGIL_PROBES is `{word}`: there are `inline` and `trap`"))
            })?,
            (None, Err(_)) => return Ok(Probes::default()),
        };
        Ok(match said {
            Probing::Inline => Probes::Inline,
            Probing::Trap => Probes::Trap,
        })
    }
}

/// What is done without a prompt where there would be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnViolation {
    /// End the program and report
    Stop,
    /// Go on to the program's end
    Continue,
}

fn variable(word: &str) -> Result<(OsString, OsString), String> {
    match word.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("give a name and a value: NAME=VALUE".to_owned()),
    }
}

/// An amount of memory.
pub(crate) fn bytes(word: &str) -> Result<u64, String> {
    let wrong = || "give a number of bytes, or one with K, M or G behind it".to_owned();
    let units = [('K', 10), ('M', 20), ('G', 30)];
    let unit = units.iter().find_map(|(letter, shift)| {
        let digits = word.strip_suffix([*letter, letter.to_ascii_lowercase()])?;
        Some((digits, *shift))
    });
    let (digits, shift) = unit.unwrap_or((word, 0));
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_memory() {
        assert_eq!(bytes("4096"), Ok(4096));
        assert_eq!(bytes("2k"), Ok(2048));
        assert_eq!(bytes("512M"), Ok(512 << 20));
        assert!(bytes("lots").is_err() && bytes("-1").is_err() && bytes("99999999999G").is_err());
    }

    #[test]
    fn variables_have_names() {
        assert_eq!(variable("A=b=c"), Ok(("A".into(), "b=c".into())));
        assert_eq!(variable("A="), Ok(("A".into(), "".into())));
        assert!(variable("A").is_err() && variable("=b").is_err());
    }
}
