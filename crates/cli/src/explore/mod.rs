//! `invigil explore`: explores all behaviours of a model and checks claims about it.

pub(crate) mod args;
mod progress;
mod remote;
mod setups;

use crate::interrupt::InterruptFlag;
use crate::models::{self, LoadedModel, ModelOptions};
use crate::terminal::Terminal;
use crate::{CliError, INTERRUPTED, INVALID_INPUT, VIOLATED, files};
use args::{Explore, Fairness, Mailboxes, SearchArgs, SearchMode, SetupArgs};
use invigil_explore::fairness::Strength;
use invigil_explore::scheduled::{Filter, Scheduler, SchedulerConfig};
use invigil_explore::{Bitstate, Fingerprint, Limits, Swarm, WalkOptions};
use invigil_expr::diag::nearest;
use invigil_lang::model::ClaimBody;
use invigil_lang::report::render;
use invigil_model::Model;
use invigil_verify::{Claim, ClaimKind, VerifyReport, VerifyResult, VerifyTask, verify};
use progress::Progress;
use std::process::ExitCode;
use std::time::{Duration, Instant};

pub(crate) fn run(args: &Explore, terminal: &Terminal) -> Result<ExitCode, CliError> {
    if let Some(address) = crate::remote::address(&args.model) {
        return remote::run(&address?, args, terminal);
    }
    let text = files::read(&args.model, "model")?;
    let interrupt = InterruptFlag::install();
    let progress = Progress::new(&interrupt, terminal.is_stderr_terminal() && !args.quiet);
    let name = args.model.display().to_string();
    if args.all_setups {
        let table = setups::explore_setups(args, &text, &progress, terminal)?;
        progress.clear();
        terminal.print(&table.text(&name, &terminal.style))?;
        return Ok(ExitCode::from(if interrupt.is_set() { INTERRUPTED } else { 0 }));
    }
    let request = ExploreRequest::read(args, &text, args.setup.mailboxes, terminal)?;
    request.warn(args, terminal);
    let task = VerifyTask {
        scheduling: scheduler_config(&request.loaded_model.file.model, &args.setup)?,
        ..request.task(args)
    };
    let started = Instant::now();
    let result = verify(&task, &progress);
    progress.clear();
    let report = VerifyReport { result: &result, file: &name, elapsed: started.elapsed() };
    if args.json {
        terminal.print(&report.json())?;
    } else if !args.quiet {
        terminal.print(&report.text(&terminal.style))?;
    }
    if let (Some(path), Some((_, trace))) = (&args.trace, report.counterexamples().first()) {
        files::write(path, &trace.to_json_lines(), terminal)?;
    }
    Ok(ExitCode::from(status(&result, &interrupt)))
}

/// A model with all claims about it.
struct ExploreRequest {
    loaded_model: LoadedModel,
    properties: crate::load::Loaded,
}

impl ExploreRequest {
    fn read(
        args: &Explore,
        text: &str,
        mailboxes: Option<Mailboxes>,
        terminal: &Terminal,
    ) -> Result<ExploreRequest, CliError> {
        let colour = terminal.errors.colour;
        let model_options = ModelOptions { wraps: args.wrap, mailboxes: mailboxes.map(Mailboxes::kind) };
        let mut loaded_model = models::load_text(&args.model, text, model_options, colour)?;
        let automata = loaded_model.add_claims(&args.properties, &args.always, colour)?;
        loaded_model.add_unreachable_claims(&args.never, colour)?;
        let properties = crate::load::load(&automata, &args.functions, colour)?;
        Ok(ExploreRequest { loaded_model, properties })
    }

    fn warn(&self, args: &Explore, terminal: &Terminal) {
        if args.quiet {
            return;
        }
        warn(&self.loaded_model, terminal);
        if !self.properties.warnings.is_empty() {
            terminal.eprint(&(self.properties.warnings(terminal.errors.colour) + "\n"));
        }
    }

    /// The verification task, without a scheduler.
    fn task(&self, args: &Explore) -> VerifyTask<'_> {
        let monitors = self
            .properties
            .automata
            .iter()
            .map(|automaton| Claim { name: automaton.name.clone(), kind: ClaimKind::Monitor(automaton) });
        VerifyTask {
            claims: claims(&self.loaded_model).into_iter().chain(monitors).collect(),
            deadlocks: !args.ignore_deadlocks,
            fairness: args.fair.map(|how| match how {
                Fairness::Weak => Strength::Weak,
                Fairness::Strong => Strength::Strong,
            }),
            reduce: args.reduce,
            strategy: strategy(&args.search),
            threads: threads(&args.search),
            limits: limits(&args.search),
            exhaustive: args.full || args.all_setups,
            ..VerifyTask::new(&self.loaded_model.file.model, &self.properties.catalog)
        }
    }
}

