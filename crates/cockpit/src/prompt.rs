//! The interactive prompt: line editing, history, completion and confirmation.

use crate::command::find_command;
use crate::complete::Completion;
use crate::live_debugger::LiveDebugger;
use invigil_check::report::{Paint, Style};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use std::borrow::Cow;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The prompt string.
pub const PROMPT: &str = "(invigil) ";
/// Maximum length of the history file, in lines.
const HISTORY_LENGTH: usize = 1000;

/// A command interpreter that the prompt can drive.
pub(crate) trait CommandProcessor {
    /// Executes a line and returns its output or an error message.
    fn run(&mut self, line: &str) -> Result<String, String>;

    /// Whether the prompt must end.
    fn has_quit(&self) -> bool;

    /// Completes the word before the cursor.
    fn complete(&mut self, line: &str, position: usize) -> Completion;

    /// Returns the argument syntax of a command, or `None` if the word is not a command.
    fn usage(&self, word: &str) -> Option<&'static str>;

    /// Takes the confirmation question of the last line, if it needs confirmation; its command has not run yet, and
    /// the result of [`run`](Self::run) is empty.
    fn take_question(&mut self) -> Option<String> {
        None
    }

    /// Executes a line after its question was answered with yes.
    fn run_confirmed(&mut self, line: &str) -> Result<String, String> {
        self.run(line)
    }
}

impl CommandProcessor for LiveDebugger {
    fn run(&mut self, line: &str) -> Result<String, String> {
        LiveDebugger::run(self, line).map_err(|error| error.to_string())
    }

    fn has_quit(&self) -> bool {
        LiveDebugger::has_quit(self)
    }

    fn complete(&mut self, line: &str, position: usize) -> Completion {
        LiveDebugger::complete(self, line, position)
    }

    fn usage(&self, word: &str) -> Option<&'static str> {
        find_command(word).ok().map(|command| command.usage)
    }

    fn take_question(&mut self) -> Option<String> {
        LiveDebugger::take_question(self)
    }

    fn run_confirmed(&mut self, line: &str) -> Result<String, String> {
        LiveDebugger::run_confirmed(self, line).map_err(|error| error.to_string())
    }
}

/// Completion, hints and colours for the line editor.
struct LineHelper<'a, 'c> {
    processor: &'a RefCell<&'c mut dyn CommandProcessor>,
    style: Style,
}

impl Completer for LineHelper<'_, '_> {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        // No command runs while a line is edited, so the borrow succeeds.
        let Ok(mut processor) = self.processor.try_borrow_mut() else { return Ok((0, Vec::new())) };
        let completion = processor.complete(line, position);
        Ok((completion.start, completion.words))
    }
}

impl Hinter for LineHelper<'_, '_> {
    type Hint = String;

    fn hint(&self, line: &str, position: usize, _: &Context<'_>) -> Option<String> {
        if position < line.len() {
            return None;
        }
        // Show the argument syntax once the command word is complete.
        let word = line.strip_suffix(' ')?;
        let is_word = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let processor = self.processor.try_borrow().ok().filter(|_| is_word)?;
        processor.usage(word).filter(|usage| !usage.is_empty()).map(str::to_owned)
    }
}

impl Highlighter for LineHelper<'_, '_> {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Owned(self.style.paint(Paint::Title, prompt))
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(self.style.paint(Paint::Faint, hint))
    }
}

impl Validator for LineHelper<'_, '_> {}
impl Helper for LineHelper<'_, '_> {}

/// Reads commands and executes them until the user quits. `show` prints a text; its flag marks errors.
///
/// # Errors
/// Returns an error if the terminal cannot be used.
pub fn run_prompt(
    debugger: &mut LiveDebugger,
    style: Style,
    show: &dyn Fn(&str, bool),
) -> Result<(), String> {
    run_prompt_with(debugger, style, &mut |text, is_error| show(text, is_error))
}

/// Runs the prompt for any command interpreter.
pub(crate) fn run_prompt_with(
    processor: &mut dyn CommandProcessor,
    style: Style,
    show: &mut dyn FnMut(&str, bool),
) -> Result<(), String> {
    let failed = |error: ReadlineError| format!("cannot use the terminal: {error}");
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .history_ignore_space(true)
        .max_history_size(HISTORY_LENGTH)
        .map_err(failed)?
        .build();
    let shared = RefCell::new(processor);
    let mut editor: Editor<LineHelper<'_, '_>, FileHistory> = Editor::with_config(config).map_err(failed)?;
    editor.set_helper(Some(LineHelper { processor: &shared, style }));
    let history = history_path();
    if let Some(path) = &history {
        // The file does not exist before the first session.
        let _ = editor.load_history(path);
    }
    // A signal that requests an exit interrupts `readline`.
    while !shared.borrow().has_quit() {
        let line = match editor.readline(PROMPT) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => "quit".to_owned(),
            Err(error) => return Err(failed(error)),
        };
        if !line.trim().is_empty() {
            // A line is executed even if it cannot be stored.
            let _ = editor.add_history_entry(line.as_str());
        }
        let result = shared.borrow_mut().run(&line);
        let question = shared.borrow_mut().take_question();
        let result = match question {
            Some(question) => match ask_for_confirmation(&mut editor, &question) {
                true => shared.borrow_mut().run_confirmed(&line),
                false => continue,
            },
            None => result,
        };
        match result {
            Ok(output) => show(&output, false),
            Err(message) => show(&(message + "\n"), true),
        }
    }
    if let Some(path) = &history {
        // If it cannot be saved, the history lasts for this session only.
        let _ = editor.save_history(path);
    }
    Ok(())
}

/// Asks the user to confirm. End of input counts as yes; otherwise the prompt would never end.
fn ask_for_confirmation(editor: &mut Editor<LineHelper<'_, '_>, FileHistory>, question: &str) -> bool {
    loop {
        match editor.readline(&format!("{question} (y or n) ")) {
            Ok(answer) => match answer.trim().to_lowercase().as_str() {
                "y" | "yes" => return true,
                "n" | "no" | "" => return false,
                _ => {}
            },
            Err(ReadlineError::Interrupted) => return false,
            Err(_) => return true,
        }
    }
}

/// Path of the history file, or `None` if its folder cannot be created.
fn history_path() -> Option<PathBuf> {
    let state_home = env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let state =
        state_home.or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(".local/state")))?;
    let folder = state.join("invigil");
    fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}
