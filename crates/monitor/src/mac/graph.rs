//! Strongly connected components.

use alloc::vec::Vec;

/// The strongly connected components, each after those that it leads to.
///
/// Tarjan's algorithm with an explicit stack.
pub(super) fn components(graph: &[Vec<u32>]) -> Vec<Vec<u32>> {
    const NEW: u32 = u32::MAX;
    let mut number = alloc::vec![NEW; graph.len()];
    let mut low = alloc::vec![0u32; graph.len()];
    let mut open = alloc::vec![false; graph.len()];
    let (mut waiting, mut calls, mut found): (Vec<u32>, Vec<(u32, usize)>, _) =
        (Vec::new(), Vec::new(), Vec::new());
    let mut next = 0;
    for root in 0..graph.len() as u32 {
        if number[root as usize] != NEW {
            continue;
        }
        calls.push((root, 0));
        while let Some((node, edge)) = calls.pop() {
            let at = node as usize;
            if edge == 0 {
                (number[at], low[at], open[at]) = (next, next, true);
                next += 1;
                waiting.push(node);
            } else {
                // Return from the previous successor.
                let from = graph[at][edge - 1] as usize;
                if open[from] {
                    low[at] = low[at].min(low[from]);
                }
            }
            if let Some(to) = graph[at].get(edge) {
                calls.push((node, edge + 1));
                let to_at = *to as usize;
                if number[to_at] == NEW {
                    calls.push((*to, 0));
                } else if open[to_at] {
                    low[at] = low[at].min(number[to_at]);
                }
                continue;
            }
            if low[at] == number[at] {
                let first = waiting.iter().rposition(|other| *other == node).unwrap_or(0);
                let members: Vec<u32> = waiting.drain(first..).collect();
                members.iter().for_each(|member| open[*member as usize] = false);
                found.push(members);
            }
        }
    }
    found
}

/// Cycles within components.
pub(super) struct Ways<'g> {
    graph: &'g [Vec<u32>],
    component: Vec<u32>,
    /// The index of a node on the walk through its component. Each component is walked once.
    place: Vec<u32>,
}

impl<'g> Ways<'g> {
    pub(super) fn new(graph: &'g [Vec<u32>], components: &[Vec<u32>]) -> Ways<'g> {
        let mut component = alloc::vec![0; graph.len()];
        for (number, members) in components.iter().enumerate() {
            members.iter().for_each(|member| component[*member as usize] = number as u32);
        }
        Ways { graph, component, place: alloc::vec![u32::MAX; graph.len()] }
    }

    /// A cycle in the component of `node`: each node leads to the next, and the last to the first.
    pub(super) fn around(&mut self, node: u32) -> Vec<u32> {
        let mut path = Vec::new();
        let mut node = node;
        while self.place[node as usize] == u32::MAX {
            self.place[node as usize] = path.len() as u32;
            path.push(node);
            // In a component with a cycle, every node has a successor in it.
            let inside = |next: &&u32| self.component[**next as usize] == self.component[node as usize];
            node = self.graph[node as usize].iter().find(inside).copied().unwrap_or(node);
        }
        path.drain(..self.place[node as usize] as usize);
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn components_follow_their_successors() {
        let graph = vec![vec![1], vec![2, 3], vec![0], vec![4], vec![4], vec![0, 4]];
        assert_eq!(components(&graph), vec![vec![4], vec![3], vec![0, 1, 2], vec![5]]);
        let found = components(&graph);
        assert_eq!(Ways::new(&graph, &found).around(2), [2, 0, 1]);
        let chain: Vec<Vec<u32>> =
            (0..200_000).map(|at| if at == 0 { vec![] } else { vec![at - 1] }).collect();
        assert_eq!(components(&chain).len(), 200_000);
        let other: Vec<Vec<u32>> =
            (0..200_000).map(|at| if at == 199_999 { vec![] } else { vec![at + 1] }).collect();
        assert_eq!(components(&other)[0], [199_999]);
    }
}
