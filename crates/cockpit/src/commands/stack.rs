//! The stack and the threads.

use super::number;
use crate::command::{Command, Said, Scene, Topic, Words};
use crate::say::{columns, frame, stop};

/// How many frames are told, unless more are wanted.
const FRAMES: usize = 64;

pub(crate) const TABLE: &[Command] = &[
    Command::new(Topic::Program, "backtrace", "[N|full]", "Show how the program got here", backtrace)
        .short(&["bt", "where"])
        .more("  where         the frames up to `main`\n  where 3       the three innermost\n  where full    all frames with their local variables"),
    Command::new(Topic::Program, "frame", "[N]", "Select a frame, or show the selected one", select)
        .short(&["f"])
        .more("Expressions are about the selected frame. The innermost is 0."),
    Command::new(Topic::Program, "up", "[N]", "Select the frame that called this one", up).repeats("up"),
    Command::new(Topic::Program, "down", "[N]", "Select the frame that this one called", down).repeats("down"),
    Command::new(Topic::Program, "thread", "[N]", "Select a thread, or show all", thread)
        .short(&["t"])
        .more("  thread          all threads\n  thread 2        the second of them\n  thread 12345    by the number that the system gives it"),
];

fn backtrace(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let style = scene.desk.style;
    if words.rest == "full" {
        return full(scene);
    }
    let limit =
        if words.rest.is_empty() { FRAMES } else { number(words.rest, "a number of frames, or `full`")? };
    let subject = scene.session.subject();
    let selected = subject.selected_frame();
    // One more, to know whether there are more.
    let mut frames = subject.frames(limit.saturating_add(1)).map_err(|trouble| trouble.to_string())?;
    let shown =
        if words.rest.is_empty() { frame::up_to_main(frames.iter()).max(selected + 1) } else { limit };
    // What called `main` is nobody's concern, unless asked for.
    let ends_at_main = frames.get(shown.saturating_sub(1)).is_some_and(|frame| frame.function == "main");
    let more = frames.len() > shown.min(limit) && !ends_at_main;
    frames.truncate(shown.min(limit));
    let rest = if more { "  … there are more: say how many to show\n" } else { "" };
    Ok(frame::stack(&frames, selected, &style) + rest)
}

fn full(scene: &mut Scene<'_>) -> Said {
    let style = scene.desk.style;
    let mut out = String::new();
    for (depth, reported) in scene.session.stack().iter().enumerate() {
        out.push_str(&format!("#{depth} {}\n", frame::frame(&reported.frame, &style)));
        out.push_str(&frame::variables(&reported.locals, "     "));
    }
    Ok(out)
}

fn select(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    if !words.rest.is_empty() {
        let depth = number(words.rest, "a frame")?;
        scene.session.subject().select_frame(depth).map_err(|trouble| trouble.to_string())?;
    }
    shown(scene)
}

/// The selected frame.
fn shown(scene: &mut Scene<'_>) -> Said {
    let depth = scene.session.subject().selected_frame();
    let place = stop::place(scene, false);
    Ok(format!("#{depth} {place}"))
}

fn up(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let by = super::times(words.rest)? as usize;
    let depth = scene.session.subject().selected_frame();
    scene.session.subject().select_frame(depth.saturating_add(by)).map_err(|trouble| trouble.to_string())?;
    shown(scene)
}

fn down(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let by = super::times(words.rest)? as usize;
    let depth = scene.session.subject().selected_frame();
    if depth == 0 {
        return Err("this is the innermost frame".to_owned());
    }
    scene.session.subject().select_frame(depth.saturating_sub(by)).map_err(|trouble| trouble.to_string())?;
    shown(scene)
}

fn thread(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    if words.rest.is_empty() {
        return Ok(threads(scene));
    }
    let wanted: u32 = number(words.rest, "a thread")?;
    let threads = scene.session.subject().threads();
    let by_id = threads.iter().find(|thread| thread.id == wanted);
    let by_position = (wanted as usize).checked_sub(1).and_then(|at| threads.get(at));
    let Some(thread) = by_id.or(by_position) else {
        return Err(format!("there is no thread {wanted}; `thread` lists them"));
    };
    scene.session.subject().select_thread(thread.id).map_err(|trouble| trouble.to_string())?;
    let place = stop::place(scene, false);
    Ok(format!("Thread {} ({})\n{place}", thread.id, thread.name))
}

/// All threads in a table.
pub(super) fn threads(scene: &mut Scene<'_>) -> String {
    let threads = scene.session.subject().threads();
    let rows: Vec<Vec<String>> = threads
        .iter()
        .enumerate()
        .map(|(at, thread)| {
            let mark = if thread.selected { '>' } else { ' ' };
            vec![format!("{mark} {}", at + 1), thread.id.to_string(), thread.name.clone(), thread.at.clone()]
        })
        .collect();
    if rows.is_empty() { "There are no threads.\n".to_owned() } else { columns(&rows) }
}

/// The selected frame, for `info frame`.
pub(super) fn about(scene: &mut Scene<'_>) -> Said {
    let subject = scene.session.subject();
    let depth = subject.selected_frame();
    let frames = subject.frames(depth + 2).map_err(|trouble| trouble.to_string())?;
    let Some(here) = frames.get(depth) else { return Err("there is no frame".to_owned()) };
    let style = scene.desk.style;
    let mut out = format!("#{depth} {}\n  at address {:#x}\n", frame::frame(here, &style), here.address);
    if let Some(line) = &here.line {
        out.push_str(&format!("  source {}:{}\n", line.file.display(), line.line));
    }
    if let Some(caller) = frames.get(depth + 1) {
        out.push_str(&format!("  called by {}\n", frame::frame(caller, &style)));
    }
    Ok(out)
}
