//! Executions found by searches.

/// An execution of a state space: finite, or a lasso.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The configurations, the initial one first.
    pub states: Vec<Box<[u64]>>,
    /// The action that leads to each configuration but the first.
    pub actions: Vec<u32>,
    /// For a lasso: the index in `states` to which the last action leads back, and this action. The action is none if
    /// the execution stays in a configuration without enabled actions.
    pub loop_back: Option<(usize, Option<u32>)>,
    /// The action that raises a fault in the last configuration, if the path shows a fault.
    pub fault: Option<u32>,
}

impl Path {
    /// An execution without steps.
    pub fn at(state: &[u64]) -> Path {
        Path { states: vec![state.into()], actions: Vec::new(), loop_back: None, fault: None }
    }
}
