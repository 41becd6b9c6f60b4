//! `invigil explore`: every behaviour of a model, and what is wrong with it.

pub(crate) mod args;
mod progress;
mod remote;
mod setups;

use crate::interrupt::Interrupt;
use crate::models::{self, Given, Manner};
use crate::terminal::Terminal;
use crate::{INTERRUPTED, Trouble, UNUSABLE, VIOLATED, files};
use args::{Explore, Fairness, How, Mailboxes, SearchArgs, SetupArgs};
use invigil_explore::fair::Strength;
use invigil_explore::scheduled::{Filter, Scheduler, Setup};
use invigil_explore::{Bitstate, Fingerprint, Limits, Swarm, Walks};
use invigil_expr::diag::nearest;
use invigil_lang::model::What;
use invigil_lang::report::render;
use invigil_model::Model;
use invigil_verify::{Answer, Claim, Claimed, Report, Task, answer};
use progress::Progress;
use std::process::ExitCode;
use std::time::{Duration, Instant};

pub(crate) fn run(args: &Explore, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    if let Some(address) = crate::remote::address(&args.model) {
        return remote::run(&address?, args, terminal);
    }
    let text = files::read(&args.model, "model")?;
    let interrupt = Interrupt::listen();
    let progress = Progress::new(&interrupt, terminal.is_watched() && !args.quiet);
    let name = args.model.display().to_string();
    if args.setups {
        let table = setups::table(args, &text, &progress, terminal)?;
        progress.clear();
        terminal.print(&table.text(&name, &terminal.style))?;
        return Ok(ExitCode::from(if interrupt.is_set() { INTERRUPTED } else { 0 }));
    }
    let asked = Asked::read(args, &text, args.setup.mailboxes, terminal)?;
    asked.warn(args, terminal);
    let task = Task { setup: setup(&asked.given.loaded.model, &args.setup)?, ..asked.task(args) };
    let started = Instant::now();
    let found = answer(&task, &progress);
    progress.clear();
    let report = Report { answer: &found, file: &name, elapsed: started.elapsed() };
    if args.json {
        terminal.print(&report.json())?;
    } else if !args.quiet {
        terminal.print(&report.text(&terminal.style))?;
    }
    if let (Some(path), Some((_, story))) = (&args.trace, report.counterexamples().first()) {
        files::write(path, &story.trace(), terminal)?;
    }
    Ok(ExitCode::from(status(&found, &interrupt)))
}

/// A model, and all that is claimed about it.
struct Asked {
    given: Given,
    properties: crate::load::Loaded,
}

impl Asked {
    fn read(
        args: &Explore,
        text: &str,
        mailboxes: Option<Mailboxes>,
        terminal: &Terminal,
    ) -> Result<Asked, Trouble> {
        let colour = terminal.errors.colour;
        let manner = Manner { wraps: args.wrap, mailboxes: mailboxes.map(Mailboxes::kind) };
        let mut given = models::of_text(&args.model, text, manner, colour)?;
        let automata = given.claim(&args.properties, &args.always, colour)?;
        given.claim_never(&args.never, colour)?;
        let properties = crate::load::load(&automata, &args.functions, colour)?;
        Ok(Asked { given, properties })
    }

    fn warn(&self, args: &Explore, terminal: &Terminal) {
        if args.quiet {
            return;
        }
        warn(&self.given, terminal);
        if !self.properties.warnings.is_empty() {
            terminal.complain(&(self.properties.warnings(terminal.errors.colour) + "\n"));
        }
    }

