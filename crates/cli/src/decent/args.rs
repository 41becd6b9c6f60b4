//! What can be said to `invigil decent`.

use clap::{Args as Options, Subcommand};
use invigil_decent::algorithm::Choice;
use invigil_lab::experiment::History;
use invigil_lab::generate::Distribution;
use std::path::PathBuf;

/// Monitor systems whose components each see only a part
///
/// A formula is watched by monitors on all components, by one of six algorithms;
/// a specification is monitors that refer to each other, where they were placed.
/// `docs/decentralized.md` has the language, `docs/experiments.md` the rest.
#[derive(Options)]
#[command(verbatim_doc_comment, after_help = DECENT)]
pub(crate) struct Decent {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

const DECENT: &str = "\
Examples:
  invigil decent run 'G(a0 -> X b0)' --trace 'a0:t,b0:f>a0:f,b0:f' -a all
      one formula, one trace, every algorithm
  invigil decent run light.dec --traces runs/
      a specification as it is placed, on every trace of a folder
  invigil decent check-spec light.dec
      will there be a verdict? can everybody reach whom they tell?
  invigil decent draw light.dec --svg light.svg
      who refers to whom
  invigil decent experiment synthetic --quick
      all algorithms on random formulae, beside the published figures

Exit status:
    0  nothing is violated
    1  a run is violated, or a specification is not monitorable or does not fit
  130  stopped with Ctrl-C; an experiment goes on from there the next time
    2  no answer: what was given is wrong; the message says where and why";

#[derive(Subcommand)]
pub(crate) enum Verb {
    Run(Run),
    Experiment(Experiment),
    GenTrace(GenTrace),
    GenSpec(GenSpec),
    Draw(Draw),
    CheckSpec(CheckSpec),
    AnalyzeRate(AnalyzeRate),
    GenDay(super::day::Args),
    Detect(super::detect::Args),
}

/// What to watch for, and the components that observe it.
#[derive(Options)]
pub(crate) struct Subject {
    /// A specification (FILE.dec, or FILE.xml of THEMIS), or a formula
    #[arg(value_name = "SPEC")]
    pub(crate) spec: String,

    /// A component and what it observes, for a formula: `--component lamp:on,hot`; may be given several times
    /// [default: of `a0` and `a1` the component is `a`]
    #[arg(short, long = "component", value_name = "NAME:PROPOSITIONS")]
    pub(crate) components: Vec<String>,
}

/// Run monitors on traces, logs, peers or live programs
///
/// Prints the verdict of each run, when it was found, and what it cost.
#[derive(Options)]
#[command(after_help = RUN)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) subject: Subject,

    /// How a formula is monitored: orchestration, migration, round-robin, choreography, broadcast, abridged, several of them
    /// with commas, or all [default: abridged]
    #[arg(short, long, value_name = "ALGORITHM", value_parser = algorithms)]
    pub(crate) algorithm: Option<Algorithms>,

    /// How monitors keep what they know: states, or the document's expressions or expressions-quick
    #[arg(short, long, value_name = "ENCODING", default_value = "states", value_parser = str::parse::<History>)]
    pub(crate) encoding: History,

    #[command(flatten)]
    pub(crate) observed: super::observed::Observed,

    #[command(flatten)]
    pub(crate) conditions: Conditions,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

const RUN: &str = "\
Examples:
  invigil decent run 'G(s -> X(l U !s))' -c lswitch:s -c bulb:l \\
      --trace 's:t,l:t>s:t,l:f'
  invigil decent run light.dec --traces runs/ --run 3 --json
  invigil decent run 'F(a0 & b1)' --table states.csv -a choreography
  invigil decent run 'G(a0 | b0)' --traces runs/ -a all --latency 2 --shuffle
  invigil decent run door.dec --events server.log --step 1s
      a log: an event makes its proposition true in the second of its time
  invigil decent run light.dec --listen bulb=unix:/tmp/bulb.sock \\
      --program lswitch='./switch 5' --round poll
      bulb sends a line for each round; lswitch is a program, of which each
      call of poll ends a round

Exit status: 1 if a run is violated, 2 if what was given is wrong, 3 if a program
cannot be watched, otherwise 0.";

/// How messages travel.
#[derive(Options)]
pub(crate) struct Conditions {
    /// Rounds that a message takes
    #[arg(long, value_name = "ROUNDS", default_value_t = 1)]
    pub(crate) latency: u16,

    /// Rounds that a message may take longer
    #[arg(long, value_name = "ROUNDS", default_value_t = 0)]
    pub(crate) jitter: u16,

    /// The share of messages that get lost
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    pub(crate) loss: f64,

