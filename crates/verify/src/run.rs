//! One execution of a model, under a scheduler and watched by monitors: what a target does, on the same space that is
//! explored.

use crate::prefix::Prefix;
use crate::story::{Ending, Scene, Story};
use crate::task::{Claimed, Task};
use invigil_explore::plain::Plain;
use invigil_explore::scheduled::Scheduled;
use invigil_explore::watched::Watched;
use invigil_explore::{BAD, FAULT, Path, Pulse, Random, Space, Successors};
use invigil_model::{Expression, Omega, Step, Unary};
use invigil_monitor::automaton::Automaton;

/// How an execution came to its end.
#[derive(Clone, Debug)]
pub struct Ran {
    /// How many steps were taken.
    pub steps: u64,
    /// The claims that the last step broke.
    pub violated: Vec<String>,
    /// How it ended.
    pub ending: Ending,
    /// Whether someone stopped it.
    pub is_stopped: bool,
}

/// Runs a model for at most so many steps, telling each. What the scheduler leaves open is drawn, from a seed. The run
/// ends at the first violation, where something goes wrong, or where nothing can happen.
///
/// Each of `formulae` is an automaton that accepts what satisfies a formula: it is violated once nothing that may come
/// can be accepted. Claims of the task that are about whole executions are passed over.
pub fn run(
    task: &Task<'_>,
    formulae: &[Omega],
    seed: u64,
    most: u64,
    pulse: &impl Pulse,
    tell: &mut dyn FnMut(u64, &Scene),
) -> Ran {
    let mut bad = Vec::new();
    let mut automata: Vec<&Automaton> = Vec::new();
    for claim in &task.claims {
        match claim.what {
            Claimed::Always(expression) => bad.push(Expression::unary(Unary::Not, expression.clone())),
            Claimed::Monitor(automaton) => automata.push(automaton),
            // No finite execution decides what holds for ever.
            Claimed::Never(_) => {}
        }
    }
    let performers = task.performers();
    let scheduled = Scheduled::new(Plain::new(task.model, bad), &performers, &task.setup);
    let space = Watched::new(scheduled, task.model, task.catalog, &automata);
    let mut prefixes: Vec<Prefix<'_>> = formulae.iter().map(|omega| Prefix::new(task.model, omega)).collect();
    let mut random = Random::new(seed);
    let mut out = Successors::default();
    space.initial(&mut out);
    let mut at: Option<Box<[u64]>> = None;
    let mut steps: u64 = 0;
    loop {
        let path = |states: Vec<Box<[u64]>>, actions, fault| {
            space.subject_path(&Path { states, actions, back: None, fault })
        };
        if out.is_empty() {
            return Ran { steps, violated: Vec::new(), ending: Ending::Deadlock, is_stopped: false };
        }
        let drawn = random.below(out.len());
        let taken = out.taken[drawn];
        let target: Box<[u64]> = out.state(drawn, space.width()).into();
        if taken.flags & FAULT != 0 {
            let states = at.iter().cloned().collect();
            let story = Story::of(task.model, &path(states, Vec::new(), Some(taken.action)));
            return Ran { steps, violated: Vec::new(), ending: story.ending, is_stopped: false };
        }
        let actions: Vec<u32> = at.iter().map(|_| taken.action).collect();
        let states: Vec<_> = at.iter().cloned().chain([target.clone()]).collect();
        // The start is no step.
        steps += u64::from(at.is_some());
        if let Some(scene) = Story::of(task.model, &path(states, actions, None)).scenes.last() {
            tell(steps, scene);
        }
        let mut violated = match taken.flags & BAD {
            0 => Vec::new(),
            _ => broken(task, &space.monitors(&target), at.as_deref(), taken.action, &target),
        };
        let step = Step { source: at.as_deref(), action: at.as_ref().map(|_| taken.action), target: &target };
        let lost = prefixes.iter_mut().zip(formulae).filter_map(|(prefix, of)| {
            let is_possible = prefix.read(step);
            (!is_possible).then(|| of.name.clone())
        });
        violated.extend(lost);
        if !violated.is_empty() || taken.flags & BAD != 0 {
            return Ran { steps, violated, ending: Ending::Here, is_stopped: false };
        }
        if steps == most || pulse.is_stopped() {
            return Ran { steps, violated: Vec::new(), ending: Ending::Here, is_stopped: steps != most };
        }
        out.clear();
        space.successors(&target, &mut out);
        at = Some(target);
    }
}

/// The claims that a step breaks.
fn broken(
    task: &Task<'_>,
    monitors: &[invigil_monitor::slices::Slices],
    source: Option<&[u64]>,
    action: u32,
    target: &[u64],
) -> Vec<String> {
    let mut monitors = monitors.iter();
    let step = Step { source, action: source.map(|_| action), target };
    let is_broken = |what: &Claimed<'_>| match what {
        Claimed::Always(expression) => !task.model.holds(expression, step).unwrap_or(false),
        Claimed::Monitor(_) => {
            monitors.next().is_some_and(|slices| slices.is_violated() || slices.failure().is_some())
        }
        Claimed::Never(_) => false,
    };
    let mut is_broken = is_broken;
    task.claims.iter().filter(|claim| is_broken(&claim.what)).map(|claim| claim.name.clone()).collect()
}
