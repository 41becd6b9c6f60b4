//! `invigil explore` on a language of another program: counts, deadlocks, and what must never be.

use super::args::Explore;
use super::progress::Progress;
use super::{limits, manner, status};
use crate::interrupt::Interrupt;
use crate::terminal::Terminal;
use crate::{Trouble, UNRUNNABLE, VIOLATED, files, remote};
use invigil_explore::{Found, Incomplete, Path, Pulse, Search, Totals, Wanted, What};
use invigil_remote::{Action, Address, Config, Explored, Remote};
use invigil_semantics::{Describe, Step};
use invigil_verify::{Answer, Change, Ending, Outcome, Report, Scene, Story, Verdict};
use serde_json::Value;
use std::process::ExitCode;
use std::time::Instant;

pub(super) fn run(address: &Address, args: &Explore, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    refuse(args)?;
    let interrupt = Interrupt::listen();
    let progress = Progress::new(&interrupt, terminal.is_watched() && !args.quiet);
    let remote = remote::start(address, &args.remote)?;
    if !args.never.is_empty() && !remote.can("evaluate") {
        let words =
            format_args!("the language `{}` evaluates no expressions: leave out `--never`", remote.name());
        return Err(Trouble::new(words));
    }
    let started = Instant::now();
    let found = answer(&remote, args, &progress);
    progress.clear();
    let name = args.model.display().to_string();
    let report = Report { answer: &found, file: &name, elapsed: started.elapsed() };
    if args.json {
        terminal.print(&report.json())?;
    } else if !args.quiet {
        terminal.print(&report.text(&terminal.style))?;
    }
    if let (Some(path), Some((_, story))) = (&args.trace, report.counterexamples().first()) {
        files::write(path, &story.trace(), terminal)?;
    }
    let Some(failure) = remote.failure() else {
        return Ok(ExitCode::from(status(&found, &interrupt)));
    };
    let status = if found.is_violated() { VIOLATED } else { UNRUNNABLE };
    Err(Trouble { status, ..Trouble::new(failure.incomplete()) })
}

/// What only models have.
fn refuse(args: &Explore) -> Result<(), Trouble> {
    let given = [
        (!args.properties.is_empty(), "--property"),
        (!args.functions.is_empty(), "--functions"),
        (args.fair.is_some(), "--fair"),
        (args.reduce, "--reduce"),
        (args.setup.scheduler.is_some(), "--scheduler"),
        (args.setup.reactive, "--reactive"),
        (args.setup.faultless, "--faultless"),
        (args.setup.mailboxes.is_some(), "--mailboxes"),
        (args.setups, "--setups"),
        (args.wrap, "--wrap"),
    ];
    if let Some((_, option)) = given.iter().find(|(is_given, _)| *is_given) {
        return Err(Trouble::new(format_args!(
            "`{option}` is for models; of a language of another program, `--never EXPRESSION` can be asked"
        )));
    }
    if !args.always.is_empty() {
        return Err(Trouble::new(
            "`--always` is for models; for a language of another program, say with `--never` what must not hold",
        ));
    }
    Ok(())
}