    /// The share of messages that come twice
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    pub(crate) duplication: f64,

    /// Messages of one round come in any order
    #[arg(long)]
    pub(crate) shuffle: bool,

    /// Components pass on what is for others, where links are missing
    #[arg(long)]
    pub(crate) relay: bool,

    /// Where chance comes from
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
}

/// Run all algorithms on many formulae and traces, and keep every measure
#[derive(Options)]
pub(crate) struct Experiment {
    #[command(subcommand)]
    pub(crate) verb: Experiments,
}

#[derive(Subcommand)]
pub(crate) enum Experiments {
    Synthetic(Synthetic),
    Formulae(Formulae),
}

/// Where measures go.
#[derive(Options)]
pub(crate) struct Output {
    /// Keep the measures in this SQLite file, one row of table `bench` for each run; what is there is not run again
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,

    /// Write all measures as CSV; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,

    /// Threads [default: one per core]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
}

/// The synthetic benchmark: random formulae and traces, beside the published figures
///
/// 100 formulae that mention all components and whose monitors have at most 256
/// states, for 3, 4, 5 and 6 components; 200 traces of 60 rounds, 50 from each
/// of four distributions; messages take a round; every algorithm, with the
/// document's encoding and with ours. Prints tables B.1 and 8.2 of El-Hokayem's
/// thesis with our rows below its own, and whether algorithms come in the same
/// order.
#[derive(Options)]
#[command(verbatim_doc_comment, after_help = SYNTHETIC)]
pub(crate) struct Synthetic {
    /// 20 formulae and 20 traces instead
    #[arg(long)]
    pub(crate) quick: bool,

    /// Formulae for each number of components
    #[arg(long, value_name = "N")]
    pub(crate) formulae: Option<usize>,

    /// Traces for each distribution
    #[arg(long, value_name = "N")]
    pub(crate) traces: Option<usize>,

    /// Where chance comes from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Draw the results as SVG, one file for each measure
    #[arg(long, value_name = "FOLDER")]
    pub(crate) svg: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) output: Output,
}

const SYNTHETIC: &str = "\
Examples:
  invigil decent experiment synthetic
  invigil decent experiment synthetic --quick --svg plots/
  invigil decent experiment synthetic --store measures.db
  sqlite3 measures.db 'SELECT alg, comps, avg(messages) FROM bench GROUP BY 1, 2'";

/// Formulae of a list on the traces of a folder
///
/// Formulae that cannot be monitored, or whose monitors have more than 16384
/// states, are left out: LIST.keep and LIST.discard say which, and why. If they
/// have names or figures stand beside, what was measured is shown for each of
/// them, otherwise for all together.
#[derive(Options)]
#[command(verbatim_doc_comment, after_help = FORMULAE)]
pub(crate) struct Formulae {
    /// A file with a formula in each line, or NAME = FORMULA
    #[arg(value_name = "LIST")]
    pub(crate) list: PathBuf,

    /// The folder of traces: `0-a.trace` is what component a saw in run 0
    #[arg(long, value_name = "FOLDER")]
    pub(crate) traces: PathBuf,

    /// The algorithms: names with commas, or all
    #[arg(short, long, value_name = "ALGORITHMS", default_value = "all", value_parser = algorithms)]
    pub(crate) algorithm: Algorithms,

    /// How monitors keep what they know: states, expressions or expressions-quick, or several with commas. Broadcast runs with
    /// states alone: expressions that are joined again and again grow without bound
    #[arg(short, long, value_name = "ENCODINGS", default_value = "states", value_delimiter = ',',
        value_parser = str::parse::<History>)]
    pub(crate) encoding: Vec<History>,

    /// Figures of others to stand beside ours: CSV with the columns spec, algorithm, and measures such as delay
    #[arg(long, value_name = "FILE")]
    pub(crate) beside: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) output: Output,
}

const FORMULAE: &str = "\
Examples:
  invigil decent experiment formulae list.txt --traces runs/
  invigil decent experiment formulae specs.txt --traces runs/ \\
      -a choreography,abridged -e states,expressions --beside thesis.csv";

/// Write random traces
#[derive(Options)]
#[command(after_help = GEN_TRACE)]
pub(crate) struct GenTrace {
    /// The folder for the traces: `0-a.trace` is what component a sees in run 0
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,

    /// How many runs
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) runs: usize,

    /// Rounds of each run
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub(crate) length: usize,

    /// Components
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) components: usize,

    /// Propositions that each component observes
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) observations: usize,

    /// normal, binomial, beta-1, beta-2, or with parameters: normal:MEAN:VARIANCE, binomial:TRIALS:CHANCE, beta:A:B
    #[arg(long, value_name = "NAME", default_value = "normal", value_parser = str::parse::<Distribution>)]
    pub(crate) distribution: Distribution,

    /// True for false, and false for true
    #[arg(long)]
    pub(crate) invert: bool,

    /// Where chance comes from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

