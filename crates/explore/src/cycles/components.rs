//! Strongly connected components with the marks of their steps, one after the other.

use super::acceptance::Acceptance;
use crate::limits::Incomplete;

/// A step between configurations that have numbers.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    pub(super) target: u32,
    pub(super) marks: u64,
}

/// How far a search has come, for those who count.
pub(super) struct Standing {
    /// The steps from where it began.
    pub(super) depth: u64,
    /// The bytes it uses.
    pub(super) bytes: usize,
}

/// What is searched.
pub(super) trait Edges {
    /// Adds the steps of a configuration, the first time it is met.
    fn edges(&mut self, of: u32, standing: Standing, out: &mut Vec<Edge>) -> Result<(), Incomplete>;
}

/// Some configurations of one component, all of which reach each other through them.
pub(super) struct Component {
    pub(super) states: Vec<u32>,
    /// The marks of the steps between them, or of enough of these to be accepted.
    pub(super) marks: u64,
}

/// A number in the order of visits: not visited yet.
pub(super) const NEW: u32 = 0;
/// Its component is complete; or it does not belong to what is searched.
pub(super) const CLOSED: u32 = u32::MAX;

/// A search in depth that stops at every component of interest and can go on.
pub(super) struct Components {
    starts: std::vec::IntoIter<u32>,
    visits: u32,
    /// The way from the start to here.
    frames: Vec<Frame>,
    /// The steps that are still to be followed, those of the last frame at the end.
    pending: Vec<Edge>,
    /// Configurations whose components are not complete, in the order of visits.
    open: Vec<u32>,
    /// The first configuration of each of these components.
    roots: Vec<Root>,
}

struct Frame {
    state: u32,
    /// How many steps were pending before its own.
    pending: usize,
}

struct Root {
    /// Its number in the order of visits.
    visit: u32,
    /// Where it is in `open`.
    open: usize,
    /// The marks inside of its component.
    marks: u64,
    /// Whether there are steps inside of it.
    is_cycle: bool,
    /// The marks of the step that leads to it.
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

    fn standing(&self) -> Standing {
        let bytes = self.frames.capacity() * size_of::<Frame>()
            + self.pending.capacity() * size_of::<Edge>()
            + self.open.capacity() * size_of::<u32>()
            + self.roots.capacity() * size_of::<Root>();
        Standing { depth: self.frames.len() as u64, bytes }
    }

    /// The next component that is accepted, as soon as that is known, or that is not but may hold one that is, when
    /// it is complete. `numbers` says of each configuration when it was visited, and has room for more.
    pub(super) fn next(
        &mut self,
        graph: &mut impl Edges,
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
                if let Some(component) = self.leave(state, accepted, numbers) {
                    return Ok(Some(component));
                }
                continue;
            }
            let Some(edge) = self.pending.pop() else { return Ok(None) };
            match numbers.get(edge.target as usize).copied().unwrap_or(NEW) {
                NEW => self.visit(edge.target, edge.marks, graph, numbers)?,
                CLOSED => {}
                visit => {
                    if let Some(component) = self.close(visit, edge.marks, accepted) {
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
        graph: &mut impl Edges,
        numbers: &mut Vec<u32>,
    ) -> Result<(), Incomplete> {
        let pending = self.pending.len();
        graph.edges(state, self.standing(), &mut self.pending)?;
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

    /// A step leads back to an open configuration: all components from that one on are one.
    fn close(&mut self, visit: u32, mut marks: u64, accepted: &Acceptance) -> Option<Component> {
        while let Some(root) = self.roots.pop_if(|root| root.visit > visit) {
            marks |= root.marks | root.entry;
        }
        let root = self.roots.last_mut()?;
        root.marks |= marks;
        root.is_cycle = true;
        let is_met = accepted.is_met(root.marks);
        is_met.then(|| Component { states: self.open[root.open..].to_vec(), marks: root.marks })
    }

    /// All steps of a configuration were followed. If it is the first of its component, that is complete.
    fn leave(&mut self, state: u32, accepted: &Acceptance, numbers: &mut [u32]) -> Option<Component> {
        let root = self.roots.pop_if(|root| numbers[state as usize] == root.visit)?;
        let states = &self.open[root.open..];
        states.iter().for_each(|state| numbers[*state as usize] = CLOSED);
        let is_open = root.is_cycle && accepted.is_open(root.marks);
        let component = is_open.then(|| Component { states: states.to_vec(), marks: root.marks });
        self.open.truncate(root.open);
        component
    }
}
