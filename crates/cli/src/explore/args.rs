//! Options of `explore`, and those that it shares with `run`.

use crate::remote::RemoteArgs;
use clap::{Args, ValueEnum};
use invigil_lang::model;
use std::path::PathBuf;

/// Explore every behaviour of a model and check its claims
///
/// Counts the reachable configurations of a model, looks for deadlocks and
/// faults, and checks every claim: those in the model's file and those given as
/// options. Each violated claim is reported with a counterexample; for claims
/// about configurations, it is a shortest one.
#[derive(Args)]
#[command(after_help = EXAMPLES, verbatim_doc_comment)]
pub(crate) struct Explore {
    /// Model: FILE.model or FILE.dve; or a remote language server: 'remote:COMMAND', tcp:PORT or unix:PATH
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,

    /// Property: FILE.prop, FILE.ltl, or a formula such as 'ltl:G(want -> F got)'; repeatable
    #[arg(short, long = "property", value_name = "PROPERTY")]
    pub(crate) properties: Vec<PathBuf>,

    /// Python file with functions for the properties' blocks; repeatable
    #[arg(long, value_name = "FILE.py")]
    pub(crate) functions: Vec<PathBuf>,

    /// Expression that must hold in every configuration, or `NAME: EXPRESSION`; repeatable
    #[arg(short, long = "always", value_name = "EXPRESSION")]
    pub(crate) always: Vec<String>,

    /// Expression that must not hold in any configuration; for a remote language, in its own syntax; repeatable
    #[arg(short, long = "never", value_name = "EXPRESSION")]
    pub(crate) never: Vec<String>,

    /// Do not report deadlocks
    #[arg(long = "may-end")]
    pub(crate) ignore_deadlocks: bool,

    /// Explore all configurations even after a violation is found
    #[arg(long)]
    pub(crate) full: bool,

    /// Consider only executions that are fair to every process
    #[arg(long, value_name = "HOW")]
    pub(crate) fair: Option<Fairness>,

    /// Use partial-order reduction where it is sound
    #[arg(long)]
    pub(crate) reduce: bool,

    #[command(flatten)]
    pub(crate) setup: SetupArgs,

    /// Compare set-ups in a table: no scheduler, round-robin and fixed priority (in the order of `--scheduler
    /// priority:A,B` if given), each with and without `--reactive`, and with both kinds of mailboxes if the model has any.
    /// The exit status is 0
    #[arg(long = "setups", conflicts_with_all = ["reactive", "trace", "json", "quiet"])]
    pub(crate) all_setups: bool,

    #[command(flatten)]
    pub(crate) search: SearchArgs,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,

    /// Wrap integers of a DVE model around on overflow instead of reporting a fault
    #[arg(long)]
    pub(crate) wrap: bool,

    /// Write the first counterexample as a trace for `check` and `debug`; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,

    /// Print only errors; the exit status shows the result
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,

    /// Print the report as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Scheduler and filters of a model.
#[derive(Args, Clone)]
pub(crate) struct SetupArgs {
    /// Scheduling policy of the system's processes: `priority` (in the order of the file), `priority:A,B`, `round-robin` or
    /// `random:SEED`; the environment is not scheduled
    #[arg(long, value_name = "POLICY")]
    pub(crate) scheduler: Option<String>,

    /// Let the environment act only when the system has no enabled action
    #[arg(long)]
    pub(crate) reactive: bool,

    /// Disable actions that would raise a fault, such as sending to a full mailbox
    #[arg(long)]
    pub(crate) faultless: bool,

    /// Kind of all mailboxes, overriding the model
    #[arg(long, value_name = "KIND")]
    pub(crate) mailboxes: Option<Mailboxes>,
}

/// Search strategy and limits.
#[derive(Args, Clone)]
pub(crate) struct SearchArgs {
    /// Search strategy
    #[arg(long, value_name = "HOW", default_value = "breadth")]
    pub(crate) search: SearchMode,

    /// Seed of random walks and of the hash functions of lossy searches
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Number of random walks, or of searches in a swarm
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) runs: u64,

    /// Size of the table of a lossy search, such as 64M
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, default_value = "256M")]
    pub(crate) table: u64,

    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,

    /// Stop after N configurations
    #[arg(long, value_name = "N")]
    pub(crate) max_states: Option<u64>,

    /// Stop when configurations take this much memory, such as 500M or 8G [default: three quarters of the free memory]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) max_memory: Option<u64>,

    /// Stop after this time
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub(crate) timeout: Option<f64>,

    /// Maximum number of steps from an initial configuration
    #[arg(long, value_name = "N")]
    pub(crate) max_depth: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mailboxes {
    /// Events that the current state does not handle are dropped
    Fifo,
    /// Events that the current state does not handle stay in the mailbox, and later ones are tried
    Deferred,
}

impl Mailboxes {
    pub(crate) fn kind(self) -> model::MailboxKind {
        match self {
            Mailboxes::Fifo => model::MailboxKind::Fifo,
            Mailboxes::Deferred => model::MailboxKind::Deferred,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchMode {
    /// Breadth-first search on all cores, with shortest counterexamples
    Breadth,
    /// Depth-first search
    Depth,
    /// Random walks of at most `--max-depth` steps, without a visited set
    Walk,
    /// Hash compaction: 40 bits of the hash represent a configuration (lossy)
    Compact,
    /// Bitstate hashing: three bits in a table represent a configuration (lossy)
    Bitstate,
    /// Several bitstate searches with different hash functions
    Swarm,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fairness {
    /// A process that is continuously enabled from some point on is scheduled infinitely often
    Weak,
    /// A process that is enabled infinitely often is scheduled infinitely often
    Strong,
}

fn parse_bytes(text: &str) -> Result<u64, String> {
    let (digits, scale) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1 << 10),
        Some((at, 'm' | 'M')) => (&text[..at], 1 << 20),
        Some((at, 'g' | 'G')) => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    let number: u64 =
        digits.parse().map_err(|_| "expected a number of bytes, such as 500M or 8G".to_owned())?;
    number.checked_mul(scale).ok_or_else(|| "the amount of memory is too large".to_owned())
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0)
        .ok_or_else(|| "expected a non-negative number of seconds".to_owned())
}

const EXAMPLES: &str = "\
Examples:
  invigil explore crossing.model
      count the configurations and check the claims of the file
  invigil explore phils.dve -a '!(phil_0.eat && phil_1.eat)'
      two neighbours must never eat at the same time
  invigil explore lift.model -p 'ltl:G(called -> F open)' --fair weak
      does the door always open, assuming weak fairness?
  invigil explore lift.model -p door.prop
      a property file, checked on all executions
  invigil explore crossing.model --scheduler priority --reactive
      model the scheduler of the target system as well
  invigil explore crossing.model --setups --scheduler priority:Gate,Sign
      compare all set-ups in a table
  invigil explore lift.model --trace bad.jsonl; invigil debug lift.model bad.jsonl
      step through a counterexample
  invigil explore 'remote:python3 language.py lamp.soup' --never 'x > 3'
      a program in a language of your own

Exit status, the first that applies:
    1  a claim is violated, or there is a deadlock or a fault
  130  interrupted with Ctrl-C
    3  the remote language server failed
    2  no result: the input is invalid, or a limit was reached
    0  all claims hold";
