//! The searches that answer a task.

use crate::ground::{Ground, Look};
use crate::story::{Ending, Story};
use crate::task::{Claimed, Task};
use invigil_explore::fair::Demand;
use invigil_explore::product::{Product, TooManyMarks};
use invigil_explore::watched::Watched;
use invigil_explore::{Certainty, Found, Incomplete, Path, Pulse, Space, Totals, What, cycles, fair};
use invigil_model::{Expression, Omega, Step, Unary};
use std::time::Instant;

/// What came out.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What the search for configurations saw.
    pub totals: Totals,
    /// Why it did not see everything.
    pub incomplete: Option<Incomplete>,
    /// How far its numbers can be trusted.
    pub certainty: Certainty,
    /// Why the model was interpreted, which is slow, instead of being compiled.
    pub interpreted: Option<String>,
    /// Whether orders of independent actions were left out, or why not; none if nobody asked for it.
    pub reduction: Option<Result<(), &'static str>>,
    /// What goes wrong without being claimed not to: deadlocks, and actions that go wrong.
    pub troubles: Vec<Trouble>,
    /// A verdict for each claim.
    pub verdicts: Vec<Verdict>,
}

/// Something that goes wrong in the model itself.
#[derive(Clone, Debug)]
pub struct Trouble {
    /// What: a deadlock, or an action that goes wrong.
    pub what: What,
    /// An execution that shows it.
    pub story: Story,
}

/// What is known about a claim.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The claim.
    pub name: String,
    /// What is known.
    pub result: Outcome,
    /// What the search for an answer saw.
    pub totals: Totals,
    /// Whether that search left out orders of independent actions, or why not; none if nobody asked for it.
    pub reduction: Option<Result<(), &'static str>>,
}

/// What is known about a claim.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It holds: everything was looked at.
    Holds,
    /// It does not hold, as this execution shows.
    Violated(Story),
    /// Nothing was found, and not everything was looked at: because of a limit, or because of the way to look.
    Unknown(Option<Incomplete>),
    /// It cannot be decided.
    Undecidable(String),
}

impl Answer {
    /// Whether something is wrong for certain.
    pub fn is_violated(&self) -> bool {
        let violated = |verdict: &Verdict| matches!(verdict.result, Outcome::Violated(_));
        !self.troubles.is_empty() || self.verdicts.iter().any(violated)
    }

    /// Whether something is not known.
    pub fn is_open(&self) -> bool {
        let open =
            |verdict: &Verdict| matches!(verdict.result, Outcome::Unknown(_) | Outcome::Undecidable(_));
        self.incomplete.is_some_and(|why| why != Incomplete::Found)
            || self.certainty != Certainty::Exact
            || self.verdicts.iter().any(open)
    }
}

/// Looks for the answers to a task.
pub fn answer(task: &Task<'_>, pulse: &impl Pulse) -> Answer {
    // All searches together have the time that is allowed.
    let since = Instant::now();
    let mut answer = reach(task, since, pulse);
    for (at, claim) in task.claims.iter().enumerate() {
        let verdict = match claim.what {
            // These were answered on the way.
            Claimed::Always(_) => continue,
            Claimed::Never(omega) => {
                let seen: Vec<&Expression> = omega.edges.iter().flatten().map(|edge| &edge.label).collect();
                let whole = match task.fairness {
                    Some(_) => Some("fairness looks at every step"),
                    None => (!omega.stutters).then_some("it counts steps, or looks at them"),
                };
                Ground::new(task, &Look { seen, whole, ..Look::default() }).with(task, |ground, space| {
                    let (result, totals) = endless(task, omega, ground, space, (since, pulse))
                        .unwrap_or_else(|words| (Outcome::Undecidable(words.to_string()), Totals::default()));
                    Verdict { name: claim.name.clone(), result, totals, reduction: ground.reduction() }
                })
            }
            Claimed::Monitor(automaton) => {
                let look = Look { whole: Some("it may look at every event"), ..Look::default() };
                Ground::new(task, &look).with(task, |ground, space| {
                    let space = Watched::new(space, task.model, task.catalog, &[automaton]);
                    let report = task.manner.search(&space, &task.search(false, false, since), pulse);
                    let result = match report.found.into_iter().next() {
                        Some(found) => {
                            Outcome::Violated(Story::of(task.model, &space.subject_path(&found.path)))
                        }
                        None => silent(report.incomplete, report.certainty, space.wrong()),
                    };
                    let (name, totals) = (claim.name.clone(), report.totals);
                    Verdict { name, result, totals, reduction: ground.reduction() }
                })
            }
        };
        answer.verdicts.insert(at.min(answer.verdicts.len()), verdict);
    }
    answer
}

