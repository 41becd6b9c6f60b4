//! `invigil decent experiment`: runs experiments and prints their tables.

use super::args::{Experiment as Args, Experiments, Formulae, Output, Synthetic};
use crate::interrupt::InterruptFlag;
use crate::terminal::Terminal;
use crate::{CliError, INTERRUPTED, files};
use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use invigil_decent::algorithm::Algorithm;
use invigil_decent::simulate::Trace;
use invigil_lab::experiment::{
    EncodingKind, Experiment, ExperimentReport, NamedFormula, Trial, VerifiedFormulae, Workload,
};
use invigil_lab::inputs::TraceFolder;
use invigil_lab::published::{PublishedMetrics, formulae_table};
use invigil_lab::store::Store;
use invigil_lab::synthetic::thesis::SYNTHETIC;
use invigil_lab::synthetic::{
    self, ENCODINGS, by_components, by_distribution, by_formula, compare, components_table,
    distributions_table, plots,
};
use invigil_ltl::Budget;
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<ExitCode, CliError> {
    match &args.verb {
        Experiments::Synthetic(args) => run_synthetic(args, terminal),
        Experiments::Formulae(args) => run_formulae(args, terminal),
    }
}

fn run_synthetic(args: &Synthetic, terminal: &Terminal) -> Result<ExitCode, CliError> {
    let mut benchmark = if args.quick {
        synthetic::SyntheticBenchmark::quick()
    } else {
        synthetic::SyntheticBenchmark::default()
    };
    benchmark.seed = args.seed;
    benchmark.formulae = args.formulae.unwrap_or(benchmark.formulae);
    benchmark.traces = args.traces.unwrap_or(benchmark.traces);
    let experiment = benchmark.experiment().map_err(CliError::new)?;
    let mut store = open(args.output.store.as_deref())?;
    let started = Instant::now();
    let report = run_with_progress(&experiment, &mut store, &args.output, terminal)?;
    let measured = by_components(&store, &experiment.name).map_err(CliError::new)?;
    let by_distribution_means = by_distribution(&store, &experiment.name).map_err(CliError::new)?;
    let mut out = summary(&report, started);
    let _ = writeln!(out, "\nBy components; mean (standard deviation). Published: [EH18, table B.1].\n");
    out += &components_table(&measured, &SYNTHETIC);
    let _ = writeln!(out, "\nBy distribution, six components. Published: [EH18, table 8.2].\n");
    out += &distributions_table(&by_distribution_means, 6);
    for encoding in ENCODINGS {
        let order = compare(&measured, encoding.name());
        let same = order.pairs - order.disagreements.len();
        let _ = writeln!(
            out,
            "\nOrder of the algorithms on delay, messages, data and convergence, {}: {same} of {} pairs as in \
             [EH18]{}",
            encoding.name(),
            order.pairs,
            if order.disagreements.is_empty() { "." } else { "; different:" }
        );
        for other in &order.disagreements {
            let _ = writeln!(out, "  {other}");
        }
    }
    if let Some(folder) = &args.svg {
        create_folder(folder)?;
        for encoding in ENCODINGS {
            for (name, svg) in plots(&measured, encoding.name()) {
                files::write(&folder.join(name), &svg, terminal)?;
            }
        }
        let _ = writeln!(out, "\nPlots: {}", folder.display());
    }
    finish(out, &store, &args.output, &report, terminal)
}

