//! Plan of code generation: grouping and order of actions, and bounds on the number of successors.

use crate::effect;
use invigil_model::{ActionId, Actions, Model};

/// Consecutive actions of one process, or of none.
pub(crate) struct ActionRun {
    /// The process of the first move of all these actions.
    pub(crate) process: Option<u32>,
    pub(crate) actions: Actions,
}

/// Actions of one priority, split into parts that are compiled separately if there are several.
pub(crate) type Rank = Vec<Vec<ActionRun>>;

/// The order in which actions are evaluated.
pub(crate) struct CodegenPlan {
    /// Used while no process is at a committed location; actions that leave one cannot be enabled.
    pub(crate) calm: Vec<Rank>,
    /// Used while some process is at a committed location; only actions that leave one are enabled.
    pub(crate) committed: Vec<Rank>,
    /// Maximum number of successors of a configuration.
    pub(crate) most: u64,
}

/// Number of actions that are compiled together. Calls cost time, but very long functions take long to compile.
const TOGETHER: usize = 200;

impl CodegenPlan {
    pub(crate) fn new(model: &Model) -> CodegenPlan {
        let side = |is_committed| -> Vec<Rank> {
            let of = |rank: &Actions| -> Actions {
                let is_of = |action: &ActionId| model.is_from_committed(*action) == is_committed;
                rank.iter().copied().filter(is_of).collect()
            };
            model
                .ranks()
                .iter()
                .map(of)
                .filter(|rank| !rank.is_empty())
                .map(|rank| parts(model, &rank))
                .collect()
        };
        let (calm, committed) = (side(false), side(true));
        let most = calm.iter().chain(&committed).map(|rank| most(model, rank)).max().unwrap_or(0);
        CodegenPlan { calm, committed, most }
    }
}

fn parts(model: &Model, rank: &[ActionId]) -> Rank {
    let process = |action: ActionId| model.action(action).moves.first().map(|by| by.process);
    let runs = rank.chunk_by(|a, b| process(*a) == process(*b)).flat_map(|run| run.chunks(TOGETHER));
    let mut parts: Rank = vec![Vec::new()];
    let mut room = TOGETHER;
    for actions in runs {
        if room < actions.len() {
            parts.push(Vec::new());
            room = TOGETHER;
        }
        room -= actions.len();
        let run = ActionRun { process: process(actions[0]), actions: actions.to_vec() };
        if let Some(part) = parts.last_mut() {
            part.push(run);
        }
    }
    parts
}

/// Maximum number of successors by actions of one priority, given that a process is at one location at a time.
fn most(model: &Model, rank: &Rank) -> u64 {
    let ways = |action: &ActionId| effect::ways(model.action(*action));
    let run = |run: &ActionRun| match run.process {
        None => run.actions.iter().map(ways).sum::<u64>(),
        Some(_) => at_locations(model, run)
            .iter()
            .map(|(_, actions)| actions.iter().map(ways).sum::<u64>())
            .max()
            .unwrap_or(0),
    };
    rank.iter().flatten().map(run).sum()
}

/// The actions of a run, grouped by the location that its process leaves.
pub(crate) fn at_locations(model: &Model, run: &ActionRun) -> Vec<(u32, Actions)> {
    let mut by: Vec<(u32, Actions)> = Vec::new();
    for &action in &run.actions {
        let from = model.action(action).moves.first().map_or(0, |by| by.from);
        match by.iter_mut().find(|(location, _)| *location == from) {
            Some((_, actions)) => actions.push(action),
            None => by.push((from, vec![action])),
        }
    }
    by
}
