//! Options of `invigil decent`.

use clap::{Args as Options, Subcommand};
use invigil_decent::algorithm::Algorithm;
use invigil_lab::experiment::EncodingKind;
use invigil_lab::generate::Distribution;
use std::path::PathBuf;

/// Monitor decentralized systems, in which each component observes only a part
///
/// A formula is monitored by monitors on all components, with one of six
/// algorithms. A specification defines monitors that refer to each other and are
/// placed on components. `docs/decentralized.md` describes the language,
/// `docs/experiments.md` the experiments.
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
      a specification, on every trace of a directory
  invigil decent check-spec light.dec
      is it monitorable? can every verdict reach its receivers?
  invigil decent draw light.dec --svg light.svg
      draw the references between the monitors
  invigil decent experiment synthetic --quick
      all algorithms on random formulae, compared with published figures

Exit status:
    0  no violation
    1  a run is violated, or a specification is not monitorable
  130  interrupted with Ctrl-C; an experiment with --store can be resumed
    2  no result: the input is invalid";

#[derive(Subcommand)]
pub(crate) enum Verb {
    Run(Run),
    Experiment(Experiment),
    GenTrace(GenTrace),
    GenSpec(GenSpec),
    Draw(Draw),
    CheckSpec(CheckSpec),
    AnalyzeRate(AnalyzeRate),
    GenDay(super::gen_day::Args),
    Detect(super::detect::Args),
}

/// The specification or formula, and the components with their propositions.
#[derive(Options)]
pub(crate) struct SpecArgs {
    /// Specification (FILE.dec, or FILE.xml of THEMIS), or a formula
    #[arg(value_name = "SPEC")]
    pub(crate) spec: String,

    /// Component with its propositions, for a formula: `--component lamp:on,hot`; repeatable [default: `a0` and `a1`
    /// belong to component `a`]
    #[arg(short, long = "component", value_name = "NAME:PROPOSITIONS")]
    pub(crate) components: Vec<String>,
}

/// Run monitors on traces, logs, peers or live programs
///
/// Prints the verdict of each run, when it was reached, and its costs.
#[derive(Options)]
#[command(after_help = RUN)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) spec_args: SpecArgs,

    /// Algorithm for a formula: orchestration, migration, round-robin, choreography, broadcast, abridged, several of them
    /// separated by commas, or all [default: abridged]
    #[arg(short, long, value_name = "ALGORITHM", value_parser = parse_algorithms)]
    pub(crate) algorithm: Option<Algorithms>,

    /// Representation of a monitor's knowledge: states, expressions (as in EH18) or expressions-quick
    #[arg(short, long, value_name = "ENCODING", default_value = "states", value_parser = str::parse::<EncodingKind>)]
    pub(crate) encoding: EncodingKind,

    #[command(flatten)]
    pub(crate) observed: super::inputs::InputArgs,

    #[command(flatten)]
    pub(crate) conditions: NetworkArgs,

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
      a log: an event makes its proposition true in that second
  invigil decent run light.dec --listen bulb=unix:/tmp/bulb.sock \\
      --program lswitch='./switch 5' --round poll
      bulb sends one line per round; lswitch is a program whose rounds end
      with each call of poll

Exit status: 1 if a run is violated, 2 if the input is invalid, 3 if a program
cannot be controlled, otherwise 0.";

/// Network conditions.
#[derive(Options)]
pub(crate) struct NetworkArgs {
    /// Latency of a message in rounds
    #[arg(long, value_name = "ROUNDS", default_value_t = 1)]
    pub(crate) latency: u16,

    /// Maximum additional latency in rounds
    #[arg(long, value_name = "ROUNDS", default_value_t = 0)]
    pub(crate) jitter: u16,

    /// Fraction of messages that are lost
    #[arg(long, value_name = "FRACTION", default_value_t = 0.0, value_parser = parse_fraction)]
    pub(crate) loss: f64,

