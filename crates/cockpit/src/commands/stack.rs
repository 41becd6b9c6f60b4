//! The stack and the threads.

use super::number;
use crate::command::{Arguments, Command, CommandContext, CommandResult, CommandTopic};
use crate::render::{columns, frame, stop};

/// Default maximum number of frames.
const DEFAULT_FRAMES: usize = 64;

pub(crate) const TABLE: &[Command] = &[
    Command::new(CommandTopic::Program, "backtrace", "[N|full]", "Show the call stack", backtrace)
        .aliases(&["bt", "where"])
        .more("  where         the frames up to `main`\n  where 3       the three innermost\n  where full    all frames with their local variables"),
    Command::new(CommandTopic::Program, "frame", "[N]", "Select a frame, or show the selected one", select)
        .aliases(&["f"])
        .more("Expressions are evaluated in the selected frame. The innermost frame is 0."),
    Command::new(CommandTopic::Program, "up", "[N]", "Select the calling frame", up).repeats("up"),
    Command::new(CommandTopic::Program, "down", "[N]", "Select the called frame", down).repeats("down"),
    Command::new(CommandTopic::Program, "thread", "[N]", "Select a thread, or show all", thread)
        .aliases(&["t"])
        .more("  thread          all threads\n  thread 2        the second of them\n  thread 12345    the thread with this system thread id"),
];

fn backtrace(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let style = context.repl.style;
    if arguments.rest == "full" {
        return full_backtrace(context);
    }
    let limit = if arguments.rest.is_empty() {
        DEFAULT_FRAMES
    } else {
        number(arguments.rest, "a number of frames or `full`")?
    };
    let target = context.session.target();
    let selected = target.selected_frame();
    // One more frame, to detect that the list is truncated.
    let mut frames = target.frames(limit.saturating_add(1))?;
    let shown =
        if arguments.rest.is_empty() { frame::up_to_main(frames.iter()).max(selected + 1) } else { limit };
    // The callers of `main` belong to the runtime system: they are shown on request only.
    let ends_at_main = frames.get(shown.saturating_sub(1)).is_some_and(|frame| frame.function == "main");
    let more = frames.len() > shown.min(limit) && !ends_at_main;
    frames.truncate(shown.min(limit));
    let rest = if more { "  … (more frames; specify a number to show them)\n" } else { "" };
    Ok(frame::render_stack(&frames, selected, &style) + rest)
}

fn full_backtrace(context: &mut CommandContext<'_>) -> CommandResult {
    let style = context.repl.style;
    let mut out = String::new();
    for (depth, reported) in context.session.stack().iter().enumerate() {
        out.push_str(&format!("#{depth} {}\n", frame::render_frame(&reported.frame, &style)));
        out.push_str(&frame::render_variables(&reported.locals, "     "));
    }
    Ok(out)
}

fn select(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    if !arguments.rest.is_empty() {
        let depth = number(arguments.rest, "a frame number")?;
        context.session.target().select_frame(depth)?;
    }
    render_selected_frame(context)
}

/// Renders the location of the selected frame.
fn render_selected_frame(context: &mut CommandContext<'_>) -> CommandResult {
    let depth = context.session.target().selected_frame();
    let location = stop::render_location(context, false);
    Ok(format!("#{depth} {location}"))
}

fn up(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let by = super::repeat_count(arguments.rest)? as usize;
    let depth = context.session.target().selected_frame();
    context.session.target().select_frame(depth.saturating_add(by))?;
    render_selected_frame(context)
}

fn down(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let by = super::repeat_count(arguments.rest)? as usize;
    let depth = context.session.target().selected_frame();
    if depth == 0 {
        return Err("already at the innermost frame".into());
    }
    context.session.target().select_frame(depth.saturating_sub(by))?;
    render_selected_frame(context)
}

fn thread(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    if arguments.rest.is_empty() {
        return Ok(threads(context));
    }
    let number: u32 = number(arguments.rest, "a thread number")?;
    let threads = context.session.target().threads();
    let by_id = threads.iter().find(|thread| thread.id == number);
    let by_position = (number as usize).checked_sub(1).and_then(|at| threads.get(at));
    let Some(thread) = by_id.or(by_position) else {
        return Err(format!("no thread {number}; `thread` lists all").into());
    };
    context.session.target().select_thread(thread.id)?;
    let location = stop::render_location(context, false);
    Ok(format!("Thread {} ({})\n{location}", thread.id, thread.name))
}

/// Renders all threads as a table.
pub(super) fn threads(context: &mut CommandContext<'_>) -> String {
    let threads = context.session.target().threads();
    let rows: Vec<Vec<String>> = threads
        .iter()
        .enumerate()
        .map(|(at, thread)| {
            let mark = if thread.selected { '>' } else { ' ' };
            vec![
                format!("{mark} {}", at + 1),
                thread.id.to_string(),
                thread.name.clone(),
                thread.location.clone(),
            ]
        })
        .collect();
    if rows.is_empty() { "No threads.\n".to_owned() } else { columns(&rows) }
}

/// Describes the selected frame, for `info frame`.
pub(super) fn describe_frame(context: &mut CommandContext<'_>) -> CommandResult {
    let target = context.session.target();
    let depth = target.selected_frame();
    let frames = target.frames(depth + 2)?;
    let Some(selected) = frames.get(depth) else { return Err("no frame is selected".into()) };
    let style = context.repl.style;
    let mut out =
        format!("#{depth} {}\n  at address {:#x}\n", frame::render_frame(selected, &style), selected.address);
    if let Some(line) = &selected.line {
        out.push_str(&format!("  source {}:{}\n", line.file.display(), line.line));
    }
    if let Some(caller) = frames.get(depth + 1) {
        out.push_str(&format!("  called by {}\n", frame::render_frame(caller, &style)));
    }
    Ok(out)
}
