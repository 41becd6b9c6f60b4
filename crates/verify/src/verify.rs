//! Checks the claims of a task.

use crate::backend::{Backend, SearchTarget};
use crate::execution_trace::{ExecutionEnd, ExecutionTrace};
use crate::task::{ClaimKind, VerifyTask};
use invigil_explore::fairness::FairnessConstraint;
use invigil_explore::monitored::Monitored;
use invigil_explore::product::{Product, TooManyMarks};
use invigil_explore::{
    Certainty, Finding, FindingKind, Incomplete, Path, ProgressListener, StateSpace, Totals, cycles, fairness,
};
use invigil_model::{Expression, OmegaAutomaton, Step, Unary};
use std::time::Instant;

/// The result of a verification task.
#[derive(Clone, Debug)]
pub struct VerifyResult {
    /// Totals of the search for configurations.
    pub totals: Totals,
    /// Why this search is incomplete, if it is.
    pub incomplete: Option<Incomplete>,
    /// How reliable the totals are.
    pub certainty: Certainty,
    /// Why the model was interpreted, which is slower, and not compiled; none if it was compiled.
    pub interpretation_reason: Option<String>,
    /// Whether partial-order reduction was applied, or why not; none if not requested.
    pub reduction: Option<Result<(), &'static str>>,
    /// Deadlocks and faults of the model, independent of the claims.
    pub model_errors: Vec<ModelError>,
    /// A verdict for each claim.
    pub verdicts: Vec<Verdict>,
}

/// A deadlock or fault of the model.
#[derive(Clone, Debug)]
pub struct ModelError {
    /// The kind of error.
    pub kind: FindingKind,
    /// An execution that shows it.
    pub execution: ExecutionTrace,
}

/// The verdict on a claim.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The name of the claim.
    pub name: String,
    /// The result.
    pub result: ClaimResult,
    /// Totals of the search for this claim.
    pub totals: Totals,
    /// Whether partial-order reduction was applied in this search, or why not; none if not requested.
    pub reduction: Option<Result<(), &'static str>>,
}

/// The result of checking a claim.
#[derive(Clone, Debug)]
pub enum ClaimResult {
    /// The claim holds: everything was explored.
    Holds,
    /// The claim is violated, as this execution shows.
    Violated(ExecutionTrace),
    /// No violation was found, but not everything was explored, because of a limit or a lossy strategy.
    Unknown(Option<Incomplete>),
    /// The claim cannot be decided, because an evaluation failed.
    Undecidable(String),
}

impl VerifyResult {
    /// Whether there is a violation or an error of the model.
    pub fn is_violated(&self) -> bool {
        let violated = |verdict: &Verdict| matches!(verdict.result, ClaimResult::Violated(_));
        !self.model_errors.is_empty() || self.verdicts.iter().any(violated)
    }

    /// Whether some claim is neither proved nor refuted, or the search is incomplete.
    pub fn is_inconclusive(&self) -> bool {
        let open = |verdict: &Verdict| {
            matches!(verdict.result, ClaimResult::Unknown(_) | ClaimResult::Undecidable(_))
        };
        self.incomplete.is_some_and(|why| why != Incomplete::Found)
            || self.certainty != Certainty::Exact
            || self.verdicts.iter().any(open)
    }
}

/// Runs a verification task.
pub fn verify(task: &VerifyTask<'_>, listener: &impl ProgressListener) -> VerifyResult {
    // The time limit applies to all searches together.
    let since = Instant::now();
    let mut result = search_configurations(task, since, listener);
    for (at, claim) in task.claims.iter().enumerate() {
        let verdict = match claim.kind {
            // Already checked by the search for configurations.
            ClaimKind::Always(_) => continue,
            ClaimKind::Never(omega) => {
                let read_by_claims: Vec<&Expression> =
                    omega.edges.iter().flatten().map(|edge| &edge.label).collect();
                let reduction_obstacle = match task.fairness {
                    Some(_) => Some("fairness depends on every step"),
                    None => (!omega.is_stutter_invariant).then_some("the property is not stutter-invariant"),
                };
                Backend::new(
                    task,
                    &SearchTarget { read_by_claims, reduction_obstacle, ..SearchTarget::default() },
                )
                .with_space(task, |backend, space| {
                    let (result, totals) =
                        search_accepting_cycle(task, omega, backend, space, (since, listener))
                            .unwrap_or_else(|error| {
                                (ClaimResult::Undecidable(error.to_string()), Totals::default())
                            });
                    Verdict { name: claim.name.clone(), result, totals, reduction: backend.reduction() }
                })
            }
            ClaimKind::Monitor(automaton) => {
                let target = SearchTarget {
                    reduction_obstacle: Some("the property may depend on every event"),
                    ..SearchTarget::default()
                };
                Backend::new(task, &target).with_space(task, |backend, space| {
                    let space = Monitored::new(space, task.model, task.catalog, &[automaton]);
                    let report =
                        task.strategy.search(&space, &task.search_options(false, false, since), listener);
                    let result = match report.findings.into_iter().next() {
                        Some(found) => ClaimResult::Violated(ExecutionTrace::of(
                            task.model,
                            &space.subject_path(&found.path),
                        )),
                        None => result_without_finding(
                            report.incomplete,
                            report.certainty,
                            space.evaluation_error(),
                        ),
                    };
                    let (name, totals) = (claim.name.clone(), report.totals);
                    Verdict { name, result, totals, reduction: backend.reduction() }
                })
            }
        };
        result.verdicts.insert(at.min(result.verdicts.len()), verdict);
    }
    result
}

