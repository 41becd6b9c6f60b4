//! Files: properties, functions, scenarios, recordings.

use super::needed;
use super::running::begin_anew;
use crate::command::{Command, Said, Scene, Takes, Topic, Words};
use crate::opening::recorder;
use crate::say::stop;
use crate::workshop::Files;
use invigil_lang::ltl::Argument;
use std::path::{Path, PathBuf};

pub(crate) const TABLE: &[Command] = &[
    Command::new(Topic::Session, "load-property", "PROPERTY [FUNCTIONS.py]", "Watch one more property", load_property)
        .takes(Takes::File)
        .more("A program that has run already is begun anew, because the property must see it from its beginning.\nOne that was running before we came is watched from now on.\n\n  load-property queue.prop\n  load-property behavior.prop functions.py\n  load-property ltl:G(queue_push -> F queue_pop)"),
    Command::new(Topic::Session, "load-functions", "FILE.py", "Let properties call the functions of a file", load_functions)
        .takes(Takes::File),
    Command::new(Topic::Session, "load-scenario", "FILE.scn", "React to the properties as a scenario says", load_scenario)
        .takes(Takes::File)
        .more("Without a scenario the program is suspended where a property is violated."),
    Command::new(Topic::Session, "delete-monitor", "[NAME]", "Watch a property no longer", delete_monitor)
        .takes(Takes::Property)
        .more("Without a name it is the current one. The formulae of a file go together."),
    Command::new(Topic::Session, "record", "FILE", "Write the events from now on as a trace", record)
        .takes(Takes::File)
        .more("The end of the name says how: .jsonl, .csv, or .trace for plain lines. `invigil check` reads all of them.\n\n  record run.jsonl"),
];

fn load_property(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let rest = needed(words.rest, "which file: `load-property queue.prop`")?;
    let (property, functions) = match rest.split_once(char::is_whitespace) {
        // A formula may have blanks in it.
        _ if Argument::parse(rest).is_some() => (rest, None),
        Some((property, functions)) => (property, Some(functions.trim())),
        None => (rest, None),
    };
    remake(scene, |files| {
        files.properties.push(PathBuf::from(property));
        files.functions.extend(functions.map(PathBuf::from));
    })
}

fn load_functions(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let file = needed(words.rest, "which file: `load-functions functions.py`")?;
    remake(scene, |files| files.functions.push(PathBuf::from(file)))
}

fn load_scenario(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let file = needed(words.rest, "which file: `load-scenario mine.scn`")?;
    remake(scene, |files| files.scenarios.push(PathBuf::from(file)))
}

fn delete_monitor(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let property = match words.rest {
        "" => scene.session.current_property(),
        name => scene.session.find_property(name).map_err(|trouble| trouble.to_string())?,
    };
    if scene.session.watch(property).is_none() {
        return Err("no property is watched".to_owned());
    }
    let given = scene.desk.loaded.given.get(property).copied();
    remake(scene, |files| {
        if let Some(given) = given.filter(|given| *given < files.properties.len()) {
            files.properties.remove(given);
        }
    })
}

/// Makes the session anew from other files. If they cannot be used all is as before.
fn remake(scene: &mut Scene<'_>, change: impl FnOnce(&mut Files)) -> Said {
    let began = scene.desk.begun && scene.session.is_running();
    let attached = scene.desk.is_attached();
    let question = match attached {
        true => "The properties are to begin anew, without your points and checkpoints. Go on?",
        false => "The program has run already, and is to begin anew. Go on?",
    };
    if began && !scene.desk.sure {
        scene.desk.question = Some(question.to_owned());
        return Ok(String::new());
    }
    let Some(setting) = &mut scene.desk.setting else {
        return Err("a block cannot load files".to_owned());
    };
    let before = setting.files.clone();
    change(&mut setting.files);
    match begin_anew(scene) {
        Ok((notes, outcome)) => {
            let names: Vec<&str> =
                scene.session.watches().map(|watch| watch.automaton().name.as_str()).collect();
            let watched = match names.is_empty() {
                true => "No property is watched".to_owned(),
                false => format!("Watching {}", names.join(", ")),
            };
            let anew = match (began, attached) {
                (true, true) => " from now on",
                (true, false) => "; the program is at its beginning",
                (false, _) => "",
            };
            let told = outcome.map_or(String::new(), |outcome| stop::outcome(scene, &outcome));
            Ok(format!("{notes}{watched}{anew}\n{told}"))
        }
        Err(words) => {
            let Some(setting) = &mut scene.desk.setting else { return Err(words) };
            setting.files = before;
            // The program may be gone already: then it is begun with the files as they were.
            if !scene.session.is_running() {
                begin_anew(scene)?;
            }
            Err(words)
        }
    }
}

fn record(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let file = needed(words.rest, "where to: `record run.jsonl`")?;
    let recorder = recorder(Path::new(file), &scene.desk.loaded)?;
    scene.session.finish_recording();
    scene.session.set_recorder(recorder);
    Ok(format!("Events are recorded in {file} from now on\n"))
}
