//! Executions, as they are found.

/// An execution of a space, finite or with a part that repeats for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The configurations, the initial one first.
    pub states: Vec<Box<[u64]>>,
    /// The action that leads to each of them but the first.
    pub actions: Vec<u32>,
    /// For an infinite execution: the place in `states` to which the last action leads back, and that action. Where
    /// an execution stays because it can go nowhere, the action is none.
    pub back: Option<(usize, Option<u32>)>,
    /// The action that goes wrong in the last configuration, if that is what the path shows.
    pub fault: Option<u32>,
}

impl Path {
    /// The execution that stays where it begins.
    pub fn at(state: &[u64]) -> Path {
        Path { states: vec![state.into()], actions: Vec::new(), back: None, fault: None }
    }
}
