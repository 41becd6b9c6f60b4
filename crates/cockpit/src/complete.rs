//! How a line may go on.

use crate::command::{Scene, Takes, commands, find, split};
use crate::commands::{METHODS, info};
use std::fs;
use std::path::Path;

/// What could stand at a place in a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Where the word that is completed starts.
    pub start: usize,
    /// What it may become.
    pub words: Vec<String>,
}

/// How many names are offered at most.
const MOST: usize = 200;

/// What the word before a position may become.
pub(crate) fn complete(scene: &mut Scene<'_>, line: &str, position: usize) -> Completion {
    let before = line.get(..position).unwrap_or(line);
    let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let word = &before[start..];
    let lead = before[..start].trim();
    let mut words = if lead.is_empty() || lead == "verde" {
        commands().map(|command| command.name.to_owned()).filter(|name| name.starts_with(word)).collect()
    } else {
        match find(split(lead).0) {
            Ok(command) => candidates(scene, command.takes, word),
            Err(_) => Vec::new(),
        }
    };
    words.sort();
    words.dedup();
    words.truncate(MOST);
    Completion { start, words }
}

fn candidates(scene: &mut Scene<'_>, takes: Takes, word: &str) -> Vec<String> {
    let beginning = |names: Vec<String>| names.into_iter().filter(|name| name.starts_with(word)).collect();
    match takes {
        Takes::Nothing => Vec::new(),
        Takes::Command => beginning(commands().map(|command| command.name.to_owned()).collect()),
        Takes::Place => scene.session.subject().functions(word),
        Takes::Property => {
            beginning(scene.session.watches().map(|watch| watch.automaton().name.clone()).collect())
        }
        Takes::State => {
            let watch = scene.session.watch(scene.session.current_property());
            beginning(watch.map_or(Vec::new(), |watch| watch.states().map(str::to_owned).collect()))
        }
        Takes::File => files(word),
        Takes::Checkpoint => {
            beginning(scene.session.checkpoints().iter().map(|kept| kept.id.to_string()).collect())
        }
        Takes::Point => {
            let points = scene.session.subject().points();
            beginning(points.iter().map(|point| point.id.0.to_string()).collect())
        }
        Takes::Info => beginning(info::SUBJECTS.map(str::to_owned).to_vec()),
        Takes::Method => beginning(METHODS.map(str::to_owned).to_vec()),
        Takes::Variable => beginning(variables(scene)),
    }
}

/// The local variables and arguments of the selected frame.
fn variables(scene: &mut Scene<'_>) -> Vec<String> {
    let subject = scene.session.subject();
    let depth = subject.selected_frame();
    let mut names: Vec<String> =
        subject.locals().unwrap_or_default().into_iter().map(|variable| variable.name).collect();
    if let Some(frame) = subject.frames(depth + 1).unwrap_or_default().get(depth) {
        names.extend(frame.arguments.iter().map(|variable| variable.name.clone()));
    }
    names
}

/// Files whose paths begin so.
pub(crate) fn files(word: &str) -> Vec<String> {
    let (folder, name) = match word.rfind('/') {
        Some(at) => word.split_at(at + 1),
        None => ("", word),
    };
    let listed = fs::read_dir(if folder.is_empty() { Path::new(".") } else { Path::new(folder) });
    let entries = listed.into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let found = entry.file_name().into_string().ok()?;
            let hidden = found.starts_with('.') && !name.starts_with('.');
            let slash = if entry.path().is_dir() { "/" } else { "" };
            (found.starts_with(name) && !hidden).then(|| format!("{folder}{found}{slash}"))
        })
        .collect()
}
