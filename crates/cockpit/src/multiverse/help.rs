//! `help`, and how a line may go on.

use super::command::{Known, TOPICS, Verb, all, find, split};
use super::dialect::Dialect;
use super::journey::Journey;
use crate::complete::{Completion, files};
use invigil_check::report::Paint;
use invigil_semantics::{Describe, Evaluate, Semantics};

/// What there is to know besides, where a line is not enough.
fn more(verb: Verb) -> &'static str {
    match verb {
        Verb::Step => {
            "A number alone is a step, too. Where there is only one action, `step` does it.\n\
             With several outcomes, `select` one of them next."
        }
        Verb::Break => {
            "break PREDICATE       a step of which it is true: `x == 3`, `x' == x + 1 && enabled(send)`\n\
             break on NAME         a step by an action of that name\n\
             break deadlock        where nothing can happen\n\
             break regex PATTERN   steps that match: names, \"predicates\", `.`, `|`, `*`, `+`, `?`, parentheses;\n\
             \x20                     anywhere on the way, or with `^` in front from here on\n\
             break ltl FORMULA     an execution from here on that satisfies it, finite if that is certain\n\
             \x20                     after some steps, or else infinite\n\
             break prop FILE       an execution from here on that violates the property\n\n\
             `run` goes to the nearest of all breakpoints. One that holds where you stand is passed."
        }
        Verb::Run => {
            "Looks at all universes from here on, and goes the shortest way to a breakpoint.\n\
             `run 3` finds three ways, `run all` all of them, and both stay here: each becomes a universe in the\n\
             tree, to `jump` to. There is one way for each configuration in which a breakpoint is hit."
        }
        Verb::Reduce => {
            "For `run`, configurations in which all these expressions have the same values are alike: only the\n\
             first of them is looked behind. That makes a run quicker, and it may miss breakpoints: it says how\n\
             many configurations it skipped. What it finds is real."
        }
        Verb::Limit => {
            "limit states N       configurations\n\
             limit depth N        steps from here\n\
             limit time SECONDS   time\n\
             limit off            as much as it needs; Ctrl-C ends a run, too"
        }
        Verb::Save => {
            "One line of JSON for each place, with the action and the outcome that lead to it. `open` reads it back."
        }
        Verb::Open => {
            "Lines of JSON, each with an `action` (or `event`) and, if there are several, its `outcome` from 0 or\n\
             the `state` it leads to. `save` writes such files."
        }
        Verb::Jump => {
            "Places are numbered in the order in which they were seen. `tree` shows them, `name` names them."
        }
        Verb::Restart => "With several configurations to start in, `select` one of them.",
        _ => "",
    }
}

fn call(command: &Known) -> String {
    format!("{} {}", command.name, command.usage).trim_end().to_owned()
}

impl<S: Semantics + Evaluate + Describe, D: Dialect<S>> Journey<'_, S, D> {
    /// Lists the commands, or tells more about one.
    pub(super) fn help_command(&mut self, rest: &str) -> Result<String, String> {
        let title = |text: &str| self.style.paint(Paint::Title, text);
        let mut out = String::new();
        if !rest.is_empty() {
            let command = find(rest)?;
            out.push_str(&format!("{}\n  {}\n", title(&call(command)), command.summary));
            if !command.short.is_empty() {
                out.push_str(&format!("  Also called {}\n", command.short.join(", ")));
            }
            let more = more(command.verb);
            if !more.is_empty() {
                out.push('\n');
            }
            more.lines().for_each(|line| out.push_str(&format!("{}\n", format!("  {line}").trim_end())));
            return Ok(out);
        }
        let width = all().map(|command| call(command).chars().count()).max().unwrap_or(0);
        for (topic, commands) in TOPICS {
            out.push_str(&format!("{}\n", title(topic)));
            for command in *commands {
                out.push_str(&format!("  {:width$}  {}\n", call(command), command.summary));
            }
            out.push('\n');
        }
        Ok(
            out + "A command may be shortened as long as it is clear which one is meant. `help COMMAND` tells more.\n"
        )
    }

    /// How a line may go on.
    pub(super) fn complete(&self, line: &str, position: usize) -> Completion {
        let before = line.get(..position).unwrap_or(line);
        let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
        let start = before.len() - word.len();
        let lead = before[..start].trim();
        let mut words: Vec<String> = match find(split(lead).0).map(|command| command.verb) {
            _ if lead.is_empty() => all().map(|command| command.name.to_owned()).collect(),
            Ok(Verb::Help) => all().map(|command| command.name.to_owned()).collect(),
            Ok(Verb::Save | Verb::Open) => return Completion { start, words: files(word) },
            Ok(Verb::Break) if lead.ends_with("prop") => return Completion { start, words: files(word) },
            Ok(Verb::Break) if split(lead).1.is_empty() => {
                let kinds = ["on", "deadlock", "regex", "ltl", "prop"].map(str::to_owned);
                kinds.into_iter().chain(self.dialect.words()).collect()
            }
            Ok(Verb::Break | Verb::Print | Verb::Watch | Verb::Expect | Verb::Reduce | Verb::State) => {
                self.dialect.words()
            }
            Ok(Verb::Jump) => self.names.keys().cloned().collect(),
            Ok(Verb::Step) => {
                let current = self.at.current.iter();
                let actions = current.flat_map(|at| self.subject.actions(at).into_iter().collect::<Vec<_>>());
                // The whole name, as it may have several words.
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
