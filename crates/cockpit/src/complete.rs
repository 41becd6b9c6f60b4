//! Completion of command lines.

use crate::command::{ArgumentKind, CommandContext, commands, find_command, split};
use crate::commands::{METHODS, info};
use std::fs;
use std::path::Path;

/// Candidates for the word before the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Byte offset at which the completed word starts.
    pub start: usize,
    /// Candidates, sorted.
    pub words: Vec<String>,
}

/// Maximum number of candidates.
const MAX_CANDIDATES: usize = 200;

/// Completes the word that ends at `position`.
pub(crate) fn complete(context: &mut CommandContext<'_>, line: &str, position: usize) -> Completion {
    let before = line.get(..position).unwrap_or(line);
    let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let word = &before[start..];
    let words_before = before[..start].trim();
    let mut words = if words_before.is_empty() || words_before == "verde" {
        commands().map(|command| command.name.to_owned()).filter(|name| name.starts_with(word)).collect()
    } else {
        match find_command(split(words_before).0) {
            Ok(command) => candidates(context, command.argument, word),
            Err(_) => Vec::new(),
        }
    };
    words.sort();
    words.dedup();
    words.truncate(MAX_CANDIDATES);
    Completion { start, words }
}

fn candidates(context: &mut CommandContext<'_>, argument: ArgumentKind, word: &str) -> Vec<String> {
    let matching = |names: Vec<String>| names.into_iter().filter(|name| name.starts_with(word)).collect();
    match argument {
        ArgumentKind::Nothing => Vec::new(),
        ArgumentKind::Command => matching(commands().map(|command| command.name.to_owned()).collect()),
        ArgumentKind::Location => context.session.target().complete_function(word),
        ArgumentKind::Property => {
            matching(context.session.monitors().map(|monitor| monitor.automaton().name.clone()).collect())
        }
        ArgumentKind::State => {
            let monitor = context.session.monitor(context.session.current_property());
            matching(monitor.map_or(Vec::new(), |monitor| monitor.states().map(str::to_owned).collect()))
        }
        ArgumentKind::File => files(word),
        ArgumentKind::Checkpoint => matching(
            context.session.checkpoints().iter().map(|checkpoint| checkpoint.id.to_string()).collect(),
        ),
        ArgumentKind::Breakpoint => {
            let breakpoints = context.session.target().breakpoints();
            matching(breakpoints.iter().map(|breakpoint| breakpoint.id.0.to_string()).collect())
        }
        ArgumentKind::Info => matching(info::TOPICS.map(str::to_owned).to_vec()),
        ArgumentKind::Method => matching(METHODS.map(str::to_owned).to_vec()),
        ArgumentKind::Variable => matching(variables(context)),
    }
}

/// The local variables and arguments of the selected frame.
fn variables(context: &mut CommandContext<'_>) -> Vec<String> {
    let target = context.session.target();
    let depth = target.selected_frame();
    let mut names: Vec<String> =
        target.locals().unwrap_or_default().into_iter().map(|variable| variable.name).collect();
    if let Some(frame) = target.frames(depth + 1).unwrap_or_default().get(depth) {
        names.extend(frame.arguments.iter().map(|variable| variable.name.clone()));
    }
    names
}

/// Files whose paths start with `word`.
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
