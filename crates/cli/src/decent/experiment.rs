//! `invigil decent experiment`.

use super::args::{Experiment as Args, Experiments, Formulae, Output, Synthetic};
use crate::interrupt::Interrupt;
use crate::terminal::Terminal;
use crate::{INTERRUPTED, Trouble, files};
use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use invigil_decent::algorithm::Choice;
use invigil_decent::simulate::Trace;
use invigil_lab::experiment::{Experiment, History, Listed, Report, Subject, Trial, Verified};
use invigil_lab::periphery::Folder;
use invigil_lab::published::{Published, formulae_table};
use invigil_lab::store::Store;
use invigil_lab::synthetic::document::SYNTHETIC;
use invigil_lab::synthetic::{
    self, HISTORIES, by_components, by_distribution, by_formula, compare, components_table,
    distributions_table, pictures,
};
use invigil_ltl::Budget;
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    match &args.verb {
        Experiments::Synthetic(args) => run_synthetic(args, terminal),
        Experiments::Formulae(args) => run_formulae(args, terminal),
    }
}

fn run_synthetic(args: &Synthetic, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    let mut size = if args.quick { synthetic::Synthetic::quick() } else { synthetic::Synthetic::default() };
    size.seed = args.seed;
    size.formulae = args.formulae.unwrap_or(size.formulae);
    size.traces = args.traces.unwrap_or(size.traces);
    let experiment = size.experiment().map_err(Trouble::new)?;
    let mut store = open(args.output.store.as_deref())?;
    let started = Instant::now();
    let report = conduct(&experiment, &mut store, &args.output, terminal)?;
    let measured = by_components(&store, &experiment.name).map_err(Trouble::new)?;
    let spread = by_distribution(&store, &experiment.name).map_err(Trouble::new)?;
    let mut out = told(&report, started);
    let _ = writeln!(out, "\nBy components; mean (standard deviation). The document: table B.1.\n");
    out += &components_table(&measured, &SYNTHETIC);
    let _ = writeln!(out, "\nBy distribution, six components. The document: table 8.2.\n");
    out += &distributions_table(&spread, 6);
    for history in HISTORIES {
        let order = compare(&measured, history.name());
        let same = order.pairs - order.others.len();
        let _ = writeln!(
            out,
            "\nOrder of the algorithms on delay, messages, data and convergence, {}: {same} of {} pairs as in \
             the document{}",
            history.name(),
            order.pairs,
            if order.others.is_empty() { "." } else { "; others:" }
        );
        for other in &order.others {
            let _ = writeln!(out, "  {other}");
        }
    }
    if let Some(folder) = &args.svg {
        make(folder)?;
        for history in HISTORIES {
            for (name, svg) in pictures(&measured, history.name()) {
                files::write(&folder.join(name), &svg, terminal)?;
            }
        }
        let _ = writeln!(out, "\nPictures: {}", folder.display());
    }
    finish(out, &store, &args.output, &report, terminal)
}

