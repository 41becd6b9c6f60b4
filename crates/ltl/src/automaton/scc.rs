//! Strongly connected components.

use super::{Automaton, State};

/// Strongly connected components in reverse topological order: an edge between two components leads from the larger
/// number to the smaller one.
#[derive(Clone, Debug)]
pub struct Components {
    /// Component of each state; `None` for unreachable states.
    pub of: Vec<Option<usize>>,
    /// States of each component.
    pub members: Vec<Vec<State>>,
}

/// Computes the components that are reachable from `start` in a graph of `count` nodes (Tarjan, without recursion).
pub fn components<I: Iterator<Item = State>>(
    count: usize,
    start: State,
    next: impl Fn(State) -> I,
) -> Components {
    let mut found = Components { of: vec![None; count], members: Vec::new() };
    // Visit number of each state, and the smallest visit number that it reaches.
    let (mut order, mut low_link) = (vec![usize::MAX; count], vec![usize::MAX; count]);
    let (mut open, mut path, mut discovered) = (Vec::new(), Vec::new(), 0);
    let mut enter = |state: State, order: &mut [usize], low_link: &mut [usize]| {
        (order[state as usize], low_link[state as usize]) = (discovered, discovered);
        discovered += 1;
    };
    enter(start, &mut order, &mut low_link);
    open.push(start);
    path.push((start, next(start)));
    while let Some((state, rest)) = path.last_mut() {
        let state = *state as usize;
        match rest.next() {
            Some(target) if order[target as usize] == usize::MAX => {
                enter(target, &mut order, &mut low_link);
                open.push(target);
                path.push((target, next(target)));
            }
            Some(target) => {
                if found.of[target as usize].is_none() {
                    low_link[state] = low_link[state].min(order[target as usize]);
                }
            }
            None => {
                path.pop();
                if let Some((before, _)) = path.last() {
                    let before = *before as usize;
                    low_link[before] = low_link[before].min(low_link[state]);
                }
                if low_link[state] == order[state] {
                    let from = open.iter().rposition(|other| *other as usize == state).unwrap_or(0);
                    let members = open.split_off(from);
                    for member in &members {
                        found.of[*member as usize] = Some(found.members.len());
                    }
                    found.members.push(members);
                }
            }
        }
    }
    found
}

impl Automaton {
    /// Computes the components of the reachable states.
    pub fn components(&self) -> Components {
        components(self.states(), self.initial, |state| {
            self.edges[state as usize].iter().map(|edge| edge.target)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn two_cycles_have_two_components_and_unreachable_nodes_none() {
        let graph: [&[u32]; 6] = [&[1], &[2, 3], &[1], &[4], &[3], &[0]];
        let found = components(6, 0, |state| graph[state as usize].iter().copied());
        assert_eq!(found.of, [Some(2), Some(1), Some(1), Some(0), Some(0), None]);
        assert_eq!(found.members, [vec![3, 4], vec![1, 2], vec![0]]);
    }

    #[test]
    fn long_cycle_does_not_overflow_stack() {
        let count = 300_000;
        let found = components(count as usize, 0, |state| [(state + 1) % count].into_iter());
        assert_eq!(found.members.len(), 1);
    }
}