/// The result if nothing was found. `evaluation_error` occurred during the search.
fn result_without_finding(
    incomplete: Option<Incomplete>,
    certainty: Certainty,
    evaluation_error: Option<&str>,
) -> ClaimResult {
    match (incomplete, certainty) {
        _ if evaluation_error.is_some() => {
            ClaimResult::Undecidable(format!("evaluation fails: {}", evaluation_error.unwrap_or_default()))
        }
        (None, Certainty::Exact) => ClaimResult::Holds,
        (why, _) => ClaimResult::Unknown(why),
    }
}

/// Searches for an execution that the automaton accepts.
fn search_accepting_cycle(
    task: &VerifyTask<'_>,
    omega: &OmegaAutomaton,
    backend: &Backend<'_>,
    space: &dyn StateSpace,
    (since, listener): (Instant, &impl ProgressListener),
) -> Result<(ClaimResult, Totals), TooManyMarks> {
    let constraints = task
        .fairness
        .map(|strength| FairnessConstraint::for_processes(task.model, strength))
        .unwrap_or_default();
    let fair = fairness::Fair::new(space, &constraints)?;
    let spare = if space.width() == task.model.layout().words { task.model.layout().spare } else { 0 };
    let product = Product::new(fair, backend.labels(omega), spare)?;
    let found = cycles::find_accepting_cycle(&product, &task.limits.remaining(since), listener);
    let result = match &found.path {
        Some(path) => ClaimResult::Violated(ExecutionTrace::of(task.model, &product.subject_path(path))),
        None => result_without_finding(found.incomplete, Certainty::Exact, product.evaluation_error()),
    };
    Ok((result, found.totals))
}

/// Searches for bad configurations until each claim about configurations is decided.
fn search_configurations(
    task: &VerifyTask<'_>,
    since: Instant,
    listener: &impl ProgressListener,
) -> VerifyResult {
    let always: Vec<(&str, &Expression)> = task
        .claims
        .iter()
        .filter_map(|claim| match claim.kind {
            ClaimKind::Always(expression) => Some((claim.name.as_str(), expression)),
            _ => None,
        })
        .collect();
    let mut results: Vec<Option<(ClaimResult, Totals)>> = always.iter().map(|_| None).collect();
    let (mut deadlocks, mut faults) = (task.deadlocks, true);
    let mut model_errors = Vec::new();
    loop {
        let open: Vec<usize> = (0..always.len()).filter(|at| results[*at].is_none()).collect();
        let bad = open.iter().map(|at| Expression::unary(Unary::Not, always[*at].1.clone())).collect();
        let read_by_claims = open.iter().map(|at| always[*at].1).collect();
        let is_about_steps = open.iter().any(|at| always[*at].1.is_about_steps());
        let target = SearchTarget {
            bad,
            read_by_claims,
            reduction_obstacle: is_about_steps.then_some("a claim is about steps"),
        };
        let backend = Backend::new(task, &target);
        let report = backend.with_space(task, |_, space| {
            task.strategy.search(&space, &task.search_options(deadlocks, faults, since), listener)
        });
        let found = report.findings.into_iter().next();
        match &found {
            None => {
                for at in &open {
                    results[*at] = Some((
                        result_without_finding(report.incomplete, report.certainty, None),
                        report.totals,
                    ));
                }
            }
            Some(Finding { kind: FindingKind::Bad, path }) => {
                for at in open {
                    if let Some(outcome) = evaluate_at_end(task, always[at].1, path) {
                        results[at] = Some((outcome, report.totals));
                    }
                }
            }
            Some(Finding { kind, path }) => {
                let mut execution = ExecutionTrace::of(task.model, path);
                match kind {
                    FindingKind::Deadlock => (deadlocks, execution.ending) = (false, ExecutionEnd::Deadlock),
                    _ => faults = false,
                }
                model_errors.push(ModelError { kind: *kind, execution });
            }
        }
        let is_finished = found.is_none() || !(deadlocks || faults || results.iter().any(Option::is_none));
        if is_finished {
            let reason = Incomplete::Stopped;
            let verdict = |((name, _), result): (&(&str, &Expression), Option<(ClaimResult, Totals)>)| {
                let (result, totals) = result.unwrap_or((ClaimResult::Unknown(Some(reason)), report.totals));
                Verdict { name: (*name).to_owned(), result, totals, reduction: backend.reduction() }
            };
            return VerifyResult {
                totals: report.totals,
                incomplete: report.incomplete,
                certainty: report.certainty,
                interpretation_reason: backend.interpretation_reason.clone(),
                reduction: backend.reduction(),
                model_errors,
                verdicts: always.iter().zip(results).map(verdict).collect(),
            };
        }
    }
}

/// How the last step of a path violates a claim, if it does.
fn evaluate_at_end(task: &VerifyTask<'_>, claim: &Expression, path: &Path) -> Option<ClaimResult> {
    let target = path.states.last()?;
    let source = path.states.len().checked_sub(2).map(|at| &*path.states[at]);
    match task.model.holds(claim, Step { source, action: path.actions.last().copied(), target }) {
        Ok(true) => None,
        Ok(false) => Some(ClaimResult::Violated(ExecutionTrace::of(task.model, path))),
        Err(fault) => Some(ClaimResult::Undecidable(format!("evaluation fails: {fault}"))),
    }
}
