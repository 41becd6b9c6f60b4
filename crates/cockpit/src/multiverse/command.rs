//! The command table of the model debugger, lookup and execution of a line.

use super::model_debugger::ModelDebugger;
use super::subject_syntax::SubjectSyntax;
use crate::command::listed;
use invigil_expr::diag::nearest;
use invigil_semantics::{Describe, Evaluate, Semantics};

/// The commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Step,
    Select,
    Back,
    Forward,
    Jump,
    Restart,
    Run,
    Break,
    Delete,
    Reduce,
    Limit,
    Where,
    Actions,
    State,
    Print,
    Watch,
    Unwatch,
    Expect,
    Path,
    Tree,
    Name,
    Info,
    Save,
    Open,
    Help,
    Quit,
}

/// An entry of the command table: name, aliases, argument syntax, description.
pub(super) struct CommandInfo {
    pub(super) verb: Verb,
    pub(super) name: &'static str,
    pub(super) aliases: &'static [&'static str],
    pub(super) usage: &'static str,
    pub(super) summary: &'static str,
}

const fn command(
    verb: Verb,
    name: &'static str,
    aliases: &'static [&'static str],
    usage: &'static str,
    summary: &'static str,
) -> CommandInfo {
    CommandInfo { verb, name, aliases, usage, summary }
}

/// The commands by topic, in the order of the help.
pub(super) const TOPICS: &[(&str, &[CommandInfo])] = &[
    (
        "Moving",
        &[
            command(
                Verb::Step,
                "step",
                &["s"],
                "[N | NAME]",
                "Execute an action, by number or part of its name",
            ),
            command(
                Verb::Select,
                "select",
                &["o"],
                "N",
                "Select one of several outcomes or initial configurations",
            ),
            command(Verb::Back, "back", &["undo", "u"], "[N]", "Go back one step, or N steps"),
            command(
                Verb::Forward,
                "forward",
                &["redo", "f"],
                "[N]",
                "Go forward along the path taken before",
            ),
            command(Verb::Jump, "jump", &["j"], "#N | NAME", "Go to a node of the tree"),
            command(Verb::Restart, "restart", &[], "", "Go back to the start; the tree is kept"),
        ],
    ),
    (
        "Running to breakpoints",
        &[
            command(
                Verb::Run,
                "run",
                &["r", "continue", "c"],
                "[N | all]",
                "Run to a breakpoint on a shortest path, or find several paths",
            ),
            command(
                Verb::Break,
                "break",
                &["b"],
                "[WHAT]",
                "Set a breakpoint, or list them; see `help break`",
            ),
            command(Verb::Delete, "delete", &["d"], "N | all", "Delete a breakpoint"),
            command(
                Verb::Reduce,
                "reduce",
                &[],
                "[EXPRESSION, … | off]",
                "Reduction for `run`: explore one configuration per value",
            ),
            command(
                Verb::Limit,
                "limit",
                &[],
                "[states N | depth N | time S | off]",
                "Set the limits of `run`",
            ),
        ],
    ),
    (
        "Inspecting",
        &[
            command(Verb::Where, "where", &["w"], "", "Show the current step, changes and enabled actions"),
            command(Verb::Actions, "actions", &["a", "enabled"], "", "List all enabled actions"),
            command(Verb::State, "state", &["st"], "[NAME]", "Show all variables, or those with this prefix"),
            command(Verb::Print, "print", &["p"], "EXPRESSION", "Evaluate an expression"),
            command(
                Verb::Watch,
                "watch",
                &[],
                "[EXPRESSION]",
                "Display an expression whenever it changes, or list them",
            ),
            command(Verb::Unwatch, "unwatch", &[], "N | all", "Remove a displayed expression"),
            command(
                Verb::Expect,
                "expect",
                &[],
                "PREDICATE",
                "Fail unless the predicate holds for the last step (for scripts)",
            ),
            command(Verb::Path, "path", &["pa"], "[all]", "Show the steps from the start"),
            command(Verb::Tree, "tree", &["t"], "[all]", "Show the tree of universes"),
            command(Verb::Name, "name", &["n"], "NAME", "Name the current node"),
            command(Verb::Info, "info", &["i"], "", "Show breakpoints, displayed expressions and settings"),
        ],
    ),
    (
        "Files and session",
        &[
            command(Verb::Save, "save", &[], "FILE", "Write the tree to a file"),
            command(Verb::Open, "open", &[], "FILE", "Add the executions of a file to the tree"),
            command(Verb::Help, "help", &["h", "?"], "[COMMAND]", "List the commands, or explain one"),
            command(Verb::Quit, "quit", &["q", "exit"], "", "Quit"),
        ],
    ),
];

