//! Emptiness check after Couvreur: one depth-first search, which ends as soon as a component has all marks.

use super::product::LazyProduct;
use super::{Automaton, Edge, Marks, State};
use crate::{Logic, TooLarge};
use std::convert::Infallible;

/// Incomplete component on the search path.
struct OpenComponent {
    /// Visit number of its first state.
    first: usize,
    /// Marks of the edges inside.
    inside: Marks,
    /// Marks of the edge that leads to it.
    entry: Marks,
}

/// Visit number of states in complete components, from which no accepting cycle can be reached.
const DONE: usize = usize::MAX;

/// Whether a cycle with all marks is reachable. Requests the edges of each state once.
pub(super) fn has_accepting_cycle<E>(
    initial: State,
    all: Marks,
    mut edges: impl FnMut(State) -> Result<Vec<Edge>, E>,
) -> Result<bool, E> {
    // Visit number of each state.
    let mut order: Vec<Option<usize>> = Vec::new();
    let mut components: Vec<OpenComponent> = Vec::new();
    let mut visited: Vec<State> = Vec::new();
    let mut path: Vec<(State, std::vec::IntoIter<Edge>)> = Vec::new();
    let mut enter = Some((initial, 0));
    loop {
        if let Some((state, entry)) = enter.take() {
            if order.len() <= state as usize {
                order.resize(state as usize + 1, None);
            }
            order[state as usize] = Some(visited.len());
            components.push(OpenComponent { first: visited.len(), inside: 0, entry });
            visited.push(state);
            path.push((state, edges(state)?.into_iter()));
        }
        let Some((state, rest)) = path.last_mut() else { return Ok(false) };
        let Some(edge) = rest.next() else {
            let first = order[*state as usize];
            path.pop();
            if let Some(component) = components.pop_if(|component| Some(component.first) == first) {
                for state in visited.drain(component.first..) {
                    order[state as usize] = Some(DONE);
                }
            }
            continue;
        };
        match order.get(edge.target as usize).copied().flatten() {
            None => enter = Some((edge.target, edge.marks)),
            Some(DONE) => {}
            Some(back_to) => {
                let mut marks = edge.marks;
                while let Some(inner) = components.pop_if(|component| component.first > back_to) {
                    marks |= inner.inside | inner.entry;
                }
                if let Some(component) = components.last_mut() {
                    component.inside |= marks;
                    if component.inside & all == all {
                        return Ok(true);
                    }
                }
            }
        }
    }
}

impl Automaton {
    /// Whether the language is empty.
    pub fn is_empty(&self) -> bool {
        let edges = |state: State| Ok::<_, Infallible>(self.edges[state as usize].clone());
        let Ok(found) = has_accepting_cycle(self.initial, self.all_marks(), edges);
        !found
    }

    /// Whether both automata accept a common word. Builds their product on the fly.
    ///
    /// # Errors
    /// Fails if the product outgrows the budget.
    pub fn intersects(&self, other: &Automaton, logic: &Logic) -> Result<bool, TooLarge> {
        let mut product = LazyProduct::new(self, other, logic)?;
        has_accepting_cycle(0, product.all_marks(), |state| product.edges(state))
    }
}
