//! Making the program run.

use super::points::set_again;
use super::{needed, nothing, times};
use crate::command::{Command, Said, Scene, Takes, Topic, Words};
use crate::opening::open;
use crate::say::stop;
use invigil_session::Outcome;
use invigil_session::subject::Resume;

pub(crate) const TABLE: &[Command] = &[
    Command::new(Topic::Running, "run", "", "Run the program from its beginning", run)
        .short(&["r", "run-with-program"])
        .more("A program that has run already is ended, and begun anew with the same properties.\nYour points are set again; watchpoints of what is not there yet are lost.\nA program that was running before we came cannot be begun anew."),
    Command::new(Topic::Running, "continue", "[N]", "Run on until something happens", go_on)
        .short(&["c", "cont"])
        .more("With a number, points are passed that many times less one.\n\n  continue      until a property, a scenario or a point stops the program\n  continue 3    the third time that a point is reached"),
    Command::new(Topic::Running, "step", "[N]", "Run to the next source line, into functions", step)
        .short(&["s"])
        .repeats("step")
        .more("An empty line steps again.\n\n  step      one line\n  step 5    five lines, or until something else happens"),
    Command::new(Topic::Running, "next", "[N]", "Run to the next source line, over calls", next)
        .short(&["n"])
        .repeats("next")
        .more("An empty line does it again."),
    Command::new(Topic::Running, "stepi", "[N]", "Run one machine instruction", stepi)
        .short(&["si"])
        .repeats("stepi"),
    Command::new(Topic::Running, "finish", "", "Run until the selected frame returns", finish)
        .short(&["fin"])
        .more("Tells the value that it returns, if there is one."),
    Command::new(Topic::Running, "until", "PLACE", "Run to a place, or until the frame returns", until)
        .short(&["u", "advance"])
        .takes(Takes::Place)
        .more("  until 32             line 32 of the file at hand\n  until faulty.c:32\n  until queue_push"),
];

/// Runs the program, several times if it stops for the reason that is expected; tells the last stop.
fn resume(scene: &mut Scene<'_>, how: &Resume, times: u64, expected: fn(&Outcome) -> bool) -> Said {
    scene.desk.begun = true;
    let bell = scene.desk.bell.clone();
    let mut outcome = None;
    for _ in 0..times {
        let session = &mut *scene.session;
        let stopped = scene.desk.running(|| session.run(how)).map_err(|trouble| trouble.to_string())?;
        let goes_on = expected(&stopped) && !bell.was_rung();
        outcome = Some(stopped);
        if !goes_on {
            break;
        }
    }
    Ok(outcome.map_or(String::new(), |outcome| stop::outcome(scene, &outcome)))
}

fn is_step(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Stepped { .. })
}

fn is_point(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Points(_))
}

fn go_on(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    resume(scene, &Resume::Continue, times(words.rest)?, is_point)
}

fn step(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    resume(scene, &Resume::Line, times(words.rest)?, is_step)
}

fn next(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    resume(scene, &Resume::NextLine, times(words.rest)?, is_step)
}

fn stepi(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    resume(scene, &Resume::Instruction, times(words.rest)?, is_step)
}

fn finish(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    nothing(words.rest, "finish")?;
    resume(scene, &Resume::Finish, 1, is_step)
}

fn until(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let place = needed(words.rest, "where to run to: `until 32` or `until queue_push`")?;
    resume(scene, &Resume::Until(place.to_owned()), 1, is_step)
}

fn run(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    nothing(words.rest, "run")?;
    if !scene.desk.begun && scene.session.is_running() {
        return resume(scene, &Resume::Continue, 1, is_step);
    }
    if scene.desk.is_attached() {
        return Err(match scene.session.is_running() {
            true => "the program was running before we came, and cannot be begun anew: `continue` runs it on",
            false => "the program was not started from here: start it again, and `invigil attach` to it",
        }
        .to_owned());
    }
    if scene.session.is_running() && !scene.desk.sure {
        scene.desk.question = Some("The program is running. End it and begin anew?".to_owned());
        return Ok(String::new());
    }
    let (notes, outcome) = begin_anew(scene)?;
    match outcome {
        Some(outcome) => Ok(notes + &stop::outcome(scene, &outcome)),
        None => Ok(notes + &resume(scene, &Resume::Continue, 1, is_step)?),
    }
}

/// Ends the program and makes a new session of it; a program that ran before we came is let go, and taken hold
/// of again. If the files cannot be used nothing is changed.
pub(super) fn begin_anew(scene: &mut Scene<'_>) -> Result<(String, Option<Outcome>), String> {
    let Some(setting) = &mut scene.desk.setting else {
        return Err("a block cannot begin the program anew".to_owned());
    };
    // Files that cannot be read leave the session as it is.
    let loaded = setting.workshop.load(&setting.files)?;
    let warnings = if loaded.warnings.is_empty() { String::new() } else { loaded.warnings.clone() + "\n" };
    let gone = match (setting.attached, scene.session.is_running()) {
        (true, true) => scene.session.detach(),
        (true, false) => Ok(()),
        (false, _) => scene.session.kill(),
    };
    gone.map_err(|trouble| trouble.to_string())?;
    let points = scene.session.subject().points();
    let opened = open(setting).map_err(|failed| failed.words().to_owned())?;
    *scene.session = opened.session;
    if let Some(console) = &scene.desk.console {
        console.forget();
    }
    scene.desk.loaded = opened.loaded;
    scene.desk.begun = false;
    scene.desk.function.clear();
    scene.desk.listing = None;
    let notes: String = opened.notes.iter().map(|note| format!("note: {note}\n")).collect();
    let lost = set_again(scene, &points);
    Ok((warnings + &notes + &lost, opened.outcome))
}
