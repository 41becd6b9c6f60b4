//! The prompt: asks a person for commands until there is nothing left to do.

use crate::cockpit::Cockpit;
use crate::command::find;
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

/// What stands before a line that is to be written.
pub const PROMPT: &str = "(invigil) ";
/// How many lines are remembered from one session to the next.
const REMEMBERED: usize = 1000;

/// What helps a person to write a line.
struct Help<'a> {
    cockpit: &'a RefCell<&'a mut Cockpit>,
    style: Style,
}

impl Completer for Help<'_> {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        // While a line is written no command runs, so the cockpit is free.
        let Ok(mut cockpit) = self.cockpit.try_borrow_mut() else { return Ok((0, Vec::new())) };
        let completion = cockpit.complete(line, position);
        Ok((completion.start, completion.words))
    }
}

impl Hinter for Help<'_> {
    type Hint = String;

    fn hint(&self, line: &str, position: usize, _: &Context<'_>) -> Option<String> {
        if position < line.len() {
            return None;
        }
        // What can follow a command, once it is clear which one it is.
        let word = line.strip_suffix(' ')?;
        let is_word = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let command = is_word.then(|| find(word).ok()).flatten()?;
        (!command.usage.is_empty()).then(|| command.usage.to_owned())
    }
}

impl Highlighter for Help<'_> {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Owned(self.style.paint(Paint::Title, prompt))
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(self.style.paint(Paint::Faint, hint))
    }
}

impl Validator for Help<'_> {}
impl Helper for Help<'_> {}

/// Asks for commands and runs them, until someone leaves. `show` takes what is to be shown, and whether it
/// is about a mistake.
///
/// # Errors
/// If the terminal cannot be used.
pub fn ask(cockpit: &mut Cockpit, style: Style, show: &dyn Fn(&str, bool)) -> Result<(), String> {
    let failed = |error: ReadlineError| format!("the terminal cannot be used: {error}");
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .history_ignore_space(true)
        .max_history_size(REMEMBERED)
        .map_err(failed)?
        .build();
    let shared = RefCell::new(cockpit);
    let mut editor: Editor<Help<'_>, FileHistory> = Editor::with_config(config).map_err(failed)?;
    editor.set_helper(Some(Help { cockpit: &shared, style }));
    let history = history();
    if let Some(path) = &history {
        // The first time there is none.
        let _ = editor.load_history(path);
    }
    // A signal that wants us to leave interrupts the reading of a line.
    while !shared.borrow().is_over() {
        let line = match editor.readline(PROMPT) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => "quit".to_owned(),
            Err(error) => return Err(failed(error)),
        };
        if !line.trim().is_empty() {
            // A line that cannot be remembered is run all the same.
            let _ = editor.add_history_entry(line.as_str());
        }
        let said = shared.borrow_mut().run(&line);
        let question = shared.borrow_mut().question();
        let said = match question {
            Some(question) => match confirmed(&mut editor, &question) {
                true => shared.borrow_mut().run_surely(&line),
                false => continue,
            },
            None => said,
        };
        match said {
            Ok(words) => show(&words, false),
            Err(words) => show(&(words + "\n"), true),
        }
    }
    if let Some(path) = &history {
        // Without a place to write, the history is of this session only.
        let _ = editor.save_history(path);
    }
    Ok(())
}

/// Whether the answer to a question is yes. No answer at all is a yes, or else one could not leave.
fn confirmed(editor: &mut Editor<Help<'_>, FileHistory>, question: &str) -> bool {
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

/// Where the lines of earlier sessions are kept; none if that cannot be written.
fn history() -> Option<PathBuf> {
    let given = env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let state = given.or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(".local/state")))?;
    let folder = state.join("invigil");
    fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}
