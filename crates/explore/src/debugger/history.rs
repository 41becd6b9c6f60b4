//! What a debugger remembers.

use std::hash::{Hash, Hasher};

/// What a debugger remembers of the configurations `C` that it came to by actions `A`. This is all in which kinds
/// of debuggers differ.
pub trait History<C, A>: Clone + Default + Eq + Hash {
    /// The places to which one can jump.
    fn places(&self) -> impl Iterator<Item = usize>;

    /// The configuration at a place.
    fn config(&self, place: usize) -> Option<&C>;

    /// The subject came to a configuration: from where it was by an action, or at the start by none.
    fn enter(&mut self, by: Option<A>, config: C);

    /// The current configuration is now that at a place.
    fn jump(&mut self, place: usize);
}

/// Nothing is remembered: the most common kind of debugger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Traceless;

impl<C, A> History<C, A> for Traceless {
    fn places(&self) -> impl Iterator<Item = usize> {
        std::iter::empty()
    }

    fn config(&self, _: usize) -> Option<&C> {
        None
    }

    fn enter(&mut self, _: Option<A>, _: C) {}

    fn jump(&mut self, _: usize) {}
}

/// A configuration that was seen, and the action that led to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit<C, A> {
    /// The configuration.
    pub config: C,
    /// The action; none where the execution starts.
    pub by: Option<A>,
}

/// Actions need not have a hash, so they have no part in this one.
impl<C: Hash, A> Hash for Visit<C, A> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.config.hash(state);
    }
}

/// One execution is remembered, as far as it was seen. Who goes another way from a place in the past loses the
/// future that there was.
///
/// ```
/// use invigil_explore::debugger::{History, Omniscient};
/// let mut path: Omniscient<char, &str> = Omniscient::default();
/// path.enter(None, 'a');
/// path.enter(Some("go"), 'b');
/// path.jump(0);
/// assert_eq!(path.places().count(), 2);
/// path.enter(Some("stay"), 'a');
/// assert_eq!(path.config(1), Some(&'a'));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omniscient<C, A> {
    /// The execution.
    pub path: Vec<Visit<C, A>>,
    /// The place at which one is, if anything was seen.
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
    fn places(&self) -> impl Iterator<Item = usize> {
        0..self.path.len()
    }

    fn config(&self, place: usize) -> Option<&C> {
        self.path.get(place).map(|visit| &visit.config)
    }

    fn enter(&mut self, by: Option<A>, config: C) {
        // An execution that starts is the first of the path.
        let next = if by.is_none() { 0 } else { self.at.map_or(0, |at| at + 1) };
        let visit = Visit { config, by };
        if self.path.get(next) != Some(&visit) {
            self.path.truncate(next);
            self.path.push(visit);
        }
        self.at = Some(next);
    }

    fn jump(&mut self, place: usize) {
        if place < self.path.len() {
            self.at = Some(place);
        }
    }
}