fn status(result: &VerifyResult, interrupt: &InterruptFlag) -> u8 {
    if result.is_violated() {
        VIOLATED
    } else if interrupt.is_set() {
        INTERRUPTED
    } else if result.is_inconclusive() {
        INVALID_INPUT
    } else {
        0
    }
}

/// Prints the warnings about a model.
pub(crate) fn warn(loaded_model: &LoadedModel, terminal: &Terminal) {
    if !loaded_model.warnings.is_empty() {
        terminal
            .eprint(&(render(&loaded_model.sources, &loaded_model.warnings, terminal.errors.colour) + "\n"));
    }
}

/// The claims of a model's file and of the command line.
pub(crate) fn claims(loaded_model: &LoadedModel) -> Vec<Claim<'_>> {
    loaded_model
        .file
        .claims
        .iter()
        .map(|claim| Claim {
            name: claim.name.clone(),
            kind: match &claim.body {
                ClaimBody::Always(expression) => ClaimKind::Always(expression),
                ClaimBody::Never(omega) => ClaimKind::Never(omega),
            },
        })
        .collect()
}

/// The scheduler and the filters from the options.
pub(crate) fn scheduler_config(model: &Model, args: &SetupArgs) -> Result<SchedulerConfig, CliError> {
    let scheduler = match args.scheduler.as_deref().map(|text| (text, text.split_once(':'))) {
        None => None,
        Some(("priority", _)) => {
            Some(Scheduler::FixedPriority((0..model.parts().processes.len() as u32).collect()))
        }
        Some(("round-robin", _)) => Some(Scheduler::RoundRobin),
        Some((_, Some(("priority", names)))) => {
            let order: Result<_, _> = names.split(',').map(|name| process(model, name.trim())).collect();
            Some(Scheduler::FixedPriority(order?))
        }
        Some((_, Some(("random", seed)))) => Some(Scheduler::Random(seed.parse().map_err(|_| {
            CliError::new(format_args!("invalid seed `{seed}`; expected a number, such as `random:7`"))
        })?)),
        Some((text, _)) => {
            return Err(CliError::new(format_args!(
                "unknown scheduler `{text}`; expected `priority`, `priority:A,B`, `round-robin` or `random:SEED`"
            )));
        }
    };
    let filters = [(args.reactive, Filter::Reactive), (args.faultless, Filter::Faultless)];
    let filters =
        filters.into_iter().filter(|(is_selected, _)| *is_selected).map(|(_, filter)| filter).collect();
    Ok(SchedulerConfig { scheduler, filters })
}

fn process(model: &Model, name: &str) -> Result<u32, CliError> {
    let processes = &model.parts().processes;
    let found = (0..).zip(processes).find(|(_, process)| process.name == name).map(|(number, _)| number);
    found.ok_or_else(|| {
        let names = processes.iter().map(|process| process.name.as_str());
        let hint = nearest(name, names).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        CliError::new(format_args!("the model has no process `{name}`{hint}"))
    })
}

fn strategy(args: &SearchArgs) -> invigil_verify::SearchStrategy {
    let (bytes, seed, runs) = (args.table, args.seed, args.runs);
    let bits = Bitstate { bytes, seed, ..Bitstate::default() };
    match args.search {
        SearchMode::Breadth => invigil_verify::SearchStrategy::BreadthFirst,
        SearchMode::Depth => invigil_verify::SearchStrategy::DepthFirst,
        SearchMode::Walk => invigil_verify::SearchStrategy::RandomWalk(WalkOptions {
            seed,
            walks: runs,
            steps: args.max_depth.unwrap_or(DEFAULT_WALK_LENGTH),
        }),
        SearchMode::Compact => {
            invigil_verify::SearchStrategy::HashCompaction { fingerprint: Fingerprint::Bits40, bytes }
        }
        SearchMode::Bitstate => invigil_verify::SearchStrategy::Bitstate(bits),
        SearchMode::Swarm => {
            invigil_verify::SearchStrategy::Swarm(Swarm { runs, bytes, seed, hashes: bits.hashes })
        }
    }
}

/// Default length of a random walk.
const DEFAULT_WALK_LENGTH: u64 = 10_000;

fn threads(args: &SearchArgs) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    args.threads.map_or_else(cores, usize::from)
}

fn limits(args: &SearchArgs) -> Limits {
    Limits {
        states: args.max_states,
        memory: args.max_memory.or_else(free_memory),
        time: args.timeout.map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)),
        depth: args.max_depth,
    }
}

/// Three quarters of the free memory: beyond that, the system may kill the process.
fn free_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 768)
}