const GEN_TRACE: &str = "\
Examples:
  invigil decent gen-trace runs/ --runs 50 --distribution beta-1
  invigil decent run 'G(a0 | b0 | c0)' --traces runs/ -a all";

/// Write random formulae
#[derive(Options)]
#[command(after_help = GEN_SPEC)]
pub(crate) struct GenSpec {
    /// How many
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) count: usize,

    /// Components; each formula mentions all of them
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) components: usize,

    /// Propositions that each component observes
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) observations: usize,

    /// Operators and propositions of a formula
    #[arg(long, value_name = "N", default_value_t = 15)]
    pub(crate) size: usize,

    /// Also formulae that cannot be monitored
    #[arg(long)]
    pub(crate) any: bool,

    /// A text in which each formula is put in place of `%form%`
    #[arg(long, value_name = "FILE", requires = "folder")]
    pub(crate) template: Option<PathBuf>,

    /// The folder for what is made of the template: 0.xml, 1.xml, …
    #[arg(long, value_name = "FOLDER", requires = "template")]
    pub(crate) folder: Option<PathBuf>,

    /// Where chance comes from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

const GEN_SPEC: &str = "\
Examples:
  invigil decent gen-spec --count 100 --components 5 > list.txt
  invigil decent gen-spec --template spec.xml --folder specs/ --count 10";

/// Draw a specification: who refers to whom, or the automaton of a monitor
#[derive(Options)]
#[command(after_help = DRAW)]
pub(crate) struct Draw {
    #[command(flatten)]
    pub(crate) subject: Subject,

    /// The automaton of this monitor; of a formula, it is always the automaton that is drawn
    #[arg(short, long, value_name = "NAME")]
    pub(crate) monitor: Option<String>,

    /// Draw it as a picture for browsers; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// Draw it for Graphviz; `-` is standard output [default: this, to standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) dot: Option<PathBuf>,
}

const DRAW: &str = "\
Examples:
  invigil decent draw home.dec --svg home.svg
  invigil decent draw home.dec --monitor cooking --svg cooking.svg
  invigil decent draw 'G(a0 -> X b0)' | dot -Tpdf -o automaton.pdf";

/// Say whether a specification can be monitored, and whether it fits its system
#[derive(Options)]
#[command(after_help = CHECK_SPEC)]
pub(crate) struct CheckSpec {
    #[command(flatten)]
    pub(crate) subject: Subject,

    /// Another specification of the same system: do both always say the same?
    #[arg(long, value_name = "FILE")]
    pub(crate) same_as: Option<PathBuf>,
}

const CHECK_SPEC: &str = "\
Examples:
  invigil decent check-spec home.dec
  invigil decent check-spec fast.dec --same-as slow.dec
  invigil decent check-spec 'G(a0 -> F<=3 b0)'
      can it be monitored, and how would it be split?

Exit status: 1 if it is not monitorable or the two differ, 2 if it is wrong or
does not fit, otherwise 0.";

/// Say how often sensors must be asked so that none changes twice in between
#[derive(Options)]
#[command(after_help = ANALYZE_RATE)]
pub(crate) struct AnalyzeRate {
    /// Sensors: NAME=FILE.csv of ON and OFF, or NAME=FILE.csv:THRESHOLD for numbers; or a folder with a list `sensors.csv`
    #[arg(value_name = "SENSOR", required = true)]
    pub(crate) sensors: Vec<String>,
}

const ANALYZE_RATE: &str = "\
A line of a file has a moment and a value: `2017-01-31 08:00:08,ON`, or
milliseconds and a number.

Examples:
  invigil decent analyze-rate kitchen_door=314.csv kitchen_cooktop=36.csv:20
  invigil decent analyze-rate day/";

/// One algorithm, several, or all of them.
#[derive(Clone)]
pub(crate) struct Algorithms(pub(crate) Vec<Choice>);

fn algorithms(word: &str) -> Result<Algorithms, String> {
    match word {
        "all" => Ok(Algorithms(Choice::ALL.to_vec())),
        words => {
            let chosen = words.split(',').map(|word| word.trim().parse());
            chosen.collect::<Result<_, _>>().map(Algorithms).map_err(|unknown| format!("{unknown}, or all"))
        }
    }
}

fn share(word: &str) -> Result<f64, String> {
    let share = word.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "give a number from 0 to 1".to_owned())
}
