//! `run` and `attach` without a prompt: the program or a file of commands runs, then a report is printed.

use super::args::OnViolation;
use super::{RunningSession, status};
use invigil_check::report::Paint;
use invigil_cockpit::prompt::PROMPT;
use invigil_cockpit::report::{Crash, RunReport};
use invigil_session::{RunOutcome, SuspendReason};
use invigil_target::ResumeMode;

/// Result of a batch run, in addition to the session's report.
#[derive(Default)]
struct BatchOutcome {
    crash: Option<Crash>,
    /// Why the run ended before the program did.
    early_end_reason: Option<String>,
    interrupted: bool,
    /// Errors in the user's files and commands.
    errors: Vec<String>,
    /// Why the program could not be resumed.
    target_error: Option<String>,
}

/// Runs the program, or the commands, and reports.
pub(super) fn run(running: &mut RunningSession<'_>, commands: Option<Vec<String>>) -> u8 {
    let mut batch = BatchOutcome::default();
    match commands {
        Some(commands) => {
            run_commands(running, &commands, &mut batch);
            print_unless_quiet(running, "\n");
        }
        None => run_to_end(running, &mut batch),
    }
    let is_alive = running.debugger.session().is_running();
    if is_alive && batch.early_end_reason.is_none() {
        let why = match (batch.interrupted, &batch.target_error) {
            (true, _) => "Interrupted.",
            (_, Some(_)) => "The program could not be resumed.",
            (_, None) => "The commands ended before the program.",
        };
        batch.early_end_reason = Some(why.to_owned());
    }
    if is_alive && let Some(why) = &mut batch.early_end_reason {
        why.push_str(if running.terminates_program {
            " The program was terminated."
        } else {
            " The program continues to run."
        });
    }
    report(running, &batch)
}

/// Runs commands and prints their results to standard error.
fn run_commands(running: &mut RunningSession<'_>, commands: &[String], batch: &mut BatchOutcome) {
    if let Some(outcome) = running.outcome.take() {
        let text = running.debugger.render_outcome(&outcome);
        print_unless_quiet(running, &text);
    }
    for (at, line) in commands.iter().enumerate() {
        // At a prompt, an empty line may repeat the last command; in a file, it only separates commands.
        if line.trim().is_empty() {
            continue;
        }
        if line.starts_with('#') {
            print_unless_quiet(running, &format!("\n{line}"));
        } else {
            print_unless_quiet(running, &format!("{}{line}", running.style.paint(Paint::Title, PROMPT)));
        }
        match running.debugger.run(line) {
            Ok(text) => print_unless_quiet(running, &text),
            Err(message) => {
                let file =
                    running.args.commands.as_ref().map_or(String::new(), |path| path.display().to_string());
                batch.errors.push(format!("{file}:{}: `{}`: {message}", at + 1, line.trim()));
                batch.early_end_reason = Some("A command failed.".to_owned());
                return;
            }
        }
        if running.interrupt.was_interrupted() {
            batch.interrupted = true;
            return;
        }
        if running.debugger.has_quit() {
            return;
        }
    }
}

fn print_unless_quiet(running: &RunningSession<'_>, text: &str) {
    if !running.args.quiet && !text.is_empty() {
        running.terminal.eprint(text.trim_end());
    }
}

/// Runs the program until it ends or stops for a reason to report.
fn run_to_end(running: &mut RunningSession<'_>, batch: &mut BatchOutcome) {
    let mut outcome = running.outcome.take();
    loop {
        let stopped = match outcome.take() {
            Some(outcome) => outcome,
            None => match running.debugger.resume(&ResumeMode::Continue) {
                Ok(outcome) => outcome,
                Err(error) => {
                    batch.target_error = Some(error.to_string());
                    return;
                }
            },
        };
        match stopped {
            RunOutcome::Suspended(reasons) => {
                if reasons.iter().any(is_failure) {
                    let text = running.debugger.render_outcome(&RunOutcome::Suspended(reasons));
                    batch.errors.push(text.trim_end().to_owned());
                    batch.early_end_reason = Some("A block failed.".to_owned());
                    return;
                }
                if running.args.on_violation == OnViolation::Stop {
                    let place = match reasons.iter().any(is_violation) {
                        true => "at the violation",
                        false => "by the scenario",
                    };
                    batch.early_end_reason = Some(format!("Stopped {place}."));
                    return;
                }
            }
            RunOutcome::Signal { name, detail } => {
                let session = running.debugger.session();
                let (thread, stack) = (session.target().current_thread(), session.stack());
                batch.crash = Some(Crash { signal: name, detail, thread, stack });
            }
            RunOutcome::Interrupted => {
                batch.interrupted = true;
                batch.early_end_reason = Some("Interrupted.".to_owned());
                return;
            }
            RunOutcome::Ended(_) => {
                if running.debugger.session().monitors_lost() {
                    let text = "the program exited together with its embedded monitors, so its last events are unknown; with `--record` \
                                 every event is reported as it occurs";
                    batch.errors.push(text.to_owned());
                }
                return;
            }
            RunOutcome::KilledOnRequest => {
                batch.early_end_reason = Some("The scenario terminated the program.".to_owned());
                return;
            }
            RunOutcome::Breakpoints(_) | RunOutcome::Stepped { .. } => {}
        }
    }
}

fn is_failure(reason: &SuspendReason) -> bool {
    matches!(reason, SuspendReason::PropertyFailed { .. } | SuspendReason::ScenarioFailed { .. })
}

fn is_violation(reason: &SuspendReason) -> bool {
    matches!(reason, SuspendReason::StateChange(change) if change.is_violation)
}

fn report(running: &mut RunningSession<'_>, batch: &BatchOutcome) -> u8 {
    let report = running.debugger.session().report();
    let report = RunReport {
        report: &report,
        loaded: running.debugger.loaded(),
        crash: batch.crash.as_ref(),
        early_end_reason: batch.early_end_reason.as_deref(),
        errors: &batch.errors,
    };
    let (violations, mut has_errors) = (report.violation_count(), !batch.errors.is_empty());
    if running.args.json {
        if let Err(error) = running.terminal.print(&report.json()) {
            running.terminal.error(&error.message);
            has_errors = true;
        }
    } else if !running.args.quiet {
        running.terminal.eprint(report.text(&running.style).trim_end());
    }
    for error in &batch.errors {
        match error.starts_with("error") {
            true => running.terminal.eprint(error),
            false => running.terminal.error(error),
        }
    }
    if let Some(error) = &batch.target_error {
        running.terminal.error(error);
    }
    status(violations, batch.interrupted, has_errors, batch.target_error.is_some())
}
