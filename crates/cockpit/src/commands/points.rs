//! Breakpoints and watchpoints.

use super::{needed, number};
use crate::command::{Command, Said, Scene, Takes, Topic, Words};
use crate::say::columns;
use invigil_session::subject::{Owner, Point, PointId, PointSpec, What};

const PLACES: &str = "  break queue_push             a function\n  break faulty.c:32            a line\n  break 32 if c == 'i'         a line of the file at hand, under a condition\n  break *0x401136              an address\n  break -leave queue_push      a function, where it returns";

pub(crate) const TABLE: &[Command] = &[
    Command::new(
        Topic::Points,
        "break",
        "[-leave] PLACE [if EXPR]",
        "Stop when the program reaches a place, or leaves a function",
        set_break,
    )
    .short(&["b", "br"])
    .takes(Takes::Place)
    .more(PLACES),
    Command::new(Topic::Points, "tbreak", "[-leave] PLACE [if EXPR]", "The same, once", set_once)
        .short(&["tb"])
        .takes(Takes::Place),
    Command::new(Topic::Points, "watch", "EXPR [if EXPR]", "Stop when something is written", watch)
        .short(&["wa"])
        .takes(Takes::Variable)
        .more("  watch q->size\n  watch table[3] if table[3] > 9"),
    Command::new(Topic::Points, "rwatch", "EXPR [if EXPR]", "Stop when something is read", rwatch)
        .takes(Takes::Variable),
    Command::new(Topic::Points, "awatch", "EXPR [if EXPR]", "Stop when something is read or written", awatch)
        .takes(Takes::Variable),
    Command::new(Topic::Points, "delete", "[N…]", "Remove points; all of yours, without a number", delete)
        .short(&["d"])
        .takes(Takes::Point)
        .more("  delete        all points that you set\n  delete 1 3    these two"),
    Command::new(Topic::Points, "enable", "[N…]", "Turn points on", enable).takes(Takes::Point),
    Command::new(Topic::Points, "disable", "[N…]", "Turn points off", disable)
        .short(&["dis"])
        .takes(Takes::Point),
    Command::new(Topic::Points, "ignore", "N COUNT", "Pass over a point this many times", ignore)
        .takes(Takes::Point)
        .more("  ignore 1 16    stop at the 17th time\n\nThe point is set anew, and so gets another number."),
];

fn set_break(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    set_place(scene, words.rest, false)
}

fn set_once(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    set_place(scene, words.rest, true)
}

/// A point at a place, or at the end of a function.
fn set_place(scene: &mut Scene<'_>, rest: &str, once: bool) -> Said {
    match rest.strip_prefix("-leave") {
        Some(function) if function.is_empty() || function.starts_with(char::is_whitespace) => {
            set(scene, function, once, |function| What::Leave(function.to_owned()))
        }
        _ => set(scene, rest, once, |place| What::Reach(place.to_owned())),
    }
}

fn watch(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    set(scene, words.rest, false, |of| What::Access { of: of.to_owned(), read: false, write: true })
}

fn rwatch(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    set(scene, words.rest, false, |of| What::Access { of: of.to_owned(), read: true, write: false })
}

fn awatch(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    set(scene, words.rest, false, |of| What::Access { of: of.to_owned(), read: true, write: true })
}

/// `PLACE if EXPR`, split.
pub(super) fn condition(rest: &str) -> Result<(&str, Option<String>), String> {
    let rest = rest.trim();
    let found =
        if rest.starts_with("if ") || rest == "if" { Some(0) } else { rest.find(" if").map(|at| at + 1) };
    let is_word = |at: usize| rest[at + 2..].chars().next().is_none_or(|c| c.is_whitespace() || c == '(');
    match found.filter(|at| is_word(*at)) {
        Some(at) => match rest[at + 2..].trim() {
            "" => Err("say under which condition, behind `if`".to_owned()),
            condition => Ok((rest[..at].trim(), Some(condition.to_owned()))),
        },
        None => Ok((rest, None)),
    }
}

fn set(scene: &mut Scene<'_>, rest: &str, once: bool, what: impl Fn(&str) -> What) -> Said {
    let (place, condition) = condition(rest)?;
    let here;
    let place = match (place, what("")) {
        ("", What::Access { .. }) => return Err("say what to watch: `watch q->size`".to_owned()),
        ("", What::Leave(_)) => return Err("say which function: `break -leave queue_push`".to_owned()),
        ("", What::Reach(_)) => {
            // As in other debuggers: where the program stands.
            let line = scene.session.subject().line(None).map_err(|trouble| trouble.to_string())?;
            let line = line.ok_or("say where to stop: `break queue_push` or `break faulty.c:32`")?;
            here = format!("{}:{}", line.file.display(), line.line);
            here.as_str()
        }
        // It means the same when the program is elsewhere, or begun anew.
        (number, What::Reach(_)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            match scene.session.subject().line(None) {
                Ok(Some(line)) => here = format!("{}:{number}", line.file.display()),
                _ => here = number.to_owned(),
            }
            here.as_str()
        }
        (place, _) => place,
    };
    let spec = PointSpec { condition, once, ..PointSpec::new(what(place)) };
    let subject = scene.session.subject();
    let id = subject.set_point(Owner::Developer, &spec).map_err(|trouble| trouble.to_string())?;
    let point = subject.points().into_iter().find(|point| point.id == id);
    Ok(point.map_or(format!("{}\n", id.0), |point| announced(&point)))
}

