//! A session with nobody there: the program runs, and there is a report.

use super::args::OnViolation;
use super::{Watched, status};
use invigil_check::report::Paint;
use invigil_cockpit::prompt::PROMPT;
use invigil_cockpit::report::{Crash, Told};
use invigil_monitor::verdict::Verdict;
use invigil_session::subject::Resume;
use invigil_session::{Outcome, Reason};

/// What there is to know besides what the session tells.
#[derive(Default)]
struct Course {
    crash: Option<Crash>,
    cut_short: Option<String>,
    interrupted: bool,
    /// What was wrong with what the user gave.
    errors: Vec<String>,
    /// Why the program could not be run on.
    broken: Option<String>,
}

/// Runs the program, or the commands, and reports.
pub(super) fn run(watched: &mut Watched<'_>, commands: Option<Vec<String>>) -> u8 {
    let mut course = Course::default();
    match commands {
        Some(commands) => {
            play(watched, &commands, &mut course);
            tell(watched, "\n");
        }
        None => follow(watched, &mut course),
    }
    let is_left = watched.cockpit.session().is_running();
    if is_left && course.cut_short.is_none() {
        let why = match (course.interrupted, &course.broken) {
            (true, _) => "It was interrupted.",
            (_, Some(_)) => "It could not be run on.",
            (_, None) => "The commands came to their end first.",
        };
        course.cut_short = Some(why.to_owned());
    }
    if is_left && let Some(why) = &mut course.cut_short {
        why.push_str(if watched.ends { " It is ended now." } else { " It runs on." });
    }
    report(watched, &course)
}

/// Runs commands, and shows what they say where the report goes.
fn play(watched: &mut Watched<'_>, commands: &[String], course: &mut Course) {
    if let Some(outcome) = watched.outcome.take() {
        let words = watched.cockpit.show(&outcome);
        tell(watched, &words);
    }
    for (at, line) in commands.iter().enumerate() {
        // An empty line repeats a command where a person gives it; in a file it only parts the others.
        if line.trim().is_empty() {
            continue;
        }
        if line.starts_with('#') {
            tell(watched, &format!("\n{line}"));
        } else {
            tell(watched, &format!("{}{line}", watched.style.paint(Paint::Title, PROMPT)));
        }
        match watched.cockpit.run(line) {
            Ok(words) => tell(watched, &words),
            Err(words) => {
                let file =
                    watched.args.commands.as_ref().map_or(String::new(), |path| path.display().to_string());
                course.errors.push(format!("{file}:{}: `{}`: {words}", at + 1, line.trim()));
                course.cut_short = Some("A command could not be done.".to_owned());
                return;
            }
        }
        if watched.bell.was_rung() {
            course.interrupted = true;
            return;
        }
        if watched.cockpit.is_over() {
            return;
        }
    }
}

fn tell(watched: &Watched<'_>, words: &str) {
    if !watched.args.quiet && !words.is_empty() {
        watched.terminal.complain(words.trim_end());
    }
}

/// Runs the program to its end, or to where it is to be reported.
fn follow(watched: &mut Watched<'_>, course: &mut Course) {
    let mut outcome = watched.outcome.take();
    loop {
        let stopped = match outcome.take() {
            Some(outcome) => outcome,
            None => match watched.cockpit.resume(&Resume::Continue) {
                Ok(outcome) => outcome,
                Err(trouble) => {
                    course.broken = Some(trouble.to_string());
                    return;
                }
            },
        };
        match stopped {
            Outcome::Suspended(reasons) => {
                if reasons.iter().any(is_failure) {
                    let words = watched.cockpit.show(&Outcome::Suspended(reasons));
                    course.errors.push(words.trim_end().to_owned());
                    course.cut_short = Some("A block failed.".to_owned());
                    return;
                }
                if watched.args.on_violation == OnViolation::Stop {
                    let where_to = match reasons.iter().any(is_violation) {
                        true => "at the violation",
                        false => "where the scenario suspends it",
                    };
                    course.cut_short = Some(format!("It was stopped {where_to}."));
                    return;
                }
            }
            Outcome::Signal { name, detail } => {
                let session = watched.cockpit.session();
                let (thread, stack) = (session.subject().current_thread(), session.stack());
                course.crash = Some(Crash { signal: name, detail, thread, stack });
            }
            Outcome::Interrupted => {
                course.interrupted = true;
                course.cut_short = Some("It was interrupted.".to_owned());
                return;
            }
            Outcome::Ended(_) => {
                if watched.cockpit.session().is_blind() {
                    let words = "the program took its monitors with it: what it did last is not known; with `--record` \
                                 every event is told as it happens";
                    course.errors.push(words.to_owned());
                }
                return;
            }
            Outcome::Stopped => {
                course.cut_short = Some("The scenario ended it.".to_owned());
                return;
            }
            Outcome::Points(_) | Outcome::Stepped { .. } => {}
        }
    }
}

fn is_failure(reason: &Reason) -> bool {
    matches!(reason, Reason::PropertyFailed { .. } | Reason::ScenarioFailed { .. })
}

fn is_violation(reason: &Reason) -> bool {
    matches!(reason, Reason::Verdict(change) if change.verdict == Verdict::NonAccepting)
}

fn report(watched: &mut Watched<'_>, course: &Course) -> u8 {
    let report = watched.cockpit.session().report();
    let told = Told {
        report: &report,
        loaded: watched.cockpit.loaded(),
        crash: course.crash.as_ref(),
        cut_short: course.cut_short.as_deref(),
        errors: &course.errors,
    };
    let (violations, mut wrong) = (told.violations(), !course.errors.is_empty());
    if watched.args.json {
        if let Err(trouble) = watched.terminal.print(&told.json()) {
            watched.terminal.error(&trouble.message);
            wrong = true;
        }
    } else if !watched.args.quiet {
        watched.terminal.complain(told.text(&watched.style).trim_end());
    }
    for error in &course.errors {
        match error.starts_with("error") {
            true => watched.terminal.complain(error),
            false => watched.terminal.error(error),
        }
    }
    if let Some(broken) = &course.broken {
        watched.terminal.error(broken);
    }
    status(violations, course.interrupted, wrong, course.broken.is_some())
}
