//! The interface between subjects and searches.

/// A subject as the searches see it: configurations are words, and all successors are computed at once.
///
/// ```
/// use invigil_explore::{StateSpace, Successors, TransitionInfo};
///
/// /// A counter that wraps around.
/// struct Clock;
/// impl StateSpace for Clock {
///     fn width(&self) -> usize {
///         1
///     }
///     fn initial(&self, out: &mut Successors) {
///         out.push(&[0], TransitionInfo::default());
///     }
///     fn successors(&self, state: &[u64], out: &mut Successors) {
///         out.push(&[(state[0] + 1) % 12], TransitionInfo { action: 0, flags: 0 });
///     }
/// }
/// let mut out = Successors::default();
/// Clock.successors(&[11], &mut out);
/// assert_eq!((out.len(), out.state(0, Clock.width())), (1, &[0][..]));
/// ```
pub trait StateSpace: Sync {
    /// The number of words of a configuration, at least one.
    fn width(&self) -> usize;

    /// Appends the initial configurations, each once. Their actions are ignored; their flags are not.
    fn initial(&self, out: &mut Successors);

    /// Appends the successors of `state`, deterministically and always in the same order. Several actions may lead to
    /// the same target. A target with [`FAULT`] is not a configuration: the action raises a fault in `state`.
    fn successors(&self, state: &[u64], out: &mut Successors);

    /// Appends the successors of several consecutive configurations. `ends` receives the number of successors in `out`
    /// after each of them. Spaces override this if they can compute batches faster.
    fn bulk_successors(&self, states: &[u64], out: &mut Successors, ends: &mut Vec<u32>) {
        for state in states.chunks_exact(self.width()) {
            self.successors(state, out);
            ends.push(out.len() as u32);
        }
    }

    /// The number of acceptance sets that the marks of successors refer to, for searches for accepting cycles. An
    /// execution is accepting if it takes steps of each set infinitely often; without sets, every infinite one is.
    fn acceptance_set_count(&self) -> u32 {
        0
    }

    /// The number of fairness pairs. Their marks follow those of the sets, two bits per pair. An execution that takes
    /// steps with the first mark of a pair infinitely often is accepting only if it also takes steps with the second
    /// infinitely often (strong fairness).
    fn fairness_pair_count(&self) -> u32 {
        0
    }

    /// Why the subject failed, for subjects that can fail, such as remote ones. After a failure, it has no successors.
    /// A search checks this after each query and ends with [`Incomplete::Failed`], so that a failure is not mistaken
    /// for a deadlock.
    ///
    /// [`Incomplete::Failed`]: crate::Incomplete::Failed
    fn failure(&self) -> Option<String> {
        None
    }
}

impl<S: StateSpace + ?Sized> StateSpace for &S {
    fn width(&self) -> usize {
        (**self).width()
    }

    fn initial(&self, out: &mut Successors) {
        (**self).initial(out);
    }

    fn successors(&self, state: &[u64], out: &mut Successors) {
        (**self).successors(state, out);
    }

    fn bulk_successors(&self, states: &[u64], out: &mut Successors, ends: &mut Vec<u32>) {
        (**self).bulk_successors(states, out, ends);
    }

    fn acceptance_set_count(&self) -> u32 {
        (**self).acceptance_set_count()
    }

    fn fairness_pair_count(&self) -> u32 {
        (**self).fairness_pair_count()
    }

    fn failure(&self) -> Option<String> {
        (**self).failure()
    }
}

/// Flag of an action that raises a fault. The words of the successor are meaningless.
pub const FAULT: u32 = 1 << 31;
/// Flag of a configuration or step that must not be reached.
pub const BAD: u32 = 1 << 30;

/// Pseudo-action of a configuration without enabled actions, which stays as it is forever.
pub const IDLE: u32 = u32::MAX;

/// The action and flags of a transition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct TransitionInfo {
    /// The number of the action.
    pub action: u32,
    /// Combination of [`FAULT`] and [`BAD`].
    pub flags: u32,
}

/// A reusable buffer of successors.
#[derive(Clone, Debug, Default)]
pub struct Successors {
    /// The words of all target configurations.
    pub words: Vec<u64>,
    /// The transition to each target.
    pub transitions: Vec<TransitionInfo>,
    /// The marks of each step: one bit per acceptance set, then two per fairness pair; empty for spaces without either.
    pub marks: Vec<u64>,
}

impl Successors {
    /// Removes all successors, but keeps the memory.
    pub fn clear(&mut self) {
        self.words.clear();
        self.transitions.clear();
        self.marks.clear();
    }

    /// The number of successors.
    pub fn len(&self) -> usize {
        self.transitions.len()
    }

    /// Whether there are no successors.
    pub fn is_empty(&self) -> bool {
        self.transitions.is_empty()
    }

    /// Appends a successor.
    pub fn push(&mut self, state: &[u64], transition: TransitionInfo) {
        self.words.extend_from_slice(state);
        self.transitions.push(transition);
    }

    /// The successor with this index, for configurations of `width` words.
    pub fn state(&self, index: usize, width: usize) -> &[u64] {
        &self.words[index * width..(index + 1) * width]
    }
}