    /// Fraction of messages that are duplicated
    #[arg(long, value_name = "FRACTION", default_value_t = 0.0, value_parser = parse_fraction)]
    pub(crate) duplication: f64,

    /// Deliver the messages of a round in random order
    #[arg(long)]
    pub(crate) shuffle: bool,

    /// Forward messages over other components where links are missing
    #[arg(long)]
    pub(crate) relay: bool,

    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
}

/// Run all algorithms on many formulae and traces and store the measurements
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

/// Output of measurements.
#[derive(Options)]
pub(crate) struct Output {
    /// Store the measurements in this SQLite file, one row of table `bench` per run; stored runs are not repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,

    /// Write all measurements as CSV; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,

    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
}

/// Run the synthetic benchmark and compare it with the published figures
///
/// Uses 100 formulae over all components, whose monitors have at most 256 states,
/// for 3, 4, 5 and 6 components, and 200 traces of 60 rounds, 50 from each of four
/// distributions. Messages take one round. Runs every algorithm with the encoding
/// of EH18 and with Invigil's. Prints tables B.1 and 8.2 of EH18 with the
/// measured rows below the published ones, and compares the order of the
/// algorithms.
#[derive(Options)]
#[command(verbatim_doc_comment, after_help = SYNTHETIC)]
pub(crate) struct Synthetic {
    /// Use only 20 formulae and 20 traces
    #[arg(long)]
    pub(crate) quick: bool,

    /// Number of formulae for each number of components
    #[arg(long, value_name = "N")]
    pub(crate) formulae: Option<usize>,

    /// Number of traces for each distribution
    #[arg(long, value_name = "N")]
    pub(crate) traces: Option<usize>,

    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Write plots as SVG, one file per metric
    #[arg(long, value_name = "DIR")]
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

/// Run a list of formulae on the traces of a directory
///
/// Formulae that are not monitorable, or whose monitors have more than 16384
/// states, are skipped; LIST.keep and LIST.discard list the formulae with the
/// reasons. With named formulae or --beside, the results are printed per formula,
/// otherwise as averages over all formulae.
#[derive(Options)]
#[command(verbatim_doc_comment, after_help = FORMULAE)]
pub(crate) struct Formulae {
    /// File with one formula per line, optionally as NAME = FORMULA
    #[arg(value_name = "LIST")]
    pub(crate) list: PathBuf,

    /// Directory of traces: `0-a.trace` has the observations of component a in run 0
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: PathBuf,

    /// Algorithms: names separated by commas, or all
    #[arg(short, long, value_name = "ALGORITHMS", default_value = "all", value_parser = parse_algorithms)]
    pub(crate) algorithm: Algorithms,

    /// Representation of a monitor's knowledge: states, expressions or expressions-quick, or several separated by commas.
    /// Broadcast supports only states, because its expressions grow without bound
    #[arg(short, long, value_name = "ENCODINGS", default_value = "states", value_delimiter = ',',
        value_parser = str::parse::<EncodingKind>)]
    pub(crate) encoding: Vec<EncodingKind>,

    /// Published figures for comparison: CSV with the columns spec, algorithm, and metrics such as delay
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
    /// Output directory: `0-a.trace` gets the observations of component a in run 0
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,

    /// Number of runs
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) runs: usize,

    /// Number of rounds of each run
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub(crate) length: usize,

    /// Number of components
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) components: usize,

    /// Number of propositions per component
    #[arg(long = "observations", value_name = "N", default_value_t = 2)]
    pub(crate) propositions: usize,

    /// Distribution: normal, binomial, beta-1, beta-2, or with parameters: normal:MEAN:VARIANCE, binomial:TRIALS:CHANCE, beta:A:B
    #[arg(long, value_name = "NAME", default_value = "normal", value_parser = str::parse::<Distribution>)]
    pub(crate) distribution: Distribution,

    /// Negate all values
    #[arg(long)]
    pub(crate) invert: bool,

    /// Seed of the random numbers
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
    /// Number of formulae
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) count: usize,

    /// Number of components; each formula mentions all of them
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) components: usize,

    /// Number of propositions per component
    #[arg(long = "observations", value_name = "N", default_value_t = 2)]
    pub(crate) propositions: usize,

    /// Size of a formula: number of operators and propositions
    #[arg(long, value_name = "N", default_value_t = 15)]
    pub(crate) size: usize,

    /// Include formulae that are not monitorable
    #[arg(long)]
    pub(crate) any: bool,

    /// Template in which `%form%` is replaced by each formula
    #[arg(long, value_name = "FILE", requires = "folder")]
    pub(crate) template: Option<PathBuf>,

    /// Output directory for the filled templates: 0.xml, 1.xml, …
    #[arg(long, value_name = "DIR", requires = "template")]
    pub(crate) folder: Option<PathBuf>,

    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

