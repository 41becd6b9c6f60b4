//! Executions of any subject, as they are found.

/// An execution: where it starts and what happens, one step after the other; finite, or with a part that repeats.
///
/// ```
/// use invigil_explore::finder::Execution;
/// let mut lift = Execution::at(0);
/// lift.steps.push(("up", 1));
/// assert_eq!((lift.last(), lift.len()), (&1, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution<C, A> {
    /// The first configuration.
    pub start: C,
    /// What happened, and the configuration after it.
    pub steps: Vec<(A, C)>,
    /// For an infinite execution: the number of the configuration with which the part begins that is repeated for
    /// ever. The last configuration is the same. If it is the last one itself, the subject stays there because it
    /// can go nowhere.
    pub back: Option<usize>,
}

impl<C, A> Execution<C, A> {
    /// The execution that is where it starts.
    pub fn at(start: C) -> Execution<C, A> {
        Execution { start, steps: Vec::new(), back: None }
    }

    /// The number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether nothing happens.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The configuration after so many steps.
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
