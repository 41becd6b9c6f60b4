//! Executes a model once under a scheduler and with monitors, in the same state space that searches explore.

use crate::execution_trace::{ExecutionEnd, ExecutionTrace, TraceStep};
use crate::prefix_monitor::PrefixMonitor;
use crate::task::{ClaimKind, VerifyTask};
use invigil_explore::interpreted_model::InterpretedModel;
use invigil_explore::monitored::Monitored;
use invigil_explore::scheduled::Scheduled;
use invigil_explore::{BAD, FAULT, Path, ProgressListener, StateSpace, Successors};
use invigil_model::{Expression, OmegaAutomaton, Step, Unary};
use invigil_monitor::automaton::Automaton;
use invigil_semantics::SplitMix64;

/// The result of an execution.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// The number of steps.
    pub steps: u64,
    /// The claims that the last step violates.
    pub violated: Vec<String>,
    /// How the execution ended.
    pub ending: ExecutionEnd,
    /// Whether the listener stopped it.
    pub is_stopped: bool,
}

/// Runs a model for at most `max_steps` steps and passes each to `on_step`. Nondeterminism that the scheduler leaves is
/// resolved randomly, from a seed. The run ends at the first violation, at a fault or in a deadlock.
///
/// Each of `formulae` is an automaton that accepts the executions that satisfy a formula. The formula is violated when
/// no continuation can be accepted. Claims of the task about infinite executions are ignored.
pub fn run(
    task: &VerifyTask<'_>,
    formulae: &[OmegaAutomaton],
    seed: u64,
    max_steps: u64,
    listener: &impl ProgressListener,
    on_step: &mut dyn FnMut(u64, &TraceStep),
) -> RunResult {
    let mut bad = Vec::new();
    let mut automata: Vec<&Automaton> = Vec::new();
    for claim in &task.claims {
        match claim.kind {
            ClaimKind::Always(expression) => bad.push(Expression::unary(Unary::Not, expression.clone())),
            ClaimKind::Monitor(automaton) => automata.push(automaton),
            // No finite execution refutes an ω-automaton.
            ClaimKind::Never(_) => {}
        }
    }
    let actors = task.actors();
    let scheduled = Scheduled::new(InterpretedModel::new(task.model, bad), &actors, &task.scheduling);
    let space = Monitored::new(scheduled, task.model, task.catalog, &automata);
    let mut prefix_monitors: Vec<PrefixMonitor<'_>> =
        formulae.iter().map(|omega| PrefixMonitor::new(task.model, omega)).collect();
    let mut random = SplitMix64::new(seed);
    let mut out = Successors::default();
    space.initial(&mut out);
    let mut at: Option<Box<[u64]>> = None;
    let mut steps: u64 = 0;
    loop {
        let path = |states: Vec<Box<[u64]>>, actions, fault| {
            space.subject_path(&Path { states, actions, loop_back: None, fault })
        };
        if out.is_empty() {
            return RunResult {
                steps,
                violated: Vec::new(),
                ending: ExecutionEnd::Deadlock,
                is_stopped: false,
            };
        }
        let index = random.below(out.len());
        let transition = out.transitions[index];
        let target: Box<[u64]> = out.state(index, space.width()).into();
        if transition.flags & FAULT != 0 {
            let states = at.iter().cloned().collect();
            let execution =
                ExecutionTrace::of(task.model, &path(states, Vec::new(), Some(transition.action)));
            return RunResult { steps, violated: Vec::new(), ending: execution.ending, is_stopped: false };
        }
        let actions: Vec<u32> = at.iter().map(|_| transition.action).collect();
        let states: Vec<_> = at.iter().cloned().chain([target.clone()]).collect();
        // The initial configuration is not a step.
        steps += u64::from(at.is_some());
        if let Some(last_step) = ExecutionTrace::of(task.model, &path(states, actions, None)).steps.last() {
            on_step(steps, last_step);
        }
        let mut violated = match transition.flags & BAD {
            0 => Vec::new(),
            _ => violated_claims(task, &space.monitors(&target), at.as_deref(), transition.action, &target),
        };
        let step =
            Step { source: at.as_deref(), action: at.as_ref().map(|_| transition.action), target: &target };
        let unsatisfiable = prefix_monitors.iter_mut().zip(formulae).filter_map(|(monitor, omega)| {
            let is_satisfiable = monitor.read(step);
            (!is_satisfiable).then(|| omega.name.clone())
        });
        violated.extend(unsatisfiable);
        if !violated.is_empty() || transition.flags & BAD != 0 {
            return RunResult { steps, violated, ending: ExecutionEnd::LastStep, is_stopped: false };
        }
        if steps == max_steps || listener.is_stopped() {
            return RunResult {
                steps,
                violated: Vec::new(),
                ending: ExecutionEnd::LastStep,
                is_stopped: steps != max_steps,
            };
        }
        out.clear();
        space.successors(&target, &mut out);
        at = Some(target);
    }
}

/// The claims that a step violates.
fn violated_claims(
    task: &VerifyTask<'_>,
    monitors: &[invigil_monitor::slices::SliceTable],
    source: Option<&[u64]>,
    action: u32,
    target: &[u64],
) -> Vec<String> {
    let mut monitors = monitors.iter();
    let step = Step { source, action: source.map(|_| action), target };
    let mut is_violated = |claim: &ClaimKind<'_>| match claim {
        ClaimKind::Always(expression) => !task.model.holds(expression, step).unwrap_or(false),
        ClaimKind::Monitor(_) => {
            monitors.next().is_some_and(|slices| slices.is_violated() || slices.fault().is_some())
        }
        ClaimKind::Never(_) => false,
    };
    task.claims.iter().filter(|claim| is_violated(&claim.kind)).map(|claim| claim.name.clone()).collect()
}
