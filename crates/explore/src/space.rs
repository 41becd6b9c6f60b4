//! What exploration needs of a subject.

/// A subject as the explorers see it: configurations are words, and the successors of one come all at once.
///
/// ```
/// use invigil_explore::{Space, Successors, Taken};
///
/// /// A counter that goes round.
/// struct Clock;
/// impl Space for Clock {
///     fn width(&self) -> usize {
///         1
///     }
///     fn initial(&self, out: &mut Successors) {
///         out.push(&[0], Taken::default());
///     }
///     fn successors(&self, state: &[u64], out: &mut Successors) {
///         out.push(&[(state[0] + 1) % 12], Taken { action: 0, flags: 0 });
///     }
/// }
/// let mut out = Successors::default();
/// Clock.successors(&[11], &mut out);
/// assert_eq!((out.len(), out.state(0, Clock.width())), (1, &[0][..]));
/// ```
pub trait Space: Sync {
    /// The number of words of every configuration: at least one.
    fn width(&self) -> usize;

    /// Adds the initial configurations, each once. Their actions mean nothing; their flags do.
    fn initial(&self, out: &mut Successors);

    /// Adds the successors of `state`: always the same, in the same order. The same target may be reached by several
    /// actions. A target with [`FAULT`] is no configuration: the action goes wrong in `state`.
    fn successors(&self, state: &[u64], out: &mut Successors);

    /// The successors of several configurations, one after the other in `states`; `ends` gets the number of
    /// successors in `out` after each. Spaces that can do better than one by one override this.
    fn bulk(&self, states: &[u64], out: &mut Successors, ends: &mut Vec<u32>) {
        for state in states.chunks_exact(self.width()) {
            self.successors(state, out);
            ends.push(out.len() as u32);
        }
    }

    /// The number of acceptance sets of which the marks of successors tell, for searches for accepting cycles. A run
    /// is accepting if it takes steps of each set for ever; with none, every infinite run is.
    fn sets(&self) -> u32 {
        0
    }

    /// The number of pairs of marks, which come after those of the sets, two bits each. A run that takes steps with
    /// the first mark of a pair for ever is accepting only if it takes steps with the second for ever, too: strong
    /// fairness.
    fn pairs(&self) -> u32 {
        0
    }

    /// Why the answers are not to be believed any more, for a subject that may fail, as another program may. From then
    /// on it adds nothing. A search asks for this after each answer, and ends ([`Incomplete::Failed`]) instead of taking
    /// that for a deadlock.
    ///
    /// [`Incomplete::Failed`]: crate::Incomplete::Failed
    fn failure(&self) -> Option<String> {
        None
    }
}

impl<S: Space + ?Sized> Space for &S {
    fn width(&self) -> usize {
        (**self).width()
    }

    fn initial(&self, out: &mut Successors) {
        (**self).initial(out);
    }

    fn successors(&self, state: &[u64], out: &mut Successors) {
        (**self).successors(state, out);
    }

    fn bulk(&self, states: &[u64], out: &mut Successors, ends: &mut Vec<u32>) {
        (**self).bulk(states, out, ends);
    }

    fn sets(&self) -> u32 {
        (**self).sets()
    }

    fn pairs(&self) -> u32 {
        (**self).pairs()
    }

    fn failure(&self) -> Option<String> {
        (**self).failure()
    }
}

/// The action goes wrong where it is tried; the words of the successor mean nothing.
pub const FAULT: u32 = 1 << 31;
/// The successor is one that must not be reached, or must not be reached in this way.
pub const BAD: u32 = 1 << 30;

/// In the place of an action: nothing can happen, so the configuration stays as it is, for ever.
pub const IDLE: u32 = u32::MAX;

/// How a successor is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Taken {
    /// The action, by its number.
    pub action: u32,
    /// [`FAULT`], [`BAD`].
    pub flags: u32,
}

/// Successors, one after the other, in memory that is used again and again.
#[derive(Clone, Debug, Default)]
pub struct Successors {
    /// The words of the configurations.
    pub words: Vec<u64>,
    /// How each is reached.
    pub taken: Vec<Taken>,
    /// The acceptance sets of each step, one bit for each; empty for spaces without.
    pub marks: Vec<u64>,
}

impl Successors {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.words.clear();
        self.taken.clear();
        self.marks.clear();
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.taken.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// Adds one.
    pub fn push(&mut self, state: &[u64], taken: Taken) {
        self.words.extend_from_slice(state);
        self.taken.push(taken);
    }

    /// One of them, of configurations of that width.
    pub fn state(&self, at: usize, width: usize) -> &[u64] {
        &self.words[at * width..(at + 1) * width]
    }
}
