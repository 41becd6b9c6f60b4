//! Executions of any subject.

/// An execution: an initial configuration and its steps; finite, or a lasso.
///
/// ```
/// use invigil_explore::breakpoint_search::Execution;
/// let mut lift = Execution::at(0);
/// lift.steps.push(("up", 1));
/// assert_eq!((lift.last(), lift.len()), (&1, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution<C, A> {
    /// The first configuration.
    pub start: C,
    /// Each action with the configuration that it leads to.
    pub steps: Vec<(A, C)>,
    /// For a lasso: the index of the configuration where the cycle starts, which equals the last configuration. If it
    /// is the index of the last one itself, the subject stays there because no action is enabled.
    pub loop_back: Option<usize>,
}

impl<C, A> Execution<C, A> {
    /// An execution without steps.
    pub fn at(start: C) -> Execution<C, A> {
        Execution { start, steps: Vec::new(), loop_back: None }
    }

    /// The number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there are no steps.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The configuration after `after` steps.
    pub fn config(&self, after: usize) -> Option<&C> {
        match after.checked_sub(1) {
            None => Some(&self.start),
            Some(step) => self.steps.get(step).map(|(_, config)| config),
        }
    }

    /// The last configuration.
    pub fn last(&self) -> &C {
        self.steps.last().map_or(&self.start, |(_, config)| config)
    }
}
