//! `invigil run MODEL`: prints one execution of a model, with the same semantics as `explore`.

use super::args::Run;
use crate::explore::args::Mailboxes;
use crate::interrupt::InterruptFlag;
use crate::models::{self, ModelOptions};
use crate::terminal::Terminal;
use crate::{CliError, INTERRUPTED, VIOLATED, explore};
use invigil_check::report::{Paint, count};
use invigil_explore::{ProgressListener, Totals};
use invigil_verify::{Claim, ClaimKind, ExecutionEnd, ExecutionTrace, TraceStep, VerifyTask, run};
use std::path::Path;
use std::process::ExitCode;

/// Stops an execution at Ctrl-C.
struct StopOnInterrupt<'a>(&'a InterruptFlag);

impl ProgressListener for StopOnInterrupt<'_> {
    fn progress(&self, _: &Totals) {}

    fn is_stopped(&self) -> bool {
        self.0.is_set()
    }
}

pub(super) fn run_model(args: &Run, path: &Path, terminal: &Terminal) -> Result<ExitCode, CliError> {
    if args.program.len() > 1 {
        return Err(CliError::new("a model takes no arguments; write options before its name"));
    }
    if let Some(file) = &args.monitor.record {
        check_recording_path(file)?;
    }
    let colour = terminal.errors.colour;
    let mut loaded_model = models::load(
        path,
        ModelOptions {
            mailboxes: args.model.setup.mailboxes.map(Mailboxes::kind),
            ..ModelOptions::default()
        },
        colour,
    )?;
    let automata = loaded_model.add_claims(&args.monitor.properties, &[], colour)?;
    let formulae = loaded_model.satisfying_automata(colour)?;
    let properties = crate::load::load(&automata, &args.monitor.functions, colour)?;
    if !args.monitor.quiet {
        explore::warn(&loaded_model, terminal);
    }
    let model = &loaded_model.file.model;
    let monitors = properties
        .automata
        .iter()
        .map(|automaton| Claim { name: automaton.name.clone(), kind: ClaimKind::Monitor(automaton) });
    let task = VerifyTask {
        claims: explore::claims(&loaded_model).into_iter().chain(monitors).collect(),
        scheduling: explore::scheduler_config(model, &args.model.setup)?,
        ..VerifyTask::new(model, &properties.catalog)
    };
    let interrupt = InterruptFlag::install();
    let (mut steps, mut print_error) = (Vec::new(), None);
    let keeps_steps = args.monitor.record.is_some();
    let result = run(
        &task,
        &formulae,
        args.model.seed,
        args.model.steps,
        &StopOnInterrupt(&interrupt),
        &mut |number, step| {
            if !args.monitor.quiet && print_error.is_none() {
                print_error = terminal.print(&line(number, step)).err();
            }
            if keeps_steps {
                steps.push(step.clone());
            }
        },
    );
    if let Some(error) = print_error {
        return Err(error);
    }
    if let Some(file) = &args.monitor.record {
        let trace = ExecutionTrace { steps, ending: result.ending.clone() };
        crate::files::write(file, &trace.to_json_lines(), terminal)?;
    }
    let style = &terminal.style;
    let summary = match &result.ending {
        _ if !result.violated.is_empty() => {
            format!("{} {}", style.paint(Paint::Bad, "violation of"), result.violated.join(", "))
        }
        ExecutionEnd::Fault { action, reason } => format!("{action} raises a fault: {reason}"),
        ExecutionEnd::Deadlock => "deadlock: no step is possible".to_owned(),
        _ => "no claim violated so far".to_owned(),
    };
    if !args.monitor.quiet {
        terminal.print(&format!("after {}: {summary}\n", count(result.steps, "step")))?;
    }
    Ok(ExitCode::from(match &result.ending {
        _ if !result.violated.is_empty() => VIOLATED,
        ExecutionEnd::Fault { .. } => VIOLATED,
        _ if result.is_stopped => INTERRUPTED,
        // A deadlock may be the intended end of the model; `explore` reports deadlocks.
        _ => 0,
    }))
}

/// Rejects the names of files in other trace formats.
fn check_recording_path(file: &Path) -> Result<(), CliError> {
    if file.extension().is_some_and(|extension| extension == "csv" || extension == "trace") {
        return Err(CliError::new(format_args!(
            "{}: a model's execution is written as JSON Lines: name the file *.jsonl",
            file.display()
        )));
    }
    Ok(())
}

fn line(number: u64, step: &TraceStep) -> String {
    let action = step.action.as_deref().unwrap_or("start");
    let line = format!("{number:>6}  {action:<32}  {}", step.details().join(", "));
    line.trim_end().to_owned() + "\n"
}
