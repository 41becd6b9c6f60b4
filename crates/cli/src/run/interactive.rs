//! `run` and `attach` with a prompt.

use super::{RunningSession, status};
use invigil_check::report::Paint;
use invigil_cockpit::prompt;
use std::io::{self, Write};

/// Runs the program and opens the prompt at every stop.
pub(super) fn run(running: &mut RunningSession<'_>, commands: Option<Vec<String>>) -> u8 {
    let errors = running.terminal.errors;
    let show = |text: &str, is_error: bool| {
        if is_error {
            let mark = errors.paint(Paint::Bad, "error:");
            // A closed pipe is not an error.
            let _ = match text.starts_with("error") {
                true => write!(io::stderr(), "{text}"),
                false => write!(io::stderr(), "{mark} {text}"),
            };
        } else {
            let mut out = io::stdout();
            let _ = write!(out, "{text}").and_then(|()| out.flush());
        }
    };
    let debugger = &mut running.debugger;
    let mut has_errors = false;
    if let Some(outcome) = running.outcome.take() {
        show(&debugger.render_outcome(&outcome), false);
    } else if let Some(commands) = &commands {
        for line in commands {
            match debugger.run_confirmed(line) {
                Ok(text) => show(&text, false),
                Err(error) => {
                    show(&format!("{error}\n"), true);
                    break;
                }
            }
            if debugger.has_quit() {
                break;
            }
        }
    } else if running.args.pause || debugger.loaded().automata.is_empty() {
        let state =
            if running.terminates_program { "is loaded and stopped at its entry" } else { "is stopped" };
        show(&format!("The program {state}: `continue` runs it, `help` lists the commands.\n"), false);
    } else {
        match debugger.run("continue") {
            Ok(text) => show(&text, false),
            Err(error) => show(&format!("{error}\n"), true),
        }
    }
    if !debugger.has_quit()
        && let Err(text) = prompt::run_prompt(debugger, running.style, &show)
    {
        show(&(text + "\n"), true);
        has_errors = true;
    }
    let report = debugger.session().report();
    let violations = report.properties.iter().map(|property| property.violations).sum();
    status(violations, running.interrupt.is_exit_requested(), has_errors, false)
}
