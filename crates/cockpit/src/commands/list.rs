//! The program's sources.

use crate::command::{Command, Said, Scene, Takes, Topic, Words};
use crate::desk::Listing;
use crate::say::source;
use std::path::PathBuf;

/// How many lines are listed at once.
const LINES: u32 = 10;

pub(crate) const TABLE: &[Command] =
    &[Command::new(Topic::Program, "list", "[N|FUNCTION|FILE:N|-]", "Show lines of the sources", list)
        .short(&["l"])
        .takes(Takes::Place)
        .repeats("list")
        .more("  list                 around the current line, and on from there\n  list 40              around line 40 of the file at hand\n  list queue_push      around the beginning of a function\n  list faulty.c:32     around a line of a file\n  list -               the lines before those shown last")];

fn list(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let (file, from) = match (words.rest, &scene.desk.listing) {
        ("", Some(listing)) => (listing.file.clone(), listing.shown.1),
        ("-", Some(listing)) => {
            if listing.shown.0 <= 1 {
                return Err("this is the beginning of the file".to_owned());
            }
            let before = listing.shown.0.saturating_sub(LINES).max(1);
            (listing.file.clone(), before)
        }
        ("" | "-", None) => centred(scene, None)?,
        (place, _) => centred(scene, Some(place))?,
    };
    let all = source::read(&file)?;
    let count = all.len() as u32 - u32::from(all.last().is_some_and(String::is_empty));
    if from > count {
        return Err(format!("{} has {count} lines", file.display()));
    }
    let to = (from + LINES).min(count + 1);
    let current = current(scene).filter(|(at, _)| *at == file).map(|(_, line)| line);
    scene.desk.listing = Some(Listing { file, shown: (from, to) });
    Ok(source::lines(&all, from, to, current, &scene.desk.style))
}

/// Where the selected frame stands.
fn current(scene: &mut Scene<'_>) -> Option<(PathBuf, u32)> {
    let line = scene.session.subject().line(None).ok()??;
    Some((line.file, line.line))
}

/// A file, and the first line to show so that the place is in the middle.
fn centred(scene: &mut Scene<'_>, place: Option<&str>) -> Result<(PathBuf, u32), String> {
    let at_hand = scene.desk.listing.as_ref().map(|listing| listing.file.clone());
    let start = |line: u32| line.saturating_sub(LINES / 2).max(1);
    if let Some(line) = place.and_then(|place| place.parse::<u32>().ok())
        && let Some(file) = at_hand.or_else(|| current(scene).map(|(file, _)| file))
    {
        return Ok((file, start(line)));
    }
    let line = scene.session.subject().line(place).map_err(|trouble| trouble.to_string())?;
    match (line, place) {
        (Some(line), _) => Ok((line.file, start(line.line))),
        (None, Some(place)) => Err(format!("there is no line for `{place}` in the debug information")),
        (None, None) => {
            Err("there is no line for the place where the program stands; give one: `list main`".to_owned())
        }
    }
}
