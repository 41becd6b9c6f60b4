//! Histories of the debugger.

use std::hash::{Hash, Hasher};

/// The record of configurations `C` that the debugger visited by actions `A`. Kinds of debuggers differ only in their
/// history.
pub trait History<C, A>: Clone + Default + Eq + Hash {
    /// The entries that the debugger can jump to.
    fn entries(&self) -> impl Iterator<Item = usize>;

    /// The configuration of an entry.
    fn config(&self, entry: usize) -> Option<&C>;

    /// Records a configuration reached from the current one by an action, or an initial configuration.
    fn enter(&mut self, by: Option<A>, config: C);

    /// Makes an entry the current one.
    fn jump(&mut self, entry: usize);
}

/// Records nothing, as most debuggers do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NoHistory;

impl<C, A> History<C, A> for NoHistory {
    fn entries(&self) -> impl Iterator<Item = usize> {
        std::iter::empty()
    }

    fn config(&self, _: usize) -> Option<&C> {
        None
    }

    fn enter(&mut self, _: Option<A>, _: C) {}

    fn jump(&mut self, _: usize) {}
}

/// A visited configuration and the action that led to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit<C, A> {
    /// The configuration.
    pub config: C,
    /// The action; none for an initial configuration.
    pub by: Option<A>,
}

/// Actions need not be hashable, so the hash ignores them.
impl<C: Hash, A> Hash for Visit<C, A> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.config.hash(state);
    }
}

/// Records one execution. Taking another step from an earlier entry discards the entries after it.
///
/// ```
/// use invigil_explore::debugger::{History, Omniscient};
/// let mut path: Omniscient<char, &str> = Omniscient::default();
/// path.enter(None, 'a');
/// path.enter(Some("go"), 'b');
/// path.jump(0);
/// assert_eq!(path.entries().count(), 2);
/// path.enter(Some("stay"), 'a');
/// assert_eq!(path.config(1), Some(&'a'));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omniscient<C, A> {
    /// The execution.
    pub path: Vec<Visit<C, A>>,
    /// The current entry, if there is any.
    pub at: Option<usize>,
}

impl<C: Hash, A> Hash for Omniscient<C, A> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.path, self.at).hash(state);
    }
}

impl<C, A> Default for Omniscient<C, A> {
    fn default() -> Self {
        Omniscient { path: Vec::new(), at: None }
    }
}

impl<C: Clone + Eq + Hash, A: Clone + Eq> History<C, A> for Omniscient<C, A> {
    fn entries(&self) -> impl Iterator<Item = usize> {
        0..self.path.len()
    }

    fn config(&self, entry: usize) -> Option<&C> {
        self.path.get(entry).map(|visit| &visit.config)
    }

    fn enter(&mut self, by: Option<A>, config: C) {
        // An initial configuration starts the path.
        let next = if by.is_none() { 0 } else { self.at.map_or(0, |at| at + 1) };
        let visit = Visit { config, by };
        if self.path.get(next) != Some(&visit) {
            self.path.truncate(next);
            self.path.push(visit);
        }
        self.at = Some(next);
    }

    fn jump(&mut self, entry: usize) {
        if entry < self.path.len() {
            self.at = Some(entry);
        }
    }
}
