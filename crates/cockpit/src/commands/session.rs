//! The session itself, and words of Verde that need nothing here.

use super::nothing;
use crate::command::{Command, Said, Scene, Topic, Words};

pub(crate) const TABLE: &[Command] = &[
    Command::new(Topic::Session, "kill", "", "End the program", kill).short(&["k"]),
    Command::new(Topic::Session, "detach", "", "Let the program run on without us", detach),
    Command::new(Topic::Session, "quit", "", "End the program and leave", quit)
        .short(&["q", "exit"])
        .more("A program that was running before we came runs on."),
    Command::new(Topic::Session, "new", "", "Verde: begins a monitor; here `load-property` does", verde),
    Command::new(
        Topic::Session,
        "activate",
        "",
        "Verde: makes its commands known; here they always are",
        verde,
    ),
    Command::new(
        Topic::Session,
        "cmd-group-begin",
        "",
        "Verde: begins a group of commands; needs nothing here",
        verde,
    ),
    Command::new(
        Topic::Session,
        "cmd-group-end",
        "",
        "Verde: ends a group of commands; needs nothing here",
        verde,
    ),
];

fn kill(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    nothing(words.rest, "kill")?;
    if !scene.session.is_running() {
        return Err("the program is not running".to_owned());
    }
    if !scene.desk.sure {
        scene.desk.question = Some("End the program?".to_owned());
        return Ok(String::new());
    }
    scene.session.kill().map_err(|trouble| trouble.to_string())?;
    Ok(match scene.desk.is_attached() {
        true => "The program is ended.\n",
        false => "The program is ended; `run` begins it anew.\n",
    }
    .to_owned())
}

fn detach(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    nothing(words.rest, "detach")?;
    if !scene.session.is_running() {
        return Err("the program is not running".to_owned());
    }
    scene.session.detach().map_err(|trouble| trouble.to_string())?;
    Ok("The program runs on without us.\n".to_owned())
}

fn quit(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    nothing(words.rest, "quit")?;
    if scene.session.is_running() && !scene.desk.sure {
        let question = match scene.desk.is_attached() {
            true => "Let the program run on, and leave?",
            false => "The program is running. End it and leave?",
        };
        scene.desk.question = Some(question.to_owned());
        return Ok(String::new());
    }
    scene.desk.is_over = true;
    Ok(String::new())
}

fn verde(_: &mut Scene<'_>, _: Words<'_>) -> Said {
    Ok(String::new())
}
