//! Assigns states to rows: breaks cycles, then places each state below its predecessors.

/// Returns the row of each of `count` states, starting from 0, and for each edge whether it points upwards.
///
/// The search starts at `first`, so the edges that close a cycle are those that lead back to it.
pub(super) fn rank(count: usize, edges: &[(usize, usize)], first: &[usize]) -> (Vec<usize>, Vec<bool>) {
    let mut leaving = vec![Vec::new(); count];
    for (at, (from, to)) in edges.iter().enumerate() {
        if from != to {
            leaving[*from].push(at);
        }
    }
    let (order, upwards) = walk(count, edges, &leaving, first);
    // In reverse postorder, every state precedes those below it.
    let mut rows = vec![0; count];
    let mut next = vec![Vec::new(); count];
    for (at, (from, to)) in edges.iter().enumerate().filter(|(_, (from, to))| from != to) {
        let (above, below) = if upwards[at] { (*to, *from) } else { (*from, *to) };
        next[above].push(below);
    }
    for state in order.into_iter().rev() {
        for below in &next[state] {
            rows[*below] = rows[*below].max(rows[state] + 1);
        }
    }
    (rows, upwards)
}

/// Depth-first search. Returns the states in postorder, and for each edge whether it closes a cycle.
fn walk(
    count: usize,
    edges: &[(usize, usize)],
    leaving: &[Vec<usize>],
    first: &[usize],
) -> (Vec<usize>, Vec<bool>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; count];
    let mut upwards = vec![false; edges.len()];
    let mut order = Vec::with_capacity(count);
    for start in first.iter().copied().chain(0..count) {
        if marks[start] != Mark::New {
            continue;
        }
        marks[start] = Mark::Open;
        let mut path = vec![(start, 0)];
        while let Some((state, tried)) = path.last_mut() {
            let Some(&edge) = leaving[*state].get(*tried) else {
                marks[*state] = Mark::Done;
                order.push(*state);
                path.pop();
                continue;
            };
            *tried += 1;
            let to = edges[edge].1;
            match marks[to] {
                Mark::New => {
                    marks[to] = Mark::Open;
                    path.push((to, 0));
                }
                Mark::Open => upwards[edge] = true,
                Mark::Done => {}
            }
        }
    }
    (order, upwards)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edge_to_start_is_marked_upwards() {
        let (rows, upwards) = rank(3, &[(2, 1), (1, 0), (0, 2), (1, 1)], &[2]);
        assert_eq!(rows, [2, 1, 0]);
        assert_eq!(upwards, [false, false, true, false]);
    }

    proptest! {
        #[test]
        fn edges_point_down_unless_marked_upwards(
            edges in proptest::collection::vec((0usize..8, 0usize..8), 0..30),
            first in 0usize..8,
        ) {
            let (rows, upwards) = rank(8, &edges, &[first]);
            for ((from, to), up) in edges.iter().zip(&upwards).filter(|((from, to), _)| from != to) {
                let (above, below) = if *up { (to, from) } else { (from, to) };
                prop_assert!(rows[*above] < rows[*below]);
            }
        }
    }
}
