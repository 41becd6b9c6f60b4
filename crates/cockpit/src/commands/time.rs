//! Checkpoints and the past.

use super::{needed, nothing, number};
use crate::command::{Command, Said, Scene, Takes, Topic, Words};
use crate::say::{past, stop, tree as drawn};
use invigil_check::report::{Paint, count, described};
use std::ops::RangeInclusive;

/// How many events are shown, unless more are wanted.
const EVENTS: u64 = 10;

pub(crate) const TABLE: &[Command] = &[
    Command::new(Topic::Time, "checkpoint", "[LABEL]", "Keep the program and the properties as they are now", checkpoint)
        .short(&["ck"])
        .more("  checkpoint\n  checkpoint before the third push"),
    Command::new(Topic::Time, "restore", "N", "Go back to a checkpoint, which remains", restore)
        .short(&["restart", "checkpoint-restart", "restore-checkpoint"])
        .takes(Takes::Checkpoint)
        .more("The program and the properties are as they were. Your points stay as they are now."),
    Command::new(Topic::Time, "checkpoints", "", "Show the checkpoints, as a tree", checkpoints),
    Command::new(Topic::Time, "forget", "N…", "Drop checkpoints", forget).takes(Takes::Checkpoint),
    Command::new(Topic::Time, "events", "[N|A-B|all]", "Show the events so far, and what the properties made of them", events)
        .more("  events        the last ten\n  events 3      the last three\n  events 5-9    those from 5 to 9\n  events all    as many as are remembered"),
    Command::new(Topic::Time, "back", "[N|-N]", "Go back to an earlier event", back)
        .more("The nearest checkpoint before it is restored, and the program runs from there to the event. Events on the\nway are compared with those of the first time. `--checkpoint-every N` takes checkpoints automatically.\n\n  back        to the event before the last\n  back 12     to event 12\n  back -3     three events back"),
];

fn checkpoint(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let id = scene.session.checkpoint(words.rest).map_err(|trouble| trouble.to_string())?;
    let taken = scene.session.checkpoints().into_iter().find(|checkpoint| checkpoint.id == id);
    let mut out = format!("Checkpoint {id}, after {}", count(scene.session.event_count(), "event"));
    for limit in taken.iter().flat_map(|taken| &taken.limits) {
        let limit = format!("limit: {limit}");
        out.push_str(&format!("\n  {}", scene.desk.style.paint(Paint::Faint, &limit)));
    }
    Ok(out + "\n")
}

fn id(word: &str) -> Result<u32, String> {
    number(word, "the number of a checkpoint")
}

fn restore(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let id = id(needed(words.rest, "which checkpoint: `checkpoints` lists them")?)?;
    scene.session.restore(id).map_err(|trouble| trouble.to_string())?;
    let place = stop::place(scene, false);
    Ok(format!("Back at checkpoint {id}, after {}\n{place}", count(scene.session.event_count(), "event")))
}

fn checkpoints(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    nothing(words.rest, "checkpoints")?;
    tree(scene)
}

/// The checkpoints, as a tree.
pub(super) fn tree(scene: &mut Scene<'_>) -> Said {
    let all = scene.session.checkpoints();
    if all.is_empty() {
        return Ok("There are no checkpoints; `checkpoint` takes one.\n".to_owned());
    }
    Ok(drawn::tree(&all, scene.session.current_checkpoint(), &scene.desk.style))
}

fn forget(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let rest = needed(words.rest, "which checkpoint: `checkpoints` lists them")?;
    let ids = rest.split_whitespace().map(id).collect::<Result<Vec<u32>, String>>()?;
    for id in &ids {
        scene.session.forget(*id).map_err(|trouble| trouble.to_string())?;
    }
    Ok(format!("Forgotten: {rest}\n"))
}

fn events(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let (total, kept) = (scene.session.event_count(), scene.session.remembered());
    let wanted = range(words.rest, total)?;
    if total == 0 {
        return Ok("There have been no events yet.\n".to_owned());
    }
    let forgotten = *wanted.start().max(&1) < *kept.start();
    let note = if forgotten {
        format!("  … events before {} are not remembered\n", kept.start())
    } else {
        String::new()
    };
    Ok(note + &past::events(scene, wanted))
}

fn range(rest: &str, total: u64) -> Result<RangeInclusive<u64>, String> {
    let last = |count: u64| total.saturating_sub(count.saturating_sub(1)).max(1)..=total;
    match rest {
        "" => Ok(last(EVENTS)),
        "all" => Ok(1..=total),
        words => match words.split_once('-') {
            Some((first, end)) => {
                let what = "an event";
                let (first, end) = (number(first.trim(), what)?, number(end.trim(), what)?);
                if first > end {
                    Err(format!("there are no events from {first} to {end}"))
                } else {
                    Ok(first..=end)
                }
            }
            None => Ok(last(number(words, "a number of events, a range such as 5-9, or `all`")?)),
        },
    }
}

fn back(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let total = scene.session.event_count();
    let target = match (words.rest, words.rest.strip_prefix('-')) {
        ("", _) => total.checked_sub(1).ok_or("there have been no events yet")?,
        (_, Some(by)) => {
            let by: u64 = number(by.trim(), "a number of events")?;
            total.checked_sub(by).ok_or_else(|| format!("there were only {}", count(total, "event")))?
        }
        (word, None) => number(word, "an event")?,
    };
    let session = &mut *scene.session;
    let done = scene.desk.running(|| session.back(target)).map_err(|trouble| trouble.to_string())?;
    let mut out = format!("Back at event {}, from checkpoint {}\n", done.event, done.checkpoint);
    if let Some(divergence) = &done.diverged {
        let open = scene.desk.style.paint(Paint::Open, "the program did not do the same again:");
        out.push_str(&format!(
            "{open} event {} was {}, and now is {}\n",
            divergence.expected.index,
            described(&divergence.expected),
            described(&divergence.found)
        ));
    }
    match &done.stopped {
        Some(stopped) => out.push_str(&stop::outcome(scene, stopped)),
        None => out.push_str(&stop::place(scene, false)),
    }
    Ok(out)
}
