//! The scenario (section 3.3.5): a table of reactions to verdicts and points.

use crate::formal::controller::{Command, Reply};
use crate::formal::monitor::State;
use crate::formal::points::Point;

/// What a scenario does on a verdict or a point: its next state, and commands, given one after the other as
/// the replies come in.
#[derive(Clone, Debug)]
pub(crate) struct Reaction {
    pub(crate) to: usize,
    pub(crate) commands: Vec<Command>,
}

/// A scenario. It accepts every verdict, every point and every reply, as definition 3.3.5.1 demands.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    /// For each state, the reactions to verdicts; a verdict selects one by its number, cyclically.
    pub(crate) on_verdict: Vec<Vec<Reaction>>,
    /// For each of its states, the reaction to its points.
    pub(crate) on_point: Vec<Reaction>,
}

/// A configuration of the scenario.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ScenarioState {
    state: usize,
    /// Commands still to be given, the last one first. Algorithm 8 loses a chain of replies that is longer
    /// than one [7]; here it is a queue.
    pending: Vec<Command>,
}

impl Scenario {
    pub(crate) fn initial(&self) -> ScenarioState {
        ScenarioState { state: 0, pending: vec![] }
    }

    /// Receives a verdict and outputs the first command, or `nop`, which is `None`.
    pub(crate) fn verdict(&self, at: &ScenarioState, verdict: State) -> (Option<Command>, ScenarioState) {
        let reactions = &self.on_verdict[at.state];
        react(&reactions[verdict % reactions.len()])
    }

    /// Receives points of its own.
    pub(crate) fn points(&self, at: &ScenarioState, _: &[Point]) -> (Option<Command>, ScenarioState) {
        react(&self.on_point[at.state])
    }

    /// `scnCmdReply(r)` comes in.
    pub(crate) fn reply(&self, at: &ScenarioState, _: &Reply) -> (Option<Command>, ScenarioState) {
        let mut to = at.clone();
        (to.pending.pop(), to)
    }
}

fn react(reaction: &Reaction) -> (Option<Command>, ScenarioState) {
    let mut pending: Vec<Command> = reaction.commands.iter().rev().cloned().collect();
    (pending.pop(), ScenarioState { state: reaction.to, pending })
}
