//! `invigil decent run`.

use super::args::Run as Args;
use super::boxes;
use super::listen::STOPPED;
use super::observed::Source;
use super::subject::{Subject, What};
use crate::terminal::Terminal;
use crate::{INTERRUPTED, Trouble, VIOLATED};
use invigil_decent::algorithm::{Choice, Prepared};
use invigil_decent::encoding::{Encoding, Expressions, Quick, States};
use invigil_decent::measure::Figures;
use invigil_decent::simulate::{Conditions, Outcome};
use invigil_decent::system::System;
use invigil_lab::experiment::History;
use invigil_lab::periphery::{Folder, Live};
use invigil_ltl::moore::Truth;
use invigil_ltl::{Budget, Logic};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::ExitCode;

/// The runs of one algorithm.
struct Ran {
    algorithm: &'static str,
    monitors: usize,
    runs: Vec<(Outcome, Figures)>,
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    let folder = args.observed.traces.as_deref().map(Folder::open).transpose().map_err(Trouble::new)?;
    let subject = Subject::load(&args.subject, folder.as_ref().map(|folder| &folder.system), terminal)?;
    let boxes = boxes::load_all(&subject, &args.subject.spec, terminal)?;
    let again = args.algorithm.as_ref().is_some_and(|chosen| chosen.0.len() > 1);
    let mut source = args.observed.open(folder, &subject.system, boxes, again, terminal)?;
    let all = match args.encoding {
        History::Expressions => ran::<Expressions>(args, &subject, &mut source, terminal),
        History::Quick => ran::<Expressions<Quick>>(args, &subject, &mut source, terminal),
        History::States => ran::<States>(args, &subject, &mut source, terminal),
    }?;
    if let Source::Live(live) = &source {
        told(live, &subject.system, terminal)?;
    }
    terminal.print(&if args.json { as_json(args, &all) } else { as_text(args, &subject, &all) })?;
    let is_violated =
        all.iter().flat_map(|ran| &ran.runs).any(|(outcome, _)| outcome.verdict == Truth::False);
    Ok(if is_violated { ExitCode::from(VIOLATED) } else { ExitCode::SUCCESS })
}

/// Tells how live observations ended.
fn told(live: &Live, system: &System, terminal: &Terminal) -> Result<(), Trouble> {
    for (id, rounds, words) in live.endings() {
        let rounds = counted(rounds as usize, "round");
        terminal.complain(&format!("note: {}: {words}, after {rounds}", system.component_name(id)));
    }
    match live.trouble() {
        Some(trouble) if trouble.words == STOPPED => {
            Err(Trouble { status: INTERRUPTED, ..Trouble::new(trouble) })
        }
        Some(trouble) => Err(Trouble::new(trouble)),
        None => Ok(()),
    }
}

fn ran<E: Encoding>(
    args: &Args,
    subject: &Subject,
    source: &mut Source,
    terminal: &Terminal,
) -> Result<Vec<Ran>, Trouble> {
    let prepared: Vec<(&'static str, Prepared<E>)> = match &subject.what {
        What::Specification(loaded) => {
            if args.algorithm.is_some() {
                return Err(Trouble::new(
                    "an algorithm is for a formula: the monitors of a specification run as they are written; \
                     leave --algorithm out",
                ));
            }
            let network = subject.network(loaded, terminal)?;
            vec![("as written", Prepared::network(&network).map_err(Trouble::new)?)]
        }
        What::Formula(tree) => {
            let chosen = args.algorithm.as_ref().map_or(&[Choice::Abridged][..], |chosen| &chosen.0);
            let prepare = |choice: &Choice| {
                let mut logic = Logic::new(Budget::default());
                let formula = logic.formulae.make(tree).map_err(Trouble::new)?;
                let prepared = Prepared::new(*choice, &mut logic, formula, &subject.system);
                Ok((
                    choice.name(),
                    prepared.map_err(|wrong| Trouble::new(format_args!("{choice}: {wrong}")))?,
                ))
            };
            chosen.iter().map(prepare).collect::<Result<_, Trouble>>()?
        }
    };
    let given = &args.conditions;
    let conditions = Conditions {
        latency: given.latency,
        jitter: given.jitter,
        loss: given.loss,
        duplication: given.duplication,
        shuffle: given.shuffle,
        relay: given.relay,
        seed: given.seed,
        ..Conditions::default()
    };
    let run = |(algorithm, prepared): (&'static str, Prepared<E>)| {
        let mut runs = Vec::new();
        let done = match source {
            Source::Recorded(traces) => {
                let each = |outcome, figures| runs.push((outcome, figures));
                prepared.run(&subject.system, conditions, &*traces, each)
            }
            Source::Live(live) => {
                let ran = prepared.observe(&subject.system, conditions, &mut **live);
                ran.map(|ran| runs.push(ran))
            }
        };
        done.map_err(|unlinked| Trouble::new(format_args!("{unlinked} (--relay)")))?;
        Ok(Ran { algorithm, monitors: prepared.monitors(), runs })
    };
    prepared.into_iter().map(run).collect()
}

fn word(truth: Truth) -> &'static str {
    match truth {
        Truth::True => "true",
        Truth::False => "false",
        Truth::Unknown => "unknown",
    }
}

fn as_text(args: &Args, subject: &Subject, all: &[Ran]) -> String {
    let mut out = String::new();
    let components = subject.system.components().len();
    for ran in all {
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "{}: {} on {}",
            ran.algorithm,
            counted(ran.monitors, "monitor"),
            counted(components, "component")
        );
        for (number, (outcome, figures)) in ran.runs.iter().enumerate() {
            let number = args.observed.run.unwrap_or(number);
            let found = match outcome.found {
                Some((at, _)) => format!("at instant {at}, found in round {}", outcome.rounds),
                None => format!("after {} rounds", outcome.rounds),
            };
            let _ = writeln!(
                out,
                "  run {number}: {} {found}; delay {:.2}, {} ({:.2} per round), {} bytes",
                word(outcome.verdict),
                figures.average_delay,
                counted(figures.messages as usize, "message"),
                figures.messages_per_round(),
                figures.data
            );
        }
    }
    out
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn as_json(args: &Args, all: &[Ran]) -> String {
    let run = |(number, (outcome, figures)): (usize, &(Outcome, Figures))| {
        let mut run = serde_json::Map::new();
        run.insert("run".into(), json!(args.observed.run.unwrap_or(number)));
        run.insert("verdict".into(), json!(word(outcome.verdict)));
        run.insert("instant".into(), json!(outcome.found.map(|(at, _)| at)));
        run.extend(figures.named().map(|(name, value)| (name.to_owned(), json!(value))));
        Value::Object(run)
    };
    let ran = |ran: &Ran| {
        json!({
            "algorithm": ran.algorithm,
            "encoding": args.encoding.name(),
            "monitors": ran.monitors,
            "runs": ran.runs.iter().enumerate().map(run).collect::<Vec<_>>(),
        })
    };
    format!("{:#}\n", Value::Array(all.iter().map(ran).collect()))
}
