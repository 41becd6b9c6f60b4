//! Strongly connected components.

use super::{Automaton, State};

/// The components of a graph, those that others lead to first: an edge between two components goes from a
/// larger number to a smaller one.
#[derive(Clone, Debug)]
pub struct Components {
    /// The component of each state; none for states that cannot be reached.
    pub of: Vec<Option<usize>>,
    /// The states of each component.
    pub members: Vec<Vec<State>>,
}

/// The components of what can be reached from `start` in a graph of `count` nodes (Tarjan, with a stack of
/// its own).
pub fn components<I: Iterator<Item = State>>(
    count: usize,
    start: State,
    next: impl Fn(State) -> I,
) -> Components {
    let mut found = Components { of: vec![None; count], members: Vec::new() };
    // The order of discovery of each state, and of the oldest one that it leads back to.
    let (mut order, mut oldest) = (vec![usize::MAX; count], vec![usize::MAX; count]);
    let (mut waiting, mut path, mut discovered) = (Vec::new(), Vec::new(), 0);
    let mut enter = |state: State, order: &mut [usize], oldest: &mut [usize]| {
        (order[state as usize], oldest[state as usize]) = (discovered, discovered);
        discovered += 1;
    };
    enter(start, &mut order, &mut oldest);
    waiting.push(start);
    path.push((start, next(start)));
    while let Some((state, rest)) = path.last_mut() {
        let state = *state as usize;
        match rest.next() {
            Some(target) if order[target as usize] == usize::MAX => {
                enter(target, &mut order, &mut oldest);
                waiting.push(target);
                path.push((target, next(target)));
            }
            Some(target) => {
                if found.of[target as usize].is_none() {
                    oldest[state] = oldest[state].min(order[target as usize]);
                }
            }
            None => {
                path.pop();
                if let Some((before, _)) = path.last() {
                    let before = *before as usize;
                    oldest[before] = oldest[before].min(oldest[state]);
                }
                if oldest[state] == order[state] {
                    let from = waiting.iter().rposition(|other| *other as usize == state).unwrap_or(0);
                    let members = waiting.split_off(from);
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
    /// The components of the reachable states.
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
    fn two_cycles_and_what_cannot_be_reached() {
        let graph: [&[u32]; 6] = [&[1], &[2, 3], &[1], &[4], &[3], &[0]];
        let found = components(6, 0, |state| graph[state as usize].iter().copied());
        assert_eq!(found.of, [Some(2), Some(1), Some(1), Some(0), Some(0), None]);
        assert_eq!(found.members, [vec![3, 4], vec![1, 2], vec![0]]);
    }

    #[test]
    fn a_long_way() {
        let count = 300_000;
        let found = components(count as usize, 0, |state| [(state + 1) % count].into_iter());
        assert_eq!(found.members.len(), 1);
    }
}
