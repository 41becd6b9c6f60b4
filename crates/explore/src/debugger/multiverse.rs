//! The tree of executions that were seen.

use crate::debugger::{History, Visit};
use std::hash::{Hash, Hasher};

/// Every execution that was seen is remembered, as a tree: each way to go on from a configuration is a universe, and
/// one can jump between all of them. Places are numbered in the order in which they were seen.
///
/// ```
/// use invigil_explore::debugger::{History, Multiverse};
/// let mut tree: Multiverse<char, &str> = Multiverse::default();
/// tree.enter(None, 'a');
/// tree.enter(Some("go"), 'b');
/// tree.jump(0);
/// tree.enter(Some("stay"), 'a');
/// assert_eq!((tree.at(), tree.parent(2)), (Some(2), Some(0)));
/// assert_eq!(tree.config(1), Some(&'b'));
/// assert_eq!(tree.path(2), [0, 2]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multiverse<C, A> {
    places: Vec<Place<C, A>>,
    /// Where executions start.
    starts: Vec<usize>,
    at: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Place<C, A> {
    visit: Visit<C, A>,
    parent: Option<usize>,
    children: Vec<usize>,
}

/// The configurations and where one is: with the order of places this is enough to tell most trees apart.
impl<C: Hash, A> Hash for Multiverse<C, A> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.at.hash(state);
        for place in &self.places {
            (&place.visit, place.parent).hash(state);
        }
    }
}

impl<C, A> Default for Multiverse<C, A> {
    fn default() -> Self {
        Multiverse { places: Vec::new(), starts: Vec::new(), at: None }
    }
}

impl<C, A> Multiverse<C, A> {
    /// The place at which one is, if anything was seen.
    pub fn at(&self) -> Option<usize> {
        self.at
    }

    /// The number of places.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether nothing was seen.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// What was seen at a place.
    pub fn visit(&self, place: usize) -> Option<&Visit<C, A>> {
        self.places.get(place).map(|place| &place.visit)
    }

    /// The place before a place; none where an execution starts.
    pub fn parent(&self, place: usize) -> Option<usize> {
        self.places.get(place).and_then(|place| place.parent)
    }

    /// The places right after a place; after none, those where executions start.
    pub fn children(&self, place: Option<usize>) -> &[usize] {
        match place {
            None => &self.starts,
            Some(place) => self.places.get(place).map_or(&[], |place| &place.children),
        }
    }

    /// The places from the start of the execution to a place, both included.
    pub fn path(&self, place: usize) -> Vec<usize> {
        let mut path: Vec<usize> = std::iter::successors(Some(place), |at| self.parent(*at)).collect();
        path.reverse();
        path
    }
}

impl<C: Clone + Eq + Hash, A: Clone + Eq> History<C, A> for Multiverse<C, A> {
    fn places(&self) -> impl Iterator<Item = usize> {
        0..self.places.len()
    }

    fn config(&self, place: usize) -> Option<&C> {
        self.visit(place).map(|visit| &visit.config)
    }

    /// Where the same was done before with the same outcome, that universe goes on.
    fn enter(&mut self, by: Option<A>, config: C) {
        let parent = if by.is_none() { None } else { self.at };
        let visit = Visit { config, by };
        let known = self.children(parent).iter().copied().find(|child| self.visit(*child) == Some(&visit));
        self.at = Some(known.unwrap_or_else(|| {
            let new = self.places.len();
            self.places.push(Place { visit, parent, children: Vec::new() });
            match parent.and_then(|parent| self.places.get_mut(parent)) {
                Some(parent) => parent.children.push(new),
                None => self.starts.push(new),
            }
            new
        }));
    }

    fn jump(&mut self, place: usize) {
        if place < self.places.len() {
            self.at = Some(place);
        }
    }
}
