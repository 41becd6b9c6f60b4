//! The commands: a table of them, and how a line finds its command.

use super::dialect::Dialect;
use super::journey::Journey;
use crate::command::listed;
use invigil_expr::diag::nearest;
use invigil_semantics::{Describe, Evaluate, Semantics};

/// A command.
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

/// What is known of a command: its name, short forms, what can follow it, what it does.
pub(super) struct Known {
    pub(super) verb: Verb,
    pub(super) name: &'static str,
    pub(super) short: &'static [&'static str],
    pub(super) usage: &'static str,
    pub(super) summary: &'static str,
}

const fn known(
    verb: Verb,
    name: &'static str,
    short: &'static [&'static str],
    usage: &'static str,
    summary: &'static str,
) -> Known {
    Known { verb, name, short, usage, summary }
}

/// All commands by topic, in the order of the help.
pub(super) const TOPICS: &[(&str, &[Known])] = &[
    (
        "Moving",
        &[
            known(Verb::Step, "step", &["s"], "[N | NAME]", "Do an action: its number or a part of its name"),
            known(Verb::Select, "select", &["o"], "N", "Choose one of several outcomes, or where to start"),
            known(Verb::Back, "back", &["undo", "u"], "[N]", "Go back by a step, or by N"),
            known(Verb::Forward, "forward", &["redo", "f"], "[N]", "Go on again the way you went before"),
            known(Verb::Jump, "jump", &["j"], "#N | NAME", "Go to a place of the tree"),
            known(Verb::Restart, "restart", &[], "", "Start again; what was seen stays in the tree"),
        ],
    ),
    (
        "Running to breakpoints",
        &[
            known(
                Verb::Run,
                "run",
                &["r", "continue", "c"],
                "[N | all]",
                "Run to a breakpoint the shortest way; or find several ways",
            ),
            known(Verb::Break, "break", &["b"], "[WHAT]", "Set a breakpoint, or list them: `help break`"),
            known(Verb::Delete, "delete", &["d"], "N | all", "Take a breakpoint away"),
            known(
                Verb::Reduce,
                "reduce",
                &[],
                "[EXPRESSION, … | off]",
                "What is alike for `run`: look once for each value",
            ),
            known(
                Verb::Limit,
                "limit",
                &[],
                "[states N | depth N | time S | off]",
                "How much `run` may take",
            ),
        ],
    ),
    (
        "Looking",
        &[
            known(Verb::Where, "where", &["w"], "", "Where you are, how you came here, what can happen"),
            known(Verb::Actions, "actions", &["a", "enabled"], "", "All that can happen here"),
            known(Verb::State, "state", &["st"], "[NAME]", "All variables, or those whose names begin so"),
            known(Verb::Print, "print", &["p"], "EXPRESSION", "What an expression is worth here"),
            known(
                Verb::Watch,
                "watch",
                &[],
                "[EXPRESSION]",
                "Show an expression whenever it changes, or list them",
            ),
            known(Verb::Unwatch, "unwatch", &[], "N | all", "Stop showing one"),
            known(
                Verb::Expect,
                "expect",
                &[],
                "PREDICATE",
                "Fail unless it is true of the last step; for scripts",
            ),
            known(Verb::Path, "path", &["pa"], "[all]", "The steps from the start to here"),
            known(Verb::Tree, "tree", &["t"], "[all]", "All universes that were seen"),
            known(Verb::Name, "name", &["n"], "NAME", "Name this place"),
            known(Verb::Info, "info", &["i"], "", "Breakpoints, what is watched, and the like"),
        ],
    ),
    (
        "Files, and leaving",
        &[
            known(Verb::Save, "save", &[], "FILE", "Write all universes to a file"),
            known(Verb::Open, "open", &[], "FILE", "Take the executions of a file into the tree"),
            known(Verb::Help, "help", &["h", "?"], "[COMMAND]", "List the commands, or tell more about one"),
            known(Verb::Quit, "quit", &["q", "exit"], "", "Leave"),
        ],
    ),
];

/// All commands.
pub(super) fn all() -> impl Iterator<Item = &'static Known> {
    TOPICS.iter().flat_map(|(_, commands)| commands.iter())
}

/// The command of this name, short form or unambiguous beginning.
pub(super) fn find(word: &str) -> Result<&'static Known, String> {
    if let Some(command) = all().find(|command| command.name == word || command.short.contains(&word)) {
        return Ok(command);
    }
    let begun: Vec<&Known> = all().filter(|command| command.name.starts_with(word)).collect();
    match begun[..] {
        [command] => Ok(command),
        [] => Err(match nearest(word, all().map(|command| command.name)) {
            Some(near) => format!("there is no command `{word}`: did you mean `{near}`?"),
            None => format!("there is no command `{word}`; `help` lists them"),
        }),
        [..] => {
            let names: Vec<&str> = begun.iter().map(|command| command.name).collect();
            Err(format!("`{word}` may be {}", listed(&names, "or")))
        }
    }
}

/// The word of a command, and the rest of the line.
pub(super) fn split(line: &str) -> (&str, &str) {
    let line = line.trim();
    let is_word = |c: char| c.is_ascii_alphabetic() || c == '?';
    let (word, rest) = line.split_at(line.find(|c| !is_word(c)).unwrap_or(line.len()));
    (word, rest.trim())
}

impl<'a, S: Semantics + Evaluate + Describe, D: Dialect<S>> Journey<'a, S, D>
where
    S::Expr: Clone + Send + Sync + 'a,
{
    /// Runs a line; gives what it says. A number alone does that action or selects that outcome, and an empty line
    /// repeats the last command if that makes sense.
    ///
    /// # Errors
    /// With words for the user, if it cannot be done.
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
            return Err(format!("`{line}` is no command; `help` lists them"));
        }
        let command = find(word)?;
        if command.usage.is_empty() && !rest.is_empty() {
            return Err(format!("`{}` takes nothing behind it, not `{rest}`", command.name));
        }
        match command.verb {
            Verb::Step => {
                // Only where there is no choice.
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
            Verb::Where => Ok(self.here()),
            Verb::Actions => Ok(self.next(usize::MAX)),
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
                self.is_over = true;
                Ok(String::new())
            }
        }
    }
}
