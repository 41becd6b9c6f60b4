//! The command `help`, and completion.

use super::command::{CommandInfo, TOPICS, Verb, all, find, split};
use super::model_debugger::ModelDebugger;
use super::subject_syntax::SubjectSyntax;
use crate::complete::{Completion, files};
use invigil_check::report::Paint;
use invigil_semantics::{Describe, Evaluate, Semantics};

/// Further explanation of a command, where one line is not enough.
fn explanation(verb: Verb) -> &'static str {
    match verb {
        Verb::Step => {
            "A number alone is a step, too. If only one action is enabled, `step` executes it.\n\
             If the action has several outcomes, `select` one of them next."
        }
        Verb::Break => {
            "break PREDICATE       a step that satisfies it: `x == 3`, `x' == x + 1 && enabled(send)`\n\
             break on NAME         a step by an action with that name\n\
             break deadlock        a configuration from which no step is possible\n\
             break regex PATTERN   steps that match: names, \"predicates\", `.`, `|`, `*`, `+`, `?`, parentheses;\n\
             \x20                     anywhere on the path; with a leading `^`, from here\n\
             break ltl FORMULA     an execution from here that satisfies it: finite if a prefix decides the\n\
             \x20                     formula, otherwise infinite\n\
             break prop FILE       an execution from here that violates the property\n\n\
             `run` goes to the nearest breakpoint. Breakpoints that hold in the current configuration are skipped."
        }
        Verb::Run => {
            "Explores all executions from here, and goes to a breakpoint on a shortest path.\n\
             `run 3` finds three paths, `run all` finds all, and both stay here: each path becomes a universe in\n\
             the tree, to which you can `jump`. There is one path per configuration in which a breakpoint is hit."
        }
        Verb::Reduce => {
            "Of all configurations in which these expressions have the same values, `run` explores only the first.\n\
             This makes the search faster, but it may miss breakpoints; `run` reports the number of skipped\n\
             configurations. Every execution it finds is real."
        }
        Verb::Limit => {
            "limit states N       configurations\n\
             limit depth N        steps from here\n\
             limit time SECONDS   time\n\
             limit off            no limits; Ctrl-C interrupts a search"
        }
        Verb::Save => {
            "One line of JSON per node, with the action and the outcome that lead to it. `open` reads the file."
        }
        Verb::Open => {
            "Lines of JSON, each with an `action` (or `event`) and, if there are several, its `outcome` from 0 or\n\
             the `state` it leads to. `save` writes such files."
        }
        Verb::Jump => {
            "Nodes are numbered in the order of their first visit. `tree` shows them, `name` names them."
        }
        Verb::Restart => "If there are several initial configurations, `select` one of them.",
        _ => "",
    }
}

fn name_and_usage(command: &CommandInfo) -> String {
    format!("{} {}", command.name, command.usage).trim_end().to_owned()
}

impl<S: Semantics + Evaluate + Describe, D: SubjectSyntax<S>> ModelDebugger<'_, S, D> {
    /// Lists the commands or explains one.
    pub(super) fn help_command(&mut self, rest: &str) -> Result<String, String> {
        let title = |text: &str| self.style.paint(Paint::Title, text);
        let mut out = String::new();
        if !rest.is_empty() {
            let command = find(rest)?;
            out.push_str(&format!("{}\n  {}\n", title(&name_and_usage(command)), command.summary));
            if !command.aliases.is_empty() {
                out.push_str(&format!("  Aliases: {}\n", command.aliases.join(", ")));
            }
            let explanation = explanation(command.verb);
            if !explanation.is_empty() {
                out.push('\n');
            }
            explanation
                .lines()
                .for_each(|line| out.push_str(&format!("{}\n", format!("  {line}").trim_end())));
            return Ok(out);
        }
        let width = all().map(|command| name_and_usage(command).chars().count()).max().unwrap_or(0);
        for (topic, commands) in TOPICS {
            out.push_str(&format!("{}\n", title(topic)));
            for command in *commands {
                out.push_str(&format!("  {:width$}  {}\n", name_and_usage(command), command.summary));
            }
            out.push('\n');
        }
        Ok(
            out + "A command may be abbreviated as long as it is unambiguous. `help COMMAND` explains a command.\n"
        )
    }

    /// Completes the word before the cursor.
    pub(super) fn complete(&self, line: &str, position: usize) -> Completion {
        let before = line.get(..position).unwrap_or(line);
        let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
        let start = before.len() - word.len();
        let words_before = before[..start].trim();
        let mut words: Vec<String> = match find(split(words_before).0).map(|command| command.verb) {
            _ if words_before.is_empty() => all().map(|command| command.name.to_owned()).collect(),
            Ok(Verb::Help) => all().map(|command| command.name.to_owned()).collect(),
            Ok(Verb::Save | Verb::Open) => return Completion { start, words: files(word) },
            Ok(Verb::Break) if words_before.ends_with("prop") => {
                return Completion { start, words: files(word) };
            }
            Ok(Verb::Break) if split(words_before).1.is_empty() => {
                let kinds = ["on", "deadlock", "regex", "ltl", "prop"].map(str::to_owned);
                kinds.into_iter().chain(self.syntax.names()).collect()
            }
            Ok(Verb::Break | Verb::Print | Verb::Watch | Verb::Expect | Verb::Reduce | Verb::State) => {
                self.syntax.names()
            }
            Ok(Verb::Jump) => self.names.keys().cloned().collect(),
            Ok(Verb::Step) => {
                let current = self.at.current.iter();
                let actions = current.flat_map(|at| self.subject.actions(at).into_iter().collect::<Vec<_>>());
                // Complete the whole name, which may contain blanks.
                let rest =
                    before.trim_start().trim_start_matches(|c: char| c.is_ascii_alphabetic()).trim_start();
                let names = actions.map(|action| self.action(&action));
                let words = names.filter(|name| name.starts_with(rest)).collect();
                return Completion { start: before.len() - rest.len(), words };
            }
            _ => Vec::new(),
        };
        words.retain(|candidate| candidate.starts_with(word));
        words.sort();
        words.dedup();
        Completion { start, words }
    }
}
