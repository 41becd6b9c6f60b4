//! The tree of visited executions.

use crate::debugger::{History, Visit};
use std::hash::{Hash, Hasher};

/// Records every execution as a tree. Each continuation of a configuration is a universe, and the user can jump between
/// all of them. Entries are numbered in the order of their first visit.
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
    nodes: Vec<TreeNode<C, A>>,
    /// The initial configurations.
    starts: Vec<usize>,
    at: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct TreeNode<C, A> {
    visit: Visit<C, A>,
    parent: Option<usize>,
    children: Vec<usize>,
}

/// The configurations and the current entry; with the order of entries this distinguishes most trees.
impl<C: Hash, A> Hash for Multiverse<C, A> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.at.hash(state);
        for node in &self.nodes {
            (&node.visit, node.parent).hash(state);
        }
    }
}

impl<C, A> Default for Multiverse<C, A> {
    fn default() -> Self {
        Multiverse { nodes: Vec::new(), starts: Vec::new(), at: None }
    }
}

impl<C, A> Multiverse<C, A> {
    /// The current entry, if there is any.
    pub fn at(&self) -> Option<usize> {
        self.at
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether nothing was visited.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The visit of an entry.
    pub fn visit(&self, entry: usize) -> Option<&Visit<C, A>> {
        self.nodes.get(entry).map(|node| &node.visit)
    }

    /// The entry before this one; none for an initial configuration.
    pub fn parent(&self, entry: usize) -> Option<usize> {
        self.nodes.get(entry).and_then(|node| node.parent)
    }

    /// The entries right after an entry; for none, the initial configurations.
    pub fn children(&self, entry: Option<usize>) -> &[usize] {
        match entry {
            None => &self.starts,
            Some(entry) => self.nodes.get(entry).map_or(&[], |node| &node.children),
        }
    }

    /// The entries from an initial configuration to this one, both included.
    pub fn path(&self, entry: usize) -> Vec<usize> {
        let mut path: Vec<usize> = std::iter::successors(Some(entry), |at| self.parent(*at)).collect();
        path.reverse();
        path
    }
}

impl<C: Clone + Eq + Hash, A: Clone + Eq> History<C, A> for Multiverse<C, A> {
    fn entries(&self) -> impl Iterator<Item = usize> {
        0..self.nodes.len()
    }

    fn config(&self, entry: usize) -> Option<&C> {
        self.visit(entry).map(|visit| &visit.config)
    }

    /// If the same action already led to the same configuration here, that universe continues.
    fn enter(&mut self, by: Option<A>, config: C) {
        let parent = if by.is_none() { None } else { self.at };
        let visit = Visit { config, by };
        let existing = self.children(parent).iter().copied().find(|child| self.visit(*child) == Some(&visit));
        self.at = Some(existing.unwrap_or_else(|| {
            let new = self.nodes.len();
            self.nodes.push(TreeNode { visit, parent, children: Vec::new() });
            match parent.and_then(|parent| self.nodes.get_mut(parent)) {
                Some(parent) => parent.children.push(new),
                None => self.starts.push(new),
            }
            new
        }));
    }

    fn jump(&mut self, entry: usize) {
        if entry < self.nodes.len() {
            self.at = Some(entry);
        }
    }
}
