//! Checkpoints, event history and reverse execution.

use super::{no_arguments, number, required};
use crate::command::{ArgumentKind, Arguments, Command, CommandContext, CommandResult, CommandTopic};
use crate::render::{history, stop, tree as checkpoint_tree};
use invigil_check::report::{Paint, count, event_text};
use std::ops::RangeInclusive;

/// Default number of events that `events` shows.
const DEFAULT_EVENTS: u64 = 10;

pub(crate) const TABLE: &[Command] = &[
    Command::new(CommandTopic::History, "checkpoint", "[LABEL]", "Save the state of the program and the properties", checkpoint)
        .aliases(&["ck"])
        .more("  checkpoint\n  checkpoint before the third push"),
    Command::new(CommandTopic::History, "restore", "N", "Restore a checkpoint, which is kept", restore)
        .aliases(&["restart", "checkpoint-restart", "restore-checkpoint"])
        .argument(ArgumentKind::Checkpoint)
        .more("The program and the properties return to their saved state. Your breakpoints stay as they are now."),
    Command::new(CommandTopic::History, "checkpoints", "", "Show the checkpoints as a tree", checkpoints),
    Command::new(CommandTopic::History, "forget", "N…", "Delete checkpoints", forget).argument(ArgumentKind::Checkpoint),
    Command::new(CommandTopic::History, "events", "[N|A-B|all]", "Show past events and the transitions they triggered", events)
        .more("  events        the last ten\n  events 3      the last three\n  events 5-9    events 5 to 9\n  events all    all recorded events"),
    Command::new(CommandTopic::History, "back", "[N|-N]", "Go back to an earlier event", back)
        .more("The nearest earlier checkpoint is restored, and the program runs from there to the event. The replayed events\nare compared with the recorded ones. `--checkpoint-every N` takes checkpoints automatically.\n\n  back        to the event before the last\n  back 12     to event 12\n  back -3     three events back"),
];

fn checkpoint(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let id = context.session.take_checkpoint(arguments.rest)?;
    let taken = context.session.checkpoints().into_iter().find(|checkpoint| checkpoint.id == id);
    let mut out = format!("Checkpoint {id}, after {}", count(context.session.event_count(), "event"));
    for limit in taken.iter().flat_map(|taken| &taken.limitations) {
        let limit = format!("limitation: {limit}");
        out.push_str(&format!("\n  {}", context.repl.style.paint(Paint::Faint, &limit)));
    }
    Ok(out + "\n")
}

fn parse_id(word: &str) -> Result<u32, String> {
    number(word, "a checkpoint number")
}

fn restore(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let id = parse_id(required(arguments.rest, "checkpoint number; `checkpoints` lists all")?)?;
    context.session.restore_checkpoint(id)?;
    let location = stop::render_location(context, false);
    Ok(format!(
        "Back at checkpoint {id}, after {}\n{location}",
        count(context.session.event_count(), "event")
    ))
}

fn checkpoints(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    no_arguments(arguments.rest, "checkpoints")?;
    tree(context)
}

/// The checkpoints, as a tree.
pub(super) fn tree(context: &mut CommandContext<'_>) -> CommandResult {
    let all = context.session.checkpoints();
    if all.is_empty() {
        return Ok("No checkpoints; `checkpoint` takes one.\n".to_owned());
    }
    Ok(checkpoint_tree::tree(&all, context.session.current_checkpoint(), &context.repl.style))
}

fn forget(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let rest = required(arguments.rest, "checkpoint number; `checkpoints` lists all")?;
    let ids = rest.split_whitespace().map(parse_id).collect::<Result<Vec<u32>, String>>()?;
    for id in &ids {
        context.session.drop_checkpoint(*id)?;
    }
    Ok(format!("Deleted: {rest}\n"))
}

fn events(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let (total, recorded) = (context.session.event_count(), context.session.event_range());
    let numbers = range(arguments.rest, total)?;
    if total == 0 {
        return Ok("No events yet.\n".to_owned());
    }
    let is_truncated = *numbers.start().max(&1) < *recorded.start();
    let note = if is_truncated {
        format!("  … (events before {} are no longer recorded)\n", recorded.start())
    } else {
        String::new()
    };
    Ok(note + &history::render_events(context, numbers))
}

fn range(rest: &str, total: u64) -> Result<RangeInclusive<u64>, String> {
    let last = |count: u64| total.saturating_sub(count.saturating_sub(1)).max(1)..=total;
    match rest {
        "" => Ok(last(DEFAULT_EVENTS)),
        "all" => Ok(1..=total),
        words => match words.split_once('-') {
            Some((first, end)) => {
                let what = "an event number";
                let (first, end) = (number(first.trim(), what)?, number(end.trim(), what)?);
                if first > end {
                    Err(format!("invalid range: {first} is after {end}"))
                } else {
                    Ok(first..=end)
                }
            }
            None => Ok(last(number(words, "a number of events, a range such as 5-9, or `all`")?)),
        },
    }
}

fn back(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let total = context.session.event_count();
    let target = match (arguments.rest, arguments.rest.strip_prefix('-')) {
        ("", _) => total.checked_sub(1).ok_or("no events yet")?,
        (_, Some(by)) => {
            let by: u64 = number(by.trim(), "a number of events")?;
            total.checked_sub(by).ok_or_else(|| format!("only {} so far", count(total, "event")))?
        }
        (word, None) => number(word, "an event number")?,
    };
    let session = &mut *context.session;
    let result = context.repl.while_running(|| session.reverse_to(target))?;
    let mut out = format!("Back at event {}, replayed from checkpoint {}\n", result.event, result.checkpoint);
    if let Some(divergence) = &result.divergence {
        let headline = context.repl.style.paint(Paint::Undecided, "the replay diverged:");
        out.push_str(&format!(
            "{headline} event {} was {}, now {}\n",
            divergence.expected.index,
            event_text(&divergence.expected),
            event_text(&divergence.found)
        ));
    }
    match &result.stopped {
        Some(stopped) => out.push_str(&stop::render_outcome(context, stopped)),
        None => out.push_str(&stop::render_location(context, false)),
    }
    Ok(out)
}
