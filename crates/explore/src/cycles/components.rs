//! Incremental computation of strongly connected components and the marks of their steps.

use super::acceptance::Acceptance;
use crate::limits::Incomplete;

/// A step between numbered configurations.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    pub(super) target: u32,
    pub(super) marks: u64,
}

/// Current size of the search, for limits and progress.
pub(super) struct SearchExtent {
    /// The number of steps from the start.
    pub(super) depth: u64,
    /// The memory in bytes.
    pub(super) bytes: usize,
}

/// The graph that is searched.
pub(super) trait EdgeSource {
    /// Appends the steps of a configuration when it is first visited.
    fn edges(&mut self, of: u32, extent: SearchExtent, out: &mut Vec<Edge>) -> Result<(), Incomplete>;
}

/// Mutually reachable configurations of one component.
pub(super) struct Component {
    pub(super) states: Vec<u32>,
    /// The marks of the steps between them, or a subset that suffices for acceptance.
    pub(super) marks: u64,
}

/// Visit number of a configuration that is not visited yet.
pub(super) const NEW: u32 = 0;
/// Visit number of a configuration whose component is complete, or that is excluded from the search.
pub(super) const CLOSED: u32 = u32::MAX;

/// A depth-first search that pauses at every component of interest and can be resumed.
pub(super) struct Components {
    starts: std::vec::IntoIter<u32>,
    visits: u32,
    /// The stack of the search.
    frames: Vec<Frame>,
    /// The steps that are still to be followed; those of the top frame are last.
    pending: Vec<Edge>,
    /// Configurations whose components are incomplete, in the order of visits.
    open: Vec<u32>,
    /// The first configuration of each of these components.
    roots: Vec<Root>,
}

struct Frame {
    state: u32,
    /// The number of pending steps before its own.
    pending: usize,
}

struct Root {
    /// The visit number.
    visit: u32,
    /// The index in `open`.
    open: usize,
    /// The marks of the steps inside the component.
    marks: u64,
    /// Whether the component has steps.
    is_cycle: bool,
    /// The marks of the step that leads to the component.
    entry: u64,
}

impl Components {
    pub(super) fn new(starts: Vec<u32>) -> Components {
        Components {
            starts: starts.into_iter(),
            visits: NEW,
            frames: Vec::new(),
            pending: Vec::new(),
            open: Vec::new(),
            roots: Vec::new(),
        }
    }

    fn extent(&self) -> SearchExtent {
        let bytes = self.frames.capacity() * size_of::<Frame>()
            + self.pending.capacity() * size_of::<Edge>()
            + self.open.capacity() * size_of::<u32>()
            + self.roots.capacity() * size_of::<Root>();
        SearchExtent { depth: self.frames.len() as u64, bytes }
    }

    /// Returns the next component that is accepted, as soon as this is known, or that is complete and may contain an
    /// accepted one. `numbers` has the visit number of each configuration and grows as needed.
    pub(super) fn next(
        &mut self,
        graph: &mut impl EdgeSource,
        accepted: &Acceptance,
        numbers: &mut Vec<u32>,
    ) -> Result<Option<Component>, Incomplete> {
        loop {
            let Some(frame) = self.frames.last() else {
                let is_new = |state: &u32| numbers.get(*state as usize).is_none_or(|number| *number == NEW);
                let Some(start) = self.starts.find(is_new) else { return Ok(None) };
                self.visit(start, 0, graph, numbers)?;
                continue;
            };
            if self.pending.len() == frame.pending {
                let state = frame.state;
                self.frames.pop();
                if let Some(component) = self.backtrack(state, accepted, numbers) {
                    return Ok(Some(component));
                }
                continue;
            }
            let Some(edge) = self.pending.pop() else { return Ok(None) };
            match numbers.get(edge.target as usize).copied().unwrap_or(NEW) {
                NEW => self.visit(edge.target, edge.marks, graph, numbers)?,
                CLOSED => {}
                visit => {
                    if let Some(component) = self.merge(visit, edge.marks, accepted) {
                        return Ok(Some(component));
                    }
                }
            }
        }
    }

    fn visit(
        &mut self,
        state: u32,
        entry: u64,
        graph: &mut impl EdgeSource,
        numbers: &mut Vec<u32>,
    ) -> Result<(), Incomplete> {
        let pending = self.pending.len();
        graph.edges(state, self.extent(), &mut self.pending)?;
        self.visits += 1;
        let at = state as usize;
        if at >= numbers.len() {
            numbers.resize(at + 1, NEW);
        }
        numbers[at] = self.visits;
        self.roots.push(Root { visit: self.visits, open: self.open.len(), marks: 0, is_cycle: false, entry });
        self.open.push(state);
        self.frames.push(Frame { state, pending });
        Ok(())
    }

    /// Merges all components from the target of a back edge on.
    fn merge(&mut self, visit: u32, mut marks: u64, accepted: &Acceptance) -> Option<Component> {
        while let Some(root) = self.roots.pop_if(|root| root.visit > visit) {
            marks |= root.marks | root.entry;
        }
        let root = self.roots.last_mut()?;
        root.marks |= marks;
        root.is_cycle = true;
        let is_met = accepted.is_met(root.marks);
        is_met.then(|| Component { states: self.open[root.open..].to_vec(), marks: root.marks })
    }

    /// Leaves a configuration whose steps were all followed. If it is the root of its component, this is complete.
    fn backtrack(&mut self, state: u32, accepted: &Acceptance, numbers: &mut [u32]) -> Option<Component> {
        let root = self.roots.pop_if(|root| numbers[state as usize] == root.visit)?;
        let states = &self.open[root.open..];
        states.iter().for_each(|state| numbers[*state as usize] = CLOSED);
        let may_contain_accepted = root.is_cycle && accepted.may_contain_accepted(root.marks);
        let component =
            may_contain_accepted.then(|| Component { states: states.to_vec(), marks: root.marks });
        self.open.truncate(root.open);
        component
    }
}
