//! Small explicit subjects.

use invigil_explore::breakpoint_search::Execution;
use invigil_semantics::{Describe, Evaluate, Fields, Language, Semantics, StepRef};
use proptest::prelude::*;

/// Numbered configurations; each action is a letter with one or more outcomes.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub(crate) initial: Vec<u8>,
    pub(crate) edges: Vec<(u8, char, Vec<u8>)>,
}

/// Conditions on a step of a graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ask {
    /// The target is this configuration.
    At(u8),
    /// The action is this one.
    By(char),
    /// The source and the target are these.
    From(u8, u8),
    /// The target is odd.
    Odd,
    /// The condition cannot be evaluated if the target is this configuration.
    Unknown(u8),
}

#[derive(Debug)]
pub(crate) struct Nobody;
impl std::fmt::Display for Nobody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("nobody knows")
    }
}
impl std::error::Error for Nobody {}

impl Language for Graph {
    type Config = u8;
    type Action = char;
}

impl Semantics for Graph {
    fn initial(&self) -> impl IntoIterator<Item = u8> {
        self.initial.clone()
    }

    fn actions(&self, at: &u8) -> impl IntoIterator<Item = char> {
        self.edges.iter().filter(move |edge| edge.0 == *at).map(|edge| edge.1)
    }

    fn execute(&self, at: &u8, action: &char) -> impl IntoIterator<Item = u8> {
        let edge = self.edges.iter().find(move |edge| edge.0 == *at && edge.1 == *action);
        edge.map_or(Vec::new(), |edge| edge.2.clone())
    }
}

impl Evaluate for Graph {
    type Expr = Ask;
    type Error = Nobody;

    fn evaluate(&self, ask: &Ask, step: StepRef<'_, Graph>) -> Result<bool, Nobody> {
        match ask {
            Ask::At(config) => Ok(step.target == config),
            Ask::By(action) => Ok(step.action == Some(action)),
            Ask::From(source, target) => Ok(step.source == Some(source) && step.target == target),
            Ask::Odd => Ok(step.target % 2 == 1),
            Ask::Unknown(config) if step.target == config => Err(Nobody),
            Ask::Unknown(_) => Ok(false),
        }
    }
}

impl Describe for Graph {
    fn describe_config(&self, config: &u8) -> Fields {
        Fields::new().with("at", config)
    }

    fn describe_action(&self, action: &char) -> String {
        action.to_string()
    }
}

/// Graphs of at most `most` configurations.
pub(crate) fn any_graph(most: u8) -> impl Strategy<Value = Graph> {
    let edge = (0..most, 0..3_u8, proptest::collection::vec(0..most, 1..3));
    (proptest::collection::vec(0..most, 1..3), proptest::collection::vec(edge, 0..14)).prop_map(
        |(mut initial, edges)| {
            initial.sort_unstable();
            initial.dedup();
            let mut known: Vec<(u8, char, Vec<u8>)> = Vec::new();
            for (from, action, mut targets) in edges {
                let action = char::from(b'a' + action);
                targets.sort_unstable();
                targets.dedup();
                if !known.iter().any(|edge| edge.0 == from && edge.1 == action) {
                    known.push((from, action, targets));
                }
            }
            Graph { initial, edges: known }
        },
    )
}

/// Whether each step belongs to the graph and the cycle closes.
pub(crate) fn replays(graph: &Graph, execution: &Execution<u8, char>) -> bool {
    let steps = execution.steps.iter().enumerate().all(|(at, (action, target))| {
        let source = execution.config(at).unwrap();
        graph.steps(source).into_iter().any(|step| step == (*action, *target))
    });
    let back = match execution.loop_back {
        None => true,
        Some(at) if at == execution.len() => graph.is_deadlocked(execution.last()),
        Some(at) => execution.config(at) == Some(execution.last()),
    };
    steps && back
}
