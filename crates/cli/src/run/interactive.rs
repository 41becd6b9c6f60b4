//! A session with a person.

use super::{Watched, status};
use invigil_check::report::Paint;
use invigil_cockpit::prompt;
use std::io::{self, Write};

/// Runs the program, and asks at every stop.
pub(super) fn run(watched: &mut Watched<'_>, commands: Option<Vec<String>>) -> u8 {
    let errors = watched.terminal.errors;
    let show = |words: &str, is_mistake: bool| {
        if is_mistake {
            let mark = errors.paint(Paint::Bad, "error:");
            // What nobody reads any more is lost, and that is all.
            let _ = match words.starts_with("error") {
                true => write!(io::stderr(), "{words}"),
                false => write!(io::stderr(), "{mark} {words}"),
            };
        } else {
            let mut out = io::stdout();
            let _ = write!(out, "{words}").and_then(|()| out.flush());
        }
    };
    let cockpit = &mut watched.cockpit;
    let mut wrong = false;
    if let Some(outcome) = watched.outcome.take() {
        show(&cockpit.show(&outcome), false);
    } else if let Some(commands) = &commands {
        for line in commands {
            match cockpit.run_surely(line) {
                Ok(words) => show(&words, false),
                Err(words) => {
                    show(&(words + "\n"), true);
                    break;
                }
            }
            if cockpit.is_over() {
                break;
            }
        }
    } else if watched.args.pause || cockpit.loaded().automata.is_empty() {
        let stands = if watched.ends { "is loaded, and stands at its beginning" } else { "stands still" };
        show(&format!("The program {stands}: `continue` runs it, `help` lists the commands.\n"), false);
    } else {
        match cockpit.run("continue") {
            Ok(words) => show(&words, false),
            Err(words) => show(&(words + "\n"), true),
        }
    }
    if !cockpit.is_over()
        && let Err(words) = prompt::ask(cockpit, watched.style, &show)
    {
        show(&(words + "\n"), true);
        wrong = true;
    }
    let report = cockpit.session().report();
    let violations = report.properties.iter().map(|property| property.violations).sum();
    status(violations, watched.bell.is_leaving(), wrong, false)
}