/// All commands.
pub(super) fn all() -> impl Iterator<Item = &'static CommandInfo> {
    TOPICS.iter().flat_map(|(_, commands)| commands.iter())
}

/// Finds a command by name, alias or unambiguous prefix.
pub(super) fn find(word: &str) -> Result<&'static CommandInfo, String> {
    if let Some(command) = all().find(|command| command.name == word || command.aliases.contains(&word)) {
        return Ok(command);
    }
    let matching: Vec<&CommandInfo> = all().filter(|command| command.name.starts_with(word)).collect();
    match matching[..] {
        [command] => Ok(command),
        [] => Err(match nearest(word, all().map(|command| command.name)) {
            Some(near) => format!("unknown command `{word}`: did you mean `{near}`?"),
            None => format!("unknown command `{word}`; `help` lists all commands"),
        }),
        [..] => {
            let names: Vec<&str> = matching.iter().map(|command| command.name).collect();
            Err(format!("ambiguous command `{word}`: {}", listed(&names, "or")))
        }
    }
}

/// Splits a line into the command word and the rest.
pub(super) fn split(line: &str) -> (&str, &str) {
    let line = line.trim();
    let is_word = |c: char| c.is_ascii_alphabetic() || c == '?';
    let (word, rest) = line.split_at(line.find(|c| !is_word(c)).unwrap_or(line.len()));
    (word, rest.trim())
}

impl<'a, S: Semantics + Evaluate + Describe, D: SubjectSyntax<S>> ModelDebugger<'a, S, D>
where
    S::Expr: Clone + Send + Sync + 'a,
{
    /// Executes a line and returns its output. A number alone executes that action or selects that outcome; an empty
    /// line repeats the last command if it is repeatable.
    ///
    /// # Errors
    /// If the command fails: a message for the user.
    pub(super) fn run(&mut self, line: &str) -> Result<String, String> {
        let line = line.trim();
        if line.starts_with('#') {
            return Ok(String::new());
        }
        if line.is_empty() {
            return self.repeat.map_or(Ok(String::new()), |repeat| self.run(repeat));
        }
        self.repeat = None;
        if line.bytes().all(|byte| byte.is_ascii_digit()) {
            return if self.at.current.is_some() {
                self.step_command(line)
            } else {
                self.select_command(line)
            };
        }
        let (word, rest) = split(line);
        if word.is_empty() {
            return Err(format!("`{line}` is not a command; `help` lists all commands"));
        }
        let command = find(word)?;
        if command.usage.is_empty() && !rest.is_empty() {
            return Err(format!("`{}` takes no arguments; found `{rest}`", command.name));
        }
        match command.verb {
            Verb::Step => {
                // Repeat only the form without a choice.
                self.repeat = rest.is_empty().then_some("step");
                self.step_command(rest)
            }
            Verb::Select => self.select_command(rest),
            Verb::Back => {
                self.repeat = Some("back");
                self.back_command(rest)
            }
            Verb::Forward => {
                self.repeat = Some("forward");
                self.forward_command(rest)
            }
            Verb::Jump => self.jump_command(rest),
            Verb::Restart => self.restart_command(),
            Verb::Run => {
                self.repeat = rest.is_empty().then_some("run");
                self.run_command(rest)
            }
            Verb::Break => self.break_command(rest),
            Verb::Delete => self.delete_command(rest),
            Verb::Reduce => self.reduce_command(rest),
            Verb::Limit => self.limit_command(rest),
            Verb::Where => Ok(self.render_current()),
            Verb::Actions => Ok(self.render_choices(usize::MAX)),
            Verb::State => self.state_command(rest),
            Verb::Print => self.print_command(rest),
            Verb::Watch => self.watch_command(rest),
            Verb::Unwatch => self.unwatch_command(rest),
            Verb::Expect => self.expect_command(rest),
            Verb::Path => self.path_command(rest),
            Verb::Tree => self.tree_command(rest),
            Verb::Name => self.name_command(rest),
            Verb::Info => self.info_command(),
            Verb::Save => self.save_command(rest),
            Verb::Open => self.open_command(rest),
            Verb::Help => self.help_command(rest),
            Verb::Quit => {
                self.has_quit = true;
                Ok(String::new())
            }
        }
    }
}
