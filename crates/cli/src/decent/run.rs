//! `invigil decent run`: runs the monitors on recorded or live observations.

use super::args::Run as Args;
use super::black_boxes;
use super::inputs::Observations;
use super::loaded_spec::{LoadedSpec, SpecKind};
use super::peers::STOPPED;
use crate::terminal::Terminal;
use crate::{CliError, INTERRUPTED, VIOLATED};
use invigil_decent::algorithm::{Algorithm, MonitorSet};
use invigil_decent::encoding::{Encoding, Expressions, Quick, States};
use invigil_decent::metrics::Metrics;
use invigil_decent::simulate::{Conditions, SimulationResult};
use invigil_decent::system::System;
use invigil_lab::experiment::EncodingKind;
use invigil_lab::inputs::{LiveInputs, TraceFolder};
use invigil_ltl::moore::Truth;
use invigil_ltl::{Budget, Logic};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::ExitCode;

/// The runs of one algorithm.
struct AlgorithmRuns {
    algorithm: &'static str,
    monitors: usize,
    runs: Vec<(SimulationResult, Metrics)>,
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<ExitCode, CliError> {
    let folder = args.observed.traces.as_deref().map(TraceFolder::open).transpose().map_err(CliError::new)?;
    let spec = LoadedSpec::load(&args.spec_args, folder.as_ref().map(|folder| &folder.system), terminal)?;
    let boxes = black_boxes::load_all(&spec, &args.spec_args.spec, terminal)?;
    let keeps_observations = args.algorithm.as_ref().is_some_and(|chosen| chosen.0.len() > 1);
    let mut source = args.observed.open(folder, &spec.system, boxes, keeps_observations, terminal)?;
    let results = match args.encoding {
        EncodingKind::Expressions => run_algorithms::<Expressions>(args, &spec, &mut source, terminal),
        EncodingKind::Quick => run_algorithms::<Expressions<Quick>>(args, &spec, &mut source, terminal),
        EncodingKind::States => run_algorithms::<States>(args, &spec, &mut source, terminal),
    }?;
    if let Observations::Live(live) = &source {
        report_endings(live, &spec.system, terminal)?;
    }
    terminal.print(&if args.json { as_json(args, &results) } else { as_text(args, &spec, &results) })?;
    let is_violated =
        results.iter().flat_map(|ran| &ran.runs).any(|(outcome, _)| outcome.verdict == Truth::False);
    Ok(if is_violated { ExitCode::from(VIOLATED) } else { ExitCode::SUCCESS })
}

/// Prints how live inputs ended, and returns their error.
fn report_endings(live: &LiveInputs, system: &System, terminal: &Terminal) -> Result<(), CliError> {
    for (id, rounds, text) in live.endings() {
        let rounds = counted(rounds as usize, "round");
        terminal.eprint(&format!("note: {}: {text}, after {rounds}", system.component_name(id)));
    }
    match live.error() {
        Some(error) if error.message == STOPPED => {
            Err(CliError { status: INTERRUPTED, ..CliError::new(error) })
        }
        Some(error) => Err(CliError::new(error)),
        None => Ok(()),
    }
}

fn run_algorithms<E: Encoding>(
    args: &Args,
    spec: &LoadedSpec,
    source: &mut Observations,
    terminal: &Terminal,
) -> Result<Vec<AlgorithmRuns>, CliError> {
    let prepared: Vec<(&'static str, MonitorSet<E>)> = match &spec.kind {
        SpecKind::Specification(loaded) => {
            if args.algorithm.is_some() {
                return Err(CliError::new(
                    "--algorithm applies to formulae only: the monitors of a specification are already placed; omit it",
                ));
            }
            let network = spec.network(loaded, terminal)?;
            vec![("as specified", MonitorSet::network(&network).map_err(CliError::new)?)]
        }
        SpecKind::Formula(tree) => {
            let chosen = args.algorithm.as_ref().map_or(&[Algorithm::Abridged][..], |chosen| &chosen.0);
            let prepare = |choice: &Algorithm| {
                let mut logic = Logic::new(Budget::default());
                let formula = logic.formulae.lower(tree).map_err(CliError::new)?;
                let prepared = MonitorSet::new(*choice, &mut logic, formula, &spec.system);
                Ok((
                    choice.name(),
                    prepared.map_err(|error| CliError::new(format_args!("{choice}: {error}")))?,
                ))
            };
            chosen.iter().map(prepare).collect::<Result<_, CliError>>()?
        }
    };
    let network_args = &args.conditions;
    let conditions = Conditions {
        latency: network_args.latency,
        jitter: network_args.jitter,
        loss: network_args.loss,
        duplication: network_args.duplication,
        shuffle: network_args.shuffle,
        relay: network_args.relay,
        seed: network_args.seed,
        ..Conditions::default()
    };
    let run = |(algorithm, prepared): (&'static str, MonitorSet<E>)| {
        let mut runs = Vec::new();
        let done = match source {
            Observations::Recorded(traces) => {
                let each = |outcome, figures| runs.push((outcome, figures));
                prepared.run(&spec.system, conditions, &*traces, each)
            }
            Observations::Live(live) => {
                let ran = prepared.observe(&spec.system, conditions, &mut **live);
                ran.map(|ran| runs.push(ran))
            }
        };
        done.map_err(|unlinked| CliError::new(format_args!("{unlinked}; see `--relay`")))?;
        Ok(AlgorithmRuns { algorithm, monitors: prepared.monitor_count(), runs })
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

fn as_text(args: &Args, spec: &LoadedSpec, all: &[AlgorithmRuns]) -> String {
    let mut out = String::new();
    let components = spec.system.components().len();
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
            let found = match outcome.verdict_origin {
                Some((at, _)) => format!("at instant {at}, reached in round {}", outcome.rounds),
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

fn as_json(args: &Args, all: &[AlgorithmRuns]) -> String {
    let run = |(number, (outcome, figures)): (usize, &(SimulationResult, Metrics))| {
        let mut run = serde_json::Map::new();
        run.insert("run".into(), json!(args.observed.run.unwrap_or(number)));
        run.insert("verdict".into(), json!(word(outcome.verdict)));
        run.insert("instant".into(), json!(outcome.verdict_origin.map(|(at, _)| at)));
        run.extend(figures.named().map(|(name, value)| (name.to_owned(), json!(value))));
        Value::Object(run)
    };
    let ran = |ran: &AlgorithmRuns| {
        json!({
            "algorithm": ran.algorithm,
            "encoding": args.encoding.name(),
            "monitors": ran.monitors,
            "runs": ran.runs.iter().enumerate().map(run).collect::<Vec<_>>(),
        })
    };
    format!("{:#}\n", Value::Array(all.iter().map(ran).collect()))
}
