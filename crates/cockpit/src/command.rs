//! The commands: a table of them, and how a line finds its command.

use crate::commands as all;
use crate::desk::Desk;
use invigil_expr::diag::nearest;
use invigil_session::Session;

/// What a command works on.
pub(crate) struct Scene<'a> {
    pub(crate) session: &'a mut Session,
    pub(crate) desk: &'a mut Desk,
}

/// What a command says, or why it cannot be done.
pub(crate) type Said = Result<String, String>;

/// What a command is called with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a> {
    /// What stands behind a slash, as in `x/4xw`.
    pub(crate) format: &'a str,
    /// All that follows.
    pub(crate) rest: &'a str,
}

/// What a command is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// Making the program run.
    Running,
    /// Breakpoints and watchpoints.
    Points,
    /// Looking at the program, and changing it.
    Program,
    /// Properties and their states.
    Properties,
    /// Checkpoints and the past.
    Time,
    /// Files, and the session itself.
    Session,
}

impl Topic {
    /// All topics, in the order of the help.
    pub const ALL: [Topic; 6] =
        [Topic::Running, Topic::Points, Topic::Program, Topic::Properties, Topic::Time, Topic::Session];

    /// What the help calls it.
    pub fn title(self) -> &'static str {
        match self {
            Topic::Running => "Running the program",
            Topic::Points => "Breakpoints and watchpoints",
            Topic::Program => "Looking at the program, and changing it",
            Topic::Properties => "Properties",
            Topic::Time => "Checkpoints and the past",
            Topic::Session => "Files and the session",
        }
    }
}

/// What the words behind a command are, for completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    Command,
    /// A function, or a line.
    Place,
    Property,
    State,
    File,
    Checkpoint,
    Point,
    Info,
    Method,
    Variable,
}

/// A command.
pub struct Command {
    /// What it is called.
    pub name: &'static str,
    /// What else it is called.
    pub short: &'static [&'static str],
    /// What can follow it.
    pub usage: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// What there is to know besides, and examples; may be empty.
    pub more: &'static str,
    /// What it is about.
    pub topic: Topic,
    pub(crate) takes: Takes,
    pub(crate) action: fn(&mut Scene<'_>, Words<'_>) -> Said,
    /// What an empty line after it does.
    pub(crate) repeat: Option<&'static str>,
}

impl Command {
    pub(crate) const fn new(
        topic: Topic,
        name: &'static str,
        usage: &'static str,
        summary: &'static str,
        action: fn(&mut Scene<'_>, Words<'_>) -> Said,
    ) -> Command {
        Command {
            name,
            short: &[],
            usage,
            summary,
            more: "",
            topic,
            takes: Takes::Nothing,
            action,
            repeat: None,
        }
    }

    pub(crate) const fn short(self, short: &'static [&'static str]) -> Command {
        Command { short, ..self }
    }

    pub(crate) const fn takes(self, takes: Takes) -> Command {
        Command { takes, ..self }
    }

    pub(crate) const fn repeats(self, line: &'static str) -> Command {
        Command { repeat: Some(line), ..self }
    }

    pub(crate) const fn more(self, more: &'static str) -> Command {
        Command { more, ..self }
    }

    /// The command with what can follow it.
    pub fn call(&self) -> String {
        if self.usage.is_empty() { self.name.to_owned() } else { format!("{} {}", self.name, self.usage) }
    }
}

/// All commands, by topic.
pub fn commands() -> impl Iterator<Item = &'static Command> {
    all::TABLES.iter().flat_map(|table| table.iter())
}

/// The command of this name, short form or unambiguous beginning.
pub(crate) fn find(word: &str) -> Result<&'static Command, String> {
    let exact = commands().find(|command| command.name == word || command.short.contains(&word));
    if let Some(command) = exact {
        return Ok(command);
    }
    let mut begun: Vec<&Command> = commands().filter(|command| command.name.starts_with(word)).collect();
    if begun.is_empty() {
        let other = |command: &&Command| command.short.iter().any(|name| name.starts_with(word));
        begun = commands().filter(other).collect();
    }
    match begun[..] {
        [command] => Ok(command),
        [] => {
            let names = commands()
                .flat_map(|command| std::iter::once(command.name).chain(command.short.iter().copied()));
            let near = nearest(word, names.filter(|name| name.len() > 1));
            Err(match near {
                Some(near) => format!("there is no command `{word}`: did you mean `{near}`?"),
                None => format!("there is no command `{word}`; `help` lists them"),
            })
        }
        _ => {
            let names: Vec<&str> = begun.iter().map(|command| command.name).collect();
            Err(format!("`{word}` may be {}", listed(&names, "or")))
        }
    }
}

/// `a, b or c`.
pub(crate) fn listed(words: &[&str], last: &str) -> String {
    match words {
        [] => String::new(),
        [one] => format!("`{one}`"),
        [all @ .., end] => {
            let all: Vec<String> = all.iter().map(|word| format!("`{word}`")).collect();
            format!("{} {last} `{end}`", all.join(", "))
        }
    }
}

/// The word of a command, and the rest of the line.
pub(crate) fn split(line: &str) -> (&str, Words<'_>) {
    let line = line.trim();
    // Verde's commands have its name in front.
    let line = match line.strip_prefix("verde") {
        Some(rest) if rest.starts_with(char::is_whitespace) => rest.trim_start(),
        _ => line,
    };
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_' || c == '?';
    let end = line.find(|c| !is_word(c)).unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    let (format, rest) = match rest.strip_prefix('/') {
        Some(rest) => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        None => ("", rest),
    };
    (word, Words { format, rest: rest.trim() })
}

/// Runs a line.
pub(crate) fn run(scene: &mut Scene<'_>, line: &str) -> Said {
    let line = line.trim();
    if line.starts_with('#') {
        return Ok(String::new());
    }
    if line.is_empty() {
        return match scene.desk.repeat {
            Some(repeat) => run(scene, repeat),
            None => Ok(String::new()),
        };
    }
    let (word, words) = split(line);
    if word.is_empty() {
        return Err(format!("`{line}` is no command; `help` lists them"));
    }
    let command = find(word)?;
    let formatted = matches!(command.name, "print" | "x");
    if !words.format.is_empty() && !formatted {
        return Err(format!("`{}` takes no format: {}", command.name, command.call()));
    }
    scene.desk.repeat = command.repeat;
    (command.action)(scene, words)
}
