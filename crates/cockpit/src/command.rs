//! The command interface of the live debugger: types of the command table, lookup and parsing of a line.

use crate::command_error::CommandError;
use crate::commands::TABLES;
use crate::repl_state::ReplState;
use invigil_expr::diag::nearest;
use invigil_session::Session;

/// Session and interpreter state that a command works on.
pub(crate) struct CommandContext<'a> {
    pub(crate) session: &'a mut Session,
    pub(crate) repl: &'a mut ReplState,
}

/// Output of a command, or the error for the user.
pub(crate) type CommandResult = Result<String, CommandError>;

/// Arguments of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arguments<'a> {
    /// The format after a slash, as in `x/4xw`.
    pub(crate) format: &'a str,
    /// The rest of the line.
    pub(crate) rest: &'a str,
}

/// Section of the help to which a command belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommandTopic {
    /// Running the target.
    Running,
    /// Breakpoints and watchpoints.
    Breakpoints,
    /// Inspecting and modifying the target.
    Program,
    /// Properties and their states.
    Properties,
    /// Checkpoints and event history.
    History,
    /// Files, and the session itself.
    Session,
}

impl CommandTopic {
    /// All topics, in the order of the help.
    pub const ALL: [CommandTopic; 6] = [
        CommandTopic::Running,
        CommandTopic::Breakpoints,
        CommandTopic::Program,
        CommandTopic::Properties,
        CommandTopic::History,
        CommandTopic::Session,
    ];

    /// Heading of the section.
    pub fn title(self) -> &'static str {
        match self {
            CommandTopic::Running => "Running the program",
            CommandTopic::Breakpoints => "Breakpoints and watchpoints",
            CommandTopic::Program => "Inspecting and modifying the program",
            CommandTopic::Properties => "Properties",
            CommandTopic::History => "Checkpoints and history",
            CommandTopic::Session => "Files and the session",
        }
    }
}

/// What the argument of a command denotes, for completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentKind {
    Nothing,
    Command,
    /// A function or a line.
    Location,
    Property,
    State,
    File,
    Checkpoint,
    Breakpoint,
    Info,
    Method,
    Variable,
}

/// An entry of the command table.
pub struct Command {
    /// Its full name.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// Syntax of its arguments.
    pub usage: &'static str,
    /// One-line description.
    pub summary: &'static str,
    /// Further explanation and examples; may be empty.
    pub more: &'static str,
    /// Its section in the help.
    pub topic: CommandTopic,
    pub(crate) argument: ArgumentKind,
    pub(crate) action: fn(&mut CommandContext<'_>, Arguments<'_>) -> CommandResult,
    /// Line that an empty line executes after this command.
    pub(crate) repeat: Option<&'static str>,
}

impl Command {
    pub(crate) const fn new(
        topic: CommandTopic,
        name: &'static str,
        usage: &'static str,
        summary: &'static str,
        action: fn(&mut CommandContext<'_>, Arguments<'_>) -> CommandResult,
    ) -> Command {
        Command {
            name,
            aliases: &[],
            usage,
            summary,
            more: "",
            topic,
            argument: ArgumentKind::Nothing,
            action,
            repeat: None,
        }
    }

    pub(crate) const fn aliases(self, aliases: &'static [&'static str]) -> Command {
        Command { aliases, ..self }
    }

    pub(crate) const fn argument(self, argument: ArgumentKind) -> Command {
        Command { argument, ..self }
    }

    pub(crate) const fn repeats(self, line: &'static str) -> Command {
        Command { repeat: Some(line), ..self }
    }

    pub(crate) const fn more(self, more: &'static str) -> Command {
        Command { more, ..self }
    }

    /// The name with the syntax of the arguments.
    pub fn call(&self) -> String {
        if self.usage.is_empty() { self.name.to_owned() } else { format!("{} {}", self.name, self.usage) }
    }
}

/// All commands, in the order of the help.
pub fn commands() -> impl Iterator<Item = &'static Command> {
    TABLES.iter().flat_map(|table| table.iter())
}

/// Finds a command by name, alias or unambiguous prefix.
pub(crate) fn find_command(word: &str) -> Result<&'static Command, String> {
    let exact = commands().find(|command| command.name == word || command.aliases.contains(&word));
    if let Some(command) = exact {
        return Ok(command);
    }
    let mut matching: Vec<&Command> = commands().filter(|command| command.name.starts_with(word)).collect();
    if matching.is_empty() {
        let other = |command: &&Command| command.aliases.iter().any(|name| name.starts_with(word));
        matching = commands().filter(other).collect();
    }
    match matching[..] {
        [command] => Ok(command),
        [] => {
            let names = commands()
                .flat_map(|command| std::iter::once(command.name).chain(command.aliases.iter().copied()));
            let near = nearest(word, names.filter(|name| name.len() > 1));
            Err(match near {
                Some(near) => format!("unknown command `{word}`: did you mean `{near}`?"),
                None => format!("unknown command `{word}`; `help` lists all commands"),
            })
        }
        _ => {
            let names: Vec<&str> = matching.iter().map(|command| command.name).collect();
            Err(format!("ambiguous command `{word}`: {}", listed(&names, "or")))
        }
    }
}

/// Joins names: `a, b or c`.
pub(crate) fn listed(words: &[&str], conjunction: &str) -> String {
    match words {
        [] => String::new(),
        [one] => format!("`{one}`"),
        [all @ .., last] => {
            let all: Vec<String> = all.iter().map(|word| format!("`{word}`")).collect();
            format!("{} {conjunction} `{last}`", all.join(", "))
        }
    }
}

/// Splits a line into the command word and its arguments.
pub(crate) fn split(line: &str) -> (&str, Arguments<'_>) {
    let line = line.trim();
    // Commands of Verde (\[Jak19\]) may be entered with their prefix `verde`.
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
    (word, Arguments { format, rest: rest.trim() })
}

/// Executes a line.
pub(crate) fn run(context: &mut CommandContext<'_>, line: &str) -> CommandResult {
    let line = line.trim();
    if line.starts_with('#') {
        return Ok(String::new());
    }
    if line.is_empty() {
        return match context.repl.repeat {
            Some(repeat) => run(context, repeat),
            None => Ok(String::new()),
        };
    }
    let (word, arguments) = split(line);
    if word.is_empty() {
        return Err(format!("`{line}` is not a command; `help` lists all commands").into());
    }
    let command = find_command(word)?;
    let accepts_format = matches!(command.name, "print" | "x");
    if !arguments.format.is_empty() && !accepts_format {
        return Err(format!("`{}` does not accept a format; usage: {}", command.name, command.call()).into());
    }
    context.repl.repeat = command.repeat;
    (command.action)(context, arguments)
}