const GEN_SPEC: &str = "\
Examples:
  invigil decent gen-spec --count 100 --components 5 > list.txt
  invigil decent gen-spec --template spec.xml --folder specs/ --count 10";

/// Draw a specification: the references between its monitors, or the automaton of one monitor
#[derive(Options)]
#[command(after_help = DRAW)]
pub(crate) struct Draw {
    #[command(flatten)]
    pub(crate) spec_args: SpecArgs,

    /// Draw the automaton of this monitor; for a formula, its automaton is always drawn
    #[arg(short, long, value_name = "NAME")]
    pub(crate) monitor: Option<String>,

    /// Write an SVG picture; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// Write a Graphviz graph; `-` is standard output [default: to standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) dot: Option<PathBuf>,
}

const DRAW: &str = "\
Examples:
  invigil decent draw home.dec --svg home.svg
  invigil decent draw home.dec --monitor cooking --svg cooking.svg
  invigil decent draw 'G(a0 -> X b0)' | dot -Tpdf -o automaton.pdf";

/// Check whether a specification is monitorable and fits its system
#[derive(Options)]
#[command(after_help = CHECK_SPEC)]
pub(crate) struct CheckSpec {
    #[command(flatten)]
    pub(crate) spec_args: SpecArgs,

    /// Another specification of the same system to compare the verdicts with
    #[arg(long, value_name = "FILE")]
    pub(crate) same_as: Option<PathBuf>,
}

const CHECK_SPEC: &str = "\
Examples:
  invigil decent check-spec home.dec
  invigil decent check-spec fast.dec --same-as slow.dec
  invigil decent check-spec 'G(a0 -> F<=3 b0)'
      is it monitorable, and how would it be split?

Exit status: 1 if it is not monitorable or the two differ, 2 if it is invalid or
does not fit the system, otherwise 0.";

/// Compute the polling rate at which no sensor changes twice between two polls
#[derive(Options)]
#[command(after_help = ANALYZE_RATE)]
pub(crate) struct AnalyzeRate {
    /// Sensors: NAME=FILE.csv with ON and OFF, or NAME=FILE.csv:THRESHOLD with numbers; or a directory with `sensors.csv`
    #[arg(value_name = "SENSOR", required = true)]
    pub(crate) sensors: Vec<String>,
}

const ANALYZE_RATE: &str = "\
Each line of a file has a timestamp and a value: `2017-01-31 08:00:08,ON`, or
milliseconds and a number.

Examples:
  invigil decent analyze-rate kitchen_door=314.csv kitchen_cooktop=36.csv:20
  invigil decent analyze-rate day/";

/// A selection of algorithms.
#[derive(Clone)]
pub(crate) struct Algorithms(pub(crate) Vec<Algorithm>);

fn parse_algorithms(word: &str) -> Result<Algorithms, String> {
    match word {
        "all" => Ok(Algorithms(Algorithm::ALL.to_vec())),
        words => {
            let chosen = words.split(',').map(|word| word.trim().parse());
            chosen.collect::<Result<_, _>>().map(Algorithms).map_err(|unknown| format!("{unknown}, or all"))
        }
    }
}

fn parse_fraction(word: &str) -> Result<f64, String> {
    let share = word.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}