fn run_formulae(args: &Formulae, terminal: &Terminal) -> Result<ExitCode, CliError> {
    let folder = TraceFolder::open(&args.traces).map_err(CliError::new)?;
    let list = NamedFormula::read(&files::read(&args.list, "list of formulae")?);
    let published = args.beside.as_deref().map(published).transpose()?;
    let verified = VerifiedFormulae::of(list.iter().map(|one| one.formula.clone()), Budget::default());
    let discard = |one: &&NamedFormula| verified.discard.iter().find(|(formula, _)| *formula == one.formula);
    if !verified.discard.is_empty() {
        let kept = list.iter().filter(|one| discard(one).is_none());
        let discarded = list.iter().filter_map(|one| Some((one, discard(&one)?)));
        let discarded = discarded.map(|(one, (_, reason))| format!("{}    # {reason}", one.to_line()));
        write_beside(&args.list, "keep", kept.map(NamedFormula::to_line).collect(), terminal)?;
        write_beside(&args.list, "discard", discarded.collect(), terminal)?;
    }
    let mut trials = Vec::with_capacity(folder.runs);
    for number in 0..folder.runs {
        let trace = Trace::from_run(&folder.run(number).map_err(CliError::new)?);
        trials.push(Trial { distribution: args.traces.display().to_string(), number, trace });
    }
    let (kept, discarded) = (verified.keep.len(), verified.discard.len());
    let workload = Workload { system: folder.system, formulae: verified.keep, trials };
    let name = format!("{} on {}", args.list.display(), args.traces.display());
    let mut experiment =
        Experiment::new(&name, args.algorithm.0.clone(), args.encoding.clone(), vec![workload]);
    experiment.variants.retain(|(algorithm, encoding)| {
        *algorithm != Algorithm::Broadcast || *encoding == EncodingKind::States
    });
    let mut store = open(args.output.store.as_deref())?;
    let started = Instant::now();
    let report = run_with_progress(&experiment, &mut store, &args.output, terminal)?;
    let mut out = format!("{kept} formulae monitored, {discarded} skipped\n");
    out += &summary(&report, started);
    if report.runs + report.stored > 0 {
        out.push('\n');
        let is_named = published.is_some() || list.iter().any(|one| one.name != one.formula);
        out += &match is_named {
            true => {
                let measured = by_formula(&store, &experiment.name).map_err(CliError::new)?;
                formulae_table(&list, &measured, published.as_ref())
            }
            // The published figures are of other formulae.
            false => components_table(&by_components(&store, &experiment.name).map_err(CliError::new)?, &[]),
        };
    }
    finish(out, &store, &args.output, &report, terminal)
}

/// Reads published figures and names them after their file.
fn published(path: &Path) -> Result<PublishedMetrics, CliError> {
    let source = path.file_stem().unwrap_or_default().to_string_lossy();
    PublishedMetrics::read(&source, &files::read(path, "table of figures")?)
        .map_err(|error| CliError::new(format_args!("{}: {error}", path.display())))
}

fn write_beside(list: &Path, ending: &str, lines: Vec<String>, terminal: &Terminal) -> Result<(), CliError> {
    let mut name = list.as_os_str().to_owned();
    name.push(format!(".{ending}"));
    files::write(Path::new(&name), &(lines.join("\n") + "\n"), terminal)
}

fn open(path: Option<&Path>) -> Result<Store, CliError> {
    path.map_or_else(Store::in_memory, Store::open).map_err(CliError::new)
}

/// Creates a directory unless it exists.
pub(super) fn create_folder(folder: &Path) -> Result<(), CliError> {
    std::fs::create_dir_all(folder).map_err(|error| {
        CliError::new(format_args!("{}: cannot create the directory: {error}", folder.display()))
    })
}

/// Runs an experiment with a progress bar until it ends or the user presses Ctrl-C.
fn run_with_progress(
    experiment: &Experiment,
    store: &mut Store,
    output: &Output,
    terminal: &Terminal,
) -> Result<ExperimentReport, CliError> {
    let threads = output.threads.or_else(|| std::thread::available_parallelism().ok());
    let interrupt = InterruptFlag::install();
    let bar = if terminal.is_stderr_terminal() {
        ProgressBar::new(experiment.runs() as u64)
    } else {
        ProgressBar::hidden()
    };
    // The template is a constant that parses; indicatif's default is the fallback.
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3}%  {human_pos} runs  {eta} left") {
        bar.set_style(style);
    }
    let report = experiment.run(store, threads.unwrap_or(NonZeroUsize::MIN), |progress| {
        bar.set_position(progress.done as u64);
        if interrupt.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    report.map_err(CliError::new)
}

fn summary(report: &ExperimentReport, started: Instant) -> String {
    let mut out = format!(
        "{} runs in {:.1} s, {} stored before\n",
        HumanCount(report.runs as u64),
        started.elapsed().as_secs_f64(),
        HumanCount(report.stored as u64)
    );
    for failure in &report.failures {
        let _ = writeln!(out, "not run: {failure}");
    }
    out
}

fn finish(
    out: String,
    store: &Store,
    output: &Output,
    report: &ExperimentReport,
    terminal: &Terminal,
) -> Result<ExitCode, CliError> {
    if let Some(path) = &output.csv {
        let mut csv = Vec::new();
        store.write_csv("SELECT * FROM bench", &mut csv).map_err(CliError::new)?;
        files::write(path, &String::from_utf8_lossy(&csv), terminal)?;
        if files::is_standard(path) {
            return Ok(ExitCode::SUCCESS);
        }
    }
    terminal.print(&out)?;
    if report.is_complete {
        return Ok(ExitCode::SUCCESS);
    }
    let next = if output.store.is_some() {
        "run the command again to resume"
    } else {
        "with --store it could be resumed"
    };
    terminal.eprint(&format!("stopped before the end; {next}"));
    Ok(ExitCode::from(INTERRUPTED))
}
