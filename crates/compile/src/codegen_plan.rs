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
    pub(crate) uncommitted: Vec<Rank>,
    /// Used while some process is at a committed location; only actions that leave one are enabled.
    pub(crate) committed: Vec<Rank>,
    /// Maximum number of successors of a configuration.
    pub(crate) max_successors: u64,
}

/// Maximum number of actions in one function. Calls cost time, but very long functions are slow to compile.
const MAX_PART_ACTIONS: usize = 200;

impl CodegenPlan {
    pub(crate) fn new(model: &Model) -> CodegenPlan {
        let ranks = |is_committed| -> Vec<Rank> {
            let select = |rank: &Actions| -> Actions {
                let is_selected = |action: &ActionId| model.is_from_committed(*action) == is_committed;
                rank.iter().copied().filter(is_selected).collect()
            };
            model
                .ranks()
                .iter()
                .map(select)
                .filter(|rank| !rank.is_empty())
                .map(|rank| split_rank(model, &rank))
                .collect()
        };
        let (uncommitted, committed) = (ranks(false), ranks(true));
        let max_successors = uncommitted
            .iter()
            .chain(&committed)
            .map(|rank| max_rank_successors(model, rank))
            .max()
            .unwrap_or(0);
        CodegenPlan { uncommitted, committed, max_successors }
    }
}

fn split_rank(model: &Model, rank: &[ActionId]) -> Rank {
    let process = |action: ActionId| model.action(action).moves.first().map(|movement| movement.process);
    let runs = rank.chunk_by(|a, b| process(*a) == process(*b)).flat_map(|run| run.chunks(MAX_PART_ACTIONS));
    let mut parts: Rank = vec![Vec::new()];
    let mut capacity = MAX_PART_ACTIONS;
    for actions in runs {
        if capacity < actions.len() {
            parts.push(Vec::new());
            capacity = MAX_PART_ACTIONS;
        }
        capacity -= actions.len();
        let run = ActionRun { process: process(actions[0]), actions: actions.to_vec() };
        if let Some(part) = parts.last_mut() {
            part.push(run);
        }
    }
    parts
}

/// Maximum number of successors by actions of one priority, given that a process is at one location at a time.
fn max_rank_successors(model: &Model, rank: &Rank) -> u64 {
    let outcomes = |action: &ActionId| effect::outcome_count(model.action(*action));
    let run = |run: &ActionRun| match run.process {
        None => run.actions.iter().map(outcomes).sum::<u64>(),
        Some(_) => group_by_location(model, run)
            .iter()
            .map(|(_, actions)| actions.iter().map(outcomes).sum::<u64>())
            .max()
            .unwrap_or(0),
    };
    rank.iter().flatten().map(run).sum()
}

/// The actions of a run, grouped by the location that its process leaves.
pub(crate) fn group_by_location(model: &Model, run: &ActionRun) -> Vec<(u32, Actions)> {
    let mut groups: Vec<(u32, Actions)> = Vec::new();
    for &action in &run.actions {
        let from = model.action(action).moves.first().map_or(0, |movement| movement.from);
        match groups.iter_mut().find(|(location, _)| *location == from) {
            Some((_, actions)) => actions.push(action),
            None => groups.push((from, vec![action])),
        }
    }
    groups
}
