//! `invigil explore` on a remote language: counts, deadlocks, faults, and claims that an expression never holds.

use super::args::Explore;
use super::progress::Progress;
use super::{limits, status, strategy};
use crate::interrupt::InterruptFlag;
use crate::terminal::Terminal;
use crate::{CliError, SUBJECT_FAILED, VIOLATED, files, remote};
use invigil_explore::{
    Finding, FindingKind, FindingKinds, Incomplete, Path, ProgressListener, SearchOptions, Totals,
};
use invigil_remote::{Address, Remote, RemoteAction, RemoteConfig, RemoteSpace};
use invigil_semantics::{Describe, Step};
use invigil_verify::{
    ClaimResult, ExecutionEnd, ExecutionTrace, TraceStep, VariableChange, Verdict, VerifyReport, VerifyResult,
};
use serde_json::Value;
use std::process::ExitCode;
use std::time::Instant;

pub(super) fn run(address: &Address, args: &Explore, terminal: &Terminal) -> Result<ExitCode, CliError> {
    reject_model_options(args)?;
    let interrupt = InterruptFlag::install();
    let progress = Progress::new(&interrupt, terminal.is_stderr_terminal() && !args.quiet);
    let remote = remote::start(address, &args.remote)?;
    if !args.never.is_empty() && !remote.supports("evaluate") {
        let message =
            format_args!("the language `{}` cannot evaluate expressions; omit `--never`", remote.name());
        return Err(CliError::new(message));
    }
    let started = Instant::now();
    let result = explore_remote(&remote, args, &progress);
    progress.clear();
    let name = args.model.display().to_string();
    let report = VerifyReport { result: &result, file: &name, elapsed: started.elapsed() };
    if args.json {
        terminal.print(&report.json())?;
    } else if !args.quiet {
        terminal.print(&report.text(&terminal.style))?;
    }
    if let (Some(path), Some((_, trace))) = (&args.trace, report.counterexamples().first()) {
        files::write(path, &trace.to_json_lines(), terminal)?;
    }
    let Some(failure) = remote.error() else {
        return Ok(ExitCode::from(status(&result, &interrupt)));
    };
    let status = if result.is_violated() { VIOLATED } else { SUBJECT_FAILED };
    Err(CliError { status, ..CliError::new(failure.incomplete_note()) })
}

/// Rejects options that apply to models only.
fn reject_model_options(args: &Explore) -> Result<(), CliError> {
    let options = [
        (!args.properties.is_empty(), "--property"),
        (!args.functions.is_empty(), "--functions"),
        (args.fair.is_some(), "--fair"),
        (args.reduce, "--reduce"),
        (args.setup.scheduler.is_some(), "--scheduler"),
        (args.setup.reactive, "--reactive"),
        (args.setup.faultless, "--faultless"),
        (args.setup.mailboxes.is_some(), "--mailboxes"),
        (args.all_setups, "--setups"),
        (args.wrap, "--wrap"),
    ];
    if let Some((_, option)) = options.iter().find(|(is_given, _)| *is_given) {
        let advice =
            if *option == "--property" { "; for claims on them, use `--never EXPRESSION`" } else { "" };
        return Err(CliError::new(format_args!(
            "`{option}` applies to models only, not to remote languages{advice}"
        )));
    }
    if !args.always.is_empty() {
        return Err(CliError::new(
            "`--always` applies to models only; for a remote language, use `--never` with the negated expression",
        ));
    }
    Ok(())
}

