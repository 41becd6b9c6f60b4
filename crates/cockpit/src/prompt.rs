//! The prompt: asks a person for commands until there is nothing left to do.

use crate::cockpit::Cockpit;
use crate::command::find;
use crate::complete::Completion;
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

/// What takes commands from a person.
pub(crate) trait Commanded {
    /// Runs a line; gives what it says, or what is wrong with it.
    fn run(&mut self, line: &str) -> Result<String, String>;

    /// Whether no more commands are to be asked for.
    fn is_over(&self) -> bool;

    /// How a line may go on.
    fn complete(&mut self, line: &str, position: usize) -> Completion;

    /// What can follow a command, if this is one.
    fn usage(&self, word: &str) -> Option<&'static str>;

    /// What the last line asks before it does anything.
    fn question(&mut self) -> Option<String> {
        None
    }

    /// Runs a line after its question was answered with yes.
    fn run_surely(&mut self, line: &str) -> Result<String, String> {
        self.run(line)
    }
}

impl Commanded for Cockpit {
    fn run(&mut self, line: &str) -> Result<String, String> {
        Cockpit::run(self, line)
    }

    fn is_over(&self) -> bool {
        Cockpit::is_over(self)
    }

    fn complete(&mut self, line: &str, position: usize) -> Completion {
        Cockpit::complete(self, line, position)
    }

    fn usage(&self, word: &str) -> Option<&'static str> {
        find(word).ok().map(|command| command.usage)
    }

    fn question(&mut self) -> Option<String> {
        Cockpit::question(self)
    }

    fn run_surely(&mut self, line: &str) -> Result<String, String> {
        Cockpit::run_surely(self, line)
    }
}

/// What helps a person to write a line.
struct Help<'a, 'c> {
    commanded: &'a RefCell<&'c mut dyn Commanded>,
    style: Style,
}

impl Completer for Help<'_, '_> {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        // While a line is written no command runs, so what takes it is free.
        let Ok(mut commanded) = self.commanded.try_borrow_mut() else { return Ok((0, Vec::new())) };
        let completion = commanded.complete(line, position);
        Ok((completion.start, completion.words))
    }
}

impl Hinter for Help<'_, '_> {
    type Hint = String;

    fn hint(&self, line: &str, position: usize, _: &Context<'_>) -> Option<String> {
        if position < line.len() {
            return None;
        }
        // What can follow a command, once it is clear which one it is.
        let word = line.strip_suffix(' ')?;
        let is_word = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let commanded = self.commanded.try_borrow().ok().filter(|_| is_word)?;
        commanded.usage(word).filter(|usage| !usage.is_empty()).map(str::to_owned)
    }
}

impl Highlighter for Help<'_, '_> {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Owned(self.style.paint(Paint::Title, prompt))
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(self.style.paint(Paint::Faint, hint))
    }
}

impl Validator for Help<'_, '_> {}
impl Helper for Help<'_, '_> {}

/// Asks for commands and runs them, until someone leaves. `show` takes what is to be shown, and whether it
/// is about a mistake.
///
/// # Errors
/// If the terminal cannot be used.
pub fn ask(cockpit: &mut Cockpit, style: Style, show: &dyn Fn(&str, bool)) -> Result<(), String> {
    ask_for(cockpit, style, &mut |words, is_mistake| show(words, is_mistake))
}

/// The same for anything that takes commands.
pub(crate) fn ask_for(
    commanded: &mut dyn Commanded,
    style: Style,
    show: &mut dyn FnMut(&str, bool),
) -> Result<(), String> {
    let failed = |error: ReadlineError| format!("the terminal cannot be used: {error}");
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .history_ignore_space(true)
        .max_history_size(REMEMBERED)
        .map_err(failed)?
        .build();
    let shared = RefCell::new(commanded);
    let mut editor: Editor<Help<'_, '_>, FileHistory> = Editor::with_config(config).map_err(failed)?;
    editor.set_helper(Some(Help { commanded: &shared, style }));
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
fn confirmed(editor: &mut Editor<Help<'_, '_>, FileHistory>, question: &str) -> bool {
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
