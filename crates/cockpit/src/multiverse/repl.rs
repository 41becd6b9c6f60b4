//! The command loop: lines in, text out.

use super::command::find;
use super::display::SHORT_LIST;
use super::model_debugger::ModelDebugger;
use super::search::describe_cycle;
use super::subject_syntax::SubjectSyntax;
use crate::complete::Completion;
use crate::interrupt_handle::InterruptHandle;
use crate::prompt::{self, CommandProcessor, PROMPT};
use invigil_check::report::{Paint, Style};
use invigil_explore::Limits;
use invigil_explore::breakpoint_search::Execution;
use invigil_semantics::{Describe, Evaluate, Semantics};
use std::io::{BufRead, Write};

/// Configuration of the model debugger.
#[derive(Clone, Default)]
pub struct ReplConfig {
    /// Name of the subject.
    pub name: String,
    /// Layout and colours of the output.
    pub style: Style,
    /// Initial limits of searches.
    pub limits: Limits,
    /// Interrupts a search on Ctrl-C.
    pub interrupt: InterruptHandle,
    /// A command to execute at the start.
    pub first_command: Option<String>,
}

/// Source of the commands.
pub enum Input<'a> {
    /// The user at a terminal.
    Terminal,
    /// A command file: each command is printed before its output, and the first error ends the file.
    Lines(&'a mut dyn BufRead),
}

/// How the command loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplOutcome {
    /// All commands succeeded, or the user quit.
    Done,
    /// A command of the file failed.
    Failed,
}

/// Debugs a subject: executes commands until the input ends. An execution found elsewhere, such as a counterexample,
/// is opened as the first universe.
///
/// # Errors
/// If the terminal cannot be used, or the output cannot be written.
pub fn debug<'a, S: Semantics + Evaluate + Describe, D: SubjectSyntax<S>>(
    subject: &'a S,
    syntax: &'a D,
    initial_execution: Option<&Execution<S::Config, S::Action>>,
    config: ReplConfig,
    input: Input<'_>,
    out: &mut dyn Write,
) -> Result<ReplOutcome, String>
where
    S::Expr: Clone + Send + Sync + 'a,
{
    let (style, first_command) = (config.style, config.first_command.clone());
    let mut model_debugger = ModelDebugger::new(subject, syntax, config, matches!(input, Input::Terminal));
    let welcome = match first_command {
        Some(line) => model_debugger.run(&line)?,
        None => model_debugger.welcome(initial_execution),
    };
    match input {
        Input::Terminal => {
            print(out, &format!("{}: `help` lists the commands\n{welcome}", model_debugger.name))?;
            let mut printed = Ok(());
            prompt::run_prompt_with(&mut model_debugger, style, &mut |text, is_error| {
                let text = if is_error { render_error(&style, text) } else { text.to_owned() };
                printed = printed.clone().and(print(out, &text));
            })?;
            printed.map(|()| ReplOutcome::Done)
        }
        Input::Lines(lines) => {
            print(out, &welcome)?;
            run_command_file(&mut model_debugger, lines, style, out)
        }
    }
}

fn run_command_file<'a, S: Semantics + Evaluate + Describe, D: SubjectSyntax<S>>(
    model_debugger: &mut ModelDebugger<'a, S, D>,
    lines: &mut dyn BufRead,
    style: Style,
    out: &mut dyn Write,
) -> Result<ReplOutcome, String>
where
    S::Expr: Clone + Send + Sync + 'a,
{
    for line in lines.lines() {
        let line = line.map_err(|error| format!("cannot read the commands: {error}"))?;
        // In a command file, empty lines only separate commands.
        if line.trim().is_empty() || line.trim().starts_with('#') {
            continue;
        }
        print(out, &format!("{}{}\n", style.paint(Paint::Title, PROMPT), line.trim()))?;
        match model_debugger.run(&line) {
            Ok(output) => print(out, &output)?,
            Err(message) => {
                print(out, &render_error(&style, &(message + "\n")))?;
                return Ok(ReplOutcome::Failed);
            }
        }
        if model_debugger.has_quit() {
            break;
        }
    }
    Ok(ReplOutcome::Done)
}

fn render_error(style: &Style, text: &str) -> String {
    format!("{} {text}", style.paint(Paint::Bad, "error:"))
}

fn print(out: &mut dyn Write, text: &str) -> Result<(), String> {
    let result = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    result.map_err(|error| format!("cannot write the output: {error}"))
}

impl<S: Semantics + Evaluate + Describe, D: SubjectSyntax<S>> ModelDebugger<'_, S, D> {
    /// Opens an execution or selects the only initial configuration, and shows the result.
    fn welcome(&mut self, initial_execution: Option<&Execution<S::Config, S::Action>>) -> String {
        let Some(execution) = initial_execution else {
            self.select_only_initial();
            return self.render_current();
        };
        self.follow(execution);
        let path = self.current_node().map_or(Vec::new(), |node| self.at.history.path(node));
        let mut out = String::new();
        self.render_steps(&path, &mut out);
        out.push_str(&describe_cycle(execution, &path));
        out + &self.render_choices(SHORT_LIST)
    }
}

impl<'a, S: Semantics + Evaluate + Describe, D: SubjectSyntax<S>> CommandProcessor for ModelDebugger<'a, S, D>
where
    S::Expr: Clone + Send + Sync + 'a,
{
    fn has_quit(&self) -> bool {
        ModelDebugger::has_quit(self)
    }

    fn run(&mut self, line: &str) -> Result<String, String> {
        ModelDebugger::run(self, line)
    }

    fn complete(&mut self, line: &str, position: usize) -> Completion {
        ModelDebugger::complete(self, line, position)
    }

    fn usage(&self, word: &str) -> Option<&'static str> {
        find(word).ok().map(|command| command.usage)
    }
}