fn run_formulae(args: &Formulae, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    let folder = Folder::open(&args.traces).map_err(Trouble::new)?;
    let list = Listed::read(&files::read(&args.list, "list of formulae")?);
    let published = args.beside.as_deref().map(published).transpose()?;
    let verified = Verified::of(list.iter().map(|one| one.formula.clone()), Budget::default());
    let discard = |one: &&Listed| verified.discard.iter().find(|(formula, _)| *formula == one.formula);
    if !verified.discard.is_empty() {
        let kept = list.iter().filter(|one| discard(one).is_none());
        let discarded = list.iter().filter_map(|one| Some((one, discard(&one)?)));
        let discarded = discarded.map(|(one, (_, reason))| format!("{}    # {reason}", one.written()));
        write_beside(&args.list, "keep", kept.map(Listed::written).collect(), terminal)?;
        write_beside(&args.list, "discard", discarded.collect(), terminal)?;
    }
    let mut trials = Vec::with_capacity(folder.runs);
    for number in 0..folder.runs {
        let trace = Trace::of(&folder.run(number).map_err(Trouble::new)?);
        trials.push(Trial { distribution: args.traces.display().to_string(), number, trace });
    }
    let (kept, discarded) = (verified.keep.len(), verified.discard.len());
    let subject = Subject { system: folder.system, formulae: verified.keep, trials };
    let name = format!("{} on {}", args.list.display(), args.traces.display());
    let mut experiment =
        Experiment::new(&name, args.algorithm.0.clone(), args.encoding.clone(), vec![subject]);
    experiment.ways.retain(|(choice, history)| *choice != Choice::Broadcast || *history == History::States);
    let mut store = open(args.output.store.as_deref())?;
    let started = Instant::now();
    let report = conduct(&experiment, &mut store, &args.output, terminal)?;
    let mut out = format!("{kept} formulae are monitored, {discarded} are left out\n");
    out += &told(&report, started);
    if report.runs + report.known > 0 {
        out.push('\n');
        let is_named = published.is_some() || list.iter().any(|one| one.name != one.formula);
        out += &match is_named {
            true => {
                let measured = by_formula(&store, &experiment.name).map_err(Trouble::new)?;
                formulae_table(&list, &measured, published.as_ref())
            }
            // The document's figures are of other formulae.
            false => components_table(&by_components(&store, &experiment.name).map_err(Trouble::new)?, &[]),
        };
    }
    finish(out, &store, &args.output, &report, terminal)
}

/// Figures that are called as their file.
fn published(path: &Path) -> Result<Published, Trouble> {
    let whose = path.file_stem().unwrap_or_default().to_string_lossy();
    Published::read(&whose, &files::read(path, "table of figures")?)
        .map_err(|wrong| Trouble::new(format_args!("{}: {wrong}", path.display())))
}

fn write_beside(list: &Path, ending: &str, lines: Vec<String>, terminal: &Terminal) -> Result<(), Trouble> {
    let mut name = list.as_os_str().to_owned();
    name.push(format!(".{ending}"));
    files::write(Path::new(&name), &(lines.join("\n") + "\n"), terminal)
}

fn open(path: Option<&Path>) -> Result<Store, Trouble> {
    path.map_or_else(Store::in_memory, Store::open).map_err(Trouble::new)
}

/// Makes a folder, unless there is one.
pub(super) fn make(folder: &Path) -> Result<(), Trouble> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Trouble::new(format_args!("{}: the folder cannot be made: {error}", folder.display()))
    })
}

/// Runs it with a bar, until it is over or the user wants no more.
fn conduct(
    experiment: &Experiment,
    store: &mut Store,
    output: &Output,
    terminal: &Terminal,
) -> Result<Report, Trouble> {
    let threads = output.threads.or_else(|| std::thread::available_parallelism().ok());
    let interrupt = Interrupt::listen();
    let bar = if terminal.is_watched() {
        ProgressBar::new(experiment.runs() as u64)
    } else {
        ProgressBar::hidden()
    };
    // The template is fixed: if it did not parse, indicatif's own would do.
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3}%  {human_pos} runs  {eta} left") {
        bar.set_style(style);
    }
    let report = experiment.run(store, threads.unwrap_or(NonZeroUsize::MIN), |progress| {
        bar.set_position(progress.done as u64);
        if interrupt.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    report.map_err(Trouble::new)
}

fn told(report: &Report, started: Instant) -> String {
    let mut out = format!(
        "{} runs in {:.1} s, {} were known before\n",
        HumanCount(report.runs as u64),
        started.elapsed().as_secs_f64(),
        HumanCount(report.known as u64)
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
    report: &Report,
    terminal: &Terminal,
) -> Result<ExitCode, Trouble> {
    if let Some(path) = &output.csv {
        let mut csv = Vec::new();
        store.write_csv("SELECT * FROM bench", &mut csv).map_err(Trouble::new)?;
        files::write(path, &String::from_utf8_lossy(&csv), terminal)?;
        if files::is_standard(path) {
            return Ok(ExitCode::SUCCESS);
        }
    }
    terminal.print(&out)?;
    if report.is_whole {
        return Ok(ExitCode::SUCCESS);
    }
    let next =
        if output.store.is_some() { "run it again to go on" } else { "with --store it could go on later" };
    terminal.complain(&format!("stopped before the end; {next}"));
    Ok(ExitCode::from(INTERRUPTED))
}