/// Searches repeatedly until all claims, deadlocks and faults are decided.
fn explore_remote(remote: &Remote, args: &Explore, progress: &impl ProgressListener) -> VerifyResult {
    let mut results: Vec<Option<(ClaimResult, Totals)>> = args.never.iter().map(|_| None).collect();
    let mut kinds = FindingKinds { deadlocks: !args.ignore_deadlocks, bad: true, faults: true };
    let mut model_errors = Vec::new();
    let (limits, since) = (limits(&args.search), Instant::now());
    loop {
        let open: Vec<usize> = (0..results.len()).filter(|at| results[*at].is_none()).collect();
        let bad = open.iter().map(|at| args.never[*at].clone()).collect();
        // The connection serves one request at a time, so more threads would only wait.
        let search = SearchOptions {
            threads: 1,
            limits: limits.remaining(since),
            kinds,
            max_findings: 1,
            exhaustive: args.full,
        };
        let report = strategy(&args.search).search(&RemoteSpace::new(remote, bad), &search, progress);
        let found = report.findings.into_iter().next();
        match &found {
            None => {
                let result_if_not_found = match (report.incomplete, report.certainty) {
                    _ if remote.error().is_some() => ClaimResult::Unknown(Some(Incomplete::Failed)),
                    (None, invigil_explore::Certainty::Exact) => ClaimResult::Holds,
                    (why, _) => ClaimResult::Unknown(why),
                };
                open.iter().for_each(|at| results[*at] = Some((result_if_not_found.clone(), report.totals)));
            }
            Some(Finding { kind: FindingKind::Bad, path }) => {
                for at in &open {
                    let outcome = result_at_end(remote, &args.never[*at], path);
                    results[*at] = outcome.map(|outcome| (outcome, report.totals));
                }
                if open.iter().all(|at| results[*at].is_none()) {
                    // Another search would find the same step again.
                    let reason = "the server reports a step as bad, but the expression is false there";
                    let contradiction = ClaimResult::Undecidable(reason.to_owned());
                    open.iter().for_each(|at| results[*at] = Some((contradiction.clone(), report.totals)));
                }
            }
            Some(Finding { kind, path }) => {
                let mut execution = execution_trace(remote, path);
                match kind {
                    FindingKind::Deadlock => {
                        (kinds.deadlocks, execution.ending) = (false, ExecutionEnd::Deadlock)
                    }
                    _ => kinds.faults = false,
                }
                model_errors.push(invigil_verify::ModelError { kind: *kind, execution });
            }
        }
        let is_open = kinds.deadlocks || kinds.faults || results.iter().any(Option::is_none);
        if found.is_none() || remote.error().is_some() || !is_open {
            let verdict = |(text, result): (&String, Option<(ClaimResult, Totals)>)| {
                let unanswered = || (ClaimResult::Unknown(Some(Incomplete::Failed)), report.totals);
                let (result, totals) = result.unwrap_or_else(unanswered);
                Verdict { name: format!("never {text}"), result, totals, reduction: None }
            };
            return VerifyResult {
                totals: report.totals,
                incomplete: report.incomplete.or(remote.error().map(|_| Incomplete::Failed)),
                certainty: report.certainty,
                interpretation_reason: None,
                reduction: None,
                model_errors,
                verdicts: args.never.iter().zip(results).map(verdict).collect(),
            };
        }
    }
}

/// The result for a `--never` claim on the last step of a path. `None` if the expression is false there, or the server
/// failed.
fn result_at_end(remote: &Remote, expression: &str, path: &Path) -> Option<ClaimResult> {
    let config = |at: usize| remote.config_by_number(path.states.get(at)?[0]);
    let last = path.states.len().checked_sub(1)?;
    let source = last.checked_sub(1).and_then(config);
    let action = path.actions.last().and_then(|number| remote.action(*number));
    let step = Step { source: source.as_ref(), action: action.as_ref(), target: &config(last)? };
    match remote.values_from_start(expression, &[step]).pop()? {
        Ok(false) => None,
        Ok(true) => Some(ClaimResult::Violated(execution_trace(remote, path))),
        Err(_) if remote.error().is_some() => None,
        Err(why) => Some(ClaimResult::Undecidable(format!("the expression has no value: {why}"))),
    }
}

/// A path as an execution, described by the remote language.
fn execution_trace(remote: &Remote, path: &Path) -> ExecutionTrace {
    let mut steps: Vec<TraceStep> = Vec::new();
    for (at, state_words) in path.states.iter().enumerate() {
        let action = at.checked_sub(1).and_then(|before| remote.action(*path.actions.get(before)?));
        let state =
            remote.config_by_number(state_words[0]).map(|config| fields(remote, config)).unwrap_or_default();
        let before = steps.last().map_or(&[][..], |step| &step.state);
        // Compares fields pairwise: all configurations have the same fields.
        let changes = before.iter().zip(&state).filter(|(before, after)| before != after).map(changed);
        let (changes, action) = (changes.collect(), action.map(|action| remote.describe_action(&action)));
        steps.push(TraceStep { action, event: None, state, changes });
    }
    let faulty_action = path.fault.and_then(|number| remote.action(number));
    let ending = match (faulty_action, path.states.last()) {
        (Some(action), Some(last)) => fault(remote, action, last[0]),
        _ => ExecutionEnd::LastStep,
    };
    ExecutionTrace { steps, ending }
}

fn fields(remote: &Remote, config: RemoteConfig) -> Vec<(String, Value)> {
    let fields = remote.describe_config(&config);
    fields.iter().map(|field| (field.name.clone(), Value::String(field.value.clone()))).collect()
}

/// Converts a field that differs to a `VariableChange`.
fn changed((before, after): (&(String, Value), &(String, Value))) -> VariableChange {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    VariableChange { name: after.0.clone(), before: text(&before.1), after: text(&after.1) }
}

fn fault(remote: &Remote, action: RemoteAction, last: u64) -> ExecutionEnd {
    let steps = remote.config_by_number(last).map(|last| remote.steps_of(&[last])).unwrap_or_default();
    let mut faults = steps.into_iter().flatten().filter(|(by, _)| *by == action);
    let reason = faults.find_map(|(_, target)| remote.fault(target)).unwrap_or_default();
    ExecutionEnd::Fault { action: remote.describe_action(&action), reason }
}