/// Looks at everything until each question is answered.
fn answer(remote: &Remote, args: &Explore, pulse: &impl Pulse) -> Answer {
    let mut results: Vec<Option<(Outcome, Totals)>> = args.never.iter().map(|_| None).collect();
    let mut wanted = Wanted { deadlocks: !args.may_end, bad: true, faults: true };
    let mut troubles = Vec::new();
    let (limits, since) = (limits(&args.search), Instant::now());
    loop {
        let open: Vec<usize> = (0..results.len()).filter(|at| results[*at].is_none()).collect();
        let bad = open.iter().map(|at| args.never[*at].clone()).collect();
        // One conversation has one line at a time, so more threads would only wait.
        let search = Search { threads: 1, limits: limits.left(since), wanted, most: 1, whole: args.full };
        let report = manner(&args.search).search(&Explored::new(remote, bad), &search, pulse);
        let found = report.found.into_iter().next();
        match &found {
            None => {
                let nothing = match (report.incomplete, report.certainty) {
                    _ if remote.failure().is_some() => Outcome::Unknown(Some(Incomplete::Failed)),
                    (None, invigil_explore::Certainty::Exact) => Outcome::Holds,
                    (why, _) => Outcome::Unknown(why),
                };
                open.iter().for_each(|at| results[*at] = Some((nothing.clone(), report.totals)));
            }
            Some(Found { what: What::Bad, path }) => {
                for at in open {
                    let outcome = broken(remote, &args.never[at], path);
                    results[at] = outcome.map(|outcome| (outcome, report.totals));
                }
            }
            Some(Found { what, path }) => {
                let mut told = story(remote, path);
                match what {
                    What::Deadlock => (wanted.deadlocks, told.ending) = (false, Ending::Deadlock),
                    _ => wanted.faults = false,
                }
                troubles.push(invigil_verify::Trouble { what: *what, story: told });
            }
        }
        let is_open = wanted.deadlocks || wanted.faults || results.iter().any(Option::is_none);
        if found.is_none() || remote.failure().is_some() || !is_open {
            let verdict = |(text, result): (&String, Option<(Outcome, Totals)>)| {
                let unanswered = || (Outcome::Unknown(Some(Incomplete::Failed)), report.totals);
                let (result, totals) = result.unwrap_or_else(unanswered);
                Verdict { name: format!("never {text}"), result, totals, reduction: None }
            };
            return Answer {
                totals: report.totals,
                incomplete: report.incomplete.or(remote.failure().map(|_| Incomplete::Failed)),
                certainty: report.certainty,
                interpreted: None,
                reduction: None,
                troubles,
                verdicts: args.never.iter().zip(results).map(verdict).collect(),
            };
        }
    }
}

/// How the end of a path shows that an expression holds somewhere, if it does.
fn broken(remote: &Remote, expression: &str, path: &Path) -> Option<Outcome> {
    let config = |at: usize| remote.numbered(path.states.get(at)?[0]);
    let last = path.states.len().checked_sub(1)?;
    let source = last.checked_sub(1).and_then(config);
    let action = path.actions.last().and_then(|number| remote.action(*number));
    let step = Step { source: source.as_ref(), action: action.as_ref(), target: &config(last)? };
    match remote.values_from_start(expression, &[step]).pop()? {
        Ok(false) => None,
        Ok(true) => Some(Outcome::Violated(story(remote, path))),
        Err(_) if remote.failure().is_some() => None,
        Err(why) => Some(Outcome::Undecidable(format!("it has no value: {why}"))),
    }
}

/// An execution in the words of the language.
fn story(remote: &Remote, path: &Path) -> Story {
    let mut scenes: Vec<Scene> = Vec::new();
    for (at, words) in path.states.iter().enumerate() {
        let action = at.checked_sub(1).and_then(|before| remote.action(*path.actions.get(before)?));
        let state = remote.numbered(words[0]).map(|config| fields(remote, config)).unwrap_or_default();
        let before = scenes.last().map_or(&[][..], |scene| &scene.state);
        let changes = before.iter().zip(&state).filter(|(before, after)| before != after).map(changed);
        let (changes, action) = (changes.collect(), action.map(|action| remote.describe_action(&action)));
        scenes.push(Scene { action, event: None, state, changes });
    }
    let wrong = path.fault.and_then(|number| remote.action(number));
    let ending = match (wrong, path.states.last()) {
        (Some(action), Some(last)) => fault(remote, action, last[0]),
        _ => Ending::Here,
    };
    Story { scenes, ending }
}

fn fields(remote: &Remote, config: Config) -> Vec<(String, Value)> {
    let fields = remote.describe_config(&config);
    fields.iter().map(|field| (field.name.clone(), Value::String(field.value.clone()))).collect()
}

/// The fields of all configurations are the same.
fn changed((before, after): (&(String, Value), &(String, Value))) -> Change {
    let words = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Change { name: after.0.clone(), before: words(&before.1), after: words(&after.1) }
}

fn fault(remote: &Remote, action: Action, last: u64) -> Ending {
    let steps = remote.numbered(last).map(|last| remote.steps_of(&[last])).unwrap_or_default();
    let mut faults = steps.into_iter().flatten().filter(|(by, _)| *by == action);
    let reason = faults.find_map(|(_, target)| remote.fault(target)).unwrap_or_default();
    Ending::Fault { action: remote.describe_action(&action), reason }
}
