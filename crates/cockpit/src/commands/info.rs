//! `info`: what there is.

use super::{points, properties, stack, time};
use crate::command::{Command, Said, Scene, Takes, Topic, Words, listed};
use crate::say::{columns, frame};
use invigil_expr::diag::nearest;

pub(crate) const TABLE: &[Command] =
    &[Command::new(Topic::Program, "info", "WHAT", "Show what there is", info)
        .short(&["i"])
        .takes(Takes::Info)
        .more("  info breakpoints    points, with their hits\n  info locals         local variables of the selected frame\n  info args           its arguments\n  info registers      its registers\n  info frame          the frame itself\n  info line [PLACE]   which line, and where it is\n  info threads        threads\n  info program        the program: its path, process, images\n  info probes         how events are noticed, place by place\n  info signals        what is done with signals\n  info properties     properties, and their states\n  info checkpoints    checkpoints, as a tree")];

/// What `info` can be about, longest names first told.
pub(crate) const SUBJECTS: [&str; 13] = [
    "args",
    "breakpoints",
    "checkpoints",
    "frame",
    "line",
    "locals",
    "probes",
    "program",
    "properties",
    "registers",
    "signals",
    "threads",
    "watchpoints",
];

fn info(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let (word, rest) = words.rest.split_once(char::is_whitespace).unwrap_or((words.rest, ""));
    let found: Vec<&str> = SUBJECTS.into_iter().filter(|name| name.starts_with(word)).collect();
    // The short forms that other debuggers have.
    let name = match (word, &found[..]) {
        ("", _) => return Err(format!("say what about: {}", listed(&SUBJECTS, "or"))),
        ("b" | "br" | "break", _) => "breakpoints",
        ("r" | "reg", _) => "registers",
        ("f", _) => "frame",
        ("p" | "prop" | "property", _) => "properties",
        ("l", _) => "locals",
        ("s" | "stack", _) => "stack",
        (_, [one]) => one,
        (_, []) => {
            let near =
                nearest(word, SUBJECTS).map_or(String::new(), |near| format!(": did you mean `{near}`?"));
            return Err(format!("there is nothing to tell about `{word}`{near}"));
        }
        (_, several) => return Err(format!("`{word}` may be {}", listed(several, "or"))),
    };
    match name {
        "breakpoints" | "watchpoints" => Ok(points::points(scene)),
        "threads" => Ok(stack::threads(scene)),
        "frame" => stack::about(scene),
        "stack" => (crate::command::find("backtrace")?.action)(scene, Words { format: "", rest }),
        "locals" => {
            let locals = scene.session.subject().locals().map_err(|trouble| trouble.to_string())?;
            Ok(told(&locals, "There are no local variables."))
        }
        "args" => args(scene),
        "registers" => {
            let registers = scene.session.subject().registers().map_err(|trouble| trouble.to_string())?;
            Ok(told(&registers, "The registers are not known."))
        }
        "program" => Ok(facts(scene, |name| name != "signals")),
        "signals" => Ok(facts(scene, |name| name.contains("signal"))),
        "checkpoints" => time::tree(scene),
        "probes" => Ok(probes(scene)),
        "properties" => Ok(properties::all(scene)),
        _ => line(scene, rest),
    }
}

fn told(variables: &[invigil_session::subject::Variable], none: &str) -> String {
    if variables.is_empty() { format!("{none}\n") } else { frame::variables(variables, "") }
}

fn probes(scene: &mut Scene<'_>) -> String {
    let probes = scene.session.subject().probes();
    if probes.is_empty() {
        return "No event is noticed at a place of its own.\n".to_owned();
    }
    let rows = probes.into_iter().map(|probe| vec![probe.event, probe.place, probe.how]);
    columns(&rows.collect::<Vec<_>>())
}

fn args(scene: &mut Scene<'_>) -> Said {
    let subject = scene.session.subject();
    let depth = subject.selected_frame();
    let frames = subject.frames(depth + 1).map_err(|trouble| trouble.to_string())?;
    let arguments = frames.get(depth).map_or(&[][..], |frame| &frame.arguments);
    Ok(told(arguments, "There are no arguments."))
}

fn facts(scene: &mut Scene<'_>, wanted: impl Fn(&str) -> bool) -> String {
    let facts = scene.session.subject().facts();
    let rows: Vec<Vec<String>> =
        facts.into_iter().filter(|(name, _)| wanted(name)).map(|(name, value)| vec![name, value]).collect();
    match (rows.is_empty(), scene.session.ending()) {
        (false, _) => columns(&rows),
        (true, Some(ending)) => format!("The program has ended: {ending}\n"),
        (true, None) => "Nothing is known about it.\n".to_owned(),
    }
}

fn line(scene: &mut Scene<'_>, rest: &str) -> Said {
    let place = (!rest.is_empty()).then_some(rest);
    match scene.session.subject().line(place).map_err(|trouble| trouble.to_string())? {
        Some(line) => Ok(format!("{}:{}\n", line.file.display(), line.line)),
        None => Err("there is no line for it in the debug information".to_owned()),
    }
}
