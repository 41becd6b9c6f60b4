//! The command `list`.

use crate::command::{ArgumentKind, Arguments, Command, CommandContext, CommandResult, CommandTopic};
use crate::command_error::CommandError;
use crate::render::source;
use crate::repl_state::Listing;
use std::path::PathBuf;

/// Number of lines that `list` shows.
const LINES: u32 = 10;

pub(crate) const TABLE: &[Command] =
    &[Command::new(CommandTopic::Program, "list", "[N|FUNCTION|FILE:N|-]", "Show source lines", list)
        .aliases(&["l"])
        .argument(ArgumentKind::Location)
        .repeats("list")
        .more("  list                 around the current line, then the following lines\n  list 40              around line 40 of the current file\n  list queue_push      around the start of a function\n  list faulty.c:32     around a line of a file\n  list -               the lines before those shown last")];

fn list(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let (file, from) = match (arguments.rest, &context.repl.listing) {
        ("", Some(listing)) => (listing.file.clone(), listing.shown.1),
        ("-", Some(listing)) => {
            if listing.shown.0 <= 1 {
                return Err("already at the start of the file".into());
            }
            let before = listing.shown.0.saturating_sub(LINES).max(1);
            (listing.file.clone(), before)
        }
        ("" | "-", None) => centre_on(context, None)?,
        (location, _) => centre_on(context, Some(location))?,
    };
    let all = source::read(&file)?;
    let count = all.len() as u32 - u32::from(all.last().is_some_and(String::is_empty));
    if from > count {
        return Err(format!("{} has only {count} lines", file.display()).into());
    }
    let to = (from + LINES).min(count + 1);
    let current = current(context).filter(|(at, _)| *at == file).map(|(_, line)| line);
    context.repl.listing = Some(Listing { file, shown: (from, to) });
    Ok(source::render_lines(&all, from, to, current, &context.repl.style))
}

/// Source position of the selected frame.
fn current(context: &mut CommandContext<'_>) -> Option<(PathBuf, u32)> {
    let line = context.session.target().source_line(None).ok()??;
    Some((line.file, line.line))
}

/// The file of a location, and the first line to show so that the location is centred.
fn centre_on(
    context: &mut CommandContext<'_>,
    location: Option<&str>,
) -> Result<(PathBuf, u32), CommandError> {
    let current_file = context.repl.listing.as_ref().map(|listing| listing.file.clone());
    let start = |line: u32| line.saturating_sub(LINES / 2).max(1);
    if let Some(line) = location.and_then(|location| location.parse::<u32>().ok())
        && let Some(file) = current_file.or_else(|| current(context).map(|(file, _)| file))
    {
        return Ok((file, start(line)));
    }
    let line = context.session.target().source_line(location)?;
    match (line, location) {
        (Some(line), _) => Ok((line.file, start(line.line))),
        (None, Some(location)) => {
            Err(format!("no source line for `{location}` in the debug information").into())
        }
        (None, None) => {
            Err("no source line for the current address; specify a location, as in `list main`".into())
        }
    }
}
