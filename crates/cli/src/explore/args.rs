//! What can be said about exploring a model.

use crate::remote::RemoteArgs;
use clap::{Args, ValueEnum};
use invigil_lang::model;
use std::path::PathBuf;

/// Look at every behaviour of a model
///
/// Counts the configurations that a model can reach, looks for deadlocks and for
/// actions that go wrong, and answers every claim: those of the model's file, and
/// those given here. What does not hold is told with an execution that shows it,
/// the shortest one for claims about configurations.
#[derive(Args)]
#[command(after_help = EXAMPLES, verbatim_doc_comment)]
pub(crate) struct Explore {
    /// The model: FILE.model or FILE.dve; or a language of another program: 'remote:COMMAND', tcp:PORT or unix:PATH
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,

    /// A property: FILE.prop, FILE.ltl, or a formula such as 'ltl:G(want -> F got)'; may be given several times
    #[arg(short, long = "property", value_name = "PROPERTY")]
    pub(crate) properties: Vec<PathBuf>,

    /// Functions that the properties' blocks may call; may be given several times
    #[arg(long, value_name = "FILE.py")]
    pub(crate) functions: Vec<PathBuf>,

    /// An expression that must hold in every configuration, or `NAME: EXPRESSION`; may be given several times
    #[arg(short, long = "always", value_name = "EXPRESSION")]
    pub(crate) always: Vec<String>,

    /// An expression that must hold nowhere, for other programs in their own language; may be given several times
    #[arg(short, long = "never", value_name = "EXPRESSION")]
    pub(crate) never: Vec<String>,

    /// It is fine if nothing can happen any more
    #[arg(long)]
    pub(crate) may_end: bool,

    /// Look at everything, even if something wrong is found
    #[arg(long)]
    pub(crate) full: bool,

    /// Count only executions that are fair to every process: no one waits for ever
    #[arg(long, value_name = "HOW")]
    pub(crate) fair: Option<Fairness>,

    /// Leave out orders of independent actions where that is sound
    #[arg(long)]
    pub(crate) reduce: bool,

    #[command(flatten)]
    pub(crate) setup: SetupArgs,

    /// Compare set-ups in a table: no scheduler, round-robin and fixed priority, in the order of `--scheduler
    /// priority:A,B` if that is given; with and without `--reactive`; with both kinds of mailboxes, if there are any.
    /// The exit status is 0
    #[arg(long, conflicts_with_all = ["reactive", "trace", "json", "quiet"])]
    pub(crate) setups: bool,

    #[command(flatten)]
    pub(crate) search: SearchArgs,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,

    /// Numbers of a DVE model that are too large wrap around, instead of being an error
    #[arg(long)]
    pub(crate) wrap: bool,

    /// Write the first counterexample as a trace, which `check` and `debug` read; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,

    /// Say nothing but errors: the exit status is the answer
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,

    /// Print the report as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Under which scheduler and filters a model runs.
#[derive(Args, Clone)]
pub(crate) struct SetupArgs {
    /// Who runs next in the system: `priority` (in the order of the file), `priority:A,B`, `round-robin` or
    /// `random:SEED`; the environment is not scheduled
    #[arg(long, value_name = "POLICY")]
    pub(crate) scheduler: Option<String>,

    /// The environment waits until the system has nothing to do
    #[arg(long)]
    pub(crate) reactive: bool,

    /// Leave out actions that would go wrong, such as sending to a full mailbox
    #[arg(long)]
    pub(crate) faultless: bool,

    /// What all mailboxes are, whatever the model says of each
    #[arg(long, value_name = "KIND")]
    pub(crate) mailboxes: Option<Mailboxes>,
}

/// How to search, and how much it may take.
#[derive(Args, Clone)]
pub(crate) struct SearchArgs {
    /// How to look for configurations
    #[arg(long, value_name = "HOW", default_value = "breadth")]
    pub(crate) search: How,

    /// Where chance decides: in walks, in the hashes of inexact searches
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// How many random walks, or searches of a swarm
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) runs: u64,

    /// The table of an inexact search, such as 64M
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value = "256M")]
    pub(crate) table: u64,

    /// How many threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,

    /// Stop after so many configurations
    #[arg(long, value_name = "N")]
    pub(crate) max_states: Option<u64>,

    /// Stop when configurations take so much memory, such as 500M or 8G [default: three quarters of what is free]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) max_memory: Option<u64>,

    /// Stop after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<f64>,

    /// Look no further than so many steps from the start
    #[arg(long, value_name = "N")]
    pub(crate) max_depth: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mailboxes {
    /// An event that the state does not take is dropped
    Fifo,
    /// It stays, and those behind it are looked at
    Deferred,
}

impl Mailboxes {
    pub(crate) fn kind(self) -> model::Mailboxes {
        match self {
            Mailboxes::Fifo => model::Mailboxes::Fifo,
            Mailboxes::Deferred => model::Mailboxes::Deferred,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum How {
    /// All configurations, nearest first, on all cores: shortest counterexamples
    Breadth,
    /// All configurations, farthest first
    Depth,
    /// Random walks of at most `--max-depth` steps: nothing is remembered
    Walk,
    /// Configurations are told apart by 40 bits of their hashes
    Compact,
    /// Configurations are told apart by three bits in a table
    Bitstate,
    /// Several such searches with different hashes
    Swarm,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fairness {
    /// Who could move all the time from some point on moves again and again
    Weak,
    /// Who could move again and again moves again and again
    Strong,
}

fn bytes(text: &str) -> Result<u64, String> {
    let (digits, scale) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1 << 10),
        Some((at, 'm' | 'M')) => (&text[..at], 1 << 20),
        Some((at, 'g' | 'G')) => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    let number: u64 = digits.parse().map_err(|_| "a number of bytes, such as 500M or 8G".to_owned())?;
    number.checked_mul(scale).ok_or_else(|| "there is not that much memory".to_owned())
}

fn seconds(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0)
        .ok_or_else(|| "a number of seconds".to_owned())
}

const EXAMPLES: &str = "\
Examples:
  invigil explore crossing.model
      how many configurations, and do the file's claims hold?
  invigil explore phils.dve -a '!(phil_0.eat && phil_1.eat)'
      can two neighbours eat at once?
  invigil explore lift.model -p 'ltl:G(called -> F open)' --fair weak
      does the door always open, if no process is starved?
  invigil explore lift.model -p door.prop
      a property of runs, over all runs
  invigil explore crossing.model --scheduler priority --reactive
      the scheduler of the target in the loop
  invigil explore crossing.model --setups --scheduler priority:Gate,Sign
      all set-ups in a table
  invigil explore lift.model --trace bad.jsonl; invigil debug lift.model bad.jsonl
      walk through a counterexample
  invigil explore 'remote:python3 language.py lamp.soup' --never 'x > 3'
      a program of a language of one's own

Exit status, the first that applies:
    1  a claim does not hold, or the model gets stuck or goes wrong
  130  stopped with Ctrl-C before the end
    3  a language of another program failed
    2  no answer: something given is wrong, or a limit was reached
    0  all is well, everywhere";
