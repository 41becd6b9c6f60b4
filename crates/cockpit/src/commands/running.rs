//! Running and stepping the target.

use super::breakpoints::restore_breakpoints;
use super::{no_arguments, repeat_count, required};
use crate::command::{ArgumentKind, Arguments, Command, CommandContext, CommandResult, CommandTopic};
use crate::command_error::CommandError;
use crate::render::stop;
use crate::start::open;
use invigil_session::RunOutcome;
use invigil_target::ResumeMode;

pub(crate) const TABLE: &[Command] = &[
    Command::new(CommandTopic::Running, "run", "", "Run the program from its start", run)
        .aliases(&["r", "run-with-program"])
        .more("If the program has already run, it is killed and restarted with the same properties. Your breakpoints are set\nagain; watchpoints on lvalues that do not exist at the start are lost. A process to which you attached cannot be\nrestarted."),
    Command::new(CommandTopic::Running, "continue", "[N]", "Resume the program until the next stop", continue_)
        .aliases(&["c", "cont"])
        .more("With a number N, the first N-1 breakpoint hits are skipped.\n\n  continue      until a property, a scenario or a breakpoint stops the program\n  continue 3    to the third breakpoint hit"),
    Command::new(CommandTopic::Running, "step", "[N]", "Run to the next source line, stepping into calls", step)
        .aliases(&["s"])
        .repeats("step")
        .more("An empty line steps again.\n\n  step      one line\n  step 5    five lines, or until another stop"),
    Command::new(CommandTopic::Running, "next", "[N]", "Run to the next source line, stepping over calls", next)
        .aliases(&["n"])
        .repeats("next")
        .more("An empty line repeats the command."),
    Command::new(CommandTopic::Running, "stepi", "[N]", "Execute one machine instruction", stepi)
        .aliases(&["si"])
        .repeats("stepi"),
    Command::new(CommandTopic::Running, "finish", "", "Run until the selected frame returns", finish)
        .aliases(&["fin"])
        .more("Shows the returned value, if any."),
    Command::new(CommandTopic::Running, "until", "LOCATION", "Run to a location, or until the frame returns", until)
        .aliases(&["u", "advance"])
        .argument(ArgumentKind::Location)
        .more("  until 32             line 32 of the current file\n  until faulty.c:32\n  until queue_push"),
];

/// Resumes the target up to `times` times, as long as it stops for the expected reason. Renders the last stop.
fn resume(
    context: &mut CommandContext<'_>,
    mode: &ResumeMode,
    times: u64,
    expected: fn(&RunOutcome) -> bool,
) -> CommandResult {
    context.repl.has_run = true;
    let interrupt = context.repl.interrupt.clone();
    let mut last = None;
    for _ in 0..times {
        let session = &mut *context.session;
        let outcome = context.repl.while_running(|| session.run(mode))?;
        let is_continued = expected(&outcome) && !interrupt.was_interrupted();
        last = Some(outcome);
        if !is_continued {
            break;
        }
    }
    Ok(last.map_or(String::new(), |outcome| stop::render_outcome(context, &outcome)))
}

fn is_step(outcome: &RunOutcome) -> bool {
    matches!(outcome, RunOutcome::Stepped { .. })
}

fn is_breakpoint(outcome: &RunOutcome) -> bool {
    matches!(outcome, RunOutcome::Breakpoints(_))
}

fn continue_(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    resume(context, &ResumeMode::Continue, repeat_count(arguments.rest)?, is_breakpoint)
}

fn step(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    resume(context, &ResumeMode::Line, repeat_count(arguments.rest)?, is_step)
}

fn next(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    resume(context, &ResumeMode::NextLine, repeat_count(arguments.rest)?, is_step)
}

fn stepi(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    resume(context, &ResumeMode::Instruction, repeat_count(arguments.rest)?, is_step)
}

fn finish(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    no_arguments(arguments.rest, "finish")?;
    resume(context, &ResumeMode::Finish, 1, is_step)
}

fn until(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let location = required(arguments.rest, "location, as in `until 32` or `until queue_push`")?;
    resume(context, &ResumeMode::Until(location.to_owned()), 1, is_step)
}

fn run(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    no_arguments(arguments.rest, "run")?;
    if !context.repl.has_run && context.session.is_running() {
        return resume(context, &ResumeMode::Continue, 1, is_step);
    }
    if context.repl.is_attached() {
        return Err(match context.session.is_running() {
            true => "an attached process cannot be restarted; `continue` resumes it",
            false => "an attached process cannot be restarted: start it again and use `invigil attach`",
        }
        .into());
    }
    if context.session.is_running() && !context.repl.confirmed {
        context.repl.question = Some("The program is running. Kill it and restart?".to_owned());
        return Ok(String::new());
    }
    let (notes, outcome) = restart_session(context)?;
    match outcome {
        Some(outcome) => Ok(notes + &stop::render_outcome(context, &outcome)),
        None => Ok(notes + &resume(context, &ResumeMode::Continue, 1, is_step)?),
    }
}

/// Kills the target and starts a new session. From an attached process, the debugger detaches and attaches again. If the files are
/// invalid, nothing is changed.
pub(super) fn restart_session(
    context: &mut CommandContext<'_>,
) -> Result<(String, Option<RunOutcome>), CommandError> {
    let Some(config) = &mut context.repl.config else {
        return Err("blocks cannot restart the program".into());
    };
    // Load the files first: if they are invalid, the session continues.
    let loaded = config.factory.load(&config.files)?;
    let warnings = if loaded.warnings.is_empty() { String::new() } else { loaded.warnings.clone() + "\n" };
    let terminated = match (config.attached, context.session.is_running()) {
        (true, true) => context.session.detach(),
        (true, false) => Ok(()),
        (false, _) => context.session.kill(),
    };
    terminated?;
    let breakpoints = context.session.target().breakpoints();
    let started = open(config).map_err(|error| error.message().to_owned())?;
    *context.session = started.session;
    if let Some(console) = &context.repl.console {
        console.reset();
    }
    context.repl.loaded = started.loaded;
    context.repl.has_run = false;
    context.repl.function.clear();
    context.repl.listing = None;
    let notes: String = started.notes.iter().map(|note| format!("note: {note}\n")).collect();
    let lost = restore_breakpoints(context, &breakpoints);
    Ok((warnings + &notes + &lost, started.outcome))
}
