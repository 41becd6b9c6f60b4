//! Whether an automaton accepts any word at all (after Couvreur): one search in depth, which ends as soon as
//! it has closed a cycle with all the marks.

use super::product::Product;
use super::{Automaton, Edge, Marks, State};
use crate::{Logic, TooLarge};
use std::convert::Infallible;

/// A component on the path of the search that may still grow.
struct Open {
    /// When its first state was found.
    first: usize,
    /// The marks of the edges inside.
    inside: Marks,
    /// The marks of the edge that led to it.
    before: Marks,
}

/// Not on the path of the search any more: no accepting cycle can be reached from there.
const DONE: usize = usize::MAX;

/// Whether a cycle with all marks can be reached. The edges of each state are asked for once.
pub(super) fn accepting_cycle<E>(
    initial: State,
    all: Marks,
    mut edges: impl FnMut(State) -> Result<Vec<Edge>, E>,
) -> Result<bool, E> {
    // When each state was found.
    let mut order: Vec<Option<usize>> = Vec::new();
    let mut components: Vec<Open> = Vec::new();
    let mut found: Vec<State> = Vec::new();
    let mut path: Vec<(State, std::vec::IntoIter<Edge>)> = Vec::new();
    let mut enter = Some((initial, 0));
    loop {
        if let Some((state, before)) = enter.take() {
            if order.len() <= state as usize {
                order.resize(state as usize + 1, None);
            }
            order[state as usize] = Some(found.len());
            components.push(Open { first: found.len(), inside: 0, before });
            found.push(state);
            path.push((state, edges(state)?.into_iter()));
        }
        let Some((state, rest)) = path.last_mut() else { return Ok(false) };
        let Some(edge) = rest.next() else {
            let first = order[*state as usize];
            path.pop();
            if let Some(component) = components.pop_if(|component| Some(component.first) == first) {
                for state in found.drain(component.first..) {
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
                    marks |= inner.inside | inner.before;
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
    /// Whether no word is accepted.
    pub fn is_empty(&self) -> bool {
        let edges = |state: State| Ok::<_, Infallible>(self.edges[state as usize].clone());
        let Ok(found) = accepting_cycle(self.initial, self.all_marks(), edges);
        !found
    }

    /// Whether some word is accepted by both. Only as much of their product is made as is needed to tell.
    ///
    /// # Errors
    /// If that is too much.
    pub fn meets(&self, other: &Automaton, logic: &Logic) -> Result<bool, TooLarge> {
        let mut product = Product::new(self, other, logic)?;
        accepting_cycle(0, product.all_marks(), |state| product.edges(state))
    }
}
