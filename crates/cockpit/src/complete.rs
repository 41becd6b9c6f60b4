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
    let lead = before[..start].trim();
    let mut words = if lead.is_empty() || lead == "verde" {
        commands().map(|command| command.name.to_owned()).filter(|name| name.starts_with(word)).collect()
    } else {
        match find_command(split(lead).0) {
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
    let with_prefix = |names: Vec<String>| names.into_iter().filter(|name| name.starts_with(word)).collect();
    match argument {
        ArgumentKind::Nothing => Vec::new(),
        ArgumentKind::Command => with_prefix(commands().map(|command| command.name.to_owned()).collect()),
        ArgumentKind::Location => context.session.target().complete_function(word),
        ArgumentKind::Property => {
            with_prefix(context.session.monitors().map(|monitor| monitor.automaton().name.clone()).collect())
        }
        ArgumentKind::State => {
            let monitor = context.session.monitor(context.session.current_property());
            with_prefix(monitor.map_or(Vec::new(), |monitor| monitor.states().map(str::to_owned).collect()))
        }
        ArgumentKind::File => files(word),
        ArgumentKind::Checkpoint => with_prefix(
            context.session.checkpoints().iter().map(|checkpoint| checkpoint.id.to_string()).collect(),
        ),
        ArgumentKind::Breakpoint => {
            let points = context.session.target().breakpoints();
            with_prefix(points.iter().map(|point| point.id.0.to_string()).collect())
        }
        ArgumentKind::Info => with_prefix(info::TOPICS.map(str::to_owned).to_vec()),
        ArgumentKind::Method => with_prefix(METHODS.map(str::to_owned).to_vec()),
        ArgumentKind::Variable => with_prefix(variables(context)),
    }
}

/// The local variables and arguments of the selected frame.
fn variables(context: &mut CommandContext<'_>) -> Vec<String> {
    let subject = context.session.target();
    let depth = subject.selected_frame();
    let mut names: Vec<String> =
        subject.locals().unwrap_or_default().into_iter().map(|variable| variable.name).collect();
    if let Some(frame) = subject.frames(depth + 1).unwrap_or_default().get(depth) {
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
