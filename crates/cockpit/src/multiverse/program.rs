//! The program: lines in, text out.

use super::command::find;
use super::dialect::Dialect;
use super::journey::Journey;
use super::running::forever;
use crate::bell::Bell;
use crate::complete::Completion;
use crate::prompt::{self, Commanded, PROMPT};
use invigil_check::report::{Paint, Style};
use invigil_explore::Limits;
use invigil_explore::finder::Execution;
use invigil_semantics::{Describe, Evaluate, Semantics};
use std::io::{BufRead, Write};

/// How a model is debugged.
#[derive(Clone, Default)]
pub struct Setting {
    /// What it is called.
    pub name: String,
    /// How texts are laid out.
    pub style: Style,
    /// How much a run may take at first.
    pub limits: Limits,
    /// Rung by whoever listens to Ctrl-C: ends a search.
    pub bell: Bell,
    /// A command to begin with.
    pub first: Option<String>,
}

/// Where commands come from.
pub enum Input<'a> {
    /// A person at a terminal.
    Terminal,
    /// A script: each command is shown before what it says, and one that cannot be done ends the script.
    Lines(&'a mut dyn BufRead),
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All commands were done, or a person left.
    Done,
    /// A command of a script could not be done.
    Failed,
}

/// Debugs a subject: takes commands until there are no more. An execution that was found elsewhere, such as a
/// counterexample, is opened as the first universe.
///
/// # Errors
/// If the terminal cannot be used, or what is said cannot be written.
pub fn debug<'a, S: Semantics + Evaluate + Describe, D: Dialect<S>>(
    subject: &'a S,
    dialect: &'a D,
    opened: Option<&Execution<S::Config, S::Action>>,
    setting: Setting,
    input: Input<'_>,
    out: &mut dyn Write,
) -> Result<Ending, String>
where
    S::Expr: Clone + Send + Sync + 'a,
{
    let (style, first) = (setting.style, setting.first.clone());
    let mut journey = Journey::new(subject, dialect, setting, matches!(input, Input::Terminal));
    let welcome = match first {
        Some(line) => journey.run(&line)?,
        None => journey.welcome(opened),
    };
    match input {
        Input::Terminal => {
            say(out, &format!("{}: `help` lists the commands\n{welcome}", journey.name))?;
            let mut failed = Ok(());
            prompt::ask_for(&mut journey, style, &mut |words, is_mistake| {
                let words = if is_mistake { mistake(&style, words) } else { words.to_owned() };
                failed = failed.clone().and(say(out, &words));
            })?;
            failed.map(|()| Ending::Done)
        }
        Input::Lines(lines) => {
            say(out, &welcome)?;
            script(&mut journey, lines, style, out)
        }
    }
}

fn script<'a, S: Semantics + Evaluate + Describe, D: Dialect<S>>(
    journey: &mut Journey<'a, S, D>,
    lines: &mut dyn BufRead,
    style: Style,
    out: &mut dyn Write,
) -> Result<Ending, String>
where
    S::Expr: Clone + Send + Sync + 'a,
{
    for line in lines.lines() {
        let line = line.map_err(|error| format!("the commands cannot be read: {error}"))?;
        // In a file an empty line is there to be read by people.
        if line.trim().is_empty() || line.trim().starts_with('#') {
            continue;
        }
        say(out, &format!("{}{}\n", style.paint(Paint::Title, PROMPT), line.trim()))?;
        match journey.run(&line) {
            Ok(words) => say(out, &words)?,
            Err(words) => {
                say(out, &mistake(&style, &(words + "\n")))?;
                return Ok(Ending::Failed);
            }
        }
        if journey.is_over() {
            break;
        }
    }
    Ok(Ending::Done)
}

fn mistake(style: &Style, words: &str) -> String {
    format!("{} {words}", style.paint(Paint::Bad, "error:"))
}

fn say(out: &mut dyn Write, words: &str) -> Result<(), String> {
    let said = out.write_all(words.as_bytes()).and_then(|()| out.flush());
    said.map_err(|error| format!("the output cannot be written: {error}"))
}

impl<S: Semantics + Evaluate + Describe, D: Dialect<S>> Journey<'_, S, D> {
    /// Starts, if there is only one way to, and says where that is.
    fn welcome(&mut self, opened: Option<&Execution<S::Config, S::Action>>) -> String {
        let Some(execution) = opened else {
            self.start();
            return self.here();
        };
        self.follow(execution);
        let path = self.place().map_or(Vec::new(), |place| self.at.history.path(place));
        let mut out = String::new();
        self.steps_told(&path, &mut out);
        out.push_str(&forever(execution, &path));
        out + &self.next(12)
    }
}

impl<'a, S: Semantics + Evaluate + Describe, D: Dialect<S>> Commanded for Journey<'a, S, D>
where
    S::Expr: Clone + Send + Sync + 'a,
{
    fn is_over(&self) -> bool {
        Journey::is_over(self)
    }

    fn run(&mut self, line: &str) -> Result<String, String> {
        Journey::run(self, line)
    }

    fn complete(&mut self, line: &str, position: usize) -> Completion {
        Journey::complete(self, line, position)
    }

    fn usage(&self, word: &str) -> Option<&'static str> {
        find(word).ok().map(|command| command.usage)
    }
}