fn announced(point: &Point) -> String {
    let (kind, of) = kind(point);
    let places = match &point.places[..] {
        [] => "no such place is loaded yet".to_owned(),
        [one] => one.clone(),
        [one, rest @ ..] => format!("{one} and {} more", rest.len()),
    };
    format!("{kind} {}: {of}, {places}\n", point.id.0)
}

/// What a point is, and what it is for.
fn kind(point: &Point) -> (&'static str, String) {
    match &point.spec.what {
        What::Reach(place) => ("Breakpoint", place.clone()),
        What::Leave(function) => ("Breakpoint", format!("the end of {function}")),
        What::Access { of, read: true, write: false } => ("Watchpoint", format!("reads of {of}")),
        What::Access { of, read: true, write: true } => ("Watchpoint", format!("accesses of {of}")),
        What::Access { of, .. } => ("Watchpoint", format!("writes of {of}")),
    }
}

/// Sets the developer's points of a program that is no more in the one that takes its place; says which cannot be set.
pub(super) fn set_again(scene: &mut Scene<'_>, points: &[Point]) -> String {
    let mut lost = String::new();
    for point in points.iter().filter(|point| point.owner == Owner::Developer) {
        let subject = scene.session.subject();
        let set = subject.set_point(Owner::Developer, &point.spec);
        let done = set.and_then(|id| if point.enabled { Ok(()) } else { subject.enable_point(id, false) });
        if let Err(trouble) = done {
            let (name, of) = kind(point);
            lost.push_str(&format!("{name} {}, {of}, cannot be set again: {trouble}\n", point.id.0));
        }
    }
    lost
}

/// All points in a table.
pub(super) fn points(scene: &mut Scene<'_>) -> String {
    let points = scene.session.subject().points();
    if points.is_empty() {
        return "There are no points.\n".to_owned();
    }
    let mut rows = vec![["", "what", "where", "hits", ""].map(str::to_owned).to_vec()];
    for point in &points {
        let (_, of) = kind(point);
        let mut notes = Vec::new();
        if !point.enabled {
            notes.push("off".to_owned());
        }
        if point.spec.once {
            notes.push("once".to_owned());
        }
        if let Some(condition) = &point.spec.condition {
            notes.push(format!("if {condition}"));
        }
        if point.spec.ignore > 0 {
            notes.push(format!("passes {} times", point.spec.ignore));
        }
        if point.owner == Owner::Scenario {
            notes.push("of the scenario".to_owned());
        }
        let places =
            if point.places.is_empty() { "not loaded yet".to_owned() } else { point.places.join(", ") };
        rows.push(vec![point.id.0.to_string(), of, places, point.hits.to_string(), notes.join(", ")]);
    }
    columns(&rows)
}

/// The points that are named; all of the developer's, if none is.
fn named(scene: &mut Scene<'_>, rest: &str) -> Result<Vec<Point>, String> {
    let points = scene.session.subject().points();
    if rest.is_empty() {
        return Ok(points.into_iter().filter(|point| point.owner == Owner::Developer).collect());
    }
    let words = rest.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
    words.map(|word| find(&points, word)).collect()
}

fn find(points: &[Point], word: &str) -> Result<Point, String> {
    let id = PointId(number(word, "the number of a point")?);
    points.iter().find(|point| point.id == id).cloned().ok_or_else(|| {
        let known: Vec<String> = points.iter().map(|point| point.id.0.to_string()).collect();
        match known.is_empty() {
            true => format!("there is no point {word}: there is none at all"),
            false => format!("there is no point {word}: there are {}", known.join(", ")),
        }
    })
}

fn each(
    scene: &mut Scene<'_>,
    rest: &str,
    done: &str,
    act: impl Fn(&mut Scene<'_>, PointId) -> Result<(), String>,
) -> Said {
    let points = named(scene, rest)?;
    if points.is_empty() {
        return Err("there are no points".to_owned());
    }
    for point in &points {
        act(scene, point.id)?;
    }
    let ids: Vec<String> = points.iter().map(|point| point.id.0.to_string()).collect();
    Ok(format!("{done} {}\n", ids.join(", ")))
}

fn delete(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    each(scene, words.rest, "Removed", |scene, id| {
        scene.session.subject().remove_point(id).map_err(|trouble| trouble.to_string())
    })
}

fn enable(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    each(scene, words.rest, "Turned on", |scene, id| {
        scene.session.subject().enable_point(id, true).map_err(|trouble| trouble.to_string())
    })
}

fn disable(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    each(scene, words.rest, "Turned off", |scene, id| {
        scene.session.subject().enable_point(id, false).map_err(|trouble| trouble.to_string())
    })
}

fn ignore(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let rest = needed(words.rest, "which point, and how often to pass over it: `ignore 1 16`")?;
    let (word, count) =
        rest.split_once(char::is_whitespace).ok_or("say how often to pass over it: `ignore 1 16`")?;
    let ignore = number(count.trim(), "how often")?;
    let point = find(&scene.session.subject().points(), word)?;
    if point.owner != Owner::Developer {
        return Err(format!("point {word} is the scenario's"));
    }
    let spec = PointSpec { ignore, ..point.spec };
    let subject = scene.session.subject();
    let id = subject.set_point(Owner::Developer, &spec).map_err(|trouble| trouble.to_string())?;
    subject.remove_point(point.id).map_err(|trouble| trouble.to_string())?;
    Ok(format!("Point {} takes the place of {word}, and is passed over {ignore} times\n", id.0))
}