/// What it means that nothing was found; `wrong` says why something could not be evaluated on the way.
fn silent(incomplete: Option<Incomplete>, certainty: Certainty, wrong: Option<&str>) -> Outcome {
    match (incomplete, certainty) {
        _ if wrong.is_some() => {
            Outcome::Undecidable(format!("something in it goes wrong: {}", wrong.unwrap_or_default()))
        }
        (None, Certainty::Exact) => Outcome::Holds,
        (why, _) => Outcome::Unknown(why),
    }
}

/// Looks for an execution that an automaton accepts.
fn endless(
    task: &Task<'_>,
    omega: &Omega,
    ground: &Ground<'_>,
    space: &dyn Space,
    (since, pulse): (Instant, &impl Pulse),
) -> Result<(Outcome, Totals), TooManyMarks> {
    let demands =
        task.fairness.map(|strength| Demand::of_processes(task.model, strength)).unwrap_or_default();
    let fair = fair::Fair::new(space, &demands)?;
    let spare = if space.width() == task.model.layout().words { task.model.layout().spare } else { 0 };
    let product = Product::new(fair, ground.reading(omega), spare)?;
    let found = cycles::cycle(&product, &task.limits.left(since), pulse);
    let result = match &found.path {
        Some(path) => Outcome::Violated(Story::of(task.model, &product.subject_path(path))),
        None => silent(found.incomplete, Certainty::Exact, product.wrong()),
    };
    Ok((result, found.totals))
}

/// Looks for configurations that must not be, until each claim about configurations is answered.
fn reach(task: &Task<'_>, since: Instant, pulse: &impl Pulse) -> Answer {
    let always: Vec<(&str, &Expression)> = task
        .claims
        .iter()
        .filter_map(|claim| match claim.what {
            Claimed::Always(expression) => Some((claim.name.as_str(), expression)),
            _ => None,
        })
        .collect();
    let mut results: Vec<Option<(Outcome, Totals)>> = always.iter().map(|_| None).collect();
    let (mut deadlocks, mut faults) = (task.deadlocks, true);
    let mut troubles = Vec::new();
    loop {
        let open: Vec<usize> = (0..always.len()).filter(|at| results[*at].is_none()).collect();
        let bad = open.iter().map(|at| Expression::unary(Unary::Not, always[*at].1.clone())).collect();
        let seen = open.iter().map(|at| always[*at].1).collect();
        let is_about_steps = open.iter().any(|at| always[*at].1.is_about_steps());
        let look = Look { bad, seen, whole: is_about_steps.then_some("a claim is about steps") };
        let ground = Ground::new(task, &look);
        let report = ground
            .with(task, |_, space| task.manner.search(&space, &task.search(deadlocks, faults, since), pulse));
        let found = report.found.into_iter().next();
        match &found {
            None => {
                for at in &open {
                    results[*at] = Some((silent(report.incomplete, report.certainty, None), report.totals));
                }
            }
            Some(Found { what: What::Bad, path }) => {
                for at in open {
                    if let Some(outcome) = broken(task, always[at].1, path) {
                        results[at] = Some((outcome, report.totals));
                    }
                }
            }
            Some(Found { what, path }) => {
                let mut story = Story::of(task.model, path);
                match what {
                    What::Deadlock => (deadlocks, story.ending) = (false, Ending::Deadlock),
                    _ => faults = false,
                }
                troubles.push(Trouble { what: *what, story });
            }
        }
        let is_over = found.is_none() || !(deadlocks || faults || results.iter().any(Option::is_none));
        if is_over {
            let unanswered = Incomplete::Stopped;
            let verdict = |((name, _), result): (&(&str, &Expression), Option<(Outcome, Totals)>)| {
                let (result, totals) = result.unwrap_or((Outcome::Unknown(Some(unanswered)), report.totals));
                Verdict { name: (*name).to_owned(), result, totals, reduction: ground.reduction() }
            };
            return Answer {
                totals: report.totals,
                incomplete: report.incomplete,
                certainty: report.certainty,
                interpreted: ground.interpreted.clone(),
                reduction: ground.reduction(),
                troubles,
                verdicts: always.iter().zip(results).map(verdict).collect(),
            };
        }
    }
}

/// How the end of a path breaks a claim, if it does.
fn broken(task: &Task<'_>, claim: &Expression, path: &Path) -> Option<Outcome> {
    let target = path.states.last()?;
    let source = path.states.len().checked_sub(2).map(|at| &*path.states[at]);
    match task.model.holds(claim, Step { source, action: path.actions.last().copied(), target }) {
        Ok(true) => None,
        Ok(false) => Some(Outcome::Violated(Story::of(task.model, path))),
        Err(fault) => Some(Outcome::Undecidable(format!("it goes wrong: {fault}"))),
    }
}