    /// What is to be found out, without a scheduler.
    fn task(&self, args: &Explore) -> Task<'_> {
        let monitors = self
            .properties
            .automata
            .iter()
            .map(|automaton| Claim { name: automaton.name.clone(), what: Claimed::Monitor(automaton) });
        Task {
            claims: claims(&self.given).into_iter().chain(monitors).collect(),
            deadlocks: !args.may_end,
            fairness: args.fair.map(|how| match how {
                Fairness::Weak => Strength::Weak,
                Fairness::Strong => Strength::Strong,
            }),
            reduces: args.reduce,
            manner: manner(&args.search),
            threads: threads(&args.search),
            limits: limits(&args.search),
            whole: args.full || args.setups,
            ..Task::new(&self.given.loaded.model, &self.properties.catalog)
        }
    }
}

fn status(answer: &Answer, interrupt: &Interrupt) -> u8 {
    if answer.is_violated() {
        VIOLATED
    } else if interrupt.is_set() {
        INTERRUPTED
    } else if answer.is_open() {
        UNUSABLE
    } else {
        0
    }
}

/// Shows what is odd about a model.
pub(crate) fn warn(given: &Given, terminal: &Terminal) {
    if !given.warnings.is_empty() {
        terminal.complain(&(render(&given.sources, &given.warnings, terminal.errors.colour) + "\n"));
    }
}

/// The claims of a model's file and of the command line.
pub(crate) fn claims(given: &Given) -> Vec<Claim<'_>> {
    let claim = |claim: &'_ invigil_lang::model::Claim| -> String { claim.name.clone() };
    given
        .loaded
        .claims
        .iter()
        .map(|of| Claim {
            name: claim(of),
            what: match &of.what {
                What::Always(expression) => Claimed::Always(expression),
                What::Never(omega) => Claimed::Never(omega),
            },
        })
        .collect()
}

/// The scheduler and the filters that were asked for.
pub(crate) fn setup(model: &Model, args: &SetupArgs) -> Result<Setup, Trouble> {
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
        Some((_, Some(("random", seed)))) => Some(Scheduler::Random(
            seed.parse()
                .map_err(|_| Trouble::new(format_args!("`{seed}` is no seed; give a number: `random:7`")))?,
        )),
        Some((text, _)) => {
            return Err(Trouble::new(format_args!(
                "there is no scheduler `{text}`; there are `priority`, `priority:A,B`, `round-robin` and `random:SEED`"
            )));
        }
    };
    let filters = [(args.reactive, Filter::Reactive), (args.faultless, Filter::Faultless)];
    let filters = filters.into_iter().filter(|(wanted, _)| *wanted).map(|(_, filter)| filter).collect();
    Ok(Setup { scheduler, filters })
}

fn process(model: &Model, name: &str) -> Result<u32, Trouble> {
    let processes = &model.parts().processes;
    let found = (0..).zip(processes).find(|(_, process)| process.name == name).map(|(number, _)| number);
    found.ok_or_else(|| {
        let names = processes.iter().map(|process| process.name.as_str());
        let hint = nearest(name, names).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        Trouble::new(format_args!("the model has no process `{name}`{hint}"))
    })
}

fn manner(args: &SearchArgs) -> invigil_verify::Manner {
    let (bytes, seed, runs) = (args.table, args.seed, args.runs);
    let bits = Bitstate { bytes, seed, ..Bitstate::default() };
    match args.search {
        How::Breadth => invigil_verify::Manner::Breadth,
        How::Depth => invigil_verify::Manner::Depth,
        How::Walk => invigil_verify::Manner::Walk(Walks {
            seed,
            walks: runs,
            steps: args.max_depth.unwrap_or(LONGEST_WALK),
        }),
        How::Compact => invigil_verify::Manner::Compact { kept: Fingerprint::Bits40, bytes },
        How::Bitstate => invigil_verify::Manner::Bitstate(bits),
        How::Swarm => invigil_verify::Manner::Swarm(Swarm { runs, bytes, seed, hashes: bits.hashes }),
    }
}

/// How far a walk goes if nobody says.
const LONGEST_WALK: u64 = 10_000;

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

/// Three quarters of the memory that is free: a search that takes it all ends in the hands of the system.
fn free_memory() -> Option<u64> {
    let told = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = told.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 768)
}
